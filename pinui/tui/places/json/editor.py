"""A JSON editor: colours by the line, and text that cannot steer the terminal."""

from __future__ import annotations

from rich.text import Text
from textual import events, getters
from textual.widgets import TextArea

from pinui.tui.json_text import JSON_TONES, TOKEN, in_short_lines, safe_for_editor
from pinui.tui.keys import bindings
from pinui.tui.local_files import LARGEST_TEXT, TOO_LARGE
from pinui.tui.places.json.keys import STORE
from pinui.tui.textual_private import never_wrap
from pinui.tui.widgets.fields import JOINERS, is_for_the_app
from pinui.tui.workbench import Workbench
from pinui.workspace.text import clean

__all__ = ["JsonEditor"]


class JsonEditor(TextArea):
    """Textual's editor with the colours of JSON, for which it would need another package."""

    app = getters.app(Workbench)
    BINDINGS = bindings(STORE)  # of its pane: Textual's editor has other ideas of F6 and F7

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(
            id=id, show_line_numbers=True, soft_wrap=False, tab_behavior="focus", highlight_cursor_line=False
        )
        self.indent_width = 2
        self.match_cursor_bracket = False
        self.set_reactive(TextArea.cursor_blink, False)
        never_wrap(self)

    def load_text(self, text: str) -> None:
        super().load_text(text)
        never_wrap(self)

    def find_matching_bracket(self, bracket: str, search_from: tuple[int, int]) -> tuple[int, int] | None:
        """None: no matching bracket is shown, and Textual would search the whole text at each key."""
        return None

    def get_line(self, line_index: int) -> Text:
        """The line in colours. Cleaning keeps each character's place, so cursor and selection stay right."""
        line = clean(self.document.get_line(line_index))
        text = Text(line, end="", no_wrap=True)
        variables = self.app.theme_variables
        for match in TOKEN.finditer(line):
            colour = variables.get(JSON_TONES[match.lastgroup or "other"], "")
            if colour.startswith(("#", "ansi_")):
                text.stylize(colour.removeprefix("ansi_"), *match.span())
        return text

    def on_key(self, event: events.Key) -> None:
        """Leave the app's keys to the app, and take the characters that Textual drops."""
        if is_for_the_app(event):
            event.prevent_default()
        elif event.character in JOINERS:
            self.take(event.character)
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Take the text with everything invisible escaped."""
        self.take(event.text)
        event.stop()
        event.prevent_default()

    def action_paste(self) -> None:
        """Paste what was copied here."""
        self.take(self.app.clipboard)

    def take(self, text: str) -> None:
        """Put text of any origin in the place of the selection, unless it is too much to work with.

        As escapes, invisible characters can be seen, and JSON reads them back unchanged.
        """
        room = LARGEST_TEXT - len(self.text) + len(self.selected_text)
        safe = in_short_lines(safe_for_editor(text)) if len(text) <= room else text
        if len(safe) > room:
            self.app.tell(TOO_LARGE, warning=True)
        else:
            result = self.replace(safe, *self.selection, maintain_selection_offset=False)
            self.move_cursor(result.end_location)
            self.focus()
