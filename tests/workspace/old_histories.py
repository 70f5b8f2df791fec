"""Histories as earlier versions wrote them: SQL that is never changed, one script from each version to the next."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.workspace.rows import START, cid

__all__ = ["VERSIONS", "write_old"]

FIRST = f"""
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
CREATE TABLE documents (
    entry_id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    data TEXT NOT NULL
);
CREATE TABLE revocations (
    cid TEXT NOT NULL,
    profile TEXT NOT NULL,
    revoked_at INTEGER NOT NULL,
    PRIMARY KEY (cid, profile)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5 (
    cid, name, note, recipient, excerpt, content='entries', content_rowid='id', tokenize='trigram'
);
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
INSERT INTO entries VALUES
    ({START << 20}, '{cid(1)}', {START}, 9, 'json', 'sent', 'local', 'menu', 'lunch', NULL, '{{"a":"é"}}', 'verified'),
    ({(START << 20) + 1}, '{cid(2)}', {START}, 9, 'file', 'sent', 'local', 'cat.png', NULL, NULL, NULL, NULL);
INSERT INTO documents VALUES ({START << 20}, '{{"a":"é"}}');
INSERT INTO revocations VALUES ('{cid(2)}', 'local', {START + 5});
PRAGMA application_id = {0x70696E75};
PRAGMA user_version = 1;
"""

SECOND = """
ALTER TABLE entries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE entries SET bytes = CASE kind WHEN 'json' THEN 10 ELSE 9 END;
PRAGMA user_version = 2;
"""

THIRD = """
ALTER TABLE entries ADD COLUMN is_folder INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 3;
"""

FOURTH = """
ALTER TABLE entries ADD COLUMN source TEXT;
PRAGMA user_version = 4;
"""

VERSIONS = {1: FIRST, 2: SECOND, 3: THIRD, 4: FOURTH}


def write_old(path: Path, version: int) -> None:
    """A history of this version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        for number in range(1, version + 1):
            connection.executescript(VERSIONS[number])
