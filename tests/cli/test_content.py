"""Storing and reading back: JSON and messages, on the embedded node with no set-up at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pinui.ipfs.cid import Cid
from tests.cli.conftest import Run

UNKNOWN = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG"


@pytest.mark.parametrize("verb", ["retrieve", "download", "verify", "receive"])
def test_a_revoked_pin_that_nobody_has_is_said_to_be_revoked(call: Run, verb: str) -> None:
    cid = call("send", "alice", "hello").line
    assert call("revoke", cid, "--yes").code == 0
    ran = call(verb, cid)
    assert ran.code == 1
    assert "It was revoked just now, so local no longer keeps it." in ran.err


def test_the_first_thing_a_newcomer_types_works(run: Run) -> None:
    cid = run("store", '{"hello":"world"}').line
    assert cid == "QmNrEidQrAbxx3FzxNt9E6qjEDZrtvzxUVh47BXm55Zuen"
    assert run("retrieve", cid).out == '{"hello":"world"}\n'


def test_json_comes_from_a_file_or_a_pipe_and_goes_out_as_one_object(call: Run, here: Path) -> None:
    (here / "doc.json").write_text('{"a": [1, 2.0, "é"]}')
    cid = call("store", "@doc.json", "--name", "my doc").line
    told = json.loads(call("--json", "store", "-", stdin='{"a": [1, 2.0, "é"]}').line)
    assert told["cid"] == cid
    assert told["data"] == {"a": [1, 2, "é"]}
    assert told["size"] == len('{"a":[1,2,"é"]}')
    assert told["kind"] == "json"
    assert call("history", "--filter", "my doc").out.startswith(f"{cid}\t")


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (("store", '{"a": }'), "", "line 1, column 7"),
        (("store", "-"), '{\n "a": 1,\nx}', "line 3, column 1"),
        (("store", "-"), "  \n", "no JSON on stdin"),
        (("store", ""), "", "no JSON to store"),
        (("store", "{hello:world}"), "", "single quotes"),
        (("store", '{"n": 12345678901234567890}'), "", "$.n"),
        (("store", "@missing.json"), "", "missing.json: No such file"),
        (("store", "@"), "", "name of a file"),
        (("store", "NaN"), "", "NaN is not JSON"),
        (("retrieve", "nonsense"), "", "Invalid CID"),
        (("retrieve", " "), "", "Nothing was given"),
        (("retrieve", UNKNOWN), "", UNKNOWN),
        (("download", UNKNOWN), "", UNKNOWN),
        (("receive", UNKNOWN), "", UNKNOWN),
        (("send", "alice", " "), "", "empty"),
        (("send", " ", "hi"), "", "needs a recipient"),
        (("--profile", "nobody", "test"), "", "no profile “nobody”"),
    ],
)
def test_a_mistake_is_answered_with_a_sentence_and_leaves_no_row(
    call: Run, arguments: tuple[str, ...], stdin: str, words: str
) -> None:
    ran = call(*arguments, stdin=stdin)
    assert ran.code in (1, 2)
    assert ran.out == ""
    assert ran.err.startswith("pinui: ")
    assert words in ran.err
    assert len(ran.err.splitlines()) <= 2
    assert call("history").out == ""


def test_json_that_others_wrote_goes_into_a_pipe_as_it_is(call: Run) -> None:
    for text in ('{"n":123456789012345678901234567890,"s":"\\ud800"}', '{"s":"\\ud800"}'):
        cid = call("upload", "-", stdin=text).line.split("\t")[0]
        assert call("retrieve", cid).line == text


def test_a_file_that_is_given_as_json_gets_a_hint(call: Run, here: Path) -> None:
    (here / "doc.json").write_text("{}")
    assert "pinui store @doc.json" in call("store", "doc.json").err


def test_a_message_is_sent_and_received_by_its_cid(call: Run) -> None:
    cid = call("send", "alice", "See you at eight").line
    assert call("receive", cid).out == "See you at eight\n"
    sent = json.loads(call("send", "alice", "once more", "--json").line)
    assert (sent["data"]["recipientId"], sent["data"]["payload"]) == ("alice", "once more")
    assert sent["size"] == len(json.dumps(sent["data"], separators=(",", ":")))
    told = json.loads(call("receive", f"https://example.com/ipfs/{cid}?x=1", "--json").line)
    assert (told["recipientId"], told["payload"]) == ("alice", "See you at eight")
    rows = [json.loads(line) for line in call("history", "--json", "--kind", "message").out.splitlines()]
    assert [row["direction"] for row in rows] == ["sent", "received", "sent"], "received twice, kept once"
    assert call("send", "bob", "-", stdin="from a pipe\n").code == 0
    no_message = call("store", "[1]").line
    assert "not a message" in call("receive", no_message).err


def test_a_message_with_odd_text_is_shown_as_far_as_it_is_text(call: Run) -> None:
    cid = call("store", r'{"recipientId":"a\ud800","payload":"half \ud800 \udcff","timestamp":1}').line
    assert call("receive", cid).out == "half ? ?\n"
    assert json.loads(call("receive", cid, "--json").line)["payload"] == "half ? ?"
    assert len(call("history", "--direction", "received").out.splitlines()) == 1


def test_a_message_that_cannot_be_kept_is_shown_all_the_same(call: Run, own_home: Path) -> None:
    cid = call("store", '{"recipientId":"a","payload":"hello","timestamp":1e300}').line
    shown = call("receive", cid)
    assert (shown.code, shown.out) == (0, "hello\n")
    why = "it holds a number that cannot be written down exactly ($.timestamp)"
    assert shown.err == f"pinui: The message could not be kept in the history: {why}.\n"
    assert json.loads(call("receive", cid, "--json").out)["payload"] == "hello"
    good = call("send", "alice", "hi").line
    (own_home / "history.db").unlink()
    (own_home / "history.db").mkdir()
    shown = call("receive", good)
    assert (shown.code, shown.out) == (0, "hi\n")
    assert "history.db cannot be used" in shown.err


def test_revoking_goes_on_past_what_is_not_pinned(call: Run) -> None:
    first, second = call("store", "1").line, call("store", "2").line
    ran = call("revoke", first, UNKNOWN, second, "--yes")
    assert ran.code == 0
    assert ran.out.split() == [first, second]
    assert f"{UNKNOWN} is not pinned at local" in ran.err
    assert call("retrieve", first).code == 1
    states = {line.split("\t")[0]: line.split("\t")[4] for line in call("history").out.splitlines()}
    assert states == {first: "revoked", second: "revoked"}
    assert call("store", "1").line == first
    assert call("history", "--pinned").out.count(first) == 2


def test_a_cid_in_its_other_version_names_the_same_thing(call: Run, here: Path) -> None:
    (here / "cat.txt").write_text("cat")
    cid = call("upload", "cat.txt").line.split("\t")[0]
    other = str(Cid.parse(cid).spellings()[1])
    (here / "cat.txt").unlink()
    assert call("download", other).line == "cat.txt"
    assert call("revoke", other, "--yes").code == 0
    (row,) = [json.loads(line) for line in call("history", "--json").out.splitlines()]
    assert "revokedAt" in row
    assert call("revoke", cid, "--yes").code == 0
    assert json.loads(call("history", "--json").line) == row, "it was revoked once"
    assert call("history", "forget", other, "--yes").err == "1 row forgotten.\n"


def test_revoking_asks_and_without_somebody_to_ask_does_nothing(call: Run) -> None:
    cid = call("store", "1").line
    ran = call("revoke", cid, stdin="y\n")
    assert ran.code == 2
    assert "--yes" in ran.err
    assert call("retrieve", cid).code == 0


def test_revoking_takes_the_lines_that_upload_and_history_print(call: Run) -> None:
    cids = {call("store", str(number)).line for number in range(3)}
    ran = call("revoke", "-", "--yes", "--json", stdin=call("history").out)
    told = [json.loads(line) for line in ran.out.splitlines()]
    assert {one["cid"] for one in told} == cids
    assert all(one["wasPinned"] for one in told)


def test_one_wrong_cid_among_many_revokes_none(call: Run) -> None:
    cid = call("store", "1").line
    ran = call("revoke", cid, "nonsense", "--yes")
    assert ran.code == 1
    assert "“nonsense” is no CID, so nothing was done" in ran.err
    assert call("retrieve", cid).code == 0


def test_with_json_the_verdict_stands_beside_what_was_read(call: Run) -> None:
    cid = call("store", '{"a":1}').line
    told = json.loads(call("retrieve", f"ipfs://{cid}", "--json").line)
    assert told == {"cid": cid, "data": {"a": 1}, "verification": "verified"}
    told = json.loads(call("download", f"https://example.com/ipfs/{cid}?filename=a", "--json").line)
    assert (told["cid"], told["verification"]) == (cid, "verified")


def test_the_verbs_that_take_a_cid_take_it_from_a_pipe(call: Run, here: Path) -> None:
    cid = call("store", '{"a":1}', "--name", "a").line
    rows = call("history").out
    assert call("retrieve", "-", stdin=rows).out == '{"a":1}\n'
    assert call("download", "-", stdin=f"{cid}\n").line == "a"
    assert call("verify", "-", stdin=rows).out == f"verified\t{cid}\n"
    assert "One CID is wanted on stdin, not 0." in call("retrieve", "-").err
    assert call("history", "forget", "-", "--yes", stdin=rows).err == "1 row forgotten.\n"


@pytest.mark.skipif(os.name == "nt", reason="arguments are text there")
@pytest.mark.parametrize(
    "arguments", [("store", '"\udcff"'), ("send", "alice", "\udcff"), ("send", "\udcff", "hello")], ids=str
)
def test_bytes_that_are_no_text_are_refused_rather_than_changed(run: Run, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (1, "")
    assert "not UTF-8" in ran.err
    assert run("history").out == ""
