"""The tables of `history.db`, and how a file is opened, created, migrated and checked."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pinui.disk import private_folder
from pinui.workspace.errors import HistoryError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = [
    "BUSY_SECONDS",
    "ID_BITS",
    "MAX_TIMESTAMP",
    "can_search",
    "explained",
    "open_database",
    "undone_if_refused",
    "writing",
]

APPLICATION_ID = 0x70696E75  # “pinu”
BUSY_SECONDS = 20.0

# An id is the row's time in milliseconds, followed by a counter: the order of ids is the order of time, which
# lets the search index hand out its newest rows first without sorting, and pages begin after a key.
ID_BITS = 20
MAX_TIMESTAMP = (1 << (63 - ID_BITS)) - 1

FIRST_TABLES = """
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    cid TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    size INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('json', 'file', 'message')),
    direction TEXT NOT NULL CHECK (direction IN ('sent', 'received')),
    profile TEXT NOT NULL,
    name TEXT,
    note TEXT,
    recipient TEXT,
    excerpt TEXT,
    verification TEXT
);
CREATE INDEX entries_by_cid ON entries (cid, profile, timestamp);
CREATE INDEX entries_by_recipient ON entries (recipient, id) WHERE recipient IS NOT NULL;
-- Whole documents stand apart, so that lists and filters never read them.
CREATE TABLE documents (
    entry_id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    data TEXT NOT NULL
);
-- Whether something is pinned belongs to a CID at a service, not to a row.
CREATE TABLE revocations (
    cid TEXT NOT NULL,
    profile TEXT NOT NULL,
    revoked_at INTEGER NOT NULL,
    PRIMARY KEY (cid, profile)
) WITHOUT ROWID;
"""

# The record's size counts the characters of JSON, as JavaScript does. People compare bytes.
BYTES = """
ALTER TABLE entries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE entries SET bytes = coalesce(
    (SELECT length(CAST(data AS BLOB)) FROM documents WHERE entry_id = entries.id), size
);
"""

# Rows of older files don't know whether they are folders.
FOLDERS = "ALTER TABLE entries ADD COLUMN is_folder INTEGER NOT NULL DEFAULT 0;"

# The path of an uploaded file, so that a revoked one can be stored again.
SOURCES = "ALTER TABLE entries ADD COLUMN source TEXT;"

MIGRATIONS = (FIRST_TABLES, BYTES, FOLDERS, SOURCES)
"""The script at index N takes a file from version N to N + 1; version 0 is an empty file. Never change one that was
released: add another."""
VERSION = len(MIGRATIONS)

SEARCH = """
DROP TABLE IF EXISTS search;
CREATE VIRTUAL TABLE search USING fts5 (
    cid, name, note, recipient, excerpt, content='entries', content_rowid='id', tokenize='trigram'
);
INSERT INTO search (search) VALUES ('rebuild');
CREATE TRIGGER search_insert AFTER INSERT ON entries BEGIN
    INSERT INTO search (rowid, cid, name, note, recipient, excerpt)
    VALUES (new.id, new.cid, new.name, new.note, new.recipient, new.excerpt);
END;
CREATE TRIGGER search_delete AFTER DELETE ON entries BEGIN
    INSERT INTO search (search, rowid, cid, name, note, recipient, excerpt)
    VALUES ('delete', old.id, old.cid, old.name, old.note, old.recipient, old.excerpt);
END;
CREATE TRIGGER search_update AFTER UPDATE OF cid, name, note, recipient, excerpt ON entries BEGIN
    INSERT INTO search (search, rowid, cid, name, note, recipient, excerpt)
    VALUES ('delete', old.id, old.cid, old.name, old.note, old.recipient, old.excerpt);
    INSERT INTO search (rowid, cid, name, note, recipient, excerpt)
    VALUES (new.id, new.cid, new.name, new.note, new.recipient, new.excerpt);
END;
"""
TRIGGERS = ("search_insert", "search_delete", "search_update")


def can_search() -> bool:
    """Whether this build of SQLite has the trigram index. Without it the filter is a LIKE over all rows."""
    if sqlite3.sqlite_version_info < (3, 34):
        return False
    with sqlite3.connect(":memory:") as memory:
        found = bool(memory.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()[0])
    memory.close()
    return found


def open_database(path: Path, *, searchable: bool) -> sqlite3.Connection:
    """Open the history, making it if there is none. The connection may be used on one thread at a time."""
    with explained(path):
        private_folder(path.parent)
        # The rollback journal inherits this mode. SQLite itself would make the file with the user's umask.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            ready = _is_ready(connection, path, searchable)
            # Not WAL: before SQLite 3.51.3, two processes that write can corrupt it (the WAL-reset bug).
            connection.execute("PRAGMA journal_mode = DELETE")
            if not ready:
                _make_ready(connection, path, searchable)
        except BaseException:
            connection.close()
            raise
        return connection


def _is_ready(connection: sqlite3.Connection, path: Path, searchable: bool) -> bool:
    """Whether the file is up to date. One transaction: another process may be creating the file right now."""
    connection.execute("BEGIN")
    try:
        return _version(connection, path) == VERSION and _has_triggers(connection) == searchable
    finally:
        connection.execute("ROLLBACK")


def _make_ready(connection: sqlite3.Connection, path: Path, searchable: bool) -> None:
    """Create or migrate the tables and the search index, all or nothing."""
    with writing(connection):
        version = _version(connection, path)  # again: another process may have done it meanwhile
        for script in MIGRATIONS[version:]:
            _run(connection, script)
        if version < VERSION:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        if searchable and not _has_triggers(connection):
            _run(connection, SEARCH)
        elif not searchable:
            # A build without the index can't insert with these triggers; a build with it rebuilds the index.
            for trigger in TRIGGERS:
                connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of the file, inside the caller's transaction; 0 for an empty one."""
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return 0
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise HistoryError(f"{path} is a database of another program.", hint="Move it away; nothing was changed.")
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise HistoryError(
            f"{path} was written by a newer pinui (its version is {version}, this one knows {VERSION}).",
            hint="Upgrade pinui; nothing was changed.",
        )
    return version


def _has_triggers(connection: sqlite3.Connection) -> bool:
    query = "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'search_%'"
    return connection.execute(query).fetchone()[0] == len(TRIGGERS)


def _run(connection: sqlite3.Connection, script: str) -> None:
    """`executescript` would commit the transaction it is in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


@contextmanager
def writing(connection: sqlite3.Connection) -> Generator[None]:
    """One transaction that has the write lock from its beginning: two that upgrade later would deadlock."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def undone_if_refused(connection: sqlite3.Connection) -> Generator[None]:
    """A part of a transaction. If it raises, its own changes are undone, and earlier ones stay."""
    connection.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk ends all of it
            connection.execute("ROLLBACK TO part")
        raise
    finally:
        if connection.in_transaction:
            connection.execute("RELEASE part")


@contextmanager
def explained(path: Path) -> Generator[None]:
    """Turn what SQLite and the OS say into a sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise HistoryError(f"Another program has held {path} for {BUSY_SECONDS:.0f} seconds.") from error
        if code == sqlite3.SQLITE_FULL:
            raise HistoryError(
                f"{path} cannot be written: the disk is full.", hint="Make room and try again."
            ) from error
        raise HistoryError(f"{path} cannot be used: {error}.") from error
    except sqlite3.DatabaseError as error:
        hint = "Move it away to begin a new one; `history import` brings rows back from an export."
        raise HistoryError(f"{path} is damaged or no history: {error}.", hint=hint) from error
    except OSError as error:
        raise HistoryError(f"{path} cannot be used: {error.strerror or error}.") from error
