"""The smallest terminal, 60×16: what carries information is not cut off there."""

from __future__ import annotations

from pathlib import Path

from pinui.workspace import Query
from tests.tui import scene
from tests.tui.pilots import SCENES, TOASTS, paste, settled, shows, text_of, workbench

SMALLEST = (60, 16)


async def test_an_empty_list_says_all_of_what_to_do() -> None:
    async with workbench(size=SMALLEST) as (_app, pilot):
        await shows(pilot, "4 writes a message.", "Everything you store is listed here.")


async def test_the_welcome_is_whole() -> None:
    async with workbench(size=SMALLEST, welcome=True) as (_app, pilot):
        await shows(pilot, "Welcome to pinui.", "s       set up a pinning service (needs a token)", "╰─")


async def test_the_head_of_a_message_takes_two_lines() -> None:
    async with workbench(size=SMALLEST) as (app, pilot):
        await app.workspace.send("the keeper of the lighthouse on the outer island", "Is the lamp lit?")
        await pilot.press("4", "tab")
        await shows(pilot, "you → the keeper of the lighthouse on the outer", "✓", "Is the lamp lit?")
        entry = (await app.workspace.history.page(Query()))[0]
        assert f"{entry.cid[:6]}…{entry.cid[-4:]} ✓" in text_of(app)


async def test_the_name_of_the_profile_is_whole(tmp_path: Path) -> None:
    async with workbench(size=SMALLEST) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        app.workspace.service.profile = app.workspace.profiles.get("pinata")
        await pilot.press("2")
        await shows(pilot, " pinata ")


async def test_the_services_of_the_wizard_are_told_apart_by_whole_words() -> None:
    async with workbench(size=SMALLEST) as (_app, pilot):
        await pilot.press("5", "a")
        await shows(pilot, "hosted, at pinata.cloud", "the same API, at your address", "inside pinui, no set-up")


async def test_how_long_a_transfer_takes_is_told_in_the_room_there_is(tmp_path: Path) -> None:
    async with workbench(size=SMALLEST) as (app, pilot):
        await SCENES["files"](app, pilot)
        await shows(pilot, " 22 s")
        assert "22 s…" not in text_of(app)


async def test_the_filter_looks_like_one() -> None:
    async with workbench(size=SMALLEST) as (_app, pilot):
        await pilot.press("slash")
        await paste(pilot, "fjord")
        await shows(pilot, " / fjord")


async def test_what_a_pane_says_is_not_said_in_front_of_it_too() -> None:
    async with workbench(size=SMALLEST) as (app, pilot):
        await pilot.press("5", "j", "t")
        await shows(pilot, "○ No token", "has no token that could be read")
        await settled(pilot)
        assert not TOASTS[app]
