"""A large transfer that is killed goes on where it was: little is read or sent twice, and nothing is there half."""

from __future__ import annotations

import asyncio
import io
import os
import random
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from pinui import Client
from pinui.node import Node
from tests.cli.conftest import PINUI, Ran
from tests.servers import serve, settings_of

PIECE = 64 * 1024


class Line:
    """A real node's gateway behind a line that counts bytes, and kills the reader after some of them."""

    def __init__(self, node: Node, environment: dict[str, str], folder: Path) -> None:
        self._url = node.gateway_url.removesuffix("/ipfs")
        self._environment, self._folder = environment, folder
        self.offsets: list[int] = []
        """Where each answer began."""
        self.sent = 0
        self._kill_after: int | None = None
        self._in_all = False
        self._sent_before = 0
        self._process: asyncio.subprocess.Process | None = None

    async def answer(self, request: web.Request) -> web.StreamResponse:
        asked = {name: request.headers[name] for name in ("Range", "If-Range", "Accept") if name in request.headers}
        async with ClientSession() as session, session.get(self._url + request.path_qs, headers=asked) as reply:
            kept = ("Content-Type", "Content-Length", "Content-Range", "ETag")
            headers = {name: reply.headers[name] for name in kept if name in reply.headers}
            answer = web.StreamResponse(status=reply.status, headers=headers)
            await answer.prepare(request)
            assert request.transport is not None
            # Bytes that wait in the system's buffers were never read.
            request.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * PIECE)
            self.offsets.append(int(reply.headers.get("Content-Range", "bytes 0-")[6:].partition("-")[0]))
            sent = 0
            async for piece in reply.content.iter_chunked(PIECE):
                if self._in_all:
                    sent = self.sent - self._sent_before
                if self._kill_after is not None and sent >= self._kill_after and self._process is not None:
                    self._process.send_signal(signal.SIGKILL)
                    self._process = None
                try:
                    await answer.write(piece)
                except ConnectionError:
                    break
                sent += len(piece)
                self.sent += len(piece)
        return answer

    async def run(self, *arguments: str, kill_after: int | None = None, in_all: bool = False) -> Ran:
        """Run `pinui`; with `kill_after`, until about that many bytes have gone out: in one answer, or `in_all`."""
        self._kill_after, self._in_all, self._sent_before = kill_after, in_all, self.sent
        pipe = asyncio.subprocess.PIPE
        self._process = process = await asyncio.create_subprocess_exec(
            PINUI, *arguments, env=self._environment, cwd=self._folder, stdout=pipe, stderr=pipe
        )
        out, err = await process.communicate()
        assert b"Traceback" not in err, err.decode()
        return Ran(process.returncode or 0, out.decode(), err.decode())


@pytest.fixture
async def line(tmp_path: Path, here: Path, environment: dict[str, str]) -> AsyncIterator[tuple[Line, Client]]:
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        line = Line(node, environment, here)
        async with serve(line.answer) as (url, _):
            addresses = {"PINUI_API_URL": node.api_url, "PINUI_GATEWAY_URL": f"{url}/ipfs", "PINUI_TOKEN": node.token}
            environment |= addresses
            yield line, client


async def kill_loop(
    line: Line, client: Client, here: Path, tmp_path: Path, *, size: int, kills: int, read_again: float
) -> None:
    """Download a file in spite of kills, and check that little of it was read twice."""
    source = tmp_path / "source.bin"
    with source.open("wb") as file:
        for start in range(0, size, 1 << 20):
            file.write(os.urandom(min(1 << 20, size - start)))
    cid = (await client.upload(source)).cid
    chance = random.Random(3)
    for count in range(kills):
        command = ("transfers", "resume") if count % 2 else ("download", cid, "-o", "copy.bin")
        share = size // (kills + 1)
        ran = await line.run(*command, kill_after=share - chance.randrange(share // 10))
        assert ran.code == -signal.SIGKILL, ran
        assert not (here / "copy.bin").exists()
        assert len(list(here.iterdir())) == 1, "one incomplete file, which is found again"
    last = await line.run("download", cid, "-o", "copy.bin")
    assert last.code == 0, last.err
    assert [path.name for path in here.iterdir()] == ["copy.bin"]
    with source.open("rb") as one, (here / "copy.bin").open("rb") as other:
        while piece := one.read(1 << 20):
            assert piece == other.read(1 << 20)
        assert other.read() == b""
    assert line.offsets == sorted(line.offsets), "each goes on behind the one before"
    assert line.sent <= size * (1 + read_again)
    assert (await line.run("transfers")).out == ""


async def test_a_download_that_is_killed_goes_on(line: tuple[Line, Client], here: Path, tmp_path: Path) -> None:
    await kill_loop(*line, here, tmp_path, size=24 << 20, kills=3, read_again=0.5)


@pytest.mark.slow
async def test_a_gibibyte_that_is_killed_twenty_times_is_read_once(
    line: tuple[Line, Client], here: Path, tmp_path: Path
) -> None:
    await kill_loop(*line, here, tmp_path, size=1 << 30, kills=20, read_again=0.1)


def make_tree(folder: Path, *, files: int, size: int) -> None:
    """A folder with folders in it: files of one block and of many, an odd name, and an empty file."""
    chance = random.Random(5)
    for number in range(files):
        place = folder / f"part-{number % 4}" / f"file-{number}.bin"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(chance.randbytes(1000 if number % 3 == 0 else 2 * size // files))
    (folder / "odd: name").write_bytes(chance.randbytes(300_000))
    (folder / "nothing").write_bytes(b"")
    (folder / "large.bin").write_bytes(os.urandom(size))


def content_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)).replace("%3A", ":"): path.read_bytes() for path in files}


async def kill_folder_loop(
    line: Line, client: Client, here: Path, tmp_path: Path, *, files: int, size: int, kills: int, read_again: float
) -> None:
    """Download a folder in spite of kills, and check that little of it was read twice."""
    source = tmp_path / "source"
    make_tree(source, files=files, size=size)
    cid = (await client.upload(source)).cid
    expected = content_of(source)
    whole = sum(map(len, expected.values()))
    share = whole // (kills + 1)
    for count in range(kills):
        command = ("transfers", "resume") if count % 2 else ("download", cid, "-o", "copy")
        before = line.sent
        ran = await line.run(*command, kill_after=share, in_all=True)
        assert ran.code == -signal.SIGKILL, (count, ran)
        assert line.sent > before
        assert not (here / "copy").exists()
    last = await line.run("download", cid, "-o", "copy")
    assert last.code == 0, last.err
    assert [path.name for path in here.iterdir()] == ["copy"]
    assert content_of(here / "copy").keys() == expected.keys()
    assert content_of(here / "copy") == expected
    assert line.sent <= whole * (1 + read_again), (line.sent, whole)
    assert (await line.run("transfers")).out == ""


@pytest.mark.slow
async def test_a_folder_that_is_killed_while_it_comes_goes_on(
    line: tuple[Line, Client], here: Path, tmp_path: Path
) -> None:
    await kill_folder_loop(*line, here, tmp_path, files=20, size=12 << 20, kills=3, read_again=0.3)


@pytest.mark.slow
async def test_half_a_gibibyte_in_a_folder_that_is_killed_twenty_times_is_read_once(
    line: tuple[Line, Client], here: Path, tmp_path: Path
) -> None:
    await kill_folder_loop(*line, here, tmp_path, files=400, size=256 << 20, kills=20, read_again=0.1)


@pytest.mark.slow
async def test_forgetting_a_killed_download_of_a_folder_removes_its_files(
    line: tuple[Line, Client], here: Path, tmp_path: Path
) -> None:
    make_tree(tmp_path / "source", files=10, size=8 << 20)
    cid = (await line[1].upload(tmp_path / "source")).cid
    for _ in range(2):  # the second one has files of the first beside its own
        ran = await line[0].run("download", cid, "-o", "copy", kill_after=4 << 20, in_all=True)
        assert ran.code == -signal.SIGKILL
        assert list(here.iterdir()) != []
    assert (await line[0].run("transfers", "forget")).code == 0
    assert list(here.iterdir()) == []


@pytest.mark.slow
async def test_forgetting_a_killed_download_removes_its_file(
    line: tuple[Line, Client], here: Path, tmp_path: Path
) -> None:
    (tmp_path / "source.bin").write_bytes(os.urandom(48 << 20))
    cid = (await line[1].upload(tmp_path / "source.bin")).cid
    assert (await line[0].run("download", cid, "-o", "copy.bin", kill_after=24 << 20)).code == -signal.SIGKILL
    assert len(list(here.iterdir())) == 1
    assert (await line[0].run("transfers", "forget")).code == 0
    assert list(here.iterdir()) == []


@pytest.mark.slow
async def test_an_upload_in_pieces_that_is_killed_goes_on_at_the_offset_of_the_service(
    tmp_path: Path, here: Path, environment: dict[str, str]
) -> None:
    size = 160 << 20
    (here / "large.bin").write_bytes(os.urandom(size))
    taken = 0
    process: asyncio.subprocess.Process | None = None

    async def answer(request: web.Request) -> web.Response:
        nonlocal taken, process
        body = await request.read()
        if request.method == "PATCH":
            taken += len(body)
        headers = {name: value for name, value in request.headers.items() if name not in ("Host", "Content-Length")}
        headers["Host"] = request.host
        async with (
            ClientSession() as session,
            session.request(
                request.method, node.api_url + request.path_qs, data=io.BytesIO(body), headers=headers
            ) as reply,
        ):
            content = await reply.read()
        if request.method == "PATCH" and process is not None:  # the first piece is there, and its answer is lost
            process.send_signal(signal.SIGKILL)
            process = None
        left_out = ("Content-Length", "Date", "Server", "Content-Encoding")
        told = {name: value for name, value in reply.headers.items() if name not in left_out}
        return web.Response(status=reply.status, body=content, headers=told)

    async def run(*arguments: str) -> Ran:
        nonlocal process
        pipe = asyncio.subprocess.PIPE
        process = running = await asyncio.create_subprocess_exec(
            PINUI, "--profile", "hosted", *arguments, env=environment, cwd=here, stdin=pipe, stdout=pipe, stderr=pipe
        )
        if arguments[0] != "upload" or taken:
            process = None
        out, err = await running.communicate(node.token.encode())
        return Ran(running.returncode or 0, out.decode(), err.decode())

    async with Node(tmp_path / "node") as node, serve(answer) as (url, _):
        environment["PINUI_TOKEN_HOSTED"] = node.token
        address = ("--api-url", url, "--gateway-url", node.gateway_url, "--dialect", "pinata-v3")
        added = await run("profile", "add", "hosted", *address)
        assert added.code == 0, added.err
        assert (await run("upload", "large.bin")).code == -signal.SIGKILL
        ended = await run("upload", "large.bin")
        assert ended.code == 0, ended.err
        assert taken == size, "no piece was sent twice"
        async with await Client.init(**settings_of(node)) as client:
            assert [pin.cid async for pin in client.pins()] == [ended.out.split("\t")[0]]
            assert await client.verify(ended.out.split("\t")[0]) == "verified"
