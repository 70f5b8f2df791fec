"""The account in Pins: rows that other programs made, beside those of the history."""

from __future__ import annotations

from textual.widgets import Input

from tests.tui.pilots import confirm, shows, told, until, workbench
from tests.tui.test_pins import pins_of, store


async def test_pins_that_another_program_made_are_listed_and_marked() -> None:
    async with workbench() as (app, pilot):
        await store(app, own={"n": 1})
        await shows(pilot, "1 pin")
        other = await app.workspace.connect()  # the client alone writes no history, as another program
        cid = (await other.upload(b"made elsewhere, with words in it")).cid
        await other.rename(cid, "café.png")
        await pilot.press("r")
        await shows(pilot, "2 pins", "ON", "○", "●", "café.png")
        await pilot.press("g")
        await shows(pilot, "the account; made elsewhere", "made elsewhere, with words in it")


async def test_everything_works_on_a_row_of_the_account() -> None:
    async with workbench() as (app, pilot):
        other = await app.workspace.connect()
        cid = (await other.upload(b"made elsewhere")).cid
        await other.rename(cid, "there.bin")
        await pilot.press("r")
        await shows(pilot, "there.bin")
        await until(pilot, lambda: pins_of(app).pins.current, "the row")
        await pilot.press("n")
        await shows(pilot, "A name of your own")
        app.screen.query_one(Input).value = "mine"
        await pilot.press("enter")
        await shows(pilot, "mine", "calls it there.bin")
        await pilot.press("R")
        await shows(pilot, "Another name for mine at local")
        app.screen.query_one(Input).value = "renamed.bin"
        await pilot.press("enter")
        await told(pilot, "Renamed at local.")
        assert [pin.name async for pin in other.pins()] == ["renamed.bin"]
        await pilot.press("delete")
        await told(pilot, "The history has no row of it: another program made this pin. x revokes it.")
        await pilot.press("x")
        await shows(pilot, "Revoke")
        await confirm(pilot, "R")
        await told(pilot, "Revoked 1 pin.")
        assert [pin async for pin in other.pins()] == []
        await shows(pilot, "0 pins · 1 revoked")


async def test_a_cid_is_pinned_with_a_key() -> None:
    async with workbench() as (app, pilot):
        other = await app.workspace.connect()
        cid = (await other.store({"a": 1})).cid
        await pilot.press("P")
        await shows(pilot, "The CID that the service should keep")
        app.screen.query_one(Input).value = cid
        await pilot.press("enter")
        await told(pilot, "is pinned.")
        await shows(pilot, "1 pin")


async def test_connection_tells_when_the_account_was_mirrored() -> None:
    async with workbench() as (app, pilot):
        other = await app.workspace.connect()
        await other.store({"a": 1})
        await pilot.press("r")
        await shows(pilot, "1 pin")
        await pilot.press("5")
        await shows(pilot, "Mirrored here", "1 made elsewhere")
