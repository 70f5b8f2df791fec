"""On a terminal: questions, bars, indented JSON, and nothing from elsewhere that could steer it."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("needs a pty", allow_module_level=True)

import pty

from pinui.workspace.history import HistoryFile
from tests.cli.conftest import PINUI, Run
from tests.workspace.rows import row

EVIL = "\x1b]52;c;ZXZpbA==\x07\x9b31m\u202egpj\x1b[2J"


class Terminal:
    """`pinui` on a pseudo-terminal of 100 × 30."""

    def __init__(self, environment: dict[str, str], folder: Path, *arguments: str) -> None:
        self.seen = b""
        self._master, slave = pty.openpty()
        os.set_blocking(self._master, False)
        import fcntl
        import struct
        import termios

        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.process = subprocess.Popen(
            [PINUI, *arguments],
            env=environment,
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def read_until(self, words: str, seconds: float = 30) -> str:
        """Everything shown up to these words."""
        return self.read_until_true(lambda text: words in text, words, seconds)

    def read_until_true(self, enough: Callable[[str], bool], what: str, seconds: float = 30) -> str:
        """Everything shown until it is enough."""
        deadline = time.monotonic() + seconds
        while not enough(self.text):
            assert time.monotonic() < deadline, f"{what!r} did not appear in {self.text!r}"
            if not self._read() and self.process.poll() is not None:
                self._read()
                assert enough(self.text), f"ended without {what!r}: {self.text!r}"
        return self.text

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self, seconds: float = 30) -> int:
        """Wait for the end, read the rest and return the exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still running: {self.text!r}"
            self._read()
        while self._read():
            pass
        os.close(self._master)
        return self.process.returncode

    @property
    def text(self) -> str:
        return self.seen.decode("utf-8", "replace")

    def _read(self) -> bool:
        if not select.select([self._master], [], [], 0.05)[0]:
            return False
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return False
        self.seen += piece
        return bool(piece)


Open = Callable[..., Terminal]


@pytest.fixture
def terminal(environment: dict[str, str], here: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def open_terminal(*arguments: str, **variables: str) -> Terminal:
        opened.append(Terminal(environment | {"TERM": "xterm-256color"} | variables, here, *arguments))
        return opened[-1]

    yield open_terminal
    for one in opened:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def test_json_is_indented_for_a_person(call: Run, terminal: Open) -> None:
    cid = call("store", '{"a":{"b":1}}').line
    shown = terminal("retrieve", cid)
    assert shown.end() == 0
    assert '{\r\n  "a": {\r\n    "b": 1' in shown.text


def test_revoking_asks_and_only_a_yes_is_a_yes(call: Run, terminal: Open) -> None:
    cid = call("store", "1").line
    asked = terminal("revoke", cid)
    assert cid in asked.read_until("[y/N]")
    asked.type("\n")
    assert asked.end() == 1
    assert "Nothing was revoked." in asked.text
    asked = terminal("revoke", cid)
    asked.read_until("[y/N]")
    asked.type("y\n")
    assert asked.end() == 0
    assert call("retrieve", cid).code == 1


def test_a_token_is_asked_for_without_being_shown(terminal: Open, own_home: Path) -> None:
    asked = terminal("profile", "add", "work", "--api-url", "http://127.0.0.1:9", "--no-test")
    asked.read_until("Token for work (it is not shown): ")
    asked.type("canary-token\n")
    assert asked.end() == 0
    assert "canary-token" not in asked.text
    assert "pinui profile use work" in asked.text
    assert "canary-token" not in (own_home / "config.toml").read_text()


def test_forgetting_asks(own_home: Path, terminal: Open, call: Run) -> None:
    with HistoryFile(own_home / "history.db") as history:
        history.add(row(1), None)
    asked = terminal("history", "forget", "--all")
    asked.read_until("Forget 1 row of the history for good?")
    asked.type("no\n")
    assert asked.end() == 1
    assert len(call("history").out.splitlines()) == 1


def test_an_upload_shows_a_bar_with_rate_and_leaves_only_its_line(here: Path, terminal: Open) -> None:
    with (here / "big.bin").open("wb") as file:
        file.truncate(400_000_000)
    shown = terminal("upload", "big.bin")
    assert shown.end(60) == 0
    assert re.search(r"big\.bin +━*─+ +\d+%  \S+ .B of 400 MB", shown.text)
    assert re.search(r"MB/s  \d+ s left", shown.text)
    lines = shown.text.rstrip().splitlines()
    assert lines[-1].endswith("\tbig.bin"), "the bar is gone at the end"


def test_a_history_fits_the_terminal_with_cids_cut_in_the_middle(own_home: Path, terminal: Open) -> None:
    with HistoryFile(own_home / "history.db") as history:
        for number in range(60):
            history.add(row(number, name=f"name {number} " * 20), None)
    shown = terminal("history")
    assert shown.end() == 0
    lines = re.sub(r"\x1b\[[0-9]*m", "", shown.text).splitlines()
    assert len(lines) == 51
    assert all(len(line) <= 100 for line in lines)
    assert "…" in lines[0]
    assert "10 more" in lines[-1]


@pytest.mark.parametrize("verb", ["history", "receive", "retrieve", "download"])
def test_text_from_elsewhere_cannot_steer_the_terminal(call: Run, terminal: Open, verb: str) -> None:
    import json

    cid = call(
        "store", json.dumps({"recipientId": EVIL, "payload": f"hello {EVIL}", "timestamp": 1}), "--name", EVIL
    ).line
    arguments = {"history": ["history"], "download": ["download", cid, "-o", "-"]}.get(verb, [verb, cid])
    shown = terminal(*arguments, TERM="dumb")  # no colours and no bars: every escape code would be somebody else's
    assert shown.end() == 0
    assert "�" in shown.text or "\\u001b" in shown.text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", shown.text)


def test_bytes_are_not_poured_onto_a_terminal(call: Run, terminal: Open) -> None:
    cid = call("upload", "-", stdin=b"\xff\xfe\x00").line.split("\t")[0]
    shown = terminal("download", cid, "-o", "-")
    assert shown.end() == 1
    assert "cannot show" in shown.text


@pytest.mark.parametrize("verb", ["upload", "download"])
def test_ctrl_c_ends_a_transfer_cleanly(call: Run, terminal: Open, here: Path, verb: str) -> None:
    with (here / "big.bin").open("wb") as file:
        file.truncate(600_000_000)
    arguments = ["upload", "big.bin"]
    if verb == "download":
        cid = call("upload", "big.bin").line.split("\t")[0]
        arguments = ["download", cid, "-o", "copy.bin"]
    shown = terminal(*arguments)
    shown.read_until("%")
    shown.process.send_signal(signal.SIGINT)
    assert shown.end(20) == 130
    assert "Interrupted." in shown.text
    assert "Traceback" not in shown.text
    assert {path.name for path in here.iterdir()} == {"big.bin"}


# `timeout` sends SIGTERM, a terminal that is closed SIGHUP; what a script starts with & ignores SIGINT.
@pytest.mark.parametrize(
    ("number", "shell"),
    [(signal.SIGINT, ""), (signal.SIGTERM, ""), (signal.SIGHUP, ""), (signal.SIGTERM, "trap '' INT;")],
)
def test_an_end_while_waiting_for_a_pipe_comes_at_once_and_leaves_nothing(
    environment: dict[str, str], here: Path, number: int, shell: str
) -> None:
    reader, writer = os.pipe()
    (here / "tmp").mkdir()
    process = subprocess.Popen(
        ["sh", "-c", f"{shell} exec {PINUI} upload -"],
        env=environment | {"TMPDIR": str(here / "tmp")},
        cwd=here,
        stdin=reader,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    os.close(reader)
    os.write(writer, b"x" * 200_000)  # more than a pipe holds: it is being read once this returns
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    os.close(writer)
    assert process.returncode == 130
    assert (out, err) == (b"", b"Interrupted.\n")
    assert list((here / "tmp").iterdir()) == []


def test_ctrl_c_before_a_verb_has_begun_is_no_traceback(call: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pinui.cli.grammar.build_parser", interrupt)
    ran = call("history")
    assert (ran.code, ran.out, ran.err) == (130, "", "Interrupted.\n")


def test_a_reader_that_has_enough_is_no_error(call: Run, environment: dict[str, str], here: Path) -> None:
    (here / "big.bin").write_bytes(b"0123456789" * 500_000)
    cid = call("upload", "big.bin").line.split("\t")[0]
    script = f"set -o pipefail; {PINUI} download {cid} -o - | head -c 4"
    ran = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, check=False)
    assert (ran.stdout, ran.stderr, ran.returncode) == (b"0123", b"", 0)
    script = f"set -o pipefail; {PINUI} history export - | head -c 1"
    ran = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, check=False)
    assert b"Traceback" not in ran.stderr
    assert b"Exception" not in ran.stderr


def test_a_verb_that_changes_something_does_not_succeed_without_its_reader(
    environment: dict[str, str], here: Path
) -> None:
    (here / "a").write_text("a")
    for arguments, code in ((["upload", "a", "a"], 1), (["cid", "a"], 0)):
        reader, writer = os.pipe()
        os.close(reader)
        ran = subprocess.run(
            [PINUI, *arguments], env=environment, cwd=here, stdout=writer, stderr=subprocess.PIPE, check=False
        )
        os.close(writer)
        assert ran.returncode == code
        assert (b"The reader of stdout has gone" in ran.stderr) == (code == 1)
        assert ran.stderr.count(b"\n") == code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--version"], ["help"], ["store", "[]"], ["profile", "list"]], ids=str)
def test_a_full_disk_behind_stdout_is_a_sentence(environment: dict[str, str], arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run([PINUI, *arguments], env=environment, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ran.returncode == 1
    assert ran.stderr == b"pinui: stdout cannot be written: No space left on device.\n"


@pytest.fixture
def slow_service() -> Iterator[str]:
    """A service that asks everybody to wait for half a minute."""

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(429)
            self.send_header("Retry-After", "30")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_bar_fits_the_terminal_whatever_the_letters_of_a_name(here: Path, terminal: Open) -> None:
    with (here / f"{'長い名前' * 20}.bin").open("wb") as file:
        file.truncate(400_000_000)
    shown = terminal("upload", f"{'長い名前' * 20}.bin")
    shown.read_until("left")
    bar = next(line for line in re.split("[\r\n]+", shown.text) if line.endswith("left"))
    assert "…" in bar
    wide = len(re.findall("[\u4e00-\u9fff\u3040-\u30ff]", bar))
    assert len(bar) + wide < 100, "a bar that is broken into two lines would stay on the screen"
    shown.process.send_signal(signal.SIGINT)
    assert shown.end(20) == 130


def test_a_terminal_without_escape_codes_gets_no_bars(here: Path, terminal: Open) -> None:
    with (here / "big.bin").open("wb") as file:
        file.truncate(200_000_000)
    shown = terminal("upload", "big.bin", TERM="dumb")
    assert shown.end(60) == 0
    assert re.fullmatch(r"Qm\w{44}\tbig\.bin\r\n", shown.text.replace("        ", "\t"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_pause_is_counted_down_and_can_be_ended(terminal: Open, slow_service: str, number: int) -> None:
    shown = terminal("store", "1", PINUI_API_URL=slow_service, PINUI_TOKEN="t", PINUI_GATEWAY_URL=slow_service)

    def counted(text: str) -> bool:  # a busy machine may leave out a second
        return len(set(re.findall(r"Waiting for the service: going on in (\d+) s", text))) > 2

    shown.read_until_true(counted, "three different seconds")
    shown.process.send_signal(number)
    assert shown.end(20) == 130
    assert "Traceback" not in shown.text


def test_what_ignores_ctrl_c_can_still_be_ended_while_it_waits_for_a_service(
    environment: dict[str, str], slow_service: str
) -> None:
    addresses = {"PINUI_API_URL": slow_service, "PINUI_GATEWAY_URL": slow_service, "PINUI_TOKEN": "t"}
    with subprocess.Popen(
        ["sh", "-c", f"trap '' INT; exec {PINUI} store 1"], env=environment | addresses, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"Waiting for the service: going on in ")
        process.terminate()
        assert process.stderr.read() == b"Interrupted.\n"
    assert process.returncode == 130
