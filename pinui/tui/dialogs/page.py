"""Pages: lines of text in a wide box, written again for another width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical

from pinui.tui.dialogs.dialog import Dialog
from pinui.tui.widgets.fields import pane_title
from pinui.tui.widgets.key_bar import KeyBar
from pinui.tui.widgets.line_view import Line, LineView

__all__ = ["Page"]

Answer = TypeVar("Answer")


class Page(Dialog[Answer]):
    """A dialog to read. A subclass writes the lines."""

    AUTO_FOCUS = "LineView"
    ID: ClassVar[str]
    """The id of the lines."""
    AROUND: ClassVar[int] = 6
    """Lines that the border, the footer and some air take."""

    def __init__(self, heading: str, fact: str = "") -> None:
        super().__init__()
        self.heading, self.fact = heading, fact

    @property
    def view(self) -> LineView:
        """The pane with the lines."""
        return self.query_one(LineView)

    @property
    def room(self) -> int:
        """The most lines in sight."""
        return max(5, self.app.size.height - self.AROUND)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide") as box:
            pane_title(box, self.heading, self.fact)
            yield LineView(id=self.ID)
        yield KeyBar()

    def on_resize(self) -> None:
        """Lines are as wide as the box."""
        self.call_after_refresh(self.fill)

    def fill(self) -> None:
        """Write the lines."""

    def show_page(self, lines: Sequence[Line]) -> None:
        """Show these lines; the box is as high as they need."""
        self.view.styles.height = min(len(lines), self.room)
        self.view.show_lines(lines, keep=True)
