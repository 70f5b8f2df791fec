"""An index that is damaged or gone: the pins' CARs hold everything but the names."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from pinui.node import Node
from pinui.node.errors import FolderBusy
from pinui.node.index import PinQuery
from pinui.node.lock import Patience
from pinui.node.store import PinStore
from pinui.node.uploads import store_json
from pinui.node.wire import Options
from tests.node.conftest import client

PAGE = 4096


def rubbish(index: Path) -> None:
    index.write_bytes(b"rubbish" * 1000)


def cut(index: Path) -> None:
    os.truncate(index, index.stat().st_size // 2)


def scratched(index: Path) -> None:
    """Everything but the first page overwritten, as a crash of the machine may leave it."""
    size = index.stat().st_size
    with index.open("r+b") as file:
        file.seek(4096)
        file.write(b"x" * (size - 4096))
    (index.parent / "drafts" / "dead.lock").write_bytes(b"")


@pytest.mark.parametrize("damage", [rubbish, cut, scratched, Path.unlink])
def test_a_damaged_index_is_made_again_from_the_pins(
    tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        api.post("/pinning/pinJSONToIPFS", json={"pinContent": {"a": 1}})
        folder = [("file", ("d/a.bin", os.urandom(600_000))), ("file", ("d/sub/b.txt", b"b"))]
        cid = api.post("/pinning/pinFileToIPFS", files=folder).json()["IpfsHash"]
        unpinned = api.post("/pinning/pinJSONToIPFS", json={"pinContent": "gone"}).json()["IpfsHash"]
        api.delete(f"/pinning/unpin/{unpinned}")
        before = api.get("/data/pinList", params={"status": "pinned"}).json()["rows"]
    node.stop()
    damage(tmp_path / "index.db")
    node.start()
    with client(node) as api:
        after = api.get("/data/pinList").json()["rows"]
        facts = ("ipfs_pin_hash", "size", "number_of_files", "mime_type")
        assert [[row[fact] for fact in facts] for row in after] == [[row[fact] for fact in facts] for row in before]
        assert {row["metadata"]["name"] for row in after} == {None}
        assert api.get(f"/ipfs/{cid}/a.bin").content == folder[0][1][1]
        assert api.get(f"/ipfs/{cid}/sub/b.txt").text == "b"
        assert api.delete(f"/pinning/unpin/{cid}").text == "OK"
    node.stop()
    aside = list(tmp_path.glob("index.db.damaged-*"))
    assert len(aside) == (damage is not Path.unlink)
    assert f"index.db is {f'damaged (it is kept as {aside[0].name})' if aside else 'gone'}" in caplog.text
    assert "It is made again from the pins; their names are lost." in caplog.text


def pin_some(folder: Path) -> dict[str, str]:
    """Pins in a folder, enough for an index of several pages: what each CID stands for."""
    store = PinStore(folder)
    texts = [f'"{number} {"x" * 200}"' for number in range(40)]
    pinned = {store_json(store, text, Options(name=f"pin {text[:4]}"))[0].cid: text for text in texts}
    store.close()
    return pinned


def pages(index: Path) -> range:
    return range(index.stat().st_size // PAGE)


def scratch(index: Path, page: int) -> None:
    with index.open("r+b") as file:
        file.seek(page * PAGE)
        file.write(b"\xa5" * PAGE)


def is_whole(node: Node, pinned: dict[str, str]) -> bool:
    """Whether each pin is listed and served, and new ones are taken."""
    with client(node) as api:
        added = api.post("/pinning/pinJSONToIPFS", json={"pinContent": "one more"})
        rows = api.get("/data/pinList", params={"pageLimit": 1000}).json()["rows"]
        groups = api.get("/v3/groups/public")
        group = api.get("/v3/groups/public/none")
        queue = api.get("/v3/files/public/pin_by_cid")
        request = api.delete("/v3/files/public/pin_by_cid/none")
        served = {cid: api.get(f"/ipfs/{cid}").text for cid in pinned}
    return (
        added.status_code == 200
        and (groups.status_code, group.status_code) == (200, 404)
        and (queue.status_code, request.status_code) == (200, 404)
        and served == pinned
        and {row["ipfs_pin_hash"] for row in rows} == {*pinned, added.json()["IpfsHash"]}
    )


def test_damage_to_any_page_is_found_at_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pinned = pin_some(tmp_path / "sound")
    assert len(pages(tmp_path / "sound" / "index.db")) > 5
    for page in pages(tmp_path / "sound" / "index.db"):
        folder = shutil.copytree(tmp_path / "sound", tmp_path / str(page))
        scratch(folder / "index.db", page)
        node = Node(folder)
        caplog.clear()
        node.start()
        assert "is made again" in caplog.text
        assert is_whole(node, pinned)
        node.stop()


@pytest.mark.slow
def test_damage_to_any_page_is_repaired_when_it_shows(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pinned = pin_some(tmp_path / "sound")
    for page in pages(tmp_path / "sound" / "index.db"):
        node = Node(shutil.copytree(tmp_path / "sound", tmp_path / str(page)))
        node.start()
        scratch(node.data_dir / "index.db", page)
        caplog.clear()
        assert is_whole(node, pinned)
        assert "is made again" in caplog.text
        node.stop()


def test_a_large_index_is_not_looked_through_at_each_start_and_repaired_when_damage_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pinned = pin_some(tmp_path)
    monkeypatch.setattr("pinui.node.recovery.SMALL", 0)
    scratch(tmp_path / "index.db", pages(tmp_path / "index.db")[-1])
    node = Node(tmp_path)
    node.start()
    assert "is made again" not in caplog.text
    assert is_whole(node, pinned)
    node.stop()


def test_an_index_that_is_deleted_under_a_running_node_is_made_again(tmp_path: Path) -> None:
    pinned = pin_some(tmp_path)
    node = Node(tmp_path)
    node.start()
    (tmp_path / "index.db").unlink()
    assert is_whole(node, pinned)
    node.stop()


def test_nodes_that_share_a_folder_go_on_with_the_index_that_one_of_them_made_again(tmp_path: Path) -> None:
    pinned = pin_some(tmp_path)
    nodes = [Node(tmp_path) for _ in range(3)]
    for node in nodes[:2]:
        node.start()
    with client(nodes[0]) as one, client(nodes[1]) as two:
        for api, text in ((one, "a"), (two, "b")):
            cid = api.post("/pinning/pinJSONToIPFS", json={"pinContent": text}).json()["IpfsHash"]
            pinned[cid] = f'"{text}"'
        for page in pages(tmp_path / "index.db"):
            scratch(tmp_path / "index.db", page)
        nodes[2].start()
        for api, text in ((two, "c"), (one, "d")):
            cid = api.post("/pinning/pinJSONToIPFS", json={"pinContent": text}).json()["IpfsHash"]
            pinned[cid] = f'"{text}"'
    assert all(is_whole(node, pinned) for node in nodes)
    for node in nodes:
        node.stop()
    assert len(list(tmp_path.glob("index.db.damaged-*"))) == 1


def test_an_index_that_cannot_be_made_again_is_told_to_the_client(
    node: Node, api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("pinui.node.store.make_again", fail)
    scratch(node.data_dir / "index.db", 0)
    answer = api.post("/pinning/pinJSONToIPFS", json={"pinContent": 1})
    assert answer.status_code == 500
    assert answer.json()["error"]["details"] == f"The node's index in {node.data_dir} can't be used: disk I/O error."


def test_a_node_that_is_stopped_gives_up_making_its_index_again(tmp_path: Path) -> None:
    pinned = pin_some(tmp_path)
    scratch(tmp_path / "index.db", 0)
    before = (tmp_path / "index.db").read_bytes()
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(FolderBusy, match="was stopped"):
        PinStore(tmp_path, Patience(tmp_path, stopped))
    assert (tmp_path / "index.db").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"index.db", "index.db-journal", "pins", "drafts"}
    node = Node(tmp_path)
    node.start()
    assert is_whole(node, pinned)
    node.stop()


def test_a_damaged_pin_is_put_aside_when_the_index_is_made_again(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    kept, _ = store_json(store, '"kept"', Options())
    for text in ('"cut"', '"changed"'):
        store_json(store, text, Options())
    store.close()
    by_text = {
        path.read_bytes().rpartition(b'"')[0].rpartition(b'"')[2]: path for path in (tmp_path / "pins").iterdir()
    }
    os.truncate(by_text[b"cut"], by_text[b"cut"].stat().st_size - 1)
    by_text[b"changed"].write_bytes(by_text[b"changed"].read_bytes().replace(b"changed", b"Changed"))
    (tmp_path / "index.db").unlink()
    store = PinStore(tmp_path)
    assert [pin.cid for pin in store.ask(lambda index: index.list(PinQuery()))] == [kept.cid]
    store.close()
    assert {path.name for path in tmp_path.glob("*.damaged")} == {
        f"{by_text[text].name}.damaged" for text in (b"cut", b"changed")
    }


ONE_MORE = """
import sys
from pathlib import Path
from pinui.node.store import PinStore
from pinui.node.uploads import store_json
from pinui.node.wire import Options
store = PinStore(Path(sys.argv[1]))
store_json(store, f'"from {sys.argv[2]}"', Options())
store.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize("damage", [rubbish, Path.unlink])
def test_of_processes_that_start_at_once_one_makes_the_index(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    store = PinStore(tmp_path)
    for number in range(10):
        store_json(store, f'"{number}"', Options())
    store.close()
    damage(tmp_path / "index.db")
    writers = [subprocess.Popen([sys.executable, "-c", ONE_MORE, str(tmp_path), name]) for name in "abcd"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    store = PinStore(tmp_path)
    pins = store.ask(lambda index: index.list(PinQuery(limit=100)))
    store.close()
    assert len(pins) == 14
    assert {pin.car for pin in pins} == {path.name for path in (tmp_path / "pins").iterdir()}
