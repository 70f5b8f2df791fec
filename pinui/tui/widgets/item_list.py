"""A list with a cursor that draws only the visible items, and asks for those.

Textual's `OptionList` and `ListView` need every item in advance, and their cursor can't be reversed in 16 colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from pinui.tui.common_keys import LIST
from pinui.tui.keys import bindings
from pinui.tui.widgets.line_view import Line, Toned

__all__ = ["ItemList"]


class ItemList(Toned, can_focus=True, inherit_bindings=False):
    """Items of one height. A subclass writes the lines of an item."""

    BINDINGS = bindings(LIST)
    ITEM_HEIGHT: ClassVar[int] = 1

    cursor: reactive[int] = reactive(0, repaint=False)
    item_count: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class Moved(Message):
        """The cursor is on another item."""

        list: ItemList
        index: int

        @property
        def control(self) -> ItemList:
            return self.list

        def can_replace(self, message: Message) -> bool:
            """Only the last of many moves matters."""
            return isinstance(message, ItemList.Moved) and message.list is self.list

    @dataclass
    class Chosen(Message):
        """An item was clicked while the cursor was on it."""

        list: ItemList
        index: int

        @property
        def control(self) -> ItemList:
            return self.list

    def header(self, width: int) -> Line | None:
        """A line above the items that does not scroll."""
        return None

    def item_line(self, index: int, line: int, width: int) -> Line:
        """Line `line` of item `index`; blank unless a subclass writes it."""
        return ()

    def nothing(self, width: int) -> list[Line]:
        """Lines to show while there are no items."""
        return []

    def item_top(self, index: int) -> int:
        """The first line of an item."""
        return index * self.ITEM_HEIGHT

    def item_at(self, line: int) -> tuple[int, int]:
        """The item at a line of the list, and which of its lines that is."""
        return divmod(line, self.ITEM_HEIGHT)

    def item_lines(self, index: int) -> int:
        """The number of lines of an item, without the blank line between items."""
        return 1

    def cursor_lines(self, index: int) -> int:
        """The number of highlighted lines of the item under the cursor. A pane without the focus shows a bar only."""
        return self.item_lines(index)

    def in_sight(self, first: int, last: int) -> None:
        """Items `first` to `last` are about to be drawn: a chance to fetch them."""

    @property
    def list_width(self) -> int:
        """The cells of a row."""
        return max(1, self.scrollable_content_region.width)

    @property
    def header_height(self) -> int:
        """Whether a header takes a line."""
        return 0 if self.header(self.list_width) is None else 1

    def validate_cursor(self, cursor: int) -> int:
        """Stay inside the list."""
        return max(0, min(cursor, self.item_count - 1))

    def watch_item_count(self) -> None:
        """Another number of items: another height."""
        self.measure()
        self.cursor = self.validate_cursor(self.cursor)

    def measure(self) -> None:
        """Tell the scroll bar how much there is."""
        height = self.item_top(self.item_count) + self.header_height
        self.extend_to(self.list_width, height)
        self.refresh()

    def watch_cursor(self, before: int, now: int) -> None:
        """Show the cursor and tell the screen."""
        top = self.scroll_offset.y
        self.reveal()
        if self.scroll_offset.y == top:
            for index in (before, now):  # the rest of the list looks as it did
                self.refresh_lines(self.item_top(index) + self.header_height, self.item_lines(index))
        if before != now:
            self.post_message(self.Moved(self, now))

    def reveal(self) -> None:
        """Scroll so that the whole item under the cursor is in sight."""
        if not self.size.height:
            return
        lines = self.item_lines(self.cursor) + self.header_height
        region = Region(0, self.item_top(self.cursor), 1, lines)
        self.scroll_to_region(region, animate=False, force=True, immediate=True, x_axis=False)

    def on_resize(self) -> None:
        """Rows are as wide as the pane."""
        self.measure()
        self.reveal()

    def render_line(self, y: int) -> Strip:
        """One row of the pane."""
        width = self.list_width
        header = self.header(width)
        if header is not None:
            if y == 0:
                return self.draw(header, width)
            y -= 1
        if not self.item_count:
            nothing = self.nothing(width)
            return self.draw(nothing[y] if y < len(nothing) else (), width)
        top = self.scroll_offset.y
        if y == 0:
            first = self.item_at(top)[0]
            last = self.item_at(top + self.size.height)[0]
            self.in_sight(first, min(last, self.item_count - 1))
        index, line = self.item_at(top + y)
        if index >= self.item_count:
            return self.draw((), width)
        here = index == self.cursor and line < self.cursor_lines(index)
        return self.draw(self.item_line(index, line, width), width, "row" if here and self.has_focus else "")

    def action_cursor_up(self) -> None:
        self.cursor -= 1

    def action_cursor_down(self) -> None:
        self.cursor += 1

    def action_page_up(self) -> None:
        self.cursor -= max(1, self.size.height // self.ITEM_HEIGHT - 1)

    def action_page_down(self) -> None:
        self.cursor += max(1, self.size.height // self.ITEM_HEIGHT - 1)

    def action_top(self) -> None:
        """To the first item."""
        self.cursor = 0

    def action_bottom(self) -> None:
        """To the last item."""
        self.cursor = self.item_count - 1

    def on_click(self, event: events.Click) -> None:
        """The first click moves the cursor, a click on the cursor chooses."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        line = offset.y - self.header_height
        if line < 0:
            return
        index = self.item_at(line + self.scroll_offset.y)[0]
        if index >= self.item_count:
            return
        if index == self.cursor:
            self.post_message(self.Chosen(self, index))
        self.cursor = index
