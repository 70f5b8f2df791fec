"""Uploads and downloads in the background: a queue that belongs to the workspace, not to a screen."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from pinui.workspace.errors import WrongCID
from pinui.workspace.sentences import sentence_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pinui.sdk.models import LeftOut, OnVerdict, Verification
    from pinui.workspace.rows import Entry
    from pinui.workspace.service import Service

__all__ = ["Progress", "Rate", "Transfer", "Transfers"]

AT_ONCE = 3
NOTICE_SECONDS = 0.1  # often enough for a screen
RATE_SECONDS = 3.0  # the time that the rate is averaged over, about


class Progress(Protocol):
    """Progress: the bytes done, and the total if it is known."""

    def __call__(self, done: int, total: int | None, /) -> None: ...


class Work(Protocol):
    """The work of one transfer at a service, which can be repeated."""

    def __call__(self, service: Service, progress: Progress, /) -> Awaitable[None]: ...


class Operations(Protocol):
    """The operations that the queue runs; `Workspace` has them."""

    @property
    def service(self) -> Service: ...

    async def upload(
        self,
        source: Path,
        *,
        name: str | None = None,
        hidden: bool = False,
        follow_links: bool = False,
        on_progress: Progress | None = None,
        on_left_out: Callable[[LeftOut], None] | None = None,
        at: Service | None = None,
    ) -> Entry: ...

    async def download(
        self,
        address: str,
        to: Path,
        *,
        overwrite: bool = False,
        on_progress: Progress | None = None,
        on_verdict: OnVerdict | None = None,
        at: Service | None = None,
    ) -> Path: ...


@dataclass(slots=True)
class Rate:
    """Bytes a second, smoothed so that a number on a screen can be read."""

    value: float | None = None
    _done: int = 0
    _at: float | None = None

    def add(self, done: int, now: float) -> None:
        """Add a measurement."""
        if self._at is None or done < self._done:  # the first one, or the first after a restart
            self._done, self._at = done, now
            return
        passed = now - self._at
        if passed < NOTICE_SECONDS:
            return
        current = (done - self._done) / passed
        weight = min(1.0, passed / RATE_SECONDS)
        self.value = current if self.value is None else self.value + weight * (current - self.value)
        self._done, self._at = done, now

    def remaining(self, done: int, total: int | None) -> float | None:
        """The remaining seconds, if they can be estimated."""
        if total is None or not self.value:
            return None
        return max(0.0, (total - done) / self.value)


@dataclass(slots=True)
class Transfer:
    """One row of the list of transfers."""

    id: int
    direction: Literal["upload", "download"]
    title: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"] = "waiting"
    done: int = 0
    total: int | None = None
    rate: float | None = None
    """Bytes a second."""
    remaining: float | None = None
    """Seconds."""
    cid: str | None = None
    path: Path | None = None
    error: str | None = None
    """A sentence."""
    hint: str | None = None
    """The next step for the user."""
    failure: BaseException | None = None
    """The error itself."""
    entry: Entry | None = None
    """The row of the history that an upload made."""
    verification: str | None = None
    """The verdict on the downloaded content."""
    left_out: LeftOut | None = None
    """The entries that the upload of a folder left out."""
    started_at: float | None = None
    ended_at: float | None = None
    profile: str | None = None
    """The profile it started with; it ends there, even after a switch."""

    @property
    def has_ended(self) -> bool:
        """Whether it is done, failed or cancelled."""
        return self.state in ("done", "failed", "cancelled")


class Transfers:
    """The queue. At most three transfers run at once; the others wait in their order."""

    def __init__(self, operations: Operations, changed: Callable[[], None]) -> None:
        self._operations = operations
        self._changed = changed
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._next_id = 1
        self._work: dict[int, Work] = {}
        self._services: dict[int, Service] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self.all: list[Transfer] = []

    @property
    def active(self) -> int:
        """The number of transfers that have not ended."""
        return sum(not transfer.has_ended for transfer in self.all)

    def upload(
        self, path: Path, *, name: str | None = None, hidden: bool = False, follow_links: bool = False
    ) -> Transfer:
        """Queue a file or folder; `hidden` and `follow_links` apply to folders."""
        transfer = self._new("upload", name or path.name or str(path))
        transfer.path = path

        async def work(service: Service, progress: Progress) -> None:
            def note(left_out: LeftOut) -> None:
                transfer.left_out = left_out
                transfer.title = f"{transfer.title.rstrip('/')}/"

            try:
                entry = await self._operations.upload(
                    path,
                    name=name,
                    hidden=hidden,
                    follow_links=follow_links,
                    on_progress=progress,
                    on_left_out=note,
                    at=service,
                )
            except WrongCID as error:
                transfer.cid, transfer.entry = error.entry.cid, error.entry
                raise
            transfer.cid, transfer.entry, transfer.verification = entry.cid, entry, entry.verification

        return self._start(transfer, work)

    def download(self, address: str, to: Path, *, overwrite: bool = False, title: str | None = None) -> Transfer:
        """Queue the download of an address."""
        transfer = self._new("download", title or to.name or address)
        transfer.cid, transfer.path = address, to

        async def work(service: Service, progress: Progress) -> None:
            def note(verdict: Verification | None) -> None:
                transfer.verification = verdict

            transfer.path = await self._operations.download(
                address, to, overwrite=overwrite, on_progress=progress, on_verdict=note, at=service
            )

        return self._start(transfer, work)

    def cancel(self, id: int) -> None:  # noqa: A002 – it is the transfer's id
        """Cancel a transfer, unless it has ended."""
        if (task := self._tasks.get(id)) is not None:
            task.cancel()

    def retry(self, id: int) -> None:  # noqa: A002
        """Restart a failed or cancelled transfer, with the same profile; if it is in use, with its current settings."""
        transfer = next((transfer for transfer in self.all if transfer.id == id), None)
        if transfer is not None and transfer.state in ("failed", "cancelled"):
            used = self._operations.service
            if used.profile.name == transfer.profile:
                self._services[id] = used
            transfer.state, transfer.error, transfer.hint, transfer.failure = "waiting", None, None, None
            transfer.done, transfer.rate, transfer.remaining = 0, None, None
            transfer.started_at = transfer.ended_at = None
            self._start(transfer, self._work[id])

    def clear_ended(self) -> None:
        """Remove ended transfers from the list."""
        self.all = [transfer for transfer in self.all if not transfer.has_ended]
        self._work = {transfer.id: self._work[transfer.id] for transfer in self.all}
        self._services = {transfer.id: self._services[transfer.id] for transfer in self.all}
        self._changed()

    async def wait(self, transfer: Transfer) -> None:
        """Wait until a transfer has ended."""
        if (task := self._tasks.get(transfer.id)) is not None:
            await asyncio.wait([task])

    async def join(self) -> None:
        """Wait until all transfers have ended."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def cancel_all(self) -> None:
        """Cancel all transfers, and wait until they have cleaned up."""
        for task in self._tasks.values():
            task.cancel()
        await self.join()

    def _new(self, direction: Literal["upload", "download"], title: str) -> Transfer:
        service = self._operations.service
        transfer = Transfer(self._next_id, direction, title, profile=service.profile.name)
        self._services[transfer.id] = service
        self._next_id += 1
        self.all.append(transfer)
        return transfer

    def _start(self, transfer: Transfer, work: Work) -> Transfer:
        task = asyncio.get_running_loop().create_task(self._run(transfer, work))
        self._work[transfer.id], self._tasks[transfer.id] = work, task
        # A task that is cancelled before it starts runs no code of its own: this still ends its row.
        task.add_done_callback(lambda _: self._end(transfer))
        self._changed()
        return transfer

    async def _run(self, transfer: Transfer, work: Work) -> None:
        # Held while it waits, too: after a switch, the client of the old profile stays open for its queue.
        with self._services[transfer.id].held() as service:
            async with self._slots:
                transfer.state, transfer.started_at = "running", time.time()
                self._changed()
                try:
                    await work(service, self._watch(transfer))
                except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 – the row shows any error, and the queue goes on
                    transfer.state = "failed"
                    transfer.failure = error
                    transfer.error, transfer.hint = sentence_for(error)
                else:
                    transfer.state = "done"
                    transfer.done = transfer.total if transfer.total is not None else transfer.done

    def _end(self, transfer: Transfer) -> None:
        if not transfer.has_ended:
            transfer.state = "cancelled"
        transfer.rate = transfer.remaining = None
        transfer.ended_at = time.time()
        self._tasks.pop(transfer.id, None)
        self._changed()

    def _watch(self, transfer: Transfer) -> Progress:
        rate = Rate()
        told = 0.0

        def note(done: int, total: int | None, /) -> None:
            nonlocal told
            now = time.monotonic()
            transfer.done, transfer.total = done, total
            rate.add(done, now)
            transfer.rate, transfer.remaining = rate.value, rate.remaining(done, total)
            if now - told >= NOTICE_SECONDS:
                told = now
                self._changed()

        return note
