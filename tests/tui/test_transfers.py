"""Transfers in the workbench: what was left goes on, folders open into their files, everything can be paused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pinui.node import Node
from pinui.sdk.secret import Secret
from pinui.sdk.transport import retry
from pinui.tui.app import Pinui
from pinui.tui.places.files.screen import FilesScreen
from pinui.workspace import Profile, Query, Workspace
from pinui.workspace.transfers.queue import upload_options
from pinui.workspace.transfers.rows import NewItem
from tests.tui.pilots import shows, text_of, told, until, workbench


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "photos"
    folder.mkdir(parents=True)
    for number in range(30):
        (folder / f"f{number}.jpg").write_bytes(bytes([number]) * 1000 * (number + 1))
    return folder


def hold_uploads(app: Pinui, monkeypatch: pytest.MonkeyPatch, after: int = 0) -> asyncio.Event:
    """Let some uploads through, and hold the others until the event is set."""
    upload, go_on, begun = app.workspace.upload, asyncio.Event(), 0

    async def held(source: Any, **options: Any) -> Any:
        nonlocal begun
        begun += 1
        if begun > after:
            await go_on.wait()
        return await upload(source, **options)

    monkeypatch.setattr(app.workspace, "upload", held)
    return go_on


async def go_to_transfers(app: Pinui, pilot: Any) -> FilesScreen:
    await pilot.press("3")
    screen = app.screen
    assert isinstance(screen, FilesScreen)
    screen.show_pane("#transfers")
    await settled_focus(pilot, screen)
    return screen


async def settled_focus(pilot: Any, screen: FilesScreen) -> None:
    await until(pilot, lambda: screen.transfers.has_focus, "the focus")


async def test_transfers_that_were_cut_off_are_there_next_time_and_go_on(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench() as (app, pilot):
        hold_uploads(app, monkeypatch, after=7)
        app.workspace.transfers.upload_all([photos], each=True)
        await go_to_transfers(app, pilot)
        await shows(pilot, "7 of 30", "1 running")
    async with workbench(welcome=True) as (app, pilot):
        await told(pilot, "1 transfer was not finished last time. 3 shows it.")
        await go_to_transfers(app, pilot)
        await shows(pilot, "▸ photos/", "unfinished", "7 of 30 · r resumes, del forgets", "r resume", "del forget")
        await pilot.press("r")
        await shows(pilot, "1 done", "30 of 30")
        rows = await app.workspace.history.page(Query())
        assert len(rows) == len({row.name for row in rows}) == 30
    async with workbench(welcome=True) as (app, pilot):
        await go_to_transfers(app, pilot)
        await shows(pilot, "No transfers yet.")


async def test_everything_that_was_left_is_resumed_with_one_key_on_arrival(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench() as (app, pilot):
        hold_uploads(app, monkeypatch)
        for number in range(2):
            app.workspace.transfers.upload(photos / f"f{number}.jpg")
        await go_to_transfers(app, pilot)
        await shows(pilot, "2 running")
    async with workbench(welcome=True) as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "2 unfinished · R resumes")
        await pilot.press("R")
        await shows(pilot, "2 done")


async def test_a_file_that_the_account_holds_is_not_sent_again_and_its_row_says_so(photos: Path) -> None:
    async with workbench() as (app, pilot):
        first = app.workspace.transfers.upload(photos / "f1.jpg")
        await app.workspace.transfers.wait(first)
        app.workspace.transfers.upload(photos / "f1.jpg")
        await go_to_transfers(app, pilot)
        await shows(pilot, "2 done", "held already")


async def test_what_was_left_can_be_forgotten(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        hold_uploads(app, monkeypatch)
        app.workspace.transfers.upload(photos / "f1.jpg")
        await go_to_transfers(app, pilot)
        await shows(pilot, "1 running")
    async with workbench(welcome=True) as (app, pilot):
        await go_to_transfers(app, pilot)
        await shows(pilot, "f1.jpg", "unfinished")
        await pilot.press("delete")
        await shows(pilot, "No transfers yet.")
    async with await Workspace.open() as workspace:
        assert await workspace.transfers.ledger.requests() == []


async def test_a_row_goes_away_when_another_process_forgets_its_transfer(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench() as (app, pilot):
        hold_uploads(app, monkeypatch)
        app.workspace.transfers.upload(photos / "f1.jpg")
        await go_to_transfers(app, pilot)
        await shows(pilot, "1 running")
        await pilot.press("p")
        await shows(pilot, "1 paused")
        async with await Workspace.open() as other:
            await other.transfers.forget((await other.transfers.look())[0])
        await shows(pilot, "No transfers yet.")


async def test_transfers_are_paused_and_go_on_one_or_all(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        go_on = hold_uploads(app, monkeypatch)
        (photos.parent / "alone.jpg").write_text("alone")
        app.workspace.transfers.upload_all([photos], each=True)
        app.workspace.transfers.upload(photos.parent / "alone.jpg")
        await go_to_transfers(app, pilot)
        await shows(pilot, "↑ ▸ photos/", "↑ alone.jpg")
        await pilot.press("g", "p")
        await shows(pilot, "1 running · 1 paused", "p goes on")
        await pilot.press("P")
        await shows(pilot, "2 paused")
        go_on.set()
        await pilot.press("p")
        await shows(pilot, "1 paused · 1 done")
        await pilot.press("R")
        await shows(pilot, "2 done")
        assert await app.workspace.history.count(Query()) == 31


async def test_a_paused_transfer_is_paused_next_time(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        hold_uploads(app, monkeypatch)
        app.workspace.transfers.upload(photos / "f1.jpg")
        await go_to_transfers(app, pilot)
        await shows(pilot, "1 running")
        await pilot.press("p")
        await shows(pilot, "1 paused")
    async with workbench(welcome=True) as (app, pilot):
        await go_to_transfers(app, pilot)
        await shows(pilot, "paused", "p goes on")
        await pilot.press("p")
        await shows(pilot, "1 done")


async def test_a_folder_opens_into_its_files(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench(size=(120, 40)) as (app, pilot):
        upload, hold = app.workspace.upload, asyncio.Event()

        async def odd(source: Path, **options: Any) -> Any:
            if source.name == "f3.jpg":
                raise PermissionError(13, "Permission denied", str(source))
            if source.name == "f9.jpg":
                options["on_progress"](5_000, 10_000)
                await hold.wait()
            return await upload(source, **options)

        monkeypatch.setattr(app.workspace, "upload", odd)
        app.workspace.transfers.upload_all([photos], each=True)
        await go_to_transfers(app, pilot)
        await shows(pilot, "28 of 30")
        await pilot.press("enter")
        await shows(pilot, "▾ photos/", "✗ f3.jpg", "Permission denied", "↑ f9.jpg", "50 %", "✓ f0.jpg")
        await pilot.press("j")
        await shows(pilot, "f3.jpg: Permission denied.", "r retry")
        await pilot.press("enter")
        await shows(pilot, "▸ photos/")
        assert "f3.jpg" not in text_of(app)
        monkeypatch.setattr(app.workspace, "upload", upload)
        hold.set()
        await shows(pilot, "✗ ▸ photos/", "1 of 30 failed. f3.jpg: Permission denied · r retries")
        await pilot.press("r")
        await shows(pilot, "1 done")


async def test_an_open_folder_shows_why_a_file_failed_again(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        upload, reasons = app.workspace.upload, ["the first reason", "the second reason"]

        async def odd(source: Path, **options: Any) -> Any:
            if source.name == "f0.jpg":
                raise PermissionError(13, reasons.pop(0), str(source))
            return await upload(source, **options)

        monkeypatch.setattr(app.workspace, "upload", odd)
        app.workspace.transfers.upload_all([photos / "f0.jpg", photos / "f1.jpg"])
        await go_to_transfers(app, pilot)
        await shows(pilot, "1 of 2 failed")
        await pilot.press("enter")
        await shows(pilot, "✗ f0.jpg", "the first reason")
        await pilot.press("down", "r")
        await shows(pilot, "f0.jpg: the second reason")
        await until(pilot, lambda: "the first reason" not in text_of(app), "the old reason to go")


async def test_a_transfer_waits_for_a_service_that_can_not_be_reached_and_goes_on(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.0)
    async with Node(tmp_path / "node") as node:
        url, token = node.api_url, node.token
    profile = Profile("work", "custom", url)
    async with workbench() as (app, pilot):
        app.workspace.profiles.save(profile)
        await app.workspace.keep_token(profile, Secret(token))
        await app.workspace.switch("work")
        await go_to_transfers(app, pilot)
        app.workspace.transfers.upload_all([photos], each=True)
        await shows(pilot, "0 of 30 · R tries now", "could not be reached · waiting for the service · ", "1 waiting")
        await pilot.press("4")
        await shows(pilot, " s for the service · ↑ 0 of 30")
        await go_to_transfers(app, pilot)
        async with Node(tmp_path / "node", port=urlsplit(url).port or 0, token=token):
            await pilot.press("R")
            await shows(pilot, "1 done", "30 of 30")


async def test_the_bar_tells_the_progress_of_all_of_them_in_every_place(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench() as (app, pilot):
        hold_uploads(app, monkeypatch, after=10)
        app.workspace.transfers.upload_all([photos], each=True)
        await pilot.press("4")
        await shows(pilot, "↑ 10 of 30")


async def test_quitting_says_how_transfers_go_on_next_time(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        hold_uploads(app, monkeypatch)
        app.workspace.transfers.upload(photos / "f1.jpg")
        await until(pilot, lambda: app.workspace.transfers.active, "the transfer")
        await pilot.press("q")
        await shows(pilot, "1 transfer is not done. Quit anyway?", "Nothing is lost: next time, Files lists it")


@pytest.mark.slow
async def test_a_hundred_thousand_files_scroll_and_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    many = 100_000
    async with workbench() as (app, pilot):
        hold_uploads(app, monkeypatch)
        before = resident()
        options = upload_options(["/nowhere"], each=True)
        items = (NewItem(f"/nowhere/{number}.jpg", shown=f"{number}.jpg", size=number) for number in range(many))
        transfer = app.workspace.transfers.begin("upload", "nowhere/", options, list(items))
        await until(pilot, lambda: transfer.is_listed, "the ledger")
        app.workspace.transfers.pause_all()
        screen = await go_to_transfers(app, pilot)
        await shows(pilot, "1 paused", "of 100,000")
        await pilot.press("enter")
        await until(pilot, lambda: screen.transfers.item_count == many + 1, "the files")
        await pilot.press("G")
        await shows(pilot, " 99999.jpg ", "100 kB")
        await pilot.press("g")
        await shows(pilot, "▾ nowhere/", " 0.jpg ")
        assert resident() - before < 100_000_000


def resident() -> int:
    """The memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
