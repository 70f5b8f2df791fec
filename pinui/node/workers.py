"""Work that blocks, in threads: single calls, and iterators a batch at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

from pinui.ipfs.multihash import Bytes

__all__ = ["BLOCK", "Workers"]

P = ParamSpec("P")
T = TypeVar("T")

# Many small uploads wait for one sync of the disk together: there must be threads for them to wait in.
THREADS = 16
# Blocks that wait for their clients are kept where the thread that read them allocates: few threads, little waste.
READERS = 4
BLOCK = 256 * 1024


class Workers:
    """The node's threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="pinui-node-worker")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="pinui-node-reader")

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call in a thread. If the caller is cancelled, even twice, the call still ends before this returns."""
        return await _to_its_end(self._pool.submit(call, *args, **kwargs))

    async def next_batch(self, pieces: Iterator[Bytes], size: int) -> tuple[list[Bytes], bool]:
        """The next pieces, as many as it takes to reach this size, and whether there may be more."""
        return await _to_its_end(self._readers.submit(_batch, pieces, size))

    async def exhaust(self, pieces: Iterator[Bytes]) -> None:
        """Go through all pieces, some in each call: between two, the caller can be cancelled."""
        more = True
        while more:
            _, more = await self.run(_batch, pieces, BLOCK)

    def close(self) -> None:
        """Wait for the threads to end."""
        self._pool.shutdown()
        self._readers.shutdown()


async def _to_its_end(work: Future[T]) -> T:
    future = asyncio.wrap_future(work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        # The thread's draft or file is about to be closed: wait until the thread is done with it.
        while not future.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([future])
        raise


def _batch(pieces: Iterator[Bytes], enough: int) -> tuple[list[Bytes], bool]:
    batch: list[Bytes] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece)
        if size >= enough:
            return batch, True
    return batch, False
