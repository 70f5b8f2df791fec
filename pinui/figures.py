"""Facts as people read them: counts, sizes, ages, durations and short CIDs, the same in every face."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime

__all__ = [
    "age",
    "ago",
    "be",
    "count",
    "day",
    "duration",
    "iso_time",
    "moment",
    "plural",
    "short_cid",
    "size",
    "total_size",
    "when",
]

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
MINUTE, HOUR, DAY, WEEK = 60, 3600, 86_400, 604_800
LAST_MOMENT = 253_402_214_400_000  # the last day of the year 9999


def count(number: int) -> str:
    """Thousands set apart by commas."""
    return f"{number:,}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 pin`, `2 pins`, `1,204 pins`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def be(number: int) -> str:
    """`is` or `are`, after a number."""
    return "is" if number == 1 else "are"


def size(number: float | None) -> str:
    """Bytes in decimal units with two or three digits: `96 B`, `1.2 kB`, `18 kB`, `4.8 MB`; `–` if unknown."""
    if number is None:
        return "–"
    value, unit = float(number), 0
    while value >= 999.5 and unit < len(UNITS) - 1:
        value /= 1000
        unit += 1
    digits = 1 if unit and value < 9.95 else 0
    return f"{value:.{digits}f} {UNITS[unit]}"


def total_size(sizes: Sequence[int | None], *, in_all: bool = False) -> str:
    """Sizes added up: `4.8 MB` (or `4.8 MB in all`), with unknown ones `4.8 MB and more`, or `size unknown`."""
    known = [one for one in sizes if one is not None]
    if len(known) < len(sizes) and not sum(known):
        return "size unknown"
    more = " and more" if len(known) < len(sizes) else " in all" if in_all else ""
    return size(sum(known)) + more


def short_cid(cid: str) -> str:
    """The two ends of a CID, the ones people compare."""
    head = 6 if cid.startswith("Qm") else 7
    return cid if len(cid) <= head + 5 else f"{cid[:head]}…{cid[-4:]}"


def duration(seconds: float) -> str:
    """`6 s`, `2 min`, `3 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * MINUTE:
        return f"{round(seconds / MINUTE)} min"
    return f"{round(seconds / HOUR)} h"


def _seconds(milliseconds: int) -> float:
    """A time in seconds, within what calendars know in every time zone: others write these numbers."""
    return min(max(milliseconds, 0), LAST_MOMENT) / 1000


def _local(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(_seconds(milliseconds))


def age(then_ms: int | None, now: float) -> str:
    """An age in at most six cells: `now`, `2 min`, `3 h`, `1 d`, `12 Oct`, `2024`; `–` if unknown."""
    if then_ms is None:
        return "–"
    seconds = now - _seconds(then_ms)
    if seconds < MINUTE:
        return "now"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min"
    if seconds < DAY:
        return f"{int(seconds // HOUR)} h"
    if seconds < WEEK:
        return f"{int(seconds // DAY)} d"
    then = _local(then_ms)
    if then.year == datetime.fromtimestamp(now).year:
        return f"{then.day} {MONTHS[then.month - 1]}"
    return str(then.year)


def ago(then_ms: int, now: float) -> str:
    """`just now`, `2 min ago`, `on 12 Oct`."""
    seconds = now - _seconds(then_ms)
    if seconds < MINUTE:
        return "just now"
    return f"{age(then_ms, now)} ago" if seconds < WEEK else f"on {day(then_ms, now)}"


def when(then_ms: int, now: float) -> str:
    """`2 min ago · today 21:41`, and `28 Sep 18:02` where both would say the day."""
    exact = moment(then_ms, now)
    return f"{ago(then_ms, now)} · {exact}" if now - _seconds(then_ms) < WEEK else exact


def day(then_ms: int, now: float) -> str:
    """`14 Nov`, with the year when it is another one."""
    then = _local(then_ms)
    year = "" if then.year == datetime.fromtimestamp(now).year else f" {then.year}"
    return f"{then.day} {MONTHS[then.month - 1]}{year}"


def moment(then_ms: int, now: float) -> str:
    """`today 21:41`, `28 Sep 18:02`."""
    then, today = _local(then_ms), datetime.fromtimestamp(now)
    date = "today" if then.date() == today.date() else day(then_ms, now)
    return f"{date} {then.hour:02}:{then.minute:02}"


def iso_time(timestamp: int) -> str:
    """A time in milliseconds as UTC, to the second."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(timestamp / 1000))
    except (ValueError, OverflowError, OSError):  # a made-up time
        return str(timestamp)
