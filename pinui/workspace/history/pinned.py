"""Pinned or revoked: a state of content at a service, the same for both versions of its CID."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

__all__ = ["both_versions", "merge_revocation", "set_pinned", "set_revoked"]


def both_versions(cid: str) -> tuple[str, str]:
    """The CID, perhaps with a path behind it, as it is and in its other version; twice the same if it has none."""
    from pinui.ipfs.cid import Cid  # here, so that listing rows does not load it
    from pinui.ipfs.errors import MalformedContent

    root, slash, path = cid.partition("/")
    try:
        spelled = [f"{spelling}{slash}{path}" for spelling in Cid.parse(root).spellings()]
    except MalformedContent:
        return cid, cid
    return spelled[0], spelled[-1]


def set_pinned(connection: sqlite3.Connection, cid: str, profile: str) -> None:
    """Note that it is pinned, inside the caller's transaction."""
    connection.execute("DELETE FROM revocations WHERE cid IN (?, ?) AND profile = ?", (*both_versions(cid), profile))


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
    elif newest != stored:
        set_revoked(connection, cid, profile, newest)


def _last_sent(connection: sqlite3.Connection, cid: str, profile: str) -> int | None:
    newest = "SELECT max(timestamp) FROM entries WHERE cid IN (?, ?) AND profile = ? AND direction = 'sent'"
    return connection.execute(newest, (*both_versions(cid), profile)).fetchone()[0]
