"""Before a folder goes up the workbench asks: how much, what is left out, and the first names."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from pinui.sdk.traits import TRAITS
from pinui.tui.app import Pinui
from pinui.tui.places.files.folder_question import FolderQuestion
from pinui.workspace import Profile, Query
from tests.tui.pilots import confirm, keys_taken, paste, shows, text_of, until, workbench


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "passwd").write_text("root")
    folder = tmp_path / "home" / "notes"
    (folder / ".ssh").mkdir(parents=True)
    (folder / ".ssh" / "id_rsa").write_text("private")
    (folder / "empty").mkdir()
    for name in ("f10", "f2", "f1"):
        (folder / name).write_bytes(b"x" * 1000)
    (folder / "link").symlink_to(tmp_path / "passwd")
    return folder


def question_of(app: Pinui) -> FolderQuestion:
    assert isinstance(app.screen, FolderQuestion)
    return app.screen


async def names_in(app: Pinui, cid: str) -> set[str]:
    return {entry.name for entry in (await app.workspace.preview(cid)).entries or ()}


async def test_a_folder_goes_up_after_a_question_that_tells_everything(notes: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        await pilot.press("j", "u")
        await shows(pilot, "Upload notes/: 3 files, 3.0 kB?", "Left out: 1 hidden name, 1 link and 1 empty folder.")
        await shows(pilot, "notes/f1 ", "notes/f2 ", "notes/f10 ", "Only this machine can read it.")
        screen = text_of(app)
        assert screen.index("notes/f2 ") < screen.index("notes/f10 ")
        assert "id_rsa" not in screen
        await keys_taken(pilot)
        assert not app.workspace.transfers.all
        await confirm(pilot, "U")
        await shows(pilot, "1 done")
        (entry,) = await app.workspace.history.page(Query())
        assert await names_in(app, entry.cid) == {"f1", "f2", "f10"}
        await pilot.press("tab", "tab")
        await shows(pilot, "left out 1 hidden name, 1 link and 1 empty folder")


async def test_each_file_of_a_folder_can_become_a_pin_of_its_own(notes: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        await pilot.press("j", "u")
        await shows(pilot, "Upload notes/: 3 files", "f each file")
        await pilot.press("f")
        await shows(pilot, "Each file gets a CID of its own")
        await confirm(pilot, "U")
        await shows(pilot, "▸ notes/", "3 of 3", "1 done")
        rows = await app.workspace.history.page(Query())
        assert {row.name for row in rows} == {"f1", "f2", "f10"}


async def test_a_service_that_keeps_empty_folders_leaves_none_out(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Profile, "traits", TRAITS["kubo"])
    async with workbench() as (_app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        await pilot.press("j", "u")
        await shows(pilot, "Left out: 1 hidden name and 1 link.")


async def test_the_question_starts_on_cancel_and_keeps_the_marks(notes: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        for answer in ("enter", "escape"):
            await pilot.press("j", "space", "u")
            await shows(pilot, "Upload notes/: 3 files")
            await pilot.press(answer)
            await shows(pilot, "1 marked")
            await pilot.press("escape", "g")
        assert not app.workspace.transfers.all


async def test_hidden_names_go_up_when_the_question_says_so(notes: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        await pilot.press("j", "u")
        await shows(pilot, "The key . includes hidden names.")
        await pilot.press("full_stop")
        await shows(pilot, "Upload notes/: 4 files", "notes/.ssh/id_rsa", "Hidden names go up, too")
        await pilot.press("full_stop")
        await shows(pilot, "Upload notes/: 3 files", "The key . includes hidden names.")
        await pilot.press("full_stop")
        await shows(pilot, "Upload notes/: 4 files")
        await confirm(pilot, "U")
        await shows(pilot, "1 done")
        (entry,) = await app.workspace.history.page(Query())
        assert await names_in(app, entry.cid) == {"f1", "f2", "f10", ".ssh"}


async def test_names_are_left_out_by_a_pattern(notes: Path) -> None:
    (notes / "a.log").write_text("log")
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        await pilot.press("j", "u")
        await shows(pilot, "Upload notes/: 4 files", "x leave out")
        await pilot.press("x")
        await shows(pilot, "Names to leave out")
        await paste(pilot, "*.log !")
        await pilot.press("enter")
        await shows(pilot, "A pattern of names to leave out is wrong")
        await pilot.press("backspace", "f", "2", "enter")
        await shows(pilot, "Upload notes/: 2 files", "2 excluded names")
        await confirm(pilot, "U")
        await shows(pilot, "1 done")
        (entry,) = await app.workspace.history.page(Query())
        assert await names_in(app, entry.cid) == {"f1", "f10"}


async def test_the_patterns_of_an_ipfsignore_count(notes: Path) -> None:
    (notes / ".ipfsignore").write_text("*.tmp\nf1?\n")
    (notes / "half.tmp").write_text("half")
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        await pilot.press("j", "u")
        await shows(pilot, "Upload notes/: 2 files", "2 excluded names")
        await confirm(pilot, "U")
        await shows(pilot, "1 done")
        (entry,) = await app.workspace.history.page(Query())
        assert await names_in(app, entry.cid) == {"f1", "f2"}


async def test_files_and_folders_together_are_one_question(notes: Path) -> None:
    (notes.parent / "alone.txt").write_bytes(b"x" * 500)
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await paste(pilot, f"{notes / '.ssh'} {notes} {notes.parent / 'alone.txt'}")
        await shows(pilot, "3 marked")
        await pilot.press("u")
        await shows(pilot, "Upload 3 folders and files: 5 files, 3.5 kB?", ".ssh/id_rsa", "alone.txt")
        await confirm(pilot, "U")
        await shows(pilot, "3 done", "space marks")
        assert len(await app.workspace.history.page(Query())) == 3


async def test_files_alone_go_up_without_a_question(notes: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await paste(pilot, f"{notes / 'f1'} {notes / 'f2'}")
        await shows(pilot, "2 marked")
        await pilot.press("u")
        await shows(pilot, "2 done")
        assert len(await app.workspace.history.page(Query())) == 2


async def test_a_folder_with_nothing_to_upload_takes_no_yes(notes: Path) -> None:
    for name in ("f1", "f2", "f10"):
        (notes / name).unlink()
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        await pilot.press("j", "u")
        await shows(pilot, "There are no files to upload in notes/.", "Left out: 1 hidden name")
        await confirm(pilot, "U")
        await keys_taken(pilot)
        assert question_of(app)
        assert not app.workspace.transfers.all


async def test_a_folder_that_cannot_be_read_is_told_in_the_question(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir

    def refuse(path: str | Path) -> object:
        if str(path).endswith("empty"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        monkeypatch.setattr(os, "scandir", refuse)
        await pilot.press("j", "u")
        await shows(pilot, "Permission denied")
        await confirm(pilot, "U")
        await keys_taken(pilot)
        assert question_of(app)


async def test_a_huge_folder_is_counted_beside_the_screen_and_can_be_left(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, walked = threading.Event(), threading.Event()
    scan = os.scandir
    asked: list[str] = []

    def slow(path: str | Path) -> object:
        asked.append(str(path))
        if str(path).endswith("later"):
            go_on.wait(60)
            walked.set()
        return scan(path)

    (notes / "more").mkdir()
    (notes / "later" / "deeper").mkdir(parents=True)
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "notes/")
        monkeypatch.setattr(os, "scandir", slow)
        await pilot.press("j", "u")
        await shows(pilot, "Looking into notes/ … 3 files so far, 3.0 kB")
        await confirm(pilot, "U")
        await keys_taken(pilot)
        assert question_of(app), "nobody agrees to what isn't counted"
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, FolderQuestion))
        go_on.set()
        await until(pilot, walked.is_set)
        monkeypatch.undo()
        assert not app.workspace.transfers.all
    assert not any(path.endswith(("deeper", "more")) for path in asked), "the walk ends with the question"
