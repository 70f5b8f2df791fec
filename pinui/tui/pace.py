"""The pace of keys: a person presses them one by one, stray text arrives in one piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual import events
from textual.message import Message

__all__ = ["BREAK", "QUIET", "Pace", "Piece", "Press"]

BREAK = 0.05
"""The pause in seconds that separates two keys. Keys of one piece of text are a few milliseconds apart."""
QUIET = 0.5
"""Seconds without a key before a question about something that can't be undone takes its answer."""


@dataclass(slots=True)
class Piece:
    """Keys that arrived without a pause, and the time of the last one."""

    last: float
    keys: int = 1


@dataclass(frozen=True, slots=True)
class Press:
    """One key: its time, the time of the key before it, and its piece, which may still grow."""

    at: float
    before: float
    piece: Piece


class Pace:
    """Notes each key when it arrives, however long it has to wait before it is handled."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.last = Press(float("-inf"), float("-inf"), Piece(float("-inf"), 0))

    def note(self, event: events.Event) -> Press:
        """A key or a paste. Its own time counts: a busy app reads keys late, and text would look like single keys.

        Pasted text starts a new piece: the key after it is not part of that text.
        """
        at, before = self.now() - (Message().time - event.time), self.last
        piece = before.piece
        if isinstance(event, events.Paste):
            piece = Piece(at, 0)
        elif at - piece.last < BREAK:
            piece.last, piece.keys = at, piece.keys + 1
        else:
            piece = Piece(at)
        self.last = Press(at, before.at, piece)
        return self.last
