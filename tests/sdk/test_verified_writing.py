"""The CID that a provider answers is compared with the one that the bytes have."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from aiohttp import web

from pinui import Client, ClientConfig, IntegrityError, PinProvider
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, UNIXFS_2025
from pinui.node import Node
from pinui.sdk.writing.multipart import Multipart
from pinui.sdk.writing.prediction import UploadPrediction
from pinui.sdk.writing.sources import open_source
from tests.sdk.conftest import MakeClient, some_turns
from tests.sdk.gateways import cut
from tests.servers import serve, settings_of

LARGE = random.Random(9).randbytes(1_500_000)
OTHER = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"


@pytest.mark.parametrize("version", [None, 0, 1])
async def test_on_the_node_every_write_is_verified(tmp_path: Path, version: Literal[0, 1] | None) -> None:
    album = tmp_path / "album"
    (album / "sub").mkdir(parents=True)
    (album / "b.txt").write_bytes(b"b")
    (album / "sub" / "a.bin").write_bytes(LARGE)
    async with Node(tmp_path / "node") as node:
        settings = settings_of(node, cid_version=version, verify="require")
        async with await Client.init(**settings) as client:
            for record in (
                await client.store({"a": 1}),
                await client.store("x" * 400_000),
                await client.send("alice", "hello"),
                await client.upload(b""),
                await client.upload(b"small"),
                await client.upload(LARGE),
                await client.upload(album),
            ):
                assert record.verification == "verified"
                assert type(record.cid) is str


def answering(cid: str):
    async def handler(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"IpfsHash": cid})

    return handler


@pytest.mark.parametrize(
    ("data", "answer", "verdict"),
    [
        (b"small", cut(b"small", KUBO_V0).cid, "verified"),
        (b"small", cut(b"small", KUBO_V1).cid, "verified"),
        (b"small", str(cut(b"small", KUBO_V0).root.to_v1()), "verified"),
        (b"small", cut(b"other", KUBO_V0).cid, "mismatch"),
        (b"small", cut(b"other", KUBO_V1).cid, "mismatch"),
        (b"small", "QmTest", "unverifiable"),
        (LARGE, cut(LARGE, KUBO_V0).cid, "verified"),
        (LARGE, cut(LARGE, UNIXFS_2025).cid, "unverifiable"),
        (LARGE, OTHER, "unverifiable"),
    ],
)
async def test_the_verdict_on_an_answer(make_client: MakeClient, data: bytes, answer: str, verdict: str) -> None:
    async with serve(answering(answer)) as (url, _seen):
        record = await make_client(url, verify="try").upload(data)
    assert record.cid == answer, "the contract: the record carries what the provider answered"
    assert record.verification == verdict


async def test_where_proof_is_required_a_doubtful_answer_raises_and_carries_the_record(make_client: MakeClient) -> None:
    async with serve(answering(OTHER)) as (url, _seen):
        config = ClientConfig(provider_token="t", pin_api_url=url, verify="require")
        async with Client(PinProvider(config)) as client:
            with pytest.raises(IntegrityError, match="not the CID of the sent bytes") as caught:
                await client.store({"a": 1})
            assert caught.value.record is not None
            assert caught.value.record.cid == OTHER
            assert caught.value.record.data == {"a": 1}
            with pytest.raises(IntegrityError, match="could not be verified") as caught:
                await client.upload(LARGE)
            assert caught.value.verification == "unverifiable"


async def test_switched_off_nothing_is_said(make_client: MakeClient) -> None:
    async with serve(answering(OTHER)) as (url, _seen):
        client = make_client(url, verify="off")
        assert (await client.store(1)).verification is None
        assert (await client.upload(b"x")).verification is None


async def test_a_retried_upload_is_predicted_from_its_beginning(make_client: MakeClient) -> None:
    attempts = 0

    async def flaky(request: web.Request) -> web.Response:
        nonlocal attempts
        if request.method == "GET":
            return web.json_response({"rows": []})
        attempts += 1
        await request.read()
        return web.Response(status=503) if attempts == 1 else web.json_response({"IpfsHash": cut(LARGE, KUBO_V0).cid})

    async with serve(flaky) as (url, _seen):
        assert (await make_client(url, verify="try").upload(LARGE)).verification == "verified"
    assert attempts == 2


async def test_a_hash_left_over_from_a_broken_attempt_is_not_the_next_ones() -> None:
    """On a busy machine a piece may still wait for its thread when the line breaks and the next attempt begins."""
    source = open_source(LARGE[:100_000])
    prediction = UploadPrediction(source, KUBO_V0)
    body = Multipart(source.parts, watcher=prediction)
    pool, is_free = ThreadPoolExecutor(1), threading.Event()
    asyncio.get_running_loop().set_default_executor(pool)
    broken = body.chunks()
    await anext(broken)
    assert await anext(broken) == LARGE[:100_000]
    pool.submit(is_free.wait)
    await some_turns()
    await broken.aclose()
    again = asyncio.create_task(_all(body.chunks()))
    await some_turns()
    is_free.set()
    assert len(await again) == body.length
    assert prediction.verdict(cut(LARGE[:100_000], KUBO_V0).cid) == "verified"


async def _all(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has file names that are no Unicode")
async def test_a_name_that_is_no_unicode_costs_the_proof_and_not_the_record(
    make_client: MakeClient, tmp_path: Path
) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    Path(os.fsdecode(os.fsencode(photos) + b"/caf\xe9.txt")).write_text("hi")
    async with serve(answering(OTHER)) as (url, seen):
        record = await make_client(url, verify="try").upload(photos)
    assert (record.cid, record.verification) == (OTHER, "unverifiable")
    assert len(seen) == 1
