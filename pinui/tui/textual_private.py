"""Private parts of Textual that pinui needs because there is no public way: all of them, and nothing else, are here.

`tests/tui/test_textual_private.py` fails when one of them changes.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rich.text import Text
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.css.stylesheet import Stylesheet
from textual.keys import _character_to_key  # pyright: ignore[reportPrivateUsage]
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import WorkerFailed

if TYPE_CHECKING:
    from textual.document._wrapped_document import WrappedDocument
    from textual.widgets import TextArea

__all__ = [
    "CHECKED_WITH",
    "DrawnInput",
    "HandlesCrashes",
    "ParsedOnce",
    "add_bindings",
    "key_of_character",
    "let_alt_digits_through",
    "never_wrap",
    "set_first_theme",
]

CHECKED_WITH = "8.2.8"
"""The version of Textual that all of this was checked with."""

Result = TypeVar("Result")


def let_alt_digits_through() -> None:
    """Read Esc and a digit as alt and that digit, in every terminal.

    Textual reads them as the characters that the option key types in one macOS terminal (¡ ™ £ ¢ ∞): in other
    terminals, alt+3 would write a £ into the field.
    """
    table = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for digit in "12345":
        table.pop(f"\x1b{digit}", None)


def key_of_character(character: str) -> str:
    """The name of a character's key: `question_mark` for `?`."""
    return _character_to_key(character)


def add_bindings(screen: Screen[Any], bindings: Sequence[Binding]) -> None:
    """Give one screen keys of its own. Textual's public `BINDINGS` belong to the class."""
    screen._bindings = BindingsMap.merge([screen._bindings, BindingsMap(bindings)])  # pyright: ignore[reportPrivateUsage]


class ParsedOnce(Stylesheet):
    """A style sheet that is parsed again only for other variables.

    Textual forgets what it has parsed whenever a theme is set or a screen is shown for the first time: three times
    before the first frame, and once for each place.
    """

    def set_variables(self, variables: dict[str, str]) -> None:
        """Note the variables of a theme."""
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse the sources that were not parsed with these variables."""
        self.parse()


def set_first_theme(app: App[Any], name: str) -> None:
    """Set the theme of an app that shows nothing yet.

    Set in the usual way, it is a change of theme: Textual styles every widget twice before the first frame.
    """
    app.set_reactive(App.theme, name)
    is_dark = app.current_theme.dark
    app.update_classes({f"-theme-{name}": True, "-dark-mode": is_dark, "-light-mode": not is_dark}, update=False)
    app._refresh_truecolor_filter(app.ansi_theme)  # pyright: ignore[reportPrivateUsage]
    app.stylesheet.set_variables(app.get_css_variables())


@cache
def _unwrapped_document() -> type[WrappedDocument]:
    # Here, so that the first frame doesn't pay for an editor.
    from textual.document._wrapped_document import WrappedDocument

    class UnwrappedDocument(WrappedDocument):
        """A document whose lines are never wrapped. Textual counts all its lines again for each line that it draws."""

        @property
        def height(self) -> int:
            """As many lines as were counted when the text changed."""
            return len(self._offset_to_line_info)

    return UnwrappedDocument


def never_wrap(editor: TextArea) -> None:
    """Spare an editor without soft wrap from counting its lines. To be called whenever another text was loaded."""
    editor.wrapped_document.__class__ = _unwrapped_document()  # making another would read all lines once more


class DrawnInput(Input):
    """A field that decides itself how its value is drawn, and which cell belongs to which character."""

    def drawn_text(self) -> Text:
        """The value as it is drawn."""
        return super()._value

    def cells_before(self, position: int) -> int:
        """The cells that are drawn before a character."""
        return super()._position_to_cell(position)

    def position_at(self, cell: int) -> int:
        """The character that is drawn at a cell of the field."""
        return super()._cell_offset_to_index(cell)

    @property
    def _value(self) -> Text:
        return self.drawn_text()

    def _position_to_cell(self, position: int) -> int:
        return self.cells_before(position)

    def _cell_offset_to_index(self, offset: int) -> int:
        return self.position_at(offset)


class HandlesCrashes(App[Result]):
    """An app that prints its own words after a crash. Textual would print local variables, and tokens among them."""

    _words = ""

    def report_crash(self, error: BaseException) -> str:
        """Write a report. Returns the words to print once the terminal is the shell's again."""
        return f"{type(error).__name__}: {error}"

    def crash(self, error: BaseException) -> None:
        """End the app because of this error, with exit code 1."""
        self._return_code = 1
        if self._exception is None:  # the first one; others follow from it
            self._exception = error  # pyright: ignore[reportAttributeAccessIssue] – for `run_test`, which raises it
            self._exception_event.set()  # pyright: ignore[reportUnknownMemberType]
            self._words = self.report_crash(error.error if isinstance(error, WorkerFailed) else error)
        self._close_messages_no_wait()

    def print_crash(self) -> None:
        """Print the words, once."""
        if self._words:
            print(self._words, file=sys.__stderr__)
            self._words = ""

    def _handle_exception(self, error: BaseException) -> None:
        """Every uncaught error arrives here."""
        self.crash(error)

    def _print_error_renderables(self) -> None:
        """Called when the terminal is the shell's again."""
        self.print_crash()
        super()._print_error_renderables()

    def _register(self, *arguments: Any, **settings: Any) -> Any:
        """Called with new widgets. Each has a task, whose errors Textual catches only if they are `Exception`s."""
        new = super()._register(*arguments, **settings)  # pyright: ignore[reportUnknownMemberType]
        for widget in new:
            task: asyncio.Task[None] | None = getattr(widget, "_task", None)
            if task is not None:
                task.add_done_callback(self._task_ended)
        return new

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.crash(error)
