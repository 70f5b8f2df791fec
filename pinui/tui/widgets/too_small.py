"""What is shown when the terminal is too small for anything else."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from pinui.tui.app_of import app_of

__all__ = ["TooSmall"]


class TooSmall(Widget):
    """A sentence instead of a broken screen; the style sheet shows it below 60×16."""

    def render(self) -> Content:
        """How large it is, and how large it must be."""
        width, height = app_of(self).size
        return Content(f"pinui needs a terminal of at least 60×16; this one is {width}×{height}.")
