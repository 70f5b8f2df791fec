"""A list of names with a fact at the right and a grey line below: recipients, profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from pinui.tui.display import fit
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line

__all__ = ["TwoLineList", "TwoLines"]


@dataclass(frozen=True, slots=True)
class TwoLines:
    """One item: an identity, its name, a fact with a tone, and the line below."""

    id: str
    name: str
    fact: str
    below: str
    tone: str = "muted"


class TwoLineList(ItemList):
    """Three lines an item: name and fact, the grey line, air."""

    ITEM_HEIGHT = 3

    def __init__(self, *, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes="pane first")
        self.items: Sequence[TwoLines] = ()
        self.notes: list[Line] = []

    def show_items(self, items: Sequence[TwoLines], select: str | None = None) -> None:
        """Show these; the cursor stays on its item, or goes to `select`."""
        wanted = select or (self.current.id if self.current else None)
        self.items = items
        self.item_count = len(items)
        index = next((index for index, item in enumerate(items) if item.id == wanted), None)
        if index is not None:
            self.cursor = index
        self.measure()

    @property
    def current(self) -> TwoLines | None:
        """The item under the cursor."""
        return self.items[self.cursor] if self.items and self.cursor < len(self.items) else None

    def item_lines(self, index: int) -> int:
        return 2

    def cursor_lines(self, index: int) -> int:
        """The name alone."""
        return 1

    def reveal(self) -> None:
        """Whole items at the top, too: a second line without its first says nothing."""
        super().reveal()
        if self.item_at(self.scroll_offset.y)[1] == 1:
            self.scroll_to(y=self.scroll_offset.y + 1, animate=False, force=True, immediate=True)

    def nothing(self, width: int) -> list[Line]:
        """Before the first."""
        return self.notes

    def below(self, item: TwoLines) -> tuple[str, str]:
        """The second line and its tone."""
        return item.below, "muted"

    def item_line(self, index: int, line: int, width: int) -> Line:
        """Name and fact, or the line below."""
        item = self.items[index]
        here = index == self.cursor
        if line == 1:
            text, tone = self.below(item)
            return [(fit("  " + text, width), tone)]
        if line == 2:
            return ()
        room = width - cell_len(item.fact) - 2
        return [
            ("▌" if here else " ", "primary"),
            (fit(item.name, max(4, room)), "bold strong" if here else "text"),
            (" " + item.fact, item.tone),
        ]
