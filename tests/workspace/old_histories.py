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

FIFTH = """
ALTER TABLE entries ADD COLUMN service_name TEXT;
ALTER TABLE entries ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN recorded INTEGER NOT NULL DEFAULT 1;
ALTER TABLE entries ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER search_insert;
DROP TRIGGER search_delete;
DROP TRIGGER search_update;
UPDATE entries SET standing = CASE kind WHEN 'json' THEN 1 ELSE 4 END;
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
INSERT INTO totals VALUES ('local', 1, 1, 10), ('local', 4, 1, 9);
CREATE TRIGGER totals_insert AFTER INSERT ON entries WHEN new.standing > 0 BEGIN
    INSERT INTO totals VALUES (new.profile, new.standing, 1, new.bytes)
    ON CONFLICT DO UPDATE SET pins = pins + 1, bytes = bytes + excluded.bytes;
END;
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
PRAGMA user_version = 5;
"""

SIXTH = """
DROP INDEX pins_revoked;
CREATE INDEX pins_by_state ON entries (profile, standing, kind, is_folder, recorded, verification);
PRAGMA user_version = 6;
"""

SEVENTH = f"""
DROP INDEX entries_by_cid;
DROP TRIGGER totals_insert;
CREATE TRIGGER totals_insert AFTER INSERT ON entries WHEN new.standing > 0 AND NOT in_bulk() BEGIN
    INSERT INTO totals VALUES (new.profile, new.standing, 1, new.bytes)
    ON CONFLICT DO UPDATE SET pins = pins + 1, bytes = bytes + excluded.bytes;
END;
INSERT INTO accounts (profile, identity, run, newest, mirrored_at) VALUES ('local', 'x', 1, {START}, {START});
UPDATE totals SET standing = 2 WHERE standing = 1;
UPDATE entries SET standing = 2, run = 1, service_name = 'menu.json' WHERE standing = 1;
PRAGMA user_version = 7;
"""

EIGHTH = """
DELETE FROM accounts;
DROP TRIGGER totals_insert;
DROP TABLE totals;
UPDATE entries SET standing = 1, run = 0, service_name = NULL WHERE standing = 2;
CREATE TABLE totals (
    profile TEXT NOT NULL,
    standing INTEGER NOT NULL,
    pins INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    unsized INTEGER NOT NULL,
    PRIMARY KEY (profile, standing)
) WITHOUT ROWID;
INSERT INTO totals VALUES ('local', 1, 1, 10, 0), ('local', 4, 1, 9, 0);
CREATE TRIGGER totals_insert AFTER INSERT ON entries WHEN new.standing > 0 AND NOT in_bulk() BEGIN
    INSERT INTO totals VALUES (new.profile, new.standing, 1, max(new.bytes, 0), new.bytes < 0)
    ON CONFLICT DO UPDATE SET pins = pins + 1, bytes = bytes + excluded.bytes, unsized = unsized + excluded.unsized;
END;
PRAGMA user_version = 8;
"""

NINTH = """
ALTER TABLE entries ADD COLUMN earlier TEXT;
DROP INDEX pins_by_title;
CREATE INDEX pins_by_title ON entries (
    profile,
    substr(coalesce(
        nullif(name, ''),
        CASE kind WHEN 'message' THEN 'to ' || recipient || ' · “' || ltrim(excerpt, char(9, 10, 13, 32)) END,
        nullif(note, ''), nullif(ltrim(excerpt, char(9, 10, 13, 32)), ''), nullif(service_name, ''), cid
    ), 1, 40) COLLATE NOCASE
) WHERE standing > 0;
PRAGMA user_version = 9;
"""

TENTH = """
DROP TRIGGER IF EXISTS totals_insert;
DROP TRIGGER IF EXISTS search_insert;
DROP TRIGGER IF EXISTS beginnings_insert;
ALTER TABLE entries ADD COLUMN ending TEXT NOT NULL DEFAULT '';
DROP INDEX entries_by_ending;
UPDATE entries SET ending = substr(cid, -1, 1) || substr(cid, -2, 1) || substr(cid, -3, 1) || substr(cid, -4, 1)
    || substr(cid, -5, 1) || substr(cid, -6, 1) || substr(cid, -7, 1) || substr(cid, -8, 1);
CREATE INDEX entries_by_ending ON entries (ending);
PRAGMA user_version = 10;
"""

VERSIONS = {1: FIRST, 2: SECOND, 3: THIRD, 4: FOURTH, 5: FIFTH, 6: SIXTH, 7: SEVENTH, 8: EIGHTH, 9: NINTH, 10: TENTH}


def write_old(path: Path, version: int) -> None:
    """A history of this version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        for number in range(1, version + 1):
            connection.executescript(VERSIONS[number])
