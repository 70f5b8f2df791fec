"""A screen whose focus comes back after the terminal was too small to show what had it."""

from __future__ import annotations

from typing import Any, TypeVar

from textual import events
from textual.screen import Screen
from textual.widget import Widget

from pinui.tui.focus import focus_now

__all__ = ["KeepsFocus"]

Result = TypeVar("Result")


class KeepsFocus(Screen[Result]):
    """What is hidden loses the focus; this screen remembers who had it."""

    _had_focus: Widget | None = None

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember it."""
        self._had_focus = event.widget

    def on_resize(self) -> None:
        """It may be in sight again."""
        self.call_after_refresh(self._give_focus_back)

    def _give_focus_back(self) -> None:
        widget: Any = self._had_focus
        if self.focused is None and widget is not None and widget.is_attached and widget.focusable:
            focus_now(widget)
        self.refresh_bindings()  # the footer names the panes that are out of sight
