"""What to tell of transfers that end while somebody is at another place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinui.figures import plural
from pinui.workspace.errors import WrongCID

if TYPE_CHECKING:
    from pinui.workspace import Transfer

__all__ = ["LONG", "Ended"]

LONG = 15.0
"""Seconds after which somebody waits for a transfer itself, not only for the last of them."""


class Ended:
    """Looks at the transfers now and then: each end is news once."""

    def __init__(self) -> None:
        self._known: set[tuple[int, float]] = set()
        self._together: list[Transfer] = []
        self.wrong: WrongCID | None = None
        """Among those that ended since the look before, one whose service answered a wrong CID."""

    def news(self, transfers: Sequence[Transfer]) -> str | None:
        """A sentence when the last of them has ended, or one that took long; None if there is nothing to tell."""
        ended = {(one.id, one.ended_at): one for one in transfers if one.has_ended and one.ended_at is not None}
        new = [one for key, one in ended.items() if key not in self._known and one.state != "cancelled"]
        self._known = set(ended)
        self.wrong = next((one.failure for one in new if isinstance(one.failure, WrongCID)), None)
        self._together += new
        active = sum(not one.has_ended for one in transfers)
        if active:
            slow = [one for one in new if (one.ended_at or 0) - (one.started_at or 0) >= LONG]
            return f"{_fate(slow[-1])}; {plural(active, 'transfer')} not done yet. 3 shows them." if slow else None
        together, self._together = self._together, []
        failed = sum(one.state == "failed" for one in together)
        if failed:
            return f"Transfers have ended, {failed} failed. 3 shows them."
        return "Transfers have ended. 3 shows them." if together else None


def _fate(transfer: Transfer) -> str:
    if transfer.state == "failed":
        return f"{transfer.title} failed"
    return f"{transfer.title} is {'uploaded' if transfer.direction == 'upload' else 'here'}"
