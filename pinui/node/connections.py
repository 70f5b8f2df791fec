"""aiohttp's server with the limits it lacks: on idle connections, slow headers and how many connections there are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

__all__ = ["LimitedServer"]

MOST_CONNECTIONS = 512
FIRST_REQUEST = 15.0
NEXT_REQUEST = 75.0
LINE = 8190
HEADERS = 64
SWEEP = 1.0


class LimitedServer(web.Server):
    """Closes connections that are idle or can't get their headers out. aiohttp limits only what comes after the
    first request (`keepalive_timeout`): a client that connects and drips a header keeps its place for ever."""

    def __init__(self, handler: Callable[[web.BaseRequest], Any], first_request: float = FIRST_REQUEST) -> None:
        # Quiet: what a broken client sends is not worth a traceback in a person's terminal.
        quiet = logging.getLogger("pinui.node.http")
        quiet.addHandler(logging.NullHandler())
        quiet.propagate = False
        super().__init__(
            self._counted(handler),
            handler_cancellation=True,
            logger=quiet,
            access_log=None,
            keepalive_timeout=NEXT_REQUEST,
            max_line_size=LINE,
            max_field_size=LINE,
            max_headers=HEADERS,
            lingering_time=5.0,
            read_bufsize=1024 * 1024,
            auto_decompress=False,
        )
        self._first_request = first_request
        self._idle_until: dict[RequestHandler, float] = {}
        self._sweeper: asyncio.Task[None] | None = None

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._idle_until[handler] = self._loop.time() + self._first_request

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        self._idle_until.pop(handler, None)
        super().connection_lost(handler, exc)

    def watch(self) -> None:
        """Begin to look for idle connections."""
        self._sweeper = asyncio.create_task(self._sweep())

    def stop_watching(self) -> None:
        """No more looking, and no more waiting for connections that ask nothing."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for handler in list(self._idle_until):
            if handler.transport is not None:
                handler.transport.abort()

    def _counted(self, handler: Callable[[web.BaseRequest], Any]) -> Callable[[web.BaseRequest], Any]:
        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            protocol = request.protocol
            self._idle_until.pop(protocol, None)
            try:
                return await handler(request)
            finally:
                if protocol in self._connections:
                    self._idle_until[protocol] = self._loop.time() + NEXT_REQUEST

        return handle

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            now = self._loop.time()
            for handler, until in list(self._idle_until.items()):
                if now > until and handler.transport is not None:
                    handler.transport.abort()
