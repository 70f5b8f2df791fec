"""The ledger beside an event loop: the same file on a thread of its own, and marks of finished items in groups."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from pinui.workspace.errors import WorkspaceError
from pinui.workspace.transfers.ledger_file import LedgerFile

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from pinui.workspace.transfers.rows import Item

__all__ = ["Ledger"]

GATHERING = 0.2
"""Seconds in which the marks of finished items are gathered: each write waits for the disk."""

P = ParamSpec("P")
R = TypeVar("R")


def _on_thread(
    method: Callable[Concatenate[LedgerFile, P], R],
) -> Callable[Concatenate[Ledger, P], Coroutine[Any, Any, R]]:
    """A method of `LedgerFile`, on the ledger's thread."""

    @wraps(method)
    async def run(ledger: Ledger, *args: P.args, **options: P.kwargs) -> R:
        return await ledger.do(lambda file: method(file, *args, **options))

    return run


class Ledger:
    """The methods of `LedgerFile`, for an event loop. A cancelled caller still waits until its change is made."""

    def __init__(self, path: Path) -> None:
        self._file = LedgerFile(path)
        self._thread: ThreadPoolExecutor | None = None
        self._marked: list[Item] = []
        self._marking: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    add = _on_thread(LedgerFile.add)
    requests = _on_thread(LedgerFile.requests)
    left_at = _on_thread(LedgerFile.left_at)
    has_news = _on_thread(LedgerFile.has_news)
    find = _on_thread(LedgerFile.find)
    claim = _on_thread(LedgerFile.claim)
    let_go = _on_thread(LedgerFile.let_go)
    forget = _on_thread(LedgerFile.forget)
    tally = _on_thread(LedgerFile.tally)
    list_again = _on_thread(LedgerFile.list_again)
    add_items = _on_thread(LedgerFile.add_items)
    end_listing = _on_thread(LedgerFile.end_listing)
    take = _on_thread(LedgerFile.take)
    put_back = _on_thread(LedgerFile.put_back)
    retry = _on_thread(LedgerFile.retry)
    ids = _on_thread(LedgerFile.ids)
    items = _on_thread(LedgerFile.items)

    def mark(self, item: Item, *, is_done: bool = False) -> None:
        """Write the state and the results of an item soon; one that is done a little later, together with others.

        It may be lost if the process is killed before: the work of an item finds out what it has done already.
        """
        self._marked.append(item)
        if not is_done:
            self._hurry.set()
        if self._marking is None or self._marking.done():
            self._marking = asyncio.get_running_loop().create_task(self._write_marks())

    async def marked(self) -> None:
        """Wait until every mark is written; an error of the disk is raised here."""
        self._hurry.set()
        while self._marking is not None:
            marking = self._marking
            try:
                await asyncio.shield(marking)
            finally:
                if marking.done() and self._marking is marking:
                    self._marking = None

    async def do(self, work: Callable[[LedgerFile], R]) -> R:
        """Use the file on the ledger's thread."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "pinui-ledger")
        task = asyncio.get_running_loop().run_in_executor(self._thread, work, self._file)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    async def aclose(self) -> None:
        """Finish the running work and close the file."""
        if self._thread is not None:
            with suppress(WorkspaceError):
                await self.marked()
            await self.do(LedgerFile.close)
            self._thread.shutdown(wait=False)
            self._thread = None

    async def _write_marks(self) -> None:
        while self._marked:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), GATHERING)
            self._hurry.clear()
            marked, self._marked = self._marked, []
            await self.do(lambda file, marked=marked: file.write_items(marked))
