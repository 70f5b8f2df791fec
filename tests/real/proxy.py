"""A proxy in front of a daemon that can lose replies and cut bodies: what a bad network does at the worst moment."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.servers import read_head, serve_raw

__all__ = ["Proxy", "proxy_to"]


@dataclass
class Proxy:
    """What it does to requests whose line contains a text, and the lines that it saw."""

    url: str = ""
    loses_reply_to: str | None = None
    """Once: the daemon has done it, and nobody hears of that."""
    cuts_body_of: str | None = None
    """Once: the last bytes never arrive, although all were sent."""
    seen: list[str] = field(default_factory=list[str])


@asynccontextmanager
async def proxy_to(upstream: str) -> AsyncGenerator[Proxy]:
    proxy = Proxy()
    host, port = urlsplit(upstream).hostname, urlsplit(upstream).port

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        line = head.partition(b"\r\n")[0].decode()
        proxy.seen.append(line)
        stated = re.search(rb"(?i)content-length: *(\d+)", head)
        body = await reader.readexactly(int(stated[1]) if stated else 0)
        if proxy.cuts_body_of is not None and proxy.cuts_body_of in line:
            proxy.cuts_body_of = None
            body = body[: len(body) - 60]
            head = re.sub(rb"(?i)content-length: *\d+", b"Content-Length: %d" % len(body), head)
        up_reader, up_writer = await asyncio.open_connection(host, port)
        up_writer.write(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + body)
        await up_writer.drain()
        answer = await up_reader.read()
        up_writer.close()
        if proxy.loses_reply_to is not None and proxy.loses_reply_to in line:
            proxy.loses_reply_to = None
            return
        writer.write(answer)
        await writer.drain()

    async with serve_raw(carry) as proxy.url:
        yield proxy
