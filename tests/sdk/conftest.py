"""Clients for tests: on a given server, with a clock that doesn't wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from pinui import Client, ClientConfig, PinProvider
from pinui.sdk.transport.transport import Clock
from tests.servers import Handler, serve

TOKEN = "canary-token-0123456789"


@dataclass
class FakeClock:
    """Time that passes only when somebody sleeps."""

    now: float = 1_700_000_000.0
    """What the machine's clock shows: it may be set."""
    passed: float = 0.0
    """What passes whatever the clock shows."""
    slept: list[float] = field(default_factory=list[float])
    on_sleep: Callable[[float], None] = lambda _seconds: None

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        self.passed += seconds
        self.on_sleep(seconds)

    def as_clock(self) -> Clock:
        return Clock(now=lambda: self.now, monotonic=lambda: self.passed, sleep=self.sleep, random=lambda: 0.5)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


Leap = Callable[[float], None]


@pytest.fixture
async def leap(monkeypatch: pytest.MonkeyPatch) -> Leap:
    """`leap(seconds)`: the loop's time jumps ahead. Limits are reached, or not, however fast the machine is."""
    loop = asyncio.get_running_loop()
    real_time = loop.time
    ahead = 0.0

    def jump(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    monkeypatch.setattr(loop, "time", lambda: real_time() + ahead)
    return jump


async def some_turns() -> None:
    """Let the loop do what it can do at once, and what its timers say is due."""
    for _ in range(50):
        await asyncio.sleep(0)


MakeClient = Callable[..., Client]


@pytest.fixture
async def make_client(clock: FakeClock) -> AsyncGenerator[MakeClient]:
    """`make_client(url, **settings)`: a client whose API and gateway are at `url`."""
    async with AsyncExitStack() as stack:

        def make(url: str, **settings: Any) -> Client:
            config = ClientConfig(
                **{
                    "provider_token": TOKEN,
                    "pin_api_url": url,
                    "gateway_url": f"{url}/ipfs",
                    "verify": "off",  # the scripted servers answer with made-up content
                    **settings,
                }
            )
            client = Client(PinProvider(config, clock=clock.as_clock()), clock=clock.as_clock())
            stack.push_async_callback(client.aclose)
            return client

        yield make


Setup = Callable[..., Awaitable[Client]]


@pytest.fixture
async def reading(make_client: MakeClient) -> AsyncGenerator[Setup]:
    """`await reading(gateway, …, **settings)`: a client whose gateways these are, asked in this order."""
    async with AsyncExitStack() as stack:

        async def setup(*gateways: Handler, **settings: Any) -> Client:
            urls = [(await stack.enter_async_context(serve(gateway)))[0] for gateway in gateways]
            further = tuple(f"{url}/ipfs" for url in urls[1:])
            return make_client(urls[0], **{"verify": "try", "gateways": further, **settings})

        yield setup
