"""Content on its way to clients, in bounded memory, even if many of them don't read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager

from aiohttp import web

from pinui.ipfs.multihash import Bytes
from pinui.node.errors import ApiError
from pinui.node.workers import BLOCK, Workers

__all__ = ["Outgoing"]

LINE = 256
"""Clients that may wait for room before new ones are turned away."""
SLOW = 5.0
STALLED = 60.0


class Outgoing:
    """Sends content in batches. Each needs room before it is read from the disk and until the client has taken it.

    A client that doesn't read keeps its room for a minute; where others wait for it, for five seconds or less, the more
    there are of them.
    """

    def __init__(self, workers: Workers, room: int) -> None:
        """`room` is how many blocks may be in memory at once."""
        self._workers = workers
        self._free = room
        self._freed = asyncio.Event()
        self._turn = asyncio.Lock()
        self._in_line = 0
        self._since: dict[asyncio.Transport, float] = {}

    async def send(self, request: web.BaseRequest, response: web.StreamResponse, content: Iterator[Bytes]) -> None:
        """Send all of it. The response begins when the first batch has been read: until then, an error is an answer."""
        more = True
        while more:
            async with self.room(is_new=not response.prepared) as blocks:
                more = await self.send_batch(request, response, content, blocks * BLOCK)

    async def send_batch(
        self, request: web.BaseRequest, response: web.StreamResponse, content: Iterator[Bytes], size: int
    ) -> bool:
        """Send one batch, in a room, and return whether more may follow. Afterwards, nothing of it is held."""
        batch, more = await self._workers.next_batch(content, size)
        if not response.prepared:
            await response.prepare(request)
        most = size // 4  # the bytes that the system can't take yet are copied
        for piece in batch:
            for start in range(0, len(piece), most):
                with self._up_to(request.transport):
                    async with asyncio.timeout(STALLED):
                        await response.write(memoryview(piece)[start : start + most])
                        await request.writer.drain()
        return more

    @asynccontextmanager
    async def room(self, *, is_new: bool = True) -> AsyncGenerator[int]:
        """Room for one block, or for some where there is plenty: how many. First come, first served.

        `ApiError` if too many wait already and this is a new one.
        """
        if is_new and self._in_line >= LINE:
            raise ApiError.of(
                503, "NODE_BUSY", "Too many clients don't read what they asked for.", {"Retry-After": "5"}
            )
        self._in_line += 1
        try:
            async with self._turn:
                while not self._free:
                    await self._until_freed()
                blocks = max(1, self._free // 8)
                self._free -= blocks
        finally:
            self._in_line -= 1
        try:
            yield blocks
        finally:
            self._free += blocks
            self._freed.set()

    @contextmanager
    def _up_to(self, client: asyncio.Transport | None) -> Generator[None]:
        """While the client has to read, and may be too slow."""
        if client is None:
            raise ConnectionResetError
        self._since[client] = asyncio.get_running_loop().time()
        try:
            yield
        finally:
            del self._since[client]

    async def _until_freed(self) -> None:
        """Wait until a client leaves; the slowest one has to, once it has been slow for too long."""
        self._freed.clear()
        slowest, since = next(iter(self._since.items()), (None, asyncio.get_running_loop().time()))
        try:
            async with asyncio.timeout_at(since + SLOW / (1 + self._in_line / 8)):
                await self._freed.wait()
        except TimeoutError:
            if slowest is not None and self._since.get(slowest) == since:
                slowest.abort()
                await self._freed.wait()
