"""The focus: moved at once, and given back after the terminal was too small to show the widget that had it."""

from __future__ import annotations

from typing import Any, TypeVar

from textual import events
from textual.screen import Screen
from textual.widget import Widget

__all__ = ["KeepsFocus", "focus_now"]

Result = TypeVar("Result")


def focus_now(widget: Widget) -> None:
    """Give a widget the focus before the next key is read.

    Textual's own `focus()` waits for a turn of the loop: a letter that is typed right after it would be a command.
    """
    widget.screen.set_focus(widget)


class KeepsFocus(Screen[Result]):
    """A screen that remembers which widget had the focus: a hidden widget loses it."""

    _had_focus: Widget | None = None

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember the widget that has the focus."""
        self._had_focus = event.widget

    def on_resize(self) -> None:
        """It may be in sight again."""
        self.call_after_refresh(self._give_focus_back)

    def _give_focus_back(self) -> None:
        widget: Any = self._had_focus
        if self.focused is None and widget is not None and widget.is_attached and widget.focusable:
            focus_now(widget)
        self.refresh_bindings()  # the footer names the panes that are out of sight
