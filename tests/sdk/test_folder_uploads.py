"""An upload of a folder takes what its owner sees: no hidden names and no links unless they are asked for."""

from __future__ import annotations

import asyncio
import os
import threading
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest
from aiohttp import web

from pinui import Client, LeftOut, PinProvider, PinuiError
from pinui.ipfs.importer import KUBO_V0
from pinui.node import Node
from pinui.sdk.writing import sources
from pinui.sdk.writing.folder_rules import FolderRules
from pinui.sdk.writing.sources import look_into
from tests.sdk.conftest import Setup
from tests.sdk.gateways import Listing, folder_of, honest
from tests.servers import settings_of


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        yield client


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a file, a secret, links out of it and folders without files."""
    (tmp_path / "secret").write_text("root:x:0:0")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b").write_text("b")
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("private")
    (home / "sub" / "empty" / "deeper").mkdir(parents=True)
    (home / "sub" / "a").write_text("a")
    (home / "sub" / ".env").write_text("KEY=1")
    (home / "passwd").symlink_to(tmp_path / "secret")
    (home / "sub" / "linked").symlink_to(tmp_path / "elsewhere")
    return home


EMPTY = 2
A, HIDDEN = {"sub/a": b"a"}, {".ssh/id_rsa": b"private", "sub/.env": b"KEY=1"}
LINKED = {"passwd": b"root:x:0:0", "sub/linked/b": b"b"}


@pytest.mark.parametrize(
    ("hidden", "follow_links", "files", "left_out"),
    [
        (False, False, A, LeftOut(hidden=2, links=2, empty_folders=EMPTY)),
        (True, False, A | HIDDEN, LeftOut(links=2, empty_folders=EMPTY)),
        (False, True, A | LINKED, LeftOut(hidden=2, empty_folders=EMPTY)),
        (True, True, A | HIDDEN | LINKED, LeftOut(empty_folders=EMPTY)),
    ],
)
async def test_hidden_names_and_links_go_up_only_when_asked_for(
    client: Client, home: Path, hidden: bool, follow_links: bool, files: dict[str, bytes], left_out: LeftOut
) -> None:
    record = await client.upload(home, hidden=hidden, follow_links=follow_links)
    assert record.cid == folder_of(files, KUBO_V0).cid
    assert record.verification == "verified"
    assert record.left_out == left_out
    assert record.size == sum(map(len, files.values()))
    contents = look_into(home, FolderRules(hidden, follow_links))
    assert {file.name: file.size for file in contents.files} == {name: len(data) for name, data in files.items()}
    assert (contents.size, contents.left_out) == (record.size, left_out)


async def test_a_provider_by_itself_leaves_them_out_too(client: Client, home: Path) -> None:
    assert isinstance(client.provider, PinProvider)
    assert (await client.provider.put_file(home)).cid == folder_of(A, KUBO_V0).cid


async def test_a_hidden_name_or_a_link_that_is_given_itself_is_taken(client: Client, home: Path) -> None:
    record = await client.upload(home / ".ssh")
    assert record.cid == folder_of({"id_rsa": b"private"}, KUBO_V0).cid
    assert record.left_out == LeftOut()
    assert (await client.upload(home / "sub" / "linked")).cid == folder_of({"b": b"b"}, KUBO_V0).cid
    assert (await client.upload(home / "passwd")).size == 10
    assert (await client.upload(home / "sub" / ".env")).size == 5


async def test_a_folder_of_which_nothing_is_left_is_an_error_that_says_why(client: Client, home: Path) -> None:
    (home / "sub" / "a").unlink()
    with pytest.raises(
        PinuiError, match=r"no files to upload \(left out: 2 hidden names, 2 links and 3 empty folders\)"
    ):
        await client.upload(home)
    with pytest.raises(PinuiError, match=r"holds no files to upload$"):
        await client.upload(home / "sub" / "empty" / "deeper")


@pytest.mark.parametrize("target", [".", "..", "../../home", "/", "loop"])
async def test_links_that_go_round_have_an_end(client: Client, home: Path, target: str) -> None:
    (home / "sub" / "loop").symlink_to(target if target != "/" else home)
    assert (await client.upload(home)).cid == folder_of(A, KUBO_V0).cid
    with pytest.raises((PinuiError, OSError), match="loop"):
        await client.upload(home, follow_links=True)


async def test_a_loop_through_another_folder_has_an_end(client: Client, home: Path) -> None:
    (home.parent / "elsewhere" / "back").symlink_to(home.parent)
    with pytest.raises(PinuiError, match="back"):
        await client.upload(home, follow_links=True)


async def test_one_folder_that_two_links_lead_to_is_no_loop(client: Client, home: Path) -> None:
    (home / "again").symlink_to(home.parent / "elsewhere")
    record = await client.upload(home, follow_links=True)
    assert record.cid == folder_of(A | LINKED | {"again/b": b"b"}, KUBO_V0).cid


async def test_a_link_to_nothing_is_left_out_or_told(client: Client, home: Path) -> None:
    (home / "dead").symlink_to("nowhere")
    assert (await client.upload(home)).left_out == LeftOut(hidden=2, links=3, empty_folders=EMPTY)
    with pytest.raises(FileNotFoundError, match="dead"):
        await client.upload(home, follow_links=True)


async def test_a_file_that_a_link_takes_the_place_of_is_not_followed(
    client: Client, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = sources.look_into

    def swapped(folder: Path, *rules: Any, **how: Any) -> object:
        contents = look(folder, *rules, **how)
        (home / "sub" / "a").unlink()
        (home / "sub" / "a").symlink_to(home.parent / "secret")
        return contents

    monkeypatch.setattr(sources, "look_into", swapped)
    with pytest.raises(PinuiError, match="changed"):
        await client.upload(home)


async def test_looking_into_a_folder_ends_when_the_upload_is_cancelled(
    client: Client, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    scanned: list[Path] = []
    scan, look = os.scandir, sources.look_into

    def slow(path: Path) -> object:
        scanned.append(path)
        looked.set()
        go_on.wait()
        return scan(path)

    def watched(*arguments: Any, **how: Any) -> object:
        try:
            return look(*arguments, **how)
        finally:
            ended.set()

    monkeypatch.setattr(os, "scandir", slow)
    monkeypatch.setattr(sources, "look_into", watched)
    task = asyncio.create_task(client.upload(home))
    await asyncio.to_thread(looked.wait)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    go_on.set()
    await asyncio.to_thread(ended.wait)
    assert scanned == [home]


# Previews of folders


@pytest.mark.parametrize("cid_version", [0, 1])
async def test_a_preview_tells_folders_from_files_with_their_sizes(tmp_path: Path, cid_version: Literal[0, 1]) -> None:
    folder = tmp_path / "album"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a").write_bytes(b"a" * 1000)
    (folder / "large").write_bytes(bytes(600_000))
    (folder / "small").write_bytes(b"12345")
    (folder / "nothing").write_bytes(b"")
    async with Node(tmp_path / "node") as node:
        settings = settings_of(node, cid_version=cid_version)
        async with await Client.init(**settings) as client:
            record = await client.upload(folder)
            entries = (await client.peek(record.cid)).entries or ()
    assert [(entry.name, entry.size, entry.is_folder) for entry in entries] == [
        ("large", 600_000, False),
        ("nothing", 0, False),
        ("small", 5, False),
        ("sub", None, True),
    ]
    (sub,) = [entry for entry in entries if entry.is_folder]
    assert 1000 <= (sub.declared or 0) < 1200


async def test_a_gateway_elsewhere_is_not_asked_for_every_entry(
    reading: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = folder_of({"sub/a": b"1", "b": b"2"}, KUBO_V0)
    gateway = EntityListing(content, car=honest, raw=honest)
    client = await reading(gateway)
    near = (await client.peek(content.cid)).entries or ()
    assert [entry.is_folder for entry in near] == [False, True]
    monkeypatch.setattr("pinui.sdk.reading.reader.is_loopback", lambda _host: False)
    gateway.asked.clear()
    far = (await client.peek(content.cid)).entries or ()
    assert [(entry.size, entry.is_folder) for entry in far] == [(None, None), (None, None)]
    assert all(entry.declared for entry in far)
    assert gateway.asked == ["plain", "car"]


class EntityListing(Listing):
    """Gives only the folder's own block, as `dag-scope=entity` asks for."""

    async def __call__(self, request: Any) -> Any:
        if "dag-scope" in request.query:
            self.asked.append("car")
            own = self.content.car(self.content.sections()[:1])
            return web.Response(body=own, headers={"Content-Type": self.car_type})
        return await super().__call__(request)


def test_a_walk_through_many_files_keeps_none_of_them(tmp_path: Path) -> None:
    for folder in range(40):
        (tmp_path / f"{folder:02}").mkdir()
        for number in range(100):
            (tmp_path / f"{folder:02}" / f"{number:02}.txt").touch()
    walk = sources.FolderWalk(tmp_path)
    tracemalloc.start()
    try:
        names = [None for _file in walk]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert walk.files == len(names) == 4000
    assert peak < 400_000, "about a hundred bytes for each"


async def test_small_files_go_out_together_and_the_folder_gets_its_cid(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    for number in range(600):
        path = folder / f"{number // 100}" / f"{number:03}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(300_000 if number == 250 else number))
    steps: list[int] = []
    record = await client.upload(folder, on_progress=lambda done, _total: steps.append(done))
    assert record.verification == "verified"
    assert steps[-1] == record.size == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert len(steps) < 10, "not a step for each file"
    async with client.stream(f"{record.cid}/5/599") as read:
        assert b"".join([piece async for piece in read]) == bytes(599)
