"""Small real servers for tests: one that answers what a test tells it to, and one that speaks raw bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Unpack

from aiohttp import web

from pinui.node import Node
from pinui.sdk.models import ClientSettings

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
RawHandler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def settings_of(node: Node, **more: Unpack[ClientSettings]) -> ClientSettings:
    """The settings of a client of this node."""
    return {"provider_token": node.token, "pin_api_url": node.api_url, "gateway_url": node.gateway_url, **more}


class Seen(list[web.Request]):
    """The requests that a server got, in order."""

    @property
    def last(self) -> web.Request:
        return self[-1]


@asynccontextmanager
async def serve(handler: Handler) -> AsyncGenerator[tuple[str, Seen]]:
    """A server on loopback that gives every request to one handler; yields its URL and the requests it gets."""
    seen = Seen()

    async def remember(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        return await handler(request)

    app = web.Application(client_max_size=2**40)
    app.router.add_route("*", "/{path:.*}", remember)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", seen
    finally:
        await runner.cleanup()


@asynccontextmanager
async def serve_raw(handler: RawHandler) -> AsyncGenerator[str]:
    """A server on loopback that speaks bytes; yields its URL."""
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def read_head(reader: asyncio.StreamReader) -> bytes:
    """A request's line and headers."""
    return await reader.readuntil(b"\r\n\r\n")


def reply(status: str, body: bytes = b"", *headers: str, length: int | None = None) -> bytes:
    """A whole HTTP reply; `length` may lie about the body."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body
