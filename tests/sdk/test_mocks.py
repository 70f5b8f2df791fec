"""People's mocks as published: respx, pytest-httpx, vcrpy and httpx's own catch every request of the SDK.

The addresses are those of the public service, which no test can reach: a request that a mock misses is an error here,
and elsewhere a token on its way to the network.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Unpack, cast

import httpx
import pytest
import respx
import vcr
from aiohttp import web
from pytest_httpx import HTTPXMock

from pinui import Client, NetworkError, ProviderError
from pinui.node import Node
from pinui.sdk.models import ClientSettings
from tests.servers import serve, settings_of

TOKEN = "canary-token-0123456789"
CID = "bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
API = "https://api.pinata.cloud"
FILE = bytes(range(256)) * 4000


async def client_of(**settings: Unpack[ClientSettings]) -> Client:
    usual: ClientSettings = {"provider_token": TOKEN, "verify": "off", "retries": 0}
    return await Client.init(**{**usual, **settings})


def service(request: httpx.Request) -> httpx.Response:
    """What a mock answers: the pinning service and its gateway in a few lines."""
    if request.url.host == "gateway.pinata.cloud":
        return httpx.Response(200, stream=Pieces(), headers={"Content-Type": "image/png"})
    match request.method, request.url.path:
        case "POST", _:
            return httpx.Response(200, json={"IpfsHash": CID})
        case "GET", "/data/testAuthentication":
            return httpx.Response(401, json={"error": {"reason": "INVALID_CREDENTIALS", "details": "no"}})
        case _:
            raise httpx.ConnectError("nobody there")


class Pieces(httpx.AsyncByteStream):
    """A body that arrives in pieces."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(FILE), 100_000):
            yield FILE[start : start + 100_000]


async def use(client: Client, seen: Callable[[], httpx.Request], folder: Path) -> None:
    """Every way of talking: JSON out, a file out, a file in (to memory and to disk), a refusal, and no answer."""
    async with client:
        assert (await client.store({"a": 1})).cid == CID
        assert json.loads(seen().content)["pinataContent"] == {"a": 1}
        assert seen().headers["Authorization"] == f"Bearer {TOKEN}"
        (folder / "cat.bin").write_bytes(FILE)
        assert (await client.upload(folder / "cat.bin")).cid == CID
        assert b'name="file"; filename="cat.bin"' in seen().content
        assert FILE in seen().content
        assert (await client.download(CID)).data == FILE
        assert "Authorization" not in seen().headers
        assert (await client.download(CID, to=folder / "copy.bin")).read_bytes() == FILE
        with pytest.raises(ProviderError, match="HTTP error 401"):
            await client.test_connection()
        with pytest.raises(NetworkError):
            await client.revoke(CID)


def routed(router: respx.MockRouter) -> Callable[[], httpx.Request]:
    router.route().mock(side_effect=service)
    return lambda: cast("httpx.Request", router.calls.last.request)


@respx.mock
async def test_respx_as_a_decorator(tmp_path: Path) -> None:
    await use(await client_of(), routed(respx.mock), tmp_path)


@pytest.mark.parametrize("mocker", ["httpcore", "httpx"])
async def test_respx_as_a_context_with_either_mocker(tmp_path: Path, mocker: str) -> None:
    with respx.mock(using=mocker) as router:
        await use(await client_of(), routed(router), tmp_path)


async def test_respx_as_a_fixture(tmp_path: Path, respx_mock: respx.MockRouter) -> None:
    await use(await client_of(), routed(respx_mock), tmp_path)


@pytest.mark.httpx_mock(can_send_already_matched_responses=True)
async def test_pytest_httpx(tmp_path: Path, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_callback(service)
    await use(await client_of(), lambda: httpx_mock.get_requests()[-1], tmp_path)


async def test_a_transport_of_ones_own(tmp_path: Path) -> None:
    seen: list[httpx.Request] = []

    async def handle(request: httpx.Request) -> httpx.Response:
        await request.aread()
        seen.append(request)
        return service(request)

    await use(await client_of(transport=httpx.MockTransport(handle)), lambda: seen[-1], tmp_path)


async def test_a_transport_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"transport must be an httpx\.AsyncBaseTransport, not HTTPTransport"):
        await client_of(transport=cast("httpx.AsyncBaseTransport", httpx.HTTPTransport(verify=False)))


@pytest.mark.parametrize("mocker", ["httpcore", "httpx"])
async def test_a_request_that_no_route_expects_stays_here_and_says_so(mocker: str) -> None:
    with respx.mock(using=mocker):
        async with await client_of() as client:
            with pytest.raises(AssertionError, match="not mocked"):
                await client.store({"a": 1})


@pytest.mark.httpx_mock(assert_all_requests_were_expected=False)
async def test_a_request_that_pytest_httpx_does_not_expect_stays_here(httpx_mock: HTTPXMock) -> None:
    async with await client_of() as client:
        with pytest.raises(NetworkError):
            await client.store({"a": 1})
    assert [str(request.url) for request in httpx_mock.get_requests()] == [f"{API}/pinning/pinJSONToIPFS"]


@pytest.mark.parametrize("mocker", ["httpcore", "httpx"])
async def test_what_a_mock_lets_through_arrives_whole(mocker: str) -> None:
    bodies: list[bytes] = []

    async def keep(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.json_response({"IpfsHash": CID})

    async with serve(keep) as (url, _seen):
        with respx.mock(using=mocker) as router:
            router.route(host="127.0.0.1").pass_through()
            async with await client_of(pin_api_url=url) as client:
                assert (await client.upload(FILE)).cid == CID
                assert (await client.store({"a": 1})).cid == CID
    assert FILE in bodies[0]
    assert b'"pinContent":{"a":1}' in bodies[1]


async def journey(settings: ClientSettings) -> list[object]:
    """What a user of the SDK sees of a store, an upload, a download, and of the same address before and after."""
    async with await client_of(**settings) as client:
        stored = await client.store({"a": 1})
        uploaded = await client.upload(FILE)
        seen: list[object] = [stored.cid, uploaded.cid, (await client.download(uploaded.cid)).data]
        seen.append(await client.retrieve(stored.cid))
        seen.append(await client.revoke(stored.cid))
        with pytest.raises(ProviderError) as refused:
            await client.retrieve(stored.cid)
        return [*seen, refused.value.status]


async def test_vcrpy_records_once_and_replays_without_the_service(tmp_path: Path) -> None:
    cassette = tmp_path / "cassette.yaml"
    async with Node(tmp_path / "node") as node:
        settings = settings_of(node)
        with vcr.use_cassette(cassette):
            seen = await journey(settings)
    with vcr.use_cassette(cassette, record_mode=vcr.mode.NONE) as tape:
        assert await journey({**settings, "provider_token": TOKEN}) == seen
        assert tape.all_played, "nothing is recorded twice"


MOCKED_FIRST = """
import asyncio, sys
import respx
from pinui import Client

async def main(url):
    with respx.mock(assert_all_called=False) as router:
        router.route().respond(json={"message": "mocked"})
        async with await Client.init(pin_api_url="https://api.example.com", provider_token="t") as client:
            print(await client.test_connection(), router.calls.call_count)
        async with await Client.init(pin_api_url=url, provider_token="t") as client:
            print(await client.test_connection(), router.calls.call_count)
    async with await Client.init(pin_api_url=url, provider_token="t") as client:
        print(await client.test_connection(), router.calls.call_count)

asyncio.run(main(sys.argv[1]))
"""
UNMOCKED = """
import asyncio, sys
from pinui import Client

async def main(url):
    async with await Client.init(pin_api_url=url, provider_token="t") as client:
        print(await client.test_connection(), *(name for name in ("aiohttp", "httpcore") if name in sys.modules))

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize(
    ("script", "lines"),
    [(MOCKED_FIRST, ["True 1", "True 2", "True 0"]), (UNMOCKED, ["True aiohttp"])],
    ids=["mocked first", "never"],
)
async def test_a_mock_leaves_no_trace_and_without_one_the_usual_engine_is_used(script: str, lines: list[str]) -> None:
    """Even where the SDK is first loaded while a mock is in place."""

    async def welcome(_request: web.Request) -> web.Response:
        return web.json_response({"message": "hello"})

    async with serve(welcome) as (url, seen):
        ran = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", script, url], capture_output=True, text=True, check=True
        )
    assert ran.stdout.splitlines() == lines
    assert len(seen) == 1
