"""The history: every record that a write returned or a reader received, in one SQLite file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinui.workspace.history.history import History
    from pinui.workspace.history.store import HistoryFile

__all__ = ["History", "HistoryFile"]


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for: a verb that lists rows needs no event loop."""
    if name == "History":
        from pinui.workspace.history.history import History

        return History
    if name == "HistoryFile":
        from pinui.workspace.history.store import HistoryFile

        return HistoryFile
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
