"""Transfers: a row with a bar for each, which opens into its files."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from textual.message import Message

from pinui.figures import duration, short_cid, size
from pinui.tui.display import fit, right, short_path, wrapped
from pinui.tui.entries import VERDICTS
from pinui.tui.keys import KeyOf, bindings
from pinui.tui.places.files.keys import TRANSFERS
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line, Span
from pinui.workspace import Transfer
from pinui.workspace.transfers.rows import Item, ItemState

__all__ = ["TransferList", "can_open", "tally"]

SIGNS = {"upload": "↑ ", "download": "↓ ", "revoke": "− ", "mirror": "⇣ "}
AROUND = 100
"""Rows that are read before and behind the visible ones."""


@dataclass(slots=True)
class _Opened:
    """The files of a transfer that is open: all ids, and the rows around the visible ones."""

    ids: array[int] = field(default_factory=lambda: array("q"))
    rows: dict[int, Item] = field(default_factory=dict[int, Item])
    read: object = None
    """Which part was read, and how far the transfer was then."""


class TransferList(ItemList):
    """Newest last; enter opens a row of many files."""

    BINDINGS = bindings(TRANSFERS)

    @dataclass
    class Wanted(Message):
        """Files of an open transfer should be read; without `ids`, the list of all of them first."""

        list: TransferList
        transfer: Transfer
        ids: Sequence[int] | None

    def __init__(self) -> None:
        super().__init__(id="transfers", classes="pane")
        self.transfers: list[Transfer] = []
        self._opened: dict[int, _Opened] = {}
        self._tops: list[int] = [0]
        """The index of each transfer's row, and the number of all rows."""

    def show_transfers(self, transfers: list[Transfer]) -> None:
        """Show how far they are."""
        grown, current = len(transfers) > len(self.transfers), self.current
        below = self.cursor - self._tops[self._place(self.cursor)] if self.transfers else 0
        self.transfers = list(transfers)
        self._count_rows()
        if grown and not self.has_focus:
            self.cursor = self._tops[-2]
        elif current in transfers:
            self.cursor = self._tops[transfers.index(current)] + below  # rows above it may be gone
        self.refresh()

    def open(self, transfer: Transfer, ids: array[int]) -> None:
        """Show the files of a transfer below its row."""
        self._opened[transfer.id] = _Opened(ids)
        self._count_rows()
        self.refresh()

    def toggle(self) -> None:
        """Open the row under the cursor, or close it."""
        transfer = self.current
        if transfer is None:
            return
        if transfer.id in self._opened:
            del self._opened[transfer.id]
            self.cursor = self._tops[self.transfers.index(transfer)]
            self._count_rows()
            self.refresh()
        elif can_open(transfer):
            self.post_message(self.Wanted(self, transfer, None))

    def show_items(self, transfer: Transfer, items: Sequence[Item]) -> None:
        """The files that were asked for."""
        if (opened := self._opened.get(transfer.id)) is not None:
            opened.rows = {item.id: item for item in items}
            self.refresh()

    @property
    def current(self) -> Transfer | None:
        """The transfer under the cursor, or the one whose file is."""
        return self.transfers[self._place(self.cursor)] if self.transfers else None

    @property
    def current_item(self) -> Item | None:
        """The file under the cursor."""
        return self._item_at(self.cursor)[1] if self.transfers else None

    def nothing(self, width: int) -> list[Line]:
        """Before the first one."""
        upload, download = self.app.key("browser.upload"), self.app.key("browser.download")
        words = f"No transfers yet. In Upload, {upload} uploads and {download} downloads."
        return [[(line, "muted")] for line in wrapped(words, width)]

    def in_sight(self, first: int, last: int) -> None:
        """Ask for the files that are about to be shown."""
        for place in range(self._place(first), self._place(last) + 1):
            transfer = self.transfers[place]
            opened = self._opened.get(transfer.id)
            if opened is None or not opened.ids:
                continue
            begin = max(0, first - self._tops[place] - 1 - AROUND) // AROUND * AROUND
            end = min(len(opened.ids), (last - self._tops[place] + 2 * AROUND) // AROUND * AROUND)
            wanted = (begin, end, transfer.finished, transfer.failed, transfer.state, transfer.ended_at)
            if wanted != opened.read:
                opened.read = wanted
                self.post_message(self.Wanted(self, transfer, opened.ids[begin:end]))

    def item_line(self, index: int, line: int, width: int) -> Line:
        """Arrow, name, bar, progress, rate and time left; for a failed transfer, the reason instead."""
        edge = ("▌" if index == self.cursor and self.has_focus else " ", "primary")
        if not self._is_top(index):
            transfer, item = self._item_at(index)
            return [edge, *_item_line(transfer, item, width)]
        transfer = self.transfers[self._place(index)]
        tone = tone_of(transfer)
        wide = width >= 100
        name, bar = (width // 5, width // 4) if wide else (max(10, width // 4), max(6, width // 6))
        title = (fit(_opener(transfer, transfer.id in self._opened) + transfer.title, name) + " ", "text")
        if transfer.state == "failed":
            room = max(0, width - name - 4)
            return [edge, ("✗ ", tone), title, (fit(reason(transfer, self.app.key, room), room), "error")]
        share = share_of(transfer)
        full = round(bar * (share or 0))
        rest = max(0, width - name - bar - 26)
        fact, words = facts_of(transfer, rest - 2, self.app.key)
        verdict = transfer.verification if transfer.state == "done" else None
        mark, mark_tone = VERDICTS.get(verdict or "", ("", ""))[:2]
        return [
            edge,
            (SIGNS.get(transfer.kind, "⇄ "), tone),
            title,
            ("━" * full, tone),
            ("─" * (bar - full), "line"),
            (right("" if share is None else f"{int(share * 100)} %", 6), "text"),
            (right(fact, 11), "muted"),
            ("  ", ""),
            (f"{mark} " if mark else "", mark_tone),
            (fit(words, rest - (2 if mark else 0)), "muted"),
        ]

    def _count_rows(self) -> None:
        known = {transfer.id for transfer in self.transfers}
        self._opened = {id_: opened for id_, opened in self._opened.items() if id_ in known}
        self._tops = [0]
        for transfer in self.transfers:
            opened = self._opened.get(transfer.id)
            self._tops.append(self._tops[-1] + 1 + (len(opened.ids) if opened else 0))
        self.item_count = self._tops[-1]

    def _place(self, index: int) -> int:
        """The position of the transfer that a row belongs to."""
        return max(0, min(bisect_right(self._tops, index) - 1, len(self.transfers) - 1))

    def _is_top(self, index: int) -> bool:
        return self._tops[self._place(index)] == index or not self._opened

    def _item_at(self, index: int) -> tuple[Transfer, Item | None]:
        place = self._place(index)
        transfer = self.transfers[place]
        opened, below = self._opened.get(transfer.id), index - self._tops[place] - 1
        if opened is None or not 0 <= below < len(opened.ids):
            return transfer, None
        id_ = opened.ids[below]
        return transfer, transfer.running.get(id_) or opened.rows.get(id_)


def _item_line(transfer: Transfer, item: Item | None, width: int) -> list[Span]:
    """One file of an open transfer."""
    if item is None:  # it is being read
        return [("     …", "muted")]
    name = max(10, width // 3)
    title = (fit(item.shown, name) + "  ", "text")
    if item.state in (ItemState.FAILED, ItemState.BROKEN_OFF):
        words = fit(item.reason.replace(item.source, "it"), max(0, width - name - 9))
        return [("    ", ""), ("✗ ", "error"), title, (words, "error")]
    if item.id in transfer.running:
        share = min(0.99, item.done / item.size) if item.size else 0.0
        bar = width // 4
        full = round(bar * share)
        return [
            ("    ", ""),
            (SIGNS.get(transfer.kind, "⇄ "), "primary"),
            title,
            ("━" * full, "primary"),
            ("─" * (bar - full), "line"),
            (right(f"{int(share * 100)} %" if item.size else "", 6), "text"),
        ]
    number = "" if item.size is None else size(item.size)
    if item.state is ItemState.DONE:
        before = "was gone already" if transfer.kind == "revoke" else "held already"
        words = before if item.was_held else short_cid(item.cid or "")
        return [("    ", ""), ("✓ ", "success"), title, (right(number, 9), "muted"), (f"  {words}", "muted")]
    return [("      ", ""), title, (right(number, 9), "muted"), ("  waiting", "muted")]


def can_open(transfer: Transfer) -> bool:
    """Whether a row has files of its own to show."""
    return transfer.items > 1 and transfer.number is not None


def _opener(transfer: Transfer, is_open: bool) -> str:
    return "" if not can_open(transfer) else "▾ " if is_open else "▸ "


def tone_of(transfer: Transfer) -> str:
    """One colour for each state; downloads are violet."""
    states = {"waiting": "warning", "done": "success", "failed": "error"}
    states |= dict.fromkeys(("cancelled", "paused", "left"), "muted")
    return states.get(transfer.state, "secondary" if transfer.kind == "download" else "primary")


def share_of(transfer: Transfer) -> float | None:
    """The share that is done, from 0 to 1, if it is known; 1 only at the end."""
    if transfer.state == "done":
        return 1.0
    if not transfer.total:
        if transfer.items > 1:  # revoked pins have no bytes
            return min(0.99, transfer.finished / transfer.items)
        return None if transfer.state == "running" or transfer.done else 0.0
    return min(0.99, transfer.done / transfer.total)


def facts_of(transfer: Transfer, room: int, key: KeyOf) -> tuple[str, str]:
    """The rate (or the state), and a few words, of which a path is cut at its beginning."""
    many = f"{transfer.finished:,} of {transfer.items:,}" if transfer.items > 1 else ""
    many += f", {transfer.failed:,} failed" if many and transfer.failed else ""
    if transfer.kind == "download" and transfer.state in ("left", "paused") and transfer.done:
        many = f"{size(transfer.done)} kept"
    if transfer.state == "running":
        if transfer.items == 1 and transfer.total and transfer.done >= transfer.total:
            # The last bytes are on their way, or being checked.
            return size(transfer.total), "finishing" if transfer.kind == "download" else "waiting for the service"
        rate = "" if transfer.rate is None else f"{size(transfer.rate)}/s"
        left = "" if transfer.remaining is None else f"{duration(transfer.remaining)} left"
        words = " · ".join(filter(None, (many, left)))
        return rate, words if len(words) <= room + 2 else many or left.removesuffix(" left")
    if transfer.state == "done" and transfer.kind == "mirror":
        return "", ""
    if transfer.state == "done":
        number = size(transfer.total if transfer.total is not None else transfer.done)
        if many:
            return "" if transfer.kind == "revoke" else number, many
        if transfer.kind != "download":
            cid = short_cid(transfer.cid or "")
            ways = (f"{cid} · held already", "held already") if transfer.was_held else (cid,)
            return number, next((one for one in ways if len(one) <= room), cid)
        return number, short_path(str(transfer.path), str(Path.home()), room)
    if transfer.state == "left":
        resumes = f"{key('transfers.resume')} resumes"
        ways = (f"{resumes}, {key('transfers.forget')} forgets", resumes, "")
        words = [" · ".join(filter(None, (many, way))) for way in ways]
        return "unfinished", next((one for one in words if len(one) <= room + 2), many)
    if transfer.waits_for is not None and transfer.state == "waiting":
        why = transfer.waits_for.rstrip(".")
        tries = f"{key('transfers.all')} tries now"
        words = [" · ".join(filter(None, (many, *more))) for more in ((why, tries), (why,), (tries,))]
        return "waiting", next((one for one in words if len(one) <= room + 2), many)
    keys = {"cancelled": f"{key('transfers.retry')} retries", "paused": f"{key('transfers.go_on')} goes on"}
    words = " · ".join(filter(None, (many, keys.get(transfer.state, ""))))
    return transfer.state, words if len(words) <= room + 2 else many or words


def reason(transfer: Transfer, key: KeyOf, room: int) -> str:
    """The reason of a failure without the file's name, which the row has already, and the key, which has to fit."""
    words = transfer.error or f"{transfer.failed:,} of {transfer.items:,} failed"
    if transfer.path is not None:
        words = words.removeprefix(f"{transfer.path}: ").replace(str(transfer.path), "it")
    words, retries = words.rstrip("."), f" · {key('transfers.retry')} retries"
    return words + retries if len(words + retries) <= room else fit(words, room - len(retries)).rstrip() + retries


def tally(transfers: list[Transfer]) -> str:
    """`2 running · 1 waiting · 1 failed · 1 done`."""
    states = ["unfinished" if transfer.state == "left" else transfer.state for transfer in transfers]
    order = ("running", "waiting", "unfinished", "paused", "failed", "cancelled", "done")
    return " · ".join(f"{states.count(state)} {state}" for state in order if state in states)
