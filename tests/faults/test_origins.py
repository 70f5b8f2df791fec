"""A matrix of addresses that look harmless: no token and no key goes anywhere but to its own origin."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Literal

import httpx
import pytest
import respx

from pinui import Client, ClientConfig, PinuiError

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
API = "https://api.example"
GATEWAY = "https://gw.example/ipfs"

# Where a redirect may point to; none of these may ever see a token, most may not even be asked.
PLACES = [
    "https://evil.example/",
    "http://evil.example/",
    "http://api.example/",
    "http://gw.example/ipfs/x",
    "https://api.example.evil.example/",
    "https://api.example:444/",
    "https://gw.example:8443/ipfs/x",
    "https://api.example@evil.example/",
    "https://evil.example#@api.example/",
    "https://evil.example?@api.example/",
    "https://evil.example\\@api.example/",
    "//evil.example/x",
    "///evil.example/x",
    "\\\\evil.example/x",
    "http://127.0.0.1/",
    "http://127.0.0.1.evil.example/",
    "http://localhost@evil.example/",
    "http://localhost/",
    "https://127.0.0.1/",
    "https://[::1]/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "https://[::ffff:127.0.0.1]/",
    "http://0/",
    "file:///etc/passwd",
    "ftp://evil.example/",
    "javascript:alert(1)",
    "data:text/plain,x",
    "https://API.EXAMPLE.evil.example/",
    "https://xn--pi-example.evil.example/",
    " https://evil.example/",
    "https:evil.example",
]


TOKEN, KEY = "canary-token", "canary-key"
STATUSES = [301, 302, 303, 307, 308]


async def redirects(place: str, status: int, verify: Literal["try", "off"]) -> int:
    """How many answers to all that a client does were redirects to this place; none of them carries a secret away."""
    asked: list[httpx.Request] = []
    answered = 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal answered
        asked.append(request)
        if str(request.url).startswith((f"{API}/", f"{GATEWAY}/{CID}")):
            answered += 1
            return httpx.Response(status, headers={"Location": place})
        return httpx.Response(200, json={"message": "ok", "IpfsHash": CID})

    with respx.mock(assert_all_called=False) as router:
        router.route().mock(side_effect=answer)
        config = ClientConfig(
            provider_token=TOKEN, gateway_key=KEY, pin_api_url=API, gateway_url=GATEWAY, retries=0, verify=verify
        )
        async with await Client.init(config) as client:
            writing = [client.store(1), client.upload(b"x"), client.send("alice", "hello"), client.revoke(CID)]
            reading = [client.retrieve(CID), client.download(CID), client.receive(CID)]
            for call in (client.test_connection(), *writing, *reading):
                with suppress(PinuiError):
                    await call
    for request in asked:
        host, port = request.url.host, request.url.port
        assert request.url.scheme == "https"
        assert TOKEN not in str(request.url)
        assert ("authorization" in request.headers) == ((host, port) == ("api.example", None))
        assert ("x-pinata-gateway-token" in request.headers) == ((host, port) == ("gw.example", None))
    return answered


@pytest.mark.parametrize("place", PLACES)
async def test_a_redirect_carries_no_secret_away(place: str) -> None:
    assert await redirects(place, 307, "off") >= 8


@pytest.mark.slow
async def test_two_thousand_seven_hundred_and_twenty_redirects_carry_no_secret_away() -> None:
    """Every place, every status and every operation, with and without proof."""
    answered = 0
    for place in PLACES:
        for status in STATUSES:
            answered += await redirects(place, status, "off") + await redirects(place, status, "try")
    assert answered >= 2_720


@pytest.mark.parametrize("place", [place for place in PLACES if place.startswith("http")])
async def test_such_an_address_is_no_setting_unless_it_is_https_or_loopback(place: str) -> None:
    for name in ("pin_api_url", "gateway_url"):
        try:
            config = replace(ClientConfig(), **{name: place})
        except ValueError:
            continue
        url = getattr(config, name)
        assert url.startswith("https://") or url in ("http://127.0.0.1", "http://localhost")
