"""Reading request bodies: bounded in size, in time and in what waits between the socket and the disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError

from pinui.node.errors import ApiError
from pinui.node.workers import Workers

__all__ = ["accept_body", "pump", "read_whole"]

STALLED = 60.0
BATCH = 1024 * 1024


async def accept_body(request: web.BaseRequest) -> None:
    """Tell a client that waits for it (curl does) to send its body."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0


async def pieces(request: web.BaseRequest) -> AsyncIterator[bytes]:
    """The body as it comes; a client that stalls or breaks off is an `ApiError`."""
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


async def pump(request: web.BaseRequest, workers: Workers, take: Callable[[Sequence[bytes]], None]) -> None:
    """A large body into `take`, which works in a thread while the next megabyte arrives."""
    await accept_body(request)
    batch: list[bytes] = []
    size = 0
    working: asyncio.Future[None] | None = None
    try:
        async for piece in pieces(request):
            batch.append(piece)
            size += len(piece)
            if size >= BATCH:
                if working is not None:
                    await working
                working = asyncio.ensure_future(workers.run(take, batch))
                batch, size = [], 0
        if working is not None:
            await working
            working = None
        await workers.run(take, batch)
    finally:
        if working is not None:
            # Something else has failed first; what this one says is no news.
            await asyncio.gather(working, return_exceptions=True)
