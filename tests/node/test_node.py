"""A node as a part of a program: it starts, says where it is, and ends; what it can't use is a sentence."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import threading
from pathlib import Path

import httpx
import pytest

from pinui.node import Node, NodeError
from tests.node.conftest import PATIENCE, client


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


def test_a_folder_where_nothing_can_be_locked_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(NodeError, match="can't be used: No locks available"):
        Node(tmp_path).start()
    assert not list((tmp_path / "drafts").iterdir())
