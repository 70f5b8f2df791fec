"""A download that broke off goes on in another process: the bytes on the disk are read once, and checked as a whole."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from pinui import Client, NetworkError, Resume
from pinui.node import Node
from pinui.sdk.models import ClientSettings
from pinui.sdk.reading import gateways
from pinui.sdk.reading.partial import remove_partial
from pinui.sdk.reading.sinks import READ_AGAIN
from tests.servers import serve, settings_of

SIZE = 3_000_000
CONTENT = random.Random(7).randbytes(SIZE)


class Gateway:
    """A real node's gateway on a line that breaks after some bytes."""

    def __init__(self, node: Node) -> None:
        self._url = node.gateway_url.removesuffix("/ipfs")
        self.line: int | None = None
        """The bytes of a body after which the line breaks."""
        self.sent = 0
        self.arrived: Callable[[], int] = lambda: 2**60
        """The bytes that the download has."""
        self.etag: str | None = None
        """Given instead of the node's own."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        asked = {name: request.headers[name] for name in ("Range", "If-Range", "Accept") if name in request.headers}
        async with ClientSession() as session, session.get(self._url + request.path_qs, headers=asked) as reply:
            body = await reply.read()
            kept = ("Content-Type", "Content-Length", "Content-Range", "ETag", "X-Content-Type-Options")
            headers = {name: reply.headers[name] for name in kept if name in reply.headers}
            if self.etag is not None:
                headers["ETag"] = self.etag
            answer = web.StreamResponse(status=reply.status, headers=headers)
            await answer.prepare(request)
            part = body if self.line is None else body[: self.line]
            self.sent += len(part)
            await answer.write(part)
            if part != body:
                while self.arrived() < int(request.headers.get("Range", "bytes=0-")[6:-1]) + len(part):
                    await asyncio.sleep(0)  # an answer that has not been read is lost with its line
                assert request.transport is not None
                request.transport.close()
            return answer


class Download:
    """Attempts to get one file, each by a client of its own."""

    def __init__(self, settings: ClientSettings, cid: str, to: Path) -> None:
        self.settings, self.cid, self.to = settings, cid, to
        self.kept: str | None = None
        self.progress: list[tuple[int, int | None]] = []

    def keep(self, text: str) -> None:
        self.kept = text

    async def attempt(self) -> str | None:
        verdicts: list[str | None] = []
        async with await Client.init(**self.settings) as client:
            await client.download(
                self.cid,
                to=self.to,
                on_progress=lambda done, total: self.progress.append((done, total)),
                on_verdict=verdicts.append,
                resume=Resume(keep=self.keep, handle=self.kept),
            )
        return verdicts[0]

    def left(self) -> list[Path]:
        return [path for path in self.to.parent.iterdir() if path != self.to]


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[tuple[Gateway, Download]]:
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        record = await client.upload(CONTENT)
        gateway = Gateway(node)
        async with serve(gateway.answer) as (url, _):
            settings = settings_of(node, gateway_url=f"{url}/ipfs", retries=0)
            (tmp_path / "out").mkdir()
            download = Download(settings, record.cid, tmp_path / "out" / "file.bin")
            gateway.arrived = lambda: download.progress[-1][0] if download.progress else 0
            yield gateway, download


@pytest.mark.parametrize("cut", [1, 2, 262_144, 1_500_000, SIZE - 1])
async def test_the_rest_is_read_wherever_the_line_broke(gateway: tuple[Gateway, Download], cut: int) -> None:
    line, download = gateway
    line.line = cut
    with pytest.raises(NetworkError):
        await download.attempt()
    assert not download.to.exists()
    assert len(download.left()) == 1
    line.line = None
    download.progress.clear()
    assert await download.attempt() == "verified"
    assert download.to.read_bytes() == CONTENT
    assert download.left() == []
    assert line.sent <= SIZE + READ_AGAIN
    assert download.progress[-1] == (SIZE, SIZE)
    assert {total for _, total in download.progress} == {SIZE}


async def test_many_breaks_read_little_twice(gateway: tuple[Gateway, Download]) -> None:
    line, download = gateway
    line.line = 400_000
    breaks = 0
    while not download.to.exists():
        try:
            await download.attempt()
        except NetworkError:
            breaks += 1
    assert breaks > 5
    assert download.to.read_bytes() == CONTENT
    assert line.sent <= SIZE + breaks * READ_AGAIN


async def test_another_version_is_read_from_its_beginning(gateway: tuple[Gateway, Download]) -> None:
    line, download = gateway
    line.line, line.etag = 1_000_000, '"one"'
    with pytest.raises(NetworkError):
        await download.attempt()
    line.line, line.etag = None, '"two"'
    await download.attempt()
    assert download.to.read_bytes() == CONTENT


async def test_bytes_that_changed_on_the_disk_are_found(gateway: tuple[Gateway, Download]) -> None:
    line, download = gateway
    line.line = 1_500_000
    with pytest.raises(NetworkError):
        await download.attempt()
    (partial,) = download.left()
    with partial.open("r+b") as file:
        file.seek(700_000)
        file.write(b"\0" * 1000)
    line.line = None
    assert await download.attempt() == "verified"
    assert download.to.read_bytes() == CONTENT


async def test_a_file_that_is_gone_or_short_is_begun_again(gateway: tuple[Gateway, Download]) -> None:
    line, download = gateway
    line.line = 1_500_000
    with pytest.raises(NetworkError):
        await download.attempt()
    download.left()[0].unlink()
    line.line = None
    assert await download.attempt() == "verified"
    assert download.to.read_bytes() == CONTENT


async def test_a_download_that_nobody_goes_on_with_leaves_nothing(gateway: tuple[Gateway, Download]) -> None:
    line, download = gateway
    line.line = 1_500_000
    with pytest.raises(NetworkError):
        await download.attempt()
    assert download.kept is not None
    remove_partial(download.kept)
    assert download.left() == []


async def test_the_folder_that_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "album"
    folder.mkdir()
    (folder / "a").write_text("a")
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        record = await client.upload(folder)
        kept: list[str] = []
        to = tmp_path / "out" / "album"
        to.parent.mkdir()
        (to.parent / ".left.folder.part").mkdir()
        (to.parent / ".left.folder.part" / "old").write_text("of a killed process")
        handle = f'{{"partial": "{to.parent / ".left.part"}", "etag": null}}'
        await client.download(record.cid, to=to, resume=Resume(keep=kept.append, handle=handle))
        assert [path.name for path in to.parent.iterdir()] == ["album"]
        assert [path.name for path in to.iterdir()] == ["a"]


class Line:
    """A real node's gateway whose line breaks, and which counts the bytes that it sends."""

    def __init__(self, node: Node) -> None:
        self._url = node.gateway_url.removesuffix("/ipfs")
        self.breaks: list[int] = []
        """After how many bytes each of the next archives breaks off."""
        self.stays_broken = self._is_broken = False
        self.gives_blocks = True
        self.sent = 0

    def mend(self) -> None:
        self.breaks, self.stays_broken, self._is_broken = [], False, False

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if "format=raw" in request.query_string and not self.gives_blocks:
            return web.Response(status=406)
        asked = {name: request.headers[name] for name in ("Accept",) if name in request.headers}
        async with ClientSession() as session, session.get(self._url + request.path_qs, headers=asked) as reply:
            body = await reply.read()
            kept = ("Content-Type", "Content-Length", "ETag")
            answer = web.StreamResponse(
                status=reply.status, headers={name: reply.headers[name] for name in kept if name in reply.headers}
            )
        await answer.prepare(request)
        part = b"" if self._is_broken else body
        if "format=car" in request.query_string and self.breaks:
            part = body[: self.breaks.pop(0)]
            self._is_broken = self.stays_broken
        self.sent += len(part)
        await answer.write(part)
        if part != body:
            assert request.transport is not None
            request.transport.close()
        return answer


class Album:
    """A folder of some megabytes at a node whose gateway is on such a line."""

    def __init__(self, line: Line, settings: ClientSettings, cid: str, source: Path, to: Path) -> None:
        self.line, self.settings, self.cid, self.source, self.to = line, settings, cid, source, to
        self.handle: str | None = None
        self.progress: list[tuple[int, int | None]] = []
        self.size = sum(len(data) for data in content_of(source).values())

    def keep(self, text: str) -> None:
        self.handle = text

    async def get(self, *, retries: int = 0) -> None:
        async with await Client.init(**{**self.settings, "retries": retries}) as client:
            await client.download(
                self.cid,
                to=self.to,
                on_progress=lambda done, total: self.progress.append((done, total)),
                resume=Resume(keep=self.keep, handle=self.handle),
            )

    async def break_off(self, after: int) -> Path:
        """The folder with the files that came before the line broke."""
        self.line.breaks, self.line.stays_broken = [after], True
        with pytest.raises(NetworkError):
            await self.get()
        self.line.mend()
        return next((path for path in self.to.parent.iterdir() if path.is_dir()), self.to)

    def is_right(self) -> bool:
        return [path.name for path in self.to.parent.iterdir()] == [self.to.name] and content_of(self.to) == content_of(
            self.source
        )


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
async def album(tmp_path: Path) -> AsyncIterator[Album]:
    chance = random.Random(11)
    source = tmp_path / "album"
    for name, size in {"a": 70_000, "b/c": 900_000, "b/d": 10, "b/e": 1_200_000, "f": 300_000, "g": 0}.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(chance.randbytes(size))
    (tmp_path / "out").mkdir()
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        record = await client.upload(source)
        line = Line(node)
        async with serve(line.answer) as (url, _):
            settings = settings_of(node, gateway_url=f"{url}/ipfs")
            yield Album(line, settings, record.cid, source, tmp_path / "out" / "album")


@pytest.mark.parametrize("cut", [0, 100, 70_000, 500_000, 1_400_000, 2_300_000])
async def test_the_files_of_a_folder_that_came_before_a_break_are_read_once(album: Album, cut: int) -> None:
    await album.break_off(cut)
    assert not album.to.exists()
    await album.get()
    assert album.is_right()
    assert album.line.sent < album.size * 1.1 + 300_000, "at most the block that was cut comes again"


async def test_a_folder_goes_on_after_a_break_in_the_same_process(album: Album) -> None:
    album.line.breaks = [800_000, 400_000]
    await album.get(retries=3)
    assert album.is_right()
    assert album.line.sent < album.size * 1.1 + 600_000


async def test_kept_files_and_the_page_about_a_folder_are_no_progress(album: Album) -> None:
    await album.break_off(1_400_000)
    assert album.progress[0][0] > 500_000, "not the bytes of the page"
    del album.progress[:]
    await album.get()
    assert album.progress[0][0] > 1_000_000
    assert album.progress[-1] == (album.size, None)


async def test_files_of_a_folder_that_changed_on_the_disk_are_read_again(album: Album) -> None:
    left = await album.break_off(1_700_000)
    (left / "a").write_bytes(b"x" * 70_000)
    (left / "b" / "c").write_bytes((left / "b" / "c").read_bytes() + b"more")
    (left / "b" / "d").unlink()
    (left / "b" / "d").symlink_to(album.source / "b" / "d")
    (left / "b" / "stray").write_text("of nobody")
    await album.get()
    assert album.is_right()
    assert not (album.to / "b" / "d").is_symlink()


async def test_a_folder_that_breaks_off_many_times_ends_right(album: Album) -> None:
    for cut in (500_000, 300_000, 1, 100_000):
        await album.break_off(cut)
    await album.get()
    assert album.is_right()


async def test_a_folder_goes_on_at_a_gateway_that_gives_archives_alone(album: Album) -> None:
    album.line.gives_blocks = False
    await album.break_off(1_400_000)
    gateways.known.clear()  # as in a new process
    await album.get()
    assert album.is_right()


@pytest.mark.slow
async def test_a_folder_that_is_spread_over_blocks_goes_on_with_few_requests(tmp_path: Path) -> None:
    source, to = tmp_path / "album", tmp_path / "out" / "album"
    for folder in (source, to.parent):
        folder.mkdir()
    for number in range(3000):
        (source / f"{'a picture of the sea, ' * 4}{number:04}.txt").write_bytes(b"%d" % number * 100)
    requests: list[object] = []
    handles: list[str] = []
    async with (
        Node(tmp_path / "node", on_request=requests.append) as node,
        await Client.init(**settings_of(node)) as client,
    ):
        record = await client.upload(source)

        def stop(done: int, _total: int | None) -> None:
            if done > 200_000:
                getting.cancel()

        resume = Resume(keep=handles.append)
        getting = asyncio.ensure_future(client.download(record.cid, to=to, on_progress=stop, resume=resume))
        with pytest.raises(asyncio.CancelledError):
            await getting
        requests.clear()
        await client.download(record.cid, to=to, resume=Resume(keep=handles.append, handle=handles[-1]))
        assert content_of(to) == content_of(source)
        assert len(requests) < 600, "the blocks between the files, and archives of those that are missing"
