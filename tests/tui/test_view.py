"""The next start shows the place, the folder, the order and the filter of the last one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pinui.tui.places.files.screen import FilesScreen
from pinui.workspace import Paths
from pinui.workspace.view import View, read_view, write_view
from tests.tui.pilots import paste, shows, text_of, until, workbench
from tests.tui.test_pins import pins_of, store


async def test_the_order_and_the_filter_of_pins_are_back_after_a_restart() -> None:
    async with workbench() as (app, pilot):
        await store(app, b={"n": 1}, a={"n": 2}, map={"n": 3})
        await shows(pilot, "3 pins")
        await pilot.press("s", "n")
        await shows(pilot, "NAME ▴")
        await pilot.press("slash")
        await paste(pilot, "-map")
        await pilot.press("enter")
        await shows(pilot, " 2 of ")
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, " 2 of ", "/ -map", "NAME ▴")
        assert app.screen.focused is pins_of(app).pins
        await pilot.press("escape")
        await shows(pilot, "─ 3 pins")
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, "─ 3 pins")
        assert "/ " not in text_of(app).splitlines()[1]


async def test_each_profile_has_its_own_filter() -> None:
    async with workbench() as (app, pilot):
        await store(app, b={"n": 1}, a={"n": 2})
        await pilot.press("slash")
        await paste(pilot, "a")
        await pilot.press("enter")
        await shows(pilot, " 1 of ")
        await app.switch("pinata")
        await shows(pilot, "The account could not be read.", "has no token")
        await app.switch("local")
        await shows(pilot, " 1 of ", "/ a")


async def test_the_place_and_the_folder_are_back_after_a_restart(tmp_path: Path) -> None:
    (tmp_path / "norway").mkdir()
    (tmp_path / "norway" / "fjord.jpg").write_bytes(b"jpg")
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await paste(pilot, str(tmp_path / "norway"))
        await shows(pilot, "fjord.jpg")
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, "fjord.jpg", "norway")
        assert isinstance(app.screen, FilesScreen)
        assert app.current_mode == "files"
        await pilot.press("1")
        await shows(pilot, "Nothing is pinned yet.")
    (tmp_path / "norway" / "fjord.jpg").unlink()
    (tmp_path / "norway").rmdir()
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, "Nothing is pinned yet.")
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, FilesScreen))
        assert app.screen.query_one("#browser").folder == Path.cwd(), "a folder that is gone is not missed"  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"place": 5, "sort": "odd", "filters": {"local": 7}}', "\udce4"])
def test_a_file_that_is_of_no_use_is_no_view(tmp_path: Path, text: str) -> None:
    (tmp_path / "view.json").write_text(text, errors="surrogateescape")
    assert read_view(tmp_path / "view.json") == View()


def test_a_view_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    view, path = View("files", "size", "/tmp", {"local": "kind:json"}), Paths.find(tmp_path).view
    write_view(path, view)
    assert read_view(path) == view
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
