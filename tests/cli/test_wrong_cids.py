"""A service that answers a CID which the bytes provably don't have: told with both CIDs, exit code 1, kept with a ✗."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.conftest import Run

WRONG = "QmNrEidQrAbxx3FzxNt9E6qjEDZrtvzxUVh47BXm55Zuen"  # of {"hello":"world"}


@pytest.fixture
def lying() -> Iterator[dict[str, str]]:
    class Lying(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"IpfsHash": WRONG, "PinSize": 1, "Timestamp": "2026-01-01T00:00:00Z"}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Lying) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"PINUI_API_URL": f"http://127.0.0.1:{server.server_port}", "PINUI_TOKEN": "token"}
        server.shutdown()


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        (["store", "[1,2]"], "QmRAovJ2krVgLNz2EkWPtqRuS13cJQMHZXcbNYx2ccyLae"),
        (["--json", "store", "[1,2]"], "QmRAovJ2krVgLNz2EkWPtqRuS13cJQMHZXcbNYx2ccyLae"),
        (["upload", "a.txt"], "QmPCCUC4HmXygNbJNbm7SQNiEaWiHWMGF7UVTZD9hWbnfX"),
        (["send", "alice", "hello"], "Qm"),
    ],
)
def test_a_wrong_cid_is_told_with_the_right_one(
    call: Run, here: Path, lying: dict[str, str], arguments: list[str], right: str
) -> None:
    (here / "a.txt").write_text("a text")
    ran = call(*arguments, **lying)
    assert (ran.code, ran.out) == (1, "")
    told = ran.err.split()
    assert f"{WRONG}," in told
    assert [word for word in told if word.startswith(right) and WRONG not in word]
    row = json.loads(call("history", "--json").line)
    assert (row["cid"], row["verification"]) == (WRONG, "mismatch")
    assert call("history").line.split("\t")[0] == WRONG


def test_other_files_go_up_all_the_same(call: Run, here: Path, lying: dict[str, str]) -> None:
    (here / "a.txt").write_text("a text")
    (here / "right.json").write_text('{"hello":"world"}')
    ran = call("upload", "a.txt", "right.json", **lying)
    assert (ran.code, ran.out) == (1, f"{WRONG}\tright.json\n")
    assert "1 of 2 failed" in ran.err
