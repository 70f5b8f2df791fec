"""Reading request bodies: bounded in size, in time and in the bytes between the socket and the disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Protocol

from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError

from pinui.node.errors import ApiError
from pinui.node.workers import Workers

__all__ = ["BATCH", "Sink", "accept_body", "pieces", "pump", "read_whole"]

STALLED = 60.0
BATCH = 1024 * 1024


async def accept_body(request: web.BaseRequest) -> None:
    """Tell a client that waits for it (curl does) to send its body."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0


async def pieces(request: web.BaseRequest) -> AsyncIterator[bytes]:
    """The body as it arrives; a client that stalls or disconnects is an `ApiError`."""
    while True:
        try:
            async with asyncio.timeout(STALLED):
                piece = await request.content.readany()
        except TimeoutError:
            raise ApiError(408, "The upload stalled.") from None
        except (RequestPayloadError, ConnectionError) as error:
            raise ApiError(400, "The upload broke off.") from error
        if not piece:
            return
        yield piece


async def read_whole(request: web.BaseRequest, limit: int) -> bytes:
    """A small body."""
    too_large = ApiError(413, f"The request is larger than {limit // 1_000_000} MB.")
    if (request.content_length or 0) > limit:
        raise too_large
    await accept_body(request)
    whole = bytearray()
    async for piece in pieces(request):
        whole += piece
        if len(whole) > limit:
            raise too_large
    return bytes(whole)


class Sink(Protocol):
    """Takes a large body in two steps."""

    def feed_all(self, pieces: Sequence[bytes]) -> Callable[[], None]:
        """Parse and hash the next pieces; the returned function writes them."""
        ...


async def pump(request: web.BaseRequest, workers: Workers, sink: Sink) -> None:
    """A large body into a sink: while one megabyte arrives, the last one is hashed and the one before written."""
    await accept_body(request)
    steps = _Steps(workers, sink)
    batch: list[bytes] = []
    size = 0
    try:
        async for piece in pieces(request):
            batch.append(piece)
            size += len(piece)
            if size >= BATCH:
                await steps.put(batch)
                batch, size = [], 0
        await steps.put(batch)
        await steps.end()
    finally:
        await steps.settle()


class _Steps:
    """Hashing and writing, each in a thread while the other goes on; never more than one batch in each."""

    def __init__(self, workers: Workers, sink: Sink) -> None:
        self._workers = workers
        self._sink = sink
        self._hashing: asyncio.Future[Callable[[], None]] | None = None
        self._writing: asyncio.Future[None] | None = None

    async def put(self, batch: Sequence[bytes]) -> None:
        await self._pass_on()
        self._hashing = asyncio.ensure_future(self._workers.run(self._sink.feed_all, batch))

    async def end(self) -> None:
        await self._pass_on()
        if self._writing is not None:
            await self._writing

    async def _pass_on(self) -> None:
        """Hand hashed pieces on to be written."""
        if self._hashing is None:
            return
        write = await self._hashing
        if self._writing is not None:
            await self._writing
        self._writing = asyncio.ensure_future(self._workers.run(write))

    async def settle(self) -> None:
        """Wait for the threads at work. Their errors have been raised elsewhere and are dropped here."""
        steps: list[asyncio.Future[Any]] = [step for step in (self._hashing, self._writing) if step is not None]
        await asyncio.gather(*steps, return_exceptions=True)
