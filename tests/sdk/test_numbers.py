"""Whatever a server writes where a number belongs, the answer is a value or one of our errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx
import pytest

from pinui import Client, ClientConfig, PinProvider, PinuiError
from tests.sdk.conftest import FakeClock

CID = "bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
WORDS = ["0", "-1", "-0", "1.5", "3.0", "1e3", "1e999", "-1e999", "1e308", "NaN", "Infinity", "9" * 30, "9" * 5000, "٣"]
ODD = [*WORDS, *(f'"{word}"' for word in WORDS), "true", "null", "[]", "{}", '""']
DATES = ['"0001-01-01T00:00:00+14:00"', '"9999-12-31T23:59:59-14:00"', '"1969-12-31T00:00:00Z"']


async def ask(body: str, use: Callable[[Client], Awaitable[object]], clock: FakeClock, **headers: str) -> object:
    """What one use of a client gives whose server answers this, whatever it is asked."""
    calls = 0

    def answer(_request: httpx.Request) -> httpx.Response:
        nonlocal calls
        calls += 1
        status = 429 if "Retry-After" in headers and calls == 1 else 200
        return httpx.Response(status, content=body.encode(), headers=headers)

    config = ClientConfig(transport=httpx.MockTransport(answer), verify="off", gateway_url="https://example.com/ipfs")
    async with Client(PinProvider(config, clock=clock.as_clock())) as client:
        try:
            return await use(client)
        except PinuiError as error:
            return error


@pytest.mark.parametrize("number", ODD, ids=lambda text: text[:12])
async def test_totals(clock: FakeClock, number: str) -> None:
    for body in (f'{{"pin_count":{number},"pin_size_total":1}}', f'{{"pin_count":1,"pin_size_total":{number}}}'):
        totals = await ask(body, lambda client: client.totals(), clock)
        assert isinstance(totals, PinuiError) or (totals.pins >= 0 and totals.size >= 0)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("number", [*ODD, *DATES], ids=lambda text: text[:12])
@pytest.mark.parametrize("field", ["size", "date_pinned"])
async def test_rows_of_a_listing(clock: FakeClock, field: str, number: str) -> None:
    body = f'{{"rows":[{{"ipfs_pin_hash":"{CID}","{field}":{number}}}],"count":{number}}}'
    pins = await ask(body, every_pin, clock)
    assert isinstance(pins, (list, PinuiError))
    for pin in pins if isinstance(pins, list) else []:
        assert pin.size is None or 0 <= pin.size < 2**63
        assert pin.created is None or 0 <= pin.created < 2**48


async def every_pin(client: Client) -> object:
    return [pin async for pin in client.pins()]


@pytest.mark.parametrize("number", ODD, ids=lambda text: text[:12])
async def test_the_time_of_a_message(clock: FakeClock, number: str) -> None:
    body = f'{{"recipientId":"a","payload":"b","timestamp":{number}}}'
    await ask(body, lambda client: client.receive(CID), clock)


@pytest.mark.parametrize("number", WORDS, ids=lambda text: text[:12])
@pytest.mark.parametrize("name", ["Content-Length", "Content-Range", "Retry-After", "X-RateLimit-Reset", "Date"])
async def test_headers(clock: FakeClock, name: str, number: str) -> None:
    written = f"bytes 0-{number}/{number}" if name == "Content-Range" else number
    headers = {name: written.encode("utf-8").decode("latin-1"), "X-RateLimit-Remaining": "0"}
    await ask('{"message":"ok"}', lambda client: client.test_connection(), clock, **headers)
    await ask('{"message":"ok"}', lambda client: client.download(CID), clock, **headers)
    await ask('{"message":"ok"}', lambda client: client.test_connection(), clock)  # with what was learned before
    assert all(0 <= seconds <= 91 for seconds in clock.slept)
