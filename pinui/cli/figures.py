"""Sizes, rates, times and CIDs as people read them."""

from __future__ import annotations

import time
from unicodedata import combining, east_asian_width

__all__ = ["age", "fitted", "iso_time", "short_cid", "size_text", "time_text", "width_of"]


def size_text(size: float) -> str:
    """Bytes with a unit: 999 B, 1.2 kB, 34 MB."""
    unit = "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 999.5 or unit == "TB":
            break
        size /= 1000
    digits = 0 if unit == "B" or size >= 99.95 else 1
    return f"{size:.{digits}f} {unit}"


def time_text(seconds: float) -> str:
    """A duration: 7 s, 3:05, 1:02:03."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}:{rest:02}"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours < 100 else f"{hours // 24} days"


def age(timestamp: int, now: float | None = None) -> str:
    """How long ago a time in milliseconds is."""
    seconds = max(0.0, (time.time() if now is None else now) - timestamp / 1000)
    for length, unit in ((86400 * 365, "y"), (86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return "now"


def iso_time(timestamp: int) -> str:
    """A time in milliseconds as UTC, to the second."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(timestamp / 1000))
    except (ValueError, OverflowError, OSError):  # a time that somebody made up
        return str(timestamp)


def short_cid(cid: str, width: int) -> str:
    """A CID cut in the middle, as its beginning is the same for most."""
    if len(cid) <= width:
        return cid
    tail = (width - 1) // 2
    return f"{cid[: width - 1 - tail]}…{cid[-tail:]}"


def width_of(text: str) -> int:
    """How many columns a terminal needs for a line of clean text."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def fitted(text: str, width: int) -> str:
    """The text cut so that it needs no more columns than these."""
    if width_of(text) <= width:
        return text
    kept = ""
    for sign in text:
        if width_of(kept) + width_of(sign) >= width:
            break
        kept += sign
    return f"{kept}…"
