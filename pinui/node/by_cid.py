"""Pinning by CID: content of other pins at once, other content from gateways, in a queue."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import ContentAddressError, MissingBlock
from pinui.node.cars import ForeignCar
from pinui.node.draft import DraftCar
from pinui.node.errors import ApiError, is_disk_full
from pinui.node.index import Index, Pin, insert_job, remove_job, update_job
from pinui.node.remote import RemoteError, read_car
from pinui.node.store import PinStore
from pinui.node.trees import copy_tree, describe_tree
from pinui.node.uploads import new_pin
from pinui.node.wire import Job, JobStatus, Options
from pinui.node.workers import Workers

__all__ = ["PinsByCid"]

MOST_JOBS = 1000


class PinsByCid:
    """Pins by CID for both APIs. The queue is in the index: the next start of the node goes on with it."""

    def __init__(self, store: PinStore, workers: Workers, gateways: Sequence[str] = ()) -> None:
        self._store = store
        self._workers = workers
        self._gateways = gateways
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Go on with the requests of processes that have ended."""
        if self._gateways:
            for job in await self._workers.run(self._adopt):
                self._run(job)

    async def pin(self, cid: Cid, options: Options) -> Pin | Job:
        """Pin content that is here, or have it fetched."""
        pin = await self._workers.run(self._store.pin_of, cid)
        if pin is not None:
            return pin
        try:
            return await self._pin_part(cid, options)
        except MissingBlock as error:
            if not self._gateways:
                sentence = (
                    f"No pin here contains {cid}, and the node looks nowhere else: start it with --fetch-from GATEWAY."
                )
                raise ApiError.of(404, "OBJECT_NOT_FOUND", sentence) from error
        job, is_new = await self._workers.run(self._add, Job(cid, options))
        if is_new:
            self._run(job)
        return job

    async def jobs(self, status: str = "", cids: Sequence[str] = ()) -> list[Job]:
        """The requests that are not done, oldest first, of one status or of one CID's spellings if that is asked."""
        jobs = await self._workers.run(self._store.ask, _read)
        return [job for job, _ in jobs if (not status or job.status == status) and (not cids or str(job.cid) in cids)]

    async def forget(self, id_: str) -> bool:
        """Take a request out of the queue; False if there is none."""
        if id_ in self._tasks:
            self._tasks[id_].cancel()
        return await self._workers.run(self._store.change, lambda connection: remove_job(connection, id_))

    async def close(self) -> None:
        """Stop the running jobs."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _adopt(self) -> list[Job]:
        jobs = self._store.ask(_read)
        left = [job for job, owner in jobs if job.status == "retrieving" and not self._store.is_alive(owner)]
        for job in left:
            self._write(update_job, job)
        return left

    def _add(self, job: Job) -> tuple[Job, bool]:
        """A new request, or the one that runs for the same CID already; whether it is new."""
        jobs = self._store.ask(_read)
        for older, owner in jobs:
            if older.cid == job.cid and older.status == "retrieving" and self._store.is_alive(owner):
                return older, False
        if len(jobs) >= MOST_JOBS:
            raise ApiError.of(503, "NODE_BUSY", f"The queue holds {MOST_JOBS:,} requests: delete some of them.")
        self._write(insert_job, job)
        return job, True

    def _write(self, write: Callable[[sqlite3.Connection, str, str, str], None], job: Job) -> None:
        text = json.dumps(asdict(job) | {"cid": str(job.cid)})
        self._store.change(lambda connection: write(connection, job.id, self._store.owner, text))

    def _run(self, job: Job) -> None:
        task = self._tasks[job.id] = asyncio.create_task(self._fetch(job))
        task.add_done_callback(lambda _: self._tasks.pop(job.id, None))

    async def _fetch(self, job: Job) -> None:
        outcome: JobStatus = "expired"
        for gateway in self._gateways:
            try:
                await self._fetch_from(gateway, job)
            except ContentAddressError:
                outcome = "invalid_object"
            except OSError as error:
                if not is_disk_full(error):
                    raise
                outcome = "over_max_size"
                break
            except RemoteError:
                continue
            else:
                await self._workers.run(self._store.change, lambda connection: remove_job(connection, job.id))
                return
        await self._workers.run(self._write, update_job, replace(job, status=outcome))

    async def _fetch_from(self, gateway: str, job: Job) -> None:
        car = ForeignCar(self._store.draft, job.cid)
        try:
            async for piece in read_car(gateway, job.cid):
                await self._workers.run(car.feed, piece)
            await self._workers.exhaust(car.settle())
            await self._commit(job.cid, job.options, car.draft)
        finally:
            await self._workers.run(car.discard)

    async def _commit(self, cid: Cid, options: Options, draft: DraftCar) -> Pin:
        """Make a draft with all blocks of a tree a pin."""
        facts = await self._workers.run(describe_tree, cid, draft.read)
        new = new_pin(cid, facts.size, facts.files, options, facts.mime_type)
        pin, _ = await self._workers.run(self._store.commit, draft, new)
        return pin

    async def _pin_part(self, cid: Cid, options: Options) -> Pin:
        """Pin content that other pins contain."""
        draft = await self._workers.run(self._store.draft, cid)
        try:
            with self._store.reading() as blocks:
                await self._workers.exhaust(copy_tree(cid, blocks, draft))
            return await self._commit(cid, options, draft)
        except MissingBlock:
            raise
        except ContentAddressError as error:
            raise ApiError.of(500, "DAMAGED_CONTENT", f"{cid} can't be pinned: {error}.") from error
        finally:
            await self._workers.run(draft.discard)


def _read(index: Index) -> list[tuple[Job, str]]:
    """The queue, oldest first, each request with the name of the process that it belongs to."""
    jobs: list[tuple[Job, str]] = []
    for owner, text in index.jobs():
        fields: dict[str, Any] = json.loads(text)
        fields |= {"cid": Cid.parse(fields["cid"]), "options": Options(**fields["options"])}
        jobs.append((Job(**fields), owner))
    return jobs
