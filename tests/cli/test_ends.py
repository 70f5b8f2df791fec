"""How a verb ends before its time: signals, readers that go away, full disks, services that are away."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pinui.workspace.history import HistoryFile
from tests.cli.conftest import PINUI, Open, Run
from tests.node.conftest import PROMPTLY
from tests.workspace.rows import row

pytestmark = pytest.mark.slow

if sys.platform == "win32":
    pytest.skip("its signals and pipes are others", allow_module_level=True)


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
    assert shown.end() == 130
    assert "Interrupted." in shown.text
    assert "Traceback" not in shown.text
    assert "`pinui transfers resume`, or the same command again, goes on." in shown.text
    assert not (here / "copy.bin").exists()
    assert call("transfers", "forget").code == 0
    assert {path.name for path in here.iterdir()} == {"big.bin"}, "nothing is left of what was forgotten"


def test_ctrl_c_ends_the_threads_that_compute_cids(terminal: Open, here: Path) -> None:
    for name in ("one", "two", "three"):
        with (here / name).open("wb") as file:
            file.truncate(100_000_000_000)
    shown = terminal("cid", "one", "two", "three")
    shown.read_until("%")
    shown.process.send_signal(signal.SIGINT)
    assert shown.end() == 130
    assert "Interrupted." in shown.text
    assert "Traceback" not in shown.text


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
    out, err = process.communicate(timeout=60)
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


def test_narration_that_nobody_reads_changes_no_exit_code(environment: dict[str, str], here: Path) -> None:
    for arguments, code in ((["retrieve", "nonsense"], 1), (["history", "export", "a.jsonl"], 0)):
        reader, writer = os.pipe()
        os.close(reader)
        ran = subprocess.run(
            [PINUI, *arguments], env=environment, cwd=here, stdout=subprocess.PIPE, stderr=writer, check=False
        )
        os.close(writer)
        assert (ran.returncode, ran.stdout) == (code, b"")
    assert (here / "a.jsonl").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--version"], ["help"], ["store", "[]"], ["profile", "list"]], ids=str)
def test_a_full_disk_behind_stdout_is_a_sentence(environment: dict[str, str], arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run([PINUI, *arguments], env=environment, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ran.returncode == 1
    assert ran.stderr == b"pinui: stdout cannot be written: No space left on device.\n"


def test_an_export_to_a_full_disk_is_a_sentence_and_leaves_nothing(environment: dict[str, str], here: Path) -> None:
    with HistoryFile(Path(environment["PINUI_HOME"], "history.db")) as history:
        for number in range(100):
            history.add(row(number), None)
    (here / "out").mkdir()
    # A limit on the size of files refuses a write as a full disk does.
    script = f"ulimit -f 1; exec {PINUI} history export out/rows.jsonl"
    limited = environment | {"PYTHONDONTWRITEBYTECODE": "1"}  # it would be cut off as well
    ran = subprocess.run(["sh", "-c", script], env=limited, cwd=here, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, b"")
    assert ran.stderr == f"pinui: {here / 'out' / 'rows.jsonl'} cannot be written: File too large.\n".encode()
    assert list((here / "out").iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["history"], ["history", "--json"], ["history", "export", "-"]], ids=str)
def test_more_than_a_full_disk_takes_at_once_is_the_same_sentence(
    environment: dict[str, str], arguments: list[str]
) -> None:
    with HistoryFile(Path(environment["PINUI_HOME"], "history.db")) as history:
        for number in range(500):
            history.add(row(number), None)
    with open("/dev/full", "w") as full:
        ran = subprocess.run([PINUI, *arguments], env=environment, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ran.returncode == 1
    assert ran.stderr == b"pinui: stdout cannot be written: No space left on device.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_download_into_a_full_disk_is_the_same_sentence(call: Run, environment: dict[str, str], here: Path) -> None:
    (here / "big.bin").write_bytes(bytes(1_000_000))
    cid = call("upload", "big.bin").line.split("\t")[0]
    with open("/dev/full", "w") as full:
        command = [PINUI, "download", cid, "-o", "-"]
        ran = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ran.returncode == 1
    assert ran.stderr == b"pinui: stdout cannot be written: No space left on device.\n"


@pytest.fixture
def slow_service() -> Iterator[str]:
    """A service that asks everybody to wait, for longer than a test waits for an end."""

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(429)
            self.send_header("Retry-After", "85")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_pause_is_counted_down_and_can_be_ended(terminal: Open, slow_service: str, number: int) -> None:
    shown = terminal("store", "1", PINUI_API_URL=slow_service, PINUI_TOKEN="t", PINUI_GATEWAY_URL=slow_service)

    def counted(text: str) -> bool:  # a busy machine may leave out a second
        return len(set(re.findall(r"Waiting for the service: going on in (\d+) s", text))) > 2

    shown.read_until_true(counted, "three different seconds")
    shown.process.send_signal(number)
    assert shown.end() == 130
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


@pytest.mark.parametrize("arguments", [["store", "1"], ["node"]], ids=str)
def test_a_verb_says_that_it_waits_for_the_nodes_folder_and_obeys_ctrl_c(
    environment: dict[str, str], here: Path, arguments: list[str]
) -> None:
    folder = Path(environment["PINUI_HOME"], "node")
    folder.mkdir(parents=True)
    fd = os.open(folder, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)  # as another process would that is stopped in the middle of its work
    command = [PINUI, *arguments]
    with subprocess.Popen(command, env=environment, cwd=here, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line == f"Waiting for another process, which holds the node's folder {folder}.\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(PROMPTLY) == 130
        assert process.stderr.read() == "Interrupted.\n"
    os.close(fd)


def test_a_verb_says_that_the_nodes_index_was_repaired(call: Run, environment: dict[str, str]) -> None:
    cid = call("store", "[1]").line
    index = Path(environment["PINUI_HOME"], "node", "index.db")
    index.write_bytes(index.read_bytes()[:4096] + bytes(index.stat().st_size - 4096))
    ran = call("retrieve", cid)
    assert (ran.code, ran.out) == (0, "[1]\n")
    assert ran.err.startswith(f"The node's index {index} is damaged (it is kept as index.db.damaged-")
    assert ran.err.endswith("It is made again from the pins; their names are lost.\n")


def test_ctrl_c_in_a_bulk_revoke_leaves_a_report_and_the_same_command_goes_on(
    call: Run, terminal: Open, here: Path
) -> None:
    (here / "pictures").mkdir()
    for number in range(200):
        (here / "pictures" / f"picture-{number}.txt").write_text(f"picture {number}")
    call("upload", "-r", "pictures")
    shown = terminal("revoke", "--filter", "picture", "--yes")
    shown.read_until(" of 200")
    shown.process.send_signal(signal.SIGINT)
    assert shown.end() == 130
    stopped = re.search(r"Stopped: (\d+) revoked, .*?(\d+) left\. `pinui transfers resume`, or the same", shown.text)
    assert stopped is not None, shown.text
    again = call("revoke", "--filter", "picture", "--yes")
    assert again.code == 0
    assert int(stopped[1]) + int(stopped[2]) == 200
    assert "Going on with transfer" in again.err
    assert call("pins").out == ""
