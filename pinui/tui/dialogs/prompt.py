"""A dialog that asks for one line of text, and a menu that asks for one of a few things."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from pinui.tui.busy import READABLE
from pinui.tui.common_keys import MENU, PROMPT
from pinui.tui.dialogs.dialog import Dialog, say
from pinui.tui.display import fit
from pinui.tui.errors import sentence
from pinui.tui.keys import bindings
from pinui.tui.textual_private import add_bindings
from pinui.tui.widgets.fields import Field, pane_title
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.key_bar import KeyBar
from pinui.tui.widgets.line_view import Line

__all__ = ["CheckedPrompt", "Choice", "Menu", "MenuList", "Prompt", "TokenPrompt", "one_token"]

Answer = TypeVar("Answer")


class PromptField(Field):
    """The line of a prompt."""

    BINDINGS = bindings(PROMPT)


class TokenLine(PromptField):
    """A field for a token: a pasted one replaces the value."""

    def take(self, text: str) -> None:
        """Of what is pasted, the token."""
        self.set_text(one_token(text))


def one_token(pasted: str) -> str:
    """The token in pasted text: people copy it with quotes, with “Bearer” before it or with line breaks in it."""
    from pinui.workspace.credentials import tidy

    return tidy(" ".join(pasted.split())).replace(" ", "")


class CheckedPrompt(Dialog[Answer]):
    """One line of text that is checked before it is taken. A refused text stays in the line, with the reason below.

    Esc gives None, and so does an empty line.
    """

    AUTO_FOCUS = "#prompt"
    TAKES_EMPTY = False
    FIELD: ClassVar[type[PromptField]] = PromptField

    def __init__(
        self,
        title: str,
        question: str,
        accept: Callable[[str], Awaitable[Answer]],
        value: str = "",
        *,
        placeholder: str = "",
        note: str = "",
        password: bool = False,
    ) -> None:
        super().__init__()
        self.texts = title, question, note
        self.accept = accept
        self._refused = ""
        self._hold = object()
        self.field = self.FIELD(value, placeholder=placeholder, password=password, id="prompt")

    def compose(self) -> ComposeResult:
        title, question, note = self.texts
        with Vertical(classes="dialog") as box:
            box.border_title = title
            yield say(question, "say")
            with Vertical(classes="box"):
                yield self.field
            yield say("", "wrong")
            if note:
                yield say(note)
        yield KeyBar()

    def on_input_submitted(self) -> None:
        """Enter takes the text, if it passes the check."""
        text = self.field.value.strip()
        if not text and not self.TAKES_EMPTY:
            self.dismiss(None)
            return
        self.app.release_keys(self._hold)  # of a check that this one replaces
        self._hold = object()
        self.app.hold_keys(self._hold)
        self.run_worker(self._check(text, self._hold), group="prompt.check", exclusive=True, exit_on_error=False)

    async def _check(self, text: str, hold: object) -> None:
        app, box = self.app, self.query_one(".dialog")
        slow = self.set_timer(READABLE, lambda: pane_title(box, self.texts[0], "one moment …"))
        try:
            answer = await self.accept(text)
        except Exception as error:  # noqa: BLE001  whatever it is, the person reads it and may try again
            self._refused = text
            self.query_one(".wrong", Static).update(Content(sentence(error)))
            self.add_class("-wrong")
        else:
            self.dismiss(answer)
        finally:
            slow.stop()
            pane_title(box, self.texts[0])
            app.release_keys(hold)

    def on_input_changed(self) -> None:
        """The refused text is being changed. This message may come late, so the text itself is compared."""
        if self.field.value.strip() != self._refused:
            self.remove_class("-wrong")


class Prompt(CheckedPrompt[str]):
    """One line of any text. An empty line is an answer, too."""

    TAKES_EMPTY = True

    def __init__(
        self,
        title: str,
        question: str,
        value: str = "",
        *,
        placeholder: str = "",
        note: str = "",
        password: bool = False,
    ) -> None:
        super().__init__(title, question, _as_typed, value, placeholder=placeholder, note=note, password=password)


class TokenPrompt(Prompt):
    """A token, however it was copied."""

    FIELD = TokenLine


async def _as_typed(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of a menu: its key, its name, and a fact beside it."""

    key: str
    name: str
    fact: str = ""


class MenuList(ItemList, inherit_bindings=False):
    """The lines of a menu, drawn like every other list. Letters choose here, so there are no vim keys."""

    BINDINGS = bindings(MENU)

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__(id="menu")
        self.choices = choices

    def on_mount(self) -> None:
        """As high as it has lines."""
        self.item_count = len(self.choices)
        self.styles.height = len(self.choices)

    def item_line(self, index: int, line: int, width: int) -> Line:
        """Key, name, fact."""
        choice = self.choices[index]
        here = index == self.cursor
        return [
            ("▌" if here else " ", "primary"),
            (f" {choice.key} ", "bold primary"),
            (fit(choice.name, 17), "bold strong" if here else "text"),
            (fit(choice.fact, width - 21), "muted"),
        ]


class Menu(Dialog[str]):
    """A few things to choose from, by letter, cursor or click; the answer is the key."""

    AUTO_FOCUS = "#menu"

    def __init__(self, title: str, choices: Sequence[Choice], hint: str = "") -> None:
        super().__init__()
        self.heading, self.hint = title, hint
        self.choices = choices
        letters = [
            Binding(
                choice.key,
                f"choose('{choice.key}')",
                choice.name,
                show=False,
                tooltip=f"Choose {choice.name}",
                id=f"menu.{choice.key}",
            )
            for choice in choices
        ]
        add_bindings(self, letters)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="choices") as box:
            pane_title(box, self.heading, self.hint)
            yield MenuList(self.choices)
        yield KeyBar()

    def action_choose(self, key: str) -> None:
        """Answer with this key."""
        self.dismiss(key)

    def action_choose_here(self) -> None:
        """Answer with the line under the cursor."""
        self.dismiss(self.choices[self.query_one(MenuList).cursor].key)

    def on_item_list_chosen(self, _event: ItemList.Chosen) -> None:
        """A second click."""
        self.action_choose_here()
