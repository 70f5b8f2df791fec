"""Patterns keep names out of an upload of a folder, by the rules of a `.gitignore`."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinui import Client, LeftOut, PinuiError
from pinui.node import Node
from pinui.sdk.writing.folder_rules import FolderRules
from pinui.sdk.writing.sources import look_into
from tests.servers import settings_of


@pytest.fixture
def site(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    for name in ("index.html", "draft.tmp", "img/cat.png", "img/cat.tmp", "build/out.js", "build/keep.txt"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(name)
    return site


def taken(folder: Path, rules: FolderRules) -> set[str]:
    return {file.name for file in look_into(folder, rules).files}


def test_patterns_leave_out_files_and_whole_folders(site: Path) -> None:
    rules = FolderRules(exclude=["*.tmp", "build/"])
    assert taken(site, rules) == {"index.html", "img/cat.png"}
    assert look_into(site, rules).left_out == LeftOut(excluded=3)


def test_the_folders_own_patterns_count_and_the_callers_come_last(site: Path) -> None:
    (site / ".ipfsignore").write_text("# of the site\n*.tmp\n/build/*\n!/build/keep.txt\n")
    assert taken(site, FolderRules()) == {"index.html", "img/cat.png", "build/keep.txt"}
    assert taken(site, FolderRules(exclude=["!draft.tmp"])) == {
        "index.html",
        "img/cat.png",
        "build/keep.txt",
        "draft.tmp",
    }
    assert ".ipfsignore" in taken(site, FolderRules(hidden=True))
    assert look_into(site).left_out.hidden == 0, "the list of patterns is not missed"


def test_a_file_is_taken_back_from_a_folder_whose_entries_are_left_out(site: Path) -> None:
    assert "img/cat.png" in taken(site, FolderRules(exclude=["img/**", "!img/cat.png"]))
    assert "img/cat.png" not in taken(site, FolderRules(exclude=["img/**"]))


def test_a_copy_that_must_be_the_same_takes_everything(site: Path) -> None:
    everything = taken(site, FolderRules())
    (site / ".ipfsignore").write_text("*")
    assert taken(site, FolderRules(exclude=None)) == everything


@pytest.mark.parametrize(("content", "words"), [(b"\xff\xfe", "no UTF-8 text"), (b"[z-a]", "A pattern")])
def test_patterns_that_cannot_be_read_are_a_sentence(site: Path, content: bytes, words: str) -> None:
    (site / ".ipfsignore").write_bytes(content)
    with pytest.raises(PinuiError, match=words):
        look_into(site)


async def test_the_sdk_counts_what_patterns_left_out(site: Path, tmp_path: Path) -> None:
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        record = await client.upload(site, exclude=["*.tmp"])
        assert record.left_out == LeftOut(excluded=2)
        plain = await client.upload(site)
        assert plain.cid != record.cid
        (site / ".ipfsignore").write_text("*.tmp")
        assert (await client.upload(site)).cid == record.cid
        assert (await client.upload(site, exclude=None)).cid == plain.cid


names = st.sampled_from(["a", "b.txt", "c.tmp", "dir/a", "dir/b.txt", "dir/sub/c.tmp", "dir/sub/a", "x/dir/a"])
LINES = "a /a dir dir/ /dir/ *.tmp !*.tmp dir/* !dir/a **/a dir/** sub/ !sub/a [ab]* ?.txt #a x/**/a \\!a !/dir/sub/"
patterns = st.lists(st.sampled_from(LINES.split()), max_size=5)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here: install git")
@given(st.sets(names, min_size=1), patterns)
@settings(max_examples=40)
def test_the_files_that_are_taken_are_those_that_git_would_add(files: set[str], lines: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folder.mkdir()
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
        ours = taken(folder, FolderRules(exclude=lines))
        (folder / ".gitignore").write_text("\n".join(lines))
        git = ["git", "-c", "core.excludesFile=/dev/null", "-C", str(folder)]
        subprocess.run([*git, "init", "-q"], check=True)
        listed = subprocess.run(
            [*git, "ls-files", "-o", "--exclude-standard"], check=True, capture_output=True, text=True
        )
        assert ours == set(listed.stdout.split()) - {".gitignore"}
