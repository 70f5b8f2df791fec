"""Questions about something that can't be undone. They start on Cancel, and the key that opened them does not confirm.

The first letter of what will be done, as a capital, says yes: R for Revoke, F for Forget. It counts only after half a
second without a key, and only if it was pressed by itself: text that is typed ahead, pasted or meant for another window
confirms nothing. For many pins their number is typed instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button

from pinui.tui.common_keys import CONFIRM, NUMBER, ROWS
from pinui.tui.dialogs.dialog import Dialog, DialogButton, button, say
from pinui.tui.dialogs.page import Page
from pinui.tui.display import fit, right, short_path
from pinui.tui.focus import focus_now
from pinui.tui.keys import bindings
from pinui.tui.pace import QUIET, Press
from pinui.tui.widgets.fields import Field
from pinui.tui.widgets.key_bar import KeyBar
from pinui.tui.widgets.line_view import LazyLines, Line, LineView

__all__ = [
    "MANY",
    "Confirm",
    "about_rows",
    "overwrite_question",
]

MOST_ROWS = 8
MANY = 20
"""The most rows that a single letter may confirm."""
LOOK = 0.1
"""Seconds between two checks for a pause in the keys."""


class YesButton(DialogButton):
    """The button with a consequence: a click counts at once, its key waits like the letter."""

    def action_press(self) -> None:
        """By the keyboard."""
        self.post_message(self.Wanted())

    class Wanted(Message):
        """Enter, on this button."""


class Confirm(Dialog[bool]):
    """A question with its rows, its consequence and two buttons."""

    AUTO_FOCUS = None
    BINDINGS = bindings(CONFIRM)
    FIRST = "#no"
    """What has the focus at the beginning."""

    def __init__(
        self, title: str, question: str, consequence: str, yes: str, rows: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__()
        self.heading, self.question, self.consequence, self.yes = title, question, consequence, yes
        self.rows = rows
        self._shown_at: float | None = None

    @property
    def letter(self) -> str:
        """The capital that says yes."""
        return self.yes[0]

    @property
    def verb(self) -> str:
        """Verb of the confirming button."""
        return self.yes.split()[0].lower()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="question") as box:
            box.border_title = self.heading
            yield say(self.question, "question")
            if self.rows:
                yield LineView(id="rows")
            yield say(self.consequence)
            yield from self.compose_answer()
        yield KeyBar()

    def compose_answer(self) -> Iterable[Widget]:
        yes = button(YesButton, "yes", f"{self.yes} ({self.letter})", "danger")
        yield Horizontal(button(DialogButton, "no", "Cancel"), yes, classes="buttons")

    def on_mount(self) -> None:
        """The rows are for looking at."""
        if self.rows:
            self.query_one("#rows").can_focus = False
        focus_now(self.query_one(self.FIRST))
        self.wait_again()
        self.set_interval(LOOK, self._show_wait)

    # -- waiting for a quiet moment -----------------------------------------------------------------------------

    def wait_again(self) -> None:
        """The question has changed: the half second starts again when it is on the screen."""
        self._shown_at = None
        self.call_after_refresh(self._has_been_shown)

    @property
    def is_shown(self) -> bool:
        """Whether the question is on the screen. It can be answered half a second later."""
        return self._shown_at is not None

    def _has_been_shown(self) -> None:
        self._shown_at = self.app.pace.now()
        self._show_wait()

    def _show_wait(self) -> None:
        ready = self.is_ready()
        self.set_class(not ready, "-waits")
        self.query_one("#question").border_subtitle = self.ready_words if ready else self.waiting_words

    def is_ready(self) -> bool:
        """Whether an answer would count now."""
        pace = self.app.pace
        return self._is_quiet(pace.now(), pace.last.at)

    def is_answer(self, press: Press) -> bool:
        """Whether a key came after a quiet moment."""
        return self._is_quiet(press.at, press.before)

    def _is_quiet(self, now: float, last: float) -> bool:
        return self._shown_at is not None and now - max(self._shown_at, last) >= QUIET

    @property
    def ready_words(self) -> str:
        """Hint shown once the question can be answered."""
        return f"{self.letter} to {self.verb} · {self.app.key('dialog.close')} to cancel"

    @property
    def waiting_words(self) -> str:
        """Hint shown while keys are ignored."""
        return f"{self.letter} works after half a second without keys"

    @on(YesButton.Wanted)
    def agree(self) -> None:
        """The keyboard says yes."""
        app = self.app
        if self.is_answer(app.press):
            app.if_by_itself(self._yes, lambda: None)

    def _yes(self) -> None:
        if self.is_current:  # esc may have been quicker
            self.dismiss(True)

    # -- the rows -----------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Lay out the rows, as many as there is room for."""
        if self.rows:
            self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        box, view = self.query_one("#question"), self.query_one("#rows", LineView)
        # The question, what follows from it and the buttons come first; three lines are the footer and air.
        others = [child for child in box.children if child is not view]
        taken = sum(child.outer_size.height + child.styles.margin.height for child in others) + box.gutter.height
        room = max(0, min(MOST_ROWS, len(self.rows), self.size.height - taken - 3))
        view.styles.height = room + 1 if room else 0
        width = view.content_width
        shown = self.rows if len(self.rows) <= room else self.rows[: max(0, room - 1)]
        lines: list[Line] = [row_line(row, width) for row in shown]
        if room and len(shown) < len(self.rows):
            lines.append([(f"    and {len(self.rows) - len(shown):,} more{self.all_words}", "muted")])
        view.show_lines(lines)

    @property
    def all_words(self) -> str:
        """The key that lists all rows, if there is one."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only the letter that the button names."""
        if action == "yes":
            return parameters == (self.letter,)
        return super().check_action(action, parameters)

    def action_yes(self, _letter: str) -> None:
        """The capital letter says yes, wherever the focus is."""
        self.agree()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Either button closes the dialog."""
        self.dismiss(event.button.id == "yes")


class NumberField(Field):
    """Takes the digits that the question lets through, and nothing that is pasted."""

    BINDINGS = bindings(NUMBER)

    def __init__(self, takes: Callable[[str], bool]) -> None:
        super().__init__(id="number")
        self._takes = takes

    def on_key(self, event: events.Key) -> None:
        """Only the digits."""
        if event.is_printable and not self._takes(event.character or ""):
            event.stop()
            event.prevent_default()

    def take(self, text: str) -> None:
        """Ignore pasted text: a number that was read is typed."""


class ConfirmNumber(Confirm):
    """A question about many things: their number is typed, and Enter says yes."""

    FIRST = "#number"
    _open = False

    @property
    def number(self) -> int:
        """The number to type."""
        return len(self.rows)

    def compose_answer(self) -> Iterable[Widget]:
        """One line to fill in."""
        self.field = NumberField(self.takes)
        yield Horizontal(say(f"Type {self.number} to {self.verb}: "), self.field, classes="number")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No letter is enough here."""
        return False if action == "yes" else super().check_action(action, parameters)

    def is_ready(self) -> bool:
        """From the first digit on, no wait."""
        return self._open or super().is_ready()

    @property
    def all_words(self) -> str:
        """The key that lists all rows."""
        return f"   (all {len(self.rows):,}: l)"

    def takes(self, character: str) -> bool:
        """Digits count from a quiet moment on, one by one. Any other character starts the wait again; l lists all."""
        if character == "l":
            self.app.if_by_itself(self._list_all, lambda: None)
        press = self.app.press
        quiet = self.is_answer(press) or (self._open and press.piece.keys == 1)
        self._open = quiet and character in "0123456789"
        if not self._open:
            self.field.value = ""
        return self._open

    def _list_all(self) -> None:
        if self.is_current:
            self.app.push_screen(AllRows(self.heading, self.rows))

    def on_input_submitted(self) -> None:
        """Enter says yes to the right number."""
        if self.field.value == str(self.number):
            self._yes()
        elif self.field.value:
            self.field.value = ""
            self.app.tell(f"The number doesn't match {self.number}. Nothing was changed.", warning=True)

    @property
    def ready_words(self) -> str:
        """Hint shown once the question can be answered."""
        return f"{self.app.key('number.confirm')} to confirm · {self.app.key('dialog.close')} to cancel"

    @property
    def waiting_words(self) -> str:
        """Hint shown while keys are ignored."""
        return "digits count after half a second without keys"


class AllRows(Page[None]):
    """All rows of a question, to scroll through."""

    BINDINGS = bindings(ROWS)
    ID = "all-rows"

    def __init__(self, heading: str, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__(heading, f"all {len(rows):,}")
        self.rows = rows

    def fill(self) -> None:
        """Lines are made when they are drawn."""
        width = self.view.content_width
        self.show_page(LazyLines(self.rows, lambda row: row_line(row, width)))


def row_line(row: tuple[str, str], width: int) -> Line:
    """One row of a question: a name and a fact."""
    name, fact = row
    return [("  • ", "warning"), (fit(name, width - 16), "text"), (right(fact, 10), "muted")]


def about_rows(title: str, question: str, consequence: str, yes: str, rows: Sequence[tuple[str, str]]) -> Confirm:
    """A question about rows: a letter answers for some, a number for many."""
    kind = ConfirmNumber if len(rows) > MANY else Confirm
    return kind(title, question, consequence, yes, rows)


def overwrite_question(path: Path) -> Confirm:
    """Before a file is replaced."""
    shown = short_path(str(path), str(Path.home()), 200)
    return Confirm("Overwrite", f"{shown} is there already. Replace it?", "The old contents are lost.", "Replace")
