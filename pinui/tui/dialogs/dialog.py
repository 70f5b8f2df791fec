"""Dialogs: a box in the middle of the dimmed app, closed by esc."""

from __future__ import annotations

from typing import TypeVar, cast

from textual import events, getters
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from pinui.tui.common_keys import BUTTON, DIALOG
from pinui.tui.focus import KeepsFocus
from pinui.tui.keys import bindings
from pinui.tui.workbench import Workbench
from pinui.workspace.text import clean, clean_line

__all__ = ["Dialog", "DialogButton", "button", "say"]

Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer], KeepsFocus[Answer], inherit_bindings=False):
    """A question. Esc is always the harmless answer.

    `ModalScreen` stays the first base: Textual takes the style sheet, with the dimmed app behind, from that one alone.
    """

    app = getters.app(Workbench)

    BINDINGS = bindings(DIALOG)

    def action_cancel(self) -> None:
        """Close, change nothing."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """A click beside the box closes it."""
        if event.widget is self:
            self.action_cancel()


def say(text: str, classes: str = "say", *, id: str | None = None) -> Static:  # noqa: A002  Textual's name
    """A paragraph. Its text may come from outside, so it is cleaned and is no markup."""
    return Static(Content(clean(text)), classes=classes, id=id, markup=False)


class DialogButton(Button, inherit_bindings=False):
    """A button whose key is in the registry, too."""

    BINDINGS = bindings(BUTTON)


def button(kind: type[DialogButton], id: str, label: str, classes: str = "") -> DialogButton:  # noqa: A002  Textual's name
    """A button. Its label may come from outside, so it is cleaned and is no markup."""
    return kind(cast("str", Content(clean_line(label))), id=id, classes=classes)
