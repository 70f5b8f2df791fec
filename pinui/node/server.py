"""The node itself: a thread with an event loop of its own, a socket on loopback, and the parts tied together."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType

from aiohttp import web

from pinui.node.api import PinningApi
from pinui.node.by_cid import PinsByCid
from pinui.node.connections import LimitedServer
from pinui.node.errors import ApiError, FolderBusy, NewerIndex, is_disk_full
from pinui.node.files_api import FilesApi
from pinui.node.gateway import CORS, SENT, Gateway, GatewayError
from pinui.node.guard import (
    RateLimit,
    check_allowed,
    check_origin,
    check_token,
    cors_headers,
    preflight_headers,
    safe_headers,
)
from pinui.node.lock import Patience
from pinui.node.remote import check_gateway
from pinui.node.settings import read_port, read_token, remember_port
from pinui.node.store import PinStore
from pinui.node.tus import TusUploads
from pinui.node.workers import Workers

__all__ = ["Answer", "Node", "NodeError", "RequestLine"]

LOOPBACK = "127.0.0.1"
ACCEPTING = 4
"""Turns of the event loop that a connection takes from being accepted to being known."""
# The time that a running transfer gets when the node stops.
GRACE = 0.1
LONGEST_REASON = 500
# No answer, but a line in the log: the client went away before the end.
BROKEN_OFF = 499
Answer = Callable[[], Awaitable[web.StreamResponse]]
Middleware = Callable[[web.BaseRequest, Answer], Awaitable[web.StreamResponse]]
log = logging.getLogger("pinui.node")
log.addHandler(logging.NullHandler())  # an application that embeds the node decides what is shown, and where


class NodeError(Exception):
    """The node can't run; the message is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request that was answered, for a log. The path is as it was sent, escaped, without its query."""

    method: str
    path: str
    status: int
    seconds: float


class Node:
    """A pinning service and gateway on this machine.

    `async with Node(folder) as node:` or `start` and `stop`. With no `port` it takes the one that the folder had
    before, or a free one. With no `token` it takes the folder's own, which is made once. Content that is
    pinned by CID comes from the gateways in `fetch_from`, where no pin here contains it. Pages of the origins in
    `allow_origins` may talk to the node; `*` means every page. `middleware(request, answer)` may answer in the node's
    place.
    """

    def __init__(
        self,
        data_dir: Path | str,
        *,
        port: int = 0,
        token: str | None = None,
        rate_limit: int | None = None,
        allow_origins: Sequence[str] = (),
        fetch_from: Sequence[str] = (),
        on_request: Callable[[RequestLine], None] | None = None,
        middleware: Middleware | None = None,
    ) -> None:
        self.data_dir = Path(data_dir)
        self.port = port
        self._token = token
        self._origins = tuple(check_allowed(origin) for origin in allow_origins)
        self._fetch_from = tuple(check_gateway(url) for url in fetch_from)
        self.limit_rate(rate_limit)
        self._on_request = on_request
        self._middleware = middleware
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._stopped = threading.Event()

    @property
    def api_url(self) -> str:
        """The address of the pinning API."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def gateway_url(self) -> str:
        """The address of the gateway; a CID follows after a slash."""
        return f"{self.api_url}/ipfs"

    @property
    def token(self) -> str:
        """The bearer token for the API."""
        if self._token is None:
            raise NodeError("The node has no token before it is started.")
        return self._token

    def limit_rate(self, per_minute: int | None) -> None:
        """Answer 429 to further API requests of a minute; None for no limit."""
        self._limit = RateLimit(per_minute) if per_minute else None

    async def __aenter__(self) -> Node:
        self._stopped.clear()
        starting = asyncio.ensure_future(asyncio.to_thread(self._start))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A thread can't be cancelled: it gives up what it waits for, or it starts and is stopped.
            self._stopped.set()
            with suppress(Exception):
                await starting
            await asyncio.to_thread(self.stop)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.stop)

    def start(self) -> None:
        """Start and return once requests are answered; `NodeError` if that can't be."""
        self._stopped.clear()
        self._start()

    def _start(self) -> None:
        ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="pinui-node", daemon=True)
        self._thread.start()
        ready.result()

    def stop(self) -> None:
        """End within a second, with all running transfers; harmless if it does not run."""
        self._stopped.set()
        if self._loop is not None and self._stop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, ready: Future[None]) -> None:
        try:
            asyncio.run(self._serve(ready))
        except Exception as error:
            if ready.done():
                log.exception("the node ended")
            else:
                ready.set_exception(error)

    async def _serve(self, ready: Future[None]) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            self._token = self._token or read_token(self.data_dir)
            store = PinStore(self.data_dir, Patience(self.data_dir, self._stopped))
        except (FolderBusy, NewerIndex) as error:
            raise NodeError(str(error)) from error
        except OSError as error:
            why = "it is a file" if isinstance(error, FileExistsError) else error.strerror
            raise NodeError(f"The folder {self.data_dir} can't be used: {why}.") from error
        except sqlite3.Error as error:
            raise NodeError(f"The index in {self.data_dir} can't be used: {error}.") from error
        workers = Workers()
        by_cid, tus = PinsByCid(store, workers, self._fetch_from), TusUploads(store, workers)
        try:
            listener = self._listen()
            server = LimitedServer(self._handler(store, workers, by_cid, tus))
            runner = web.ServerRunner(server, shutdown_timeout=GRACE)
            await runner.setup()
            await web.SockSite(runner, listener, backlog=256).start()
            server.watch()
            await by_cid.start()
            ready.set_result(None)
            await self._stop.wait()
            await _stop_accepting(listener)
            server.stop_watching()
            await runner.cleanup()
            await server.close_all()
        finally:
            await by_cid.close()
            workers.close()
            tus.close()
            store.close()

    def _listen(self) -> socket.socket:
        remembered = 0 if self.port else read_port(self.data_dir)
        for port in (self.port or remembered, 0) if remembered else (self.port,):
            # The protocol is named because asyncio looks at it before it turns off Nagle's delay (40 ms a request).
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows means another thing by SO_REUSEADDR
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
            else:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((LOOPBACK, port))
                listener.listen(256)
            except OSError as error:
                listener.close()
                if port == 0 or port != remembered:
                    why = "is in use" if error.errno == errno.EADDRINUSE else f"can't be used: {error.strerror}"
                    raise NodeError(f"Port {port} {why}. Choose another one, or none for a free one.") from error
                continue
            chosen: int = listener.getsockname()[1]
            if not self.port and not remembered:
                remember_port(self.data_dir, chosen)
            self.port = chosen
            return listener
        raise AssertionError

    def _handler(
        self, store: PinStore, workers: Workers, by_cid: PinsByCid, tus: TusUploads
    ) -> Callable[[web.BaseRequest], object]:
        api, files = PinningApi(store, workers, by_cid), FilesApi(store, workers, by_cid, tus, self.token)
        gateway = Gateway(store, workers)

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            began = time.perf_counter()
            status = BROKEN_OFF
            request[CORS] = cors_headers(request.headers, self._origins)
            try:
                answer = partial(self._answer, request, api, files, gateway)
                response = await (self._middleware(request, answer) if self._middleware else answer())
                status = response.status
                if not response.prepared:
                    _make_safe(response, request)
            except asyncio.CancelledError:
                status = request.get(SENT, BROKEN_OFF)
                raise
            except web.HTTPException as moved:
                status = moved.status
                _make_safe(moved, request)
                raise
            finally:
                self._report(RequestLine(request.method, request.rel_url.raw_path, status, time.perf_counter() - began))
            return response

        return handle

    def _report(self, line: RequestLine) -> None:
        if self._on_request is not None:
            try:
                self._on_request(line)
            except Exception:
                # The answer was sent; a failing log must not change that.
                log.exception("%s %s could not be reported", line.method, line.path)

    async def _answer(
        self, request: web.BaseRequest, api: PinningApi, files: FilesApi, gateway: Gateway
    ) -> web.StreamResponse:
        limits: dict[str, str] = {}
        path = request.rel_url.raw_path
        # The hosted service's SDK asks both APIs below one address.
        is_newer = path.startswith("/v3/") and not path.startswith("/v3/data/")
        try:
            check_origin(request.headers, self.port, path, self._origins)
            if request.method == "OPTIONS" and request.get(CORS):
                return web.Response(status=204, headers=preflight_headers(request.headers))
            if path in ("/", "/favicon.ico", "/ipfs", "/ipns") or path.startswith("/ipns/"):
                return _about(path)
            if path.startswith("/ipfs/"):
                return await gateway.answer(request)
            limits = self._limit.take() if self._limit else {}
            # The hosted service parses JSON first; here, strangers can't have their bodies read.
            if not (is_newer and await files.admits(request)):
                check_token(request.headers, self.token)
            response = await (files.answer(request) if is_newer else api.answer(request))
            response.headers.update(limits)
            return response
        except ApiError as error:
            body = error.newer_body if is_newer else error.body
            return web.json_response(body, status=error.status, headers=limits | error.headers)
        except GatewayError as error:
            return web.Response(status=error.status, text=f"{error.sentence}\n", headers=error.headers)
        except (ConnectionError, TimeoutError):
            # The client went away or does not read: it gets no answer.
            if request.transport is not None:
                request.transport.abort()
            raise
        except web.HTTPException:
            raise
        except Exception as cause:
            if not isinstance(cause, FolderBusy) and not is_disk_full(cause):
                log.exception("%s %s failed", request.method, request.rel_url.raw_path)
            if request.transport is not None and request.writer.output_size:
                request.transport.abort()
            error = self._failure(cause)
            return web.json_response(error.body, status=error.status)

    def _failure(self, cause: Exception) -> ApiError:
        """The answer for an error in the node itself."""
        if is_disk_full(cause):
            return ApiError.of(507, "INSUFFICIENT_STORAGE", "The disk is full: nothing was stored.")
        if isinstance(cause, FolderBusy):
            return ApiError.of(503, "NODE_BUSY", str(cause))
        if isinstance(cause, NewerIndex):
            return ApiError.of(500, "INDEX_UNUSABLE", str(cause))
        if isinstance(cause, sqlite3.Error):
            return ApiError.of(500, "INDEX_UNUSABLE", f"The node's index in {self.data_dir} can't be used: {cause}.")
        kind = type(cause).__name__
        return ApiError.of(500, "INTERNAL_ERROR", f"The node failed at this: {kind}: {cause}"[:LONGEST_REASON])


def _make_safe(response: web.StreamResponse, request: web.BaseRequest) -> None:
    for name, value in (safe_headers() | request[CORS]).items():
        response.headers.setdefault(name, value)


def _about(path: str) -> web.Response:
    if path != "/":
        return web.Response(status=404, text="This node serves /ipfs/CID, and resolves no names.\n")
    return web.Response(
        text="This is a pinui node: a pinning service and an IPFS gateway (/ipfs/CID) for this machine.\n"
    )


async def _stop_accepting(listener: socket.socket) -> None:
    """Take no more connections, and let those through that were taken just now: asyncio leaves a connection open that
    it has accepted when its server closes."""
    with suppress(NotImplementedError):  # Windows
        asyncio.get_running_loop().remove_reader(listener)
    for _ in range(ACCEPTING):
        await asyncio.sleep(0)
