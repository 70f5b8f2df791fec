"""Pinned or revoked, and where: a state of content at a service, the same for both versions of its CID."""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import TYPE_CHECKING

from pinui.workspace.rows import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "BY_ENDING",
    "OF_CID",
    "PinRow",
    "both_versions",
    "drop_revocations",
    "ending",
    "gather_words",
    "merge_revocation",
    "most_values",
    "of_cid",
    "pins_of",
    "replace_pin",
    "set_pinned",
    "set_revoked",
]

ENDING_LENGTH = 8
REVERSED = " || ".join(f"substr(r.cid, -{place}, 1)" for place in range(1, ENDING_LENGTH + 1))
BY_ENDING = "entries INDEXED BY entries_by_ending"
"""The table for statements about a CID: SQLite would rather look through all rows of the profile."""
OF_CID = "ending IN (?, ?) AND cid IN (?, ?)"
"""The condition on rows about a CID, in either version; its values are `of_cid`."""
PinRow = tuple[int, str, int, int, "str | None", int, "str | None", "str | None", int, "str | None"]
"""id, CID, standing, run, name at the service, recorded, name, note, bytes, verification."""


def both_versions(cid: str) -> tuple[str, str]:
    """The CID, perhaps with a path behind it, as it is and in its other version; twice the same if it has none."""
    root, slash, path = cid.partition("/")
    other = _reader_of_cids()(root)
    return (cid, cid) if other is None else (cid, f"{other}{slash}{path}")


@cache
def _reader_of_cids() -> Callable[[str], str | None]:
    """Import it when it is first used: listing rows needs none. A statement in its place costs as much as its work."""
    from pinui.ipfs.cid import other_version

    return other_version


def ending(text: str) -> str:
    """The last letters of a CID, from behind: the column `ending` of its rows."""
    return text[: -ENDING_LENGTH - 1 : -1]


def of_cid(cid: str) -> tuple[str, str, str, str]:
    """The values for `OF_CID`."""
    one, other = both_versions(cid)
    return ending(one), ending(other), one, other


def most_values(connection: sqlite3.Connection) -> int:
    """The number of values that one statement may have: SQLite sorts them, and looks at each page of an index once."""
    return connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)


def pins_of(connection: sqlite3.Connection, profile: str, spellings: Iterable[str]) -> dict[str, PinRow]:
    """The rows that represent the pins of these CIDs, given in both versions; by the CID in both its versions."""
    found: dict[str, PinRow] = {}
    wanted = list(spellings)
    batch = most_values(connection) - 1
    for start in range(0, len(wanted), batch):
        some = set(wanted[start : start + batch])
        marks = ", ".join("?" * len(some))
        sql = (
            "SELECT id, cid, standing, run, service_name, recorded, name, note, bytes, verification FROM entries"  # noqa: S608 – marks only
            f" INDEXED BY entries_by_ending WHERE ending IN ({marks}) AND profile = ? AND standing > 0"
        )
        for row in connection.execute(sql, (*map(ending, some), profile)):
            if row[1] in some:
                for spelling in both_versions(row[1]):
                    found[spelling] = row
    return found


def replace_pin(connection: sqlite3.Connection, pin: PinRow) -> None:
    """Let another row represent a pin from now on; a row without a record has no other purpose."""
    if pin[5]:
        connection.execute(
            "UPDATE entries SET standing = 0, run = 0, service_name = NULL, earlier = NULL WHERE id = ?", pin[:1]
        )
    else:
        connection.execute("DELETE FROM entries WHERE id = ?", (pin[0],))


def gather_words(connection: sqlite3.Connection, cid: str, profile: str) -> None:
    """Let a pin be found by the words of its older records: its row has a copy of them."""
    sql = f"SELECT id, standing, name, note, recipient, excerpt FROM {BY_ENDING}"  # noqa: S608 – names of columns
    sql += f" WHERE {OF_CID} AND profile = ? AND direction = 'sent' ORDER BY standing"
    *older, pin = connection.execute(sql, (*of_cid(cid), profile)).fetchall() or [None]
    if pin is None:
        return
    words = dict.fromkeys(text for row in older for text in row[2:] if text and text not in pin[2:])
    earlier = "\n".join(words) or None
    connection.execute("UPDATE entries SET earlier = ?1 WHERE id = ?2 AND earlier IS NOT ?1", (earlier, pin[0]))


def set_pinned(connection: sqlite3.Connection, cid: str, profile: str) -> None:
    """Note that it is pinned, inside the caller's transaction."""
    values = (*both_versions(cid), profile)
    removed = connection.execute("DELETE FROM revocations WHERE cid IN (?, ?) AND profile = ?", values).rowcount
    if removed:
        sql = f"UPDATE {BY_ENDING} SET standing = ? WHERE {OF_CID} AND profile = ? AND standing = ?"  # noqa: S608
        connection.execute(sql, (Standing.HERE, *of_cid(cid), profile, Standing.REVOKED))


def set_revoked(
    connection: sqlite3.Connection, cid: str, profile: str, revoked_at: int, *, was_pinned: bool = True
) -> None:
    """Note that it is no longer pinned. If it was not pinned any more, the earlier date stays."""
    # Never before the newest row: a clock that was set back would make an import take it for pinned.
    revoked_at = max(revoked_at, _last_sent(connection, cid, profile) or 0)
    replacing, keeping = "INSERT OR REPLACE INTO revocations", "INSERT OR IGNORE INTO revocations"
    for spelling in both_versions(cid):
        values = (spelling, profile, revoked_at)
        connection.execute((replacing if was_pinned else keeping) + " VALUES (?, ?, ?)", values)
    connection.execute(
        f"UPDATE {BY_ENDING} SET standing = ?, run = 0 WHERE {OF_CID} AND profile = ? AND standing > 0",  # noqa: S608
        (Standing.REVOKED, *of_cid(cid), profile),
    )


def drop_revocations(connection: sqlite3.Connection) -> None:
    """Forget revocations that no row is about any more."""
    connection.execute(
        "DELETE FROM revocations AS r WHERE NOT EXISTS (SELECT 1 FROM entries AS e INDEXED BY entries_by_ending"  # noqa: S608
        f" WHERE e.ending = {REVERSED} AND e.cid = r.cid AND e.profile = r.profile)"
    )


def merge_revocation(connection: sqlite3.Connection, cid: str, profile: str, revoked_at: int | None) -> None:
    """Settle it after a row was imported: the newest revocation counts, unless something was sent after it.

    So the order in which exports are imported makes no difference.
    """
    known = "SELECT max(revoked_at) FROM revocations WHERE cid IN (?, ?) AND profile = ?"
    stored: int | None = connection.execute(known, (*both_versions(cid), profile)).fetchone()[0]
    if revoked_at is None and stored is None:
        return
    newest, last_sent = max(revoked_at or 0, stored or 0), _last_sent(connection, cid, profile)
    if last_sent is not None and last_sent > newest:
        set_pinned(connection, cid, profile)
    else:
        set_revoked(connection, cid, profile, newest)


def _last_sent(connection: sqlite3.Connection, cid: str, profile: str) -> int | None:
    newest = f"SELECT max(timestamp) FROM {BY_ENDING} WHERE {OF_CID} AND profile = ? AND direction = 'sent'"  # noqa: S608
    newest += " AND recorded = 1"
    return connection.execute(newest, (*of_cid(cid), profile)).fetchone()[0]
