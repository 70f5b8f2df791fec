"""A node as a part of a program: it starts, says where it is, and ends; what it can't use is a sentence."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import socket
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from pinui.node import Node, NodeError
from tests.locks import held_folder
from tests.node.conftest import PATIENCE, PROMPTLY, client


async def test_a_node_is_a_context(tmp_path: Path) -> None:
    async with Node(tmp_path / "new" / "folder") as node:
        assert node.gateway_url == f"{node.api_url}/ipfs"
        async with httpx.AsyncClient(trust_env=False, verify=False, timeout=PATIENCE) as http:
            assert (await http.get(f"{node.gateway_url}/bafkqaaa")).status_code == 200
    assert node.token not in repr(node)
    with pytest.raises(httpx.ConnectError):
        async with httpx.AsyncClient(trust_env=False, verify=False, timeout=PATIENCE) as http:
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


@pytest.mark.parametrize("rubbish", ["", "rubbish", "0", "65536", "9" * 5000, "\N{SNOWMAN}"])
def test_a_port_or_token_that_is_none_is_made_anew_once(tmp_path: Path, rubbish: str) -> None:
    (tmp_path / "port").write_text(rubbish, "utf-8")
    (tmp_path / "token").write_bytes(b"")
    known: set[tuple[int, str]] = set()
    for _ in range(3):
        node = Node(tmp_path)
        node.start()
        known.add((node.port, node.token))
        node.stop()
    [(port, token)] = known
    assert (tmp_path / "port").read_text() == str(port)
    assert len(token) > 30


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


@contextmanager
def held_index(folder: Path) -> Iterator[None]:
    """An index that another program keeps to itself."""
    other = sqlite3.connect(folder / "index.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        other.close()


@pytest.fixture
def told() -> Iterator[threading.Event]:
    """Set as soon as a node says that it waits."""
    event = threading.Event()

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("Waiting for another process, which holds the node's folder "):
                event.set()

    listener = Listener()
    logging.getLogger("pinui.node").addHandler(listener)
    yield event
    logging.getLogger("pinui.node").removeHandler(listener)


async def test_a_node_says_that_it_waits_for_its_folder_and_starts_as_soon_as_it_may(
    tmp_path: Path, told: threading.Event
) -> None:
    with held_folder(tmp_path) as fd:
        entering = asyncio.create_task(Node(tmp_path).__aenter__())
        assert await asyncio.to_thread(told.wait, 60)
        os.close(fd)
        node = await entering
    with client(node) as api:
        assert (await asyncio.to_thread(api.get, "/data/testAuthentication")).status_code == 200
    await asyncio.to_thread(node.stop)


@pytest.mark.parametrize("holding", [held_folder, held_index])
async def test_a_node_that_waits_for_its_folder_can_be_cancelled(
    tmp_path: Path, told: threading.Event, holding: Callable[[Path], AbstractContextManager[object]]
) -> None:
    async with Node(tmp_path):
        pass
    with holding(tmp_path):
        entering = asyncio.create_task(Node(tmp_path).__aenter__())
        assert await asyncio.to_thread(told.wait, 60)
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(entering, PROMPTLY)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pinui-node")]


@pytest.mark.parametrize("holding", [held_folder, held_index])
async def test_a_node_does_not_wait_for_its_folder_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holding: Callable[[Path], AbstractContextManager[object]]
) -> None:
    async with Node(tmp_path):
        pass
    monkeypatch.setattr("pinui.node.lock.LIMIT", 0.1)
    with holding(tmp_path), pytest.raises(NodeError, match=r"Another process has held the node's folder .* or end it"):
        Node(tmp_path).start()


@pytest.mark.parametrize("holding", [held_folder, held_index])
def test_a_request_that_has_to_wait_for_another_process_ends_in_a_sentence(
    node: Node,
    api: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    holding: Callable[[Path], AbstractContextManager[object]],
) -> None:
    with monkeypatch.context() as hurried, holding(node.data_dir):
        hurried.setattr("pinui.node.lock.LIMIT", 0.1)
        answer = api.post("/pinning/pinJSONToIPFS", json={"pinContent": 1})
        assert answer.status_code == 503
        assert "Another process has held the node's folder" in answer.json()["error"]["details"]
    assert api.post("/pinning/pinJSONToIPFS", json={"pinContent": 1}).status_code == 200


def test_a_node_is_stopped_at_once_while_a_request_waits_for_another_process(
    node: Node, api: httpx.Client, told: threading.Event
) -> None:
    def pin() -> None:
        with suppress(httpx.TransportError):
            api.post("/pinning/pinJSONToIPFS", json={"pinContent": 1})

    pinning = threading.Thread(target=pin)
    with held_folder(node.data_dir):
        pinning.start()
        assert told.wait(60)
        began = time.monotonic()
        node.stop()
        assert time.monotonic() - began < PROMPTLY
    pinning.join()
    assert not list((node.data_dir / "drafts").iterdir())


def test_an_index_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        api.post("/pinning/pinJSONToIPFS", json={"pinContent": 1})
        with sqlite3.connect(tmp_path / "index.db") as newer:
            newer.execute("ALTER TABLE pins ADD COLUMN later TEXT")
            newer.execute("PRAGMA user_version = 4")
        newer.close()
        (tmp_path / "pins" / "of a later version.car").write_bytes(b"")
        before = everything_in(tmp_path)
        answer = api.post("/pinning/pinJSONToIPFS", json={"pinContent": 2})
        assert answer.status_code == 500
        assert "index.db was written by a newer pinui" in answer.json()["error"]["details"]
    node.stop()
    (tmp_path / "drafts" / "dead.lock").write_bytes(b"")
    with pytest.raises(NodeError, match=r"index.db was written by a newer pinui .*Upgrade pinui; nothing was changed"):
        node.start()
    after = everything_in(tmp_path)
    assert after.pop("drafts/dead.lock") == b""
    assert after == {name: data for name, data in before.items() if not name.endswith(".lock")}


def everything_in(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def modes_below(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


def test_what_a_node_writes_is_for_its_owner_alone_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    seen: set[int] = set()
    sync = os.fsync

    def look_and_sync(fd: int) -> None:
        seen.update(modes_below(tmp_path))
        sync(fd)

    monkeypatch.setattr("os.fsync", look_and_sync)
    before = os.umask(0)
    try:
        node = Node(tmp_path)
        node.start()
        with client(node) as api:
            assert api.post("/pinning/pinJSONToIPFS", json={"pinContent": 1}).status_code == 200
        seen.update(modes_below(tmp_path))
        node.stop()
        (tmp_path / "index.db").chmod(0o644)
        (tmp_path / "index.db-journal").chmod(0o644)
        node.start()
        seen.update(modes_below(tmp_path))
        node.stop()
    finally:
        os.umask(before)
    assert seen == {0o600}


def test_a_folder_where_nothing_can_be_locked_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(NodeError, match="can't be used: No locks available"):
        Node(tmp_path).start()
    assert not list((tmp_path / "drafts").iterdir())


def test_connections_that_come_while_the_node_stops_are_closed(tmp_path: Path) -> None:
    """One that is left open is told as a warning, and a warning fails the test."""
    for number in range(5):
        node, stopped = Node(tmp_path / str(number)), threading.Event()
        node.start()
        knocking = threading.Thread(target=knock, args=(node.port, stopped))
        knocking.start()
        node.stop()
        stopped.set()
        knocking.join()
    gc.collect()


def knock(port: int, stopped: threading.Event) -> None:
    while not stopped.is_set():
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
