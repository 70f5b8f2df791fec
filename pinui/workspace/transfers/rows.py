"""Rows of the ledger: requests, and the items that each consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pinui.sdk.models import LeftOut
    from pinui.workspace.rows import Entry

__all__ = ["Item", "ItemState", "NewItem", "Request", "RequestState", "Tally"]

RequestState = Literal["unfinished", "paused", "failed", "done", "cancelled"]
"""`failed`: everything that is left was tried and failed, for good or for now."""


class ItemState(IntEnum):
    """The state of an item, in the order of a list. The ledger's file holds these numbers."""

    FAILED = 0
    """Failed for good: tried again on request only."""
    BROKEN_OFF = 1
    """Failed for now, for example because the service can't be reached: resuming tries it again."""
    RUNNING = 2
    """A process runs it, or did so when it was killed."""
    WAITING = 3
    DONE = 5


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to write down. Its source is its identity inside a request: listed twice, it is one item."""

    source: str
    """A path or a CID."""
    shown: str | None = None
    """Its name in lists and output, if that is not its source."""
    destination: str | None = None
    size: int | None = None
    seen: str | None = None
    """The identity of the source as it was listed, to find out later whether it has changed."""
    resume: str | None = None
    """Text by which a later process finds the incomplete work of this one, even after a kill in the first moment."""


@dataclass(slots=True)
class Item:
    """One file or CID of a request. While it runs, its work writes the results into it."""

    id: int
    source: str
    shown: str
    destination: str | None = None
    size: int | None = None
    seen: str | None = None
    state: ItemState = ItemState.WAITING
    started_at: int | None = None
    """Milliseconds: the first time it was begun, perhaps by a process that was killed. None: nobody has begun it."""
    done: int = 0
    """Bytes."""
    cid: str | None = None
    entry: int | None = None
    """The id of its row in the history."""
    error: str | None = None
    hint: str | None = None
    was_held: bool = False
    """The account held it already, so it was not sent."""
    resume: str | None = None
    """Text of its own that lets an interrupted transfer go on where it was."""

    # Known to this process alone:
    row: Entry | None = None
    """Its row in the history."""
    verification: str | None = None
    """The verdict on downloaded content."""
    left_out: LeftOut | None = None
    """The entries that the upload of a folder left out."""
    failure: BaseException | None = None
    """The error itself."""

    @property
    def reason(self) -> str:
        """The error, to be read behind the name of the item."""
        return (self.error or "").removeprefix(f"{self.source}: ").removeprefix(f"{self.source} ")


@dataclass(frozen=True, slots=True)
class Tally:
    """The items of a request, counted."""

    items: int = 0
    done: int = 0
    failed: int = 0
    """Items that failed for good."""
    broken_off: int = 0
    """Items that failed for now."""
    size: int = 0
    """Bytes of all items, as far as they are known."""
    done_size: int = 0
    """Bytes of the items that are done."""
    kept: int = 0
    """Bytes of downloads that are not done: they are on the disk, about."""

    @property
    def left(self) -> int:
        """Items that are neither done nor failed."""
        return self.items - self.done - self.failed


@dataclass(frozen=True, slots=True)
class Request:
    """A request for work, as it was written down before the work began."""

    id: int
    kind: str
    profile: str
    title: str
    state: RequestState
    options: dict[str, Any]
    is_listed: bool
    """Whether all its items are written down."""
    created_at: int
    """Milliseconds."""
    is_running: bool = False
    """Whether a living process works on it."""
    tally: Tally = field(default_factory=Tally)
    error: str | None = None
    """The reason for which an item failed, if one did."""

    @property
    def can_go_on(self) -> bool:
        """Whether resuming has something to try: not everything that is left has failed for good."""
        return not self.is_listed or self.tally.left > 0
