"""Lines of a log, written by a thread of their own: logging never waits for a slow reader."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Full, Queue
from typing import BinaryIO, TextIO

__all__ = ["LineWriter"]

MOST_WAITING = 1000
LAST_LINES = 3.0


class LineWriter:
    """Writes to stderr or the like. An unread pipe, a stopped terminal or a full disk only cost lines."""

    def __init__(self, stream: TextIO, about_lost: Callable[[int], str]) -> None:
        """`about_lost` makes the line that reports a number of lost lines."""
        # Below Python's buffer, which would stay locked by a thread that is stuck: the process could not end then.
        self._file: BinaryIO = getattr(stream.buffer, "raw", stream.buffer)
        self._encoding = stream.encoding
        self._lines: Queue[str | None] = Queue(MOST_WAITING)
        self._about_lost = about_lost
        self._lost = 0
        self._putting = threading.Lock()
        self._thread = threading.Thread(target=self._write_all, name="pinui-node-log", daemon=True)
        self._thread.start()

    def put(self, line: str) -> None:
        """Have a line written soon; if too many wait already, it is lost, and the next one says so."""
        with self._putting:
            try:
                if self._lost:
                    self._lines.put_nowait(self._about_lost(self._lost))
                    self._lost = 0
                self._lines.put_nowait(line)
            except Full:
                self._lost += 1

    def close(self) -> None:
        """Write what waits, as far as that takes no longer than a moment."""
        until = time.monotonic() + LAST_LINES
        with suppress(Full):
            if self._lost:
                self._lines.put(self._about_lost(self._lost), timeout=LAST_LINES)
            self._lines.put(None, timeout=max(0.0, until - time.monotonic()))
        self._thread.join(max(0.0, until - time.monotonic()))

    def _write_all(self) -> None:
        while (line := self._lines.get()) is not None:
            rest = f"{line}\n".encode(self._encoding, "backslashreplace")
            with suppress(OSError):  # the reader has gone or the disk is full, which may pass
                while rest and (written := self._file.write(rest)):
                    rest = rest[written:]
