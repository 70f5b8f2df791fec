"""The log: each request with its method, address, status and time, and no secret."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest
from aiohttp import web

from pinui import NetworkError, ProviderError
from tests.sdk.conftest import TOKEN, FakeClock, MakeClient
from tests.servers import read_head, serve, serve_raw

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
KEY = "canary-gateway-key-0123456789"
TIME = re.compile(r" in \d+ ms$")


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What pinui logged, without the times."""
    ours = [record.getMessage() for record in caplog.records if record.name.split(".")[0] == "pinui"]
    assert all(TIME.search(line) or line.startswith("Waiting") for line in ours)
    return [TIME.sub("", line) for line in ours]


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="pinui")


async def test_each_request_is_a_line(make_client: MakeClient, caplog: pytest.LogCaptureFixture) -> None:
    answers = iter([503, 200, 200])

    async def handler(request: web.Request) -> web.Response:
        await request.read()
        if request.path.startswith("/ipfs"):
            return web.Response(status=302, headers={"Location": "/elsewhere?format=raw&token=hunter2hunter2&x=1"})
        return web.json_response({"IpfsHash": CID}, status=next(answers))

    async with serve(handler) as (url, _seen):
        client = make_client(url, gateway_key=KEY)
        await client.store({"a": 1})
        await client.retrieve(CID)
    assert lines(caplog) == [
        f"POST {url}/pinning/pinJSONToIPFS 503",
        "Waiting 0.2 s",
        f"POST {url}/pinning/pinJSONToIPFS 200",
        f"GET {url}/ipfs/{CID} 302",
        f"GET {url}/elsewhere?format=raw&token=***&x=1 200",
    ]
    assert TOKEN not in caplog.text
    assert KEY not in caplog.text
    assert "hunter2" not in "".join(lines(caplog))


async def test_a_request_without_an_answer_says_why(make_client: MakeClient, caplog: pytest.LogCaptureFixture) -> None:
    async def drop(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await read_head(reader)

    async with serve_raw(drop) as url:
        host = url.removeprefix("http://")
        with pytest.raises(NetworkError):
            await make_client(url, retries=0).test_connection()
    assert lines(caplog) == [
        f"GET {url}/data/testAuthentication: {host} closed the connection or sent no valid HTTP",
    ]


async def test_a_request_that_is_given_up_is_a_line_too(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    asked = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        asked.set()
        await asyncio.Event().wait()

    async with serve_raw(hang) as url:
        task = asyncio.create_task(make_client(url).test_connection())
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert lines(caplog) == [f"GET {url}/data/testAuthentication: given up"]


async def test_the_password_of_a_proxy_is_nobodys_business(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://ann:hunter2hunter2@127.0.0.1:9")
    with pytest.raises(NetworkError):
        await make_client("https://example.com", retries=0).test_connection()
    assert lines(caplog) == [
        "GET https://example.com/data/testAuthentication: The proxy could not be reached or refused the connection"
    ]


async def test_a_refusal_is_a_line_with_its_status(make_client: MakeClient, caplog: pytest.LogCaptureFixture) -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.json_response({"error": request.headers["Authorization"]}, status=403)

    async with serve(refuse) as (url, _seen):
        with pytest.raises(ProviderError):
            await make_client(url).test_connection()
    assert lines(caplog) == [f"GET {url}/data/testAuthentication 403"]
