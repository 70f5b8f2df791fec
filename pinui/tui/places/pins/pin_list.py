"""The list of pins: ids in memory, the entries in sight fetched by the page."""

from __future__ import annotations

from array import array
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from rich.cells import cell_len
from textual import events, getters
from textual.message import Message
from textual.reactive import reactive

from pinui.figures import age, short_cid, size
from pinui.tui.display import fit, right
from pinui.tui.entries import KIND_TONES, PIN_STATES, VERDICTS, WHERE, kind_label, title_of
from pinui.tui.keys import bindings
from pinui.tui.places.pins.keys import PINS
from pinui.tui.places.pins.marks import Marks
from pinui.tui.widgets.fields import pane_title
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line
from pinui.tui.workbench import Workbench
from pinui.workspace import Entry
from pinui.workspace.filters import folded
from pinui.workspace.rows import Sort, Standing

if TYPE_CHECKING:
    from pinui.sdk.models import PinStatus

__all__ = ["Ids", "PinList"]

MARGIN = 40
"""Rows to fetch above and below the visible ones, ready for scrolling."""
WIDE = 66
"""The width from which on there is a header, the kind is a word, and the CID is shown; else the name gets its room."""
ARROWS: dict[Sort, tuple[str, str]] = {
    "newest": ("AGE", " ▾"),
    "oldest": ("AGE", " ▴"),
    "name": ("NAME", " ▴"),
    "name-reversed": ("NAME", " ▾"),
    "size": ("SIZE", " ▾"),
    "size-reversed": ("SIZE", " ▴"),
}
COLUMNS: dict[str, tuple[Sort, Sort]] = {
    "NAME": ("name", "name-reversed"),
    "SIZE": ("size", "size-reversed"),
    "AGE": ("newest", "oldest"),
}
"""The order that a click on a heading brings, and the one that a second click brings."""


def highlighted(text: str, words: Sequence[str], tone: str) -> list[tuple[str, str]]:
    """The text in pieces: those that a word of the filter found stand out."""
    if not words:
        return [(text, tone)]
    letters = [folded(letter) for letter in text]
    places = [place for place, letter in enumerate(letters) for _ in letter]  # a letter may fold to none, or to two
    compared, wanted = "".join(letters), [word for word in map(folded, words) if word]
    pieces: list[tuple[str, str]] = []
    begin = after = 0
    while found := [(at, -len(word)) for word in wanted if (at := compared.find(word, after)) >= 0]:
        at, length = min(found)
        after = at - length
        first, last = places[at], places[after - 1] + 1
        while last < len(letters) and not letters[last]:  # accents of their own
            last += 1
        pieces += [(text[begin:first], tone), (text[first:last], found_tone(tone))]
        begin = last
    return [*pieces, (text[begin:], tone)]


def found_tone(tone: str) -> str:
    """The tone of text that a word of the filter found."""
    return "struck bold primary" if "struck" in tone else "bold primary"


def highlighted_cid(cid: str, words: Sequence[str], tone: str) -> list[tuple[str, str]]:
    """The two ends of a CID in 12 cells. An end that a word of the filter found stands out."""
    short = fit(short_cid(cid), 12)
    if not words:
        return [(short, tone)]
    head, dots, tail = short.partition("…")
    compared, small = cid.casefold(), [word.casefold() for word in words]
    begins = max((len(word) for word in small if compared.startswith(word)), default=0)
    ends = max((len(word) for word in small if compared.endswith(word)), default=0)
    first = max(0, len(tail.rstrip()) - ends)
    return [
        (head[:begins], found_tone(tone)),
        (head[begins:] + dots + tail[:first], tone),
        (tail[first:], found_tone(tone)),
    ]


class Ids(Sequence[int]):
    """The ids of a list, of which perhaps the first ones alone are known yet: 0 stands for the others."""

    def __init__(self, known: Sequence[int], total: int | None = None, *, is_part: bool = False) -> None:
        self.known = known
        self._more = is_part
        self._total = max(total or 0, len(known))

    @property
    def is_part(self) -> bool:
        """Whether there may be more than these."""
        return self._more

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        if isinstance(index, slice):
            return self.known[index]
        return 0 if len(self.known) <= index < self._total else self.known[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self.known)  # the one that Sequence has would take a second for a million

    def __contains__(self, value: object) -> bool:
        return value in self.known

    def index(self, value: int, start: int = 0, stop: int | None = None) -> int:
        """The position of an id."""
        return self.known.index(value)


def _place_in(ids: Ids, number: int, before: int) -> int | None:
    """The position of an entry in another snapshot. The old position is tried first, since a search takes a while."""
    if not number:
        return None
    if before < len(ids) and ids[before] == number:
        return before
    return ids.index(number) if number in ids else None


class PinList(ItemList):
    """Name, kind, CID, size and age in columns; marks and verdicts at the left edge."""

    app = getters.app(Workbench)

    BINDINGS = bindings(PINS)

    foot: reactive[str] = reactive("", init=False, repaint=False, always_update=True)
    """The text of the lower border."""

    @dataclass
    class SortWanted(Message):
        """A heading was clicked."""

        sort: Sort

    @dataclass
    class Loaded(Message):
        """The entry under the cursor has come."""

        list: PinList

    def __init__(self, fetch: Callable[[Sequence[int]], Awaitable[list[Entry]]], clock: Callable[[], float]) -> None:
        super().__init__(id="pins", classes="pane first")
        self.fetch = fetch
        self.clock = clock
        self.ids = Ids(())
        self.copies: dict[str, tuple[int, int]] | None = None
        """On how many peers of a cluster each pin is, and should be, as far as it was asked; None elsewhere."""
        self.tells_where = False
        """Whether a column tells which pins are on the account."""
        self.known: dict[int, Entry] = {}
        self.marked = Marks()
        self.failed: dict[int, str] = {}
        self.states: Mapping[str, PinStatus] = {}
        """The states of pins that the service has not made yet, by their CIDs."""
        self.sort: Sort = "newest"
        self.words: tuple[str, ...] = ()
        """The words of the filter, which are highlighted."""
        self.range_from: int | None = None
        """The id of the row where a range begins that is being marked."""
        self._range_at = 0
        """The place of that row."""
        self.when_empty: list[Line] = []
        self._asked: tuple[int, int] | None = None
        self._sought: tuple[int, int] | None = None
        """An entry that the part of a list has not, and the place of the cursor meanwhile."""

    @property
    def current(self) -> Entry | None:
        """The entry under the cursor, if it has been fetched."""
        return self.known.get(self.ids[self.cursor]) if self.ids else None

    @property
    def marked_in_order(self) -> array[int]:
        """The marked pins: those in the list in its order, then those hidden by a filter, newest first."""
        here = array("q", (number for number in self.ids if number in self.marked))
        return here + self.marked.beyond(here)[::-1]

    async def show_ids(self, ids: Ids) -> None:
        """Show another snapshot; the cursor stays on its entry if that is still there.

        At the top too: a key that revokes must never find another pin under the cursor than the one in sight.
        """
        first = max(0, self.scroll_offset.y - MARGIN)
        wanted = list(ids[first : first + self.size.height + 2 * MARGIN])
        at = _place_in(ids, self._here, self.cursor)
        if at is not None:
            wanted.append(ids[at])  # it may be far from what is in sight now
        known = {entry.id: entry for entry in await self.fetch(wanted)} if wanted else {}
        here = self._here  # only now: keys moved the cursor meanwhile
        at = _place_in(ids, here, self.cursor)
        self.ids, self.known, self._asked = ids, known, None
        self.item_count = len(ids)
        self.cursor = self.validate_cursor(self.cursor) if at is None else at
        self._sought = (here, self.cursor) if here and at is None and ids.is_part else None
        if self.range_from is not None:
            begin = _place_in(ids, self.range_from, self._range_at)
            self.range_from, self._range_at = None if begin is None else self.range_from, begin or 0
        self.measure()
        self.post_message(self.Loaded(self))

    @property
    def _here(self) -> int:
        """The id under the cursor, or the one that should be there."""
        if self._sought is not None and self._sought[1] == self.cursor:
            return self._sought[0]
        return self.ids[self.cursor] if self.ids else 0

    def in_sight(self, first: int, last: int) -> None:
        """Fetch what is missing around these rows."""
        first, last = max(0, first - MARGIN), min(len(self.ids), last + MARGIN)
        if self._asked == (first, last) or all(number in self.known for number in self.ids[first:last]):
            return
        self._asked = (first, last)

        async def fill() -> None:
            try:
                entries = await self.fetch(self.ids[first:last])
            except Exception as error:  # noqa: BLE001  the rows stay "…" until they are read again; the reason is told
                self.app.tell_error(error)
                return
            for entry in entries:
                self.known[entry.id] = entry
            self.refresh()
            self.post_message(self.Loaded(self))

        # Only the last of many pages matters when somebody scrolls fast.
        self.call_later(lambda: self.run_worker(fill, group="pins.page", exclusive=True, exit_on_error=False))

    def step(self, step: int) -> None:
        """Move the cursor, in a small terminal while the list is hidden: nothing draws its rows then."""
        self.cursor += step
        self.in_sight(self.cursor, self.cursor + 1)

    @property
    def in_range(self) -> range:
        """The places of the rows from the beginning of the range to the cursor; empty without a range."""
        if self.range_from is None:
            return range(0)
        first, last = sorted((self._range_at, self.cursor))
        return range(first, last + 1)

    @property
    def range_ids(self) -> Sequence[int]:
        """The ids of these rows."""
        rows = self.in_range
        return self.ids[rows.start : rows.stop]

    def watch_cursor(self, before: int, now: int) -> None:
        """A range grows or shrinks with each move: all its rows are drawn again."""
        super().watch_cursor(before, now)
        if self.range_from is not None:
            self.refresh()

    def end_range(self, *, marking: bool = True) -> None:
        """Make marks of the range, or drop it."""
        if marking:
            self.marked.mark_all(self.range_ids)
        self.range_from = None
        self.refresh()

    def toggle_mark(self) -> None:
        """Mark the row under the cursor or take its mark away, and go on."""
        self.end_range()
        if self.ids:
            self.marked.invert([self.ids[self.cursor]])
            self.step(1)

    def toggle_range(self) -> None:
        """Begin a range here, or mark every row from its beginning to here."""
        if self.range_from is not None:
            self.end_range()
        elif self.ids:
            self.range_from, self._range_at = self.ids[self.cursor], self.cursor
            self.refresh()

    def mark_and_move(self, step: int) -> None:
        """Mark this row and the next, and go there."""
        self.end_range()
        if self.ids:
            self.marked.add(self.ids[self.cursor])
            self.cursor += step
            self.marked.add(self.ids[self.cursor])

    def watch_foot(self) -> None:
        """The lower border names the order, too, if the columns have no header."""
        column, arrow = ARROWS[self.sort]
        has_order = self.ids and self.header(self.list_width) is None
        pane_title(self, "Pins", f"{column.lower()}{arrow} · {self.foot}" if has_order else self.foot)

    def on_resize(self) -> None:
        """Names of the columns come and go."""
        super().on_resize()
        self.watch_foot()

    def header(self, width: int) -> Line | None:
        """Names of the columns, where there is room."""
        width = self._beside_scrollbar(width)
        if width < WIDE or not self.ids:
            return None
        column, arrow = ARROWS[self.sort]

        def named(name: str) -> str:
            return name + arrow if name == column else name

        return [
            (fit("    " + named("NAME"), width - 35 - self._on_width), "muted"),
            (" KIND  CID          ", "muted"),
            (right(named("SIZE"), 7) + "  ", "muted"),
            (fit(named("AGE"), 6), "muted"),
            (right("ON ", self._on_width), "muted"),
        ]

    def on_click(self, event: events.Click) -> None:
        """A click on a heading sorts by it; a second one turns the order round."""
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < self.header_height:
            heading = "".join(span[0] for span in self.header(self.list_width) or ())
            column = max(COLUMNS, key=lambda name: (heading.find(name) <= offset.x) * heading.find(name))
            one, other = COLUMNS[column]
            self.post_message(self.SortWanted(other if self.sort == one else one))
            event.prevent_default()  # the list takes it for a row

    def nothing(self, width: int) -> list[Line]:
        """The first steps, for an empty list."""
        return self.when_empty

    def item_line(self, index: int, line: int, width: int) -> Line:
        """One pin."""
        width = self._beside_scrollbar(width)
        number = self.ids[index]
        entry = self.known.get(number)
        here = index == self.cursor
        left: list[tuple[str, str]] = [("▌" if here else " ", "primary")]
        left.append(("•" if number in self.marked or index in self.in_range else " ", "warning"))
        if entry is None:
            return [*left, ("   …", "muted")]
        gone = entry.revoked_at is not None
        mark, tone, _, _ = VERDICTS.get(entry.verification or "", (" ", "muted", "", ""))
        if gone:
            mark, tone = "×", "muted"
        elif number in self.failed:
            mark, tone = "✗", "error"
        state = self.states.get(entry.cid)
        if state is not None and not gone:
            mark, tone, _ = PIN_STATES[state]
        wide = width >= WIDE
        where: tuple[str, str, str] = WHERE.get(entry.standing, WHERE[Standing.HERE])
        if self.copies is not None and entry.cid in self.copies and not gone:
            there, wanted = self.copies[entry.cid]
            where = f"{there}/{wanted}", "success" if there == wanted else "warning", ""
        room = width - (39 if wide else 23) - self._on_width
        word = f"  {state}" if state is not None and not gone else ""
        name = fit(title_of(entry), room - len(word)).rstrip()
        gap = " " * (room - len(word) - cell_len(name))
        name_tone = "struck muted" if gone else "bold strong" if here else "text"
        kind = kind_label(entry) if wide else kind_label(entry)[0]
        return [
            *left,
            (mark, tone),
            (" ", ""),
            *highlighted(name, self.words, name_tone),
            (word, tone),
            (gap + " ", ""),
            (fit(kind, 4 if wide else 1) + ("  " if wide else " "), "muted" if gone else KIND_TONES[entry.kind]),
            *(highlighted_cid(entry.cid, self.words, "muted" if gone else "second") if wide else []),
            (" " if wide else "", ""),
            (right(size(entry.bytes), 7), "muted" if gone else "second"),
            ("  " + fit(age(entry.pinned_at, self.clock()), 6), "muted"),
            *([(right(where[0] + " ", self._on_width), where[1])] if self.tells_where else []),
        ]

    def _beside_scrollbar(self, width: int) -> int:
        """Cells for the columns. They stay where they are when a short list has no scrollbar."""
        return width if self.show_vertical_scrollbar else width - self.styles.scrollbar_size_vertical

    @property
    def _on_width(self) -> int:
        """Columns that tell where a pin is."""
        return 0 if not self.tells_where else 4 if self.copies is None else 6
