"""What is pasted where there is no text field: an address of content is opened, anything else is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinui.tui.dialogs.prompt import Menu
from pinui.tui.places.content import ContentScreen
from tests.tui import scene
from tests.tui.pilots import paste, shows, text_of, told, until, workbench

pytestmark = pytest.mark.slow

SOMEBODYS = "https://gateway.example/ipfs/{}?download=1"


@pytest.mark.parametrize("place", ["1", "3", "4", "5"])
async def test_a_pasted_address_opens_a_menu_in_every_place(place: str) -> None:
    async with workbench() as (app, pilot):
        cid = (await (await app.workspace.connect()).store({"city": "Oslo"})).cid
        await pilot.press(place)
        await paste(pilot, SOMEBODYS.format(cid))
        await shows(pilot, "view", "download", "receive", cid)
        await pilot.press("v")
        await shows(pilot, '"city": "Oslo"', "esc close")
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_pasted_content_of_somebody_else_can_be_pinned(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "first.txt").write_text("Dear reader")
    async with workbench() as (app, pilot):
        client = await app.workspace.connect()
        await client.upload(folder)
        inside = (await client.upload(b"Dear reader")).cid
        await client.revoke(inside)
        await paste(pilot, inside)
        await shows(pilot, "p pin", "ask local to keep it, too")
        await pilot.press("p")
        await told(pilot, "is pinned.")
        assert [pin.cid async for pin in client.pins()].count(inside) == 1


async def test_whatever_it_is_can_be_viewed(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "first.txt").write_text("Dear reader")
    async with workbench() as (app, pilot):
        client = await app.workspace.connect()
        for content, words in (
            (b"# Notes\n\nthe boat leaves at six", "the boat leaves at six"),
            (folder, "first.txt"),
            (scene.picture(), "96 × 64 pixels"),
            (bytes(range(256)), "0000"),
            (b"", "empty"),
        ):
            cid = (await client.upload(content)).cid
            await paste(pilot, cid)
            await shows(pilot, "view")
            await pilot.press("v")
            await shows(pilot, words)
            await pilot.resize_terminal(60, 16)
            await shows(pilot, words)
            await pilot.resize_terminal(132, 34)
            await pilot.press("escape")
            await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_what_cannot_be_fetched_says_why() -> None:
    async with workbench() as (app, pilot):
        await paste(pilot, "QmbRooKnishLPQ6xW8nQRLFb94ZAShqci87gRnuYuij5bJ")
        await shows(pilot, "view")
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, ContentScreen) and "fetching" not in text_of(app))
        await shows(pilot, "This node does not have")


async def test_it_is_downloaded_from_the_menu_or_from_the_view(tmp_path: Path) -> None:
    async with workbench() as (app, pilot):
        cid = (await (await app.workspace.connect()).upload(b"some bytes")).cid
        for keys in (["d"], ["v", "d"]):
            await pilot.press("1")
            await paste(pilot, f"ipfs://{cid}")
            for key in keys:
                await pilot.press(key)
            await shows(pilot, "Save as", cid[:12])
            await until(pilot, lambda: app.focused is not None and app.focused.id == "target")
            await pilot.press("escape")


async def test_a_message_is_received_by_pasting_its_address() -> None:
    async with workbench() as (app, pilot):
        cid = (await (await app.workspace.connect()).send("me", "The lantern is lit.")).cid
        await paste(pilot, cid)
        await shows(pilot, "receive")
        await pilot.press("r")
        await shows(pilot, "not filed yet · 1", "The lantern is lit.")


async def test_what_is_pasted_on_a_pane_with_a_field_goes_into_that_field() -> None:
    async with workbench() as (app, pilot):
        cid = "QmbRooKnishLPQ6xW8nQRLFb94ZAShqci87gRnuYuij5bJ"
        for place, tabs, field in (("2", 1, "address"), ("3", 1, "address"), ("4", 2, "words")):
            await pilot.press(place, *["tab"] * tabs)
            await paste(pilot, cid)
            await shows(pilot, cid[:40])
            assert app.focused is not None
            assert app.focused.id == field
            assert not isinstance(app.screen, Menu)
            await pilot.press("escape")


async def test_other_text_is_told_where_it_can_go() -> None:
    async with workbench() as (_app, pilot):
        await paste(pilot, "Dear reader")
        await told(pilot, "A CID, or a URL with /ipfs/ in it, can be pasted here.")
        await pilot.press("question_mark")
        await shows(pilot, "The pins of this profile")
        await paste(pilot, "Dear reader")
        await told(pilot, "No text can be pasted here.")


async def test_in_files_a_path_comes_first() -> None:
    (Path.home() / "bafkqaaa").write_text("a file with an odd name")
    async with workbench() as (_app, pilot):
        await pilot.press("3")
        await paste(pilot, "bafkqaaa")
        await shows(pilot, "1 marked")
        await paste(pilot, "bafkqaba")
        await told(pilot, "No such file")
        await paste(pilot, "QmbRooKnishLPQ6xW8nQRLFb94ZAShqci87gRnuYuij5bJ")
        await shows(pilot, "view", "receive")
