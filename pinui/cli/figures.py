"""Text cut to the columns of a terminal."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

__all__ = ["fitted", "width_of"]


def width_of(text: str) -> int:
    """The columns that a line of clean text takes on a terminal."""
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
