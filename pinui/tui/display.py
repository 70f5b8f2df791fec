"""Text cut, padded and wrapped to a number of cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from rich.cells import cell_len, split_graphemes

from pinui.workspace.text import clean, clean_line

__all__ = [
    "first_lines",
    "fit",
    "graphemes",
    "joined",
    "right",
    "short_path",
    "wrapped",
]


JOINED = re.compile("[\u200d\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\U000e007f]")
"""A sign that several characters are drawn as one emoji."""
FLAG_LETTERS = ("\U0001f1e6", "\U0001f1ff")
"""The first and the last of the letters that are a flag in pairs."""


def graphemes(text: str) -> list[tuple[int, int, int]]:
    """The characters as a reader counts them (a flag is one): the start, end and cells of each."""
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
    """The start and end of each emoji that is made of several characters."""
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
    """The beginning of the text that fits into `width` cells."""
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


def first_lines(text: str, width: int, most: int) -> list[str]:
    """The first wrapped lines. The last one ends with an ellipsis if there are more."""
    lines = list(islice(wrapped(text, width), most + 1))
    if len(lines) > most:
        lines[most - 1 :] = [fit(" ".join(lines[most - 1 :]), width).rstrip()]
    return lines


def _broken(paragraph: str, width: int) -> Iterator[str]:
    """The lines of one paragraph. It is walked once: a message may be one paragraph of any length."""
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
