"""The pins of an account as the pinning API lists them: rows in, and pages that lose no pin while others change."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urlencode

from pinui.sdk.models import Pin, PinStatus, Resume
from pinui.sdk.providers.wire import answer_object, not_understood, one_word, whole_number

__all__ = ["JOB_STATES", "PinPages", "iso", "moment", "read_job", "read_page", "resume_date"]

PAGE = 1000
"""Rows in a page: the most that the hosted service gives."""
OVERLAP = 100
MOST_REPEATS = 20
"""Pages in a row without a new pin, after which a server must be one that ignores offsets."""
LAST_MOMENT = 253_402_300_799_999
"""The end of the year 9999, in milliseconds: no calendar of ours goes further."""


class PinPages:
    """The cursor through the pages of pins, newest first.

    Offsets shift while pins come and go, so a page is cut by date instead: the next one holds pins no newer than the
    oldest seen. Pins of that very moment come again and are left out. A server that ignores dates is paged by offset,
    with an overlap: a page that shows none of the rows before it has a gap in front, and is asked for further back.
    """

    def __init__(self, *, name: str | None = None, cid: str | None = None, until: int | None = None) -> None:
        self._filter = {"metadata[name]": name, "hashContains": cid}
        self._oldest: int | None = until
        self._offset = 0
        self._by_date = True
        self._known: set[str] = set()
        self._seen = 0
        self._full = 0
        self._repeats = 0
        self.is_over = False

    @property
    def oldest(self) -> int | None:
        """The moment where the next page begins, in milliseconds; None for a server that ignores dates."""
        return self._oldest if self._by_date else None

    def query(self) -> str:
        """The query of the next page."""
        asked: dict[str, str | int | None] = {"status": "pinned", "pageLimit": PAGE, "pageOffset": self._offset}
        if self._by_date and self._oldest is not None:
            asked["pinEnd"] = iso(self._oldest + 1)  # whether a service means "until" or "before"
        return urlencode({key: value for key, value in (asked | self._filter).items() if value is not None})

    def take(self, rows: list[Pin]) -> list[Pin]:
        """The pins of a page that are new."""
        if self._by_date and not self._is_cut_by_date(rows):
            self._by_date = False
            if self._oldest is not None:  # this page is the first one again
                self._offset = max(0, self._seen - OVERLAP)
                return []
        self._full = max(self._full, len(rows))
        keys = {_key(row) for row in rows}
        fresh = [row for row in rows if _key(row) not in self._known]
        if not self._by_date and self._offset and keys.isdisjoint(self._known):
            self._offset = max(0, self._offset - PAGE + OVERLAP)
            return []
        self._seen += len(fresh)
        self._repeats = 0 if fresh else self._repeats + 1
        self.is_over = len(rows) < self._full or self._repeats > (0 if self._by_date else MOST_REPEATS)
        if self._by_date:
            self._cut_by_date(rows)
        else:
            self._known = (self._known if len(self._known) <= 2 * PAGE else set()) | keys
            self._offset += max(1, len(rows) - OVERLAP)
        return fresh

    def _is_cut_by_date(self, rows: list[Pin]) -> bool:
        dates = [row.created for row in rows if row.created is not None]
        return len(dates) == len(rows) and (self._oldest is None or max(dates, default=0) <= self._oldest + 1)

    def _cut_by_date(self, rows: list[Pin]) -> None:
        oldest = min((row.created for row in rows if row.created is not None), default=None)
        if oldest is None or oldest == self._oldest:
            self._offset += len(rows)  # more pins of one moment than a page holds
        else:
            self._oldest, self._offset, self._known = oldest, 0, set()
        self._known |= {_key(row) for row in rows}


def _key(pin: Pin) -> str:
    return pin.id or pin.cid


def resume_date(resume: Resume | None) -> int | None:
    """The moment where a list goes on that is cut by date, in milliseconds; None to begin with the newest pins."""
    handle = None if resume is None else resume.handle
    return int(handle) if handle is not None and handle.isascii() and handle.isdigit() and len(handle) < 16 else None


def iso(milliseconds: int) -> str:
    """An ISO date."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_page(status: int, body: bytes) -> list[Pin]:
    """The rows of a page of `pinList`; a row without a CID is left out."""
    rows = answer_object(body).get("rows")
    if not isinstance(rows, list):
        raise not_understood(status, "it holds no rows")
    return [pin for row in cast("list[Any]", rows) if (pin := _read_row(row)) is not None]


def _read_row(row: object) -> Pin | None:
    if not isinstance(row, dict):
        return None
    fields = cast("dict[str, Any]", row)
    cid, metadata = one_word(fields.get("ipfs_pin_hash")), fields.get("metadata")
    if cid is None:
        return None
    named = cast("dict[str, Any]", metadata) if isinstance(metadata, dict) else {}
    return Pin(
        cid=cid,
        name=_text(named.get("name")),
        size=whole_number(fields.get("size")),
        created=moment(fields.get("date_pinned")),
        id=_text(fields.get("id")),
    )


# The hosted service's words for the progress of a request to pin by CID; other words mean failed.
JOB_STATES: dict[str, PinStatus] = {
    "pinned": "pinned",
    "prechecking": "queued",
    "queued": "queued",
    "backfilled": "queued",
    "searching": "pinning",
    "retrieving": "pinning",
    "pinning": "pinning",
}


def read_job(status: int, body: bytes, asked: str) -> Pin:
    """The answer of `pinByHash`."""
    fields = answer_object(body)
    cid = one_word(fields.get("ipfsHash"))
    if cid is None:
        raise not_understood(status, "it names no ipfsHash")
    state = JOB_STATES.get(str(fields.get("status", "prechecking")), "failed")
    return Pin(cid=asked, name=_text(fields.get("name")), status=state, id=_text(fields.get("id")))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def moment(value: object) -> int | None:
    """Milliseconds of an ISO date; None for one that no pin can have."""
    try:
        seen = datetime.fromisoformat(value if isinstance(value, str) else "")
        milliseconds = int((seen if seen.tzinfo else seen.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return milliseconds if 0 <= milliseconds <= LAST_MOMENT else None
