"""Kubo and Cluster answer 200 and say only behind the body, in a trailer, that they failed on the way."""

from __future__ import annotations

import asyncio

import pytest

from pinui import ProviderError
from tests.sdk.conftest import TOKEN, MakeClient
from tests.servers import read_head, serve_raw

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
TRAILER = b"X-Stream-Error: leveldb: closed\r\n"


def in_chunks(body: bytes, trailer: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Stream-Error\r\n\r\n"
    return head + b"%x\r\n%b\r\n0\r\n%b\r\n" % (len(body), body, trailer)


@pytest.mark.parametrize("step", [1, 7, 1000], ids=["byte by byte", "in pieces", "at once"])
@pytest.mark.parametrize("closes", [True, False])
async def test_a_trailer_that_tells_of_a_failure_is_an_error(make_client: MakeClient, step: int, closes: bool) -> None:
    answer = in_chunks(b'{"message": "fine"}', TRAILER)
    if closes:
        answer = answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)

    async def fail_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        for start in range(0, len(answer), step):
            writer.write(answer[start : start + step])
            await writer.drain()
            await asyncio.sleep(0)

    async with serve_raw(fail_late) as url:
        with pytest.raises(ProviderError, match=r"^leveldb: closed$"):
            await make_client(url).test_connection()


async def test_a_trailer_that_repeats_the_token_shows_it_to_nobody(make_client: MakeClient) -> None:
    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(in_chunks(b"{}", b"X-Stream-Error: who is %b?\r\n" % TOKEN.encode()))
        await writer.drain()

    async with serve_raw(repeat) as url:
        with pytest.raises(ProviderError, match=r"^who is \*\*\*\?$"):
            await make_client(url, retries=0).test_connection()


@pytest.mark.parametrize(
    "trailer", [b"", b"X-Stream-Error: \r\n", b"X-Other: one\r\n"], ids=["none", "empty, as Cluster's", "another"]
)
async def test_an_answer_without_one_is_whole(make_client: MakeClient, trailer: bytes) -> None:
    async def succeed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(in_chunks(b'{"message": "fine"}', trailer))
        await writer.drain()

    async with serve_raw(succeed) as url:
        assert await make_client(url).test_connection()


async def test_content_that_looks_like_one_is_content(make_client: MakeClient) -> None:
    content = b"x\r\n0\r\n" + TRAILER + b"\r\n"

    async def give(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        plain = b"HTTP/1.1 200 OK\r\nTrailer: X-Stream-Error\r\nContent-Length: %d\r\n\r\n" % len(content)
        for answer in (in_chunks(content, b""), plain + content):
            await read_head(reader)
            writer.write(answer)
            await writer.drain()

    async with serve_raw(give) as url:
        client = make_client(url)
        for _ in range(2):
            assert (await client.download(CID)).data == content
