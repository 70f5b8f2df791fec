"""Keeping to a limit: everybody waits, nobody fails, and the waiting can be seen."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from heapq import heappop, heappush
from pathlib import Path

import pytest
from aiohttp import web

from pinui import Client, ClientConfig, PinProvider
from pinui.node import Node
from pinui.sdk.transport.transport import Clock
from tests.servers import serve, settings_of

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"


async def test_two_hundred_stores_on_a_limited_node(tmp_path: Path) -> None:
    async with Node(tmp_path, rate_limit=600) as node, await Client.init(**settings_of(node)) as client:
        records = await asyncio.gather(*(client.store({"number": number}) for number in range(200)))
    assert len({record.cid for record in records}) == 200


class Turns:
    """A time that passes with the turns of the loop: a busy machine makes it slow, and nothing else."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0
        self._sleeping: list[tuple[float, int, asyncio.Future[None]]] = []
        self._ticking = asyncio.create_task(self._tick())

    async def _tick(self) -> None:
        while True:
            self.now += 0.002
            while self._sleeping and self._sleeping[0][0] <= self.now:
                heappop(self._sleeping)[2].set_result(None)
            await asyncio.sleep(0)

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._sleeping, (self.now + seconds, id(woken), woken))
        await woken

    def stop(self) -> None:
        self._ticking.cancel()

    def as_clock(self) -> Clock:
        return Clock(now=lambda: self.now, monotonic=lambda: self.now, sleep=self.sleep)


class Limited:
    """A service with so many requests a window."""

    def __init__(self, limit: int, window: float, turns: Turns) -> None:
        self.limit = limit
        self.window = window
        self.turns = turns
        self.reset = 0.0
        self.used = 0
        self.windows = 0
        self.refused = 0

    async def __call__(self, request: web.Request) -> web.Response:
        await request.read()
        now = self.turns.now
        if now >= self.reset:
            self.reset, self.used = now + self.window, 0
            self.windows += 1
        self.used += 1
        headers = {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "X-RateLimit-Reset": str(self.reset),
            "Date": formatdate(now, usegmt=True),
        }
        if self.used > self.limit:
            self.refused += 1
            headers["Retry-After"] = f"{self.reset - now:.3f}"
            return web.json_response({"error": "slow down"}, status=429, headers=headers)
        return web.json_response({"IpfsHash": CID, "message": "ok"}, headers=headers)


async def test_many_more_than_a_window_allows_all_get_through() -> None:
    turns = Turns()
    service = Limited(20, 10.0, turns)
    async with serve(service) as (url, _seen):
        config = ClientConfig(provider_token="t", pin_api_url=url, verify="off")
        async with Client(PinProvider(config, clock=turns.as_clock())) as client:
            records = await asyncio.gather(*(client.store(number) for number in range(200)))
    turns.stop()
    assert len(records) == 200
    assert service.windows >= 10
    assert service.refused <= 64, "the first rush may be refused, the windows after it are kept to"


async def test_what_one_operation_learns_makes_the_others_wait(tmp_path: Path) -> None:
    waits: list[float] = []
    slept: list[float] = []
    now = float(int(time.time()))  # dates in headers are whole seconds

    async def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += seconds
        await asyncio.sleep(0)

    async def handler(request: web.Request) -> web.Response:
        await request.read()
        headers = {"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(now + 14)}
        headers["Date"] = formatdate(now, usegmt=True)
        return web.json_response({"IpfsHash": CID}, headers=headers)

    async with serve(handler) as (url, seen):
        config = ClientConfig(provider_token="t", pin_api_url=url, verify="off", on_wait=waits.append)
        clock = Clock(now=lambda: now, monotonic=lambda: now, sleep=sleep, random=lambda: 0.0)
        async with Client(PinProvider(config, clock=clock)) as one, Client(PinProvider(config, clock=clock)) as other:
            await one.store(1)
            await other.store(2)
    assert len(seen) == 2
    assert waits == slept
    assert waits == [pytest.approx(14, abs=0.1)]


async def test_waiting_can_be_cancelled() -> None:
    waiting = asyncio.Event()

    async def handler(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"error": "slow down"}, status=429, headers={"Retry-After": "60"})

    async with serve(handler) as (url, seen):
        config = ClientConfig(provider_token="t", pin_api_url=url, on_wait=lambda _seconds: waiting.set())
        async with await Client.init(config) as client:
            task = asyncio.create_task(client.store(1))
            await waiting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    assert len(seen) == 1
