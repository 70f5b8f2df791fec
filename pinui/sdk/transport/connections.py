"""Connections: proxies, names of this machine, and sockets that read an early answer to its end."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from aiohttp import ThreadedResolver

from pinui.sdk.urls import is_loopback, origin

if TYPE_CHECKING:
    from aiohttp.abc import ResolveResult
    from typing_extensions import Buffer

__all__ = ["LocalNames", "patient_socket", "proxy_for"]


class LocalNames(ThreadedResolver):
    """Names below `localhost` are this machine, as RFC 6761 has it.

    Kubo's gateway redirects to such names, which not every system knows; and no name server may choose where they lead.
    """

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        is_here = host.lower().rstrip(".").endswith(".localhost")
        return await super().resolve("localhost" if is_here else host, port, family)


class _PatientSocket(socket.socket):
    """Goes on reading when writing fails.

    A server that refuses an upload early says why and hangs up while the body is still on its way. asyncio drops a
    connection at the first failed write, and the answer, which has arrived, with it: 401 would look like a broken line.
    """

    __slots__ = ()

    def send(self, data: Buffer, flags: int = 0, /) -> int:
        try:
            return super().send(data, flags)
        except (BrokenPipeError, ConnectionResetError):
            return memoryview(data).nbytes

    def sendmsg(self, buffers: Iterable[Buffer], /, *arguments: Any) -> int:
        pieces = list(buffers)
        try:
            return super().sendmsg(pieces, *arguments)
        except (BrokenPipeError, ConnectionResetError):
            return sum(memoryview(piece).nbytes for piece in pieces)


def patient_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket for an address as aiohttp gives it."""
    return _PatientSocket(*address[:3])  # family, type, protocol


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for a URL, never for this machine; `ValueError` for an unusable one."""
    parts = urlsplit(url)
    if is_loopback(parts.hostname) or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"  # as curl takes it
    if origin(proxy) is None:
        raise ValueError("not an http or https address")
    return proxy
