"""An index that is damaged or gone: the pins' CARs hold everything but the names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pinui.node import Node
from pinui.node.index import PinQuery
from pinui.node.store import PinStore
from pinui.node.uploads import store_json
from pinui.node.wire import Options
from tests.node.conftest import client


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
def test_a_damaged_index_is_made_anew_from_the_pins(
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
    assert bool(aside) == ("made anew" in caplog.text)


def test_a_damaged_pin_is_put_aside_when_the_index_is_made_anew(tmp_path: Path) -> None:
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
    assert [pin.cid for pin in store.index.list(PinQuery())] == [kept.cid]
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
    pins = store.index.list(PinQuery(limit=100))
    store.close()
    assert len(pins) == 14
    assert {pin.car for pin in pins} == {path.name for path in (tmp_path / "pins").iterdir()}
