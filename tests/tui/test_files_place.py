"""Files: picking, uploading, downloading, and what happens to transfers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from textual import events
from textual.strip import Strip

from pinui.tui.app import Pinui
from pinui.tui.local_files import find_paths, place_to_save, text_of_file
from pinui.tui.places.files.screen import FilesScreen
from pinui.tui.places.files.transfer_list import TransferList
from pinui.workspace import Query, Transfer, WorkspaceError
from tests.tui.pilots import confirm, paste, settled, shows, text_of, told, until, workbench


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "pictures"
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / "deep.txt").write_text("deep")
    for number in (1, 2, 3):
        (folder / f"fjord-{number}.jpg").write_bytes(b"x" * 1000 * number)
    (folder / ".hidden").write_text("")
    return folder


def place_of(app: Pinui) -> FilesScreen:
    screen = app.screen
    assert isinstance(screen, FilesScreen)
    return screen


async def test_marked_files_and_folders_are_uploaded(pictures: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "pictures/")
        await pilot.press("j", "enter")
        await shows(pilot, "raw/", "fjord-3.jpg")
        assert ".hidden" not in text_of(app)
        await pilot.press("space", "space")
        await shows(pilot, "2 marked · 1.0 kB and 1 folder")
        await pilot.press("u")
        await shows(pilot, "Upload 2 folders and files: 2 files, 1.0 kB?")
        await confirm(pilot, "U")
        await shows(pilot, "2 done")
        rows = await app.workspace.history.page(Query())
        assert {(entry.name, entry.size) for entry in rows} == {("raw", 4), ("fjord-1.jpg", 1000)}
        await pilot.press("backspace")
        await shows(pilot, "▸ pictures/")


async def test_names_stand_in_the_order_of_their_numbers(pictures: Path) -> None:
    for name in ("f10.txt", "f2.txt", "F1.txt"):
        (pictures / name).write_text("")
    (pictures / "day 10").mkdir()
    (pictures / "day 9").mkdir()
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await paste(pilot, str(pictures))
        await shows(pilot, "f10.txt")
        names = [row.path.name for row in place_of(app).browser.rows]
        assert names == ["day 9", "day 10", "raw", "F1.txt", "f2.txt", "f10.txt", *(f"fjord-{n}.jpg" for n in "123")]


async def test_new_files_appear_and_the_list_can_be_read_again(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await paste(pilot, str(pictures))
        await shows(pilot, "fjord-1.jpg")
        await pilot.press("G")
        (pictures / "a new one.txt").write_text("new")
        await shows(pilot, "a new one.txt", "▌    ")
        current = place_of(app).browser.current
        assert current is not None
        assert current.path.name == "fjord-3.jpg", "the cursor stays where it is"
        (pictures / "fjord-1.jpg").unlink()
        await until(pilot, lambda: "fjord-1.jpg" not in text_of(app))
        monkeypatch.setattr(FilesScreen, "look_again", lambda _self: None)  # as on a disk that tells of no change
        (pictures / "fjord-2.jpg").write_bytes(b"x" * 9000)
        await pilot.press("r")
        await shows(pilot, "9.0 kB")


async def test_a_folder_that_is_not_in_sight_is_not_looked_at(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await paste(pilot, str(pictures))
        await shows(pilot, "fjord-1.jpg")
        await pilot.press("1")
        await settled(pilot)
        looked: list[Path] = []
        monkeypatch.setattr("pinui.tui.places.files.screen.changed_at", lambda folder: looked.append(folder) or 0)
        screen = app.get_screen_stack("files")[-1]
        assert isinstance(screen, FilesScreen)
        screen.look_again()
        await settled(pilot)
        assert looked == []
        (pictures / "meanwhile.txt").write_text("")
        await pilot.press("3")
        await shows(pilot, "meanwhile.txt")


async def test_a_typed_path_is_gone_to_and_a_wrong_one_is_told(pictures: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3", "p")
        await shows(pilot, "Type or paste a path")
        await paste(pilot, f'"{pictures / "fjord-2.jpg"}"')
        await pilot.press("enter")
        await shows(pilot, "1 marked · 2.0 kB")
        await pilot.press("full_stop")
        await shows(pilot, ".hidden")
        await pilot.press("p")
        await shows(pilot, "Type or paste a path")
        await paste(pilot, "~/nowhere")
        await pilot.press("enter")
        await shows(pilot, "No such file", "Type or paste a path", "~/nowhere")
        await pilot.press("ctrl+u")
        await until(pilot, lambda: "No such file" not in text_of(app), "the reason goes with what was wrong")
        await paste(pilot, str(pictures.parent))
        await pilot.press("enter")
        await shows(pilot, "▸ pictures")


async def test_pasted_paths_are_marked_as_if_they_were_picked(pictures: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "paste a path")
        await paste(pilot, f"'{pictures / 'fjord-2.jpg'}' {pictures / 'fjord-3.jpg'}\n")
        await shows(pilot, "2 marked")
        assert place_of(app).browser.folder == pictures
        await paste(pilot, "/nowhere/at all")
        await told(pilot, "/nowhere/at: No such file or directory")
        await paste(pilot, str(pictures / "raw"))
        await until(pilot, lambda: place_of(app).browser.folder == pictures / "raw")


def test_names_are_found_however_a_shell_or_a_file_manager_writes_them(tmp_path: Path) -> None:
    plain, blank, quote = (tmp_path / name for name in ("a.txt", "two words.txt", "it's.txt"))
    for path in (plain, blank, quote):
        path.write_text("x")
    lines = f"{plain}\n{blank}\n  {quote}  \n\n'{blank}' {plain}\nfile://{tmp_path}/two%20words.txt\n"
    found = [row.path for row in find_paths(lines)]
    assert found == [plain, blank, quote, blank, plain, blank]
    (folder,) = find_paths(str(tmp_path))
    assert (folder.is_dir, folder.size) == (True, None)
    with pytest.raises(FileNotFoundError):
        find_paths("it's nowhere")


async def test_a_folder_that_was_removed_under_the_program_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    async with workbench() as (app, pilot):
        (tmp_path / "gone").rmdir()
        await pilot.press("3")
        await shows(pilot, "Upload", "▾ ~")
        assert place_of(app).browser.folder == Path.home()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/tmp/a\0b", "No file is called that"),
        ("/tmp/\ud800", "No file is called that"),
        ("file:///tmp/a%00b", "No file is called that"),
        ("~nobody-here/x", "There is no home folder ~nobody-here on this machine."),
    ],
)
async def test_names_that_cannot_be_are_told_in_words(name: str, words: str) -> None:
    with pytest.raises(WorkspaceError, match=words):
        find_paths(name)
    with pytest.raises(WorkspaceError, match=words):
        await text_of_file(name)
    with pytest.raises(WorkspaceError, match=words):
        await place_to_save(name)


async def test_marks_in_other_folders_are_told_and_can_be_taken_away(pictures: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await paste(pilot, f"{pictures / 'fjord-2.jpg'} {pictures / 'raw'}")
        await shows(pilot, "2 marked · 2.0 kB and 1 folder", "esc unmark all")
        await pilot.press("backspace")
        await shows(pilot, "2 marked, 2 elsewhere")
        await pilot.press("escape")
        await shows(pilot, "space marks")
        assert not place_of(app).browser.marked


async def test_uploading_nothing_says_what_to_do() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3", "g", "u")
        await told(pilot, "Mark files with space first")
        assert not app.workspace.transfers.all


async def test_a_download_proposes_a_name_asks_before_it_overwrites_and_arrives_whole(pictures: Path) -> None:
    async with workbench() as (app, pilot):
        entry = await app.workspace.upload(pictures / "fjord-3.jpg")
        (Path.home() / "Downloads").mkdir()
        target = Path.home() / "Downloads" / "fjord-3.jpg"
        target.write_text("something else")
        await pilot.press("3", "d")
        await paste(pilot, entry.cid)
        await pilot.press("enter")
        await shows(pilot, "~/Downloads/fjord-3.jpg")
        await pilot.press("enter")
        await shows(pilot, "~/Downloads/fjord-3.jpg is there already.")
        await pilot.press("enter")
        await settled(pilot)
        assert target.read_text() == "something else", "the question starts on Cancel"
        await pilot.press("enter")
        await shows(pilot, "~/Downloads/fjord-3.jpg is there already.")
        await confirm(pilot, "R")
        await shows(pilot, "1 done")
        assert target.read_bytes() == b"x" * 3000


async def test_a_pin_is_handed_over_to_be_downloaded(pictures: Path) -> None:
    async with workbench() as (app, pilot):
        await app.workspace.upload(pictures / "fjord-1.jpg")
        await shows(pilot, "fjord-1.jpg", "preview")
        await pilot.press("d")
        await shows(pilot, "Save as", "fjord-1.jpg", "enter download")
        assert app.current_mode == "files"
        await pilot.press("enter")
        await shows(pilot, "1 done")
        assert (Path.home() / "fjord-1.jpg").read_bytes() == b"x" * 1000


async def test_a_download_that_ends_takes_no_focus_and_its_row_has_the_copy_menu(pictures: Path) -> None:
    async with workbench() as (app, pilot):
        entry = await app.workspace.upload(pictures / "fjord-1.jpg")
        await pilot.press("3")
        await shows(pilot, "No transfers yet")
        app.workspace.transfers.download(entry.cid, Path.home() / "copy.jpg")
        await shows(pilot, "1 done", "u upload")
        await pilot.press("tab", "tab", "y")
        await shows(pilot, "ipfs:// URI", "gateway URL", "copy.jpg")


async def test_a_link_shows_its_target_and_is_asked_about(pictures: Path) -> None:
    (pictures / "a-link").symlink_to(pictures / "fjord-1.jpg")
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await app.workspace.store(1)
        await pilot.press("p")
        await paste(pilot, str(pictures))
        await pilot.press("enter")
        await shows(pilot, "a-link → ", "enter open")
        await pilot.press("j")
        await shows(pilot, "enter mark")
        await pilot.press("u")
        await shows(pilot, "Upload a-link")
        assert not app.workspace.transfers.all


async def test_what_is_typed_stands_in_the_place_of_the_proposed_name(pictures: Path) -> None:
    async with workbench() as (app, pilot):
        entry = await app.workspace.upload(pictures / "fjord-1.jpg")
        await pilot.press("3", "d")
        await paste(pilot, entry.cid)
        await pilot.press("enter")
        await shows(pilot, "~/fjord-1.jpg")
        await pilot.press("tilde", "slash", "a", "enter")
        await shows(pilot, "1 done")
        assert (Path.home() / "a").read_bytes() == b"x" * 1000


async def test_a_bad_cid_is_told_and_no_transfer_begins() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("3", "d")
        await paste(pilot, "nonsense")
        await pilot.press("enter")
        await shows(pilot, "Invalid CID")
        assert not app.workspace.transfers.all


async def test_transfers_are_cancelled_retried_and_cleared(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        upload, hold = app.workspace.upload, asyncio.Event()

        async def slow(source: Any, **options: Any) -> Any:
            await hold.wait()
            return await upload(source, **options)

        monkeypatch.setattr(app.workspace, "upload", slow)
        app.workspace.transfers.upload(pictures / "fjord-1.jpg")
        await pilot.press("3", "tab", "tab")
        await shows(pilot, "1 running", "c cancel")
        await pilot.press("escape")
        await settled(pilot)
        assert app.workspace.transfers.active == 1, "esc never cancels a transfer"
        await pilot.press("c")
        await shows(pilot, "1 cancelled")
        hold.set()
        await pilot.press("r")
        await shows(pilot, "1 done")
        await pilot.press("e")
        await shows(pilot, "No transfers yet.")


async def test_a_key_behind_clearing_the_list_finds_what_is_left(
    pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench() as (app, pilot):
        hold = asyncio.Event()

        async def upload(source: Path, **_options: Any) -> Any:
            if source.name != "fjord-1.jpg":
                await hold.wait()
            raise WorkspaceError("No room.")

        monkeypatch.setattr(app.workspace, "upload", upload)
        (pictures / "track.gpx").touch()
        for name in ("fjord-1.jpg", "fjord-2.jpg", "track.gpx"):
            app.workspace.transfers.upload(pictures / name)
        await pilot.press("3")
        await shows(pilot, "1 failed")
        screen = app.screen
        assert isinstance(screen, FilesScreen)
        screen.show_pane("#transfers")
        await pilot.press("g", "j")
        for key in "erc":  # at once, as a person types who knows what comes
            app.post_message(events.Key(key, key))
        await shows(pilot, "1 cancelled")
        assert [(one.title, one.state) for one in app.workspace.transfers.all] == [
            ("fjord-2.jpg", "cancelled"),
            ("track.gpx", "running"),
        ]
        app.workspace.transfers.retry(1000)  # one that is gone
        hold.set()


async def test_a_transfer_says_how_far_it_could_be_checked(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):

        async def download(_address: str, to: Path, **options: Any) -> Path:
            options["on_verdict"]("unverifiable")
            return to

        monkeypatch.setattr(app.workspace, "download", download)
        app.workspace.transfers.upload(pictures / "fjord-1.jpg")
        app.workspace.transfers.download("Qm", pictures / "copy.jpg")
        await pilot.press("3")
        await shows(pilot, "✓ Qm", "? ", "copy.jpg")
        assert any("? " in line and line.rstrip(" │").endswith("copy.jpg") for line in text_of(app).splitlines())


async def test_a_transfer_goes_on_elsewhere_and_says_when_it_ends(
    pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench() as (app, pilot):
        rung: list[bool] = []
        monkeypatch.setattr(app, "bell", lambda: rung.append(True))
        upload, hold = app.workspace.upload, asyncio.Event()

        async def slow(source: Any, **options: Any) -> Any:
            await hold.wait()
            return await upload(source, **options)

        monkeypatch.setattr(app.workspace, "upload", slow)
        app.workspace.transfers.upload(pictures / "fjord-1.jpg")
        await pilot.press("3")
        await shows(pilot, "1 running")
        await pilot.press("4")
        await shows(pilot, "Recipients")
        hold.set()
        await told(pilot, "fjord-1.jpg is uploaded.")
        await until(pilot, lambda: rung)


class RowsWithUsualKeys(TransferList):
    app = SimpleNamespace(key=lambda _command: "r")  # type: ignore[assignment]


def row_of(transfer: Transfer, width: int = 80) -> str:
    transfers = RowsWithUsualKeys()
    transfers.transfers = [transfer]
    line = transfers.item_line(0, 0, width)
    assert not isinstance(line, Strip)
    return "".join(text for text, _ in line)


@pytest.mark.parametrize(("direction", "words"), [("upload", "waiting for the service"), ("download", "finishing")])
def test_a_transfer_that_runs_is_never_done(direction: Literal["upload", "download"], words: str) -> None:
    row = row_of(Transfer(1, direction, "a.bin", "running", 5_000, 5_000, 1_000.0, 0.2), 120)
    assert "99 %" in row
    assert words in row
    assert "left" not in row
    assert "100 %" in row_of(Transfer(1, direction, "a.bin", "done", 5_000, 5_000, cid="QmX", path=Path("a.bin")))


def test_how_far_a_transfer_of_unknown_size_is_nobody_says() -> None:
    assert "%" not in row_of(Transfer(1, "download", "a.bin", "running", 5_000, None, 1_000.0))


def test_what_is_left_of_a_transfer_differs_by_more_than_colour() -> None:
    assert "━" * 6 + "─" * 7 in row_of(Transfer(1, "upload", "a.bin", "running", 50, 100))


def test_the_reason_of_a_failure_has_the_room_of_the_bar() -> None:
    row = row_of(Transfer(1, "upload", "track.gpx", "failed", 40, 100, error="The connection was reset."), 56)
    assert row == " ✗ track.gpx      The connection was reset · r retries  "


def test_a_download_that_was_left_tells_how_much_of_it_is_kept() -> None:
    transfer = Transfer(1, "download", "film.mov", "left", done=412_000_000, total=1_300_000_000)
    assert row_of(transfer, 120).rstrip().endswith("31 % unfinished  412 MB kept · r resumes, r forgets")
    assert "%" not in row_of(Transfer(1, "download", "album", "left", done=412_000_000))


def test_a_long_reason_leaves_room_for_the_key() -> None:
    transfer = Transfer(1, "upload", "trip/", "failed", error="It is far too long for this row. " * 9)
    assert row_of(transfer).rstrip().endswith("… · r retries")


async def test_a_failed_transfer_shows_its_reason(tmp_path: Path) -> None:
    async with workbench() as (app, pilot):
        app.workspace.transfers.upload(tmp_path / "vanished.bin")
        await pilot.press("3")
        await shows(pilot, "1 failed", "vanished.bin", "No such file")


async def test_a_folder_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from pinui.tui.places.files import screen as files

    def refused(_folder: Path, _hidden: bool) -> None:
        raise PermissionError(13, "Permission denied", "/srv/secret")

    async with workbench() as (_app, pilot):
        await pilot.press("3")
        await settled(pilot)
        monkeypatch.setattr(files, "read_folder", refused)
        await pilot.press("backspace")
        await shows(pilot, "Permission denied")
