"""The node's index in SQLite: which pins there are, and where in their CARs each block lies.

Several processes may have the same index open, so it uses the rollback journal (WAL with two writers can corrupt
in SQLite before 3.51.3) and full syncing. Writes go through one connection, one at a time; each reading thread has
a connection of its own.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["Index", "Pin", "PinQuery", "Place"]

BUSY_SECONDS = 30.0
VERSION = 1
SCHEMA = """
CREATE TABLE pins (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    cid TEXT NOT NULL,
    size INTEGER NOT NULL,
    files INTEGER NOT NULL,
    name TEXT,
    keyvalues TEXT,
    mime_type TEXT,
    pinned_at INTEGER NOT NULL,
    unpinned_at INTEGER,
    car TEXT
);
CREATE UNIQUE INDEX pinned_cids ON pins (cid) WHERE unpinned_at IS NULL;
CREATE INDEX pins_by_date ON pins (pinned_at, number);
CREATE TABLE blocks (
    digest BLOB NOT NULL,
    pin INTEGER NOT NULL REFERENCES pins (number),
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (digest, pin)
) WITHOUT ROWID;
CREATE INDEX blocks_of_pins ON blocks (pin);
"""
COLUMNS = "id, cid, size, files, name, keyvalues, mime_type, pinned_at, unpinned_at, car"


@dataclass(frozen=True, slots=True)
class Pin:
    """One pin, now or in the past (then without a CAR). Times are milliseconds since 1970."""

    id: str
    cid: str
    size: int
    files: int
    name: str | None
    keyvalues: dict[str, Any] | None
    mime_type: str | None
    pinned_at: int
    unpinned_at: int | None
    car: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block lies: in which CAR, from where, how long."""

    car: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class PinQuery:
    """What a listing asks for."""

    status: Literal["all", "pinned", "unpinned"] = "all"
    limit: int = 10
    offset: int = 0
    cids: tuple[str, ...] = ()
    """Spellings of one CID; none for any."""
    cid_contains: str | None = None
    name: str | None = None
    start: int | None = None
    end: int | None = None
    smallest: int | None = None
    largest: int | None = None

    def where(self) -> tuple[str, list[Any]]:
        """The condition in SQL and its values."""
        terms: list[str] = ["1"]
        values: list[Any] = []
        if self.status != "all":
            terms.append(f"unpinned_at IS {'NOT ' if self.status == 'unpinned' else ''}NULL")
        if self.cids:
            terms.append(f"cid IN ({', '.join('?' * len(self.cids))})")
            values.extend(self.cids)
        for term, value in (
            ("instr(cid, ?)", self.cid_contains),
            ("instr(casefold(name), casefold(?))", self.name),
            ("pinned_at >= ?", self.start),
            ("pinned_at <= ?", self.end),
            ("size >= ?", self.smallest),
            ("size <= ?", self.largest),
        ):
            if value is not None:
                terms.append(term)
                values.append(value)
        return " AND ".join(terms), values


class Index:
    """The index of one data folder."""

    def __init__(self, path: Path, fill: Callable[[Index, sqlite3.Connection], None]) -> None:
        """Open or make it; a new one is filled by `fill`, in the transaction that makes it."""
        self._path = path
        self._lock = threading.Lock()
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._writer = self._connect()
        try:
            with self.writing() as connection:
                if connection.execute("PRAGMA user_version").fetchone()[0] < VERSION:
                    for statement in SCHEMA.split(";"):
                        connection.execute(statement)
                    fill(self, connection)
                    connection.execute(f"PRAGMA user_version = {VERSION}")
        except BaseException:
            self._writer.close()
            raise

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """One transaction that no other process can write beside; undone if the block raises."""
        with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def is_sound(self) -> bool:
        """Whether every page can be read; takes a second for each gigabyte or so of index."""
        try:
            return self._writer.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        except sqlite3.DatabaseError:
            return False

    def insert(self, connection: sqlite3.Connection, pin: Pin, places: dict[bytes, tuple[int, int]]) -> None:
        """Put a pin and its blocks in, within `writing`."""
        keyvalues = None if pin.keyvalues is None else json.dumps(pin.keyvalues)
        values = (pin.id, pin.cid, pin.size, pin.files, pin.name, keyvalues, pin.mime_type, pin.pinned_at)
        cursor = connection.execute(
            f"INSERT INTO pins ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)",  # noqa: S608  our own names
            (*values, pin.car),
        )
        connection.executemany(
            "INSERT INTO blocks VALUES (?, ?, ?, ?)",
            ((digest, cursor.lastrowid, offset, length) for digest, (offset, length) in places.items()),
        )

    def remove(self, connection: sqlite3.Connection, cid: str, now: int) -> Pin | None:
        """Take a pin out, within `writing`; what it was, or None. The row stays, as one that was pinned once."""
        pin = self._pinned(connection, cid)
        if pin is not None:
            connection.execute("DELETE FROM blocks WHERE pin = (SELECT number FROM pins WHERE id = ?)", (pin.id,))
            connection.execute("UPDATE pins SET unpinned_at = ?, car = NULL WHERE id = ?", (now, pin.id))
        return pin

    def _pinned(self, connection: sqlite3.Connection, cid: str) -> Pin | None:
        found = connection.execute(
            f"SELECT {COLUMNS} FROM pins WHERE cid = ? AND unpinned_at IS NULL",  # noqa: S608  our own names
            (cid,),
        ).fetchone()
        return None if found is None else _pin(found)

    def pinned(self, cid: str, connection: sqlite3.Connection | None = None) -> Pin | None:
        """The pin of a CID, if it is pinned."""
        return self._pinned(connection or self._reader(), cid)

    def find(self, digest: bytes, *, besides: str = "") -> Place | None:
        """Where a block lies, whichever pin brought it; `besides` is a CAR that is not there."""
        found = self._reader().execute(
            "SELECT car, offset, length FROM blocks JOIN pins ON number = pin WHERE digest = ? AND car <> ? LIMIT 1",
            (digest, besides),
        )
        row = found.fetchone()
        return None if row is None else Place(*row)

    def cars(self, connection: sqlite3.Connection) -> set[str]:
        """The CARs that belong to pins."""
        return {row[0] for row in connection.execute("SELECT car FROM pins WHERE car IS NOT NULL")}

    def list(self, query: PinQuery) -> list[Pin]:
        """One page of pins, newest first."""
        where, values = query.where()
        rows = self._reader().execute(
            f"SELECT {COLUMNS} FROM pins WHERE {where} "  # noqa: S608  our own names, values apart
            "ORDER BY pinned_at DESC, number DESC LIMIT ? OFFSET ?",
            (*values, query.limit, query.offset),
        )
        return [_pin(row) for row in rows]

    def count(self, query: PinQuery) -> int:
        """How many pins a listing has in all."""
        where, values = query.where()
        statement = f"SELECT count(*) FROM pins WHERE {where}"  # noqa: S608  our own names, values apart
        return self._reader().execute(statement, values).fetchone()[0]

    def totals(self) -> tuple[int, int]:
        """How many pins there are and what they hold."""
        row = self._reader().execute("SELECT count(*), coalesce(sum(size), 0) FROM pins WHERE unpinned_at IS NULL")
        return row.fetchone()

    def close(self) -> None:
        """Close every connection; no thread may be using the index any more."""
        for connection in (self._writer, *self._readers):
            connection.close()

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
            self._readers.append(connection)
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = TRUNCATE")
        connection.execute("PRAGMA synchronous = FULL")
        # SQLite's own lower() knows no letters beyond ASCII.
        connection.create_function("casefold", 1, _casefold, deterministic=True)
        return connection


def _casefold(text: str | None) -> str | None:
    return None if text is None else text.casefold()


def _pin(row: Any) -> Pin:
    id_, cid, size, files, name, keyvalues, *rest = row
    return Pin(id_, cid, size, files, name, None if keyvalues is None else json.loads(keyvalues), *rest)
