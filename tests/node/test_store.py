"""The data folder: shared by processes, cleaned after crashes, right when the disk is full."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from pinui.node import Node, NodeError
from pinui.node.index import PinQuery
from pinui.node.store import PinStore
from pinui.node.uploads import store_json
from pinui.node.wire import Options
from tests.node.conftest import client


async def test_a_node_is_a_context(tmp_path: Path) -> None:
    async with Node(tmp_path / "new" / "folder") as node:
        assert node.gateway_url == f"{node.api_url}/ipfs"
        async with httpx.AsyncClient(trust_env=False, verify=False) as http:
            assert (await http.get(f"{node.gateway_url}/bafkqaaa")).status_code == 200
    assert node.token not in repr(node)
    with pytest.raises(httpx.ConnectError):
        async with httpx.AsyncClient(trust_env=False, verify=False) as http:
            await http.get(node.gateway_url)


async def test_a_node_whose_start_is_cancelled_does_not_stay(tmp_path: Path) -> None:
    for turns in range(4):
        node = Node(tmp_path)
        entering = asyncio.create_task(node.__aenter__())
        for _ in range(turns):
            await asyncio.sleep(0)
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("pinui-node")]


def test_an_index_that_cannot_be_opened_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "index.db").mkdir()
    with pytest.raises(NodeError, match=r"The index in .* can't be used"):
        Node(tmp_path).start()


async def longest_pause_of_the_loop(node: Node, data: bytes) -> float:
    """While `data` is uploaded: how long the caller's own loop stood still at worst, in seconds."""
    worst = 0.0
    done = asyncio.Event()

    async def watch() -> None:
        nonlocal worst
        loop = asyncio.get_running_loop()
        while not done.is_set():
            before = loop.time()
            await asyncio.sleep(0)
            worst = max(worst, loop.time() - before)

    def upload() -> None:
        with client(node) as api:
            answer = api.post("/pinning/pinFileToIPFS", files={"file": ("x", data)})
            assert answer.status_code == 200

    watching = asyncio.create_task(watch())
    await asyncio.to_thread(upload)
    done.set()
    await watching
    return worst


async def test_hashing_in_the_node_does_not_stall_the_callers_loop(tmp_path: Path) -> None:
    async with Node(tmp_path) as node:
        # A busy machine may stop any program for a moment; what the node does would show every time.
        pauses = [await longest_pause_of_the_loop(node, bytes([number]) * 30_000_000) for number in range(3)]
    assert min(pauses) < 0.25


def test_token_and_port_stay_with_the_folder(tmp_path: Path) -> None:
    first = Node(tmp_path)
    with pytest.raises(NodeError, match="no token before"):
        _ = first.token
    first.start()
    second = Node(tmp_path)
    second.start()
    assert second.token == first.token
    assert second.port != first.port, "the port is taken while the first one runs"
    second.stop()
    first.stop()
    again = Node(tmp_path)
    again.start()
    assert (again.port, again.token) == (first.port, first.token)
    again.stop()
    again.stop()
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    (tmp_path / "port").write_text("rubbish")
    (tmp_path / "token").write_text("")
    healed = Node(tmp_path)
    healed.start()
    assert len(healed.token) > 30
    healed.stop()


def test_a_token_can_be_given(tmp_path: Path) -> None:
    node = Node(tmp_path, token="my-own")
    node.start()
    with client(node) as api:
        assert api.get("/data/testAuthentication").status_code == 200
    node.stop()
    assert not (tmp_path / "token").exists()


def test_a_port_in_use_is_a_sentence(node: Node, tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=f"Port {node.port} is in use"):
        Node(tmp_path / "other", port=node.port).start()


def test_a_folder_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NodeError, match="file can't be used: it is a file"):
        Node(tmp_path / "file").start()
    with pytest.raises(NodeError, match="below can't be used: Not a directory"):
        Node(tmp_path / "file" / "below").start()


def test_a_folder_where_nothing_can_be_locked_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(NodeError, match="can't be used: No locks available"):
        Node(tmp_path).start()
    assert not list((tmp_path / "drafts").iterdir())


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
    assert store.index.totals()[0] == 120
    pins = store.index.list(PinQuery(limit=1000))
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
    assert store.index.totals()[0] == 20
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
        alone = operation == fcntl.LOCK_EX
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


def no_room(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "where", ["pinui.node.draft._write_all", "pinui.node.draft.os.fsync", "pinui.node.store.sync_folder"]
)
def test_a_full_disk_is_a_507_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        kept = api.post("/pinning/pinJSONToIPFS", json={"pinContent": "kept"}).json()["IpfsHash"]
        with monkeypatch.context() as full:
            full.setattr(where, no_room)
            for answer in (
                api.post("/pinning/pinJSONToIPFS", json={"pinContent": "lost"}),
                api.post("/pinning/pinFileToIPFS", files={"file": ("x", b"lost too")}),
            ):
                assert answer.status_code == 507
                assert answer.json()["error"]["reason"] == "INSUFFICIENT_STORAGE"
        assert api.get(f"/ipfs/{kept}").json() == "kept"
        assert api.get("/data/userPinnedDataTotal").json()["pin_count"] == 1
        assert api.post("/pinning/pinJSONToIPFS", json={"pinContent": "lost"}).status_code == 200
        assert len(list((tmp_path / "pins").iterdir())) == 2
    node.stop()


def test_a_disk_that_stays_full_costs_neither_files_nor_descriptors(
    node: Node, api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pin(number: int) -> int:
        return api.post("/pinning/pinJSONToIPFS", json={"pinContent": number}).status_code

    assert pin(0) == 200
    before = len(list(Path("/dev/fd").iterdir()))
    with monkeypatch.context() as full:
        full.setattr("pinui.node.draft._write_all", no_room)
        assert {pin(number) for number in range(1, 101)} == {507}
    assert len(list(Path("/dev/fd").iterdir())) < before + 50, "each thread of the node may have opened the index"
    assert len(list((node.data_dir / "drafts").iterdir())) == 1, "only the lock is left"
    assert pin(1) == 200


def test_an_upload_larger_than_the_disk_is_refused_at_once(node: Node) -> None:
    head = (
        f"POST /pinning/pinFileToIPFS HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {node.token}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {1 << 60}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", node.port), timeout=60) as connection:
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 507")


@pytest.mark.real
def test_a_disk_that_really_fills_up_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root may mount a small tmpfs here: run as root to see this test")
    node = Node(disk / "node")
    try:
        node.start()
        with client(node) as api:
            kept = api.post("/pinning/pinJSONToIPFS", json={"pinContent": "kept"}).json()["IpfsHash"]

            def parts():
                yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
                for _ in range(12):
                    yield os.urandom(1 << 20)
                yield b"\r\n--b--\r\n"

            headers = {"Content-Type": "multipart/form-data; boundary=b"}
            answer = api.post("/pinning/pinFileToIPFS", headers=headers, content=parts())
            assert answer.status_code == 507
            while api.post("/pinning/pinJSONToIPFS", json={"pinContent": os.urandom(50_000).hex()}).status_code == 200:
                pass
            assert api.get(f"/ipfs/{kept}").json() == "kept"
            count = api.get("/data/userPinnedDataTotal").json()["pin_count"]
        node.stop()
        again = Node(disk / "node")
        again.start()
        with client(again) as api:
            assert api.get("/data/userPinnedDataTotal").json()["pin_count"] == count
        again.stop()
    finally:
        node.stop()
        subprocess.run(["umount", str(disk)], check=True)
