"""The line to write a message in. Every recipient has a draft; the line shows one of them."""

from __future__ import annotations

from collections.abc import Iterable

from textual import getters
from textual.widget import Widget

from pinui.tui.keys import bindings
from pinui.tui.places.messages.keys import LINE
from pinui.tui.widgets.fields import Field, FieldPane, pane_title
from pinui.tui.workbench import Workbench

__all__ = ["WriteLine"]


class WriteField(Field):
    """The field of the message."""

    BINDINGS = bindings(LINE)
    KEEPS_LINES = True


class WriteLine(FieldPane):
    """The line. Its title names the recipient of the text."""

    app = getters.app(Workbench)

    def __init__(self) -> None:
        super().__init__(id="line", classes="pane")
        self.addressee: str | None = None
        self.drafts: dict[str | None, str] = {}
        """Drafts for others than the addressee; under None, a draft without a recipient."""

    def compose(self) -> Iterable[Widget]:
        yield WriteField(id="words")

    def on_mount(self) -> None:
        """Start without a recipient."""
        self._title()

    @property
    def field(self) -> Field:
        """The field of the message."""
        return self.query_one(WriteField)

    @property
    def unsent(self) -> dict[str | None, str]:
        """All drafts by recipient."""
        drafts = {**self.drafts, self.addressee: self.field.value}
        return {name: text for name, text in drafts.items() if text.strip()}

    def turn_to(self, name: str | None) -> None:
        """Show the draft for another recipient, except while a message is being typed."""
        if name == self.addressee or (self.field.has_focus and self.field.value):
            return
        self.drafts[self.addressee] = self.field.value
        self.addressee = name
        self.field.set_text(self.drafts.pop(name, ""))
        self._title()

    def take(self, name: str | None) -> str:
        """Take a recipient's draft out of the line."""
        if name != self.addressee:
            return self.drafts.pop(name, "")
        text, self.field.value = self.field.value, ""
        return text

    def give_back(self, name: str | None, text: str) -> None:
        """Append text to a recipient's draft."""
        there = self.unsent.get(name, "")
        text = f"{there}\n{text}" if there and text else there or text
        if name == self.addressee:
            self.field.set_text(text)
        else:
            self.drafts[name] = text

    def _title(self) -> None:
        pane_title(
            self, f"Write to {self.addressee}" if self.addressee else "Write", f"{self.app.key('line.send')} stores it"
        )
