"""The queue: runs the items of every transfer in the background, and keeps the ledger true to it."""

from __future__ import annotations

import asyncio
import errno
import math
import os
import time
from array import array
from collections import deque
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from pinui.sdk.writing.folder_rules import USUAL, FolderRules
from pinui.workspace.errors import NoToken, NotThere, WorkspaceError
from pinui.workspace.rows import now_ms
from pinui.workspace.sentences import sentence_for
from pinui.workspace.transfers.rows import Item, ItemState
from pinui.workspace.transfers.slots import Slots
from pinui.workspace.transfers.transfer import NOTICE_SECONDS, Progress, Rate, Transfer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from pinui.workspace.service import Service
    from pinui.workspace.transfers.ledger import Ledger
    from pinui.workspace.transfers.rows import NewItem, Request, Tally
    from pinui.workspace.transfers.transfer import Kind

__all__ = ["AT_ONCE", "Totals", "Transfers", "absolute", "download_options", "upload_options"]

AT_ONCE = 3
TAKEN = 16
"""Items that are marked as begun together: one write to the disk for all of them."""
MANY = 500
NOTED = 5.0
"""Seconds after which the progress of a download is written down again."""
MEASURED = 1.0
"""Seconds after which a rate is measured again, even if nothing has arrived."""
PAUSES = (15, 30, 60, 120, 300)
"""Seconds until a service that can't be reached is tried again; the last one is for all further tries."""
DISK_TROUBLE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.ENOENT, errno.ENOTDIR, errno.EIO, errno.EROFS))
GONE = "Another pinui process has finished or forgotten this transfer."
TO_DO = (ItemState.WAITING, ItemState.RUNNING)


class Services(Protocol):
    """The services that transfers run at; `Workspace` has them."""

    @property
    def service(self) -> Service: ...

    def service_named(self, name: str) -> Service: ...


@dataclass(slots=True)
class _Line:
    """The next items of a transfer, taken from the ledger."""

    taken: deque[Item] = field(default_factory=deque[Item])
    taking: asyncio.Lock = field(default_factory=asyncio.Lock)
    ends_as: Literal["cancelled", "paused", "left"] = "left"
    """The state of the transfer if its task is cancelled."""
    items: Sequence[NewItem] | None = None
    """Its items, where they were given with the request."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once all items are written down."""
    again: Literal["", "resume", "retry", "list"] = ""
    """How a request that is in the ledger already goes on."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The progress of all active transfers together."""

    kinds: tuple[str, ...]
    items: int
    finished: int
    done: int
    """Bytes."""
    size: int
    rate: float | None
    """Bytes a second."""
    remaining: float | None
    """Seconds."""


@dataclass(slots=True)
class _Away:
    """A service that can't be reached: all its items wait together."""

    service: Service
    error: BaseException
    until: float
    """In `time.monotonic()` seconds."""
    tries: int
    """How often it was tried again."""
    go_on: asyncio.Event = field(default_factory=asyncio.Event)


class Transfers:
    """The transfers of this process. A few items run at once; the others wait in the ledger."""

    def __init__(
        self,
        services: Services,
        ledger: Ledger,
        kinds: Mapping[str, Kind],
        changed: Callable[[], None],
        *,
        slots: Slots,
        on_wait: Callable[[Service, float], None] = lambda _service, _seconds: None,
    ) -> None:
        self.is_patient = False
        """Whether items wait for a service that can't be reached, and are tried again; else they are left."""
        self.ledger = ledger
        self.kinds = dict(kinds)
        self.all: list[Transfer] = []
        self._services_of = services
        self._changed = changed
        self._slots = slots
        self._next_id = 1
        self._services: dict[int, Service] = {}
        self._lines: dict[int, _Line] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._on_wait = on_wait
        self._away: dict[tuple[str | None, bool], _Away] = {}

    @property
    def active(self) -> int:
        """The number of transfers that run or wait for a slot."""
        return sum(transfer.is_active for transfer in self.all)

    # Beginning

    def upload(self, path: Path, *, name: str | None = None, rules: FolderRules = USUAL) -> Transfer:
        """Queue a file, or a folder as one directory; the rules are for folders."""
        options = upload_options([str(path)], name=name, rules=rules)
        transfer = self.new("upload", name or path.name or str(path), options)
        transfer.path = path
        return self.start(transfer)

    def upload_all(self, paths: Sequence[Path], *, rules: FolderRules = USUAL, each: bool = False) -> Transfer:
        """Queue many files and folders as one transfer; `each`: the files of a folder one by one."""
        options = upload_options([str(path) for path in paths], rules=rules, each=each)
        title = f"{paths[0].name or paths[0]}/" if len(paths) == 1 else f"{len(paths):,} files"
        return self.start(self.new("upload", title, options))

    def download(self, address: str, to: Path, *, overwrite: bool = False, title: str | None = None) -> Transfer:
        """Queue the download of an address."""
        transfer = self.new("download", title or to.name or address, download_options(address, to, overwrite=overwrite))
        transfer.cid, transfer.path = address, to
        return self.start(transfer)

    def begin(
        self,
        kind: str,
        title: str,
        options: dict[str, Any],
        items: Sequence[NewItem] | None = None,
        *,
        at: Service | None = None,
    ) -> Transfer:
        """Queue a request of any kind, at the service in use or another one; without `items`, its kind lists them."""
        return self.start(self.new(kind, title, options, at=at), items=items)

    def new(self, kind: str, title: str, options: dict[str, Any], *, at: Service | None = None) -> Transfer:
        """A row for a request that has not begun."""
        service = at or self._services_of.service
        transfer = Transfer(self._next_id, kind, title, profile=service.profile.name, options=options)
        transfer.mark = self.ledger.mark
        self._services[transfer.id] = service
        self._next_id += 1
        self.all.append(transfer)
        return transfer

    def start(self, transfer: Transfer, *, items: Sequence[NewItem] | None = None) -> Transfer:
        """Begin with a new row."""
        return self._start(transfer, _Line(items=items))

    # Going on with requests of the ledger

    async def find(self, kind: str, options: dict[str, Any]) -> Request | None:
        """The unfinished request for the same work at the service in use, if there is one."""
        return await self.ledger.find(kind, self._services_of.service.profile.name, options)

    async def look(self) -> list[Transfer]:
        """Add a row for each unfinished or failed request of the ledger that no living process works on.

        Rows that another process has finished, taken or forgotten meanwhile are removed.
        """
        free = {one.id: one for one in await self.ledger.requests() if not one.is_running}
        waiting = [
            one
            for one in self.all
            if one.state in ("left", "paused", "failed") and one.number is not None and one.id not in self._tasks
        ]
        for one in waiting:
            if (request := free.get(one.number or 0)) is None:
                self.all.remove(one)
            elif one.failure is None:  # else the row tells the reason from its own run
                _fill(one, request)
        known = {transfer.number for transfer in self.all}
        rows = [self._row_of(request) for number, request in free.items() if number not in known]
        self._changed()
        return rows

    async def has_news(self) -> bool:
        """Whether another process has changed the ledger since the last time."""
        return await self.ledger.has_news()

    def resume(self, transfer: Transfer) -> None:
        """Go on with a row that is paused, was left or has failed for now; items that failed for good stay failed."""
        if transfer.state in ("left", "paused", "failed"):
            self._again(transfer, "resume")

    def go_on_with_all(self) -> None:
        """Go on with everything that was left or paused, and try again what has failed or waits for a service."""
        for away in self._away.values():
            self._try_now(away)
        for transfer in list(self.all):
            if transfer.state == "failed":
                self.retry(transfer.id)
            else:
                self.resume(transfer)

    def pause_all(self) -> None:
        """Pause everything that runs or waits."""
        for transfer in list(self.all):
            if transfer.is_active:
                self.pause(transfer.id)

    def stall(self, profile: str) -> None:
        """The service of a profile has asked for a pause: nothing arrives there, so an earlier rate is none now."""
        for transfer in self.all:
            if transfer.is_active and transfer.profile == profile:
                transfer.rate = transfer.remaining = None

    @property
    def totals(self) -> Totals:
        """The progress of all active transfers together."""
        active = [transfer for transfer in self.all if transfer.is_active]
        rates = [transfer.rate for transfer in active if transfer.rate is not None]
        rate = sum(rates) if rates else None
        left = sum(max(0, (transfer.total or 0) - transfer.done) for transfer in active)
        is_known = all(transfer.total is not None for transfer in active)
        return Totals(
            kinds=tuple(dict.fromkeys(transfer.kind for transfer in active)),
            items=sum(transfer.items for transfer in active),
            finished=sum(transfer.finished for transfer in active),
            done=sum(transfer.done for transfer in active),
            size=sum(transfer.total or 0 for transfer in active),
            rate=rate,
            # One slow transfer may take longer than the sum at the common rate.
            remaining=max(left / rate, *(one.remaining or 0 for one in active)) if rate and is_known else None,
        )

    def adopt(self, request: Request, *, listed_again: bool, items: Sequence[NewItem] | None = None) -> Transfer:
        """Go on with a request, with failed items, too.

        `listed_again`: its items are found as at its beginning, or they are `items` now. Items that are done stay.
        """
        transfer = next((one for one in self.all if one.number == request.id), None) or self._row_of(request)
        self._again(transfer, "list" if listed_again else "retry", items)
        return transfer

    def retry(self, id: int) -> None:  # noqa: A002 – it is the transfer's id
        """Restart a failed or cancelled transfer, with the same profile; if it is in use, with its current settings."""
        transfer = self._by_id(id)
        if transfer is not None and transfer.state in ("failed", "cancelled"):
            used = self._services_of.service
            if used.profile.name == transfer.profile:
                self._services[id] = used
            self._again(transfer, "retry")

    async def retry_item(self, transfer: Transfer, item: Item) -> None:
        """Try one failed item again."""
        if transfer.number is None:
            return
        await self.ledger.marked()
        await self.ledger.retry(transfer.number, item.id)
        if transfer.is_active:
            transfer.failed = max(0, transfer.failed - 1)
            transfer.for_good = max(0, transfer.for_good - (item.state is ItemState.FAILED))
            self._changed()
        else:
            self._again(transfer, "resume")

    def _again(
        self,
        transfer: Transfer,
        how: Literal["resume", "retry", "list"],
        items: Sequence[NewItem] | None = None,
    ) -> None:
        if transfer.id not in self._services:
            try:
                self._services[transfer.id] = self._services_of.service_named(transfer.profile or "")
            except WorkspaceError as error:
                transfer.state, transfer.failure = "failed", error
                transfer.error, transfer.hint = sentence_for(error)
                self._changed()
                return
        if self.is_patient and (away := self._away.get(_line_of(transfer))) is not None:
            self._try_now(away)
        transfer.state, transfer.error, transfer.hint, transfer.failure = "waiting", None, None, None
        transfer.done, transfer.rate, transfer.remaining = transfer.done_size, None, None
        transfer.started_at = transfer.ended_at = None
        self._start(transfer, _Line(again=how, items=items))

    def _row_of(self, request: Request) -> Transfer:
        transfer = Transfer(self._next_id, request.kind, request.title, profile=request.profile)
        transfer.mark = self.ledger.mark
        self._next_id += 1
        transfer.number, transfer.options = request.id, request.options
        _fill(transfer, request)
        self.all.append(transfer)
        return transfer

    # Ending

    def cancel(self, id: int) -> None:  # noqa: A002
        """Cancel a transfer, unless it has ended."""
        self._stop(id, "cancelled")

    def pause(self, id: int) -> None:  # noqa: A002
        """Stop a transfer until it is resumed, in this process or a later one."""
        self._stop(id, "paused")

    def clear_ended(self) -> None:
        """Remove ended transfers from the list, and from the ledger."""
        numbers = [transfer.number for transfer in self.all if transfer.has_ended and transfer.number is not None]
        self.all = [transfer for transfer in self.all if not transfer.has_ended]
        kept = {transfer.id for transfer in self.all}
        self._services = {id_: service for id_, service in self._services.items() if id_ in kept}
        if numbers:
            self._in_background(self.ledger.forget(numbers))
        self._changed()

    async def forget(self, transfer: Transfer) -> None:
        """Drop a transfer that is not finished: it is not done, and no later process goes on with it."""
        self.cancel(transfer.id)
        await self.wait(transfer)
        if transfer.number is not None:
            await self.ledger.forget([transfer.number])
        self.all = [one for one in self.all if one is not transfer]
        self._services.pop(transfer.id, None)
        self._changed()

    async def forget_at(self, profile: str) -> None:
        """Drop every transfer that is not finished at the service of a profile."""
        for transfer in [one for one in self.all if profile in (one.profile, one.options.get("from"))]:
            if not transfer.has_ended:
                await self.forget(transfer)
        await self.ledger.forget(await self.ledger.left_at(profile))
        self.all = [one for one in self.all if one.profile != profile or one.state == "done"]
        self._changed()

    async def results(self, transfer: Transfer) -> AsyncGenerator[Item]:
        """The items of a transfer that has just begun, in the order of their listing, as they are done or fail.

        Items that an earlier process has done are among them.
        """
        line, task = self._lines[transfer.id], self._tasks[transfer.id]
        tried: dict[int, Item] = {}
        news = asyncio.Event()

        def note(item: Item) -> None:
            tried[item.id] = item
            news.set()

        transfer.on_item = note
        task.add_done_callback(lambda _: (news.set(), line.ready.set()))
        await line.ready.wait()
        ids = array("q") if transfer.number is None else await self.ledger.ids(transfer.number)
        for start in range(0, len(ids), MANY):
            for item in await self.ledger.items(ids[start : start + MANY]):
                while item.id not in tried and item.state in TO_DO and not task.done():
                    news.clear()
                    await news.wait()
                if (found := tried.pop(item.id, item)).state not in TO_DO and (
                    found is not item or item.state is ItemState.DONE
                ):
                    yield found

    async def wait(self, transfer: Transfer) -> None:
        """Wait until a transfer has ended."""
        if (task := self._tasks.get(transfer.id)) is not None:
            await asyncio.wait([task])

    async def join(self) -> None:
        """Wait until all transfers have ended."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def aclose(self) -> None:
        """Stop all transfers; a later process can go on with them."""
        await self.cancel_all()
        await self.ledger.aclose()

    async def cancel_all(self) -> None:
        """Stop all transfers, and wait until they have cleaned up; they stay in the ledger."""
        for task in self._tasks.values():
            task.cancel()
        await self.join()

    def _stop(self, id_: int, state: Literal["cancelled", "paused"]) -> None:
        if (task := self._tasks.get(id_)) is not None and id_ in self._lines:
            self._lines[id_].ends_as = state
            task.cancel()

    def _by_id(self, id_: int) -> Transfer | None:
        return next((transfer for transfer in self.all if transfer.id == id_), None)

    # Running

    def _start(self, transfer: Transfer, line: _Line) -> Transfer:
        self._lines[transfer.id] = line
        task = asyncio.get_running_loop().create_task(self._run(transfer, line))
        self._tasks[transfer.id] = task
        # A task that is cancelled before it starts runs no code of its own: this still ends its row.
        task.add_done_callback(lambda _: self._end(transfer, line))
        self._changed()
        return transfer

    def _end(self, transfer: Transfer, line: _Line) -> None:
        if transfer.is_active:
            transfer.state = line.ends_as
        transfer.rate = transfer.remaining = None
        transfer.ended_at = time.time()
        self._tasks.pop(transfer.id, None)
        self._lines.pop(transfer.id, None)
        self._changed()

    async def _run(self, transfer: Transfer, line: _Line) -> None:
        try:
            # Held while it waits, too: after a switch, the client of the old profile stays open for its queue.
            with self._services[transfer.id].held() as service:
                await self._write_down(transfer, line)
                await self._run_items(transfer, line, service)
                self._check_all_tried(transfer)
            await self.ledger.marked()
        except asyncio.CancelledError:
            await self._let_go(transfer, line, {"cancelled": "cancelled", "paused": "paused"}.get(line.ends_as))
            raise
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 – the row shows any error, and the queue goes on
            transfer.state, transfer.failure = "failed", _innermost(error)
            transfer.error, transfer.hint = sentence_for(transfer.failure)
            with suppress(WorkspaceError):
                await self._let_go(transfer, line, None)
        else:
            transfer.state = "failed" if transfer.failed or transfer.unfinished else "done"
            if transfer.items == 1 and transfer.total is not None:
                transfer.done = transfer.total if transfer.state == "done" else transfer.done
            await self._let_go(transfer, line, "done" if transfer.state == "done" else "unfinished")

    async def _let_go(self, transfer: Transfer, line: _Line, state: Any) -> None:
        if transfer.number is None:
            return
        await self.ledger.marked()  # an incomplete file is known before it is removed
        if line.taken:
            await self.ledger.put_back(line.taken)
        await self.ledger.let_go(transfer.number, state or "unfinished")

    async def _write_down(self, transfer: Transfer, line: _Line) -> None:
        """Write the request and its items down, or take over what is written."""
        ledger, kind = self.ledger, self.kinds.get(transfer.kind)
        if kind is None:
            raise WorkspaceError(f"This pinui doesn't know transfers of the kind “{transfer.kind}”.")
        if transfer.number is None:
            number, is_listed = await self._add(transfer, line), line.items is not None
        else:
            number, is_listed = transfer.number, line.again != "list" and transfer.is_listed
            if not await ledger.claim(number):
                is_there = any(request.id == number for request in await ledger.requests())
                raise WorkspaceError("Another pinui process works on this transfer already." if is_there else GONE)
            if line.again == "retry":
                await ledger.retry(number)
        if not is_listed:
            await ledger.list_again(number)
            if line.items is not None:
                await ledger.add_items(number, line.items)
            else:
                async for items in kind.items(transfer, self._services[transfer.id]):
                    await ledger.add_items(number, items)
            await ledger.end_listing(number)
        _tell(transfer, await ledger.tally(number))
        transfer.is_listed = True
        line.ready.set()

    async def _add(self, transfer: Transfer, line: _Line) -> int:
        profile = transfer.profile or ""
        adding = asyncio.ensure_future(
            self.ledger.add(transfer.kind, profile, transfer.title, transfer.options, line.items)
        )
        try:
            number = await asyncio.shield(adding)
        except asyncio.CancelledError:
            transfer.number = await adding  # so that it can be given up
            raise
        transfer.number = number
        return number

    async def _run_items(self, transfer: Transfer, line: _Line, service: Service) -> None:
        number = min(self._slots.number, transfer.unfinished)
        rate = Rate()
        measuring = asyncio.create_task(self._measure(transfer, rate))
        try:
            if number == 1:
                await self._work(transfer, line, service, rate)
                return
            async with asyncio.TaskGroup() as group:
                for _ in range(number):
                    group.create_task(self._work(transfer, line, service, rate))
        finally:
            measuring.cancel()

    async def _measure(self, transfer: Transfer, rate: Rate) -> None:
        """Lower the rate while nothing arrives: then no progress is told, and an old rate would be a false one."""
        while True:
            await asyncio.sleep(MEASURED)
            if transfer.rate is not None and rate.add(transfer.done, time.monotonic()):
                transfer.rate, transfer.remaining = rate.value, rate.remaining(transfer.done, transfer.total)
                self._changed()

    async def _work(self, transfer: Transfer, line: _Line, service: Service, rate: Rate) -> None:
        """Run items, one after another, each in a slot."""
        while transfer.unfinished > len(transfer.running):
            if not await self._is_reachable(transfer):
                return
            async with self._slots.one(transfer.kind, transfer.id):
                if self._is_away(transfer):  # it was found out while this one waited for its slot
                    continue
                item = await self._next(transfer, line)
                if item is None:
                    return
                if not await self._run_item(transfer, service, item, rate):
                    line.taken.appendleft(item)

    async def _next(self, transfer: Transfer, line: _Line) -> Item | None:
        async with line.taking:
            if not line.taken and transfer.number is not None:
                line.taken.extend(await self.ledger.take(transfer.number, TAKEN))
        return line.taken.popleft() if line.taken else None

    async def _run_item(self, transfer: Transfer, service: Service, item: Item, rate: Rate) -> bool:
        """Run one item to its end; False: its service can't be reached, and it waits."""
        transfer.state, transfer.started_at = "running", transfer.started_at or time.time()
        transfer.waits_for = None
        transfer.running[item.id] = item
        item.state = ItemState.RUNNING
        self._changed()
        try:
            await self.kinds[transfer.kind].run(transfer, service, item, self._watch(transfer, item, rate))
        except asyncio.CancelledError:
            if item.state in TO_DO:
                item.state = ItemState.WAITING
                if item.resume is None:  # going on sends it from the beginning
                    item.done = 0
                    transfer.done = transfer.done_size
            raise
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 – the row shows any error, and the others go on
            if await self._lost(transfer, service, error) and self.is_patient:
                # Begun, and perhaps done without an answer: the next try looks for it first.
                item.started_at, item.done = item.started_at or now_ms(), 0
                return False
            item.failure = error
            item.error, item.hint = sentence_for(error)
            for_good = is_for_good(error)
            item.state = ItemState.FAILED if for_good else ItemState.BROKEN_OFF
            transfer.failed += 1
            transfer.for_good += for_good
        else:
            item.state, item.error, item.hint = ItemState.DONE, None, None
            self._away.pop(_line_of(transfer), None)
        finally:
            if item.state is ItemState.DONE:
                transfer.finished += 1
                transfer.done_size += item.size or 0
            del transfer.running[item.id]
            transfer.state = "running" if transfer.running else "waiting"
            self.ledger.mark(item, is_done=item.state is ItemState.DONE)
            _show(transfer, item)
            self._changed()
        if transfer.on_item is not None:
            transfer.on_item(item)
        return True

    # Services that can't be reached

    async def _lost(self, transfer: Transfer, service: Service, error: BaseException) -> bool:
        """Whether an item failed because its service can't be reached: then the others need not find out again."""
        from pinui.sdk.errors import NetworkError

        if not isinstance(error, NetworkError):
            return False
        if not self._is_away(transfer):
            services = [service]
            if (source := transfer.options.get("from")) is not None:  # a copy
                services.append(self._services_of.service_named(source))
            answers = await asyncio.gather(*map(_answers, services))
            if all(answers):
                return False
        if not self._is_away(transfer):  # nobody else has found out meanwhile
            before = self._away.get(_line_of(transfer))
            tries = before.tries + 1 if before is not None else 0
            pause = PAUSES[min(tries, len(PAUSES) - 1)]
            until = time.monotonic() + pause if self.is_patient else math.inf
            self._away[_line_of(transfer)] = _Away(service, error, until, tries)
            if self.is_patient:
                self._on_wait(service, pause)
        transfer.waits_for = sentence_for(error)[0]
        return True

    def _try_now(self, away: _Away) -> None:
        """Let everybody who waits for a service try again."""
        if away.until > time.monotonic():
            self._on_wait(away.service, 0.0)  # ends the countdown
        away.until = 0.0
        away.go_on.set()

    def _is_away(self, transfer: Transfer) -> bool:
        away = self._away.get(_line_of(transfer))
        return away is not None and away.until > time.monotonic()

    async def _is_reachable(self, transfer: Transfer) -> bool:
        """Wait until a service may be reached again; False if nobody waits for that."""
        while self._is_away(transfer):
            if not self.is_patient:
                return False
            away = self._away[_line_of(transfer)]
            transfer.waits_for = sentence_for(away.error)[0]
            with suppress(TimeoutError):
                await asyncio.wait_for(away.go_on.wait(), away.until - time.monotonic())
        return True

    def _check_all_tried(self, transfer: Transfer) -> None:
        """Raise the reason for which items were not run, unless one of them has failed by it."""
        if not transfer.unfinished or transfer.failed:
            return
        if self._is_away(transfer):
            raise self._away[_line_of(transfer)].error
        raise WorkspaceError(GONE)

    def _watch(self, transfer: Transfer, item: Item, rate: Rate) -> Progress:
        told = noted = 0.0

        def note(done: int, total: int | None, /) -> None:
            nonlocal told, noted
            now = time.monotonic()
            item.done = done
            if item.destination is not None and now - noted >= NOTED:  # a download: a kill leaves these bytes
                noted, item.size = now, total or item.size
                self.ledger.mark(item, is_done=True)
            if transfer.items == 1:
                transfer.done, transfer.total = done, total
            else:
                transfer.done = transfer.done_size + sum(one.done for one in transfer.running.values())
            rate.add(transfer.done, now)
            transfer.rate, transfer.remaining = rate.value, rate.remaining(transfer.done, transfer.total)
            if now - told >= NOTICE_SECONDS:
                told = now
                self._changed()

        return note

    def _in_background(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[-id(task)] = task
        task.add_done_callback(lambda _: self._tasks.pop(-id(task), None))


def upload_options(
    paths: Sequence[str],
    *,
    name: str | None = None,
    rules: FolderRules = USUAL,
    each: bool = False,
) -> dict[str, Any]:
    """The options of an upload; `each`: the files of a folder one by one. They are the same for the same work."""
    places = [path if path == "-" else absolute(path) for path in paths]
    return {"paths": places, "name": name, "rules": asdict(rules), "each": each}


def download_options(address: str, to: Path, *, overwrite: bool) -> dict[str, Any]:
    """The options of a download."""
    return {"address": address, "to": absolute(to), "overwrite": overwrite}


def absolute(path: str | Path) -> str:
    """A path from the root of the disk, with the names of links as they are."""
    return os.path.abspath(path)  # noqa: PTH100 – resolve() would follow links


def is_for_good(error: BaseException) -> bool:
    """Whether it would be of no use to try again later: the file, the CID or the service's refusal stays the same."""
    from pinui.sdk.errors import NetworkError, PinuiError, ProviderError, RateLimited

    if isinstance(error, ProviderError):
        may_change = {401, 402, 403, 408, 425, 429}
        return not isinstance(error, RateLimited) and 400 <= error.status < 500 and error.status not in may_change
    if isinstance(error, (NetworkError, NoToken, NotThere)) or _is_of_the_disk(error):
        return False
    return isinstance(error, (PinuiError, WorkspaceError, PermissionError, IsADirectoryError))


def _is_of_the_disk(error: BaseException | None) -> bool:
    """Whether the disk has no room, or is not there: somebody may make some, or mount it."""
    if isinstance(error, OSError) and error.errno in DISK_TROUBLE:
        return True
    return error is not None and _is_of_the_disk(error.__cause__)


def _line_of(transfer: Transfer) -> tuple[str | None, bool]:
    """The transfers that wait for a service together: gateways may answer while the API does not."""
    return transfer.profile, transfer.kind == "download"


async def _answers(service: Service) -> bool:
    """Whether a service can be reached, whatever it answers."""
    from pinui.sdk.errors import NetworkError

    try:
        await service.call((await service.client()).test_connection())
    except NetworkError:
        return False
    except Exception:  # noqa: BLE001 – an answer, or a problem on this machine
        return True
    return True


def _innermost(error: BaseException) -> BaseException:
    """The first error of a group."""
    return _innermost(cast("BaseException", error.exceptions[0])) if isinstance(error, BaseExceptionGroup) else error


def _fill(transfer: Transfer, request: Request) -> None:
    """Take over the facts of a request that no process works on."""
    transfer.is_listed = request.is_listed
    _tell(transfer, request.tally)
    transfer.state = request.state if request.state in ("paused", "failed") else "left"
    transfer.error = request.error
    if request.error is not None and transfer.items > 1:
        transfer.error = f"{transfer.failed:,} of {transfer.items:,} failed. {request.error}"


def _tell(transfer: Transfer, tally: Tally) -> None:
    """Take over the numbers of the ledger."""
    transfer.items, transfer.finished = tally.items, tally.done
    transfer.failed, transfer.for_good = tally.failed + tally.broken_off, tally.failed
    transfer.done_size = tally.done_size
    transfer.done = tally.done_size + tally.kept
    if transfer.items != 1 or transfer.total is None:
        transfer.total = tally.size or None


def _show(transfer: Transfer, item: Item) -> None:
    """Show the result of an item on the row of its transfer."""
    if item.failure is not None:
        transfer.failure = item.failure
        transfer.error, transfer.hint = item.error, item.hint
        if transfer.items > 1:
            transfer.error = f"{transfer.failed:,} of {transfer.items:,} failed. {item.shown}: {item.reason}"
    if transfer.items == 1:
        transfer.cid = item.cid or transfer.cid
        transfer.entry, transfer.left_out = item.row or transfer.entry, item.left_out or transfer.left_out
        transfer.verification = item.verification or transfer.verification
        transfer.was_held = item.was_held
    else:
        transfer.done = transfer.done_size + sum(one.done for one in transfer.running.values())
