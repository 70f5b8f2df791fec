"""A few blocks can declare any size: what the disk has no room for is refused before it is written."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from aiohttp import web

from pinui import ContentError
from pinui.ipfs.cid import Cid
from pinui.ipfs.dagpb import Link, encode_node
from pinui.ipfs.multihash import dag_pb_cid
from pinui.ipfs.unixfs import EMPTY_FOLDER
from pinui.sdk.reading import folder_writer
from tests.sdk.conftest import MakeClient, Setup
from tests.sdk.gateways import Content, FakeGateway
from tests.servers import serve
from tests.unit.test_unfolding import unfolding

ONCE = "application/vnd.ipld.car; version=1; order=dfs; dups=n"


def content_of(sections: list[tuple[Cid, bytes]]) -> Content:
    return Content(sections[0][0], b"", {cid.multihash: block for cid, block in sections}, is_folder=True)


class Unfolding(FakeGateway):
    """Sends each block once, as a gateway may: what links to it many times is unfolded by who reads it."""

    def __init__(self, content: Content) -> None:
        sent = content.car([(content.root, content.lookup(content.root)), *_others(content)])
        super().__init__(content, car=lambda _car: sent, car_type=ONCE)

    async def __call__(self, request: web.Request) -> web.Response:
        if request.query.get("format") == "car":
            self.asked.append("car")
            return web.Response(body=self.car(b"") if self.car else b"", headers={"Content-Type": self.car_type})
        return await super().__call__(request)


def _others(content: Content) -> list[tuple[Cid, bytes]]:
    return [(Cid(1, 0x70, 0x12, digest[2:]), block) for digest, block in content.blocks.items()][1:]


def folder(*entries: tuple[str, Cid, int]) -> tuple[Cid, bytes]:
    block = encode_node([Link(cid, name, size) for name, cid, size in entries], EMPTY_FOLDER)
    return dag_pb_cid((block,), 1), block


def bomb(levels: int, *, declared: int | None = None) -> Content:
    """A folder with one file: `1000 ** levels` times the same 256 KiB."""
    inner = unfolding(bytes(256 * 1024), 1000, levels)
    size = 1000**levels * 256 * 1024 if declared is None else declared
    return content_of([folder(("big", inner[0][0], size)), *inner])


def many(levels: int) -> Content:
    """Folders in folders: `10 ** levels` empty files from one block a level."""
    sections = unfolding(b"", 1, 0)
    for _ in range(levels):
        sections.insert(0, folder(*((str(number), sections[0][0], 0) for number in range(10))))
    return content_of(sections)


class Usage(NamedTuple):
    total: int
    used: int
    free: int


SetFree = Callable[[int], None]


@pytest.fixture
def set_free(monkeypatch: pytest.MonkeyPatch) -> SetFree:
    """`set_free(bytes)`: the disk has so much room, or tells nothing of it (-1)."""

    def set_to(free: int) -> None:
        usage = Usage(0, 0, 0) if free < 0 else Usage(10**15, 10**15 - free, free)
        monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)

    return set_to


@pytest.mark.parametrize("declared", [None, 0], ids=["honest", "its folder tells nothing of it"])
async def test_a_folder_larger_than_the_disk_is_refused_before_it_is_written(
    reading: Setup, tmp_path: Path, declared: int | None
) -> None:
    content = bomb(3, declared=declared)
    written: list[int] = []
    client = await reading(Unfolding(content))
    with pytest.raises(OSError, match="are free") as caught:
        await client.download(content.cid, to=tmp_path / "out", on_progress=lambda done, _total: written.append(done))
    assert caught.value.errno == errno.ENOSPC
    assert sum(written) == 0
    assert list(tmp_path.iterdir()) == []


async def test_small_files_count_with_the_room_that_each_takes(
    reading: Setup, tmp_path: Path, set_free: SetFree
) -> None:
    content = many(2)
    set_free(300_000)
    with pytest.raises(OSError, match="are free"):
        await (await reading(Unfolding(content))).download(content.cid, to=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    set_free(3_000_000)
    await (await reading(Unfolding(content))).download(content.cid, to=tmp_path / "out")
    assert len(list((tmp_path / "out").glob("*/*"))) == 100


async def test_the_number_of_entries_has_a_limit(
    reading: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_writer, "MOST_ENTRIES", 100)
    content = many(2)
    client = await reading(Unfolding(content))
    with pytest.raises(ContentError, match="more than 100 entries"):
        await client.download(content.cid, to=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


async def test_a_file_larger_than_the_disk_is_refused_before_it_is_fetched(
    make_client: MakeClient, tmp_path: Path, set_free: SetFree
) -> None:
    async def handler(_request: web.Request) -> web.Response:
        return web.Response(body=bytes(2000))

    cid = bomb(1).cid
    async with serve(handler) as (url, _seen):
        set_free(1999)
        with pytest.raises(OSError, match="2,000 bytes, and 1,999 are free"):
            await make_client(url).download(cid, to=tmp_path / "out")
        assert list(tmp_path.iterdir()) == []
        for free in (2000, -1):
            set_free(free)
            assert (await make_client(url).download(cid, to=tmp_path / "out")).stat().st_size == 2000
