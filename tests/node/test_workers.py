"""Work in threads: whoever waits for it can be cancelled, and what it uses stays open until it has ended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from pinui.node.workers import BLOCK, Workers


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers()
    yield workers
    workers.close()


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_call_ends_before_its_caller_does_however_often_that_is_cancelled(workers: Workers, times: int) -> None:
    began, may_end = threading.Event(), threading.Event()
    ended = False

    def work() -> None:
        nonlocal ended
        began.set()
        may_end.wait(60)
        ended = True

    caller = asyncio.create_task(workers.run(work))
    await asyncio.to_thread(began.wait, 60)
    for _ in range(times):
        caller.cancel()
        for _ in range(3):
            await asyncio.sleep(0)
        assert not caller.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended


async def test_going_through_pieces_can_be_cancelled_between_them(workers: Workers) -> None:
    taken = 0
    began = threading.Event()

    def pieces() -> Iterator[bytes]:
        nonlocal taken
        while taken < 10_000:
            taken += 1
            began.set()
            yield bytes(BLOCK)

    caller = asyncio.create_task(workers.exhaust(pieces()))
    await asyncio.to_thread(began.wait, 60)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert taken < 10_000
