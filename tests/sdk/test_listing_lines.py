"""Pins that a daemon lists one a line: handed on as they come, in constant memory, and never as a part of the truth."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pinui import Client, ClientConfig, ContentError, KuboProvider, NetworkError, ProviderError
from pinui.sdk.transport.transport import Clock
from tests.servers import read_head, serve, serve_raw

CID = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"


async def no_wait(_seconds: float) -> None:
    """Time that takes none."""


def on(url: str, **settings: Any) -> Client:
    config = ClientConfig(provider="kubo", pin_api_url=url, **settings)
    return Client(KuboProvider(config, clock=Clock(sleep=no_wait)))


def line(name: str) -> bytes:
    return json.dumps({"Cid": CID, "Name": name, "Type": "recursive"}).encode() + b"\n"


async def test_a_pin_is_handed_on_before_the_next_is_known() -> None:
    heard = asyncio.Event()

    async def hesitate(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(line("first")[:30])
        await response.write(line("first")[30:])
        await heard.wait()
        await response.write(line("second")[:-1])
        return response

    async with serve(hesitate) as (url, _seen), on(url) as client:
        names: list[str | None] = []
        async for pin in client.pins():
            names.append(pin.name)
            heard.set()
    assert names == ["first", "second"]


async def test_a_listing_that_breaks_is_not_begun_again_behind_the_readers_back() -> None:
    asked = 0

    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        await read_head(reader)
        asked += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + line("first") * (asked > 1))
        await writer.drain()

    async with serve_raw(break_off) as url, on(url) as client:
        names: list[str | None] = []
        with pytest.raises(NetworkError):
            async for pin in client.pins():
                names.append(pin.name)
    assert names == ["first"], "a broken answer without a pin is asked for again, one with a pin is an error"


async def test_a_reader_that_has_enough_ends_it() -> None:
    async def forever(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(line("again") * 1000)

    async with serve(forever) as (url, _seen), on(url) as client, aclosing(client.pins()) as pins:
        assert (await anext(pins)).name == "again"


async def test_lines_that_are_no_pins_are_left_out_and_a_line_without_end_is_refused() -> None:
    async def mixed(request: web.Request) -> web.Response:
        body = b"\n".join([b"nothing", b"[]", b'{"Cid": 5}', b'{"Cid": "two words"}', line("one")])
        return web.Response(body=body if "names" in request.query_string else b"")

    async def endless(_request: web.Request) -> web.Response:
        return web.Response(body=b"x" * 2_000_000)

    async with serve(mixed) as (url, _seen), on(url) as client:
        assert [pin.name async for pin in client.pins()] == ["one"]
    async with serve(endless) as (url, _seen), on(url) as client:
        with pytest.raises(ContentError, match="longer than"):
            [pin async for pin in client.pins()]


async def test_a_refusal_is_asked_for_once_and_a_gateways_error_again() -> None:
    asked: list[str] = []

    async def refuse(request: web.Request) -> web.Response:
        asked.append(request.path)
        if len(asked) == 1:
            return web.Response(status=502, text="<html>")
        return web.json_response({"Message": "no such pin", "Code": 0, "Type": "error"}, status=500)

    async with serve(refuse) as (url, _seen), on(url) as client:
        with pytest.raises(ProviderError, match=r"^no such pin$"):
            await client.rename(CID, "x")
    assert asked == ["/api/v0/pin/ls", "/api/v0/pin/ls"]


MEASURE = """
import asyncio, sys
from pinui import Client
from tests.memory import peak_kib
async def main(url):
    async with await Client.init(provider="kubo", pin_api_url=url) as client:
        async for pin in client.pins(name="none has this"): pass
        before, count = peak_kib(), 0
        async for pin in client.pins(): count += 1
        print(count, peak_kib() - before)
asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
async def test_memory_does_not_grow_with_the_number_of_pins() -> None:
    lines = line("n" * 200) * 1000
    asked = 0

    async def many(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(1 if asked == 1 else 150):
            await response.write(lines)
        return response

    async with serve(many) as (url, _seen):
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-c", MEASURE, url], cwd=Path(__file__).parents[2], stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
    assert process.returncode == 0
    count, grown = map(int, output.split())
    assert count == 150_000
    assert grown < 24 * 1024, f"a listing of {len(lines) * 150 >> 20} MiB cost {grown} KiB"
