"""`pinui node`: what a person and a script see."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

import httpx
import pytest

from pinui.node.line_writer import LineWriter
from tests.node.conftest import PROMPTLY
from tests.node.killing import KillLoop


@contextmanager
def running(*arguments: str, stderr: int | TextIO = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "pinui", *arguments]
    environment = os.environ | {"PYTHONUNBUFFERED": ""}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def first_object(process: subprocess.Popen[str]) -> dict[str, str]:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_it_says_where_it_listens_and_logs_each_request_without_the_token(tmp_path: Path) -> None:
    with running("node", "--data", str(tmp_path)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        shown: list[str] = []
        while "curl" not in (line := process.stdout.readline()):
            shown.append(line)
        text = "".join(shown)
        token = text.split("token")[1].split()[0]
        url = text.split("API")[1].split()[0]
        assert f"{url}/ipfs" in text
        assert token in line
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{url}/data/pinList?cid=x", headers=headers, trust_env=False, timeout=60).status_code == 200
        assert httpx.get(f"{url}/ipfs/%1B%5B31mx", trust_env=False, timeout=60).status_code == 400
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        assert process.wait(60) == 0
        assert time.monotonic() - began < PROMPTLY
        log = process.stderr.read().splitlines()
    assert len(log) == 2
    assert log[0].split()[1] == "200"
    assert log[0].endswith("GET     /data/pinList")
    assert log[1].endswith("/ipfs/%1B%5B31mx")
    assert token not in "".join(log)


def test_scripts_get_one_object_and_objects_as_log(tmp_path: Path) -> None:
    options = ("--data", str(tmp_path), "--token", "s3cret", "--rate-limit", "1")
    with running("--json", "node", *options) as process:
        facts = first_object(process)
        assert facts["token"] == "s3cret"
        assert facts["gateway_url"] == f"{facts['api_url']}/ipfs"
        headers = {"Authorization": "Bearer s3cret"}
        answers = [
            httpx.get(f"{facts['api_url']}/data/pinList", headers=headers, trust_env=False, timeout=60)
            for _ in range(2)
        ]
        assert [answer.status_code for answer in answers] == [200, 429]
        process.terminate()
        assert process.wait(60) == 0
        assert process.stderr is not None
        log = [json.loads(line) for line in process.stderr]
    assert [(line["method"], line["path"], line["status"]) for line in log] == [
        ("GET", "/data/pinList", 200),
        ("GET", "/data/pinList", 429),
    ]


def test_the_token_can_come_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("from-a-file\n")
    data = ("--data", str(tmp_path / "data"))
    monkeypatch.setenv("PINUI_NODE_TOKEN", "from-the-environment")
    for options, token in (
        ((), "from-the-environment"),
        (("--token-file", str(tmp_path / "token")), "from-a-file"),
        (("--token", "from-the-command-line"), "from-the-command-line"),
    ):
        with running("--json", "node", *data, *options) as process:
            facts = first_object(process)
            assert facts["token"] == token
            assert ask_often(facts, 1) == [200]
            seen = Path(f"/proc/{process.pid}/cmdline")
            assert not seen.exists() or (token.encode() in seen.read_bytes()) == ("--token" in options)
    monkeypatch.delenv("PINUI_NODE_TOKEN")
    with running("--json", "node", *data) as process:
        assert first_object(process)["token"].startswith("pinui_"), "none of them was remembered"


@pytest.mark.parametrize("content", [None, b"", b" \n", b"two words", b"two\nlines", b"\xff"])
def test_a_file_without_a_token_is_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "token").write_bytes(content)
    with running("node", "--data", str(tmp_path / "data"), "--token-file", str(tmp_path / "token")) as process:
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (1, "")
    assert f"{tmp_path / 'token'} {'cannot be read' if content is None else 'holds no token'}" in errors
    assert not (tmp_path / "data").exists()


def test_a_broken_form_is_one_line_in_the_log(tmp_path: Path) -> None:
    with running("--json", "node", "--data", str(tmp_path)) as process:
        facts = first_object(process)
        headers = {
            "Authorization": f"Bearer {facts['token']}",
            "Content-Type": "multipart/form-data; boundary=b",
        }
        url = f"{facts['api_url']}/pinning/pinFileToIPFS"
        assert httpx.post(url, headers=headers, content=b"rubbish", trust_env=False, timeout=60).status_code == 400
        process.terminate()
        assert process.wait(60) == 0
        assert process.stderr is not None
        [line] = [json.loads(line) for line in process.stderr]
    assert line["status"] == 400


def test_what_it_has_to_say_beside_its_requests_is_an_object_too(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(b"rubbish" * 1000)
    with running("--json", "node", "--data", str(tmp_path)) as process:
        first_object(process)
        process.terminate()
        assert process.wait(60) == 0
        assert process.stderr is not None
        [said] = [json.loads(line) for line in process.stderr]
    assert said["level"] == "warning"
    assert "made again" in said["message"]


def test_a_port_that_is_taken_is_a_sentence_and_exit_code_1(tmp_path: Path) -> None:
    with running("--json", "node", "--data", str(tmp_path / "one")) as process:
        port = first_object(process)["api_url"].rpartition(":")[2]
        with running("node", "--data", str(tmp_path / "two"), "--port", port) as other:
            output, errors = other.communicate(timeout=60)
            assert (other.returncode, output) == (1, "")
            assert errors == f"pinui: Port {port} is in use. Choose another one, or none for a free one.\n"


def ask_often(facts: dict[str, str], times: int) -> list[int]:
    headers = {"Authorization": f"Bearer {facts['token']}"}
    with httpx.Client(base_url=facts["api_url"], headers=headers, trust_env=False, timeout=60) as api:
        return [api.get("/data/testAuthentication").status_code for _ in range(times)]


@contextmanager
def full_pipe() -> Iterator[tuple[BinaryIO, TextIO, int]]:
    """A pipe that takes nothing more: whoever writes to it waits until somebody reads. And how much is in it."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    size = 0
    with suppress(BlockingIOError):
        while True:
            size += os.write(writer, b"x")
    os.set_blocking(writer, True)
    with open(reader, "rb") as reading, open(writer, "w") as writing:
        yield reading, writing, size


@pytest.mark.slow
def test_a_log_that_nobody_reads_stops_neither_the_answers_nor_the_end(tmp_path: Path) -> None:
    with full_pipe() as (_, log, _), running("--json", "node", "--data", str(tmp_path), stderr=log) as process:
        assert ask_often(first_object(process), 10) == [200] * 10
        process.terminate()
        began = time.monotonic()
        assert process.wait(60) == 0
        assert time.monotonic() - began < PROMPTLY


def test_of_lines_that_nobody_reads_only_so_many_are_kept_and_the_rest_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pinui.node.line_writer.MOST_WAITING", 10)
    with full_pipe() as (reader, log, size):
        lines = LineWriter(log, lambda lost: f"lost {lost}")
        for number in range(1000):
            lines.put(f"line {number}")
        reader.read(size)
        written = [reader.readline().strip() for _ in range(10)]
        lines.put("one more")  # there is room again
        lines.close()
        log.close()
        written += reader.read().splitlines()
    assert written[:9] == [f"line {number}".encode() for number in range(9)]
    assert len(written) <= 14, "ten may wait, one may be on its way; what is lost takes a line, too"
    assert written[-1] == b"one more"
    seen = 0
    for line in written[:-1]:  # each line is there, or counted where it would be
        what, number = line.split()
        assert what == b"lost" or int(number) == seen
        seen += int(number) if what == b"lost" else 1
    assert seen == 1000


def test_a_log_whose_reader_has_gone_leaves_the_answers_as_they_are(tmp_path: Path) -> None:
    with running("--json", "node", "--data", str(tmp_path)) as process:
        facts = first_object(process)
        assert process.stderr is not None
        process.stderr.close()
        assert ask_often(facts, 10) == [200] * 10
        process.terminate()
        assert process.wait(60) == 0


def test_every_line_of_the_log_is_written_before_the_end(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log, running("--json", "node", "--data", str(tmp_path), stderr=log) as process:
        ask_often(first_object(process), 50)
        process.terminate()
        assert process.wait(60) == 0
    assert len((tmp_path / "log").read_text().splitlines()) == 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment_it_has_whole_pins_or_none(tmp_path: Path, seed: int) -> None:
    """Two hundred kills; those of the history (`test_history_safety`) make them 285."""
    loop = KillLoop(tmp_path, rounds=50, seed=seed, least=50)
    loop.run()
    assert loop.acknowledged >= 50
    assert loop.kills >= 50


CALLS = [
    ("rename", 1),
    ("rename", 2),
    ("fsync", 9),
    ("fsync", 12),
    ("fdatasync", 3),
    ("fdatasync", 6),
    ("unlink", 1),
    ("unlink", 9),
]


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize(("call", "when"), CALLS)
def test_killed_at_a_system_call_it_has_whole_pins_or_none(tmp_path: Path, call: str, when: int) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not here: install strace to see this test")
    killed = (
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        f"trace={call}",
        "-e",
        f"inject={call}:signal=KILL:when={when}",
    )
    KillLoop(tmp_path, rounds=1, seed=1).run()
    loop = KillLoop(tmp_path, rounds=1, seed=1, before=killed)
    loop.run()
