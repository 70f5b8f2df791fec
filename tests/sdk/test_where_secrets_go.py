"""Redirects, TLS and proxies: the token goes to the API's origin, and nowhere else."""

from __future__ import annotations

import asyncio
import datetime
import logging
import ssl
import traceback
from pathlib import Path

import pytest
import trustme
from aiohttp import web

from pinui import Client, ClientConfig, NetworkError, PinProvider, PinuiError, ProviderError
from tests.sdk.conftest import TOKEN, FakeClock, MakeClient
from tests.servers import read_head, reply, serve, serve_raw

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
KEY = "canary-gateway-key-0123456789"


def redirecting(status: int, location: str):
    async def handler(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(status=status, headers={"Location": location})

    return handler


async def echo(request: web.Request) -> web.Response:
    return web.json_response({"IpfsHash": CID, "message": "ok"})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_gateway_may_redirect_elsewhere_and_its_key_stays_behind(make_client: MakeClient, status: int) -> None:
    async with serve(echo) as (other, seen), serve(redirecting(status, other + "/x")) as (url, first):
        client = make_client(url, gateway_key="gateway-key")
        assert await client.retrieve(CID) == {"IpfsHash": CID, "message": "ok"}
    assert first.last.headers["x-pinata-gateway-token"] == "gateway-key"
    assert "x-pinata-gateway-token" not in seen.last.headers
    assert "authorization" not in seen.last.headers


async def test_a_name_below_localhost_is_this_machine_whatever_a_name_server_says(make_client: MakeClient) -> None:
    """Kubo's gateway answers localhost with a redirect to a name of the CID's own, for browsers' sake."""

    async def kubo(request: web.Request) -> web.Response:
        if request.host.startswith("localhost:"):
            return web.Response(status=301, headers={"Location": f"http://{CID}.ipfs.{request.host}/"})
        return web.json_response({"host": request.host})

    async with serve(kubo) as (url, _seen):
        url = url.replace("127.0.0.1", "localhost")
        host = url.removeprefix("http://")
        assert await make_client(url).retrieve(CID) == {"host": f"{CID}.ipfs.{host}".lower()}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_api_may_not_redirect_elsewhere(make_client: MakeClient, status: int) -> None:
    async with serve(echo) as (other, seen), serve(redirecting(status, other + "/x")) as (url, _first):
        client = make_client(url)
        for call in (client.test_connection(), client.store(1), client.upload(b"x"), client.revoke(CID)):
            with pytest.raises(ProviderError, match=f"HTTP error {status}") as caught:
                await call
            assert "redirect" in str(caught.value.hint)
    assert not seen


async def test_the_api_may_redirect_within_its_origin_and_the_body_goes_again(make_client: MakeClient) -> None:
    async def handler(request: web.Request) -> web.Response:
        if request.path.startswith("/moved"):
            assert len(await request.read()) == request.content_length
            return web.json_response({"IpfsHash": CID})
        return web.Response(status=307, headers={"Location": "/moved" + request.path})

    async with serve(handler) as (url, seen):
        record = await make_client(url).upload(b"x" * 100_000)
    assert record.cid == CID
    assert [request.headers["authorization"] for request in seen] == [f"Bearer {TOKEN}"] * 2


async def test_a_loop_of_redirects_ends(make_client: MakeClient) -> None:
    async with serve(redirecting(302, "/again")) as (url, seen):
        with pytest.raises(ProviderError, match="HTTP error 302"):
            await make_client(url).retrieve(CID)
    assert len(seen) == 6


@pytest.mark.parametrize(
    "location",
    ["http://example.com/", "http://127.0.0.1.evil.example/", "http://localhost@evil.example/", "file:///etc/passwd"],
)
async def test_a_redirect_to_an_unsafe_place_is_not_followed(make_client: MakeClient, location: str) -> None:
    async with serve(redirecting(302, location)) as (url, _seen):
        with pytest.raises(ProviderError, match="HTTP error 302"):
            await make_client(url).retrieve(CID)


async def test_cookies_are_not_kept(make_client: MakeClient) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"message": "ok"}, headers={"Set-Cookie": "session=1; Path=/"})

    async with serve(handler) as (url, seen):
        client = make_client(url)
        await client.test_connection()
        await client.test_connection()
    assert "cookie" not in seen.last.headers


async def test_no_error_or_log_shows_the_token(make_client: MakeClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(reply("401 Unauthorized", b"{}"))
        await writer.drain()

    shown: list[str] = []
    for handler in (drop, refuse):
        async with serve_raw(handler) as url:
            client = make_client(url, retries=1)
            for call in (client.test_connection(), client.store({}), client.upload(b"x")):
                try:
                    await call
                except PinuiError as error:
                    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
                    shown.append("".join(trace.format()))
    assert len(shown) == 6
    assert not any(TOKEN in text for text in shown)
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("status", [302, 400, 401, 403, 429, 500])
async def test_a_service_that_repeats_the_token_shows_it_to_nobody(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.DEBUG)

    async def repeat(request: web.Request) -> web.Response:
        await request.read()
        given = request.headers.get("Authorization") or request.headers["x-pinata-gateway-token"]
        error = {"reason": f"WRONG_{given}", "details": f"{given} is no key of ours"}
        return web.json_response({"error": error}, status=status, headers={"Location": f"/?{given}", "X-Your": given})

    async with serve(repeat) as (url, _seen):
        client = make_client(url, gateway_key=KEY, retries=0)
        calls = (
            client.test_connection,
            lambda: client.store({}),
            lambda: client.upload(b"x"),
            lambda: client.retrieve(CID),
        )
        for call in calls:
            with pytest.raises(ProviderError) as caught:
                await call()
            error = caught.value
            trace = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
            shown = repr((str(error), error.args, error.details, error.reason, error.hint, vars(error), trace))
            assert TOKEN not in shown + caplog.text
            assert KEY not in shown + caplog.text
            assert "*** is no key of ours" in str(error.details)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def tls_context(authority: trustme.CA, name: str, expired: bool = False) -> ssl.SSLContext:
    past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    certificate = authority.issue_cert(name, not_after=past) if expired else authority.issue_cert(name)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)
    return context


@pytest.mark.parametrize(
    ("trusted", "name", "expired", "words"),
    [
        (True, "localhost", False, None),
        (False, "localhost", False, "certificate of localhost:.* is not trusted"),
        (True, "other.example", False, "not trusted.*mismatch"),
        (True, "localhost", True, "not trusted.*expired"),
    ],
)
async def test_only_a_right_certificate_is_accepted(
    authority: trustme.CA,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trusted: bool,
    name: str,
    expired: bool,
    words: str | None,
) -> None:
    if trusted:
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    requests = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        await read_head(reader)
        requests += 1
        writer.write(reply("200 OK", b'{"message":"ok"}', "Connection: close"))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=tls_context(authority, name, expired))
    async with server:
        port = server.sockets[0].getsockname()[1]
        client = Client(PinProvider(ClientConfig(provider_token=TOKEN, pin_api_url=f"https://localhost:{port}")))
        async with client:
            if words is None:
                assert await client.test_connection()
            else:
                with pytest.raises(NetworkError, match=words) as caught:
                    await client.test_connection()
                assert "SSL_CERT_FILE" in str(caught.value.hint)
    assert requests == (1 if words is None else 0)


async def test_a_broken_handshake_is_no_word_about_certificates(make_client: MakeClient, clock: FakeClock) -> None:
    async def alert(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(2000)
        writer.write(b"\x15\x03\x03\x00\x02\x02\x50")  # fatal: internal error
        await writer.drain()
        await reader.read()

    async with serve_raw(alert) as url:
        with pytest.raises(NetworkError, match=r"The secure connection to .* could not be made") as caught:
            await make_client(url.replace("http:", "https:")).test_connection()
    assert "SSL_CERT_FILE" not in str(caught.value.hint)
    assert len(clock.slept) == 1, "it may pass"


async def test_a_proxy_from_the_environment_is_used_but_never_for_loopback(
    monkeypatch: pytest.MonkeyPatch, make_client: MakeClient
) -> None:
    lines: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.append((await read_head(reader)).split(b"\r\n")[0])
        writer.write(reply("403 Forbidden", b"no"))
        await writer.drain()

    async with serve_raw(proxy) as proxy_url, serve(echo) as (url, _seen):
        monkeypatch.setenv("HTTPS_PROXY", proxy_url)
        monkeypatch.setenv("HTTP_PROXY", proxy_url)
        assert await make_client(url).test_connection()
        assert lines == []
        client = Client(PinProvider(ClientConfig(provider_token=TOKEN, retries=0)))
        async with client:
            with pytest.raises(NetworkError, match="proxy"):
                await client.test_connection()
    assert lines == [b"CONNECT api.pinata.cloud:443 HTTP/1.1"]


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "junk://x", "http://", "http://[::1", ":::"])
async def test_a_proxy_of_no_use_is_told(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    async with Client(PinProvider(ClientConfig(provider_token=TOKEN))) as client:
        with pytest.raises(NetworkError, match="not an http or https one") as caught:
            await client.store(1)
        assert "HTTPS_PROXY" in str(caught.value.hint)
