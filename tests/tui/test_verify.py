"""Verifying many pins: its progress is shown, esc stops it, and the report tells what was checked."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot

from pinui.tui.app import Pinui
from pinui.workspace import Query
from tests.tui.pilots import shows, text_of, told, until, workbench
from tests.tui.test_pins import store


async def verifying(app: Pinui, pilot: Pilot[None], answered: int) -> asyncio.Event:
    """Six marked pins are being verified. So many are, and the other answers come with the event."""
    await store(app, **{f"pin-{number}": {"n": number} for number in range(6)})
    await shows(pilot, "6 pins")
    go_on, verify, asked = asyncio.Event(), app.workspace.verify, list[str]()

    async def late(address: str, **how: object) -> object:
        asked.append(address)
        if len(asked) > answered:
            await go_on.wait()
        return await verify(address, **how)  # type: ignore[arg-type]

    app.workspace.verify = late  # type: ignore[method-assign,assignment]
    await pilot.press("a", "V")
    await until(pilot, lambda: len(asked) > answered, "the next request")
    return go_on


async def test_esc_stops_it_and_the_report_tells_what_was_checked_and_what_is_left() -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        await verifying(app, pilot, 2)
        await shows(pilot, "verifying 3 of 6", "esc stop verifying")
        await pilot.press("escape")
        await told(pilot, "Stopped: 2 verified, 4 left.")
        await until(pilot, lambda: "verifying" not in text_of(app), "the end of it")
        await shows(pilot, "6 marked")


async def test_a_second_v_waits_for_the_first() -> None:
    async with workbench() as (app, pilot):
        go_on = await verifying(app, pilot, 2)
        await pilot.press("V")
        await told(pilot, "Pins are being verified already; esc stops that.")
        go_on.set()
        await told(pilot, "6 verified.")
        assert "stop verifying" not in text_of(app)


@pytest.mark.parametrize("text", ["", "pin"])
async def test_esc_that_comes_a_moment_too_late_closes_the_report_and_takes_no_mark_away(text: str) -> None:
    async with workbench() as (app, pilot):
        app.NOTIFICATION_TIMEOUT = 60  # type: ignore[misc]  until it is closed
        go_on = await verifying(app, pilot, 2)
        if text:
            await pilot.press("slash", *text, "enter")
            await shows(pilot, "6 of 6")
        go_on.set()
        await told(pilot, "6 verified.")
        await shows(pilot, "esc close the report")
        await pilot.press("escape")
        await until(pilot, lambda: "6 verified." not in text_of(app), "the end of the report")
        await shows(pilot, "6 of 6" if text else "6 pins", "6 marked")


async def test_esc_drops_a_range_first_then_stops_it_and_then_clears_the_filter() -> None:
    async with workbench() as (app, pilot):
        await verifying(app, pilot, 0)
        await pilot.press("slash", *"pin", "enter", "v", "j")
        await shows(pilot, "6 of 6", "esc drop the range")
        await pilot.press("escape")
        await shows(pilot, "esc stop verifying")
        await pilot.press("escape")
        await told(pilot, "Stopped: 6 left.")
        await shows(pilot, "6 of 6")
        await pilot.press("escape", "escape")  # the first one closes the report
        await until(pilot, lambda: "6 of 6" not in text_of(app), "the list without a filter")


async def test_many_are_read_in_pages_and_rows_that_vanish_meanwhile_are_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pinui.tui.places.pins.pin_actions.PAGE", 2)
    async with workbench() as (app, pilot):
        go_on = await verifying(app, pilot, 1)
        [oldest] = await app.workspace.history.page(Query(text="pin-0"))
        await app.workspace.revoke(oldest.cid)
        await app.workspace.history.forget([oldest.id])
        go_on.set()
        await told(pilot, "5 verified.")


async def test_quitting_stops_it() -> None:
    async with workbench() as (app, pilot):
        await verifying(app, pilot, 1)
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running, "the end")
    assert app.return_code == 0
