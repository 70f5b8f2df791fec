"""Bad moments of a real server: what is tried again, how often, and what the caller hears."""

from __future__ import annotations

import asyncio
from email.utils import formatdate

import pytest
from aiohttp import web

from pinui import NetworkError, NetworkTimeout, ProviderError, RateLimited, Timeouts
from tests.sdk.conftest import FakeClock, Leap, MakeClient, some_turns
from tests.servers import read_head, reply, serve, serve_raw

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
PINNED = f'{{"IpfsHash":"{CID}"}}'


def answers(*replies: web.Response | int):
    """A handler that gives one answer after the other; a number is a status."""
    left = list(replies)

    async def handler(request: web.Request) -> web.Response:
        await request.read()
        answer = left.pop(0)
        return web.Response(status=answer, text="trouble") if isinstance(answer, int) else answer

    return handler


async def test_passing_trouble_is_waited_out(make_client: MakeClient, clock: FakeClock) -> None:
    async with serve(answers(503, 500, web.Response(text=PINNED))) as (url, seen):
        record = await make_client(url).store({"a": 1})
    assert record.cid == CID
    assert len(seen) == 3
    assert clock.slept == [0.25, 0.5], "half of 0.5 and of 1.0: full jitter with a chance of one half"


async def test_it_gives_up_after_the_retries_and_tells_the_last_answer(make_client: MakeClient) -> None:
    async with serve(answers(503, 503, 503)) as (url, seen):
        with pytest.raises(ProviderError, match="trouble") as caught:
            await make_client(url, retries=2).retrieve(CID)
    assert (len(seen), caught.value.status) == (3, 503)


async def test_retries_can_be_switched_off(make_client: MakeClient, clock: FakeClock) -> None:
    async with serve(answers(503)) as (url, _seen):
        with pytest.raises(ProviderError):
            await make_client(url, retries=0).store(1)
    assert clock.slept == []


async def test_retry_after_is_honoured_up_to_a_limit(make_client: MakeClient, clock: FakeClock) -> None:
    slow_down = web.Response(status=429, text="slow down", headers={"Retry-After": "60"})
    async with serve(answers(slow_down, web.Response(text=PINNED))) as (url, _seen):
        await make_client(url).store(1)
    assert clock.slept == [60.25]
    slow_down = web.Response(status=429, text="slow down", headers={"Retry-After": "3600"})
    async with serve(answers(slow_down)) as (url, _seen):
        with pytest.raises(RateLimited, match="slow down") as caught:
            await make_client(url).store(1)
    assert caught.value.retry_after == 3600


@pytest.mark.parametrize("turned", [-86_400, 86_400], ids=["back", "on"])
async def test_a_clock_that_is_set_changes_no_wait(make_client: MakeClient, clock: FakeClock, turned: int) -> None:
    slow_down = web.Response(status=429, text="slow down", headers={"Retry-After": "30"})
    async with serve(answers(slow_down, web.Response(text=PINNED))) as (url, _seen):
        client = make_client(url, retries=0)
        with pytest.raises(RateLimited):
            await client.store(1)
        clock.now += turned
        await client.store(1)
    assert clock.slept == [30], "what the service asked for, and no longer"


@pytest.mark.parametrize("turned", [-86_400, -40, 86_400])
async def test_dates_of_a_service_are_read_by_its_own_clock(
    make_client: MakeClient, clock: FakeClock, turned: int
) -> None:
    theirs = int(clock.now)
    headers = {"Date": formatdate(theirs, usegmt=True), "Retry-After": formatdate(theirs + 30, usegmt=True)}
    clock.now += turned
    slow_down = web.Response(status=429, text="slow down", headers=headers)
    async with serve(answers(slow_down, web.Response(text=PINNED))) as (url, _seen):
        await make_client(url).store(1)
    assert clock.slept == [30.25]


async def test_a_closed_port_is_a_network_error(make_client: MakeClient, clock: FakeClock) -> None:
    async with serve(answers()) as (url, _seen):
        pass
    with pytest.raises(NetworkError, match="could not be reached"):
        await make_client(url).store(1)
    assert len(clock.slept) == 4


async def test_a_connection_test_tries_once_more_and_then_tells(make_client: MakeClient, clock: FakeClock) -> None:
    async with serve(answers(503, web.json_response({"message": "ok"}))) as (url, _seen):
        assert await make_client(url).test_connection() is True
    clock.slept.clear()
    with pytest.raises(NetworkError, match="could not be reached"):
        await make_client(url).test_connection()
    assert clock.slept == [0.25], "who tests a dead service hears of it within half a second"
    with pytest.raises(NetworkError):
        await make_client(url, retries=0).test_connection()
    assert clock.slept == [0.25]


async def test_a_broken_read_is_repeated(make_client: MakeClient) -> None:
    attempts = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal attempts
        await read_head(reader)
        attempts += 1
        body = b'{"a":1}'
        writer.write(reply("200 OK", body[:3], length=len(body)) if attempts < 3 else reply("200 OK", body))
        await writer.drain()

    async with serve_raw(handler) as url:
        assert await make_client(url).retrieve(CID) == {"a": 1}
    assert attempts == 3


async def test_a_lost_answer_to_unpin_is_success_when_the_pin_is_gone(make_client: MakeClient) -> None:
    gone = b'{"error":{"reason":"CURRENT_USER_HAS_NOT_PINNED_CID","details":"not pinned"}}'
    attempts = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal attempts
        await read_head(reader)
        attempts += 1
        if attempts > 1:
            writer.write(reply("400 Bad Request", gone, "Connection: close"))
            await writer.drain()

    async with serve_raw(handler) as url:
        client = make_client(url)
        assert await client.revoke(CID) is True
        with pytest.raises(ProviderError, match="not pinned"):
            await client.revoke(CID)


async def test_a_server_that_says_nothing_ends_in_time(make_client: MakeClient) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serve_raw(silent) as url:
        with pytest.raises(NetworkTimeout, match="did not answer in time"):
            await make_client(url, timeout=Timeouts(idle=0.05), retries=1).store(1)


async def test_a_server_that_never_shakes_hands_was_never_reached(make_client: MakeClient) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serve_raw(silent) as url:
        client = make_client(url.replace("http:", "https:"), timeout=Timeouts(connect=0.05, idle=1000), retries=0)
        with pytest.raises(NetworkTimeout, match="could not be reached in time"):
            await client.store(1)


async def test_silence_after_a_slow_piece_ends_at_its_own_limit(make_client: MakeClient, leap: Leap) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nthe first bytes")
        await reader.read()

    is_slow = asyncio.Event()

    def take_an_hour(_done: int, _total: int | None) -> None:
        leap(3600)
        is_slow.set()

    async with serve_raw(silent) as url:
        client = make_client(url, retries=0, timeout=Timeouts(idle=1000.0))
        download = asyncio.create_task(client.download(CID, on_progress=take_an_hour))
        await is_slow.wait()
        await some_turns()
        assert not download.done(), "the hour was not the gateway's"
        leap(900)
        await some_turns()
        assert not download.done()
        leap(101)
        with pytest.raises(NetworkTimeout, match="did not answer in time"):
            await download


async def test_a_drip_is_no_progress(make_client: MakeClient, leap: Leap) -> None:
    arrived: list[int] = []

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await some_turns()
            leap(1.0)

    async with serve_raw(drip) as url:
        with pytest.raises(NetworkTimeout, match="did not answer in time"):
            await make_client(url, retries=0).download(CID, on_progress=lambda done, _total: arrived.append(done))
    assert 30 < len(arrived) < 70, "a byte a second kept coming until the minute was over"


@pytest.mark.parametrize("garbage", [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", b""])
async def test_what_is_no_http_is_a_network_error(make_client: MakeClient, garbage: bytes) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(garbage)
        await writer.drain()

    async with serve_raw(handler) as url:
        with pytest.raises(NetworkError):
            await make_client(url, retries=1).retrieve(CID)


@pytest.mark.parametrize("seconds", [1500.0, 2500.0])
async def test_a_service_has_more_time_to_digest_a_large_upload(
    make_client: MakeClient, leap: Leap, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr("pinui.sdk.transport.transport.DIGESTING_RATE", 3000)  # 3 MB: a thousand seconds more

    async def handler(request: web.Request) -> web.Response:
        await request.read()
        await some_turns()
        leap(seconds)
        await some_turns()
        return web.json_response({"IpfsHash": CID})

    async with serve(handler) as (url, _seen):
        uploading = make_client(url, retries=0, timeout=Timeouts(idle=1000.0)).upload(bytes(3_000_000))
        if seconds < 2000:
            assert (await uploading).cid == CID
        else:
            with pytest.raises(NetworkTimeout):
                await uploading
