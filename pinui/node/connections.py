"""aiohttp's server with the limits it lacks: on slow headers and on the number of connections, where idle ones go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, cast

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

__all__ = ["LimitedServer"]

MOST_CONNECTIONS = 256
FIRST_REQUEST = 15.0
NEXT_REQUEST = 75.0
LINE = 8190
HEADERS = 40
HEAD = 32 * 1024
"""Bytes of a request before its body. aiohttp limits each line and their number, which are ten times as much."""
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
SWEEP = 1.0


class _Connection(RequestHandler):
    """A connection that refuses large heads before they are complete."""

    __slots__ = ("_head", "_tail")

    def __init__(self, server: web.Server, **settings: Any) -> None:
        super().__init__(server, **settings)
        self.expect_head()

    def expect_head(self) -> None:
        """Count what comes next: it is the beginning of a request."""
        self._head: int | None = 0
        self._tail = b""

    def data_received(self, data: bytes) -> None:
        if self._head is not None:
            text = self._tail + data
            self._head = None if b"\r\n\r\n" in text else self._head + len(data)
            self._tail = text[-3:]
            if self._head is not None and self._head > HEAD and self.transport is not None:
                self.transport.write(TOO_LARGE)
                self.transport.close()
                return
        super().data_received(data)


class LimitedServer(web.Server):
    """Closes connections that are idle or can't get their headers out, the longest idle one at once if another client
    needs its place. aiohttp limits only what comes after the first request (`keepalive_timeout`): a client that
    connects and drips a header keeps its place for ever."""

    def __init__(self, handler: Callable[[web.BaseRequest], Any]) -> None:
        # Quiet: errors of a broken client are not worth a traceback in a person's terminal.
        quiet = logging.getLogger("pinui.node.http")
        quiet.addHandler(logging.NullHandler())
        quiet.propagate = False
        self._settings: dict[str, Any] = {
            "logger": quiet,
            "access_log": None,
            "keepalive_timeout": NEXT_REQUEST,
            "max_line_size": LINE,
            "max_field_size": LINE,
            "max_headers": HEADERS,
            "lingering_time": 5.0,
            "read_bufsize": 1024 * 1024,
            "auto_decompress": False,
        }
        super().__init__(self._counted(handler), handler_cancellation=True)
        self._idle_until: dict[RequestHandler, float] = {}
        self._open: dict[RequestHandler, asyncio.Transport] = {}
        self._running: set[asyncio.Task[Any]] = set()
        self._sweeper: asyncio.Task[None] | None = None

    def __call__(self) -> RequestHandler:
        return _Connection(self, loop=self._loop, **self._settings)

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        # Written bytes stay here until the system has taken all of them; the writer counts them.
        transport.set_write_buffer_limits(0)
        if len(self._open) >= MOST_CONNECTIONS:
            longest_idle = next(iter(self._idle_until), None)
            if longest_idle is None:
                transport.abort()
                return
            del self._idle_until[longest_idle]
            self._open[longest_idle].abort()
        self._open[handler] = transport
        self._idle_until[handler] = self._loop.time() + FIRST_REQUEST

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        self._idle_until.pop(handler, None)
        self._open.pop(handler, None)
        super().connection_lost(handler, exc)

    def watch(self) -> None:
        """Begin to look for idle connections."""
        self._sweeper = asyncio.create_task(self._sweep())

    def stop_watching(self) -> None:
        """Stop watching, and close idle connections."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for handler in list(self._idle_until):
            self._open[handler].abort()

    async def close_all(self) -> None:
        """Close the open connections, also of clients that don't read. Returns when all are closed and no request runs:
        each still has something to clean up."""
        while self._open:
            for transport in list(self._open.values()):
                transport.abort()
            await asyncio.sleep(0)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _counted(self, handler: Callable[[web.BaseRequest], Any]) -> Callable[[web.BaseRequest], Any]:
        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            protocol = request.protocol
            self._idle_until.pop(protocol, None)
            task = cast("asyncio.Task[Any]", asyncio.current_task())  # a handler always runs in one
            self._running.add(task)
            try:
                return await handler(request)
            finally:
                self._running.discard(task)
                # The rest of a body that was not read still comes, and is no head.
                if isinstance(protocol, _Connection) and request.content.is_eof():
                    protocol.expect_head()
                if protocol in self._open:
                    self._idle_until[protocol] = self._loop.time() + NEXT_REQUEST

        return handle

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            now = self._loop.time()
            for handler, until in list(self._idle_until.items()):
                if now > until:
                    self._open[handler].abort()
