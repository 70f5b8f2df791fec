"""The tables of `history.db`, and how a file is opened, created, migrated and checked."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import TYPE_CHECKING

from pinui.workspace import database
from pinui.workspace.database import Layout, connect, run_script, writing
from pinui.workspace.errors import HistoryError
from pinui.workspace.filters import folded
from pinui.workspace.history.pinned import both_versions

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = [
    "BEGINNING",
    "ID_BITS",
    "LAYOUT",
    "MAX_TIMESTAMP",
    "TITLE_LENGTH",
    "can_search",
    "explained",
    "open_database",
    "title_key",
    "undone_if_refused",
    "writing",
]

CACHE_KIB = 1024
"""The cache of each thread that uses the file. With a million rows, nothing is quicker with more."""
UNWRITTEN = 4000
"""Changed pages (of 4 KiB) that a transaction keeps in memory until it ends. From the first one that is written before,
nobody can read."""

# An id is the row's time in milliseconds, followed by a counter: the order of ids is the order of time, which
# lets the search index hand out its newest rows first without sorting, and pages begin after a key. The highest bit of
# the counter is `UNDATED`.
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

# Pins beside records: one row of each content and profile stands for the pin (`standing`, see `Standing`), and a pin
# that another program made is a row without a record. Each sort order of the pins is an index, so that a page of a
# million rows is a short walk; triggers keep the totals, so that nobody has to count.
PINS = """
ALTER TABLE entries ADD COLUMN service_name TEXT;
ALTER TABLE entries ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN recorded INTEGER NOT NULL DEFAULT 1;
ALTER TABLE entries ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER IF EXISTS search_insert;
DROP TRIGGER IF EXISTS search_delete;
DROP TRIGGER IF EXISTS search_update;
UPDATE entries SET standing = 1 WHERE id IN (
    SELECT max(id) FROM entries WHERE direction = 'sent' GROUP BY profile, content_of(cid)
);
UPDATE entries SET standing = 4 WHERE standing = 1 AND EXISTS (
    SELECT 1 FROM revocations AS r WHERE r.cid = entries.cid AND r.profile = entries.profile
);
CREATE INDEX pins_by_age ON entries (profile) WHERE standing > 0;
CREATE INDEX pins_revoked ON entries (profile) WHERE standing = 4;
CREATE INDEX pins_by_size ON entries (profile, bytes) WHERE standing > 0;
CREATE INDEX pins_by_title ON entries (
    profile, substr(coalesce(name, note, excerpt, service_name, cid), 1, 40) COLLATE NOCASE
) WHERE standing > 0;
CREATE INDEX records_by_age ON entries (recorded) WHERE recorded = 1;
CREATE INDEX entries_by_ending ON entries (
    substr(cid, -1, 1) || substr(cid, -2, 1) || substr(cid, -3, 1) || substr(cid, -4, 1)
    || substr(cid, -5, 1) || substr(cid, -6, 1) || substr(cid, -7, 1) || substr(cid, -8, 1)
);
CREATE TABLE totals (
    profile TEXT NOT NULL,
    standing INTEGER NOT NULL,
    pins INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (profile, standing)
) WITHOUT ROWID;
INSERT INTO totals SELECT profile, standing, count(*), sum(bytes) FROM entries WHERE standing > 0 GROUP BY 1, 2;
CREATE TRIGGER totals_insert AFTER INSERT ON entries WHEN new.standing > 0 BEGIN
    INSERT INTO totals VALUES (new.profile, new.standing, 1, new.bytes)
    ON CONFLICT DO UPDATE SET pins = pins + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER totals_delete AFTER DELETE ON entries WHEN old.standing > 0 BEGIN
    UPDATE totals SET pins = pins - 1, bytes = bytes - old.bytes
    WHERE profile = old.profile AND standing = old.standing;
END;
CREATE TRIGGER totals_update AFTER UPDATE OF standing, bytes ON entries
WHEN old.standing IS NOT new.standing OR old.bytes IS NOT new.bytes BEGIN
    UPDATE totals SET pins = pins - 1, bytes = bytes - old.bytes
    WHERE profile = old.profile AND standing = old.standing;
    INSERT INTO totals SELECT new.profile, new.standing, 1, new.bytes WHERE new.standing > 0
    ON CONFLICT DO UPDATE SET pins = pins + 1, bytes = bytes + excluded.bytes;
END;
-- What is known of a profile's account at the service, and how far the run is that reads it.
CREATE TABLE accounts (
    profile TEXT PRIMARY KEY,
    identity TEXT NOT NULL,
    run INTEGER NOT NULL DEFAULT 0,
    is_full INTEGER NOT NULL DEFAULT 1,
    position INTEGER,
    newest INTEGER,
    newest_in_run INTEGER,
    uncounted INTEGER NOT NULL DEFAULT 0,
    begun_at INTEGER,
    mirrored_at INTEGER,
    checked_at INTEGER
) WITHOUT ROWID;
"""

# Filters such as kind:json on:account find their pins in an index.
STATES = """
DROP INDEX pins_revoked;
CREATE INDEX pins_by_state ON entries (profile, standing, kind, is_folder, recorded, verification);
"""

# A CID is found by its ending, an index a quarter as large as one of whole CIDs. Rows that are inserted together are
# added to the totals together.
ENDINGS = """
DROP INDEX entries_by_cid;
DROP TRIGGER totals_insert;
CREATE TRIGGER totals_insert AFTER INSERT ON entries WHEN new.standing > 0 AND NOT in_bulk() BEGIN
    INSERT INTO totals VALUES (new.profile, new.standing, 1, new.bytes)
    ON CONFLICT DO UPDATE SET pins = pins + 1, bytes = bytes + excluded.bytes;
END;
"""

# A size of -1 is unknown. Rows of the mirror that took an unknown size for 0 and an unknown date for the present are
# read again.
UNKNOWNS = """
DROP TRIGGER IF EXISTS totals_insert;
DROP TRIGGER IF EXISTS totals_delete;
DROP TRIGGER IF EXISTS totals_update;
DROP TABLE totals;
DELETE FROM entries WHERE recorded = 0 AND standing IN (2, 3) AND name IS NULL AND note IS NULL;
UPDATE entries SET bytes = -1 WHERE recorded = 0 AND bytes = 0;
UPDATE entries SET standing = 1, run = 0, service_name = NULL WHERE standing IN (2, 3);
DELETE FROM accounts;
CREATE TABLE totals (
    profile TEXT NOT NULL,
    standing INTEGER NOT NULL,
    pins INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    unsized INTEGER NOT NULL,
    PRIMARY KEY (profile, standing)
) WITHOUT ROWID;
INSERT INTO totals SELECT profile, standing, count(*), sum(max(bytes, 0)), sum(bytes < 0)
FROM entries WHERE standing > 0 GROUP BY 1, 2;
CREATE TRIGGER totals_insert AFTER INSERT ON entries WHEN new.standing > 0 AND NOT in_bulk() BEGIN
    INSERT INTO totals VALUES (new.profile, new.standing, 1, max(new.bytes, 0), new.bytes < 0)
    ON CONFLICT DO UPDATE SET pins = pins + 1, bytes = bytes + excluded.bytes, unsized = unsized + excluded.unsized;
END;
CREATE TRIGGER totals_delete AFTER DELETE ON entries WHEN old.standing > 0 BEGIN
    UPDATE totals SET pins = pins - 1, bytes = bytes - max(old.bytes, 0), unsized = unsized - (old.bytes < 0)
    WHERE profile = old.profile AND standing = old.standing;
END;
CREATE TRIGGER totals_update AFTER UPDATE OF standing, bytes ON entries
WHEN old.standing IS NOT new.standing OR old.bytes IS NOT new.bytes BEGIN
    UPDATE totals SET pins = pins - 1, bytes = bytes - max(old.bytes, 0), unsized = unsized - (old.bytes < 0)
    WHERE profile = old.profile AND standing = old.standing;
    INSERT INTO totals SELECT new.profile, new.standing, 1, max(new.bytes, 0), new.bytes < 0 WHERE new.standing > 0
    ON CONFLICT DO UPDATE SET pins = pins + 1, bytes = bytes + excluded.bytes, unsized = unsized + excluded.unsized;
END;
"""

# A pin is found by the words of its older records, too, and pins are sorted by the titles that lists show.
EARLIER = """
DROP TRIGGER IF EXISTS search_insert;
DROP TRIGGER IF EXISTS search_delete;
DROP TRIGGER IF EXISTS search_update;
ALTER TABLE entries ADD COLUMN earlier TEXT;
UPDATE entries SET earlier = (
    SELECT group_concat(folded(o.name, o.note, o.recipient, o.excerpt), char(10)) FROM entries AS o
    WHERE o.cid = entries.cid AND o.profile = entries.profile AND o.standing = 0 AND o.direction = 'sent'
) WHERE standing > 0 AND cid IN (SELECT cid FROM entries WHERE standing = 0 AND direction = 'sent');
DROP INDEX pins_by_title;
CREATE INDEX pins_by_title ON entries (
    profile,
    substr(coalesce(
        nullif(name, ''),
        CASE kind WHEN 'message' THEN 'to ' || recipient || ' · “' || ltrim(excerpt, char(9, 10, 13, 32)) END,
        nullif(note, ''), nullif(ltrim(excerpt, char(9, 10, 13, 32)), ''), nullif(service_name, ''), cid
    ), 1, 40) COLLATE NOCASE
) WHERE standing > 0;
"""

# Endings in a column, and no triggers for inserted rows: an expression and three triggers cost half of an import.
COLUMNS = """
DROP TRIGGER IF EXISTS totals_insert;
DROP TRIGGER IF EXISTS search_insert;
DROP TRIGGER IF EXISTS beginnings_insert;
ALTER TABLE entries ADD COLUMN ending TEXT NOT NULL DEFAULT '';
DROP INDEX entries_by_ending;
UPDATE entries SET ending = substr(cid, -1, 1) || substr(cid, -2, 1) || substr(cid, -3, 1) || substr(cid, -4, 1)
    || substr(cid, -5, 1) || substr(cid, -6, 1) || substr(cid, -7, 1) || substr(cid, -8, 1);
CREATE INDEX entries_by_ending ON entries (ending);
"""

# Titles in a column, as they are compared: é is sorted beside e, and a word finds all titles that begin with it. The
# search index is made again, since its texts now begin with the title.
TITLES = """
DROP TRIGGER IF EXISTS search_delete;
DROP TRIGGER IF EXISTS search_update;
DROP INDEX pins_by_title;
ALTER TABLE entries ADD COLUMN title TEXT NOT NULL DEFAULT '';
UPDATE entries SET title = title_key(kind, name, recipient, note, excerpt, service_name, cid);
CREATE INDEX pins_by_title ON entries (profile, title) WHERE standing > 0;
CREATE TRIGGER title_update AFTER UPDATE OF name, recipient, note, excerpt, service_name ON entries BEGIN
    UPDATE entries
    SET title = title_key(new.kind, new.name, new.recipient, new.note, new.excerpt, new.service_name, new.cid)
    WHERE id = new.id;
END;
"""

LAYOUT = Layout(
    0x70696E75,  # “pinu”
    (FIRST_TABLES, BYTES, FOLDERS, SOURCES, PINS, STATES, ENDINGS, UNKNOWNS, EARLIER, COLUMNS, TITLES),
    HistoryError,
    "Move it away to begin a new one; `history import` brings rows back from an export.",
)

TITLE_LENGTH = 40
BEGINNING = 12
"""Letters of a CID that the filter finds without looking at rows; seven of them are the same in most CIDs."""

# The index holds folded text of its own, and no CIDs: these have indexes of their own, for either end. The text begins
# as the title does. A message has another title, so its text begins with a line that no word has.
TEXT = (
    "folded(CASE {0}.kind WHEN 'message' THEN char(10) END,"
    " {0}.name, {0}.note, {0}.excerpt, {0}.service_name, {0}.recipient)"
)
BOTH_TEXTS = TEXT + ", folded({0}.earlier)"
SEARCH = f"""
DROP TABLE IF EXISTS search;
CREATE VIRTUAL TABLE search USING fts5 (text, earlier, content='', columnsize=0, tokenize='trigram');
INSERT INTO search (search, rank) VALUES ('automerge', 8);
INSERT INTO search (rowid, text, earlier) SELECT id, {BOTH_TEXTS.format("entries")} FROM entries;
CREATE TRIGGER search_delete AFTER DELETE ON entries BEGIN
    INSERT INTO search (search, rowid, text, earlier) VALUES ('delete', old.id, {BOTH_TEXTS.format("old")});
END;
CREATE TRIGGER search_update AFTER UPDATE OF name, service_name, note, recipient, excerpt, earlier ON entries
WHEN ({BOTH_TEXTS.format("old")}) IS NOT ({BOTH_TEXTS.format("new")}) BEGIN
    INSERT INTO search (search, rowid, text, earlier) VALUES ('delete', old.id, {BOTH_TEXTS.format("old")});
    INSERT INTO search (rowid, text, earlier) VALUES (new.id, {BOTH_TEXTS.format("new")});
END;
"""  # noqa: S608 – names of columns
# The beginnings of CIDs, for the filter. An index of SQLite's own would write a page for each row; this one is sorted
# in the background.
BEGINNINGS = f"""
DROP TABLE IF EXISTS beginning_terms;
DROP TABLE IF EXISTS beginnings;
CREATE VIRTUAL TABLE beginnings USING fts5 (cid, content='', columnsize=0, detail='none', tokenize='ascii');
CREATE VIRTUAL TABLE beginning_terms USING fts5vocab (beginnings, instance);
INSERT INTO beginnings (rowid, cid) SELECT id, substr(cid, 1, {BEGINNING}) FROM entries;
CREATE TRIGGER beginnings_delete AFTER DELETE ON entries BEGIN
    INSERT INTO beginnings (beginnings, rowid, cid) VALUES ('delete', old.id, substr(old.cid, 1, {BEGINNING}));
END;
"""  # noqa: S608 – a number
TRIGGERS = {SEARCH: {"search_delete", "search_update"}, BEGINNINGS: {"beginnings_delete"}}
"""The triggers of each index: where they are missing, a build without the index has written rows."""


@cache
def can_search() -> bool:
    """Whether this build of SQLite has the trigram index. Without it the filter is a LIKE over all rows."""
    if sqlite3.sqlite_version_info < (3, 34):
        return False
    with sqlite3.connect(":memory:") as memory:
        found = bool(memory.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()[0])
    memory.close()
    return found


def open_database(path: Path, *, searchable: bool) -> sqlite3.Connection:
    """Open the history, making it if there is none."""
    with explained(path):
        connection = connect(path)
        try:
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB:d}")
            connection.execute(f"PRAGMA cache_spill = {UNWRITTEN:d}")
            connection.create_function("folded", -1, folded, deterministic=True)
            connection.create_function("content_of", 1, _content_of, deterministic=True)
            connection.create_function("title_key", 7, title_key, deterministic=True)
            ready = _is_ready(connection, path, searchable)
            # Not WAL: before SQLite 3.51.3, two processes that write can corrupt it (the WAL-reset bug).
            connection.execute("PRAGMA journal_mode = DELETE")
            if not ready:
                _make_ready(connection, path, searchable)
        except BaseException:
            connection.close()
            raise
        return connection


def explained(path: Path) -> AbstractContextManager[None]:
    """Turn errors of SQLite and of the disk into a sentence."""
    return database.explained(path, LAYOUT)


def title_key(
    kind: str,
    name: str | None,
    recipient: str | None,
    note: str | None,
    excerpt: str | None,
    service_name: str | None,
    cid: str,
) -> str:
    """The column `title` of a row: the beginning of its title in a list, as titles are compared."""
    beginning = (excerpt or "").lstrip("\t\n\r ")
    is_message = kind == "message" and recipient is not None and excerpt is not None
    message = f"to {recipient} · “{beginning}" if is_message else None
    return folded(name or message or note or beginning or service_name or cid)[:TITLE_LENGTH]


def _content_of(cid: str) -> str:
    """A key that both versions of a CID share."""
    return min(both_versions(cid))


def _is_ready(connection: sqlite3.Connection, path: Path, searchable: bool) -> bool:
    """Whether the file is up to date. One transaction: another process may be creating the file right now."""
    connection.execute("BEGIN")
    try:
        return database.version_of(connection, path, LAYOUT) == LAYOUT.version and all(
            bool(names & _triggers(connection)) == searchable for names in TRIGGERS.values()
        )
    finally:
        connection.execute("ROLLBACK")


def _make_ready(connection: sqlite3.Connection, path: Path, searchable: bool) -> None:
    """Create or migrate the tables and the search index, all or nothing."""
    with writing(connection):
        database.migrate(connection, path, LAYOUT)
        known = _triggers(connection)
        for script, names in TRIGGERS.items():
            if searchable and not names & known:
                run_script(connection, script)
            elif not searchable:
                # A build without the index can't insert with these triggers; a build with it rebuilds the index.
                for name in names & known:
                    connection.execute(f"DROP TRIGGER {name}")


def _triggers(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}


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
