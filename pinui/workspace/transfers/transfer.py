"""A transfer as a row of a list, and the kinds of work that a transfer can be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from pinui.sdk.models import LeftOut
    from pinui.workspace.rows import Entry
    from pinui.workspace.service import Service
    from pinui.workspace.transfers.rows import Item, NewItem

__all__ = ["NOTICE_SECONDS", "Kind", "Progress", "Rate", "Transfer"]

NOTICE_SECONDS = 0.1  # often enough for a screen
RATE_SECONDS = 3.0  # the time that the rate is averaged over, about
SETTLING = 0.5  # seconds at the beginning, in which bytes fill the buffers of a socket faster than they arrive


class Progress(Protocol):
    """Progress: the bytes done, and the total if it is known."""

    def __call__(self, done: int, total: int | None, /) -> None: ...


class Kind(Protocol):
    """A kind of work, such as uploading.

    A request of this kind is written down with its options (values of JSON) before anything else happens. A kill may
    come at any moment; then the request goes on in another process, perhaps days later.
    """

    def items(self, transfer: Transfer, service: Service) -> AsyncIterator[Sequence[NewItem]]:
        """Find the items of a request, from its options alone. After a kill they may be listed again."""
        ...

    async def run(self, transfer: Transfer, service: Service, item: Item, progress: Progress) -> None:
        """Do the work of one item, and write the results into it; an exception is its failure.

        It must be safe to repeat. If `item.started_at` is set, an earlier run may have done all of it without a mark
        in the ledger: find out, and count as done what is done already. Work that is complete when it is cancelled
        sets `item.state` to done before it raises.
        """
        ...


@dataclass(slots=True)
class Rate:
    """Bytes a second, smoothed so that a number on a screen can be read."""

    value: float | None = None
    _done: int = 0
    _at: float = 0.0
    _began: float | None = None

    def add(self, done: int, now: float) -> bool:
        """Add a measurement; False if it comes too soon after the last one."""
        if self._began is None or done < self._done:  # the first one, or the first after a restart
            self._began = now
        if now - self._began <= SETTLING:
            self._done, self._at = done, now
            return False
        passed = now - self._at
        if passed < NOTICE_SECONDS:
            return False
        current = (done - self._done) / passed
        weight = min(1.0, passed / RATE_SECONDS)
        value = current if self.value is None else self.value + weight * (current - self.value)
        self.value = value if value >= 1 else 0.0
        self._done, self._at = done, now
        return True

    def remaining(self, done: int, total: int | None) -> float | None:
        """The remaining seconds, if they can be estimated."""
        if total is None or not self.value:
            return None
        return max(0.0, (total - done) / self.value)


@dataclass(slots=True)
class Transfer:
    """One row of the list of transfers: a request with its progress."""

    id: int
    kind: str
    title: str
    state: Literal["waiting", "running", "paused", "left", "done", "failed", "cancelled"] = "waiting"
    """`left`: not finished by an earlier process."""
    done: int = 0
    total: int | None = None
    rate: float | None = None
    """Bytes a second."""
    remaining: float | None = None
    """Seconds."""
    cid: str | None = None
    path: Path | None = None
    error: str | None = None
    """A sentence."""
    hint: str | None = None
    """The next step for the user."""
    failure: BaseException | None = None
    """The error itself."""
    waits_for: str | None = None
    """A sentence, while it waits because its service can't be reached."""
    entry: Entry | None = None
    """The row of the history that an upload made."""
    verification: str | None = None
    """The verdict on the downloaded content."""
    was_held: bool = False
    """The account held the only file already, so it was not sent."""
    left_out: LeftOut | None = None
    """The entries that the upload of a folder left out."""
    started_at: float | None = None
    ended_at: float | None = None
    profile: str | None = None
    """The profile it started with; it ends there, even after a switch."""

    number: int | None = None
    """Its number in the ledger, once it is written down."""
    is_listed: bool = False
    """Whether all its items are written down."""
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    items: int = 1
    finished: int = 0
    """Items that are done."""
    failed: int = 0
    """Items that have failed."""
    for_good: int = 0
    """Items that have failed for good: resuming does not try these again."""
    done_size: int = 0
    """Bytes of the items that are done."""
    running: dict[int, Item] = field(default_factory=dict[int, "Item"])
    """The items that run now, by their ids."""
    mark: Callable[[Item], None] = lambda _item: None
    """Writes down how far an item is."""
    on_item: Callable[[Item], None] | None = None
    """Called with each item that is done or has failed."""
    spelled: Callable[[str], str] = str
    """The spelling of a source for messages, such as a path as it was typed."""
    on_listed: Callable[[str, int, LeftOut], None] | None = None
    """Called with each folder whose files go up one by one, their number, and the entries that are left out."""

    @property
    def has_ended(self) -> bool:
        """Whether it is done, failed or cancelled."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def is_active(self) -> bool:
        """Whether it runs or waits for a slot."""
        return self.state in ("waiting", "running")

    @property
    def unfinished(self) -> int:
        """The number of items that are neither done nor failed."""
        return max(0, self.items - self.finished - self.failed)

    @property
    def can_go_on(self) -> bool:
        """Whether resuming has something to try: not everything that is left has failed for good."""
        return self.number is not None and self.items > self.finished + self.for_good
