"""Answers made to hurt cost little and end in a sentence."""

from __future__ import annotations

import asyncio
import gzip
import sys

import pytest
from aiohttp import web

from tests.servers import Handler, serve

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"

READ = """
import asyncio, resource, sys
from pinui import Client, PinuiError
async def main(url, cid):
    async with await Client.init(provider_token="t", pin_api_url=url, gateway_url=url + "/ipfs", retries=0) as client:
        try:
            await client.test_connection()
        except PinuiError:
            pass
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            await client.retrieve(cid)
        except PinuiError as error:
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, type(error).__name__, error)
asyncio.run(main(*sys.argv[1:]))
"""


async def cost(handler: Handler) -> tuple[int, str]:
    """Kibibytes that reading it cost a process of its own, and what that process was told."""
    async with serve(handler) as (url, _seen):
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-c", READ, url, CID], stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
    assert process.returncode == 0
    kib, _, told = output.decode().partition(" ")
    return int(kib), told


def small_bomb() -> bytes:
    """A few kilobytes that unpack, twice, to six gigabytes."""
    return gzip.compress(gzip.compress(bytes(50_000_000)))


@pytest.mark.parametrize("bomb", ["gzip", "huge", "huge-chunked", "deep"])
async def test_a_bomb_costs_little_and_is_told(bomb: str) -> None:
    packed = small_bomb()

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
    assert told.strip().startswith(("ContentError", "IntegrityError", "NetworkError")), told


async def test_endless_headers_and_errors_end() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(request)
        for _ in range(2000):
            await response.write(b"x" * 100_000)
        return response

    kib, told = await cost(handler)
    assert kib < 64 * 1024
    assert told.strip() == "ProviderError HTTP error 500"
