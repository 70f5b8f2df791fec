"""Continuing a broken download: the range to request, and the check that the answer continues it."""

from __future__ import annotations

import re
from enum import Enum

from pinui.sdk.transport.http import Head

__all__ = ["Continuation", "continuation", "range_headers", "strong_etag", "whole_size"]

CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")


class Continuation(Enum):
    """An answer that can't be used."""

    WRONG = "wrong"


def range_headers(offset: int, etag: str) -> dict[str, str]:
    """Ask for the rest, but only of the very same bytes."""
    return {"Range": f"bytes={offset}-", "If-Range": etag}


def strong_etag(head: Head) -> str | None:
    """An ETag that promises equal bytes; weak ones don't."""
    etag = head.headers.get("etag", "")
    return etag if len(etag) > 2 and etag.startswith('"') and etag.endswith('"') else None


def whole_size(head: Head) -> int | None:
    """The size of the whole content, if a reply to a range, or to none, tells it."""
    if head.status != 206:
        return head.length
    matched = CONTENT_RANGE.fullmatch(head.headers.get("content-range", "").strip())
    return int(matched[3]) if matched and matched[3] != "*" else None


def continuation(head: Head, resume: tuple[int, str] | None, *, takes_part: bool = False) -> int | Continuation:
    """The offset of the reply's body: 0, or the requested one; anything else can't be used.

    `takes_part` is for requests of the beginning only.
    """
    if head.status != 206:
        return 0
    matched = CONTENT_RANGE.fullmatch(head.headers.get("content-range", "").strip())
    if matched is None:
        return Continuation.WRONG
    start, end = int(matched[1]), int(matched[2])
    offset, etag = resume or (0, None)
    if start != offset or (etag is not None and head.headers.get("etag", etag) != etag):
        return Continuation.WRONG
    # A part that stops early would look like a whole file.
    return offset if takes_part or matched[3] == "*" or end + 1 == int(matched[3]) else Continuation.WRONG
