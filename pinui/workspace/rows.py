"""Rows of the history, and queries for them. A module of its own, so that listing rows starts fast."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

__all__ = ["UNDATED", "AccountState", "Direction", "Entry", "Kind", "Query", "Recipient", "Sort", "Standing", "now_ms"]

UNDATED = 1 << 19
"""The bit in the id of a pin whose date the service doesn't tell: a filter by age finds it in any index."""

Kind = Literal["json", "file", "message"]
Direction = Literal["sent", "received"]
Sort = Literal["newest", "oldest", "name", "name-reversed", "size", "size-reversed"]


class Standing(IntEnum):
    """The places where a pin is known. The history's file holds these numbers."""

    RECORD = 0
    """No pin of its own: a received message, or an older record of content that was stored again."""
    HERE = 1
    """In the history; the account was not read yet, or can't be."""
    BOTH = 2
    """On the account and in the history."""
    ACCOUNT = 3
    """On the account alone: another program made it."""
    REVOKED = 4
    """Revoked from this machine."""
    GONE = 5
    """In the history; no longer on the account."""


def now_ms() -> int:
    """The time in milliseconds, as rows have it."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the history."""

    id: int
    cid: str
    timestamp: int
    """Milliseconds. Of a pin without a date, the moment when it was first seen here."""
    size: int
    """As in the record: bytes of a file, characters of JSON."""
    kind: Kind
    direction: Direction
    profile: str
    name: str | None = None
    """The user's own, or the file's name."""
    note: str | None = None
    recipient: str | None = None
    """The recipient of a sent message; the name that a received one was filed under."""
    excerpt: str | None = None
    """The beginning of the JSON text, or of the message."""
    verification: str | None = None
    """`verified`, `unverifiable`, `mismatch`, or None where nothing was checked."""
    revoked_at: int | None = None
    """Milliseconds. It belongs to the CID and the profile, not to the row."""
    bytes: int | None = 0
    """Bytes of the file or of the JSON text; None where the service doesn't tell. `size` is the record's, which counts
    characters of JSON. Set by the history, unless it is None."""

    is_folder: bool = False
    """Whether a file is known to be a folder."""
    source: str | None = None
    """The path of an uploaded file on this machine."""
    service_name: str | None = None
    """The name at the service, where the account was mirrored."""
    standing: int = Standing.RECORD
    """A `Standing`. Set by the history."""
    recorded: bool = True
    """Whether it is a record of the history: False for a pin that another program made, whose kind is unknown."""
    is_gone: bool = False
    """Whether the account no longer has its pin, without a revoke from here. Set by the history."""

    @property
    def pinned_at(self) -> int | None:
        """When it was stored, in milliseconds; None where the service doesn't tell."""
        return None if self.id & UNDATED and not self.recorded else self.timestamp

    @property
    def title(self) -> str:
        """Its title in a list."""
        first_line = (self.excerpt or "").strip().split("\n", 1)[0].strip()
        return (self.name or self.note or first_line or self.service_name or self.cid) + ("/" if self.is_folder else "")

    def to_json(self) -> dict[str, str | int | bool]:
        """The row for a script or an export, with the contract's names; unknown values are left out."""
        fields = {
            "cid": self.cid,
            "timestamp": self.timestamp,
            "size": self.size,
            "kind": self.kind,
            "folder": True if self.is_folder else None,
            "direction": self.direction,
            "profile": self.profile,
            "name": self.name,
            "note": self.note,
            "recipientId": self.recipient,
            "verification": self.verification,
            "revokedAt": self.revoked_at,
            "gone": True if self.is_gone else None,
        }
        return {key: value for key, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Query:
    """A selection of rows, and their order."""

    text: str = ""
    """In the filter language (`pinui.workspace.filters`)."""
    of: Literal["records", "pins", "both"] = "records"
    """Records are what was stored or received here. Pins are one row for each content, the account's among them."""
    kind: Kind | None = None
    direction: Direction | None = None
    profile: str | None = None
    recipient: str | None = None
    filed: bool | None = None
    """Whether a message belongs to a recipient; None: either."""
    revoked: bool | None = None
    pinned: bool | None = None
    """Whether it is pinned, as far as is known here: neither revoked nor gone."""
    sort: Sort = "newest"


@dataclass(frozen=True, slots=True)
class Recipient:
    """A name that messages were sent to or filed under."""

    name: str
    count: int
    timestamp: int
    """Time of the newest message, in milliseconds."""
    excerpt: str | None


@dataclass(frozen=True, slots=True)
class AccountState:
    """The known part of a profile's account. Times are in milliseconds."""

    pins: int = 0
    """Pins of the account that are known here."""
    size: int = 0
    """Bytes of the pins whose size is known."""
    unsized: int = 0
    """The number of pins whose size the service doesn't tell."""
    elsewhere: int = 0
    """The number of them that other programs made."""
    here: int = 0
    """Pins of the history, where it is not known whether they are on the account."""
    gone: int = 0
    """Pins of the history that the account no longer has."""
    revoked: int = 0
    uncounted: int = 0
    """The pins that the service counts beyond the contents that it lists."""
    mirrored_at: int | None = None
    """When the newest pins were read last; None: never."""
    checked_at: int | None = None
    """When all pins were read last."""
    is_unfinished: bool = False
    """Whether a run is unfinished."""

    @property
    def tells_where(self) -> bool:
        """Whether it is known which pins are on the account."""
        return self.mirrored_at is not None or self.is_unfinished

    @property
    def differs(self) -> bool:
        """Whether some pins are on the account alone, or here alone."""
        return bool(self.elsewhere or self.here or self.gone)
