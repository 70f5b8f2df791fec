"""What clients can cost the node that have no token, ask nothing or don't read: memory and places are bounded."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.memory import peak_kib

MOST = 64 * 1024
"""KiB."""
SIZE = 15_000_000
"""Bytes of a file: more than the system takes for a client that doesn't read."""

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is told by /proc")


@dataclass
class Served:
    """A node in a process of its own."""

    pid: int
    url: str
    token: str

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False, verify=False)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    @contextmanager
    def growth_is_bounded(self) -> Iterator[None]:
        before = peak_kib(self.pid)
        yield
        grown = peak_kib(self.pid) - before
        assert grown < MOST, f"{grown // 1024} MiB"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A node that has done everything once: what it loads at first is not what a client costs."""
    command = [sys.executable, "-m", "pinui", "--json", "node", "--data", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        facts = json.loads(process.stdout.readline())
        served = Served(process.pid, facts["api_url"], facts["token"])
        with served.client() as api:
            cid = api.post("/pinning/pinJSONToIPFS", json={"pinContent": 1}).json()["IpfsHash"]
            api.post("/pinning/pinFileToIPFS", files={"file": ("x", bytes(3_000_000))})
            api.get(f"/ipfs/{cid}")
        yield served
        process.kill()


def read_all(connection: socket.socket) -> bytes:
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            answer += piece
    return answer


@pytest.mark.parametrize("header", ["", "Authorization: Bearer wrong\r\n"])
@pytest.mark.parametrize("path", ["/pinning/pinJSONToIPFS", "/pinning/pinFileToIPFS", "/data/pinList"])
def test_bodies_of_strangers_are_not_kept(served: Served, path: str, header: str) -> None:
    body = json.dumps({"pinContent": list(range(1_100_000))}).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}Content-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with served.growth_is_bounded():
        strangers = [served.connect() for _ in range(8)]
        for stranger in strangers:
            stranger.sendall(head.encode() + body[: len(body) // 2])
        for stranger in strangers:
            with contextlib.suppress(ConnectionError):
                stranger.sendall(body[len(body) // 2 :])
            assert read_all(stranger).startswith(b"HTTP/1.1 401")
            stranger.close()


HEADERS = b"".join(b"X-%d: %s\r\n" % (number, b"x" * 8000) for number in range(38))


@pytest.mark.parametrize(
    "beginning", [b"", b"GET / HTTP/1.1\r\nHost: 127", b"GET / HTTP/1.1\r\n" + HEADERS], ids=["none", "few", "many"]
)
def test_idle_connections_give_way_to_new_ones(served: Served, beginning: bytes) -> None:
    with served.growth_is_bounded(), contextlib.ExitStack() as idle:
        for _ in range(600):
            with contextlib.suppress(ConnectionError):  # too many headers are refused
                idle.enter_context(served.connect()).sendall(beginning)
        for _ in range(20):
            with served.client() as api:
                assert api.get("/data/testAuthentication").status_code == 200


def pin_file(api: httpx.Client) -> str:
    return api.post("/pinning/pinFileToIPFS", files={"file": ("x", os.urandom(SIZE))}).json()["IpfsHash"]


def pin_folder(api: httpx.Client) -> str:
    entries = [("file", (f"folder/{number:0200}", b"%d" % number)) for number in range(8000)]
    return api.post("/pinning/pinFileToIPFS", files=entries).json()["IpfsHash"] + "/"


@pytest.mark.parametrize(
    ("pin", "query", "count"),
    [
        (pin_file, "", 150),
        pytest.param(pin_file, "?format=car", 150, marks=pytest.mark.slow),
        pytest.param(pin_file, "?format=raw", 150, marks=pytest.mark.slow),
        pytest.param(pin_folder, "", 40, marks=pytest.mark.slow),
    ],
)
def test_readers_that_do_not_read_cost_little_and_keep_nobody_else_from_reading(
    served: Served, pin: Callable[[httpx.Client], str], query: str, count: int
) -> None:
    with served.client() as api:
        other = pin_file(api)
        path = f"/ipfs/{pin(api)}{query}"
        api.get(path)
        with served.growth_is_bounded(), contextlib.ExitStack() as readers:
            for _ in range(count):
                reader = readers.enter_context(served.connect())
                reader.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            assert len(api.get(f"/ipfs/{other}").content) == SIZE
            assert api.get("/data/testAuthentication").status_code == 200


@pytest.mark.slow
def test_a_reader_that_takes_its_time_gets_everything_while_nobody_needs_its_room(served: Served) -> None:
    data = os.urandom(20_000_000)
    with served.client() as api:
        cid = api.post("/pinning/pinFileToIPFS", files={"file": ("x", data)}).json()["IpfsHash"]
        with served.connect() as reader:
            reader.sendall(f"GET /ipfs/{cid} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            assert reader.recv(12) == b"HTTP/1.1 200"
            for _ in range(20):  # many others come and go meanwhile
                assert api.get(f"/ipfs/{cid}").content == data
            assert read_all(reader).endswith(data)
