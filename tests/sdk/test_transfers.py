"""Files up and down over real sockets: streamed, whole or not at all, and honest when a source changes."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pinui import ContentError, NetworkError, ProviderError, SourceChanged
from pinui.sdk.trailing_work import ONE_HOP
from pinui.sdk.writing.sources import Part, UploadSource, open_source
from tests.sdk.conftest import MakeClient
from tests.servers import read_head, reply, serve, serve_raw

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
PINNED = f'{{"IpfsHash":"{CID}"}}'
DATA = random.Random(1).randbytes(2 * ONE_HOP + 17)


async def take_upload(request: web.Request) -> web.Response:
    """Read a form's file, and answer its hash as the CID."""
    form = await request.multipart()
    part = await form.next()
    digest = hashlib.sha256()
    while piece := await part.read_chunk(65536):  # type: ignore[union-attr]
        digest.update(piece)
    return web.json_response({"IpfsHash": digest.hexdigest()})


async def test_an_upload_arrives_whole_with_an_exact_length(make_client: MakeClient, tmp_path: Path) -> None:
    file = tmp_path / "data.bin"
    file.write_bytes(DATA)
    progress: list[tuple[int, int | None]] = []
    async with serve(take_upload) as (url, seen):
        record = await make_client(url).upload(file, on_progress=lambda done, total: progress.append((done, total)))
        assert "transfer-encoding" not in seen.last.headers
        assert int(seen.last.headers["content-length"]) > len(DATA)
    assert record.cid == hashlib.sha256(DATA).hexdigest()
    assert record.size == len(DATA)
    assert progress[-1] == (len(DATA), len(DATA))
    assert [done for done, _ in progress] == sorted(done for done, _ in progress)


async def test_an_upload_is_sent_again_from_its_beginning(make_client: MakeClient, tmp_path: Path) -> None:
    file = tmp_path / "data.bin"
    file.write_bytes(DATA)
    attempts = 0

    async def flaky(request: web.Request) -> web.Response:
        nonlocal attempts
        if request.method == "GET":
            return web.json_response({"rows": []})
        attempts += 1
        if attempts == 1:
            await request.read()
            return web.Response(status=503)
        return await take_upload(request)

    async with serve(flaky) as (url, _seen):
        assert (await make_client(url).upload(file)).cid == hashlib.sha256(DATA).hexdigest()
    assert attempts == 2


async def test_an_upload_refused_early_reports_that_and_is_not_sent_again(
    make_client: MakeClient, tmp_path: Path
) -> None:
    file = tmp_path / "data.bin"
    file.write_bytes(DATA * 2)
    attempts = 0

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal attempts
        attempts += 1
        await read_head(reader)
        writer.write(reply("401 Unauthorized", b'{"error":{"details":"no"}}', "Connection: close"))
        await writer.drain()

    async with serve_raw(refuse) as url:
        with pytest.raises(ProviderError, match="HTTP error 401"):
            await make_client(url).upload(file)
    assert attempts == 1


@pytest.mark.parametrize("change", ["truncate", "grow", "replace", "rewrite", "remove"])
@pytest.mark.parametrize("moment", [0, 1, 2])
async def test_a_source_that_changes_is_an_error(
    make_client: MakeClient, tmp_path: Path, change: str, moment: int
) -> None:
    file = tmp_path / "data.bin"
    file.write_bytes(DATA)
    pieces = 0

    def meddle(done: int, total: int | None) -> None:
        nonlocal pieces
        if pieces == moment:
            if change == "truncate":
                os.truncate(file, 100)
            elif change == "grow":
                with file.open("ab") as out:
                    out.write(b"more")
            elif change == "replace":
                other = tmp_path / "other"
                other.write_bytes(DATA)
                other.replace(file)
            elif change == "rewrite":
                os.utime(file, ns=(1, 1))
            else:
                file.unlink()
        pieces += 1

    async with serve(take_upload) as (url, _seen):
        client = make_client(url)
        with pytest.raises(SourceChanged, match=r"data\.bin changed while it was uploaded"):
            await client.upload(file, on_progress=meddle)
        assert (await client.upload(b"still works")).size == 11


@pytest.mark.parametrize("change", ["truncate", "grow", "replace", "rewrite", "remove", "none"])
async def test_a_small_file_that_changes_before_its_turn_is_an_error(
    make_client: MakeClient, tmp_path: Path, change: str
) -> None:
    """Thousands of small files may wait in a folder; each is read in one go."""
    file = tmp_path / "small.bin"
    file.write_bytes(b"x" * 1000)
    source = open_source(file)
    if change == "truncate":
        os.truncate(file, 100)
    elif change == "grow":
        file.write_bytes(b"x" * 1001)
    elif change == "replace":
        (tmp_path / "other").write_bytes(b"y" * 1000)
        (tmp_path / "other").replace(file)
    elif change == "rewrite":
        os.utime(file, ns=(1, 1))
    elif change == "remove":
        file.unlink()
    async with serve(take_upload) as (url, _seen):
        if change == "none":
            assert (await make_client(url).upload(source)).cid == hashlib.sha256(b"x" * 1000).hexdigest()
            return
        with pytest.raises(SourceChanged, match=r"small\.bin changed"):
            await make_client(url).upload(source)


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (OSError(errno.EMFILE, "Too many open files"), OSError),
        (PermissionError(errno.EACCES, "no"), PermissionError),
        (FileNotFoundError(errno.ENOENT, "gone"), SourceChanged),
    ],
    ids=["too many files", "no permission", "gone"],
)
async def test_a_source_that_cannot_be_opened_is_told_as_what_it_is(
    make_client: MakeClient, trouble: OSError, told: type[OSError]
) -> None:
    def fail() -> Any:
        raise trouble

    source = UploadSource((Part("a", 3, "text/plain", fail, lambda _file: True),), "a", 3)
    async with serve(take_upload) as (url, _seen):
        with pytest.raises(told) as caught:
            await make_client(url).upload(source)
    assert isinstance(caught.value, SourceChanged) == (told is SourceChanged)


def serving(body: bytes, **headers: str):
    async def handler(request: web.Request) -> web.Response:
        return web.Response(body=body, headers=headers)

    return handler


async def test_a_download_appears_whole_under_its_name(make_client: MakeClient, tmp_path: Path) -> None:
    progress: list[tuple[int, int | None]] = []
    async with serve(serving(DATA)) as (url, _seen):
        client = make_client(url)
        path = await client.download(CID, to=tmp_path / "out.bin", on_progress=lambda *step: progress.append(step))
        assert path == tmp_path / "out.bin"
        assert path.read_bytes() == DATA
        assert await client.download(f"{CID}/dir/cat.png", to=tmp_path) == tmp_path / "cat.png"
        assert await client.download(CID, to=str(tmp_path)) == tmp_path / CID
    assert progress[-1] == (len(DATA), len(DATA))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([CID, "cat.png", "out.bin"])


@pytest.mark.parametrize("has_links", [True, False])
async def test_a_file_that_comes_during_a_download_is_not_replaced_unless_that_is_allowed(
    make_client: MakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError

    if not has_links:  # as on a memory stick
        monkeypatch.setattr(Path, "hardlink_to", no_links)
    out = tmp_path / "out.bin"

    def another_writes(_done: int, _total: int | None) -> None:
        out.write_bytes(b"mine")

    async with serve(serving(DATA)) as (url, _seen):
        client = make_client(url)
        with pytest.raises(FileExistsError):
            await client.download(CID, to=out, overwrite=False, on_progress=another_writes)
        assert out.read_bytes() == b"mine"
        await client.download(CID, to=out)
        await client.download(CID, to=tmp_path / "new.bin", overwrite=False)
    assert out.read_bytes() == (tmp_path / "new.bin").read_bytes() == DATA
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.bin", "out.bin"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
async def test_a_named_pipe_is_not_replaced_by_a_file(make_client: MakeClient, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    async with serve(serving(DATA)) as (url, _seen):
        with pytest.raises(FileExistsError, match="pipe or device"):
            await make_client(url).download(CID, to=tmp_path / "pipe")
    assert [path.is_fifo() for path in tmp_path.iterdir()] == [True]


async def test_a_part_that_nobody_asked_for_is_not_the_whole(make_client: MakeClient, tmp_path: Path) -> None:
    async def handler(_request: web.Request) -> web.Response:
        return web.Response(status=206, body=DATA[:100], headers={"Content-Range": "bytes 0-99/500"})

    async with serve(handler) as (url, _seen):
        with pytest.raises(NetworkError, match="another part"):
            await make_client(url, retries=0).download(CID, to=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


async def test_a_gateways_name_is_used_in_a_folder(make_client: MakeClient, tmp_path: Path) -> None:
    headers = {"Content-Disposition": 'attachment; filename="../../evil.txt"'}
    async with serve(serving(b"x", **headers)) as (url, _seen):
        assert await make_client(url).download(CID, to=tmp_path) == tmp_path / "evil.txt"


async def test_a_download_replaces_only_when_it_is_complete(make_client: MakeClient, tmp_path: Path) -> None:
    target = tmp_path / "out.bin"
    target.write_bytes(b"old")

    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(reply("200 OK", DATA[:-1], length=len(DATA)))
        await writer.drain()

    async with serve_raw(cut) as url:
        with pytest.raises(NetworkError):
            await make_client(url, retries=1).download(CID, to=target)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]
    async with serve(serving(DATA)) as (url, _seen):
        await make_client(url).download(CID, to=target)
    assert target.read_bytes() == DATA


async def test_a_cancelled_download_leaves_nothing(make_client: MakeClient, tmp_path: Path) -> None:
    started = asyncio.Event()

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with serve_raw(endless) as url:
        task = asyncio.create_task(
            make_client(url).download(CID, to=tmp_path / "out", on_progress=lambda *_step: started.set())
        )
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("etag", ['"strong"', 'W/"weak"', None])
async def test_a_broken_download_goes_on_where_it_stopped_or_starts_anew(
    make_client: MakeClient, tmp_path: Path, etag: str | None
) -> None:
    asked: list[str | None] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await read_head(reader)).decode()
        wanted = next((line[13:-1] for line in head.splitlines() if line.lower().startswith("range: ")), None)
        asked.append(wanted)
        extra = [] if etag is None else [f"ETag: {etag}"]
        if wanted is not None:
            start = int(wanted)
            extra.append(f"Content-Range: bytes {start}-{len(DATA) - 1}/{len(DATA)}")
            writer.write(reply("206 Partial Content", DATA[start:], *extra))
        elif len(asked) == 1:
            writer.write(reply("200 OK", DATA[: ONE_HOP + 500_000], *extra, length=len(DATA)))
        else:
            writer.write(reply("200 OK", DATA, *extra))
        await writer.drain()

    async with serve_raw(handler) as url:
        path = await make_client(url).download(CID, to=tmp_path / "out")
    assert path.read_bytes() == DATA
    assert asked[0] is None
    assert len(asked) == 2
    if etag == '"strong"':
        assert 0 < int(asked[1] or 0) <= ONE_HOP + 500_000, "the rest was asked for, not everything again"
    else:
        assert asked[1] is None


SHORT = DATA[:300_000]


def rest(start: int, *, shift: int = 0, total: int = len(SHORT), etag: str = '"e"') -> bytes:
    """An answer to the wish for the rest; with `shift` it begins elsewhere."""
    content_range = f"Content-Range: bytes {start + shift}-{len(SHORT) - 1}/{total}"
    return reply("206 Partial Content", SHORT[start + shift :], content_range, f"ETag: {etag}")


ANSWERS: dict[str, tuple[Callable[[int], bytes], bool]] = {
    "the rest": (rest, True),
    "everything": (lambda _start: reply("200 OK", SHORT, 'ETag: "e"'), True),
    "another offset": (lambda start: rest(start, shift=1), False),
    "another size": (lambda start: rest(start, total=len(SHORT) + 5), False),
    "another content": (lambda start: rest(start, etag='"other"'), False),
    "nonsense": (lambda start: reply("206 Partial Content", SHORT[start:], "Content-Range: bytes x"), False),
    "nothing": (lambda _start: reply("416 Range Not Satisfiable", b"", "Content-Range: bytes */5"), False),
}


@pytest.mark.parametrize("cut_at", [0, 1, 262_144, len(SHORT) - 1])
@pytest.mark.parametrize("answer", ANSWERS)
async def test_what_continues_a_download_is_right_or_never_reaches_the_file(
    make_client: MakeClient, tmp_path: Path, cut_at: int, answer: str
) -> None:
    give, is_right = ANSWERS[answer]
    arrived = asyncio.Event()
    if cut_at == 0:
        arrived.set()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await read_head(reader)).decode().lower()
        wanted = re.search(r"range: bytes=(\d+)-", head)
        if wanted is None:
            writer.write(reply("200 OK", SHORT[:cut_at], 'ETag: "e"', length=len(SHORT)))
        else:
            assert int(wanted[1]) == cut_at
            writer.write(give(cut_at))
        await writer.drain()
        await arrived.wait()  # what comes together with the end of its connection is not always seen

    def on_progress(done: int, _total: int | None) -> None:
        if done >= cut_at:
            arrived.set()

    async with serve_raw(handler) as url:
        download = make_client(url).download(CID, to=tmp_path / "out", on_progress=on_progress)
        if is_right and cut_at:
            assert (await download).read_bytes() == SHORT
        else:  # where nothing came, there is nothing to continue: it starts anew, and is cut off each time
            with pytest.raises((NetworkError, ProviderError)):
                await download
            assert list(tmp_path.iterdir()) == []


async def test_more_than_the_limit_is_refused_in_memory_and_fine_on_disk(
    make_client: MakeClient, tmp_path: Path
) -> None:
    async with serve(serving(DATA)) as (url, _seen):
        client = make_client(url, max_blob_bytes=1000, max_json_bytes=1000)
        with pytest.raises(ContentError, match="larger than 1,000 bytes"):
            await client.download(CID)
        with pytest.raises(ContentError, match="The document is larger"):
            await client.retrieve(CID)
        assert (await client.download(CID, to=tmp_path / "out")).stat().st_size == len(DATA)


async def test_an_answer_that_hides_its_length_is_limited_too(make_client: MakeClient) -> None:
    async def chunked(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(100):
            await response.write(b"x" * 1000)
        return response

    async with serve(chunked) as (url, _seen):
        with pytest.raises(ContentError, match="larger than 5,000 bytes"):
            await make_client(url, max_blob_bytes=5000).download(CID)


async def test_what_comes_compressed_all_the_same_is_not_unpacked(make_client: MakeClient) -> None:
    async with serve(serving(b"\x1f\x8b", **{"Content-Encoding": "gzip"})) as (url, _seen):
        with pytest.raises(NetworkError, match="compressed"):
            await make_client(url).retrieve(CID)


async def test_trouble_with_the_destination_is_the_systems_own_error(make_client: MakeClient, tmp_path: Path) -> None:
    async with serve(serving(DATA)) as (url, _seen):
        client = make_client(url)
        with pytest.raises(FileNotFoundError):
            await client.download(CID, to=tmp_path / "missing" / "out")
        (tmp_path / CID).mkdir()
        with pytest.raises(FileExistsError, match="in the way"):
            await client.download(CID, to=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [CID]


MEASURE = """
import asyncio, sys
from pathlib import Path
from pinui import Client
from tests.memory import peak_kib
async def main(url, path, out):
    async with await Client.init(provider_token="t", pin_api_url=url, gateway_url=url + "/ipfs") as client:
        await client.upload(b"warm up")
        await client.download("{cid}/small", to=out)
        before = peak_kib()
        await client.upload(Path(path))
        await client.download("{cid}", to=out)
        print(peak_kib() - before)
asyncio.run(main(*sys.argv[1:]))
"""


async def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    import sys

    big = tmp_path / "big.bin"
    with big.open("wb") as file:
        for _ in range(200):
            file.write(DATA[: 1024 * 1024])

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            while await request.content.readany():
                pass
            return web.Response(text=PINNED)
        return web.Response(body=b"x") if request.path.endswith("small") else web.FileResponse(big)

    async with serve(handler) as (url, _seen):
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-c", MEASURE.replace("{cid}", CID), url, str(big), str(tmp_path / "out")],
            cwd=Path(__file__).parents[2],
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate()
    assert process.returncode == 0
    assert (tmp_path / "out").stat().st_size == big.stat().st_size
    assert int(output) < 48 * 1024, f"200 MiB up and down cost {int(output)} KiB"
