"""The messages sent to and filed under one name, oldest first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from rich.cells import cell_len

from pinui.figures import count, moment, short_cid
from pinui.tui.display import wrapped
from pinui.tui.entries import VERDICTS
from pinui.tui.keys import bindings
from pinui.tui.places.messages.keys import THREAD
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line
from pinui.workspace import Entry

__all__ = ["Thread"]

MOST = 5_000
"""Characters of one message that are shown. Longer ones are for a pager or a file."""
ROOM = 100_000
"""Characters of all messages. Text is broken into lines again whenever the pane gets another width, so what is
beyond this is cut to `LEAST`, the oldest messages first."""
LEAST = 400


class Thread(ItemList):
    """Items as high as their text needs, with a blank line between them."""

    BINDINGS = bindings(THREAD)

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(id="thread", classes="pane")
        self.clock = clock
        self.entries: Sequence[Entry] = ()
        self.texts: dict[int, str] = {}
        self.blocks: list[list[Line]] = []
        self.tops: list[int] = [0]
        self.notes: list[Line] = []

    def show_entries(self, entries: Sequence[Entry], texts: dict[int, str], notes: list[Line]) -> None:
        """Show another thread, at its end."""
        same = [entry.id for entry in entries] == [entry.id for entry in self.entries]
        here = self.cursor
        self.entries, self.texts, self.notes = entries, texts, notes
        self._lay_out()
        self.item_count = len(entries)
        self.measure()
        self.cursor = here if same else len(entries) - 1
        if not same:
            self.reveal()

    def reveal(self) -> None:
        """Scroll to the message under the cursor. The last one shows its end, also if it is higher than the pane."""
        if self.cursor == self.item_count - 1:
            self.scroll_end(animate=False, force=True, immediate=True)
        else:
            super().reveal()

    def action_cursor_up(self) -> None:
        if not self._scroll_inside(-1):
            super().action_cursor_up()

    def action_cursor_down(self) -> None:
        if not self._scroll_inside(1):
            self._go_down(self.cursor + 1)

    def action_page_up(self) -> None:
        page = self.size.height - 1
        if not self._scroll_inside(-page):
            self.cursor = min(self.cursor - 1, self.item_at(max(0, self.item_top(self.cursor) - page))[0])

    def action_page_down(self) -> None:
        page = self.size.height - 1
        if not self._scroll_inside(page):
            self._go_down(max(self.cursor + 1, self.item_at(self.item_top(self.cursor) + page)[0]))

    def action_top(self) -> None:
        """To the first line, which may be of a message higher than the pane."""
        super().action_top()
        self.scroll_home(animate=False, force=True, immediate=True)

    def action_bottom(self) -> None:
        """To the last line."""
        super().action_bottom()
        self.reveal()

    def _go_down(self, index: int) -> None:
        """Go to a later message, and show its beginning if it is higher than the pane."""
        before, self.cursor = self.cursor, index
        if self.cursor != before:
            super().reveal()

    def _scroll_inside(self, lines: int) -> bool:
        """Scroll the message under the cursor, if it goes on in that direction; otherwise the cursor moves."""
        above = self.scroll_offset.y - self.item_top(self.cursor)
        below = self.item_lines(self.cursor) - above - self.size.height
        step = max(lines, -above) if lines < 0 else min(lines, below)
        if step == 0 or (step > 0) != (lines > 0):
            return False
        self.scroll_relative(y=step, animate=False, force=True, immediate=True)
        return True

    @property
    def current(self) -> Entry | None:
        """The message under the cursor."""
        return self.entries[self.cursor] if self.entries else None

    def on_resize(self) -> None:
        """Text breaks elsewhere. The last message may be higher than the pane: its end stays in sight."""
        self._lay_out()
        if self.cursor == len(self.entries) - 1:
            self.scroll_end(animate=False)

    def _lay_out(self) -> None:
        width = max(10, self.list_width - 2)
        room, blocks = ROOM, list[list[Line]]()
        for entry in reversed(self.entries):
            text = self.texts.get(entry.id) or entry.excerpt or ""
            most = MOST if room > 0 else LEAST
            room -= min(len(text), most)
            blocks.append(self._block(entry, text, most, width))
        self.blocks = blocks[::-1]
        self.tops = [0]
        for block in self.blocks:
            self.tops.append(self.tops[-1] + len(block) + 1)

    def _block(self, entry: Entry, text: str, most: int, width: int) -> list[Line]:
        gone = entry.revoked_at is not None
        if entry.direction == "sent":
            who, tone = f"you → {entry.recipient}", "bold primary"
        else:
            who = "received, filed here by you" if entry.recipient else "received"
            tone = "bold warning"
        mark = VERDICTS.get(entry.verification or "", ("", "", "", ""))[0]
        tone = "struck muted" if gone else tone
        facts = f"{moment(entry.timestamp, self.clock())}  {short_cid(entry.cid)} {'revoked' if gone else mark}"
        head: list[Line] = [[(who, tone), (f"  {facts}", "muted")]]
        if cell_len(f"{who}  {facts}") > width:  # a long name or a narrow pane: two lines
            head = [*([(line, tone)] for line in wrapped(who, width)), [(facts, "muted")]]
        lines: list[Line] = [[(line, "muted" if gone else "text")] for line in wrapped(text[:most], width)]
        if len(text) > most:
            copy = self.app.key("messages.copy")
            more = f"… {count(len(text) - most)} more characters: {copy}, then j, copies all of it"
            lines += [[(line, "warning")] for line in wrapped(more, width)]
        return [*head, *lines]

    def item_top(self, index: int) -> int:
        """The first line of a message."""
        return self.tops[min(index, len(self.tops) - 1)]

    def item_at(self, line: int) -> tuple[int, int]:
        """The message at a line, and the number of its line."""
        index = bisect_right(self.tops, line) - 1
        return index, line - self.tops[index]

    def item_lines(self, index: int) -> int:
        """Head and text."""
        return len(self.blocks[index]) if index < len(self.blocks) else 1

    def cursor_lines(self, index: int) -> int:
        """None: a bar beside the message is enough, and its text is easier to read on the plain ground."""
        return 0

    def nothing(self, width: int) -> list[Line]:
        return self.notes

    def item_line(self, index: int, line: int, width: int) -> Line:
        """A line of a message, with the cursor along the chosen one."""
        block = self.blocks[index]
        if line >= len(block):
            return ()
        edge = "▌ " if index == self.cursor and self.has_focus else "  "
        content = block[line]
        return [(edge, "primary"), *(content if isinstance(content, list) else ())]
