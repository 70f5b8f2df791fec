"""Answers made to hurt cost little and end in a sentence."""

from __future__ import annotations

import asyncio
import gzip
import sys
import zlib
from pathlib import Path

import pytest
from aiohttp import web

from pinui import Client, NetworkError
from tests.servers import Handler, read_head, serve, serve_raw

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"

ROOT = Path(__file__).parents[2]
READ = """
import asyncio, sys
from pinui import Client, PinuiError
from tests.memory import peak_kib
async def main(url, cid):
    async with await Client.init(provider_token="t", pin_api_url=url, gateway_url=url + "/ipfs", retries=0) as client:
        try:
            await client.test_connection()
        except PinuiError:
            pass
        before = peak_kib()
        try:
            await client.retrieve(cid)
        except PinuiError as error:
            print(peak_kib() - before, type(error).__name__, error)
asyncio.run(main(*sys.argv[1:]))
"""


async def cost(handler: Handler) -> tuple[int, str]:
    """Kibibytes that reading it cost a process of its own, and what that process was told."""
    async with serve(handler) as (url, _seen):
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-c", READ, url, CID], cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
    assert process.returncode == 0
    kib, _, told = output.decode().partition(" ")
    return int(kib), told


def small_bomb() -> bytes:
    """A kilobyte or two that unpack, twice, to a multiple of what may be spent on them."""
    packer = zlib.compressobj(1, wbits=31)
    return gzip.compress(b"".join(packer.compress(bytes(1_000_000)) for _ in range(300)) + packer.flush())


@pytest.mark.parametrize(
    ("bomb", "words"),
    [
        ("gzip", "NetworkError The answer came compressed"),
        ("huge", "ContentError The document is larger than 16,777,216 bytes"),
        ("huge-chunked", "ContentError The document is larger than 16,777,216 bytes"),
        ("deep", f"ContentError {CID} is not JSON"),
    ],
)
async def test_a_bomb_costs_little_and_is_told(bomb: str, words: str) -> None:
    packed = small_bomb() if bomb == "gzip" else b""
    assert len(packed) < 5_000

    async def handler(request: web.Request) -> web.StreamResponse:
        if bomb == "gzip":
            return web.Response(body=packed, headers={"Content-Encoding": "gzip, gzip"})
        if bomb == "deep":
            return web.Response(body=b"[" * 2_000_000)
        response = web.StreamResponse()
        if bomb == "huge":
            response.content_length = 100_000_000
        await response.prepare(request)
        for _ in range(100):
            await response.write(b"[1,2,3,4]," * 100_000)
        return response

    kib, told = await cost(handler)
    assert kib < 64 * 1024, f"{kib} KiB"
    assert told.startswith(words)


async def test_an_endless_error_ends() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(request)
        for _ in range(2000):
            await response.write(b"x" * 100_000)
        return response

    kib, told = await cost(handler)
    assert kib < 64 * 1024
    assert told.strip() == "ProviderError HTTP error 500"


@pytest.mark.parametrize("line", [b"X-Header: y\r\n", b"y" * 1000], ids=["many", "long"])
async def test_endless_headers_end(line: bytes) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nX-First: ")
        while True:
            writer.write(line * 1000)
            await writer.drain()

    async with serve_raw(handler) as url, await Client.init(gateway_url=f"{url}/ipfs", retries=0) as client:
        with pytest.raises(NetworkError, match="no valid HTTP"):
            await client.retrieve(CID)
