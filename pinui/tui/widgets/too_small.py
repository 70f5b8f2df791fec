"""The message for a terminal that is too small."""

from __future__ import annotations

from textual import getters
from textual.content import Content
from textual.widget import Widget

from pinui.tui.workbench import Workbench

__all__ = ["TooSmall"]


class TooSmall(Widget):
    """A sentence instead of a broken screen; the style sheet shows it below 60×16."""

    app = getters.app(Workbench)

    def render(self) -> Content:
        """The size of the terminal, and the size that is needed."""
        width, height = self.app.size
        return Content(f"pinui needs a terminal of at least 60×16; this one is {width}×{height}.")
