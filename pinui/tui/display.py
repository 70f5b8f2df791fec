"""How facts are written for a person: sizes, ages, CIDs and text cut to a number of cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from rich.cells import cell_len, split_graphemes

from pinui.workspace.text import clean, clean_line

__all__ = [
    "age",
    "ago",
    "count",
    "day",
    "duration",
    "fit",
    "graphemes",
    "joined",
    "moment",
    "plural",
    "right",
    "short_cid",
    "short_path",
    "size",
    "when",
    "wrapped",
]

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
MINUTE, HOUR, DAY, WEEK = 60, 3600, 86_400, 604_800
LAST_MOMENT = 253_402_214_400_000  # the last day of the year 9999


JOINED = re.compile("[\u200d\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\U000e007f]")
"""A sign that several characters are drawn as one emoji."""
FLAG_LETTERS = ("\U0001f1e6", "\U0001f1ff")
"""The first and the last of the letters that are a flag in pairs."""


def graphemes(text: str) -> list[tuple[int, int, int]]:
    """What a reader takes for one character: where each begins and ends, and its cells. A flag is one, too."""
    spans: list[tuple[int, int, int]] = []
    half = False
    for start, end, cells in split_graphemes(text)[0]:
        is_letter = FLAG_LETTERS[0] <= text[start] <= FLAG_LETTERS[1]
        half = is_letter and not half
        if is_letter and not half:
            start, _, before = spans.pop()
            cells += before
        spans.append((start, end, cells))
    return spans


def joined(text: str) -> list[tuple[int, int]]:
    """Where emoji begin and end that are made of several characters."""
    return [(start, end) for start, end, _ in graphemes(text) if end - start > 1] if JOINED.search(text) else []


def fit(text: str, width: int) -> str:
    """Exactly `width` cells: padded, or cut with an ellipsis."""
    text = clean_line(text)
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text + " " * (width - cell_len(text))
    head = _beginning(text, width - 1).rstrip() + "…"
    return head + " " * (width - cell_len(head))


def _beginning(text: str, width: int) -> str:
    """As much of it as has room in `width` cells."""
    if text.isascii():
        return text[:width]
    for start, _, cells in graphemes(text):
        width -= cells
        if width < 0:
            return text[:start]
    return text


def right(text: str, width: int) -> str:
    """Exactly `width` cells, at the right edge: for numbers."""
    text = clean_line(text)
    return " " * (width - cell_len(text)) + text if cell_len(text) <= width else fit(text, width)


def wrapped(text: str, width: int) -> Iterator[str]:
    """The lines of `text`, broken at blanks where that is possible so that none is wider than `width` cells."""
    width = max(1, width)
    for paragraph in clean(text.replace("\r\n", "\n")).split("\n"):
        paragraph = paragraph.expandtabs(4)
        if cell_len(paragraph) <= width:
            yield paragraph
        else:
            yield from _broken(paragraph, width)


def _broken(paragraph: str, width: int) -> Iterator[str]:
    """The lines of one paragraph, which is walked once: a message may be one paragraph of any length."""
    begin = cells = 0
    blank = cells_to_blank = 0  # where the last blank of this line ends, and how many cells lie before that
    for start, end, wide in graphemes(paragraph):
        is_blank = paragraph[start:end] == " "
        if cells + wide > width and start > begin:
            if is_blank or blank <= begin:
                cut, cells = start, 0
            else:
                cut, cells = blank, cells - cells_to_blank
            yield paragraph[begin:cut].rstrip()
            begin = cut
        if is_blank and start == begin > 0:
            begin = end  # a line does not begin with the blanks that it was broken at
            continue
        cells += wide
        if is_blank:
            blank, cells_to_blank = end, cells
    if begin < len(paragraph):
        yield paragraph[begin:]


def short_cid(cid: str) -> str:
    """The two ends of a CID, the ones people compare."""
    head = 6 if cid.startswith("Qm") else 7
    return cid if len(cid) <= head + 5 else f"{cid[:head]}…{cid[-4:]}"


def short_path(path: str, home: str, width: int) -> str:
    """A path with `~` for home, in at most `width` cells: cut at its beginning."""
    shown = clean_line("~" + path[len(home) :] if path == home or path.startswith(home.rstrip("/") + "/") else path)
    if cell_len(shown) <= width:
        return shown
    begin, room = len(shown), width - 1
    for start, _, wide in reversed(graphemes(shown)):
        room -= wide
        if room < 0:
            break
        begin = start
    return "…" + shown[begin:]


def size(number: float) -> str:
    """Bytes in decimal units with two or three digits: `96 B`, `1.2 kB`, `18 kB`, `4.8 MB`."""
    value, unit = float(number), 0
    while value >= 999.5 and unit < len(UNITS) - 1:
        value /= 1000
        unit += 1
    digits = 1 if unit and value < 9.95 else 0
    return f"{value:.{digits}f} {UNITS[unit]}"


def count(number: int) -> str:
    """Thousands set apart by commas."""
    return f"{number:,}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 pin`, `2 pins`, `1,204 pins`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def _seconds(milliseconds: int) -> float:
    """A time in seconds, within what calendars know in every time zone: others write these numbers."""
    return min(max(milliseconds, 0), LAST_MOMENT) / 1000


def _local(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(_seconds(milliseconds))


def age(then_ms: int, now: float) -> str:
    """How long ago, in at most six cells: `now`, `2 min`, `3 h`, `1 d`, `12 Oct`, `2024`."""
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


def duration(seconds: float) -> str:
    """`6 s`, `2 min`, `3 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * MINUTE:
        return f"{round(seconds / MINUTE)} min"
    return f"{round(seconds / HOUR)} h"
