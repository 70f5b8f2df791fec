"""The line to write a message in: everybody has a draft of their own, and the line shows that of one person."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from pinui.tui.keys import bindings
from pinui.tui.places.messages.keys import LINE
from pinui.tui.widgets.fields import Field, FieldPane, pane_title

__all__ = ["WriteLine"]


class WriteField(Field):
    """Where the words go."""

    BINDINGS = bindings(LINE)
    KEEPS_LINES = True


class WriteLine(FieldPane):
    """Its title names whom the words are for, and nobody else gets them."""

    def __init__(self) -> None:
        super().__init__(id="line", classes="pane")
        self.addressee: str | None = None
        self.drafts: dict[str | None, str] = {}
        """What was begun for others than the addressee; under None, for nobody yet."""

    def compose(self) -> Iterable[Widget]:
        """One field."""
        yield WriteField(id="words")

    def on_mount(self) -> None:
        """For nobody yet."""
        self._title()

    @property
    def field(self) -> Field:
        """Where the words go."""
        return self.query_one(WriteField)

    @property
    def unsent(self) -> dict[str | None, str]:
        """All that was begun, by whom it is for."""
        drafts = {**self.drafts, self.addressee: self.field.value}
        return {name: text for name, text in drafts.items() if text.strip()}

    def turn_to(self, name: str | None) -> None:
        """Show the draft for somebody else; never in the middle of writing, where it would change under the hands."""
        if name == self.addressee or (self.field.has_focus and self.field.value):
            return
        self.drafts[self.addressee] = self.field.value
        self.addressee = name
        self.field.set_text(self.drafts.pop(name, ""))
        self._title()

    def take(self, name: str | None) -> str:
        """Somebody's draft, which is empty then."""
        if name != self.addressee:
            return self.drafts.pop(name, "")
        text, self.field.value = self.field.value, ""
        return text

    def give_back(self, name: str | None, text: str) -> None:
        """Add words to somebody's draft, behind what is there."""
        there = self.unsent.get(name, "")
        text = f"{there}\n{text}" if there and text else there or text
        if name == self.addressee:
            self.field.set_text(text)
        else:
            self.drafts[name] = text

    def _title(self) -> None:
        pane_title(self, f"Write to {self.addressee}" if self.addressee else "Write", "enter stores it")
