"""The history for the faces: the same file, on a thread of its own, so that no disk stalls an event loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from pinui.workspace.history.files import LineReader, LineWriter
from pinui.workspace.history.store import HistoryFile
from pinui.workspace.models import ImportReport
from pinui.workspace.rows import Entry, Query, Recipient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from pinui.sdk.models import ClientRecord

__all__ = ["History"]

R = TypeVar("R")


class History:
    """Every record that a write returned or a reader received. See `HistoryFile` for what each call does."""

    def __init__(
        self, path: Path, *, changed: Callable[[], None] | None = None, profile: Callable[[], str] = lambda: "local"
    ) -> None:
        """`profile` tells whose an imported line is that names none."""
        self.path = path
        self._profile = profile
        self._changed = changed or (lambda: None)
        self._file: HistoryFile | None = None
        self._thread: ThreadPoolExecutor | None = None

    # Reading

    async def count(self, query: Query) -> int:
        """How many rows a query means."""
        return await self._do(lambda file: file.count(query))

    async def count_pins(self, query: Query) -> int:
        """How many pins the rows of a query are: rows that share a CID are one."""
        return await self._do(lambda file: file.count_pins(query))

    async def ids(self, query: Query) -> Sequence[int]:
        """Their ids in order: a snapshot that a list can keep while rows arrive."""
        return await self._do(lambda file: file.ids(query))

    async def entries(self, ids: Sequence[int]) -> list[Entry]:
        """These rows, in the order given; forgotten ones are left out."""
        return await self._do(lambda file: file.entries(ids))

    async def page(self, query: Query, *, after: Entry | None = None, limit: int = 100) -> list[Entry]:
        """The rows that follow `after`."""
        return await self._do(lambda file: file.page(query, after=after, limit=limit))

    async def latest(self, cid: str, profile: str | None = None) -> Entry | None:
        """The newest row with this CID."""
        return await self._do(lambda file: file.latest(cid, profile))

    async def received(self, cid: str, profile: str) -> Entry | None:
        """The newest row of a message that was received under this CID."""
        return await self._do(lambda file: file.latest(cid, profile, direction="received"))

    async def record(self, entry_id: int) -> ClientRecord[Any] | None:
        """The whole record of a row, with its data."""

        def read(file: HistoryFile) -> ClientRecord[Any] | None:
            from pinui.ipfs.jsontext import parse
            from pinui.sdk.models import ClientRecord  # here, so that listing rows does not load the SDK

            entries = file.entries([entry_id])
            if not entries:
                return None
            text = file.document(entry_id)
            data: Any = None if text is None else parse(text)
            entry = entries[0]
            return ClientRecord(cid=entry.cid, timestamp=entry.timestamp, data=data, size=entry.size)

        return await self._do(read)

    async def recipients(self, profile: str | None) -> list[Recipient]:
        """Everybody messages were sent to or filed under, newest first."""
        return await self._do(lambda file: file.recipients(profile))

    async def rows_sharing(self, cids: Iterable[str], profile: str) -> int:
        """How many rows have one of these CIDs in a profile."""
        wanted = set(cids)
        return await self._do(lambda file: file.rows_sharing(wanted, profile))

    async def total_size(self, ids: Iterable[int]) -> int:
        """Bytes of these rows together."""
        wanted = list(ids)
        return await self._do(lambda file: file.total_size(wanted))

    # Writing

    async def check(self) -> None:
        """Open the file, if it is not open: `HistoryError` says that nothing could be written to it."""
        await self._do(HistoryFile.check)

    async def add(self, entry: Entry, data: str | None) -> Entry:
        """Write a row for good, even if the caller is cancelled meanwhile."""
        return await self._write(lambda file: file.add(entry, data))

    async def mark_revoked(self, cid: str, profile: str, revoked_at: int, *, was_pinned: bool = True) -> None:
        """Note that a CID is no longer pinned at a service; if it was not pinned any more, an earlier mark stays."""
        await self._write(lambda file: file.mark_revoked(cid, profile, revoked_at, was_pinned=was_pinned))

    async def set_verification(self, cid: str, profile: str, verdict: str) -> None:
        """Note what reading it back has shown, on every row of the CID."""
        await self._write(lambda file: file.set_verification(cid, profile, verdict))

    async def rename(self, entry_id: int, name: str | None) -> None:
        """Give a row a name; None takes it away."""
        await self._write(lambda file: file.set_text(entry_id, "name", name))

    async def annotate(self, cid: str, profile: str, note: str) -> None:
        """Give every row of a CID a note; an empty one takes it away."""
        await self._write(lambda file: file.set_note(cid, profile, note))

    async def file_under(self, entry_id: int, recipient: str | None) -> None:
        """File a received message under a name; None puts it back."""
        await self._write(lambda file: file.set_text(entry_id, "recipient", recipient))

    async def forget(self, which: Iterable[int] | Query) -> int:
        """Remove rows for good: these, or all that a query means. Nothing is unpinned by it."""
        wanted = which if isinstance(which, Query) else list(which)
        return await self._write(lambda file: file.forget(file.ids(wanted) if isinstance(wanted, Query) else wanted))

    # JSON lines

    async def export_lines(self, path: Path) -> int:
        """Write every row to a file, which appears when it is whole. Returns how many."""
        writer = LineWriter(path)
        try:
            while await self._do(writer.write_some):
                pass
            return await self._do(writer.finish)
        finally:
            await asyncio.shield(self._do(writer.abandon))

    async def import_lines(self, path: Path) -> ImportReport:
        """Add the rows of such a file that are not there yet; bad lines are reported and the rest is imported."""
        reader = LineReader(path, profile=self._profile())
        try:
            while await self._do(reader.read_some):
                self._changed()
        finally:
            await asyncio.shield(self._do(reader.close))
            self._changed()
        return reader.report

    async def aclose(self) -> None:
        """Finish what was begun and close the file."""
        if self._thread is not None:
            await self._do(HistoryFile.close)
            self._thread.shutdown(wait=False)
            self._thread = None

    async def _do(self, work: Callable[[HistoryFile], R]) -> R:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "pinui-history")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._with_file, work)

    def _with_file(self, work: Callable[[HistoryFile], R]) -> R:
        if self._file is None:
            self._file = HistoryFile(self.path)
        return work(self._file)

    async def _write(self, work: Callable[[HistoryFile], R]) -> R:
        # A cancelled caller must not leave it open whether the row was written: it always is.
        task = asyncio.ensure_future(self._do(work))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise
        finally:
            self._changed()
