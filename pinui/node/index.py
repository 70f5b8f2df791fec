"""The node's index in SQLite: its pins, and the place of each block in their CARs.

Several processes may have the same index open, so it uses the rollback journal (WAL with two writers can corrupt
in SQLite before 3.51.3) and full syncing. Writes go through one connection, one at a time; each reading thread has
a connection of its own. A damaged index is replaced by another file (`recovery`), also by other processes: each use
looks whether its connection is still that of the file in place.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from pinui.node.errors import IndexLost, NewerIndex, is_damage
from pinui.node.keyvalues import Condition, as_text, matches
from pinui.node.lock import Patience

__all__ = [
    "Group",
    "Index",
    "Pin",
    "PinQuery",
    "Place",
    "cars_of",
    "id_of",
    "insert_group",
    "insert_job",
    "insert_pin",
    "make_index",
    "pin_of",
    "pin_with_id",
    "remove_group",
    "remove_job",
    "remove_pin",
    "update_group",
    "update_job",
    "update_pin",
]

VERSION = 3
GROUPS = """
CREATE TABLE groups (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    is_public INTEGER NOT NULL,
    created_at INTEGER NOT NULL
)"""
JOBS = """
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    job TEXT NOT NULL
)"""
UPGRADES = ("ALTER TABLE pins ADD COLUMN group_id TEXT", GROUPS), (JOBS,)
"""The migrations from each version to the next, the first from version 1."""
SCHEMA = f"""
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
    car TEXT,
    group_id TEXT
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
CREATE INDEX blocks_of_pins ON blocks (pin);{GROUPS};{JOBS};
"""
COLUMNS = "id, cid, size, files, name, keyvalues, mime_type, pinned_at, unpinned_at, car, group_id"
PINNED = f"SELECT {COLUMNS} FROM pins WHERE cid = ? AND unpinned_at IS NULL"  # noqa: S608  our own names
PINNED_ID = f"SELECT {COLUMNS} FROM pins WHERE id = ? AND unpinned_at IS NULL"  # noqa: S608  our own names
BEFORE = "(pinned_at, number) < (SELECT pinned_at, number FROM pins WHERE id = ?)"
AFTER = BEFORE.replace("<", ">")
GROUP_COLUMNS = "id, name, is_public, created_at"
GROUP_ID = f"SELECT {GROUP_COLUMNS} FROM groups WHERE id = ?"  # noqa: S608  our own names


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
    group: str | None = None
    """The id of the group that it belongs to."""


@dataclass(frozen=True, slots=True)
class Group:
    """A named group of pins."""

    id: str
    name: str
    is_public: bool
    created_at: int


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a block: its CAR, offset and length."""

    car: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class PinQuery:
    """The query of a listing."""

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
    unpinned_start: int | None = None
    unpinned_end: int | None = None
    mime_type: str | None = None
    group: str | None = None
    """The id of a group; empty for pins in no group, None for any."""
    keyvalues: tuple[Condition, ...] = ()
    after: str | None = None
    """The id of the last pin of the page before."""
    ascending: bool = False

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
            ("unpinned_at >= ?", self.unpinned_start),
            ("unpinned_at <= ?", self.unpinned_end),
            ("mime_type = ?", self.mime_type),
            ("coalesce(group_id, '') = ?", self.group),
            ("matches(keyvalues, ?)", as_text(self.keyvalues) if self.keyvalues else None),
            (AFTER if self.ascending else BEFORE, self.after),
        ):
            if value is not None:
                terms.append(term)
                values.append(value)
        return " AND ".join(terms), values


@dataclass(frozen=True, slots=True)
class _Connection:
    """A connection, and which file it belongs to."""

    sqlite: sqlite3.Connection
    file: tuple[int, int]


class Index:
    """The index of one data folder."""

    def __init__(self, path: Path, patience: Patience) -> None:
        """Open an index: `IndexLost` if there is none, `NewerIndex` if this program is too old for it."""
        self._path = path
        self._patience = patience
        self._lock = threading.Lock()
        self._local = threading.local()
        self._readers: list[_Connection] = []
        self._writer = self._connect()

    @property
    def file(self) -> tuple[int, int] | None:
        """The identity of the index file: it changes when the index is rebuilt; None without a file."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """One transaction that no other process can write beside; undone if the block raises."""
        with self._lock:
            if self._writer.file != self.file:
                old, self._writer = self._writer, self._connect()
                old.sqlite.close()
            connection = self._writer.sqlite
            self._patience.until(lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                _check_version(connection, self._path)
                yield connection
                self._patience.until(lambda: connection.execute("COMMIT"))
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def is_sound(self) -> bool:
        """Whether every page can be read; 200 MB take about a second."""
        try:
            return self._rows("PRAGMA quick_check(1)") == [("ok",)]
        except Exception as error:
            if not is_damage(error):
                raise
            return False

    def pinned(self, cid: str) -> Pin | None:
        """The pin of a CID, if it is pinned."""
        return next(map(_pin, self._rows(PINNED, (cid,))), None)

    def find(self, digest: bytes, *, besides: str = "") -> Place | None:
        """The place of a block, from any pin; `besides` is a CAR that is missing."""
        rows = self._rows(
            "SELECT car, offset, length FROM blocks JOIN pins ON number = pin WHERE digest = ? AND car <> ? LIMIT 1",
            (digest, besides),
        )
        return Place(*rows[0]) if rows else None

    def with_id(self, id_: str) -> Pin | None:
        """The pin with an id, if it is pinned."""
        return next(map(_pin, self._rows(PINNED_ID, (id_,))), None)

    def group(self, id_: str) -> Group | None:
        """The group with an id."""
        return next(map(_group, self._rows(GROUP_ID, (id_,))), None)

    def groups(self, name: str, limit: int, after: str | None, *, is_public: bool | None = None) -> list[Group]:
        """One page of groups whose name contains a text, newest first; `after` is the last id of the page before."""
        rows = self._rows(
            f"SELECT {GROUP_COLUMNS} FROM groups WHERE instr(casefold(name), casefold(?)) "  # noqa: S608  our own names
            "AND is_public = coalesce(?, is_public) "
            "AND (? IS NULL OR number < (SELECT number FROM groups WHERE id = ?)) ORDER BY number DESC LIMIT ?",
            (name, is_public, after, after, limit),
        )
        return [_group(row) for row in rows]

    def jobs(self) -> list[tuple[str, str]]:
        """The requests to pin by CID, oldest first: the process that each belongs to, and its text."""
        return self._rows("SELECT owner, job FROM jobs ORDER BY number")

    def list(self, query: PinQuery) -> list[Pin]:
        """One page of pins, newest first unless the query says otherwise."""
        where, values = query.where()
        order = "ASC" if query.ascending else "DESC"
        rows = self._rows(
            f"SELECT {COLUMNS} FROM pins WHERE {where} "  # noqa: S608  our own names, values apart
            f"ORDER BY pinned_at {order}, number {order} LIMIT ? OFFSET ?",
            (*values, query.limit, query.offset),
        )
        return [_pin(row) for row in rows]

    def count(self, query: PinQuery) -> int:
        """The total number of pins in a listing."""
        where, values = query.where()
        return self._rows(f"SELECT count(*) FROM pins WHERE {where}", values)[0][0]  # noqa: S608  as above

    def totals(self) -> tuple[int, int]:
        """The number of pins and their total size."""
        return self._rows("SELECT count(*), coalesce(sum(size), 0) FROM pins WHERE unpinned_at IS NULL")[0]

    def close(self) -> None:
        """Close every connection; no thread may be using the index any more."""
        for connection in (self._writer, *self._readers):
            connection.sqlite.close()

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is None or connection.file != self.file:
            fresh = self._connect()
            if connection is not None:
                self._readers.remove(connection)
                connection.sqlite.close()
            connection = self._local.connection = fresh
            self._readers.append(connection)
        sqlite = connection.sqlite
        return self._patience.until(lambda: sqlite.execute(statement, values).fetchall())

    def _connect(self) -> _Connection:
        file = self.file
        if file is None:
            raise IndexLost(f"{self._path} is gone")
        sqlite = _open(self._path, self._patience)
        try:
            self._patience.until(lambda: _upgrade(sqlite))
            self._patience.until(lambda: _check_version(sqlite, self._path))
        except BaseException:
            sqlite.close()
            raise
        return _Connection(sqlite, file)


def make_index(path: Path, fill: Callable[[sqlite3.Connection], None], patience: Patience) -> None:
    """Make an index that `fill` fills, in one transaction."""
    # SQLite itself would make the file, and its journal like it, with the rights that the umask leaves.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection = _open(path, patience)
    try:
        connection.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
        fill(connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        connection.close()


def insert_pin(connection: sqlite3.Connection, pin: Pin, places: dict[bytes, tuple[int, int]]) -> None:
    """Put a pin and its blocks in, within a transaction."""
    keyvalues = None if pin.keyvalues is None else json.dumps(pin.keyvalues)
    values = (pin.id, pin.cid, pin.size, pin.files, pin.name, keyvalues, pin.mime_type, pin.pinned_at)
    cursor = connection.execute(
        f"INSERT INTO pins ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)",  # noqa: S608  our own names
        (*values, pin.car, pin.group),
    )
    connection.executemany(
        "INSERT INTO blocks VALUES (?, ?, ?, ?)",
        ((digest, cursor.lastrowid, offset, length) for digest, (offset, length) in places.items()),
    )


def remove_pin(connection: sqlite3.Connection, cid: str, now: int) -> Pin | None:
    """Remove a pin, within a transaction, and return it, or None. The row stays as an unpinned one."""
    pin = pin_of(connection, cid)
    if pin is not None:
        connection.execute("DELETE FROM blocks WHERE pin = (SELECT number FROM pins WHERE id = ?)", (pin.id,))
        connection.execute("UPDATE pins SET unpinned_at = ?, car = NULL WHERE id = ?", (now, pin.id))
    return pin


def pin_of(connection: sqlite3.Connection, cid: str) -> Pin | None:
    """The pin of a CID, within a transaction."""
    return next(map(_pin, connection.execute(PINNED, (cid,)).fetchall()), None)


def pin_with_id(connection: sqlite3.Connection, id_: str) -> Pin | None:
    """The pin with an id, within a transaction."""
    return next(map(_pin, connection.execute(PINNED_ID, (id_,)).fetchall()), None)


def update_pin(connection: sqlite3.Connection, pin: Pin) -> None:
    """Write the name, the keyvalues and the group of a pin, within a transaction."""
    keyvalues = None if pin.keyvalues is None else json.dumps(pin.keyvalues)
    connection.execute(
        "UPDATE pins SET name = ?, keyvalues = ?, group_id = ? WHERE id = ?", (pin.name, keyvalues, pin.group, pin.id)
    )


def insert_group(connection: sqlite3.Connection, group: Group) -> None:
    """Add a group, within a transaction."""
    connection.execute(
        f"INSERT INTO groups ({GROUP_COLUMNS}) VALUES (?, ?, ?, ?)",  # noqa: S608  our own names
        (group.id, group.name, group.is_public, group.created_at),
    )


def update_group(connection: sqlite3.Connection, group: Group) -> None:
    """Write the name of a group and whether it is public, within a transaction."""
    connection.execute(
        "UPDATE groups SET name = ?, is_public = ? WHERE id = ?", (group.name, group.is_public, group.id)
    )


def remove_group(connection: sqlite3.Connection, id_: str) -> bool:
    """Remove a group, within a transaction; its pins stay. False if there is none."""
    connection.execute("UPDATE pins SET group_id = NULL WHERE group_id = ?", (id_,))
    return connection.execute("DELETE FROM groups WHERE id = ?", (id_,)).rowcount > 0


def insert_job(connection: sqlite3.Connection, id_: str, owner: str, job: str) -> None:
    """Add a request to pin by CID, within a transaction."""
    connection.execute("INSERT INTO jobs (id, owner, job) VALUES (?, ?, ?)", (id_, owner, job))


def update_job(connection: sqlite3.Connection, id_: str, owner: str, job: str) -> None:
    """Write a request to pin by CID again, within a transaction, unless it was removed."""
    connection.execute("UPDATE jobs SET owner = ?, job = ? WHERE id = ?", (owner, job, id_))


def remove_job(connection: sqlite3.Connection, id_: str) -> bool:
    """Remove a request to pin by CID, within a transaction; False if there is none."""
    return connection.execute("DELETE FROM jobs WHERE id = ?", (id_,)).rowcount > 0


def id_of(car: str) -> str:
    """The id of the pin in a CAR: a rebuilt index gives it the same one."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"pinui:{car}"))


def cars_of(connection: sqlite3.Connection) -> set[str]:
    """The CARs that belong to pins."""
    return {row[0] for row in connection.execute("SELECT car FROM pins WHERE car IS NOT NULL")}


def _open(path: Path, patience: Patience) -> sqlite3.Connection:
    # `rw`: SQLite would make a missing file. No time-out: `Patience` waits, and notices when the node stops.
    address = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        patience.until(lambda: connection.execute("PRAGMA journal_mode = TRUNCATE"))
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -256")  # KiB, for each thread; the system keeps the file in memory, too
        connection.text_factory = _text
        # SQLite's own lower() knows no letters beyond ASCII.
        connection.create_function("casefold", 1, _casefold, deterministic=True)
        connection.create_function("matches", 2, matches, deterministic=True)
    except BaseException:
        connection.close()
        raise
    return connection


def _upgrade(connection: sqlite3.Connection) -> None:
    """Turn an older index into one of today; other processes may do the same at the same time."""
    if not 0 < _version(connection) < VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if version := _version(connection):
            for statement in chain.from_iterable(UPGRADES[version - 1 :]):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {max(version, VERSION)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection)
    if version > VERSION:
        raise NewerIndex(
            f"{path} was written by a newer pinui (its version is {version}, this one knows {VERSION}). "
            "Upgrade pinui; nothing was changed."
        )
    if version < VERSION:
        raise IndexLost(f"{path} was never finished")


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise IndexLost("a text in it is not UTF-8") from error


def _casefold(text: str | None) -> str | None:
    return None if text is None else text.casefold()


def _pin(row: Any) -> Pin:
    id_, cid, size, files, name, keyvalues, *rest = row
    try:
        return Pin(id_, cid, size, files, name, None if keyvalues is None else json.loads(keyvalues), *rest)
    except ValueError as error:
        raise IndexLost("the keyvalues of a pin are not JSON") from error


def _group(row: Any) -> Group:
    id_, name, is_public, created_at = row
    return Group(id_, name, bool(is_public), created_at)
