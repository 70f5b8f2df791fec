"""One line of text in which parts can be clicked."""

from __future__ import annotations

from textual import events, getters
from textual.content import Content
from textual.widget import Widget

from pinui.tui.workbench import Workbench

__all__ = ["Bar"]


class Bar(Widget):
    """Remembers the action of each cell. Textual's own links would be underlined and coloured as links."""

    app = getters.app(Workbench)

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._hot: list[tuple[int, int, str]] = []

    def lay_out(self, parts: list[tuple[Content, str]]) -> Content:
        """Join the parts; those with an action do it when they are clicked."""
        self._hot = []
        x = 0
        for content, action in parts:
            if action:
                self._hot.append((x, x + content.cell_length, action))
            x += content.cell_length
        return Content("").join(content for content, _ in parts)

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the clicked part."""
        for start, end, action in self._hot:
            if start <= event.x < end:
                await self.app.run_action(action, default_namespace=self.screen)
                return
