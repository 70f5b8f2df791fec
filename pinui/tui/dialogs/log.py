"""The log of messages: everything that the app told in this run, for reading again after its toast is gone."""

from __future__ import annotations

from collections.abc import Sequence

from pinui.figures import moment, plural
from pinui.tui.common_keys import LOG
from pinui.tui.dialogs.page import Page
from pinui.tui.display import wrapped
from pinui.tui.keys import bindings
from pinui.tui.widgets.line_view import Line
from pinui.tui.workbench import Told

__all__ = ["LogScreen"]

MARKS = {"information": ("·", "muted"), "warning": ("!", "warning"), "error": ("✗", "error")}


class LogScreen(Page[None]):
    """The messages over the place, the newest first."""

    BINDINGS = bindings(LOG)
    ID = "log"

    def __init__(self, messages: Sequence[Told]) -> None:
        super().__init__("Messages of this run", plural(len(messages), "message") if messages else "")
        self.messages = messages[::-1]

    def fill(self) -> None:
        """Each message with its time, wrapped for this width."""
        now = self.app.clock()
        times = [moment(int(told.at * 1000), now) for told in self.messages]
        column = max(map(len, times), default=0) + 2
        lines: list[Line] = []
        for told, time in zip(self.messages, times, strict=True):
            mark, tone = MARKS[told.severity]
            for number, words in enumerate(wrapped(told.words, self.view.content_width - column - 3)):
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
        self.show_page(lines)

    def action_copy_all(self) -> None:
        """Copy every message, the oldest first, as a log has them."""
        now = self.app.clock()
        lines = [f"{moment(int(told.at * 1000), now)}  {told.words}" for told in reversed(self.messages)]
        self.app.copy("\n".join(lines), "Log")
