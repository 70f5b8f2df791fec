"""News of transfers: a sentence when they end while another place is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinui.figures import duration, plural, size
from pinui.workspace.errors import WrongCID

if TYPE_CHECKING:
    from pinui.workspace import Transfer
    from pinui.workspace.transfers.queue import Totals

__all__ = ["LONG", "TransferNews", "transfer_words"]

LONG = 15.0
"""Seconds from which on the end of a single transfer is news, even if others still run."""


class TransferNews:
    """Compares the transfers with those seen before. The end of each is news once."""

    def __init__(self) -> None:
        self._known: set[tuple[int, float]] = set()
        self._together: list[Transfer] = []
        self.wrong: WrongCID | None = None
        """A wrong CID that a service answered, among the transfers that ended since the last call of `news`."""
        self.revoked: list[Transfer] = []
        """Bulk revokes among them, cancelled ones too. Each has a report of its own."""

    def news(self, transfers: Sequence[Transfer], key: str) -> str | None:
        """A sentence when the last of them has ended, or one that took long; None if there is nothing to tell.

        `key` goes to Files.
        """
        finished = {(one.id, one.ended_at): one for one in transfers if one.has_ended and one.ended_at is not None}
        new = [one for key, one in finished.items() if key not in self._known]
        self._known = set(finished)
        self.revoked = [one for one in new if one.kind == "revoke"]
        new = [one for one in new if one.kind != "revoke" and one.state != "cancelled"]
        self.wrong = next((one.failure for one in new if isinstance(one.failure, WrongCID)), None)
        self._together += new
        active = sum(one.is_active for one in transfers)
        if active:
            slow = [one for one in new if (one.ended_at or 0) - (one.started_at or 0) >= LONG]
            them = "it" if active == 1 else "them"
            return (
                f"{_fate(slow[-1])}; {plural(active, 'transfer')} not done yet. {key} shows {them}." if slow else None
            )
        together, self._together = self._together, []
        failed = sum(one.state == "failed" for one in together)
        if len(together) == 1:
            return f"{_fate(together[0])}. {key} shows it."
        if failed:
            return f"Transfers have ended, {failed} failed. {key} shows them."
        return f"Transfers have ended. {key} shows them." if together else None


def transfer_words(totals: Totals) -> str:
    """All active transfers in a few words for the top bar: `↑ 612 of 1,000 · 18 MB/s · 2 min left`."""
    if not totals.items:
        return ""
    signs = "".join({"upload": "↑", "download": "↓", "revoke": "−"}.get(kind, "⇄") for kind in totals.kinds)
    words = [f"{signs} {totals.finished:,} of {totals.items:,}"]
    if totals.items == 1:
        words = [f"{signs} {min(99, 100 * totals.done // totals.size)} %" if totals.size else signs]
    if totals.rate is not None:
        words.append(f"{size(totals.rate)}/s")
    if totals.remaining is not None:
        words.append(f"{duration(totals.remaining)} left")
    return " · ".join(words)


def _fate(transfer: Transfer) -> str:
    if transfer.state == "failed":
        return f"{transfer.title} failed"
    if transfer.kind == "copy":
        return f"Copied: {transfer.title}"
    if transfer.kind == "mirror":
        return f"Read: {transfer.title}"
    return f"{transfer.title} is {'uploaded' if transfer.kind == 'upload' else 'here'}"
