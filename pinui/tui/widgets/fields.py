"""Text fields, and the panes that hold them: letters are commands in the pane and text in the field."""

from __future__ import annotations

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from pinui.tui.alt_digits import is_for_the_app
from pinui.tui.commands import bindings
from pinui.tui.focus import focus_now
from pinui.workspace.text import clean_line

__all__ = ["Field", "FieldPane", "pane_title"]


def pane_title(pane: Widget, title: str, fact: str = "") -> None:
    """Write on a pane's border: the title above, one fact below."""
    pane.border_title = Content(clean_line(title)) if title else None
    pane.border_subtitle = Content(clean_line(fact)) if fact else None


class Field(Input):
    """A line to type in. What is pasted loses its control characters: the terminal would obey them."""

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        password: bool = False,
        id: str | None = None,  # noqa: A002  Textual's name
    ) -> None:
        super().__init__(
            clean_line(value), placeholder=placeholder, password=password, id=id, compact=True, select_on_focus=False
        )
        self.set_reactive(Input.cursor_blink, False)  # a calm screen, and nothing to paint twice a second

    def set_text(self, text: str) -> None:
        """Replace the value by text of any origin."""
        self.value = clean_line(text)
        self.cursor_position = len(self.value)

    async def _on_key(self, event: events.Key) -> None:
        if is_for_the_app(event):
            event.prevent_default()

    def _on_paste(self, event: events.Paste) -> None:
        lines = event.text.strip().splitlines()
        self.replace(clean_line(lines[0]) if lines else "", *self.selection)
        event.stop()
        event.prevent_default()


class FieldPane(Vertical, can_focus=True):
    """A bordered pane around one or more fields. Enter or `i` goes in, esc comes out."""

    BINDINGS = bindings("field")

    def fields(self) -> list[Widget]:
        """The fields inside, in order."""
        return [child for child in self.query("Field, TextArea") if child.can_focus]

    @property
    def in_field(self) -> bool:
        """Whether a field inside has the focus."""
        focused = self.screen.focused
        return focused is not None and focused is not self and self in focused.ancestors

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only the keys that work right now are shown."""
        if action == "enter_field":
            return not self.in_field
        if action == "leave_field":
            return self.in_field
        return True

    def action_enter_field(self) -> None:
        """Begin to type."""
        for field in self.fields()[:1]:
            focus_now(field)

    def action_leave_field(self) -> None:
        """Letters are commands again."""
        focus_now(self)

    def on_click(self, event: events.Click) -> None:
        """A click on the pane means its field."""
        if event.widget is self:
            self.action_enter_field()
