"""Clients for tests: on a given server, with a clock that doesn't wait."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from pinui import Client, ClientConfig, PinProvider
from pinui.sdk.transport import Clock

TOKEN = "canary-token-0123456789"


@dataclass
class FakeClock:
    """Time that passes only when somebody sleeps."""

    now: float = 1_700_000_000.0
    slept: list[float] = field(default_factory=list[float])

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def as_clock(self) -> Clock:
        return Clock(now=lambda: self.now, sleep=self.sleep, random=lambda: 0.5)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


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
