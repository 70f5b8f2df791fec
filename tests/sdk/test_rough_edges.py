"""Situations that were got wrong once: on this side of the network, at its borders, and at the end."""

from __future__ import annotations

import asyncio
import gc
import io
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pinui import Client, ClientConfig, ContentError, NetworkError, PinProvider, PinuiError
from pinui.ipfs.importer import KUBO_V0
from pinui.ipfs.jsontext import stringify
from pinui.ipfs.plain_bytes import ContentCheck
from pinui.ipfs.verifier import FileBytes, FileEnd, FileStart, FolderStart, SymlinkFound
from pinui.sdk.reading.folder_writer import FolderWriter
from pinui.sdk.trailing_work import MOST, ONE_HOP
from tests.sdk.conftest import FakeClock, Leap, MakeClient, some_turns
from tests.sdk.gateways import FakeGateway, cut, folder_of, honest, pour
from tests.servers import read_head, reply, serve, serve_raw

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"


async def ok(request: web.Request) -> web.Response:
    await request.read()
    return web.json_response({"IpfsHash": CID, "message": "ok", "rows": []})


async def test_what_a_callback_raises_comes_back_as_it_is_after_one_try(make_client: MakeClient) -> None:
    def careless(_done: int, _total: int | None) -> None:
        raise KeyError("mine")

    async with serve(ok) as (url, seen):
        with pytest.raises(KeyError, match="mine"):
            await make_client(url).upload(b"x" * 100, on_progress=careless)
    assert len(seen) <= 1


async def test_a_source_that_cannot_be_read_is_the_systems_own_error(make_client: MakeClient, tmp_path: Path) -> None:
    async with serve(ok) as (url, _seen):
        with (tmp_path / "write-only").open("wb") as file:
            file.write(b"x")
            file.seek(0)
            with pytest.raises(io.UnsupportedOperation):
                await make_client(url).upload(file)


async def test_a_closed_client_says_so(make_client: MakeClient) -> None:
    async with serve(ok) as (url, _seen):
        for use_first in (True, False):
            client = make_client(url)
            if use_first:
                await client.test_connection()
            await client.aclose()
            with pytest.raises(PinuiError, match="This client is closed"):
                await client.test_connection()


def test_a_client_of_another_loop_says_so() -> None:
    client = Client(PinProvider(ClientConfig(pin_api_url="http://127.0.0.1:9", retries=0)))

    async def use() -> None:
        with pytest.raises(NetworkError):
            await client.test_connection()

    async def use_again() -> None:
        with pytest.raises(PinuiError, match="another event loop"):
            await client.test_connection()
        await client.aclose()

    asyncio.run(use())
    asyncio.run(use_again())


FORGETFUL = """
import asyncio, sys
from pinui import Client
async def main():
    client = await Client.init(provider_token="t", pin_api_url=sys.argv[1])
    print((await client.store(1)).cid)
asyncio.run(main())
"""


async def test_a_script_that_never_closes_its_client_ends_without_noise() -> None:
    async with serve(ok) as (url, _seen):
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-c", FORGETFUL, url], stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        output, noise = await process.communicate()
    assert (output, noise) == (f"{CID}\n".encode(), b"")


async def test_a_client_that_is_forgotten_lets_its_connections_go() -> None:
    hung_up = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(reply("200 OK", b'{"message":"ok"}'))
        await reader.read()
        hung_up.set()

    async with serve_raw(handler) as url:
        client = await Client.init(provider_token="t", pin_api_url=url)
        await client.test_connection()
        del client
        gc.collect()
        await asyncio.wait_for(hung_up.wait(), 60)


@pytest.mark.parametrize("content", [None, b"not a certificate"])
async def test_certificates_that_cannot_be_read_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_bytes(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    async with Client(PinProvider(ClientConfig(pin_api_url="https://localhost:9", provider_token="t"))) as client:
        for _ in range(2):
            with pytest.raises(NetworkError, match="certificates") as caught:
                await client.test_connection()
            assert "SSL_CERT_FILE" in str(caught.value.hint)


@pytest.mark.parametrize("url", ["https://999.999.999.999", "https://xn--zz.example"])
async def test_an_impossible_host_is_a_network_error(url: str) -> None:
    async with Client(PinProvider(ClientConfig(pin_api_url=url, provider_token="t", retries=0))) as client:
        with pytest.raises(PinuiError):
            await client.test_connection()


async def test_http_on_an_https_port_is_not_called_an_attack() -> None:
    async with serve(ok) as (url, _seen):
        config = ClientConfig(pin_api_url=url.replace("http:", "https:"), provider_token="t", retries=0)
        async with Client(PinProvider(config)) as client:
            with pytest.raises(NetworkError, match="does not speak https"):
                await client.test_connection()


async def test_waiting_for_a_free_connection_is_no_silence(make_client: MakeClient, leap: Leap) -> None:
    async with serve(ok) as (url, _seen):
        client = make_client(url, retries=0)
        provider = client.provider
        assert isinstance(provider, PinProvider)
        slots = provider._api.transport._engine.slots
        taken = 0
        while not slots.locked():
            await slots.acquire()
            taken += 1
        reading = [asyncio.create_task(client.download(CID)) for _ in range(2 * taken + 1)]
        await some_turns()
        leap(3600)
        await some_turns()
        is_waiting = not any(task.done() for task in reading)
        for _ in range(taken):
            slots.release()
        assert is_waiting
        assert len({blob.data for blob in await asyncio.gather(*reading)}) == 1


async def test_a_slow_reader_is_no_dead_gateway(make_client: MakeClient, leap: Leap) -> None:
    content = cut(os.urandom(2_000_000), KUBO_V0)

    class Pager(io.BytesIO):
        def write(self, data: Any) -> int:
            leap(3600)
            return super().write(data)

    async with serve(FakeGateway(content, car=honest)) as (url, _seen):
        pager = Pager()
        await pour(make_client(url, verify="try", retries=0), content.cid, pager)
    assert pager.getvalue() == content.plain


async def test_a_gateway_may_not_choose_a_name_that_overwrites(make_client: MakeClient, tmp_path: Path) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(body=b"theirs", headers={"Content-Disposition": 'attachment; filename="Makefile"'})

    (tmp_path / "Makefile").write_bytes(b"mine")
    async with serve(handler) as (url, _seen):
        with pytest.raises(FileExistsError):
            await make_client(url).download(CID, to=tmp_path)
        assert (tmp_path / "Makefile").read_bytes() == b"mine"
        await make_client(url).download(CID, to=tmp_path / "Makefile")
    assert (tmp_path / "Makefile").read_bytes() == b"theirs"


PIPE = """
import asyncio, os, sys
from pinui import Client
async def main():
    reading, _writing = os.pipe()
    async with await Client.init(provider_token="t", pin_api_url="http://127.0.0.1:9") as client:
        task = asyncio.create_task(client.upload(os.fdopen(reading, "rb")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            print("cancelled")
asyncio.run(main())
"""


async def test_a_silent_pipe_keeps_no_program_alive() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PIPE, stdout=asyncio.subprocess.PIPE)
    try:
        output, _ = await asyncio.wait_for(process.communicate(), 120)
    finally:
        if process.returncode is None:
            process.kill()
    assert output == b"cancelled\n"


async def test_a_large_document_does_not_hold_up_the_loop(make_client: MakeClient) -> None:
    document = [{"number": number, "text": "x" * 20} for number in range(60_000)]
    longest = 0.0

    async def watch() -> None:
        # The work of this thread counts, not the time in which the machine did something else.
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)

    async with serve(ok) as (url, _seen):
        client = make_client(url)
        await client.store(1)
        watching = asyncio.create_task(watch())
        await some_turns()
        record = await client.store(document)
        watching.cancel()
    start = time.thread_time()
    text = stringify(document)
    needed = time.thread_time() - start
    assert record.size == len(text)
    assert longest < needed / 2, "the loop did none of the writing"


# Folders


def link(*path: str, target: str) -> SymlinkFound:
    return SymlinkFound(path, target)


async def write_folder(folder: Path, *events: Any) -> Path:
    writer = FolderWriter(folder, "x")
    try:
        await writer.take([FolderStart(()), FolderStart(("sub",)), *events])
        return writer.commit()
    finally:
        writer.discard()


async def test_links_that_stay_are_made_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    file = [FileStart(("a.txt",), 2), FileBytes(memoryview(b"hi")), FileEnd(("a.txt",))]
    made = await write_folder(tmp_path / "good", *file, link("sub", "up", target="../a.txt"), link("here", target="."))
    assert (made / "sub" / "up").read_text() == "hi"
    bad = [
        "/etc/passwd",
        "../secret.txt",
        "sub/../../secret.txt",
        "here/here/../../secret.txt",
        "..\\secret.txt",
        "..",
        "",
        "a\0b",
        "x" * 5000,
    ]
    for number, target in enumerate(bad):
        with pytest.raises(ContentError, match="link"):
            await write_folder(tmp_path / f"bad{number}", link("here", target="."), link("L", target=target))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["good", "secret.txt"]


async def test_a_folder_that_is_cancelled_at_its_end_is_whole_or_not_there(
    make_client: MakeClient, tmp_path: Path
) -> None:
    files = {f"{number}.txt": b"x" * 100 for number in range(40)}
    content = folder_of(files, KUBO_V0)
    async with serve(FakeGateway(content, car=honest)) as (url, _seen):
        client = make_client(url, verify="try")
        whole = 0
        for turns in range(0, 240, 6):
            target = tmp_path / f"album{turns}"
            task = asyncio.create_task(client.download(content.cid, to=target))
            while not list(tmp_path.glob(".*.part")) and not task.done():
                await asyncio.sleep(0)
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if target.exists():
                whole += 1
                assert len(list(target.iterdir())) == 40
        assert not list(tmp_path.glob(".*.part"))


async def test_where_a_folder_would_go_is_looked_at_before_it_is_fetched(
    make_client: MakeClient, tmp_path: Path
) -> None:
    content = folder_of({"a": b"1", "b": os.urandom(3_000_000)}, KUBO_V0)
    told: list[int] = []
    (tmp_path / "taken").write_bytes(b"mine")
    async with serve(FakeGateway(content, car=honest)) as (url, _seen):
        with pytest.raises(FileExistsError):
            await make_client(url, verify="try").download(
                content.cid, to=tmp_path / "taken", on_progress=lambda done, _total: told.append(done)
            )
    assert max(told, default=0) < 1_000_000
    assert (tmp_path / "taken").read_bytes() == b"mine"


async def test_a_busy_machine_makes_it_late_and_nothing_else(
    make_client: MakeClient, leap: Leap, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = cut(os.urandom((MOST + 2) * ONE_HOP), KUBO_V0)
    release = threading.Event()
    waits_for_the_hash = asyncio.Event()
    feed = ContentCheck.feed

    def slow_feed(check: ContentCheck, data: bytes) -> None:
        release.wait()
        feed(check, data)

    def on_progress(done: int, _total: int | None) -> None:
        if done >= (MOST + 1) * ONE_HOP:
            waits_for_the_hash.set()

    monkeypatch.setattr(ContentCheck, "feed", slow_feed)
    async with serve(FakeGateway(content)) as (url, _seen):
        client = make_client(url, verify="try", retries=0)
        reading = asyncio.create_task(client.download(content.cid, on_progress=on_progress))
        try:
            await waits_for_the_hash.wait()
            leap(3600)
            await some_turns()
            assert not reading.done()
        finally:
            release.set()
        assert (await reading).data == content.plain


async def test_unpinned_content_is_not_waited_for(make_client: MakeClient, clock: FakeClock) -> None:
    async def handler(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.Response(status=404, text="not here")
        await request.read()
        return web.json_response({"IpfsHash": CID})

    async with serve(handler) as (url, _seen):
        client = make_client(url)
        await client.store(1)
        await client.revoke(CID)
        with pytest.raises(PinuiError):
            await client.retrieve(CID)
        assert clock.slept == []
        await client.store(1)
        with pytest.raises(PinuiError):
            await client.retrieve(f"{CID}/missing.json")
    assert clock.slept == []


async def test_what_could_not_be_unpinned_is_still_waited_for(make_client: MakeClient, clock: FakeClock) -> None:
    async def handler(request: web.Request) -> web.Response:
        if request.method == "DELETE":
            return web.Response(status=403, text="no")
        if request.method == "GET":
            return web.Response(status=404, text="not here")
        await request.read()
        return web.json_response({"IpfsHash": CID})

    async with serve(handler) as (url, _seen):
        client = make_client(url)
        await client.store(1)
        with pytest.raises(PinuiError):
            await client.revoke(CID)
        with pytest.raises(PinuiError):
            await client.retrieve(CID)
    assert clock.slept[0] == 0.5
