"""Revoking many pins: the question is a dry run, the work is a transfer, and a report comes at its end."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot

from pinui.node import Node
from pinui.sdk.errors import ProviderError
from pinui.tui.app import Pinui
from pinui.workspace import Entry, Query
from tests.tui.conftest import TOKEN
from tests.tui.pilots import confirm, read_question, shows, text_of, told, until, workbench
from tests.tui.test_copy_to import add_profile
from tests.tui.test_pins import pins_of, store


async def pinned(app: Pinui) -> int:
    return len([pin async for pin in (await app.workspace.connect()).pins()])


async def marked_and_asked(app: Pinui, pilot: Pilot[None], number: int) -> list[Entry]:
    entries = await store(app, **{f"picture-{n:03}": {"n": n} for n in range(number)})
    await shows(pilot, f"{number} pins")
    await pilot.press("a")
    await shows(pilot, f"{number} marked")
    await pilot.press("x")
    return entries


async def test_many_pins_are_revoked_as_a_transfer_with_a_report_and_what_is_gone_counts_as_done() -> None:
    async with workbench() as (app, pilot):
        entries = await marked_and_asked(app, pilot, 30)
        await shows(pilot, "Revoke 30 pins", "All can be stored", "and 23 more   (all 30: l)", "Type 30 to")
        client = await app.workspace.connect()
        for entry in entries[:2]:
            await client.revoke(entry.cid)
        await read_question(pilot)
        await pilot.press("3", "0", "enter")
        await told(pilot, "28 revoked, 2 were gone already.")
        assert await pinned(app) == 0
        await shows(pilot, "0 pins · 30 revoked")
        assert not pins_of(app).pins.marked
        await pilot.press("3")
        await shows(pilot, "− ▸ revoke 30 pins", "30 of 30", "1 done")  # × and ✗ look like failures
        assert "0 B" not in text_of(app), "revoked pins have no bytes to move"


async def test_l_lists_every_pin_of_the_question() -> None:
    async with workbench() as (app, pilot):
        await marked_and_asked(app, pilot, 25)
        await shows(pilot, "(all 25: l)")
        assert "    • picture-003" not in text_of(app)  # the detail may show it, with fewer spaces before it
        await pilot.press("l")
        await shows(pilot, "all 25", "    • picture-003", "    • picture-024")
        await pilot.press("escape")
        await shows(pilot, "Type 25 to revoke")
        await pilot.press("escape")
        assert await pinned(app) == 25


async def test_pins_that_vanished_from_the_account_are_not_in_the_question() -> None:
    async with workbench() as (app, pilot):
        client = await app.workspace.connect()
        made = [await client.store({"made": "elsewhere", "n": n}) for n in range(24)]
        await app.workspace.sync(full=True)
        await shows(pilot, "24 pins")
        await pilot.press("a")
        await shows(pilot, "24 marked")
        await client.revoke(made[0].cid)
        await pilot.press("x")
        await shows(pilot, "Revoke 23 pins", "None can be stored")


async def test_a_failure_is_named_in_the_report_and_the_others_are_revoked() -> None:
    async with workbench() as (app, pilot):
        entries = await marked_and_asked(app, pilot, 22)
        await shows(pilot, "Type 22 to revoke")
        revoke = app.workspace.revoke

        async def one_fails(cid: str, **how: object) -> object:
            if cid == entries[5].cid:
                raise ProviderError("It is held by a group", status=400)
            return await revoke(cid, **how)  # type: ignore[arg-type]

        app.workspace.revoke = one_fails  # type: ignore[method-assign,assignment]
        await read_question(pilot)
        await pilot.press("2", "2", "enter")
        await told(pilot, "21 revoked. Not revoked: picture-005 (It is held by a group).")
        left = await app.workspace.history.page(Query(of="pins", revoked=False))
        assert [entry.title for entry in left] == ["picture-005"]
        await pilot.press("3")
        await until(pilot, lambda: "1 failed" in text_of(app), "the row")


async def test_the_bar_counts_the_account_in_every_place(service: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINUI_TOKEN_STUDIO", TOKEN)
    async with workbench() as (app, pilot):
        add_profile(app, service)
        await app.use("studio")
        client = await app.workspace.connect()
        for number in range(23):
            await client.store({"n": number})
        await pilot.press("r")
        await until(pilot, lambda: "23 pins" in text_of(app).splitlines()[0], "the bar")
        await until(pilot, lambda: len(pins_of(app).pins.ids) == 23, "the rows")
        await pilot.press("a", "g", "space", "x")
        await shows(pilot, "Type 22 to revoke")
        await read_question(pilot)
        in_files, revoke = asyncio.Event(), app.workspace.revoke

        async def late(cid: str, **how: object) -> object:
            await in_files.wait()
            return await revoke(cid, **how)  # type: ignore[arg-type]

        app.workspace.revoke = late  # type: ignore[method-assign,assignment]
        await pilot.press("2", "2", "enter", "3")
        await shows(pilot, "revoke 22 pins")
        in_files.set()
        await shows(pilot, "22 of 22", "1 done")
        await until(pilot, lambda: " 1 pin ·" in text_of(app).splitlines()[0], "the bar")


async def test_the_report_tells_pins_that_were_gone_already() -> None:
    async with workbench() as (app, pilot):
        entries = await store(app, one={"n": 1}, two={"n": 2}, three={"n": 3}, four={"n": 4})
        await shows(pilot, "4 pins")
        client = await app.workspace.connect()
        for entry in (entries[1], entries[2], entries[3]):
            await client.revoke(entry.cid)
        await pilot.press("G", "shift+up", "shift+up", "x")
        await confirm(pilot, "R")
        await told(pilot, "Revoked 1 pin. 2 were gone already.")
        await pilot.press("g", "x")
        await confirm(pilot, "R")
        await told(pilot, "1 pin was gone already.")


async def in_transfers(app: Pinui, pilot: Pilot[None], answered: int) -> asyncio.Event:
    """Thirty pins are being revoked, so many of them are gone, and the other answers come with the event."""
    await marked_and_asked(app, pilot, 30)
    await shows(pilot, "Type 30 to revoke")
    go_on, revoke, begun = asyncio.Event(), app.workspace.revoke, list[str]()

    async def late(cid: str, **how: object) -> object:
        begun.append(cid)
        if len(begun) > answered:
            await go_on.wait()
        return await revoke(cid, **how)  # type: ignore[arg-type]

    app.workspace.revoke = late  # type: ignore[method-assign,assignment]
    await read_question(pilot)
    await pilot.press("3", "0", "enter", "3", "tab", "tab")
    await shows(pilot, "revoke 30 pins", f"{answered} of 30")
    return go_on


async def test_a_cancelled_bulk_revoke_reports_what_it_did_and_what_is_left() -> None:
    async with workbench() as (app, pilot):
        go_on = await in_transfers(app, pilot, 7)
        await pilot.press("c")
        go_on.set()  # three requests are on their way, and their answers count
        await told(pilot, "Revoke cancelled: 10 revoked, 20 left.")
        await shows(pilot, "10 of 30 · r retries", "1 cancelled")
        assert await pinned(app) == 20
        await pilot.press("1")
        await shows(pilot, "20 pins · 10 revoked")


async def test_the_row_of_a_paused_bulk_revoke_fits_a_small_terminal() -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        go_on = await in_transfers(app, pilot, 7)
        await pilot.press("p")
        go_on.set()
        await shows(pilot, "1 paused", "p go on")
        row = next(line for line in text_of(app).splitlines() if "revoke 30 pins" in line)
        assert row.rstrip(" │").endswith("paused  10 of 30"), row


async def test_a_paused_bulk_revoke_goes_on_and_its_report_counts_everything_once() -> None:
    async with workbench() as (app, pilot):
        go_on = await in_transfers(app, pilot, 7)
        await pilot.press("p")
        go_on.set()
        await shows(pilot, "10 of 30 · p goes on", "1 paused")
        assert await pinned(app) == 20
        await pilot.press("p")
        await told(pilot, "30 revoked.")
        assert await pinned(app) == 0
