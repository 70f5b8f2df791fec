"""Transfers: a row with a bar for each."""

from __future__ import annotations

from pathlib import Path

from pinui.figures import duration, short_cid, size
from pinui.tui.display import fit, right, short_path, wrapped
from pinui.tui.entries import VERDICTS
from pinui.tui.keys import bindings
from pinui.tui.places.files.keys import TRANSFERS
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line
from pinui.workspace import Transfer

__all__ = ["TransferList", "tally"]


class TransferList(ItemList):
    """Newest last; c cancels, r retries."""

    BINDINGS = bindings(TRANSFERS)

    def __init__(self) -> None:
        super().__init__(id="transfers", classes="pane")
        self.transfers: list[Transfer] = []

    def show_transfers(self, transfers: list[Transfer]) -> None:
        """Show how far they are."""
        grown, current = len(transfers) > len(self.transfers), self.current
        self.transfers = list(transfers)
        self.item_count = len(transfers)
        if grown and not self.has_focus:
            self.cursor = self.item_count - 1
        elif current in transfers:
            self.cursor = transfers.index(current)  # rows above it may be gone
        self.refresh()

    @property
    def current(self) -> Transfer | None:
        """The row under the cursor."""
        return self.transfers[self.cursor] if self.transfers else None

    def nothing(self, width: int) -> list[Line]:
        """Before the first one."""
        words = "No transfers yet. In Upload, u uploads and d downloads."
        return [[(line, "muted")] for line in wrapped(words, width)]

    def item_line(self, index: int, line: int, width: int) -> Line:
        """Arrow, name, bar, progress, rate and time left; for a failed transfer, the reason instead."""
        transfer = self.transfers[index]
        tone = tone_of(transfer)
        wide = width >= 100
        name, bar = (width // 5, width // 4) if wide else (max(10, width // 4), max(6, width // 6))
        edge = ("▌" if index == self.cursor and self.has_focus else " ", "primary")
        title = (fit(transfer.title, name) + " ", "text")
        if transfer.state == "failed":
            return [edge, ("✗ ", tone), title, (fit(reason(transfer), max(0, width - name - 4)), "error")]
        share = share_of(transfer)
        full = round(bar * (share or 0))
        rest = max(0, width - name - bar - 26)
        fact, words = facts_of(transfer, rest - 2)
        verdict = transfer.verification if transfer.state == "done" else None
        mark, mark_tone = VERDICTS.get(verdict or "", ("", ""))[:2]
        return [
            edge,
            ("↑ " if transfer.kind == "upload" else "↓ ", tone),
            title,
            ("━" * full, tone),
            ("─" * (bar - full), "line"),
            (right("" if share is None else f"{int(share * 100)} %", 6), "text"),
            (right(fact, 11), "muted"),
            ("  ", ""),
            (f"{mark} " if mark else "", mark_tone),
            (fit(words, rest - (2 if mark else 0)), "muted"),
        ]


def tone_of(transfer: Transfer) -> str:
    """One colour for each state; downloads are violet."""
    states = {"waiting": "warning", "done": "success", "failed": "error", "cancelled": "muted"}
    return states.get(transfer.state, "primary" if transfer.kind == "upload" else "secondary")


def share_of(transfer: Transfer) -> float | None:
    """The share that is done, from 0 to 1, if it is known; 1 only at the end."""
    if transfer.state == "done":
        return 1.0
    if not transfer.total:
        return None if transfer.state == "running" else 0.0
    return min(0.99, transfer.done / transfer.total)


def facts_of(transfer: Transfer, room: int) -> tuple[str, str]:
    """The rate (or the state), and a few words, of which a path is cut at its beginning."""
    if transfer.state == "running":
        if transfer.total and transfer.done >= transfer.total:  # the last bytes are on their way, or being checked
            return size(transfer.total), "waiting for the service" if transfer.kind == "upload" else "finishing"
        rate = "" if transfer.rate is None else f"{size(transfer.rate)}/s"
        left = "" if transfer.remaining is None else f"{duration(transfer.remaining)} left"
        return rate, left if len(left) <= room + 2 else left.removesuffix(" left")
    if transfer.state == "done":
        number = size(transfer.total if transfer.total is not None else transfer.done)
        if transfer.kind == "upload":
            return number, short_cid(transfer.cid or "")
        return number, short_path(str(transfer.path), str(Path.home()), room)
    return transfer.state, "r retries" if transfer.state == "cancelled" else ""


def reason(transfer: Transfer) -> str:
    """The reason of a failure without the file's name, which the row has already: the reason must fit."""
    words = transfer.error or ""
    if transfer.path is not None:
        words = words.removeprefix(f"{transfer.path}: ").replace(str(transfer.path), "it")
    return f"{words.rstrip('.')} · r retries"


def tally(transfers: list[Transfer]) -> str:
    """`2 running · 1 waiting · 1 failed · 1 done`."""
    states = [transfer.state for transfer in transfers]
    order = ("running", "waiting", "failed", "cancelled", "done")
    return " · ".join(f"{states.count(state)} {state}" for state in order if state in states)
