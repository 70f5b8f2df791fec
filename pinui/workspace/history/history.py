"""The history beside an event loop: the same file on a thread of its own, so that no disk stalls the loop."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

from pinui.workspace.database_thread import DatabaseThread, offered, to_its_end
from pinui.workspace.history import account
from pinui.workspace.history.store import HistoryFile

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable
    from pathlib import Path

    from pinui.workspace.rows import Entry, Query

__all__ = ["History"]

R = TypeVar("R")


class History:
    """Every record that a write returned or a reader received: the methods of `HistoryFile`, for an event loop."""

    def __init__(self, path: Path, *, changed: Callable[[], None] | None = None) -> None:
        self.path = path
        self._changed = changed or (lambda: None)
        self._writer = DatabaseThread("writer", HistoryFile(path))
        self._reader = DatabaseThread("reader", HistoryFile(path))
        self._lists = DatabaseThread("lists", HistoryFile(path))
        self._listed: tuple[tuple[Query, int, int], array[int]] | None = None
        self._new: list[tuple[Entry, str | None, asyncio.Future[Entry]]] = []
        self._adding: asyncio.Task[None] | None = None

    async def add(self, entry: Entry, data: str | None) -> Entry:
        """Write a row: it is on the disk when this returns. Rows that arrive meanwhile are written together."""
        written: asyncio.Future[Entry] = asyncio.get_running_loop().create_future()
        self._new.append((entry, data, written))
        if self._adding is None or self._adding.done():
            self._adding = asyncio.get_running_loop().create_task(self._add_new())
        return await to_its_end(written)

    async def _add_new(self) -> None:
        while self._new:
            rows, self._new = self._new, []
            try:
                added = await self.do(lambda file, rows=rows: file.add_all([(entry, data) for entry, data, _ in rows]))
            except Exception as error:  # noqa: BLE001 – each caller gets its own
                if len(rows) == 1:
                    rows[0][2].set_exception(error)
                else:  # the others may be in order
                    await self._add_each(rows)
            else:
                for (_, _, written), entry in zip(rows, added, strict=True):
                    written.set_result(entry)
            self._changed()

    async def _add_each(self, rows: list[tuple[Entry, str | None, asyncio.Future[Entry]]]) -> None:
        for entry, data, written in rows:
            try:
                written.set_result(await self.do(lambda file, entry=entry, data=data: file.add(entry, data)))
            except Exception as error:  # noqa: BLE001 – the caller of this row gets it
                written.set_exception(error)

    async def list_ids(self, query: Query) -> array[int]:
        """The ids of a long list, read beside everything else: other reads and writes don't wait for them.

        A list that is asked for again is read again only if the file has changed, or the minute: filters know ages.
        """

        def read(file: HistoryFile) -> array[int]:
            key = query, file.version(), int(time.time() // 60) if "age:" in query.text else 0
            if self._listed is None or self._listed[0] != key:
                self._listed = None  # before another one takes as much memory
                self._listed = key, file.ids(query)
            return self._listed[1]

        return await self._beside(read)

    async def list_page(self, query: Query, limit: int) -> list[Entry]:
        """The first rows of a long list, in the same way."""
        return await self._beside(lambda file: file.page(query, limit=limit))

    async def _beside(self, work: Callable[[HistoryFile], R]) -> R:
        # A list that no caller waits for any more must not keep the next one waiting.
        return await to_its_end(self._lists.run(work), self._lists.file.interrupt)

    async def do(self, work: Callable[[HistoryFile], R]) -> R:
        """Use the file on the thread that writes."""
        return await self._writer.run(work)

    async def read(self, work: Callable[[HistoryFile], R]) -> R:
        """Read beside the thread that writes. That one opens the file first: a migration may take a while."""
        if not self._writer.file.is_open:
            await self.do(lambda file: file.connection)
        return await self._reader.run(work)

    async def write(self, work: Callable[[HistoryFile], R]) -> R:
        """Change the file on the history's thread; a cancelled caller still waits until the change is made."""
        try:
            return await to_its_end(asyncio.ensure_future(self.do(work)))
        finally:
            self._changed()

    count = offered(read, HistoryFile.count)
    count_pins = offered(read, HistoryFile.count_pins)
    ids = offered(read, HistoryFile.ids)
    entries = offered(read, HistoryFile.entries)
    page = offered(read, HistoryFile.page)
    latest = offered(read, HistoryFile.latest)
    pin_of = offered(read, HistoryFile.pin_of)
    may_know = offered(read, HistoryFile.may_know)
    sent_since = offered(read, HistoryFile.sent_since)
    record = offered(read, HistoryFile.record)
    recipients = offered(read, HistoryFile.recipients)
    rows_sharing = offered(read, HistoryFile.rows_sharing)
    pinned_elsewhere = offered(read, HistoryFile.pinned_elsewhere)
    standings = offered(read, HistoryFile.standings)
    total_size = offered(read, HistoryFile.total_size)
    check = offered(do, HistoryFile.check)

    mark_revoked = offered(write, HistoryFile.mark_revoked)
    set_verification = offered(write, HistoryFile.set_verification)
    rename = offered(write, HistoryFile.rename)
    annotate = offered(write, HistoryFile.annotate)
    file_under = offered(write, HistoryFile.file_under)
    forget = offered(write, HistoryFile.forget)

    # The mirror tells of a run by itself, and these change no row in sight.
    begin_run = offered(do, account.begin_run)
    drop_vanished = offered(do, account.drop_vanished)
    finish_run = offered(do, account.finish_run)
    add_pin = offered(write, account.add_pin)
    name_pin = offered(write, account.name_pin)
    merge_pins = offered(write, account.merge_pins)
    forget_account = offered(write, account.forget_account)
    account_state = offered(read, account.account_state)

    async def aclose(self) -> None:
        """Finish the running work and close the file."""
        self._listed = None
        for thread in (self._lists, self._reader, self._writer):
            await thread.aclose()
