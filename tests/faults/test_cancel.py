"""Cancelled at any moment, an operation leaves nothing behind, and the client goes on working."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from pinui import Client, PinuiError
from pinui.node import Node
from pinui.sdk.trailing_work import ONE_HOP
from tests.servers import settings_of

DATA = os.urandom(2 * ONE_HOP + 200_000)
Operation = Callable[[Client, Path, str], Awaitable[object]]


async def upload(client: Client, folder: Path, _cid: str) -> object:
    return await client.upload(folder / "source.bin")


async def download(client: Client, folder: Path, cid: str) -> object:
    return await client.download(cid, to=folder / "out" / "file.bin")


async def store(client: Client, _folder: Path, _cid: str) -> object:
    return await client.store({"some": ["document"]})


async def revoke(client: Client, _folder: Path, _cid: str) -> object:
    return await client.revoke("QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH")


async def ask(client: Client, _folder: Path, _cid: str) -> object:
    return await client.test_connection()


OPERATIONS: list[Operation] = [upload, download, store, revoke, ask]


def open_files() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


async def are_closed(client: Client, most: int) -> bool:
    """Whether so few files are left in the end. The node is in this process, too: it hears of it a little later."""
    give_up = time.monotonic() + 60
    while open_files() > most and time.monotonic() < give_up:
        assert await client.test_connection()  # the node has had a turn
    return open_files() <= most


async def cancel_after(turns: int, work: Awaitable[object]) -> None:
    """Let the work run for so many turns of the loop, then cancel it."""
    task = asyncio.ensure_future(work)
    for _ in range(turns):
        if task.done():
            break
        await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError, PinuiError):
        await task


async def check(folder: Path, operation: Operation, turns: range) -> None:
    (folder / "out").mkdir()
    (folder / "source.bin").write_bytes(DATA)
    async with Node(folder / "node") as node, await Client.init(**settings_of(node)) as client:
        cid = (await client.upload(DATA)).cid
        await client.download(cid)
        for count in turns:
            await cancel_after(count, operation(client, folder, cid))
            assert not any(".part" in name.name for name in (folder / "out").iterdir()), f"after {count} turns"
        assert await client.retrieve((await client.store({"still": "alive"})).cid) == {"still": "alive"}
        assert (await client.download(cid)).data == DATA
        before = open_files()
        for count in list(turns)[:20]:
            await cancel_after(count, operation(client, folder, cid))
        assert await client.test_connection()
        # Work that was cancelled ends beside the next one, so a few connections may be kept for later: two files each.
        assert await are_closed(client, before + 8), "connections and files of cancelled work are closed"
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task() and not task.done()]
    assert others == []


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
async def test_cancelling_at_some_moments(tmp_path: Path, operation: Operation) -> None:
    await check(tmp_path, operation, range(0, 300, 11))


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
async def test_cancelling_at_every_moment(tmp_path: Path, operation: Operation) -> None:
    await check(tmp_path, operation, range(300))
