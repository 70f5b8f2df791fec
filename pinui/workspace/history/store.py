"""Reading and writing `history.db` on the calling thread; `History` offers the same beside an event loop."""

from __future__ import annotations

import os
import time
from array import array
from collections import Counter
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pinui.workspace.errors import HistoryError
from pinui.workspace.filters import folded
from pinui.workspace.history.pinned import (
    BY_ENDING,
    OF_CID,
    both_versions,
    drop_revocations,
    ending,
    gather_words,
    most_values,
    of_cid,
    pins_of,
    replace_pin,
    set_pinned,
    set_revoked,
)
from pinui.workspace.history.query import COLUMNS, REVOCATION, Selection, select
from pinui.workspace.history.schema import (
    BEGINNING,
    ID_BITS,
    MAX_TIMESTAMP,
    can_search,
    explained,
    open_database,
    title_key,
    writing,
)
from pinui.workspace.rows import UNDATED, Entry, Query, Recipient, Standing
from pinui.workspace.text import encodable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from pinui.sdk.models import ClientRecord
    from pinui.workspace.history.query import Condition
    from pinui.workspace.rows import Direction

__all__ = ["HistoryFile", "NewIds", "storable"]

EXCERPT = 500  # characters of the JSON text or message that lists show and the filter searches
MOMENT = 0.03
"""Seconds of the processor that may look for a page row by row: about ten thousand rows."""
STEPS = 2000
"""Instructions of SQLite between two looks at the clock."""
BESIDE = 5000
"""Rows beside those with a word at the beginning of the title that are looked up one by one."""
BATCH = 500  # SQLite's oldest limit is 999 parameters a statement


class HistoryFile:
    """The history, opened on first use. One thread at a time; several processes may write."""

    def __init__(self, path: Path, *, searchable: bool | None = None) -> None:
        self.path = path
        self.searchable = can_search() if searchable is None else searchable
        self._connection: sqlite3.Connection | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_database(self.path, searchable=self.searchable)
        return self._connection

    @property
    def is_open(self) -> bool:
        """Whether the database is open, and its tables are up to date."""
        return self._connection is not None

    def interrupt(self) -> None:
        """End a statement that runs on another thread."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """Close it; the next use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> HistoryFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Reading

    def count(self, query: Query) -> int:
        """The number of rows that match a query."""
        return self._all(*self._select(query).count())[0][0]

    def count_pins(self, query: Query) -> int:
        """The number of pins among the rows that match a query: rows that share a CID are one pin."""
        # A set of Python counts distinct texts four times as fast as SQLite.
        return len({row[0] for row in self._all(*self._select(query).cids())})

    def ids(self, query: Query) -> array[int]:
        """The ids of the matching rows, in order: a snapshot that a list can keep while rows arrive."""
        found = array("q")  # eight bytes a row: a million of them fit beside everything else
        with explained(self.path):
            found.extend(map(itemgetter(0), self.connection.execute(*self._select(query).ids())))
        return found

    def version(self) -> int:
        """A number that differs after others have written to the file."""
        return self._all("PRAGMA data_version", ())[0][0]

    def entries(self, ids: Sequence[int]) -> list[Entry]:
        """The rows with these ids, in the order given; forgotten rows are left out."""
        rows = self._of_each(f"SELECT {COLUMNS} FROM entries AS e {REVOCATION} WHERE e.id IN", ids)  # noqa: S608
        found = {row[0]: Entry(*row) for row in rows}
        return [found[id_] for id_ in ids if id_ in found]

    def page(self, query: Query, *, after: Entry | None = None, limit: int = 100) -> list[Entry]:
        """The next rows after `after`, by its key: rows that arrive meanwhile shift nothing."""
        selection = self._select(query)
        if after is not None:
            selection.begin_after(after)
        rows = None if selection.is_quick else self._page_of_many(selection, limit)
        if rows is None:
            rows = self._all(*selection.ids(limit))
        return self.entries([row[0] for row in rows])

    def _page_of_many(self, selection: Selection, limit: int) -> list[Any] | None:
        """The ids of a page, found without a look at all rows that match; None if that takes too long."""
        for word, others in selection.besides:
            if (rows := self._beside(selection, word, others, limit)) is not None:
                return rows
        rows = self._within(MOMENT, *selection.ids(limit, row_by_row=True))
        if rows is None and selection.left_over is not None:
            rows = self._beside(selection, "", selection.left_over, limit)
        if rows is None and selection.others:
            selection.stream = ""
        return rows

    def _beside(self, selection: Selection, word: str, others: Condition, limit: int) -> list[Any] | None:
        """The ids of a page, if only few rows beside those whose titles begin with a word can be on it."""
        found = self._all(f"{others.sql} LIMIT {BESIDE + 1}", others.values)
        if len(found) > BESIDE:
            return None
        return self._within(MOMENT, *selection.ids_beside(word, [row[0] for row in found], limit))

    def _within(self, seconds: float, sql: str, values: Sequence[Any]) -> list[Any] | None:
        """The rows of a statement, or None if it takes more than these seconds of the processor."""
        is_over, end = False, time.thread_time() + seconds

        def stop() -> bool:
            nonlocal is_over
            is_over = time.thread_time() > end
            return is_over

        self.connection.set_progress_handler(stop, STEPS)
        try:
            return self._all(sql, values)
        except HistoryError:
            if is_over:
                return None
            raise
        finally:
            self.connection.set_progress_handler(None, 0)

    def record(self, entry_id: int) -> ClientRecord[Any] | None:
        """The whole record of a row, with its data."""
        from pinui.ipfs.jsontext import parse
        from pinui.sdk.models import ClientRecord  # here, so that listing rows does not load the SDK

        entries = self.entries([entry_id])
        if not entries:
            return None
        entry, text = entries[0], self.document(entry_id)
        data: Any = None if text is None else parse(text)
        return ClientRecord(cid=entry.cid, timestamp=entry.timestamp, data=data, size=entry.size)

    def document(self, entry_id: int) -> str | None:
        """The JSON text that belongs to a row; None for files."""
        rows = self._all("SELECT data FROM documents WHERE entry_id = ?", [entry_id])
        return rows[0][0] if rows else None

    def latest(self, cid: str, profile: str | None = None, *, direction: Direction | None = None) -> Entry | None:
        """The newest row with this CID, in either version."""
        rows = self._all(
            f"SELECT max(id) FROM {BY_ENDING} WHERE {OF_CID}"  # noqa: S608
            " AND profile = coalesce(?, profile) AND direction = coalesce(?, direction)",
            [*of_cid(cid), profile, direction],
        )
        return next(iter(self.entries(rows[0])), None)

    def sent_since(self, source: str, profile: str, since: int) -> Entry | None:
        """The newest row about a file or folder of this machine that was sent since a moment in milliseconds."""
        found = self._all(
            "SELECT max(id) FROM entries WHERE id >= ? AND source = ? AND profile = ? AND direction = 'sent'",
            [since << ID_BITS, storable(source), profile],
        )[0][0]
        return None if found is None else self.entries([found])[0]

    def pin_of(self, cid: str, profile: str) -> int | None:
        """The id of the row that represents a pin."""
        with explained(self.path):
            pin = pins_of(self.connection, profile, both_versions(cid)).get(cid)
        return None if pin is None else pin[0]

    def may_know(self, profile: str, least: int, most: int) -> bool:
        """Whether a profile has a pin with so many bytes, or one whose size the service didn't tell.

        A row of a path that was uploaded has the least: the bytes of its files and nothing else.
        """
        sql = "SELECT 1 FROM entries WHERE standing > 0 AND profile = ? AND bytes"
        sized = self._all(
            f"{sql} BETWEEN ? AND ? AND (source IS NULL OR bytes = ?) LIMIT 1", [profile, least, most, least]
        )
        return bool(sized or self._all(f"{sql} < 0 LIMIT 1", [profile]))

    def recipients(self, profile: str | None) -> list[Recipient]:
        """The names that messages were sent to or filed under, newest first."""
        sql = "SELECT recipient, count(*), max(id) FROM entries WHERE kind = 'message' AND recipient IS NOT NULL"
        values: list[str] = []
        if profile is not None:
            sql += " AND profile = ?"
            values.append(profile)
        rows = self._all(f"{sql} GROUP BY recipient ORDER BY max(id) DESC", values)
        newest = {entry.id: entry for entry in self.entries([row[2] for row in rows])}
        return [
            Recipient(name, count, newest[last].timestamp, newest[last].excerpt)
            for name, count, last in rows
            if last in newest
        ]

    def rows_sharing(self, cids: Iterable[str], profile: str) -> int:
        """The number of a profile's rows with one of these CIDs, in either version."""
        sql = f"SELECT count(*) FROM {BY_ENDING} WHERE {OF_CID} AND profile = ? AND recorded"  # noqa: S608
        wanted = {min(both_versions(cid)) for cid in cids}
        return sum(self._all(sql, [*of_cid(cid), profile])[0][0] for cid in wanted)

    def pinned_elsewhere(self, cids: Iterable[str], profile: str) -> dict[str, int]:
        """The other profiles whose accounts hold some of these CIDs, as far as is known here, and how many each."""
        places = f"({Standing.BOTH:d}, {Standing.ACCOUNT:d})"
        sql = f"SELECT DISTINCT profile FROM {BY_ENDING} WHERE {OF_CID} AND profile <> ? AND standing IN {places}"  # noqa: S608
        found: Counter[str] = Counter()
        for cid in {min(both_versions(cid)) for cid in cids}:
            found.update(row[0] for row in self._all(sql, [*of_cid(cid), profile]))
        return dict(sorted(found.items()))

    def total_size(self, ids: Iterable[int]) -> int:
        """The bytes of these rows together, without rows of unknown size."""
        rows = self._of_each("SELECT total(max(bytes, 0)) FROM entries WHERE id IN", list(ids))
        return sum(int(row[0]) for row in rows)

    def standings(self, ids: Iterable[int]) -> dict[int, int]:
        """The number of these rows with each `Standing`."""
        return Counter(row[0] for row in self._of_each("SELECT standing FROM entries WHERE id IN", list(ids)))

    def _of_each(self, sql: str, ids: Sequence[int]) -> Iterator[Any]:
        """The rows of a statement that ends with `IN`, about these ids, some at a time."""
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            yield from self._all(f"{sql} ({', '.join('?' * len(some))})", some)

    # Writing

    def check(self) -> None:
        """Open the file, and raise `HistoryError` if no row could be written; SQLite itself fails only on a write."""
        if self.connection and not os.access(self.path.parent, os.W_OK):  # it needs a journal beside the file
            raise HistoryError(
                f"{self.path} cannot be written: its folder is read-only.", hint="PINUI_HOME moves it elsewhere."
            )

    def add(self, entry: Entry, data: str | None) -> Entry:
        """Write a row: it is on the disk when this returns. A sent row is pinned, so it is no longer revoked."""
        return self.add_all([(entry, data)])[0]

    def add_all(self, rows: Sequence[tuple[Entry, str | None]]) -> list[Entry]:
        """Write rows together, all or none."""
        ids: list[int] = []
        with explained(self.path), writing(self.connection):
            for entry, data in rows:
                if entry.direction == "sent":
                    set_pinned(self.connection, entry.cid, entry.profile)
                ids.append(self.insert(entry, data, pinned_now=True))
        return self.entries(ids)

    def insert(self, entry: Entry, data: str | None, *, at: int | None = None, pinned_now: bool = False) -> int:
        """Insert a row inside the caller's transaction, under the id `at` or the next one of its millisecond.

        The newest record of some content represents its pin.
        """
        entry_id = self.next_id(entry.timestamp) if at is None else at
        standing, run, is_known = Standing.RECORD, 0, False
        if entry.direction == "sent":
            standing = Standing.HERE
            pin = pins_of(self.connection, entry.profile, both_versions(entry.cid)).get(entry.cid)
            is_known = pin is not None
            if pin is not None and pin[5] and pin[0] > entry_id:
                standing = Standing.RECORD
            elif pin is not None:
                _, _, before, run, service_name, _, name, note, _, _ = pin
                standing = Standing.BOTH if before == Standing.ACCOUNT else before
                own = {} if pin[5] else {"name": entry.name or name, "note": entry.note or note}
                entry = replace(entry, service_name=service_name, **own)
                replace_pin(self.connection, pin)
            if standing and pinned_now and (known := self._run_of(entry.profile)):
                standing, run = Standing.BOTH, known
        self._write([_values(entry, entry_id, data, standing, run)])
        if data is not None:
            self.connection.execute("INSERT INTO documents (entry_id, data) VALUES (?, ?)", (entry_id, data))
        if is_known:
            gather_words(self.connection, entry.cid, entry.profile)
        return entry_id

    def insert_new(self, rows: Sequence[tuple[int, Entry, str | None]], run: int = 0) -> None:
        """Insert rows under their ids, inside the caller's transaction: content that no row is about yet."""

        def standing(entry: Entry) -> int:
            here = Standing.HERE if entry.direction == "sent" else Standing.RECORD
            return here if entry.recorded else Standing.ACCOUNT

        # In order: pages of the file that are filled from the end are left half empty.
        rows = sorted(rows, key=itemgetter(0))
        self._write([_values(entry, id_, data, standing(entry), run) for id_, entry, data in rows])
        documents = [(id_, data) for id_, _, data in rows if data is not None]
        self.connection.executemany("INSERT INTO documents (entry_id, data) VALUES (?, ?)", documents)

    def _write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows, given as `_values`, and add them to the indexes of text and to the totals."""
        execute = self.connection.executemany
        execute(INSERT, rows)
        if self.searchable:
            execute("INSERT INTO search (rowid, text) VALUES (?, ?)", ((v[0], _text(v)) for v in rows))
            beginnings = ((v[0], v[1][:BEGINNING]) for v in rows)
            execute("INSERT INTO beginnings (rowid, cid) VALUES (?, ?)", beginnings)
        pins, sizes, unsized = Counter[tuple[str, int]](), Counter[tuple[str, int]](), Counter[tuple[str, int]]()
        for v in rows:
            pin, size = (v[PROFILE], v[STANDING]), v[BYTES]
            pins[pin] += 1
            if size < 0:
                unsized[pin] += 1
            else:
                sizes[pin] += size
        execute(
            "INSERT INTO totals VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET pins = pins + excluded.pins,"
            " bytes = bytes + excluded.bytes, unsized = unsized + excluded.unsized",
            [(*pin, number, sizes[pin], unsized[pin]) for pin, number in pins.items() if pin[1]],
        )

    def _run_of(self, profile: str) -> int:
        found = self.connection.execute("SELECT run FROM accounts WHERE profile = ?", (profile,)).fetchone()
        return 0 if found is None else found[0]

    def known_among(self, column: str, table: str, values: set[Any]) -> set[Any]:
        """Those of the values that a column of a table has."""
        wanted, known = list(values), set[Any]()
        if not self._all(f"SELECT 1 FROM {table} LIMIT 1", ()):  # noqa: S608 – a name
            return known  # few histories have revocations
        batch = most_values(self.connection)
        for start in range(0, len(wanted), batch):
            some = wanted[start : start + batch]
            sql = f"SELECT {column} FROM {table} WHERE {column} IN ({', '.join('?' * len(some))})"  # noqa: S608 – names
            known.update(row[0] for row in self._all(sql, some))
        return known

    def known_firsts(self, ids: list[int]) -> set[int]:
        """Those of the first ids of milliseconds that have rows."""
        known: set[int] = set()
        batch = most_values(self.connection)
        for start in range(0, len(ids), batch):
            some = ids[start : start + batch]
            sql = (
                f"WITH wanted (id) AS (VALUES {', '.join(['(?)'] * len(some))}) SELECT id FROM wanted WHERE EXISTS"  # noqa: S608 – marks only
                f" (SELECT 1 FROM entries AS e WHERE e.id BETWEEN wanted.id AND wanted.id + {UNDATED - 1})"
            )
            known.update(row[0] for row in self._all(sql, some))
        return known

    def next_id(self, timestamp: int, *, dated: bool = True) -> int:
        """The next free id of a millisecond."""
        if not 0 <= timestamp <= MAX_TIMESTAMP:
            raise HistoryError(f"{timestamp} is no time that the history can hold.")
        first = _first_id(timestamp, dated)
        last = first + UNDATED - 1
        found = self.connection.execute(
            "SELECT max(id) FROM entries WHERE id BETWEEN ? AND ?", (first, last)
        ).fetchone()[0]
        if found == last:
            raise _no_more(timestamp)
        return first if found is None else found + 1

    def rename(self, entry_id: int, name: str | None) -> None:
        """Give a row a name; None removes it."""
        with explained(self.path), writing(self.connection):
            changed = self.connection.execute(
                "UPDATE entries SET name = ? WHERE id = ? RETURNING cid, profile", (storable(name) or None, entry_id)
            ).fetchall()
            for cid, profile in changed:
                gather_words(self.connection, cid, profile)

    def file_under(self, entry_id: int, recipient: str | None) -> None:
        """File a received message under a name; None removes it."""
        self._change("UPDATE entries SET recipient = ? WHERE id = ?", storable(recipient) or None, entry_id)

    def annotate(self, cid: str, profile: str | None, note: str) -> int:
        """Set the note of every row of a CID, in one profile or in all; empty removes it. Returns their number."""
        sql = f"UPDATE {BY_ENDING} SET note = ? WHERE {OF_CID} AND profile = coalesce(?, profile) RETURNING profile"  # noqa: S608
        with explained(self.path), writing(self.connection):
            changed = self.connection.execute(sql, (storable(note) or None, *of_cid(cid), profile)).fetchall()
            for (one,) in set(changed):
                gather_words(self.connection, cid, one)
        return len(changed)

    def set_verification(self, cid: str, profile: str, verdict: str) -> None:
        """Note the result of reading content back, on every row of the CID."""
        sql = f"UPDATE {BY_ENDING} SET verification = ? WHERE {OF_CID} AND profile = ?"  # noqa: S608
        self._change(sql, verdict, *of_cid(cid), profile)

    def mark_revoked(self, cid: str, profile: str, revoked_at: int, *, was_pinned: bool = True) -> None:
        """Note that a CID is no longer pinned at a service; if it was not pinned any more, an earlier mark stays."""
        with explained(self.path), writing(self.connection):
            set_revoked(self.connection, cid, profile, revoked_at, was_pinned=was_pinned)

    def forget(self, which: Iterable[int] | Query) -> int:
        """Remove records for good: these, or all that match a query. A pin that the account holds stays listed."""
        wanted = list(self.ids(which) if isinstance(which, Query) else which)
        removed = 0
        with explained(self.path), writing(self.connection):
            for start in range(0, len(wanted), BATCH):
                removed += self._forget(wanted[start : start + BATCH])
            drop_revocations(self.connection)
        return removed

    def _change(self, sql: str, *values: str | int | None) -> int:
        with explained(self.path), writing(self.connection):
            return self.connection.execute(sql, values).rowcount

    def _forget(self, ids: list[int]) -> int:
        marks = ", ".join("?" * len(ids))
        kept = f"({Standing.BOTH:d}, {Standing.ACCOUNT:d})"
        sent = self._all(
            "SELECT profile, cid, timestamp, bytes, standing, run, service_name, id FROM entries"  # noqa: S608 – marks only
            f" WHERE id IN ({marks}) AND direction = 'sent' AND recorded",
            ids,
        )
        sql = f"DELETE FROM entries WHERE id IN ({marks}) AND (recorded OR standing NOT IN {kept})"  # noqa: S608 – marks
        removed = self.connection.execute(sql, ids).rowcount
        for profile, cid, timestamp, size, standing, run, service_name, id_ in sent:
            if not standing:
                gather_words(self.connection, cid, profile)
                continue
            before = self.connection.execute(
                f"SELECT max(id) FROM {BY_ENDING} WHERE {OF_CID} AND profile = ? AND direction = 'sent'",  # noqa: S608
                (*of_cid(cid), profile),
            ).fetchone()[0]
            if before is not None:  # an older record of the same content
                self.connection.execute(
                    "UPDATE entries SET standing = ?, run = ?, service_name = ? WHERE id = ?",
                    (standing, run, service_name, before),
                )
                gather_words(self.connection, cid, profile)
            elif standing == Standing.BOTH:
                bare = Entry(0, cid, timestamp, max(size, 0), "file", "sent", profile, service_name=service_name)
                bare = replace(bare, recorded=False, bytes=None if size < 0 else size)
                self.insert_new([(id_, bare, None)], run)
        return removed

    def _select(self, query: Query) -> Selection:
        return select(
            query,
            searchable=self.searchable,
            look_up=lambda sql, values: [row[0] for row in self._all(sql, values)],
        )

    def _all(self, sql: str, values: Sequence[Any]) -> list[Any]:
        with explained(self.path):
            return self.connection.execute(sql, values).fetchall()


def _first_id(timestamp: int, dated: bool = True) -> int:
    return (timestamp << ID_BITS) + (0 if dated else UNDATED)


def _no_more(timestamp: int) -> HistoryError:
    return HistoryError(f"The history holds no more rows with the time {timestamp}.")


class NewIds:
    """Ids for many rows that are inserted together: each is the next of its millisecond."""

    def __init__(self, history: HistoryFile, timestamps: Iterable[int]) -> None:
        self._history = history
        self._free = {moment << ID_BITS for moment in timestamps if 0 <= moment <= MAX_TIMESTAMP}
        # Most milliseconds have no row: their first id needs no question of its own.
        self._free -= history.known_firsts(list(self._free))
        self._next: dict[int, int] = {}

    def take(self, timestamp: int, *, dated: bool = True) -> int:
        """An id that no row has."""
        first = _first_id(timestamp, dated)
        if first in self._free:
            self._free.remove(first)
            return first
        id_ = self._next.get(first)
        if id_ is None:
            id_ = max(self._history.next_id(timestamp, dated=dated), first + 1)
        elif id_ >= first + UNDATED:
            raise _no_more(timestamp)
        self._next[first] = id_ + 1
        return id_

    def keep_free(self, id_: int) -> None:
        """This id was given away: later ones of its millisecond come behind it."""
        timestamp = id_ >> ID_BITS
        first = _first_id(timestamp)
        self._free.discard(first)
        if (self._next.get(first) or id_) <= id_:
            self._next[first] = max(self._history.next_id(timestamp), id_ + 1)


INSERT = (
    "INSERT INTO entries (id, cid, timestamp, size, kind, direction, profile, name, note, recipient, excerpt,"
    " verification, bytes, is_folder, source, service_name, standing, recorded, run, ending, title)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


PROFILE, BYTES, STANDING = 6, 12, 16
"""Positions among these values."""


def _values(entry: Entry, entry_id: int, data: str | None, standing: int, run: int) -> tuple[Any, ...]:
    name, note, recipient = storable(entry.name), storable(entry.note), storable(entry.recipient)
    excerpt, service_name = storable((entry.excerpt or "")[:EXCERPT]) or None, storable(entry.service_name)
    return (
        entry_id,
        entry.cid,
        entry.timestamp,
        entry.size,
        entry.kind,
        entry.direction,
        entry.profile,
        name,
        note,
        recipient,
        excerpt,
        entry.verification,
        -1 if entry.bytes is None else entry.size if data is None else len(data.encode("utf-8")),
        entry.is_folder,
        storable(entry.source),
        service_name,
        standing,
        entry.recorded,
        run,
        ending(entry.cid),
        title_key(entry.kind, name, recipient, note, excerpt, service_name, entry.cid),
    )


def _text(values: tuple[Any, ...]) -> str:
    """The searched text of a row, as the triggers have it."""
    kind, name, note, recipient, excerpt, service_name = (*values[4:5], *values[7:11], values[15])
    return folded("\n" if kind == "message" else None, name, note, excerpt, service_name, recipient)


def storable(text: str | None) -> str | None:
    """Text that SQLite can hold."""
    return text if text is None or text.isascii() else encodable(text)
