"""Pins: the list of pins, their details and previews, and every action on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from textual import events, on
from textual.containers import Horizontal
from textual.screen import Screen
from textual.suggester import Suggester
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import Worker

from pinui import PinuiError
from pinui.figures import count, plural, size
from pinui.tui.display import wrapped
from pinui.tui.entries import title_of
from pinui.tui.focus import focus_now
from pinui.tui.keys import bindings
from pinui.tui.places.pins.detail import Detail
from pinui.tui.places.pins.keys import FILTER
from pinui.tui.places.pins.marks import Marks
from pinui.tui.places.pins.pin_actions import (
    annotate,
    forget,
    pin_by_cid,
    read_in_pager,
    rename,
    rename_at_service,
    store_again,
    verify,
)
from pinui.tui.places.pins.pin_list import Ids, PinList
from pinui.tui.places.place import PlaceScreen, asks
from pinui.tui.widgets.fields import Field, pane_title
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line, Span
from pinui.workspace import Entry, Query
from pinui.workspace.filters import KEYS, completion, explanation, parse_filter
from pinui.workspace.rows import Sort, Standing
from pinui.workspace.text import clean_line

__all__ = ["PinsScreen"]

Result = TypeVar("Result")
FIRST = 200
"""Rows that are read before anything else is: more than the largest terminal shows."""
COUNTED = 5000
"""Rows of a filter among which the revoked ones are counted: more of them would take too long."""
SUMMED = 20_000
"""Marks that are looked up one by one, for their size and for those that vanished."""
AT_ONCE = 50_000
"""Marked pins that a question is about at most: their rows are in memory until it is answered."""
UNKNOWN_KIND = "The kind of pins that other programs made is not known."
REST = 0.12
"""Seconds that the cursor must rest before a preview is fetched: holding ↓ asks for nothing."""


ORDERS: dict[str, tuple[Sort, str, str]] = {
    "a": ("newest", "age", "newest first"),
    "o": ("oldest", "age", "oldest first"),
    "n": ("name", "name", "A to Z"),
    "r": ("name-reversed", "name", "Z to A"),
    "s": ("size", "size", "largest first"),
    "m": ("size-reversed", "size", "smallest first"),
}

OF_A_PIN = {
    "mark_range",
    "mark_and_move",
    "invert_marks",
    "mark",
    "mark_all",
    "open",
    "copy",
    "revoke",
    "browse",
    "rename",
    "annotate",
    "download",
    "forget",
    "sort",
    "rename_there",
    "copy_to",
    "step",
    "verify",
}
"""Actions that need a pin."""


class FilterLine(Field):
    """Words to look for. A completion of the last one is shown behind it."""

    BINDINGS = bindings(FILTER)
    KEEPS_BLANKS = True

    def __init__(self) -> None:
        super().__init__(placeholder="filter: words, kind:json size:>1mb age:<7d on:account is:revoked to:alice -draft")
        self.suggester = Completions(self)
        self.recipients: Sequence[str] = ()

    @property
    def completion(self) -> str | None:
        """The value with its last term completed."""
        return completion(self.value, self.recipients) if self.cursor_at_end else None


class Completions(Suggester):
    """Textual's way to ask a field's completion."""

    def __init__(self, line: FilterLine) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._line = line

    async def get_suggestion(self, value: str) -> str | None:
        """The completed text."""
        return self._line.completion


class PinsScreen(PlaceScreen):
    """The list at the left, the pin under the cursor at the right."""

    PLACE = "pins"
    PANES = ("#pins", "#detail")
    SECOND = ("#detail",)

    def __init__(self) -> None:
        super().__init__()
        self.asked = Query(of="pins")
        self._resting: Timer | None = None
        self._pinned = self._revoked = 0
        self._shown: Query | None = None
        self._filtered = ""
        """The profile that the filter belongs to."""
        self._counts = 0
        self._verifying: Worker[None] | None = None
        self._report: Timer | None = None
        """Runs while the report of a check is in sight: an esc that was meant to stop the check closes it."""
        self._preparing: asyncio.Task[Any] | None = None
        """Reads what a question about marked pins tells. Esc cancels it."""
        self._marking = asyncio.Lock()
        """Held while marks wait for the rest of the list."""

    def compose_body(self) -> Iterable[Widget]:
        """The filter above the list and the detail."""
        with Horizontal(id="filter"):
            yield Static("/")
            yield FilterLine()
            yield Static(id="found")
        with Horizontal(classes="body"):
            yield PinList(self._fetch, self.app.clock)
            yield Detail()

    async def _fetch(self, ids: Sequence[int]) -> list[Entry]:
        return await self.workspace.history.entries(ids)

    @property
    def pins(self) -> PinList:
        """The list."""
        return self.query_one(PinList)

    @property
    def detail(self) -> Detail:
        """The pane beside it."""
        return self.query_one(Detail)

    def hidden_pane(self) -> str:
        """Nothing: the footer names enter and esc, which lead to both panes."""
        return ""

    def on_mount(self) -> None:
        """Titles first; the history comes in the background."""
        pane_title(self.pins, "Pins")
        pane_title(self.detail, "Detail")
        self.asked = replace(self.asked, sort=self.app.view.sort)
        self._take_up_filter()

    # -- showing ------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Bring the list up to date."""
        self.work_on(self._reload, "reload")

    def _reload_first(self) -> None:
        """Reload while the keys wait: a key typed after a filter is meant for its results."""
        self.ask_on(self._reload, "reload")

    def _take_up_filter(self) -> None:
        """The filter that this profile had last; each has its own."""
        self._filtered = self.workspace.profile.name
        text = self.app.view.filters.get(self._filtered, "")
        self.asked = replace(self.asked, text=text)
        self.query_one(FilterLine).set_text(text)
        self.set_class(bool(text), "-filter")

    def _keep_filter(self) -> None:
        view, text = self.app.view, self.asked.text
        others = {profile: kept for profile, kept in view.filters.items() if profile != self._filtered}
        self.app.keep_view(replace(view, filters=others | {self._filtered: text} if text else others))

    async def _reload(self) -> None:
        if self._filtered != self.workspace.profile.name:
            self._take_up_filter()
            self.pins.end_range(marking=False)
            self.pins.marked.clear()
        query = replace(self.asked, profile=self.workspace.profile.name)
        pins, history = self.pins, self.workspace.history
        pins.states = {cid: state for (name, cid), state in self.workspace.requests.items() if name == query.profile}
        state = await self.workspace.account_state()
        self.app.accounts[query.profile or ""] = state
        pins.tells_where = state.tells_where and (self.workspace.profile.preset != "local" or state.differs)
        pinned, lost = state.pins + state.here, state.revoked if query.revoked is None else 0
        total = pinned + state.gone + lost
        first: list[Entry] | None = None
        if query != self._shown:  # another list: its first page comes at once, the rest behind it
            first = await history.list_page(query, FIRST)
            is_whole = len(first) < FIRST
            length = None if is_whole or query.text else total
            await self._show(query, Ids([entry.id for entry in first], length, is_part=not is_whole))
            self._shown = query
        if first is not None and len(first) < FIRST:
            ids = Ids([entry.id for entry in first])
        else:
            ids = Ids(await history.list_ids(query))
            await self._show(query, ids)
        self._pinned, self._revoked, found = pinned, state.revoked, ""
        if query.text:
            few = len(ids) <= COUNTED
            found = f"{count(len(ids))} of {count(total)}"
            found += f" · {size(await history.total_size(ids))}" if few and ids else ""
            # By the rows that were found: to look for them again would keep the next filter waiting.
            standings = await history.standings(ids) if few else {}
            lost = standings.get(Standing.REVOKED, 0)
            self._revoked = lost if query.revoked is None else 0
            self._pinned = len(ids) - lost - standings.get(Standing.GONE, 0)
        self.query_one("#found", Static).update(found)
        await self._count()
        self.refresh_bindings()

    async def _show(self, query: Query, ids: Ids) -> None:
        pins, history = self.pins, self.workspace.history
        pins.when_empty = self._when_empty(query)
        pins.sort = query.sort
        pins.words = parse_filter(query.text).words
        if query != self._shown:  # the rows between its ends would be others
            pins.end_range()
        if pins.marked and len(pins.marked) <= SUMMED:  # marks stay, whatever the filter hides; those of gone rows go
            marked = list(pins.marked)  # others may be marked while the history is asked
            left = {entry.id for entry in await history.entries(marked) if entry.standing}
            pins.marked -= {number for number in marked if number not in left}
        elif pins.marked and not ids.is_part and not self._hides_rows and ids.known is not pins.ids.known:
            pins.marked -= set(await asyncio.to_thread(pins.marked.beyond, ids))
        await pins.show_ids(ids)
        fresh = self.app.fresh
        if fresh is not None and self.app.screen is self and fresh in ids:
            pins.cursor, self.app.fresh = ids.index(fresh), None
        self.refresh_bindings()

    def _when_empty(self, query: Query) -> list[Line]:
        """The text of a list without rows: the reason, and what to do."""
        key, width = self.app.key, self.pins.list_width - 4
        unread = self.app.unread.get(self.workspace.profile.name)
        if query.text:
            lines: list[list[Span]] = [
                [("Nothing matches. ", "muted"), (key("pins.clear"), "bold primary"), (" clears the filter.", "muted")]
            ]
            hints = [UNKNOWN_KIND] if "kind:" in query.text and self._has_made_elsewhere else []
            for word in parse_filter(query.text).words:
                if ":" in word and (before := word.partition(":")[0]).isalpha():
                    terms = " ".join(f"{name}:" for name in KEYS)
                    hints.append(f"“{before}:” is taken as a word. Terms are {terms}")
            lines += [line for hint in hints for line in ([], *([(line, "muted")] for line in wrapped(hint, width)))]
        elif not self._is_unread:
            lines = [
                [("Nothing is pinned yet.", "bold strong")],
                [],
                [
                    (key("app.json"), "bold primary"),
                    (" stores JSON, ", "muted"),
                    (key("app.files"), "bold primary"),
                    (" uploads files,", "muted"),
                ],
                [(key("app.messages"), "bold primary"), (" writes a message.", "muted")],
                [],
                [("Everything you store is listed here.", "muted")],
            ]
        elif unread is None:
            lines = [[("Reading the account …", "muted")]]
        else:
            lines = [
                [("The account could not be read.", "bold strong")],
                [],
                *([(line, "warning")] for line in wrapped(unread, width)),
                [],
                [
                    (key("pins.refresh"), "bold primary"),
                    (" tries again, ", "muted"),
                    (key("app.connection"), "bold primary"),
                    (" changes the token.", "muted"),
                ],
            ]
        return [[], *([("  ", ""), *line] for line in lines)]

    @property
    def _is_unread(self) -> bool:
        """Whether the account may hold pins that nobody has read yet."""
        profile = self.workspace.profile
        account = self.app.accounts.get(profile.name)
        if profile.preset == "local" or (account is not None and account.mirrored_at is not None):
            return False
        return self.app.unread.get(profile.name) != ""

    @property
    def _has_made_elsewhere(self) -> bool:
        """Whether other programs made some of the pins."""
        account = self.app.accounts.get(self.workspace.profile.name)
        return account is not None and account.elsewhere > 0

    @property
    def _hides_rows(self) -> bool:
        """Whether some pins may not be in the list."""
        return bool(self.asked.text) or self.asked.revoked is False

    async def _count(self) -> None:
        pins = self.pins
        self._show_mark()
        total, hidden, ranged = None, 0, pins.range_ids
        self._counts = this = self._counts + 1
        in_both = await asyncio.to_thread(pins.marked.count_in, ranged) if pins.marked and ranged else 0
        marks = len(pins.marked) + len(ranged) - in_both
        if 0 < marks <= SUMMED:
            total = await self.workspace.history.total_size({*pins.marked, *ranged})
        if marks and self._hides_rows:
            hidden = len(pins.marked) - await asyncio.to_thread(pins.marked.count_in, pins.ids)
        if this != self._counts:
            return  # another mark was set meanwhile, and is counted after this
        text, facts = self.asked.text, [plural(self._pinned, "pin")] if self._pinned or not self._is_unread else []
        if self.asked.revoked is False:
            facts.append("revoked hidden")
        elif self._revoked:
            facts.append(f"{count(self._revoked)} revoked")
        if marks:
            facts.append(f"{count(marks)} marked" + (f" ({count(hidden)} not in sight)" if hidden else ""))
            facts += [] if total is None else [size(total)]
        if pins.range_from is not None:
            facts.append(f"{self.app.key('pins.range')} ends the range")
        if self.query_one(FilterLine).has_focus and (hint := explanation(text)):
            finished = text.rpartition(" ")[0]  # the term that is being typed is no mistake yet
            pins.foot = " · ".join([*parse_filter(finished).mistakes, hint, *facts])
        else:
            pins.foot = " · ".join([*parse_filter(text).mistakes, *facts])

    @on(ItemList.Moved)
    @on(PinList.Loaded)
    def _here(self) -> None:
        """Show the facts at once, the preview when the cursor rests."""
        detail, entry = self.detail, self.pins.current
        detail.now, detail.tells_where = self.app.clock(), self.pins.tells_where
        detail.entry = entry
        detail.refused = self.pins.failed.get(entry.id, "") if entry else ""
        detail.pin_state = self.pins.states.get(entry.cid) if entry else None
        self._show_mark()
        self._tell_position()
        self._preview_at_rest()

    @on(PinList.Loaded)
    def _rows_loaded(self) -> None:
        if self.workspace.profile.traits.replicates:
            self.work_on(self._read_copies, "copies")
        else:
            self.pins.copies = None

    async def _read_copies(self) -> None:
        """Ask the cluster how many copies the pins in sight have, in one request."""
        pins = self.pins
        first = pins.scroll_offset.y
        shown = [pins.known[number] for number in pins.ids[first : first + pins.size.height] if number in pins.known]
        with suppress(PinuiError):  # the list itself needs no answer of the cluster
            found = await self.workspace.copies([entry.cid for entry in shown])
            pins.copies = {**(pins.copies or {}), **found}
            pins.refresh()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """In the detail, the border tells where the pin is in the list."""
        super().on_descendant_focus(event)
        self._tell_position()

    def _tell_position(self) -> None:
        pins, is_read = self.pins, self.detail.has_focus and self.detail.entry is not None
        position = f"{count(pins.cursor + 1)} of {count(len(pins.ids))}"
        pane_title(self.detail, "Detail", position if is_read else "")

    def _show_mark(self) -> None:
        entry = self.detail.entry
        self.detail.is_marked = entry is not None and (
            entry.id in self.pins.marked or self.pins.cursor in self.pins.in_range
        )

    @on(Detail.Measured)
    def _preview_at_rest(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        if self.detail.wants_preview or self.pins.in_range:
            self._resting = self.set_timer(REST, self._at_rest)

    def _at_rest(self) -> None:
        self._load_preview()
        if self.pins.in_range:
            self.work_on(self._count, "count")

    def _load_preview(self) -> None:
        self.work_on(self.detail.load_preview, "preview")

    @on(ItemList.Chosen)
    def _chosen(self) -> None:
        self.action_open()

    # -- the filter ---------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Show the line and type."""
        self.add_class("-filter")
        self.app.stylesheet.update(self)  # at once: what is hidden cannot take the focus
        focus_now(self.query_one(FilterLine))
        self.work_on(self._read_recipients, "recipients")

    async def _read_recipients(self) -> None:
        known = await self.workspace.history.recipients(self.workspace.profile.name)
        # A name that a terminal would obey is not offered: the line would draw it.
        self.query_one(FilterLine).recipients = [one.name for one in known if clean_line(one.name) == one.name]

    def action_complete_filter(self) -> None:
        """Take the completion."""
        line = self.query_one(FilterLine)
        if line.completion is not None:
            line.set_text(line.completion)

    def action_keep_filter(self) -> None:
        """Go back to the list and keep the filter."""
        focus_now(self.pins)
        self.set_class(bool(self.asked.text), "-filter")
        self._keep_filter()
        self._reload_first()

    def action_end(self, what: str) -> None:
        """End the range, a check, a question, a report, the filter, or the marks."""
        if what == "range":
            self.pins.end_range(marking=False)
            self._marks_changed()
        elif what == "verify" and self._verifying is not None:
            self._verifying.cancel()
        elif what == "question" and self._preparing is not None:
            self._preparing.cancel()
        elif what == "report":
            self.app.clear_notifications()
            self._end_report()
        elif what == "marks":
            self._mark(self.pins.marked.clear)  # after rows that are being marked
        else:
            self._clear_filter()

    def _clear_filter(self) -> None:
        """Everything again, and back to the list."""
        self.query_one(FilterLine).value = ""
        self.remove_class("-filter")
        focus_now(self.pins)
        self.asked = replace(self.asked, text="")
        self._keep_filter()
        self._reload_first()

    @on(Input.Changed, "FilterLine")
    def _filter(self, event: Input.Changed) -> None:
        if event.value != self.asked.text:
            self.asked = replace(self.asked, text=event.value)
            self.refresh_bindings()
            self.reload()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys appear when they would do something."""
        if action in OF_A_PIN and self.is_mounted:
            return True if self.pins.ids else None
        if action == "store_again":
            return self.is_mounted and self._has_revoked()
        if action == "end":
            return parameters == (self._on_escape,)
        if action == "complete_filter":
            return self.query_one(FilterLine).completion is not None
        if action == "walk_into":
            return self.detail.folder is not None
        if action == "walk_up":
            return bool(self.detail.trail)
        if action == "pager":
            return self.detail.entry is not None and self.detail.folder is None
        return super().check_action(action, parameters)

    @property
    def _on_escape(self) -> str:
        """What esc ends: the first of these that there is."""
        if self.pins.has_focus and self.pins.in_range:
            return "range"
        if self.pins.has_focus and self._verifying is not None:
            return "verify"
        if self.pins.has_focus and self._preparing is not None:
            return "question"
        if self.pins.has_focus and self._report is not None:
            return "report"
        if self.asked.text or self.has_class("-filter"):
            return "filter"
        return "marks" if self.pins.has_focus and self.pins.marked else ""

    # -- moving between the panes -------------------------------------------------------------------------------

    def action_open(self) -> None:
        """Read the pin: the detail takes the focus, and in a small terminal the screen."""
        if self.pins.ids:
            self.show_pane("#detail")

    def action_back(self) -> None:
        """Return to the list."""
        self.show_pane("#pins")

    def action_step(self, step: int) -> None:
        """Show the next pin, or the one before."""
        self.pins.step(step)

    def action_mark(self) -> None:
        """Mark the pin under the cursor."""
        self._mark(self.pins.toggle_mark)

    def action_mark_range(self) -> None:
        """Begin a range, or mark everything from its beginning to here."""
        if not self._tells_mistake():
            self._mark(self.pins.toggle_range)

    def action_mark_and_move(self, step: int) -> None:
        """Mark this pin and the next."""
        self._mark(lambda: self.pins.mark_and_move(step))

    def action_invert_marks(self) -> None:
        """Invert the marks."""
        self._mark_every(Marks.invert)

    def action_mark_all(self) -> None:
        """Mark all, or none."""
        self._mark_every(Marks.toggle_all)

    def _mark(self, change: Callable[[], None]) -> None:
        """Change the marks of some rows. If it has to wait for others, further keys wait, too: they move the cursor."""
        pins = self.pins
        is_unknown = pins.ids.is_part and (pins.in_range or not pins.ids[pins.cursor])
        if is_unknown or self._marking.locked():
            self.ask_on(partial(self._mark_later, change), "mark", exclusive=False)
        else:
            change()
            self._marks_changed()

    def _mark_every(self, change: Callable[[Marks, Iterable[int]], None]) -> None:
        """Change the marks of all rows in the list. A long list takes a while, and other keys work meanwhile."""
        if not self._tells_mistake():
            query = replace(self.asked, profile=self.workspace.profile.name)
            self.work_on(partial(self._change_marks, change, query, self.pins.ids), "mark-all", exclusive=False)

    def _tells_mistake(self) -> bool:
        """Whether the filter has a mistake. That is told instead of marking rows that nobody meant."""
        if not parse_filter(self.asked.text).mistakes:
            return False
        words = "The filter has a mistake, so the list may not be the one you mean. Nothing was marked."
        self.app.tell(words, warning=True)
        return True

    async def _change_marks(self, change: Callable[[Marks, Iterable[int]], None], query: Query, ids: Ids) -> None:
        async with self._marking:
            self.pins.end_range()
            with self.app.busy("marking …"):
                if ids.is_part:
                    ids = Ids(await self.workspace.history.list_ids(query))
                await asyncio.to_thread(change, self.pins.marked, ids)
        self.pins.refresh()
        self._marks_changed()

    async def _mark_later(self, change: Callable[[], None]) -> None:
        async with self._marking:
            await self._read_whole_list()
            change()
        self._marks_changed()

    async def _read_whole_list(self) -> None:
        while self.pins.ids.is_part:
            await self._reload()

    def _marks_changed(self) -> None:
        self.work_on(self._count, "count")
        self.refresh_bindings()

    @asks("sort")
    async def action_sort(self) -> None:
        """Ask for the order of the list."""
        from pinui.tui.dialogs.prompt import Choice, Menu

        choices = [Choice(key, name, fact) for key, (_, name, fact) in ORDERS.items()]
        chosen = await self.ask(Menu("Sort", choices, "a click on a heading sorts, too"))
        if chosen is not None:
            self._sort_by(ORDERS[chosen][0])

    @on(PinList.SortWanted)
    def _heading_clicked(self, wanted: PinList.SortWanted) -> None:
        self._sort_by(wanted.sort)

    def _sort_by(self, sort: Sort) -> None:
        self.asked = replace(self.asked, sort=sort)
        self.app.keep_view(replace(self.app.view, sort=sort))
        self._reload_first()

    def action_hide(self) -> None:
        """Hide the revoked ones, or show them again."""
        self.asked = replace(self.asked, revoked=None if self.asked.revoked is False else False)
        self._reload_first()

    def action_refresh_list(self) -> None:
        """Read everything again: the account, the history and this preview."""
        self.detail.forget_content()
        self.pins.failed.clear()
        self.reload()
        self.app.mirror()

    async def show_entry(self, entry: Entry) -> None:
        """Put the cursor on this pin. A filter that hides it is cleared."""
        self._clear_filter()
        await asyncio.sleep(0)
        if entry.revoked_at is not None:
            self.asked = replace(self.asked, revoked=None)
        await self._reload()
        pin = await self.workspace.history.pin_of(entry.cid, entry.profile)
        if pin is not None and pin in self.pins.ids:
            self.pins.cursor = self.pins.ids.index(pin)

    # -- with the marked pins, or the one under the cursor ------------------------------------------------------

    @property
    def _means_marks(self) -> bool:
        """Whether a key means the marked pins. In the detail it means the pin that is shown."""
        return bool(self.pins.marked or self.pins.in_range) and self.current_pane() != "#detail"

    async def _chosen_ids(self) -> Sequence[int]:
        async with self._marking:
            if self.pins.in_range:
                await self._read_whole_list()
        if self._means_marks:
            self.pins.end_range()
            return await asyncio.to_thread(lambda: self.pins.marked_in_order)
        return [self.pins.current.id] if self.pins.current else []

    async def _chosen_entries(self) -> list[Entry]:
        ids = await self._chosen_ids()
        if len(ids) > AT_ONCE:
            taken = f"The first {count(AT_ONCE)} of {count(len(ids))} marked pins are taken; the others stay marked."
            self.app.tell(taken, warning=True)
        return await self.workspace.history.entries(ids[:AT_ONCE])

    async def _entries_for_question(self) -> list[Entry]:
        """The chosen pins. Until the question about them is on the screen, esc cancels it."""
        if (this := asyncio.current_task()) is not None:
            self._preparing = this
            this.add_done_callback(lambda _: self._is_asked())
        self.refresh_bindings()
        with self.app.busy("reading pins …") if len(self.pins.marked) > COUNTED else nullcontext():
            return await self._chosen_entries()

    async def ask(self, screen: Screen[Result], *, more: bool = False) -> Result | None:
        """Show a dialog, which takes esc from now on, and wait for its answer."""
        self._is_asked()
        return await super().ask(screen, more=more)

    def _is_asked(self) -> None:
        self._preparing = None
        self.refresh_bindings()

    def _has_revoked(self) -> bool:
        """Whether one of the chosen pins is revoked. Rows that were never in sight are left out."""
        pins = self.pins
        if not self._means_marks:
            return pins.current is not None and pins.current.revoked_at is not None
        revoked = {number for number, entry in pins.known.items() if entry.revoked_at is not None}
        if not revoked or any(number in pins.marked for number in revoked):
            return bool(revoked)
        return len(pins.in_range) > COUNTED or not revoked.isdisjoint(pins.range_ids)

    @asks("revoke", exclusive=False)
    async def action_revoke(self) -> None:
        """Ask, then revoke the pins."""
        from pinui.tui.places.record_actions import revoke

        entries = await self._entries_for_question()
        if not entries:
            return
        left = len(self.pins.marked) - AT_ONCE if self._means_marks else 0
        failed = await revoke(self, entries, left)
        if failed is None:
            self.pins.marked -= {entry.id for entry in entries}
            self.reload()
            return
        now = {entry.id for entry in await self.workspace.history.entries([e.id for e in entries]) if entry.revoked_at}
        self.pins.marked -= now
        self.pins.failed = {**{key: why for key, why in self.pins.failed.items() if key not in now}, **failed}
        self.reload()

    @asks("forget", exclusive=False)
    async def action_forget(self) -> None:
        """Ask, then remove the rows from the history."""
        await forget(self, await self._entries_for_question())

    @asks("copy-to", exclusive=False)
    async def action_copy_to(self) -> None:
        """Choose another service, look at the plan, then copy."""
        from pinui.tui.places.pins.copy_to import copy_to

        entries = await self._entries_for_question()
        if await copy_to(self, entries) and self._means_marks:
            self.pins.marked -= {entry.id for entry in entries}
            self.work_on(self._count, "count")

    def action_store_again(self) -> None:
        """Undo a revoke; a `u` in the middle of stray text publishes nothing."""
        self.app.if_by_itself(
            lambda: self.work_on(self._store_again, "again"),
            lambda: self.app.tell_not_alone("pins.again", "stores nothing"),
        )

    async def _store_again(self) -> None:
        entries = [entry for entry in await self._chosen_entries() if entry.revoked_at is not None]
        if not entries:
            self.app.tell("None of the marked pins is revoked.", warning=True)
            return
        self.pins.marked -= await store_again(self, entries)
        self.detail.forget_content()  # it says that the pin was revoked
        self.reload()

    def action_verify(self) -> None:
        """Read the pins and check them."""
        if self._verifying is not None:
            stop = self.app.key("pins.stop_verify")
            self.app.tell(f"Pins are being verified already; {stop} stops that.", warning=True)
            return

        async def verify_chosen() -> None:
            try:
                await verify(self, await self._chosen_ids())
            finally:
                self._verifying = None
                if self.is_running:
                    self._report = self.set_timer(self.app.NOTIFICATION_TIMEOUT, self._end_report)
                self.refresh_bindings()

        self._end_report()
        self._verifying = self.work_on(verify_chosen, "verify")
        self.refresh_bindings()

    def _end_report(self) -> None:
        if self._report is not None:
            self._report.stop()
            self._report = None
            self.refresh_bindings()

    def action_rename(self) -> None:
        """Ask for a name of the user's own."""
        if (entry := self.pins.current) is not None:
            self.ask_on(lambda: rename(self, entry), "rename")

    def action_rename_there(self) -> None:
        """Ask for another name at the service."""
        if (entry := self.pins.current) is not None:
            self.ask_on(lambda: rename_at_service(self, entry), "rename")

    def action_pin(self) -> None:
        """Ask for a CID, and ask the service to keep it."""
        self.ask_on(lambda: pin_by_cid(self), "pin")

    def action_annotate(self) -> None:
        """Ask for a note."""
        if (entry := self.pins.current) is not None:
            self.ask_on(lambda: annotate(self, entry), "rename")

    # -- with the pin in the detail, or the entry of a folder that is open there --------------------------------

    def action_copy(self) -> None:
        """Open the copy menu."""
        from pinui.tui.places.record_actions import copy_menu

        entry = self.pins.current
        if entry is not None:
            name = entry.name or title_of(entry)
            self.ask_on(lambda: copy_menu(self, self.detail.address or entry.cid, name, entry), "copy")

    def action_browse(self) -> None:
        """Open it in the browser."""
        from pinui.tui.places.record_actions import browse

        if self.pins.current is not None:
            self.work_on(lambda: browse(self, self.detail.address), "browse")

    async def action_download(self) -> None:
        """Hand the CID to Files."""
        if self.pins.current is not None:
            await self.app.run_action(f"app.download({self.detail.address!r})")

    def action_walk_into(self) -> None:
        """Go into the chosen entry of a folder."""
        self.detail.walk_into()
        self._load_preview()

    def action_walk_up(self) -> None:
        """Return to the folder above."""
        self.detail.walk_up()
        self._load_preview()

    def action_pager(self) -> None:
        """Read all of it in $PAGER. The rest of stray text must not get there: some keys of a pager run commands."""
        address = self.detail.address
        self.app.if_by_itself(
            lambda: self.work_on(lambda: read_in_pager(self, address), "pager"),
            lambda: self.app.tell_not_alone("detail.pager", "opens nothing"),
        )
