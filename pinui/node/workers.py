"""Work that blocks, in threads: single calls, and iterators whose next pieces are fetched ahead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

from pinui.ipfs.multihash import Bytes

__all__ = ["Workers"]

P = ParamSpec("P")
T = TypeVar("T")

# Many small uploads wait for one sync of the disk together: there must be threads for them to wait in.
THREADS = 16
AHEAD = 1024 * 1024


class Workers:
    """The node's threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="pinui-node-worker")

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call in a thread. If the caller is cancelled, even twice, the call still ends before this returns."""
        future = asyncio.get_running_loop().run_in_executor(self._pool, lambda: call(*args, **kwargs))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            # What the thread uses (a draft, a file) is about to be closed: not under its hands.
            while not future.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([future])
            raise

    async def exhaust(self, pieces: Iterator[Bytes]) -> None:
        """Go through all pieces, about a megabyte a call: between two, the caller can be cancelled."""
        more = True
        while more:
            _, more = await self.run(_batch, pieces)

    async def ahead(self, pieces: Iterator[Bytes]) -> AsyncGenerator[list[Bytes]]:
        """The pieces in batches of about a megabyte, the next read from disk while this one is sent."""
        batch, more = await self.run(_batch, pieces)
        while more:
            following = asyncio.ensure_future(self.run(_batch, pieces))
            try:
                yield batch
            except BaseException:
                with suppress(Exception):
                    await following
                raise
            batch, more = await following
        yield batch

    def close(self) -> None:
        """Wait for the threads to end."""
        self._pool.shutdown()


def _batch(pieces: Iterator[Bytes]) -> tuple[list[Bytes], bool]:
    """The next pieces, and whether there may be more."""
    batch: list[Bytes] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece)
        if size >= AHEAD:
            return batch, True
    return batch, False
