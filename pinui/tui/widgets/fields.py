"""Text fields, and the panes that hold them: letters are commands in the pane and text in the field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style, StyleType
from rich.text import Text
from textual import events, getters
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets.input import Selection

from pinui.figures import plural
from pinui.tui.common_keys import FIELD
from pinui.tui.display import graphemes, joined
from pinui.tui.focus import focus_now
from pinui.tui.keys import bindings
from pinui.tui.textual_private import DrawnInput
from pinui.tui.workbench import Workbench
from pinui.workspace.text import clean, clean_line

__all__ = ["JOINERS", "Field", "FieldPane", "is_for_the_app", "pane_title"]

ITSELF = Style(conceal=False)
"""A style without effect that gives an emoji a segment of its own: segments are not cut inside."""
ONE_LINE = str.maketrans("\n\t", "⏎ ")
JOINERS = ("\u200c", "\u200d")
"""Joiners, which Persian words and many emoji need. Textual drops them when they are typed, as not printable."""


def pane_title(pane: Widget, title: str, fact: str = "") -> None:
    """Write on a pane's border: the title above, one fact below."""
    pane.border_title = Content(clean_line(title)) if title else None
    pane.border_subtitle = Content(clean_line(fact)) if fact else None


def is_for_the_app(event: events.Key) -> bool:
    """Whether a field leaves this key alone: alt and a digit goes to a place, though it has the digit's character."""
    return event.key.startswith("alt+") and event.key[4:].isdigit()


class Drawn(Text):
    """Text in which an emoji that is made of several characters is styled, and so drawn, as one."""

    def stylize(self, style: StyleType, start: int = 0, end: int | None = None) -> None:
        """Style whole emoji."""
        super().stylize(style, start, end and whole(joined(self.plain), end))


def whole(emoji: Sequence[tuple[int, int]], index: int, *, backwards: bool = False) -> int:
    """The index, or the end (or beginning) of the emoji that it is inside of."""
    return next((start if backwards else end for start, end in emoji if start < index < end), index)


class Field(DrawnInput):
    """A line to type in.

    Its value is what was typed or pasted, to the letter; what is drawn is cleaned, since a terminal would obey control
    characters. Each character of the value is drawn as one, so cursor and selection are where they seem to be; where
    several are one emoji, they stay together.
    """

    app = getters.app(Workbench)

    KEEPS_LINES: ClassVar[bool] = False
    """Whether line breaks may be part of the value. Otherwise only the first line of pasted text counts."""

    KEEPS_BLANKS: ClassVar[bool] = False
    """Whether blanks around pasted text count. Around an address or a token they don't."""

    _drawn = "", ""

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        password: bool = False,
        id: str | None = None,  # noqa: A002  Textual's name
    ) -> None:
        super().__init__(value, clean_line(placeholder), password=password, id=id, compact=True, select_on_focus=False)
        self.set_reactive(Input.cursor_blink, False)  # a calm screen, and nothing to paint twice a second

    def set_text(self, text: str) -> None:
        """Replace the value by text of any origin."""
        self.value = text
        self.cursor_position = len(self.value)

    # -- what is drawn ------------------------------------------------------------------------------------------

    @property
    def drawn(self) -> str:
        """The value as it is shown: as many characters, but none that are invisible or steer a terminal."""
        if self.password:
            return "•" * len(self.value)
        if self._drawn[0] != self.value:
            self._drawn = self.value, clean(self.value).translate(ONE_LINE)
        return self._drawn[1]

    @property
    def emoji(self) -> list[tuple[int, int]]:
        """The start and end of each emoji that is made of several characters."""
        return joined(self.drawn)

    def drawn_text(self) -> Text:
        """The value as it is drawn, with emoji in one piece."""
        text = Drawn(self.drawn, no_wrap=True, overflow="ignore", end="")
        for start, end in self.emoji:
            Text.stylize(text, ITSELF, start, end)
        return text

    def cells_before(self, position: int) -> int:
        """The cells that are drawn before a character."""
        return cell_len(self.drawn[:position])

    def position_at(self, cell: int) -> int:
        """The character, or the beginning of the emoji, at a cell of the field."""
        cells = -self.scroll_offset.x
        for start, _, wide in graphemes(self.drawn):
            cells += wide
            if cell < cells:
                return start
        return len(self.value)

    # -- emoji stay whole ---------------------------------------------------------------------------------------

    def validate_selection(self, selection: Selection) -> Selection:
        """Step over an emoji that is made of several characters, in whichever direction."""
        start, end = super().validate_selection(selection)
        return Selection(
            whole(self.emoji, start, backwards=start < self.selection.start),
            whole(self.emoji, end, backwards=end < self.selection.end),
        )

    def delete(self, start: int, end: int) -> None:
        start, end = sorted((start, end))
        super().delete(whole(self.emoji, start, backwards=True), whole(self.emoji, end))

    # -- what is typed and pasted -------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Leave the app's keys to the app, and take the characters that Textual drops."""
        if is_for_the_app(event):
            event.prevent_default()
        elif event.character in JOINERS:
            self.replace(event.character, *self.selection)
            event.stop()
            event.prevent_default()

    async def action_submit(self) -> None:
        """Submit if Enter was pressed by itself. Inside other text it is a line break of that text."""
        self.app.if_by_itself(lambda: self.post_message(self.Submitted(self, self.value)), self.break_line)

    def break_line(self) -> None:
        """A line break arrived with other text."""
        if self.KEEPS_LINES:
            self.replace("\n", *self.selection)
        self.app.tell_not_alone("prompt.submit", "does nothing")

    def on_paste(self, event: events.Paste) -> None:
        """Take the text in this field's own way."""
        self.take(event.text)
        event.stop()
        event.prevent_default()

    def action_paste(self) -> None:
        """Paste what was copied here."""
        self.take(self.app.clipboard)

    def take(self, text: str) -> None:
        """Replace the selection by pasted text."""
        # Terminals send line breaks as carriage returns; those at the end come along when a whole line is copied.
        text = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
        if not self.KEEPS_LINES:
            text, *others = text.strip("\n" if self.KEEPS_BLANKS else None).split("\n")
            left_out = sum(1 for line in others if line.strip())
            if left_out:
                lines = f"{plural(left_out, 'more line')} {'was' if left_out == 1 else 'were'}"
                self.app.tell(f"Only the first line was pasted: {lines} left out.", warning=True)
        self.replace(text, *self.selection)


class FieldPane(Vertical, can_focus=True):
    """A bordered pane around one or more fields. Enter or `i` goes in, esc comes out."""

    BINDINGS = bindings(FIELD)

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

    def on_paste(self, event: events.Paste) -> None:
        """Text pasted on the pane is meant for its field."""
        if not self.in_field:
            event.stop()
            self.action_enter_field()
            for field in self.fields()[:1]:
                field.post_message(events.Paste(event.text))

    def on_click(self, event: events.Click) -> None:
        """A click on the pane means its field."""
        if event.widget is self:
            self.action_enter_field()
