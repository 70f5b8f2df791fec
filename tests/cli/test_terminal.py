"""On a terminal: questions, bars, indented JSON, and nothing from elsewhere that could steer it."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from pinui.workspace.history import HistoryFile
from tests.cli.conftest import Open, Run
from tests.workspace.rows import row

EVIL = "\x1b]52;c;ZXZpbA==\x07\x9b31m\u202egpj\x1b[2J"


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
    assert shown.end() == 0
    assert re.search(r"big\.bin +━*─+ +\d+%  \S+ .B of 400 MB", shown.text)
    assert re.search(r"MB/s  \d+ s left", shown.text)
    lines = shown.text.rstrip().splitlines()
    assert lines[-1].endswith("\tbig.bin"), "the bar is gone at the end"


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["cid", "verify"])
def test_hashing_and_checking_show_a_bar_too(call: Run, here: Path, terminal: Open, verb: str) -> None:
    with (here / "big.bin").open("wb") as file:
        file.truncate(400_000_000)
    what = "big.bin" if verb == "cid" else call("upload", "big.bin").line.split("\t")[0]
    shown = terminal(verb, what)
    assert shown.end() == 0
    assert re.search(r"━*─+ +\d+%  \S+ .B of 400 MB", shown.text)
    assert "%" not in shown.text.rstrip().splitlines()[-1], "the bar is gone at the end"


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
    none = terminal("history", "--limit", "0")
    assert (none.end(), none.text) == (0, ""), "it is not empty"


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


def test_a_cid_of_an_old_row_cannot_steer_the_terminal(own_home: Path, terminal: Open) -> None:
    with HistoryFile(own_home / "history.db") as history:
        history.add(row(1, cid=f"Qm{EVIL}"), None)
    for width in ("100", "140"):
        shown = terminal("history", TERM="dumb", COLUMNS=width)
        assert shown.end() == 0
        assert "Qm�" in shown.text
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", shown.text)


def test_bytes_are_not_poured_onto_a_terminal(call: Run, terminal: Open) -> None:
    cid = call("upload", "-", stdin=b"\xff\xfe\x00").line.split("\t")[0]
    shown = terminal("download", cid, "-o", "-")
    assert shown.end() == 1
    assert "cannot show" in shown.text


def test_more_than_anybody_reads_is_not_gathered_for_a_terminal(call: Run, here: Path, terminal: Open) -> None:
    (here / "long.txt").write_text("a line of many\n" * 2_000_000)
    cid = call("upload", "long.txt").line.split("\t")[0]
    shown = terminal("download", cid, "-o", "-")
    assert shown.end() == 1
    assert "too long for a terminal" in shown.text
    assert "a line of many" not in shown.text


def test_a_bar_fits_the_terminal_whatever_the_letters_of_a_name(here: Path, terminal: Open) -> None:
    with (here / f"{'長い名前' * 20}.bin").open("wb") as file:
        file.truncate(400_000_000)
    shown = terminal("upload", f"{'長い名前' * 20}.bin")
    shown.read_until("left")
    drawn = re.sub("\x1b\\[\\d*[A-Z]", "", shown.text)  # without the signs that clear the bar before
    bar = next(line for line in re.split("[\r\n]+", drawn) if line.endswith("left"))
    assert "…" in bar
    wide = len(re.findall("[\u4e00-\u9fff\u3040-\u30ff]", bar))
    assert len(bar) + wide < 100, "a bar that is broken into two lines would stay on the screen"
    shown.process.send_signal(signal.SIGINT)
    assert shown.end() == 130


def test_a_terminal_without_escape_codes_gets_no_bars(here: Path, terminal: Open) -> None:
    with (here / "big.bin").open("wb") as file:
        file.truncate(200_000_000)
    shown = terminal("upload", "big.bin", TERM="dumb")
    assert shown.end() == 0
    assert re.fullmatch(r"Qm\w{44}\tbig\.bin\r\n", shown.text.replace("        ", "\t"))


def test_a_size_with_a_b_behind_it_is_bytes(call: Run, terminal: Open) -> None:
    stored = json.loads(call("store", '"äöü"', "--json").line)
    shown = terminal("history")
    assert shown.end() == 0
    assert stored["size"] == 5  # characters, as the contract counts them
    assert " 8 B " in shown.text


@pytest.mark.parametrize("verb", ["upload", "cid", "history"])
def test_a_name_with_a_line_break_is_one_row_for_a_pipe_too(call: Run, here: Path, verb: str) -> None:
    other = call("store", "1").line
    name = f"evil\n{other}\t{EVIL}"
    (here / name).write_text("hello")
    rows = call("upload", name).out.splitlines()
    if verb != "upload":
        rows = call(verb, *([name] if verb == "cid" else ["--kind", "file"])).out.splitlines()
    assert all(row.count(other) == 1 and "\x1b" not in row for row in rows)
    assert not any(row.startswith(other) for row in rows)
