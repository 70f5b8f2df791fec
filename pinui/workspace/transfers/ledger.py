"""The ledger beside an event loop: the same file on a thread of its own, and marks of finished items in groups."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from pinui.workspace.database_thread import DatabaseThread, offered, to_its_end
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.transfers.ledger_file import LedgerFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pinui.workspace.transfers.rows import Item

__all__ = ["Ledger"]

GATHERING = 0.2
"""Seconds in which the marks of finished items are gathered: each write waits for the disk."""

R = TypeVar("R")


class Ledger:
    """The methods of `LedgerFile`, for an event loop. A cancelled caller still waits until its change is made."""

    def __init__(self, path: Path) -> None:
        self._thread = DatabaseThread("ledger", LedgerFile(path))
        self._marked: list[Item] = []
        self._marking: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    async def do(self, work: Callable[[LedgerFile], R]) -> R:
        """Use the file on the ledger's thread."""
        return await to_its_end(self._thread.run(work))

    add = offered(do, LedgerFile.add)
    requests = offered(do, LedgerFile.requests)
    left_at = offered(do, LedgerFile.left_at)
    has_news = offered(do, LedgerFile.has_news)
    find = offered(do, LedgerFile.find)
    claim = offered(do, LedgerFile.claim)
    let_go = offered(do, LedgerFile.let_go)
    forget = offered(do, LedgerFile.forget)
    tally = offered(do, LedgerFile.tally)
    list_again = offered(do, LedgerFile.list_again)
    add_items = offered(do, LedgerFile.add_items)
    end_listing = offered(do, LedgerFile.end_listing)
    take = offered(do, LedgerFile.take)
    put_back = offered(do, LedgerFile.put_back)
    retry = offered(do, LedgerFile.retry)
    ids = offered(do, LedgerFile.ids)
    items = offered(do, LedgerFile.items)

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

    async def aclose(self) -> None:
        """Finish the running work and close the file."""
        with suppress(WorkspaceError):
            await self.marked()
        await self._thread.aclose()

    async def _write_marks(self) -> None:
        while self._marked:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), GATHERING)
            self._hurry.clear()
            marked, self._marked = self._marked, []
            await self.do(lambda file, marked=marked: file.write_items(marked))
