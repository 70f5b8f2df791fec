"""httpx's API on aiohttp's connections: the one module that knows httpx.

httpx 0.28's own pool fails in two ways that a program which cancels all day can't live with: a cancelled request can
leave it answering PoolTimeout for ever (5 or 6 of 40 pools in a measurement), and with 64 connections it does a tenth
of the work that aiohttp's does. httpx stays on top, since its values, and the mocks made for it, are what people test
with: while such a mock is in place, requests take the way that it watches (`_is_watched`). httpx-aiohttp would be such
a bridge too, but it reports a lost reply as a failed connect (so it would be repeated blindly), lets aiohttp re-quote
URLs, and reads in pieces of 16 KiB.
"""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
import sys
import time
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import aiohttp
import httpx
import yarl
from aiohttp.client_proto import ResponseHandler

from pinui.sdk.errors import PinuiError
from pinui.sdk.models import HttpTransport
from pinui.sdk.secret import masked
from pinui.sdk.transport.connections import LocalNames, patient_socket, proxy_for
from pinui.sdk.transport.http import Body, Breakdown, Head, Request
from pinui.sdk.urls import loggable
from pinui.version import __version__

if TYPE_CHECKING:
    from aiohttp.http import RawResponseMessage

__all__ = ["Broken", "Engine", "Reply"]

log = logging.getLogger("pinui.http")
READ_BUFFER = 256 * 1024
STREAM_ERROR = re.compile(
    rb"\r\n0\r\n(?:[^\r\n]+\r\n)*?X-Stream-Error:[ \t]*([^\s][^\r\n]*)\r\n(?:[^\r\n]+\r\n)*\r\n\Z", re.I
)
LONGEST_TRAILER = 4096


class Broken(Exception):
    """No answer, or half of one. The transport turns it into a value at once; no caller ever sees it."""

    def __init__(self, breakdown: Breakdown) -> None:
        super().__init__(breakdown.sentence)
        self.breakdown = breakdown


class Reply:
    """A reply whose body is still to be read."""

    def __init__(self, response: httpx.Response, url: str) -> None:
        self._response = response
        self.head = Head(response.status_code, {name.lower(): value for name, value in response.headers.items()}, url)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it is on the wire: nothing is unpacked, so no bomb can go off."""
        if self._response.is_stream_consumed:  # replies made by respx come read
            yield self._response.content
            return
        with _translated(self.head.url):
            async for chunk in self._response.aiter_raw():
                yield chunk


class Engine:
    """Sends one request and gives its reply. Made cheaply; connections and TLS come with the first request."""

    def __init__(
        self, *, connect_timeout: float, connections: int = 64, transport: HttpTransport | None = None
    ) -> None:
        if transport is not None and not isinstance(transport, httpx.AsyncBaseTransport):
            raise ValueError(f"transport must be an httpx.AsyncBaseTransport, not {type(transport).__name__}")
        self._transport = _AiohttpTransport(connect_timeout, connections) if transport is None else transport
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self.slots = asyncio.Semaphore(connections)
        """Taken before a request's time limits start: waiting for a free connection is not the server's silence."""

    @asynccontextmanager
    async def send(self, request: Request, on_sent: Callable[[int], None]) -> AsyncGenerator[Reply]:
        """Send and wait for the reply's head; `on_sent` is called for each piece of the body that went out."""
        client = self._usable_client()
        body = request.body
        with _logged(request) as set_outcome:
            with _translated(request.url):
                message = httpx.Request(
                    request.method,
                    _parsed(request.url),
                    headers=_headers(request),
                    stream=httpx.ByteStream(b"") if body is None else _BodyStream(body, on_sent),  # spares its defaults
                )
                response = await client.send(message, stream=True)
            set_outcome(f" {response.status_code}")
            try:
                yield Reply(response, request.url)
            finally:
                await response.aclose()

    def _usable_client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._closed:
            raise PinuiError("This client is closed", hint="Make a new one with Client.init.")
        if self._client is None or self._loop is None:
            # The transport's caller sets limits. Proxies are the transport's business: httpx looks for them only with a
            # transport of its own.
            self._client = _ClientWithoutCookies(transport=self._transport, timeout=None, trust_env=False)
            self._loop = loop
        if self._loop is not loop:
            raise PinuiError("This client belongs to another event loop", hint="Make one for each asyncio.run.")
        return self._client

    async def aclose(self) -> None:
        """Close every connection, for good."""
        self._closed = True
        if self._client is not None:
            await self._client.aclose()


class _NoCookies(httpx.Cookies):
    """Keeps none, and doesn't look for any: httpx takes a tenth of the time of a small call to do so."""

    def extract_cookies(self, response: httpx.Response) -> None:
        pass


NO_COOKIES = _NoCookies()


class _ClientWithoutCookies(httpx.AsyncClient):
    @property
    def cookies(self) -> httpx.Cookies:  # pyright: ignore[reportIncompatibleMethodOverride]  # nothing sets them here
        return NO_COOKIES


@lru_cache(maxsize=256)  # the calls of an API have the same few addresses
def _parsed(url: str) -> httpx.URL:
    return httpx.URL(url)


def _headers(request: Request) -> dict[str, str]:
    headers = {
        "Host": _host(request.url),
        "User-Agent": f"pinui/{__version__}",
        "Accept": "*/*",
        # No compression: the stored bytes themselves are hashed and counted, and no answer grows while it is unpacked.
        "Accept-Encoding": "identity",
        **request.headers,
    }
    credential = request.credential
    if credential is not None and credential.belongs_to(request.url):
        headers[credential.name] = f"{credential.scheme} {credential.secret.reveal()}".strip()
    if request.body is not None:
        headers["Content-Length"] = str(len(request.body) if isinstance(request.body, bytes) else request.body.length)
    return headers


def _host(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc.lower().rpartition("@")[2].removesuffix(":443" if parts.scheme == "https" else ":80")


class _BodyStream(httpx.AsyncByteStream):
    """A body of ours in httpx's dress; iterating it again starts from the beginning."""

    def __init__(self, body: Body | bytes, on_sent: Callable[[int], None]) -> None:
        self._body = body
        self._on_sent = on_sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if isinstance(self._body, bytes):
            # In pieces, since handing a large one over whole would hold up the loop.
            for start in range(0, len(self._body), READ_BUFFER):
                piece = self._body[start : start + READ_BUFFER]
                yield piece
                self._on_sent(len(piece))
            return
        async for chunk in self._body.chunks():
            yield chunk
            self._on_sent(len(chunk))


class _AiohttpTransport(httpx.AsyncBaseTransport):
    def __init__(self, connect_timeout: float, connections: int) -> None:
        self._connect_timeout = connect_timeout
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None
        self._tls: asyncio.Task[ssl.SSLContext] | None = None
        self._watched: dict[str | None, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        try:
            proxy = proxy_for(url)
        except ValueError as error:
            raise _ProxyOfNoUse(str(error)) from error
        is_watched = _is_watched()
        # Loading the certificates takes 40 ms: once, in a thread, and not for http on loopback.
        needs_tls = "https" in (request.url.scheme, (proxy or "").partition(":")[0])
        tls = await self._tls_context() if is_watched or needs_tls else True
        if is_watched:
            if proxy not in self._watched:
                self._watched[proxy] = httpx.AsyncHTTPTransport(verify=tls, proxy=proxy)
            return await self._watched[proxy].handle_async_request(request)
        try:
            response = await self._connections_pool().request(
                request.method,
                yarl.URL(url, encoded=True),  # the quoting is ours; aiohttp's would undo part of it
                headers=request.headers.multi_items(),
                data=request.stream if "Content-Length" in request.headers else None,
                allow_redirects=False,
                proxy=proxy,
                ssl=tls,
            )
        except (aiohttp.ClientError, OSError) as error:
            raise _as_httpx_error(error) from error
        return httpx.Response(
            response.status, headers=response.raw_headers, stream=_ResponseStream(response), request=request
        )

    def _connections_pool(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=self._connections, socket_factory=patient_socket, resolver=LocalNames()
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                # With name look-up and TLS. Requests wait for a free connection in Engine.slots, not here.
                timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_timeout),
                auto_decompress=False,
                read_bufsize=READ_BUFFER,
            )
            # aiohttp would repeat a DELETE by itself when a kept connection turns out to be closed; then nobody could
            # tell "not pinned" from "unpinned a moment ago". Retrying is the transport's decision.
            self._session._retry_connection = False  # pyright: ignore[reportPrivateUsage]
            connector._factory = partial[ResponseHandler](_TrailerReader, loop=asyncio.get_running_loop())  # pyright: ignore[reportPrivateUsage]
            weakref.finalize(self, _let_go, self._session)
        return self._session

    async def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None or (self._tls.done() and self._tls.exception() is not None):
            self._tls = asyncio.ensure_future(asyncio.to_thread(httpx.create_ssl_context))  # honours SSL_CERT_FILE
        try:
            return await asyncio.shield(self._tls)
        except OSError as error:  # ssl.SSLError is one, too
            raise _NoCertificates(str(error)) from error

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
        for transport in self._watched.values():
            await transport.aclose()


def _is_watched() -> bool:
    """Whether a step on httpx's own way to the network was replaced, as mocks and recorders do.

    They expect every request of httpx. One that took another way would leave a test that believes it is mocked, token
    and all. A step is as published if its code belongs to its own package: no mock needs to be known by name, and it
    doesn't matter which was loaded first.
    """
    steps: list[tuple[object, str]] = [(httpx.AsyncHTTPTransport.handle_async_request, "httpx")]
    if "httpcore" in sys.modules:  # a module that is not loaded was not replaced
        import httpcore

        steps.append((httpcore.AsyncConnectionPool.handle_async_request, "httpcore"))
        steps.append((httpcore.AsyncHTTPConnection.handle_async_request, "httpcore"))
    return any(_package_of(step) != package for step, package in steps)


def _package_of(function: object) -> str:
    """The package that a function's code comes from: wrappers copy `__module__`, but not `__globals__`."""
    return str(getattr(function, "__globals__", {}).get("__name__", "")).partition(".")[0]


def _let_go(session: aiohttp.ClientSession) -> None:
    """Close the session of a client that was never closed: aiohttp would write to a small script's terminal."""
    connector = session.connector
    session.detach()
    if connector is not None:
        connector._close()  # pyright: ignore[reportPrivateUsage]  # the public one wants to be awaited, and nobody is left to


class _TrailerReader(ResponseHandler):
    """Reads the trailer X-Stream-Error, which aiohttp drops.

    Kubo and IPFS Cluster answer 200 before they have done anything, and say there that they failed: a listing that a
    shutdown cut short looks like a whole one otherwise.
    """

    _end = b""
    _body: aiohttp.StreamReader | None = None

    def feed_data(self, data: tuple[RawResponseMessage, aiohttp.StreamReader], size: int = 0) -> None:
        message, body = data
        self._body = body if message.chunked and "Trailer" in message.headers else None
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        self._end = (self._end + data[-LONGEST_TRAILER:])[-LONGEST_TRAILER:]
        super().data_received(data)
        if self._body is not None and self._body.is_eof() and (said := STREAM_ERROR.search(self._end)):
            self._body.set_exception(_StreamError(masked(said[1].decode("utf-8", "replace"))))


class _StreamError(aiohttp.ClientPayloadError):
    """The other side says that it failed in the middle of its answer."""


class _NoCertificates(httpx.TransportError):
    """The file that SSL_CERT_FILE names can't be used."""


class _ProxyOfNoUse(httpx.TransportError):
    """The environment names a proxy that can't be used, such as a SOCKS one."""


class _ResponseStream(httpx.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
            if (failure := self._response.content.exception()) is not None:  # of the trailer
                raise failure
        except (aiohttp.ClientError, OSError) as error:
            raise _as_httpx_error(error) from error

    async def aclose(self) -> None:
        # A connection whose body was read to the end is used again; any other is closed.
        self._response.release()


def _as_httpx_error(error: Exception) -> httpx.TransportError:
    """The httpx error that says when it happened: before the request went out, or after."""
    text = str(error) or type(error).__name__
    match error:
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return httpx.ProxyError(text)
        case aiohttp.ConnectionTimeoutError():
            return httpx.ConnectTimeout(text)
        case aiohttp.ClientConnectorError() | aiohttp.ClientSSLError() | aiohttp.InvalidURL():
            return httpx.ConnectError(text)
        case aiohttp.ServerTimeoutError():
            return httpx.ReadTimeout(text)
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError(text)
        case _:
            return httpx.ReadError(text)


@contextmanager
def _logged(request: Request) -> Generator[Callable[[str], None]]:
    """Log a request at its end, with its outcome and its duration."""
    outcome = ": given up"

    def set_outcome(text: str) -> None:
        nonlocal outcome
        outcome = text

    begun = time.monotonic()
    try:
        yield set_outcome
    except Broken as broken:
        set_outcome(f": {broken.breakdown.sentence}")
        raise
    finally:
        if log.isEnabledFor(logging.DEBUG):
            took = (time.monotonic() - begun) * 1000
            log.debug("%s %s%s in %.0f ms", request.method, loggable(request.url), outcome, took)


@contextmanager
def _translated(url: str) -> Generator[None]:
    """Turns httpx's errors into `Broken`, a value without their tracebacks: those hold headers, and headers tokens."""
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, RuntimeError) as error:
        # httpx reads the address of a redirect even when it does not follow it; a host name that breaks the rules of
        # international names comes out as idna's UnicodeError. A RuntimeError says that the client was just closed.
        raise Broken(_breakdown(error, url)) from None


def _breakdown(error: Exception, url: str) -> Breakdown:
    host = urlsplit(url).netloc.rpartition("@")[2]
    match error:
        case httpx.ConnectTimeout():
            return Breakdown("connect", f"{host} could not be reached in time", timed_out=True, hint=OFFLINE)
        case httpx.ConnectError() if _is_no_tls(error):
            return Breakdown(
                "connect", f"{host} does not speak https", final=True, hint="Check the address and its port."
            )
        case httpx.ConnectError(__cause__=aiohttp.ClientConnectorCertificateError() as cause):
            return Breakdown(
                "connect",
                f"The certificate of {host} is not trusted: {_certificate_reason(cause)}",
                final=True,
                hint="Somebody may be listening in. If the certificate is your own, name it in SSL_CERT_FILE.",
            )
        case httpx.ConnectError(__cause__=aiohttp.ClientSSLError()):
            return Breakdown("connect", f"The secure connection to {host} could not be made", hint=OFFLINE)
        case httpx.ConnectError() | httpx.PoolTimeout():
            return Breakdown("connect", f"{host} could not be reached", hint=OFFLINE)
        case httpx.ProxyError():
            return Breakdown("connect", "The proxy could not be reached or refused the connection", hint=PROXY)
        case _ProxyOfNoUse():
            return Breakdown(
                "connect",
                "The proxy that the environment names is not an http or https one",
                final=True,
                hint="Set HTTPS_PROXY to such a proxy, or name this address in NO_PROXY.",
            )
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return Breakdown("connect", f"{host or 'The address'} can't be spoken to", final=True)
        case _NoCertificates():
            return Breakdown(
                "connect",
                "The certificates that this machine trusts could not be read",
                final=True,
                hint="Check SSL_CERT_FILE and SSL_CERT_DIR.",
            )
        case RuntimeError():
            return Breakdown("sent", "The client was closed", final=True)
        case httpx.TimeoutException():
            return Breakdown("sent", f"{host} did not answer in time", timed_out=True)
        case httpx.ReadError(__cause__=_StreamError() as cause):
            return Breakdown("sent", f"{host} failed in the middle of its answer", final=True, said=str(cause))
        case httpx.RemoteProtocolError() | UnicodeError():
            return Breakdown("sent", f"{host} closed the connection or sent no valid HTTP")
        case _:
            return Breakdown("sent", f"The connection to {host} broke")


OFFLINE = "Check the network, and the address of the service."
PROXY = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY."


def _is_no_tls(error: BaseException) -> bool:
    return "WRONG_VERSION_NUMBER" in str(error) or "record layer" in str(error)


def _certificate_reason(error: aiohttp.ClientConnectorCertificateError) -> str:
    inner = error.certificate_error
    return str(getattr(inner, "verify_message", None) or getattr(inner, "reason", None) or "it could not be checked")
