"""A proxy that harms connections: seeded, so that the same seed does the same harm to the same traffic."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

FAULTS = (
    "none",
    "latency",
    "drip",
    "reset-request",
    "reset-reply",
    "close-request",
    "close-reply",
    "stall-request",
    "stall-reply",
    "flip",
    "garbage",
    "refuse-429",
    "refuse-503",
    "refuse-html",
    "refuse-500-early",
)


@dataclass
class Chaos:
    """What happened, for the story when something went wrong."""

    upstream: tuple[str, int]
    random: random.Random
    url: str = ""
    faults: list[str] = field(default_factory=list[str])
    healthy: bool = False
    """While set, connections are left alone."""
    writers: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    def hang_up(self) -> None:
        """Close what is open, as a server does with idle connections: the next request gets a fault of its own."""
        for writer in list(self.writers):
            writer.close()


@asynccontextmanager
async def chaos_proxy(upstream_url: str, seed: int) -> AsyncGenerator[Chaos]:
    """A proxy in front of a server; each connection gets one fault, chosen by the seed."""
    parts = urlsplit(upstream_url)
    assert parts.hostname
    assert parts.port
    chaos = Chaos((parts.hostname, parts.port), random.Random(seed))
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        fault = "none" if chaos.healthy else chaos.random.choice(FAULTS)
        chaos.faults.append(fault)
        chaos.writers.add(writer)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError, asyncio.LimitOverrunError):
                await _carry(chaos, fault, chaos.random.randrange(1, 5000), reader, writer)
        finally:
            chaos.writers.discard(writer)
            with suppress(Exception):
                writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    chaos.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield chaos
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


REFUSALS = {
    "refuse-429": b'HTTP/1.1 429 Too Many\r\nRetry-After: 0\r\nContent-Length: 15\r\n\r\n{"error":"slow"}'[:-1],
    "refuse-503": b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
    "refuse-html": b"HTTP/1.1 502 Bad\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
    "refuse-500-early": b"HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    "garbage": b"\x00\xff\x13garbage\r\nnot: http\r\n\r\n\r\n",
}


async def _carry(chaos: Chaos, fault: str, at: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    if fault in REFUSALS:
        if fault != "refuse-500-early":
            await reader.readuntil(b"\r\n\r\n")
        writer.write(REFUSALS[fault])
        await writer.drain()
        return
    up_reader, up_writer = await asyncio.open_connection(*chaos.upstream)
    try:
        if fault == "latency":
            await asyncio.sleep(at / 100_000)
        to_server = asyncio.create_task(_pump(reader, up_writer, fault if "request" in fault else "", at))
        to_client = asyncio.create_task(_pump(up_reader, writer, fault if "request" not in fault else "", at))
        _done, pending = await asyncio.wait({to_server, to_client}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        if "reset" in fault:
            for one in (writer, up_writer):
                with suppress(OSError):
                    sock: socket.socket = one.get_extra_info("socket")
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    finally:
        up_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fault: str, at: int) -> None:
    moved = 0
    while piece := await reader.read(65536):
        kind = fault.partition("-")[0]
        if kind in ("reset", "close", "stall") and moved + len(piece) >= at:
            writer.write(piece[: at - moved])
            await writer.drain()
            if kind == "stall":
                await asyncio.Event().wait()
            return
        if kind == "flip" and moved <= at < moved + len(piece):
            changed = bytearray(piece)
            changed[at - moved] ^= 1
            piece = bytes(changed)
        if kind == "drip":
            for byte in piece[:20]:
                writer.write(bytes((byte,)))
                await writer.drain()
                await asyncio.sleep(0.001)
            piece = piece[20:]
        writer.write(piece)
        moved += len(piece)
        await writer.drain()
