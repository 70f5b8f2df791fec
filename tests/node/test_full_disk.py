"""A full disk: a plain answer, nothing lost, nothing left behind, and room again is room again."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from pinui.node import Node
from tests.node.conftest import client


def no_room(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "where", ["pinui.node.draft.os.writev", "pinui.node.draft.os.fsync", "pinui.node.store.sync_folder"]
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
        full.setattr("pinui.node.draft.os.writev", no_room)
        assert {pin(number) for number in range(1, 101)} == {507}
    assert len(list(Path("/dev/fd").iterdir())) < before + 50, "each thread of the node may have opened the index"
    assert len(list((node.data_dir / "drafts").iterdir())) == 1, "only the lock is left"
    assert pin(1) == 200


@pytest.mark.parametrize("path", ["/pinning/pinFileToIPFS", "/v3/files"])
def test_an_upload_larger_than_the_disk_is_refused_at_once(node: Node, path: str) -> None:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {node.token}\r\n"
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
