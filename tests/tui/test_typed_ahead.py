"""Keys that arrive faster than the screen changes go where they were meant to go."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from pinui.tui.app import Pinui
from pinui.workspace import Query
from tests.tui.pilots import Typing, confirm, shows, told, type_ahead, type_at_once, until, workbench


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine half a second is nothing; what is tested here is the order."""
    monkeypatch.setattr(Pinui, "PATIENCE", 120.0)


async def test_a_document_is_stored_in_one_breath() -> None:
    async with workbench() as (app, pilot):
        await type_at_once(pilot, "2", "i", "'[7]", "f5")
        await told(pilot, "Stored as Qm")
        assert (await app.workspace.history.page(Query()))[0].excerpt == "[7]"


async def test_a_name_and_a_message_typed_behind_the_key_that_asks_for_them() -> None:
    async with workbench() as (app, pilot):
        await type_ahead(pilot, "4", "n", "'alice", "enter", "'The keys are in the box", "enter")
        await shows(pilot, "you → alice", "The keys are in the box")
        entry = (await app.workspace.history.page(Query()))[0]
        assert (entry.recipient, entry.excerpt) == ("alice", "The keys are in the box")


async def test_a_download_gets_the_name_that_was_typed_over_the_one_proposed(tmp_path: Path) -> None:
    async with workbench() as (app, pilot):
        await app.workspace.upload(b"some bytes", name="letter.txt")
        await shows(pilot, "letter.txt")
        app.post_message(events.Key("d", "d"))
        app.post_message(events.Key("ctrl+u", None))
        app.post_message(events.Paste(str(tmp_path / "copy.txt")))
        await shows(pilot, "copy.txt")
        await pilot.press("enter")
        await shows(pilot, "1 done")
        assert (tmp_path / "copy.txt").read_bytes() == b"some bytes"


@pytest.mark.parametrize("type_keys", [type_ahead, type_at_once])
async def test_a_question_is_not_answered_by_the_key_behind_the_one_that_asked(type_keys: Typing) -> None:
    async with workbench() as (app, pilot):
        await app.workspace.store({"city": "Oslo"})
        await shows(pilot, "Oslo")
        await type_keys(pilot, "x", "R")
        await shows(pilot, "Revoke this pin", "R works after half a second without keys")
        assert await app.workspace.history.count(Query(revoked=True)) == 0
        await confirm(pilot, "R")
        await told(pilot, "Revoked 1 pin.")


async def test_what_is_typed_behind_a_filter_is_meant_for_what_it_finds() -> None:
    async with workbench() as (app, pilot):
        for name in ("grapes", "melon", "tall"):
            await app.workspace.store({"fruit": name}, name=name)
        await shows(pilot, "3 pins", "tall")
        await type_at_once(pilot, "slash", "'grapes", "enter", "x")
        await shows(pilot, "Revoke this pin")
        await confirm(pilot, "R")
        await told(pilot, "Revoked 1 pin.")
        assert [entry.name for entry in await app.workspace.history.page(Query(revoked=True))] == ["grapes"]
        await type_ahead(pilot, "escape", "z", "g", "n", "'!", "enter")
        await shows(pilot, "tall!", "revoked hidden")
        await until(pilot, lambda: len(app.screen_stack) == 1, "the prompt's end")


async def test_keys_that_arrive_after_the_last_screen_are_nobodys() -> None:
    async with workbench() as (app, _pilot):
        pass
    await app.on_event(events.Key("enter", None))
    await app.on_event(events.Paste("late"))


async def test_a_step_that_hangs_does_not_take_the_keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pinui, "PATIENCE", 0.05)
    async with workbench() as (app, pilot):
        app.hold_keys("something that never comes")
        await pilot.press("2")
        await until(pilot, lambda: app.current_mode == "json")
        await pilot.press("1")
        await until(pilot, lambda: app.current_mode == "pins")
