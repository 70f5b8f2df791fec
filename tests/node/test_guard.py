"""Who is let in, and what clients that misbehave can cost."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pinui.node import Node
from pinui.node.errors import ApiError
from pinui.node.guard import RateLimit
from tests.node.conftest import PROMPTLY, client


def talk(node: Node, data: bytes) -> bytes:
    """Send bytes and read until the node closes."""
    with socket.create_connection(("127.0.0.1", node.port), timeout=60) as connection:
        connection.sendall(data)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def still_answers(api: httpx.Client) -> bool:
    return api.get("/data/testAuthentication").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::2]", "localhost@x"]
)
def test_other_names_for_this_machine_are_refused(api: httpx.Client, host: str) -> None:
    for path in ("/data/testAuthentication", "/ipfs/bafkqaaa"):
        assert api.get(path, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:{port}", "127.0.0.1", "[::1]:{port}"])
def test_its_own_names_are_answered(api: httpx.Client, node: Node, host: str) -> None:
    assert api.get("/ipfs/bafkqaaa", headers={"Host": host.format(port=node.port)}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        "https://127.0.0.1:{port}",
        "http://[",
        "http://localhost:x",
    ],
)
def test_pages_of_other_origins_are_refused(api: httpx.Client, node: Node, origin: str) -> None:
    headers = {"Origin": origin.format(port=node.port)}
    for path in ("/data/testAuthentication", "/ipfs/bafkqaaa"):
        answer = api.get(path, headers=headers)
        assert answer.status_code == 403
        assert "Access-Control-Allow-Origin" not in answer.headers
    assert api.options("/pinning/pinJSONToIPFS", headers=headers).status_code == 403


def test_its_own_pages_are_answered(api: httpx.Client, node: Node) -> None:
    assert api.get("/ipfs/bafkqaaa", headers={"Origin": f"http://localhost:{node.port}"}).status_code == 200


def test_foreign_pages_may_link_here_but_not_embed(api: httpx.Client) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert api.get("/ipfs/bafkqaaa", headers=foreign | {"Sec-Fetch-Mode": "navigate"}).status_code == 200
    assert api.get("/ipfs/bafkqaaa", headers=foreign | {"Sec-Fetch-Mode": "no-cors"}).status_code == 403


@pytest.mark.parametrize("kind", ["iframe", "frame", "embed", "object"])
def test_foreign_pages_may_not_frame_what_is_here(api: httpx.Client, kind: str) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": kind}
    assert api.get("/ipfs/bafkqaaa", headers=foreign).status_code == 403
    assert api.get("/ipfs/bafkqaaa", headers=foreign | {"Sec-Fetch-Dest": "document"}).status_code == 200


def test_every_answer_refuses_to_be_framed_and_to_be_taken_for_something_else(api: httpx.Client) -> None:
    folder = [("file", ("d/a.html", b"<p>a")), ("file", ("d/sub/b.png", b"\x89PNG\r\n\x1a\n"))]
    cid = api.post("/pinning/pinFileToIPFS", files=folder).json()["IpfsHash"]
    page = api.get(f"/ipfs/{cid}/")
    answers = [
        page,
        *(api.get(f"/ipfs/{cid}/{path}") for path in ("a.html", "sub", "sub/", "sub/b.png", "missing")),
        api.get(f"/ipfs/{cid}/a.html", headers={"If-None-Match": "*"}),
        api.get(f"/ipfs/{cid}/", headers={"If-None-Match": page.headers["ETag"]}),
        *(api.get(f"/ipfs/{cid}", params={"format": kind}) for kind in ("raw", "car", "nonsense")),
        *(api.get(path) for path in ("/", "/favicon.ico", "/nothing", "/ipfs/x", "/data/pinList")),
        api.get("/data/pinList", headers={"Authorization": "Bearer wrong"}),
        api.get("/", headers={"Host": "evil.example"}),
    ]
    assert {answer.status_code for answer in answers} >= {200, 301, 304, 400, 401, 403, 404}
    for answer in answers:
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


HTML = b"<!doctype html><script>fetch('/data/pinList')</script>"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.html", HTML), ("a.xhtml", HTML), ("a", HTML), ("a.svg", SVG), ("a", SVG), ("a.xml", b"<?xml version='1.0'?>")],
)
def test_what_could_run_scripts_gets_an_origin_of_its_own(api: httpx.Client, name: str, content: bytes) -> None:
    cid = api.post("/pinning/pinFileToIPFS", files={"file": (name, content)}).json()["IpfsHash"]
    for headers in ({}, {"If-None-Match": f'"{cid}"'}, {"Range": "bytes=0-9"}):
        policy = api.get(f"/ipfs/{cid}", headers=headers).headers["Content-Security-Policy"]
        assert policy == "sandbox allow-scripts; frame-ancestors 'none'", "and not allow-same-origin"


def test_a_name_that_is_asked_for_does_not_lead_out_of_the_sandbox(api: httpx.Client) -> None:
    cid = api.post("/pinning/pinFileToIPFS", files={"file": ("a.txt", HTML)}).json()["IpfsHash"]
    assert "sandbox" not in api.get(f"/ipfs/{cid}").headers["Content-Security-Policy"]
    assert "sandbox" in api.get(f"/ipfs/{cid}", params={"filename": "a.html"}).headers["Content-Security-Policy"]


def test_a_site_in_its_sandbox_can_load_its_own_styles_and_pictures(api: httpx.Client, node: Node) -> None:
    """To a browser, a sandboxed page is of another site; that it comes from here is told by its address."""
    sandboxed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "style"}
    own = {"Referer": f"{node.gateway_url}/bafkqaaa/"}
    assert api.get("/ipfs/bafkqaaa", headers=sandboxed | own).status_code == 200
    assert api.get("/data/pinList", headers=sandboxed | own).status_code == 403
    assert api.post("/pinning/pinJSONToIPFS", headers=sandboxed | own, json={"pinContent": 1}).status_code == 403
    assert api.get("/ipfs/bafkqaaa", headers=sandboxed | own | {"Origin": "null"}).status_code == 403
    for referer in (
        "https://evil.example/",
        f"https://evil.example/{node.gateway_url}",
        f"{node.api_url}.evil.example",
    ):
        assert api.get("/ipfs/bafkqaaa", headers=sandboxed | {"Referer": referer}).status_code == 403


def test_only_loopback_is_listened_on(node: Node) -> None:
    assert node.api_url.startswith("http://127.0.0.1:")
    others = {str(address[4][0]) for address in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        if not address.startswith("127."):
            with pytest.raises(OSError):
                socket.create_connection((address, node.port), timeout=2)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"rubbish\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: " + b"x" * 20_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_bad_framing_and_huge_headers_are_refused(node: Node, api: httpx.Client, request_bytes: bytes) -> None:
    assert talk(node, request_bytes).startswith((b"HTTP/1.0 400", b"HTTP/1.1 400"))
    assert still_answers(api)


# Only the limit that a test is about is made short: a busy machine must not meet another one first.


@pytest.mark.parametrize("beginning", [b"", b"GET / HTTP/1.1\r\nHost: 127"])
def test_a_client_that_does_not_ask_is_let_go(
    node: Node, api: httpx.Client, monkeypatch: pytest.MonkeyPatch, beginning: bytes
) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr("pinui.node.connections.FIRST_REQUEST", 0.1)
        with socket.create_connection(("127.0.0.1", node.port), timeout=60) as connection:
            connection.sendall(beginning)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""
    assert still_answers(api)


def test_a_client_that_asks_no_more_is_let_go(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinui.node.connections.NEXT_REQUEST", 0.1)
    with socket.create_connection(("127.0.0.1", node.port), timeout=60) as connection:
        connection.sendall(b"GET /ipfs/bafkqaaa HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""


def test_an_upload_that_stalls_is_ended(node: Node, api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinui.node.body.STALLED", 0.2)
    head = (
        f"POST /pinning/pinJSONToIPFS HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {node.token}\r\n"
        "Content-Length: 100\r\n\r\n{"
    )
    with socket.create_connection(("127.0.0.1", node.port), timeout=60) as connection:
        connection.sendall(head.encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")
    monkeypatch.undo()
    assert still_answers(api)


def is_closed(connection: socket.socket) -> bool:
    """Whether the node has closed a connection, or does so now."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_the_longest_idle_connections_give_way_to_new_ones(
    node: Node, api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert still_answers(api)
    monkeypatch.setattr("pinui.node.connections.MOST_CONNECTIONS", 3)
    kept = [socket.create_connection(("127.0.0.1", node.port), timeout=60) for _ in range(6)]
    assert all(is_closed(connection) for connection in kept[:3])
    for connection in kept[3:]:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"
    assert still_answers(api)
    for connection in kept:
        connection.close()


def test_new_connections_are_turned_away_while_all_others_are_at_work(
    node: Node, api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cid = api.post("/pinning/pinFileToIPFS", files={"file": ("x", bytes(20_000_000))}).json()["IpfsHash"]
    api.close()
    monkeypatch.setattr("pinui.node.connections.MOST_CONNECTIONS", 3)
    at_work = [socket.create_connection(("127.0.0.1", node.port), timeout=60) for _ in range(3)]
    for connection in at_work:
        connection.sendall(f"GET /ipfs/{cid} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 200"
    with socket.create_connection(("127.0.0.1", node.port), timeout=60) as one_more:
        assert is_closed(one_more)
    for connection in at_work:
        assert connection.recv(12)
        connection.close()


def test_the_node_ends_at_once_mid_transfer(node: Node, api: httpx.Client) -> None:
    data = bytes(range(256)) * 40_000
    cid = api.post("/pinning/pinFileToIPFS", files={"file": ("x", data)}).json()["IpfsHash"]
    reading = socket.create_connection(("127.0.0.1", node.port), timeout=60)
    reading.sendall(f"GET /ipfs/{cid} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    assert reading.recv(100)
    writing = socket.create_connection(("127.0.0.1", node.port), timeout=60)
    head = (
        f"POST /pinning/pinFileToIPFS HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {node.token}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000000\r\nExpect: 100-continue\r\n\r\n"
    )
    writing.sendall(head.encode())
    assert writing.recv(100).startswith(b"HTTP/1.1 100 Continue")
    writing.sendall(b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n' + bytes(3_000_000))
    began = time.monotonic()
    node.stop()
    assert time.monotonic() - began < PROMPTLY
    assert not list((node.data_dir / "drafts").iterdir())
    reading.close()
    writing.close()


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_the_node_ends_at_once_while_it_reads_an_upload_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options behind the file ask for another CID version: all of it is imported once more, which takes its time."""
    under_way, never = threading.Event(), threading.Event()

    def slowly(*_: object) -> Iterator[bytes]:
        for _time in range(300):
            under_way.set()
            never.wait(0.2)
            yield bytes(1024 * 1024)

    before = open_files()
    node = Node(tmp_path)
    node.start()

    monkeypatch.setattr("pinui.node.uploads.read_file", slowly)
    body = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\ncontent\r\n'
        b'--b\r\nContent-Disposition: form-data; name="pinataOptions"\r\n\r\n{"cidVersion": 1}\r\n--b--\r\n'
    )
    head = (
        f"POST /pinning/pinFileToIPFS HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {node.token}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", node.port), timeout=60) as connection:
        connection.sendall(head.encode() + body)
        assert under_way.wait(60)
        began = time.monotonic()
        node.stop()
        assert time.monotonic() - began < PROMPTLY
    assert open_files() <= before
    assert not list((node.data_dir / "drafts").iterdir())
    assert not list((node.data_dir / "pins").iterdir())


def test_an_upload_without_the_token_is_refused_before_it_is_sent(node: Node) -> None:
    head = (
        "POST /pinning/pinFileToIPFS HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000000\r\nExpect: 100-continue\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", node.port), timeout=60) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 401")


def test_the_rate_is_counted_by_the_minute() -> None:
    now = 1000.0
    limit = RateLimit(2, lambda: now)
    assert limit.take()["X-RateLimit-Remaining"] == "1"
    assert limit.take()["X-RateLimit-Reset"] == "1060"
    now = 1030.5
    with pytest.raises(ApiError) as refused:
        limit.take()
    assert refused.value.headers["Retry-After"] == "30"
    now = 1060.0
    assert limit.take()["X-RateLimit-Remaining"] == "1"


# Pages that are allowed


@pytest.fixture
def open_node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path / "open", allow_origins=["http://localhost:5173"])
    node.start()
    yield node
    node.stop()


def test_a_page_under_development_may_use_the_node(open_node: Node) -> None:
    page = {"Origin": "http://localhost:5173", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
    with client(open_node) as api:
        answer = api.post("/pinning/pinJSONToIPFS", json={"pinContent": 1}, headers=page)
        assert answer.headers["Access-Control-Allow-Origin"] == "http://localhost:5173"
        assert "Upload-Cid" in answer.headers["Access-Control-Expose-Headers"]
        read = api.get(f"/ipfs/{answer.json()['IpfsHash']}", headers=page)
        assert (read.text, read.headers["Access-Control-Allow-Origin"]) == ("1", "http://localhost:5173")
        missing = api.get("/ipfs/bafkqaaa/nothing", headers=page)
        assert missing.headers["Access-Control-Allow-Origin"] == "http://localhost:5173", "errors can be read, too"
        picture = {"Referer": "http://localhost:5173/page", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        assert api.get(f"/ipfs/{answer.json()['IpfsHash']}", headers=picture).status_code == 200


def test_a_browser_that_asks_first_is_answered_without_a_token(open_node: Node) -> None:
    asking = {"Origin": "http://localhost:5173", "Access-Control-Request-Headers": "authorization,upload-offset"}
    with client(open_node, with_token=False) as anyone:
        answer = anyone.options("/v3/files", headers=asking)
        assert answer.status_code == 204
        assert answer.headers["Access-Control-Allow-Headers"] == "authorization,upload-offset"
        assert "PATCH" in answer.headers["Access-Control-Allow-Methods"]


def test_other_pages_stay_out_of_an_opened_node(open_node: Node) -> None:
    with client(open_node) as api:
        for origin in ("http://localhost:5174", "https://localhost:5173", "null", "http://localhost:5173.evil.example"):
            answer = api.get("/data/testAuthentication", headers={"Origin": origin})
            assert answer.status_code == 403
            assert "Access-Control-Allow-Origin" not in answer.headers
            assert api.options("/v3/files", headers={"Origin": origin}).status_code == 403


def test_every_page_can_be_allowed(tmp_path: Path) -> None:
    node = Node(tmp_path, allow_origins=["*"])
    node.start()
    with client(node, with_token=False) as anyone:
        answer = anyone.get("/ipfs/bafkqaaa", headers={"Origin": "https://any.example"})
        assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, "*")
    node.stop()


@pytest.mark.parametrize("origin", ["localhost:5173", "http://localhost/page", "", "ftp://x"])
def test_what_is_no_origin_is_refused_with_a_sentence(tmp_path: Path, origin: str) -> None:
    with pytest.raises(ValueError, match="An origin is written like"):
        Node(tmp_path, allow_origins=[origin])


def test_a_head_of_more_than_32_kib_is_refused_before_it_is_complete(node: Node) -> None:
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"x" * 4000) for number in range(10))
    first = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    for before in (b"", first + b"\r\n", first + lines[:28_000] + b"\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", node.port), timeout=60) as connection:
            if before:
                connection.sendall(before)
                assert connection.recv(65536).startswith(b"HTTP/1.1 200")
            connection.sendall(first + lines)
            assert connection.recv(65536).startswith(b"HTTP/1.1 431")
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""


def test_a_body_is_no_head(node: Node, api: httpx.Client) -> None:
    with client(node, with_token=False) as stranger:
        for _ in range(3):
            assert stranger.post("/pinning/pinFileToIPFS", content=bytes(400_000)).status_code == 401
    for _ in range(3):
        assert api.post("/pinning/pinJSONToIPFS", json={"pinContent": "x" * 400_000}).status_code == 200
