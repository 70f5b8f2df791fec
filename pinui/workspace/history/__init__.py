"""The history: every record that a write returned or a reader received, in one SQLite file."""

from pinui.workspace.history.history import History
from pinui.workspace.history.store import HistoryFile

__all__ = ["History", "HistoryFile"]
