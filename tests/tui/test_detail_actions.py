"""The detail pane: the list's actions on the pin that is shown, and the way to the next one."""

from __future__ import annotations

import pytest

from tests.tui.pilots import confirm, paste, shows, text_of, until, workbench
from tests.tui.test_pins import pins_of, store


def footer(text: str) -> str:
    return text.splitlines()[-1]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_j_and_k_show_the_next_pin_and_the_one_before(size: tuple[int, int]) -> None:
    async with workbench(size=size) as (app, pilot):
        await store(app, first={"which": "one"}, second={"which": "two"}, third={"which": "three"})
        await shows(pilot, "3 pins")
        await pilot.press("g", "enter")
        await shows(pilot, '"which": "three"', "1 of 3", "J next", "K previous")
        await pilot.press("J")
        await shows(pilot, '"which": "two"', "2 of 3")
        await pilot.press("J", "J")
        await shows(pilot, '"which": "one"', "3 of 3")
        await pilot.press("K")
        await shows(pilot, '"which": "two"', "2 of 3")
        assert app.screen.focused is pins_of(app).detail


@pytest.mark.slow
async def test_j_reaches_pins_that_the_hidden_list_never_drew() -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        await store(app, *({"number": number} for number in range(90)))
        await shows(pilot, "90 pins")
        await pilot.press("g", "enter", *"J" * 85)
        await shows(pilot, '"number": 4', "86 of 90")


async def test_the_detail_acts_on_the_pin_it_shows_whatever_is_marked() -> None:
    async with workbench() as (app, pilot):
        await store(app, first={"n": 1}, second={"n": 2}, third={"n": 3})
        await shows(pilot, "3 pins")
        await pilot.press("g", "space", "space", "enter")
        await shows(pilot, "2 marked", '"n": 1')
        for words in ("y copy", "x revoke", "o browser", "d download"):
            assert words in footer(text_of(app))
        await pilot.press("x")
        await shows(pilot, "Revoke this pin")
        await confirm(pilot, "R")
        await shows(pilot, "2 pins · 1 revoked", "revoked", "u store again", "2 marked")
        await pilot.press("u")
        await shows(pilot, "3 pins", "2 marked")


async def test_names_notes_and_marks_work_in_the_detail() -> None:
    async with workbench() as (app, pilot):
        await store(app, first={"n": 1}, second={"n": 2})
        await shows(pilot, "2 pins")
        await pilot.press("g", "enter", "n", "ctrl+u")
        await paste(pilot, "harbour")
        await pilot.press("enter")
        await until(pilot, lambda: "harbour" in text_of(app).splitlines()[3], "the name in the list")
        await pilot.press("N")
        await paste(pilot, "for the master")
        await pilot.press("enter")
        await shows(pilot, "Note     for the master")
        await pilot.press("space")
        await shows(pilot, "1 marked", '"n": 1')
        await pilot.press("K")
        await shows(pilot, "│ • harbour")
        await pilot.press("delete")
        await shows(pilot, "Forget 1 row")
