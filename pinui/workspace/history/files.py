"""Exporting the history to a file of JSON lines and importing one, some lines at a time.

Some at a time, because a reader that stays in one transaction would keep other processes from writing.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from pinui.disk import NewFile
from pinui.workspace.errors import HistoryError
from pinui.workspace.history.lines import MAX_LINE, BadLine, add_line, entry_line, parse_line
from pinui.workspace.history.schema import explained, undone_if_refused, writing
from pinui.workspace.models import ImportReport
from pinui.workspace.rows import Entry, Query

if TYPE_CHECKING:
    from pathlib import Path

    from pinui.workspace.history.store import HistoryFile

__all__ = ["LineReader", "LineWriter"]

LINES = 500


class LineWriter:
    """Writes the rows of a query, oldest first. A file appears when it is complete; a stream gets lines at once."""

    def __init__(self, target: Path | IO[bytes], query: Query | None = None) -> None:
        self._query = replace(query or Query(), sort="oldest")
        self._stream = None if isinstance(target, os.PathLike) else target
        self._path = target if isinstance(target, os.PathLike) else None
        self._new: NewFile | None = None
        self._last: Entry | None = None
        self._count = 0

    def write_some(self, history: HistoryFile) -> bool:
        """Write the next lines; False when there were none left."""
        entries = history.page(self._query, after=self._last, limit=LINES)
        try:
            stream = self._open()
            for entry in entries:
                stream.write(entry_line(entry, history.document(entry.id)).encode("utf-8") + b"\n")
        except OSError as error:
            raise self._explained(error) from error
        self._count += len(entries)
        self._last = entries[-1] if entries else self._last
        return len(entries) == LINES

    def finish(self, _history: HistoryFile) -> int:
        """Put the file in its place and return the number of lines."""
        try:
            self._open().flush()
            if self._new is not None:
                self._new.commit()
                self._new = None
        except OSError as error:
            raise self._explained(error) from error
        return self._count

    def abandon(self, _history: HistoryFile) -> None:
        """Remove an unfinished file."""
        if self._new is not None:
            self._new.discard()
            self._new = None

    def _open(self) -> IO[bytes]:
        if self._stream is None:
            if self._path is None:  # a path or a stream was given
                raise AssertionError
            self._new = NewFile(self._path, mode=0o600)
            self._stream = self._new.file
        return self._stream

    def _explained(self, error: OSError) -> Exception:
        if self._path is None:
            return error  # a closed pipe is for whoever opened it
        return HistoryError(f"{self._path} cannot be written: {error.strerror or error}.")


class LineReader:
    """Imports a file of JSON lines. What is bad is noted with its line number, the rest is added."""

    def __init__(self, source: Path | IO[bytes], *, profile: str) -> None:
        self._path = source if isinstance(source, os.PathLike) else None
        self._stream = None if isinstance(source, os.PathLike) else source
        self._profile = profile
        self._number = 0
        self._added = 0
        self._unchanged = 0
        self._bad: list[tuple[int, str]] = []

    @property
    def report(self) -> ImportReport:
        """What was done so far."""
        return ImportReport(self._added, self._unchanged, list(self._bad))

    def read_some(self, history: HistoryFile) -> bool:
        """Read the next lines and add them in one transaction; False at the end."""
        found: list[tuple[int, Entry, str | None]] = []
        try:
            more = self._read(found)
        except OSError as error:
            raise HistoryError(f"{self._path} cannot be read: {error.strerror or error}.") from error
        added, refused = 0, list[tuple[int, str]]()
        with explained(history.path), writing(history.connection):
            for number, entry, data in found:
                try:
                    with undone_if_refused(history.connection):
                        added += add_line(history, entry, data)
                except (HistoryError, UnicodeEncodeError) as error:
                    refused.append((number, f"{str(error)[:1].lower()}{str(error)[1:]}".rstrip(".")))
        self._bad = sorted(self._bad + refused)
        self._added += added
        self._unchanged += len(found) - len(refused) - added
        return more

    def close(self, _history: HistoryFile | None = None) -> None:
        """Close the file, if it was opened here."""
        if self._path is not None and self._stream is not None:
            self._stream.close()

    def _read(self, found: list[tuple[int, Entry, str | None]]) -> bool:
        if self._stream is None:
            if self._path is None:  # a path or a stream was given
                raise AssertionError
            self._stream = open(self._path, "rb")  # noqa: SIM115 – open across calls
        size = 0
        while len(found) < LINES and size < MAX_LINE:
            line = self._stream.readline(MAX_LINE + 1)
            if not line:
                return False
            self._number += 1
            size += len(line)
            if len(line) > MAX_LINE:
                self._bad.append((self._number, "it is longer than 64 MiB"))
                while line and not line.endswith(b"\n"):
                    line = self._stream.readline(MAX_LINE)
            elif line.strip():
                try:
                    found.append((self._number, *parse_line(line, profile=self._profile)))
                except BadLine as error:
                    self._bad.append((self._number, str(error)))
        return True
