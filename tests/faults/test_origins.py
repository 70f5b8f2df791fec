"""A matrix of addresses that look harmless: no token and no key goes anywhere but to its own origin."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

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


@pytest.mark.parametrize("place", PLACES)
async def test_a_redirect_carries_no_secret_away(place: str) -> None:
    token, key = "canary-token", "canary-key"
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        is_first = str(request.url).startswith((f"{API}/", f"{GATEWAY}/{CID}"))
        if is_first:
            return httpx.Response(307 if request.url.host == "api.example" else 302, headers={"Location": place})
        return httpx.Response(200, json={"message": "ok", "IpfsHash": CID})

    with respx.mock(assert_all_called=False) as router:
        router.route().mock(side_effect=answer)
        config = ClientConfig(
            provider_token=token, gateway_key=key, pin_api_url=API, gateway_url=GATEWAY, retries=0, verify="off"
        )
        async with await Client.init(config) as client:
            calls = [client.test_connection(), client.store(1), client.upload(b"x"), client.revoke(CID)]
            for call in (*calls, client.retrieve(CID)):
                with suppress(PinuiError):
                    await call
    assert len(asked) >= 5
    for request in asked:
        host, port = request.url.host, request.url.port
        assert request.url.scheme == "https"
        assert token not in str(request.url)
        assert ("authorization" in request.headers) == ((host, port) == ("api.example", None))
        assert ("x-pinata-gateway-token" in request.headers) == ((host, port) == ("gw.example", None))


@pytest.mark.parametrize("place", [place for place in PLACES if place.startswith("http")])
async def test_such_an_address_is_no_setting_unless_it_is_https_or_loopback(place: str) -> None:
    for name in ("pin_api_url", "gateway_url"):
        try:
            config = replace(ClientConfig(), **{name: place})
        except ValueError:
            continue
        url = getattr(config, name)
        assert url.startswith("https://") or url in ("http://127.0.0.1", "http://localhost")
