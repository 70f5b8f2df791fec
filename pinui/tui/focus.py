"""Moving the focus at once."""

from __future__ import annotations

from textual.widget import Widget

__all__ = ["focus_now"]


def focus_now(widget: Widget) -> None:
    """Give a widget the focus before the next key is read.

    Textual's own `focus()` waits for a turn of the loop: a letter that is typed right after it would be a command.
    """
    widget.screen.set_focus(widget)
