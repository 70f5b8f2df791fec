"""Reading request bodies: bounded in size, in time and in the bytes between the socket and the disk."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, Self

from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError

from pinui.node.errors import ApiError
from pinui.node.workers import Workers

__all__ = ["BATCH", "Sink", "accept_body", "pieces", "pump", "read_whole"]

STALLED = 60.0
BATCH = 1024 * 1024
AHEAD = 3
"""Batches of one body in memory: enough for its thread to find the next one when it is done with one."""


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
    """Takes a large body."""

    def feed_all(self, pieces: Sequence[bytes]) -> None:
        """Parse, hash and write the next pieces."""
        ...


async def pump(request: web.BaseRequest, workers: Workers, sink: Sink) -> None:
    """A large body into a sink: while one megabyte arrives, the ones before are hashed and written."""
    await accept_body(request)
    batch: list[bytes] = []
    size = 0
    async with _OwnThread(workers, sink) as thread:
        async for piece in pieces(request):
            batch.append(piece)
            size += len(piece)
            if size >= BATCH:
                await thread.feed(batch)
                batch, size = [], 0
        if not thread.is_used:  # a small body, for which starting a thread takes longer than its work
            await workers.run(sink.feed_all, batch)
        else:
            await thread.feed(batch)
            await thread.until_left(0)


class _OwnThread:
    """A thread for one body, with a few batches ahead: no batch waits until the event loop notices the last one."""

    def __init__(self, workers: Workers, sink: Sink) -> None:
        self._workers = workers
        self._sink = sink
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pinui-node-body")
        self._unfinished: deque[Future[None]] = deque()
        self.is_used = False

    async def feed(self, batch: Sequence[bytes]) -> None:
        """Hand a batch to the thread, as soon as there is room for it."""
        self.is_used = True
        await self.until_left(AHEAD - 1)
        self._unfinished.append(self._thread.submit(self._sink.feed_all, batch))

    async def until_left(self, count: int) -> None:
        """Wait until so many batches are left. The first error of a batch is raised."""
        while len(self._unfinished) > count:
            await asyncio.wrap_future(self._unfinished.popleft())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        """The sink is about to be closed: wait until the thread is done with it."""
        if self.is_used:
            await self._workers.run(self._thread.shutdown, cancel_futures=True)
