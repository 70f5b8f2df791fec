"""The provider stored it and the reply was lost: it ends pinned once, recorded once, and not sent twice for nothing."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from pinui import Client, ClientConfig, PinProvider
from pinui.sdk.transport.transport import Clock
from pinui.testing import PinningNode
from tests.faults.storm import no_wait
from tests.servers import read_head, reply, serve_raw

LARGE = 1_100_000
LOST = 499
"""The status, in the node's log, of a request whose answer was lost."""


def posts(node: PinningNode) -> tuple[int, int]:
    """The writes that the node got, and how many of them got no answer."""
    statuses = [line.status for line in node.requests if line.method == "POST"]
    return len(statuses), statuses.count(LOST)


async def lose(node: PinningNode, times: int, size: int) -> None:
    chance = random.Random(4)
    async with Client(PinProvider(ClientConfig(**node.settings()), clock=Clock(sleep=no_wait))) as client:
        cids: set[str] = set()
        for _ in range(times):
            node.lose_next(path="/pinning/")
            data = chance.randbytes(size)
            record = await client.upload(data)
            assert record.verification == "verified"
            cids.add(record.cid)
            assert (await client.download(record.cid)).data == data
    assert {pin.cid for pin in node.pins()} == cids
    assert len(cids) == times


async def test_a_few_large_uploads_are_looked_for_and_not_sent_again(pinning_node: PinningNode) -> None:
    await lose(pinning_node, 10, LARGE)
    assert posts(pinning_node) == (10, 10)


async def test_a_large_document_is_looked_for_too(pinning_node: PinningNode) -> None:
    document = ["x" * LARGE]
    pinning_node.lose_next(path="/pinning/")
    config = ClientConfig(**pinning_node.settings())
    async with Client(PinProvider(config, clock=Clock(sleep=no_wait))) as client:
        record = await client.store(document)
        assert await client.retrieve(record.cid) == document
    assert (record.verification, record.size) == ("verified", LARGE + 4)
    assert posts(pinning_node) == (1, 1)


async def test_small_uploads_are_simply_sent_again(pinning_node: PinningNode) -> None:
    await lose(pinning_node, 10, 1000)
    assert posts(pinning_node) == (20, 10)


@pytest.mark.slow
async def test_three_hundred_losses(pinning_node: PinningNode) -> None:
    await lose(pinning_node, 300, LARGE)
    assert posts(pinning_node) == (300, 300)


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
