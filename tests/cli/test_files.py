"""Files and folders up and down, under their names, by themselves, through links and pipes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_files_and_folders_go_up_and_come_down_the_same(call: Run, here: Path) -> None:
    (here / "cat.png").write_bytes(os.urandom(700_000))
    (here / "notes" / "deep").mkdir(parents=True)
    (here / "notes" / "a.txt").write_text("one\n")
    (here / "notes" / "deep" / "b.txt").write_text("two\n")
    up = call("upload", "cat.png", "notes")
    assert up.code == 0
    (picture, path), (folder, path2) = (line.split("\t") for line in up.out.splitlines())
    assert (path, path2) == ("cat.png", "notes")
    assert call("download", picture, "-o", "copy.png").line == "copy.png"
    assert (here / "copy.png").read_bytes() == (here / "cat.png").read_bytes()
    assert call("download", f"{folder}/deep/b.txt").line == "b.txt"
    assert (here / "b.txt").read_text() == "two\n"
    in_the_way = call("download", folder)
    assert (in_the_way.code, in_the_way.out) == (1, "")
    assert "The folder notes is in the way" in in_the_way.err
    assert call("download", folder, "-o", "copy").line == "copy"
    files = {path.relative_to(here / "copy").as_posix(): path.read_text() for path in (here / "copy").rglob("*.txt")}
    assert files == {"a.txt": "one\n", "deep/b.txt": "two\n"}


@pytest.mark.parametrize("each", [(), ("-r",)])
def test_patterns_keep_names_out_of_upload_and_cid_alike(call: Run, here: Path, each: tuple[str, ...]) -> None:
    for name in ("a.txt", "b.tmp", "build/c.txt"):
        (here / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "site" / name).write_text(name)
    (here / "site" / ".ipfsignore").write_text("build/\n")
    up = call("upload", "site", *each, "--exclude", "*.tmp")
    assert up.line.split("\t")[1] == ("site/a.txt" if each else "site")
    assert "site: left out 2 excluded names, by --exclude or .ipfsignore.\n" in up.err
    predicted = call("cid", "site", *each, "--exclude", "*.tmp")
    assert up.line.split("\t")[0] in predicted.out
    assert "left out 2 excluded names" in predicted.err
    wrong = call("upload", "site", *each, "--exclude", "[z-a]")
    assert (wrong.code, wrong.out) == (1, "")
    assert "A pattern of names to leave out is wrong" in wrong.err


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
    told = json.loads(call("upload", "two", "--name", "both", "--json").line)
    assert (told["name"], told["folder"]) == ("both", True)
    assert call("history").line.endswith("\tboth/")


@pytest.fixture
def home(here: Path) -> Path:
    """A folder with one file to see, and some that its owner doesn't mean to publish."""
    (here / "elsewhere").mkdir()
    (here / "elsewhere" / "b").write_text("b")
    home = here / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("private")
    (home / "empty").mkdir()
    (home / "a").write_text("a")
    (home / "passwd").symlink_to("/etc/passwd")
    (home / "linked").symlink_to("../elsewhere")
    return home


LEFT_OUT = """\
home: left out 1 hidden name and 2 links; --hidden and --follow-links would include them.
home: left out 1 empty folder: the service can't keep a folder without files.
"""


def test_hidden_names_links_and_empty_folders_are_left_out_and_counted(call: Run, here: Path, home: Path) -> None:
    up = call("upload", "home")
    assert (up.code, up.err) == (0, LEFT_OUT)
    assert call("download", up.line.split("\t")[0], "-o", "copy").code == 0
    assert [path.name for path in (here / "copy").iterdir()] == ["a"]
    told = call("cid", "home")
    assert (told.out.splitlines()[0].split("\t")[0], told.err) == (up.line.split("\t")[0], LEFT_OUT)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--hidden"], {"a", ".ssh"}),
        (["--follow-links"], {"a", "passwd", "linked"}),
        (["--hidden", "--follow-links"], {"a", ".ssh", "passwd", "linked"}),
    ],
)
@pytest.mark.usefixtures("home")
def test_they_go_up_when_asked_for(call: Run, here: Path, options: list[str], names: set[str]) -> None:
    up = call("upload", *options, "home")
    call("download", up.line.split("\t")[0], "-o", "copy")
    assert {path.name for path in (here / "copy").iterdir()} == names
    assert not any(path.is_symlink() for path in (here / "copy").rglob("*"))
    assert call("cid", *options, "home").out.splitlines()[0].split("\t")[0] == up.line.split("\t")[0]


@pytest.mark.parametrize(
    ("options", "names", "left_out"),
    [
        ([], ["a"], "home: left out 1 hidden name and 2 links; --hidden and --follow-links would include them.\n"),
        (["--hidden"], [".ssh/id_rsa", "a"], "home: left out 2 links; --follow-links would include them.\n"),
        (["--hidden", "--follow-links"], [".ssh/id_rsa", "a", "linked/b", "passwd"], ""),
    ],
)
@pytest.mark.usefixtures("home")
def test_each_file_by_itself_leaves_them_out_too(
    call: Run, options: list[str], names: list[str], left_out: str
) -> None:
    for verb in ("upload", "cid"):
        ran = call(verb, "-r", *options, "home")
        assert (ran.code, ran.err) == (0, left_out)
        paths = dict.fromkeys(line.split("\t")[1] for line in ran.out.splitlines())
        assert list(paths) == [f"home/{name}" for name in names]


def test_a_hidden_name_or_a_link_on_the_command_line_is_taken(call: Run, home: Path) -> None:
    (home / ".env").write_text("KEY=1")
    ran = call("upload", "home/.ssh", "home/linked", "home/.env", "home/passwd")
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out.splitlines()) == 4
    assert call("upload", "-r", "home/.ssh", "home/linked").out.count("\n") == 2


def test_a_folder_without_anything_to_upload_says_what_it_holds(call: Run, here: Path) -> None:
    (here / "quiet" / ".git").mkdir(parents=True)
    ran = call("upload", "quiet")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("pinui: quiet holds no files to upload (left out: 1 hidden name).\n")
    assert call("upload", "-r", "quiet").err.endswith("quiet holds no files to upload.\n")


def test_links_that_go_round_are_told(call: Run, home: Path) -> None:
    (home / "round").symlink_to(".")
    for options in ([], ["-r"]):
        for verb in ("upload", "cid"):
            ran = call(verb, *options, "--follow-links", "home")
            assert (ran.code, ran.out) == (1, "")
            assert "home/round leads back to a folder around it" in ran.err


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
    assert ran.err == "pinui: missing: there is no such file.\npinui: 1 of 26 failed.\n"
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


@pytest.mark.slow
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
