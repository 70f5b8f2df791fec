"""Storing and reading back: JSON, files, messages, on the embedded node with no set-up at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pinui.ipfs.cid import Cid
from tests.cli.conftest import Run

UNKNOWN = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG"


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
        (("store", "-"), '{\n "a": 1,\n}', "line 3, column 1"),
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


def test_files_and_folders_go_up_and_come_down_the_same(run: Run, here: Path) -> None:
    (here / "cat.png").write_bytes(os.urandom(700_000))
    (here / "notes" / "deep").mkdir(parents=True)
    (here / "notes" / "a.txt").write_text("one\n")
    (here / "notes" / "deep" / "b.txt").write_text("two\n")
    up = run("upload", "cat.png", "notes")
    assert up.code == 0
    (picture, path), (folder, path2) = (line.split("\t") for line in up.out.splitlines())
    assert (path, path2) == ("cat.png", "notes")
    assert run("download", picture, "-o", "copy.png").line == "copy.png"
    assert (here / "copy.png").read_bytes() == (here / "cat.png").read_bytes()
    assert run("download", f"{folder}/deep/b.txt").line == "b.txt"
    assert (here / "b.txt").read_text() == "two\n"
    in_the_way = run("download", folder)
    assert (in_the_way.code, in_the_way.out) == (1, "")
    assert "The folder notes is in the way" in in_the_way.err
    assert run("download", folder, "-o", "copy").line == "copy"
    files = {path.relative_to(here / "copy").as_posix(): path.read_text() for path in (here / "copy").rglob("*.txt")}
    assert files == {"a.txt": "one\n", "deep/b.txt": "two\n"}


def test_each_file_by_itself(call: Run, here: Path) -> None:
    (here / "notes" / "deep").mkdir(parents=True)
    for name in ("a", "b", "deep/c"):
        (here / "notes" / name).write_text(name)
    ran = call("upload", "-r", "notes", "--json")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["path"] for row in rows] == ["notes/a", "notes/b", "notes/deep/c"]
    assert len({row["cid"] for row in rows}) == 3


def test_a_link_to_a_file_goes_up_under_its_own_name(call: Run, here: Path) -> None:
    (here / "target-17.png").write_text("cat")
    (here / "cat.png").symlink_to("target-17.png")
    told = json.loads(call("upload", "cat.png", "--json").line)
    assert told["name"] == "cat.png"
    assert json.loads(call("upload", ".", "--json").line)["name"] == here.name


def test_a_name_is_for_one_file(call: Run, here: Path) -> None:
    (here / "two").mkdir()
    for name in ("a", "b"):
        (here / "two" / name).write_text(name)
    for arguments in (["-r", "two"], ["two/a", "two/b"]):
        ran = call("upload", *arguments, "--name", "same")
        assert (ran.code, ran.out) == (2, "")
        assert "--name is for one" in ran.err
    assert call("history").out == ""
    assert json.loads(call("upload", "two", "--name", "both", "--json").line)["name"] == "both"


def test_a_link_to_a_folder_is_not_passed_over(call: Run, here: Path) -> None:
    (here / "elsewhere").mkdir()
    (here / "notes").mkdir()
    (here / "notes" / "link").symlink_to("../elsewhere")
    sentence = "pinui: notes/link is a link to a folder; upload what it points to by itself.\n"
    for options in (["-r"], []):
        ran = call("upload", *options, "notes")
        assert (ran.code, ran.out, ran.err) == (1, "", sentence)
    (here / "notes" / "a").write_text("a")
    ran = call("upload", "-r", "notes")
    assert (ran.code, ran.err) == (1, f"{sentence}pinui: 1 of 2 could not be uploaded.\n")
    assert ran.out.endswith("\tnotes/a\n")


def test_a_folder_that_may_not_be_read_is_not_passed_over(
    call: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "notes" / "closed").mkdir(parents=True)
    (here / "notes" / "a").write_text("a")
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)  # root could read everything
    ran = call("upload", "-r", "notes")
    assert ran.code == 1
    assert ran.out.endswith("\tnotes/a\n")
    assert "pinui: notes/closed: Permission denied." in ran.err


def test_many_files_go_up_several_at_once_and_come_out_in_order_past_a_failure(call: Run, here: Path) -> None:
    names = [f"file {number}" for number in range(25)]
    for name in names:
        (here / name).write_text(name)
    ran = call("upload", *names[:10], "missing", *names[10:])
    assert ran.code == 1
    assert [line.split("\t")[1] for line in ran.out.splitlines()] == names
    assert ran.err == "pinui: missing: there is no such file.\npinui: 1 of 26 could not be uploaded.\n"
    assert len(call("history").out.splitlines()) == 25


def test_a_pipe_goes_up_under_a_name_and_comes_down_into_a_pipe(call: Run) -> None:
    data = os.urandom(300_000)
    cid, path = call("upload", "-", "--name", "blob.bin", stdin=data).line.split("\t")
    assert path == "-"
    assert call("history").out.rstrip("\n").endswith("\tblob.bin")
    assert call("download", cid, "-o", "-").out.encode("utf-8", "surrogateescape") == data


def test_a_download_takes_its_name_from_the_history_and_overwrites_only_by_force(call: Run, here: Path) -> None:
    (here / "cat.png").write_text("cat")
    cid = call("upload", "cat.png").line.split("\t")[0]
    refused = call("download", cid)
    assert refused.code == 1
    assert "cat.png exists already" in refused.err
    assert "--force" in refused.err
    (here / "cat.png").write_text("changed")
    assert call("download", cid, "--force").line == "cat.png"
    assert (here / "cat.png").read_text() == "cat"
    (here / "sub").mkdir()
    assert call("download", cid, "-o", "sub").line == str(Path("sub", "cat.png"))
    for output in ("nowhere/x", "nowhere/"):
        no_folder = call("download", cid, "-o", output)
        assert no_folder.err == "pinui: nowhere is no folder.\n       Make it first: mkdir -p nowhere\n"


def test_a_name_from_elsewhere_stays_in_the_folder(call: Run, here: Path) -> None:
    cid = call("store", "{}", "--name", "../../.ssh/evil").line
    assert call("download", cid).line == "evil"
    assert {path.name for path in here.iterdir()} == {"evil"}


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_with_a_name_is_written_into_and_stays(run: Run, here: Path) -> None:
    cid = run("store", '{"a":1}').line
    os.mkfifo(here / "pipe")
    for arguments, words in ((("download", cid, "-o", "pipe"), '{"a":1}'), (("history", "export", "pipe"), cid)):
        reader = os.open(here / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        assert run(*arguments).code == 0
        assert words in os.read(reader, 65536).decode()
        os.close(reader)
        assert (here / "pipe").is_fifo()
    assert run("download", cid, "-o", os.devnull).code == 0


def test_a_link_stays_a_link(call: Run, here: Path) -> None:
    cid = call("store", "[1]").line
    (here / "link").symlink_to("target")
    assert call("download", cid, "-o", "link").line == "link"
    assert call("download", cid, "-o", "link").code == 1
    assert (here / "target").read_text() == "[1]"
    assert call("history", "export", "link", "--force").code == 0
    assert cid in (here / "target").read_text()
    assert (here / "link").is_symlink()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that nobody can write to, not even root")
def test_a_place_that_cannot_be_written_is_named_as_it_was_given(call: Run) -> None:
    cid = call("store", "[1]").line
    assert call("download", cid, "-o", "/proc/copy").err.startswith("pinui: /proc/copy cannot be written: ")
