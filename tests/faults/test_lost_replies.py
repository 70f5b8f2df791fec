"""The provider stored it and the reply was lost: it ends pinned once, recorded once, and not sent twice for nothing."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path

import pytest

from pinui import Client, ClientConfig, PinProvider
from pinui.node import Node
from pinui.sdk.transport.transport import Clock
from tests.faults.storm import no_wait
from tests.servers import read_head, reply, serve_raw, settings_of

LARGE = 1_100_000


class Forgetful:
    """A proxy that passes requests on to the node and loses every reply to a pin but the last of each content."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.sent = 0
        self.lost = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        stated = re.search(rb"(?i)content-length: *(\d+)", head)
        length = int(stated[1]) if stated else 0
        body = await reader.readexactly(length)
        host = self.node.api_url.removeprefix("http://")
        up_reader, up_writer = await asyncio.open_connection(*host.split(":"))
        up_writer.write(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + body)
        await up_writer.drain()
        answer = await up_reader.read()
        up_writer.close()
        if b"POST" in head:
            self.sent += 1
            if b'"isDuplicate": true' not in answer and b'"isDuplicate":true' not in answer:
                self.lost += 1
                return
        writer.write(answer)
        await writer.drain()


async def lose(folder: Path, times: int, size: int) -> Forgetful:
    chance = random.Random(4)
    async with Node(folder / "node") as node:
        forgetful = Forgetful(node)
        async with serve_raw(forgetful) as url:
            config = ClientConfig(provider_token=node.token, pin_api_url=url, gateway_url=node.gateway_url)
            async with Client(PinProvider(config, clock=Clock(sleep=no_wait))) as client:
                cids: list[str] = []
                for _ in range(times):
                    data = chance.randbytes(size)
                    record = await client.upload(data)
                    assert record.verification == "verified"
                    cids.append(record.cid)
                    assert (await client.download(record.cid)).data == data
        async with await Client.init(**settings_of(node)) as honest:
            assert (await honest.totals()).pins == len(set(cids)) == times
    return forgetful


async def test_a_few_large_uploads_are_looked_for_and_not_sent_again(tmp_path: Path) -> None:
    forgetful = await lose(tmp_path, 10, LARGE)
    assert (forgetful.lost, forgetful.sent) == (10, 10)


async def test_a_large_document_is_looked_for_too(tmp_path: Path) -> None:
    document = ["x" * LARGE]
    async with Node(tmp_path / "node") as node:
        forgetful = Forgetful(node)
        async with serve_raw(forgetful) as url:
            config = ClientConfig(provider_token=node.token, pin_api_url=url, gateway_url=node.gateway_url)
            async with Client(PinProvider(config, clock=Clock(sleep=no_wait))) as client:
                record = await client.store(document)
                assert await client.retrieve(record.cid) == document
    assert (record.verification, record.size) == ("verified", LARGE + 4)
    assert (forgetful.lost, forgetful.sent) == (1, 1)


async def test_small_uploads_are_simply_sent_again(tmp_path: Path) -> None:
    forgetful = await lose(tmp_path, 10, 1000)
    assert (forgetful.lost, forgetful.sent) == (10, 20)


@pytest.mark.slow
async def test_three_hundred_losses(tmp_path: Path) -> None:
    forgetful = await lose(tmp_path, 300, LARGE)
    assert (forgetful.lost, forgetful.sent) == (300, 300)


async def test_where_the_provider_cannot_be_asked_it_is_sent_again(tmp_path: Path) -> None:
    sent = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        head = await read_head(reader)
        if b"pinList" in head:
            writer.write(reply("404 Not Found", b"", "Connection: close"))
        else:
            while len(await reader.read(1 << 20)) == 1 << 20:
                pass
            sent += 1
            if sent == 1:
                return
            writer.write(
                reply("200 OK", b'{"IpfsHash":"QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"}', "Connection: close")
            )
        await writer.drain()

    async with serve_raw(handler) as url:
        config = ClientConfig(provider_token="t", pin_api_url=url)
        async with Client(PinProvider(config, clock=Clock(sleep=no_wait))) as client:
            await client.upload(bytes(LARGE))
    assert sent >= 2
