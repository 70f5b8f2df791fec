"""`pinui history`: find, export, import, forget."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pinui.workspace.history import HistoryFile
from tests.cli.conftest import Run
from tests.workspace.rows import START, cid, other_version, row


@pytest.fixture
def filled(own_home: Path) -> Path:
    with HistoryFile(own_home / "history.db") as history:
        history.add(row(1, name="cat.png", kind="file"), None)
        history.add(row(2, excerpt='{"colour":"red"}'), '{"colour":"red"}')
        message = '{"recipientId":"alice","payload":"two\\tlines\\nhere","timestamp":1}'
        history.add(row(3, kind="message", recipient="alice", excerpt="two\tlines\nhere", profile="work"), message)
        history.mark_revoked(cid(1), "local", START + 10)
    return own_home


def cids(out: str) -> list[str]:
    return [line.split("\t")[0] for line in out.splitlines()]


def test_rows_are_one_line_each_newest_first_with_the_whole_cid(run: Run, filled: Path) -> None:
    ran = run("history")
    assert cids(ran.out) == [cid(3), cid(2), cid(1)]
    when, *rest = ran.out.splitlines()[0].split("\t")[1:]
    assert when == "2023-11-14T22:13:20Z"
    assert rest == ["message", "7", "pinned", "work", "two lines"]
    assert ran.out.splitlines()[2].split("\t")[4] == "revoked"
    assert ran.err == ""


def test_a_row_is_one_line_and_names_no_other_pin_whatever_its_cid_holds(call: Run, own_home: Path) -> None:
    victim = call("store", "1").line
    with HistoryFile(own_home / "history.db") as history:
        for number, text in enumerate(
            (f"QmOdd\n{victim}", f"QmOdd\x85{victim}", f"QmOdd\r{victim}", f"QmOdd\t{victim}")
        ):
            history.add(row(number, cid=text), None)
    ran = call("history")
    assert len(ran.out.splitlines()) == 5
    assert "\r" not in ran.out
    assert [cid for cid in cids(ran.out) if cid in ("QmOdd", victim)] == [victim]
    odd = "".join(line for line in ran.out.splitlines(keepends=True) if line.startswith("QmOdd"))
    refused = call("revoke", "-", "--yes", stdin=odd)
    assert (refused.code, refused.out) == (1, "")
    assert "nothing was done" in refused.err
    assert call("retrieve", victim).line == "1"
    checked = call("verify", "--all")
    assert checked.out == f"verified\t{victim}\n"


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (["--filter", "cat"], [1]),
        (["--filter", "RED"], [2]),
        (["--filter", "nothing like it"], []),
        (["--kind", "message"], [3]),
        (["--revoked"], [1]),
        (["--pinned"], [3, 2]),
        (["--limit", "1"], [3]),
        (["--limit", "0"], []),
        (["--profile", "work"], [3]),
    ],
)
def test_options_narrow_the_list(call: Run, filled: Path, options: list[str], numbers: list[int]) -> None:
    assert cids(call("history", *options).out) == [cid(number) for number in numbers]


def test_an_export_comes_back_in_another_home_and_only_once(run: Run, filled: Path, here: Path, tmp_path: Path) -> None:
    assert run("history", "export", "backup.jsonl").err == "3 rows exported.\n"
    assert run("history", "export", "backup.jsonl").code == 1
    other = str(tmp_path / "other")
    assert run("history", "import", "backup.jsonl", PINUI_HOME=other).err == "3 rows added, 0 were there already.\n"
    again = run("history", "import", "backup.jsonl", "--json", PINUI_HOME=other)
    assert json.loads(again.line) == {"added": 0, "unchanged": 3, "bad": []}
    assert run("history", PINUI_HOME=other).out == run("history").out
    assert run("history", "export", "-", PINUI_HOME=other).out == (here / "backup.jsonl").read_text()
    assert len(run("history", "--kind", "file", "export", "-").out.splitlines()) == 1


def test_bad_lines_of_an_import_are_named_and_the_rest_is_kept(call: Run) -> None:
    good = json.dumps({"cid": cid(1), "timestamp": 1, "size": 1})
    ran = call("history", "import", "-", stdin=f"{good}\nnonsense\n")
    assert ran.code == 1
    assert "Line 2 was left out: it is not JSON" in ran.err
    assert "1 row added" in ran.err
    assert cids(call("history").out) == [cid(1)]


def test_a_time_beyond_all_times_is_refused_with_the_range(call: Run) -> None:
    line = json.dumps({"cid": cid(1), "timestamp": 2**60, "size": 1})
    ran = call("history", "import", "-", stdin=line)
    assert "“timestamp” should be a whole number from 0 to " in ran.err


@pytest.mark.skipif(os.name == "nt", reason="arguments are text there")
def test_words_that_are_no_text_find_names_that_are_none_and_no_profile(run: Run) -> None:
    assert run("store", "1", "--name", os.fsdecode(b"\xff\xfeabc")).code == 0
    assert len(run("history", "--filter", os.fsdecode(b"\xff\xfeabc")).out.splitlines()) == 1
    assert run("history", "--filter", os.fsdecode(b"\xffxyz")).out == ""
    for verb in (["history"], ["history", "import", "-"]):
        ran = run("--profile", os.fsdecode(b"\xff"), *verb)
        assert (ran.code, ran.err) == (1, "pinui: The profile is not UTF-8 text, so nothing was done.\n")


def test_a_name_that_is_empty_is_none(call: Run) -> None:
    assert "name" not in json.loads(call("store", "1", "--name", "", "--json").line)


def test_a_note_is_shown_found_and_taken_away(call: Run, filled: Path) -> None:
    assert call("history", "note", other_version(cid(2)), "for the fair").err == "1 row noted.\n"
    assert call("history", "--filter", "the fair").line.endswith("\tfor the fair")
    assert call("history", "note", cid(2), "", "--json").line == '{"noted": 1}'
    assert call("history", "--filter", "the fair").out == ""
    for arguments in ([cid(9), "nobody's"], [cid(2), "elsewhere", "--profile", "work"]):
        ran = call("history", "note", *arguments)
        assert (ran.code, ran.err) == (1, "pinui: No row of the history has this CID.\n")


def test_forgetting_needs_a_choice_and_a_yes(call: Run, filled: Path) -> None:
    assert call("history", "forget", "--yes").code == 2
    assert call("history", "forget", "--all", "--filter", "cat", "--yes").code == 2
    assert call("history", "forget", "--all").code == 2, "nobody to ask"
    assert call("history", "forget", "--filter", "no such thing", "--yes").err.startswith("No row matches")
    assert len(cids(call("history").out)) == 3
    assert call("history", "forget", cid(2), "--yes").err == "1 row forgotten.\n"
    assert call("history", "--filter", "cat", "forget", "--yes", "--json").line == '{"forgotten": 1}'
    assert cids(call("history").out) == [cid(3)]
    assert call("history", "forget", "--all", "--yes").code == 0
    assert call("history").out == ""


def test_a_newer_history_is_refused_politely(call: Run, filled: Path) -> None:
    with HistoryFile(filled / "history.db") as history:
        history.connection.execute("PRAGMA user_version = 99")
    ran = call("history")
    assert ran.code == 1
    assert "newer pinui" in ran.err
    assert "Upgrade" in ran.err
    stored = call("store", "{}")
    assert stored.code == 1, "what could not be remembered is not sent"
    assert "newer pinui" in stored.err
