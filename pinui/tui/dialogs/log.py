"""The log of messages: everything that the app told in this run, for reading again after its toast is gone."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from pinui.figures import moment, plural
from pinui.tui.common_keys import LOG
from pinui.tui.dialogs.dialog import Dialog
from pinui.tui.display import wrapped
from pinui.tui.keys import bindings
from pinui.tui.widgets.fields import pane_title
from pinui.tui.widgets.key_bar import KeyBar
from pinui.tui.widgets.line_view import Line, LineView
from pinui.tui.workbench import Told

__all__ = ["LogScreen"]

MARKS = {"information": ("·", "muted"), "warning": ("!", "warning"), "error": ("✗", "error")}
AROUND = 6
"""Lines that the border, the footer and some air take."""


class LogScreen(Dialog[None]):
    """The messages over the place, the newest first."""

    BINDINGS = bindings(LOG)
    AUTO_FOCUS = "#log"

    def __init__(self, messages: Sequence[Told]) -> None:
        super().__init__()
        self.messages = messages[::-1]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide") as box:
            pane_title(box, "Messages of this run", plural(len(self.messages), "message") if self.messages else "")
            yield LineView(id="log")
        yield KeyBar()

    def on_resize(self) -> None:
        """Wrap the lines for this width."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        view = self.query_one("#log", LineView)
        now = self.app.clock()
        times = [moment(int(told.at * 1000), now) for told in self.messages]
        column = max(map(len, times), default=0) + 2
        lines: list[Line] = []
        for told, time in zip(self.messages, times, strict=True):
            mark, tone = MARKS[told.severity]
            for number, words in enumerate(wrapped(told.words, view.content_width - column - 3)):
                first = number == 0
                lines.append(
                    [
                        ((time if first else "").ljust(column), "muted"),
                        (f"{mark if first else ' '} ", tone),
                        (words, "text"),
                    ]
                )
        if not lines:
            lines.append([("No messages yet.", "muted")])
        view.styles.height = min(len(lines), max(5, self.app.size.height - AROUND))
        view.show_lines(lines, keep=True)

    def action_copy_all(self) -> None:
        """Copy every message, the oldest first, as a log has them."""
        now = self.app.clock()
        lines = [f"{moment(int(told.at * 1000), now)}  {told.words}" for told in reversed(self.messages)]
        self.app.copy("\n".join(lines), "Log")
