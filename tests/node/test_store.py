"""The data folder: shared by processes, cleaned after crashes, right when files are lost."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from pinui.ipfs.cid import Cid
from pinui.node import Node
from pinui.node.index import Index, Pin, PinQuery, Place
from pinui.node.store import PinStore
from pinui.node.uploads import MultipartUpload, store_json
from pinui.node.wire import Options
from tests.node.conftest import client


def test_pins_outlive_the_node_and_are_shared_by_nodes(tmp_path: Path) -> None:
    first, second = Node(tmp_path), Node(tmp_path)
    first.start()
    second.start()
    with client(first) as one, client(second) as two:
        cid = one.post("/pinning/pinJSONToIPFS", json={"pinContent": "shared"}).json()["IpfsHash"]
        assert two.get(f"/ipfs/{cid}").json() == "shared"
        assert two.post("/pinning/pinJSONToIPFS", json={"pinContent": "shared"}).json()["isDuplicate"]
        assert two.delete(f"/pinning/unpin/{cid}").text == "OK"
        assert one.get(f"/ipfs/{cid}").status_code == 404
        kept = two.post("/pinning/pinJSONToIPFS", json={"pinContent": "kept"}).json()["IpfsHash"]
    second.stop()
    first.stop()
    again = Node(tmp_path)
    again.start()
    with client(again) as api:
        assert api.get(f"/ipfs/{kept}").json() == "kept"
    again.stop()


MANY = """
import sys
from pathlib import Path
from pinui.node.store import PinStore
from pinui.node.uploads import store_json
from pinui.node.wire import Options
store = PinStore(Path(sys.argv[1]))
for n in range(40):
    store_json(store, f'"{sys.argv[2]} {n}"', Options())
    store_json(store, f'"both {n}"', Options())
store.close()
"""


def test_processes_write_to_one_folder_at_once(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", MANY, str(tmp_path), name]) for name in ("one", "two")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    store = PinStore(tmp_path)
    assert store.ask(Index.totals)[0] == 120
    pins = store.ask(lambda index: index.list(PinQuery(limit=1000)))
    assert {pin.car for pin in pins} == {path.name for path in (tmp_path / "pins").iterdir()}
    store.close()


def test_threads_share_transactions_and_each_gets_its_own_answer(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    answers: dict[int, tuple[str, bool]] = {}

    def pin(number: int) -> None:
        made, duplicate = store_json(store, f'"{number // 2}"', Options())
        answers[number] = (made.cid, duplicate)

    threads = [threading.Thread(target=pin, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.ask(Index.totals)[0] == 20
    assert sum(duplicate for _, duplicate in answers.values()) == 20
    assert all(answers[number][0] == answers[number + 1][0] for number in range(0, 40, 2))
    store.close()


def test_what_a_crash_left_is_cleaned_and_what_others_write_is_not(tmp_path: Path) -> None:
    living = PinStore(tmp_path)
    draft = living.draft(0)
    (tmp_path / "pins" / "orphan.car").write_bytes(b"a CAR without a row")
    (tmp_path / "drafts" / "dead.lock").write_bytes(b"")
    (tmp_path / "drafts" / "dead-1.car").write_bytes(b"half")
    (tmp_path / "drafts" / "older-1.car").write_bytes(b"half, and its lock is gone")
    newer = PinStore(tmp_path)
    assert not list((tmp_path / "pins").iterdir())
    assert draft.path.exists()
    assert len(list((tmp_path / "drafts").iterdir())) == 3, "two locks and the living draft"
    newer.close()
    living.close()
    assert not list((tmp_path / "drafts").iterdir())


def test_a_store_that_opens_while_another_cleans_up_is_not_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one is stopped before it locks its name, the other at the door, where it may have looked around already."""
    opened: dict[str, PinStore] = {}
    named, at_the_door, is_open = threading.Event(), threading.Event(), threading.Event()
    flock = fcntl.flock

    def slow_flock(fd: int, operation: int) -> None:
        alone = stat.S_ISDIR(os.fstat(fd).st_mode)
        if threading.current_thread().name == "opens" and not alone and not named.is_set():
            named.set()
            at_the_door.wait(60)
        if threading.current_thread().name == "cleans" and alone:
            at_the_door.set()
            is_open.wait(60)
        flock(fd, operation)

    def open_it() -> None:
        opened["opens"] = PinStore(tmp_path)
        is_open.set()

    def clean() -> None:
        named.wait(60)
        opened["cleans"] = PinStore(tmp_path)

    PinStore(tmp_path).close()
    with monkeypatch.context() as slow:
        slow.setattr("fcntl.flock", slow_flock)
        threads = [threading.Thread(target=open_it, name="opens"), threading.Thread(target=clean, name="cleans")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    draft = opened["opens"].draft(0)
    third = PinStore(tmp_path)
    assert draft.path.exists()
    for store in (*opened.values(), third):
        store.close()
    assert not list((tmp_path / "drafts").iterdir())


def test_a_pin_that_vanishes_while_it_is_read_is_missing_not_wrong(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        cid = api.post("/pinning/pinJSONToIPFS", json={"pinContent": "x"}).json()["IpfsHash"]
        [path] = (tmp_path / "pins").iterdir()
        whole = path.read_bytes()
        path.write_bytes(whole[:-1])
        short = api.get(f"/ipfs/{cid}")
        assert (short.status_code, "has lost a part" in short.text) == (404, True)
        path.unlink()
        assert api.get(f"/ipfs/{cid}").status_code == 404
        assert api.delete(f"/pinning/unpin/{cid}").text == "OK"
    node.stop()


def test_a_pin_whose_file_was_lost_comes_back_when_it_is_pinned_again(node: Node, api: httpx.Client) -> None:
    def pin() -> dict:
        return api.post("/pinning/pinJSONToIPFS", json={"pinContent": "x"}).json()

    cid = pin()["IpfsHash"]
    [path] = (node.data_dir / "pins").iterdir()
    path.unlink()
    assert api.get(f"/ipfs/{cid}").status_code == 404
    assert not pin()["isDuplicate"]
    assert api.get(f"/ipfs/{cid}").json() == "x"
    assert api.get("/data/userPinnedDataTotal").json()["pin_count"] == 1
    assert pin()["isDuplicate"]


@pytest.mark.parametrize("lost", [False, True])
def test_a_block_of_two_pins_is_there_when_one_goes_just_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    store = PinStore(tmp_path)

    def pin(filename: bytes) -> Pin:
        upload = MultipartUpload(store, b"b")
        head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="%s"' % filename
        upload.feed_all([head + b"\r\n\r\nshared\r\n--b--\r\n"])
        return upload.finish()[0]

    pins = {made.car: made.cid for made in (pin(b"x"), pin(b"folder/x"))}
    shared = Cid.parse(next(iter(pins.values())))
    find = Index.find
    found: list[str] = []

    def find_and_take_away(index: Index, digest: bytes, *, besides: str = "") -> Place | None:
        place = find(index, digest, besides=besides)
        assert place is not None
        found.append(place.car)
        if len(found) == 1:
            (tmp_path / "pins" / place.car).unlink() if lost else store.unpin(pins[place.car])
        return place

    monkeypatch.setattr(Index, "find", find_and_take_away)
    with store.reading() as blocks:
        assert b"shared" in blocks(shared)
    assert set(found) == pins.keys()
    store.close()
