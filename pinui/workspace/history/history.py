"""The history beside an event loop: the same file on a thread of its own, so that no disk stalls the loop."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from pinui.workspace.history import account
from pinui.workspace.history.store import HistoryFile

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from pinui.workspace.rows import Entry, Query

__all__ = ["History"]

P = ParamSpec("P")
R = TypeVar("R")


def _reading(
    method: Callable[Concatenate[HistoryFile, P], R],
) -> Callable[Concatenate[History, P], Coroutine[Any, Any, R]]:
    """A method of `HistoryFile` that changes nothing: it waits for no writer but while one commits."""

    @wraps(method)
    async def read(history: History, *args: P.args, **options: P.kwargs) -> R:
        return await history.read(lambda file: method(file, *args, **options))

    return read


def _in_turn(
    method: Callable[Concatenate[HistoryFile, P], R],
) -> Callable[Concatenate[History, P], Coroutine[Any, Any, R]]:
    """A method of `HistoryFile`, on the thread that writes."""

    @wraps(method)
    async def do(history: History, *args: P.args, **options: P.kwargs) -> R:
        return await history.do(lambda file: method(file, *args, **options))

    return do


def _writing(
    method: Callable[Concatenate[HistoryFile, P], R],
) -> Callable[Concatenate[History, P], Coroutine[Any, Any, R]]:
    """The same for a method that changes rows."""

    @wraps(method)
    async def write(history: History, *args: P.args, **options: P.kwargs) -> R:
        return await history.write(lambda file: method(file, *args, **options))

    return write


class History:
    """Every record that a write returned or a reader received: the methods of `HistoryFile`, for an event loop."""

    def __init__(self, path: Path, *, changed: Callable[[], None] | None = None) -> None:
        self.path = path
        self._changed = changed or (lambda: None)
        self._writer = _Thread("writer", HistoryFile(path))
        self._reader = _Thread("reader", HistoryFile(path))
        self._lists = _Thread("lists", HistoryFile(path))
        self._listed: tuple[tuple[Query, int, int], array[int]] | None = None
        self._new: list[tuple[Entry, str | None, asyncio.Future[Entry]]] = []
        self._adding: asyncio.Task[None] | None = None

    async def add(self, entry: Entry, data: str | None) -> Entry:
        """Write a row: it is on the disk when this returns. Rows that arrive meanwhile are written together."""
        written: asyncio.Future[Entry] = asyncio.get_running_loop().create_future()
        self._new.append((entry, data, written))
        if self._adding is None or self._adding.done():
            self._adding = asyncio.get_running_loop().create_task(self._add_new())
        return await _ended(written)

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
        return await _ended(self._lists.run(work), self._lists.file.interrupt)

    count = _reading(HistoryFile.count)
    count_pins = _reading(HistoryFile.count_pins)
    ids = _reading(HistoryFile.ids)
    entries = _reading(HistoryFile.entries)
    page = _reading(HistoryFile.page)
    latest = _reading(HistoryFile.latest)
    pin_of = _reading(HistoryFile.pin_of)
    may_know = _reading(HistoryFile.may_know)
    sent_since = _reading(HistoryFile.sent_since)
    record = _reading(HistoryFile.record)
    recipients = _reading(HistoryFile.recipients)
    rows_sharing = _reading(HistoryFile.rows_sharing)
    pinned_elsewhere = _reading(HistoryFile.pinned_elsewhere)
    standings = _reading(HistoryFile.standings)
    total_size = _reading(HistoryFile.total_size)
    check = _in_turn(HistoryFile.check)

    mark_revoked = _writing(HistoryFile.mark_revoked)
    set_verification = _writing(HistoryFile.set_verification)
    rename = _writing(HistoryFile.rename)
    annotate = _writing(HistoryFile.annotate)
    file_under = _writing(HistoryFile.file_under)
    forget = _writing(HistoryFile.forget)

    # The mirror tells of a run by itself, and these change no row in sight.
    begin_run = _in_turn(account.begin_run)
    drop_vanished = _in_turn(account.drop_vanished)
    finish_run = _in_turn(account.finish_run)
    add_pin = _writing(account.add_pin)
    name_pin = _writing(account.name_pin)
    merge_pins = _writing(account.merge_pins)
    forget_account = _writing(account.forget_account)
    account_state = _reading(account.account_state)

    async def aclose(self) -> None:
        """Finish the running work and close the file."""
        self._listed = None
        for thread in (self._lists, self._reader, self._writer):
            await thread.aclose()

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
            return await _ended(asyncio.ensure_future(self.do(work)))
        finally:
            self._changed()


class _Thread:
    """The file on a thread of its own, which begins with the first work."""

    def __init__(self, name: str, file: HistoryFile) -> None:
        self.file = file
        self._name = name
        self._pool: ThreadPoolExecutor | None = None

    def run(self, work: Callable[[HistoryFile], R]) -> asyncio.Future[R]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, f"pinui-{self._name}")
        return asyncio.get_running_loop().run_in_executor(self._pool, work, self.file)

    async def aclose(self) -> None:
        if self._pool is not None:
            await self.run(HistoryFile.close)
            self._pool.shutdown(wait=False)
            self._pool = None


async def _ended(work: asyncio.Future[R], given_up: Callable[[], None] | None = None) -> R:
    """Wait for work that can't be stopped, also if the caller is cancelled; `given_up` is called in that case."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if given_up is not None:
            given_up()
        work.add_done_callback(lambda work: work.cancelled() or work.exception())  # nobody else looks at an error
        await asyncio.wait([work])
        raise
