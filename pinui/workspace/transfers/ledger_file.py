"""`transfers.db`: every request for a transfer, written down before it begins, with its items and their states."""

from __future__ import annotations

import json
import os
import sqlite3
from array import array
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from pinui.workspace.database import Layout, connect, explained, migrate, version_of, writing
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.rows import now_ms
from pinui.workspace.text import encodable
from pinui.workspace.transfers.owners import Owner, is_alive
from pinui.workspace.transfers.rows import Item, ItemState, NewItem, Request, Tally

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from pathlib import Path

    from pinui.workspace.transfers.rows import RequestState

__all__ = ["LedgerFile"]

BATCH = 500  # SQLite's oldest limit is 999 parameters a statement

FIRST_TABLES = """
CREATE TABLE requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    profile TEXT NOT NULL,
    title TEXT NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    is_listed INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    owner TEXT,
    listing INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    request INTEGER NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
    source NOT NULL,
    shown,
    destination,
    size INTEGER,
    seen TEXT,
    state INTEGER NOT NULL,
    started_at INTEGER,
    done INTEGER NOT NULL DEFAULT 0,
    cid TEXT,
    entry INTEGER,
    error TEXT,
    hint TEXT,
    was_held INTEGER NOT NULL DEFAULT 0,
    resume TEXT,
    listing INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX items_by_source ON items (request, source);
-- Small files first; and a page of a list is a short walk.
CREATE INDEX items_by_state ON items (request, state, size, id);
"""
LAYOUT = Layout(
    0x70696E74,  # “pint”
    (FIRST_TABLES,),
    WorkspaceError,
    "It holds unfinished transfers. Move it away, and the next transfer makes a new one.",
)

COLUMNS = (
    "id, source, coalesce(shown, source), destination, size, seen, state, started_at, done, cid, entry, error, hint,"
    " was_held, resume"
)

ADD_ITEM = f"""
INSERT INTO items (request, source, shown, destination, size, seen, resume, state, listing)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (request, source) DO UPDATE SET listing = excluded.listing, size = coalesce(excluded.size, size),
started_at = iif(seen IS excluded.seen AND state != {ItemState.FAILED:d}, started_at, NULL),
state = iif(seen IS excluded.seen AND state != {ItemState.FAILED:d}, state, excluded.state),
error = NULL, hint = NULL, seen = excluded.seen
"""  # noqa: S608 – numbers of ours


class LedgerFile:
    """The ledger, opened on first use. One thread at a time; several processes may write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._owners = path.with_name("transfers.owners")
        self._owner = Owner(self._owners)
        self._connection: sqlite3.Connection | None = None
        self._seen: int | None = None
        self._others: set[str] = set()
        """Other processes that worked on requests when these were read."""

    def close(self) -> None:
        """Drop ended requests, whose results are elsewhere; give up unfinished ones; close the file."""
        if self._connection is not None:
            with self._writing() as database:
                ended = database.execute(
                    "SELECT id, owner FROM requests WHERE state IN ('done', 'cancelled')"
                ).fetchall()
                mine = self._owner.name
                gone = [(id_,) for id_, owner in ended if owner == mine or not self._is_alive(owner)]
                database.executemany("DELETE FROM requests WHERE id = ?", gone)
                database.execute("UPDATE requests SET owner = NULL WHERE owner = ?", (mine,))
            self._connection.close()
            self._connection = None
        self._owner.release()

    # Requests

    def add(
        self, kind: str, profile: str, title: str, options: dict[str, Any], items: Sequence[NewItem] | None = None
    ) -> int:
        """Write a request down, owned by this process; with its items, if they are known already."""
        self._owner.hold()
        with self._writing() as database:
            values = (kind, profile, encodable(title), "unfinished", json.dumps(options), items is not None, now_ms())
            added = database.execute(
                "INSERT INTO requests (kind, profile, title, state, options, is_listed, created_at, owner)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*values, self._owner.name),
            ).lastrowid
            assert added is not None  # noqa: S101 – SQLite returns one for each insertion
            self._add_items(database, added, items or ())
        return added

    def requests(self) -> list[Request]:
        """Every request that is not done or cancelled, oldest first, with its items counted."""
        if not self.path.exists():
            return []
        rows = self._all(
            "SELECT id, kind, profile, title, state, options, is_listed, created_at, owner FROM requests"
            " WHERE state NOT IN ('done', 'cancelled') ORDER BY id"
        )
        alive = {owner: self._is_alive(owner) for owner in {row[8] for row in rows}}
        self._others = {owner for owner, lives in alive.items() if lives} - {self._owner.name}
        return [_request(row, self.tally(row[0]), self._error(row[0]), is_running=alive[row[8]]) for row in rows]

    def has_news(self) -> bool:
        """Whether another process has written to the file since the last call, or has ended since `requests`."""
        if not self.path.exists():
            return False
        seen, self._seen = self._seen, self._all("PRAGMA data_version")[0][0]
        return seen != self._seen or not all(map(self._is_alive, self._others))

    def _error(self, request: int) -> str | None:
        sql = "SELECT error FROM items WHERE request = ? AND state IN (?, ?) ORDER BY state, id LIMIT 1"
        found = self._all(sql, request, ItemState.FAILED, ItemState.BROKEN_OFF)
        return found[0][0] if found else None

    def left_at(self, profile: str) -> list[int]:
        """The numbers of the requests that are not finished at the service of a profile, copies from it included."""
        return [one.id for one in self.requests() if profile in (one.profile, one.options.get("from"))]

    def find(self, kind: str, profile: str, options: dict[str, Any]) -> Request | None:
        """The newest unfinished or failed request of the same kind with the same options."""
        text = json.dumps(options)
        return next(
            (
                one
                for one in reversed(self.requests())
                if (one.kind, one.profile) == (kind, profile) and json.dumps(one.options) == text
            ),
            None,
        )

    def claim(self, request: int) -> bool:
        """Make this process the owner of a request, unless another living one is.

        Items that were running when a process was killed, or that broke off, wait again.
        """
        self._owner.hold()
        with self._writing() as database:
            found = database.execute("SELECT owner FROM requests WHERE id = ?", (request,)).fetchone()
            if found is None or (found[0] != self._owner.name and self._is_alive(found[0])):
                return False
            database.execute(
                "UPDATE requests SET owner = ?, state = 'unfinished' WHERE id = ?", (self._owner.name, request)
            )
            database.execute(
                "UPDATE items SET state = ?, error = NULL, hint = NULL WHERE request = ? AND state IN (?, ?)",
                (ItemState.WAITING, request, ItemState.RUNNING, ItemState.BROKEN_OFF),
            )
        return True

    def let_go(self, request: int, state: RequestState) -> None:
        """Write the state of a request that this process no longer works on; those of other processes stay theirs."""
        if self._is_of_another(request):
            return
        if state == "cancelled":
            self._remove_partials(request)
        # Ended ones belong to it until it closes: their items may still be shown.
        owner = self._owner.name if state in ("done", "cancelled") else None
        with self._writing() as database:
            database.execute("UPDATE requests SET state = ?, owner = ? WHERE id = ?", (state, owner, request))

    def forget(self, requests: Sequence[int]) -> None:
        """Remove requests with their items, unless another process works on them."""
        requests = [request for request in requests if not self._is_of_another(request)]
        if not requests:
            return
        for request in requests:
            self._remove_partials(request)
        with self._writing() as database:
            database.executemany("DELETE FROM requests WHERE id = ?", [(one,) for one in requests])

    def _is_of_another(self, request: int) -> bool:
        owners = self._all("SELECT owner FROM requests WHERE id = ?", request)
        return any(owner != self._owner.name and self._is_alive(owner) for (owner,) in owners)

    def _remove_partials(self, request: int) -> None:
        """Remove the incomplete files that downloads left."""
        from pinui.sdk.reading.partial import remove_partial  # not before it is needed: the first frame waits

        found = "SELECT resume FROM items JOIN requests ON requests.id = items.request"
        chosen = "items.request = ? AND kind = 'download' AND items.state != ? AND resume IS NOT NULL"
        for (handle,) in self._all(f"{found} WHERE {chosen}", request, int(ItemState.DONE)):
            remove_partial(handle)

    def tally(self, request: int) -> Tally:
        """The items of a request, counted."""
        counted = Tally()
        rows = self._all(
            "SELECT state, count(*), coalesce(sum(size), 0), coalesce(sum(done) FILTER (WHERE destination NOTNULL), 0)"
            " FROM items WHERE request = ? GROUP BY state",
            request,
        )
        for state, items, size, kept in rows:
            done, failed = state == ItemState.DONE, state == ItemState.FAILED
            counted = Tally(
                counted.items + items,
                counted.done + items * done,
                counted.failed + items * failed,
                counted.broken_off + items * (state == ItemState.BROKEN_OFF),
                counted.size + size,
                counted.done_size + size * done,
                counted.kept + kept * (not done and not failed),
            )
        return counted

    # Items

    def list_again(self, request: int) -> None:
        """Begin to list the items of a request. Those of an earlier listing are kept, or dropped by `end_listing`."""
        with self._writing() as database:
            database.execute("UPDATE requests SET is_listed = 0, listing = listing + 1 WHERE id = ?", (request,))

    def add_items(self, request: int, items: Sequence[NewItem]) -> None:
        """Write items down. One that is there already stays as it is, unless its source has changed."""
        with self._writing() as database:
            self._add_items(database, request, items)

    def end_listing(self, request: int) -> None:
        """All items are written down: those that were not listed this time and are not done are dropped."""
        with self._writing() as database:
            database.execute("UPDATE requests SET is_listed = 1 WHERE id = ?", (request,))
            database.execute(
                "DELETE FROM items WHERE request = ?1 AND state != ?2"
                " AND listing < (SELECT listing FROM requests WHERE id = ?1)",
                (request, ItemState.DONE),
            )

    def take(self, request: int, number: int) -> list[Item]:
        """The next items to run, small ones first. They count as begun from now on."""
        with self._writing() as database:
            rows = database.execute(
                f"SELECT {COLUMNS} FROM items WHERE request = ? AND state = ? ORDER BY size, id LIMIT ?",  # noqa: S608
                (request, ItemState.WAITING, number),
            ).fetchall()
            database.executemany(
                "UPDATE items SET state = ?, started_at = coalesce(started_at, ?) WHERE id = ?",
                [(ItemState.RUNNING, now_ms(), row[0]) for row in rows],
            )
        return [_item(row) for row in rows]

    def put_back(self, items: Iterable[Item]) -> None:
        """Items that were taken and not begun wait again."""
        with self._writing() as database:
            database.executemany(
                "UPDATE items SET state = ?, started_at = ? WHERE id = ?",
                [(ItemState.WAITING, item.started_at, item.id) for item in items],
            )

    def write_items(self, items: Iterable[Item]) -> None:
        """Write the states and results of items, all together."""
        with self._writing() as database:
            database.executemany(
                "UPDATE items SET destination = ?, size = ?, seen = ?, state = ?, done = ?, cid = ?, entry = ?,"
                " error = ?, hint = ?, was_held = ?, resume = ? WHERE id = ?",
                [_values(item) for item in items],
            )

    def retry(self, request: int, item: int | None = None) -> None:
        """Failed items wait again, or one of them.

        The source of an item that failed for good is looked at as it is now. One that broke off may be done already.
        """
        of = "request = ?" if item is None else "request = ? AND id = ?"
        values = (request,) if item is None else (request, item)
        with self._writing() as database:
            database.execute(
                f"UPDATE items SET seen = NULL, started_at = NULL, done = 0 WHERE {of} AND state = ?",  # noqa: S608
                (*values, ItemState.FAILED),
            )
            database.execute(
                f"UPDATE items SET state = ?, error = NULL, hint = NULL WHERE {of} AND state IN (?, ?)",  # noqa: S608
                (ItemState.WAITING, *values, ItemState.FAILED, ItemState.BROKEN_OFF),
            )
            database.execute("UPDATE requests SET state = 'unfinished' WHERE id = ?", (request,))

    def ids(self, request: int, *, by_state: bool = False) -> array[int]:
        """The ids of the items of a request: as they were listed, or failed and running ones first."""
        sql = f"SELECT id FROM items WHERE request = ? ORDER BY {'state, size, id' if by_state else 'id'}"  # noqa: S608
        return array("q", (row[0] for row in self._all(sql, request)))

    def items(self, ids: Sequence[int]) -> list[Item]:
        """The items with these ids, in this order."""
        found: dict[int, Item] = {}
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            sql = f"SELECT {COLUMNS} FROM items WHERE id IN ({', '.join('?' * len(some))})"  # noqa: S608 – marks only
            found.update((row[0], _item(row)) for row in self._all(sql, *some))
        return [found[id_] for id_ in ids if id_ in found]

    # The file

    def _add_items(self, database: sqlite3.Connection, request: int, items: Iterable[NewItem]) -> None:
        listing = database.execute("SELECT listing FROM requests WHERE id = ?", (request,)).fetchone()[0]
        database.executemany(
            ADD_ITEM,
            [_new_values(request, item, listing) for item in items],
        )

    def _is_alive(self, owner: str | None) -> bool:
        return owner is not None and (owner == self._owner.name or is_alive(self._owners, owner))

    def _all(self, sql: str, *values: object) -> list[Any]:
        with self._explained():
            return self._open().execute(sql, values).fetchall()

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with self._explained():
            connection = self._open()
            with writing(connection):
                yield connection

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = connect(self.path)
            try:
                connection.execute("PRAGMA journal_mode = DELETE")
                if version_of(connection, self.path, LAYOUT) < LAYOUT.version:
                    with writing(connection):
                        migrate(connection, self.path, LAYOUT)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.path, LAYOUT)


def _request(row: Sequence[Any], tally: Tally, error: str | None, *, is_running: bool) -> Request:
    id_, kind, profile, title, state, options, is_listed, created_at, _owner = row
    if state == "unfinished" and not is_running and is_listed and tally.items and tally.left == tally.broken_off:
        state = "failed"
    return Request(
        id_, kind, profile, title, state, json.loads(options), bool(is_listed), created_at, is_running, tally, error
    )


def _item(row: Sequence[Any]) -> Item:
    id_, source, shown, destination, size, seen, state, started_at, done, cid, entry, error, hint, held, resume = row
    return Item(
        id_,
        os.fsdecode(source),
        os.fsdecode(shown),
        None if destination is None else os.fsdecode(destination),
        size,
        seen,
        ItemState(state),
        started_at,
        done,
        cid,
        entry,
        error,
        hint,
        bool(held),
        resume,
    )


def _new_values(request: int, item: NewItem, listing: int) -> tuple[Any, ...]:
    paths = (_path(item.source), _path(item.shown), _path(item.destination))
    return (request, *paths, item.size, item.seen, item.resume, ItemState.WAITING, listing)


def _values(item: Item) -> tuple[Any, ...]:
    return (
        _path(item.destination),
        item.size,
        item.seen,
        item.state,
        item.done,
        item.cid,
        item.entry,
        None if item.error is None else encodable(item.error),
        None if item.hint is None else encodable(item.hint),
        item.was_held,
        item.resume,
        item.id,
    )


def _path(text: str | None) -> str | bytes | None:
    """A path as SQLite can hold it: a name that is no text stays as its bytes."""
    if text is None:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text
