"""Another profile is chosen while something is under way; and what is told when transfers end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pinui.sdk.secret import Secret
from pinui.tui.app import Pinui
from pinui.tui.places.place import PlaceScreen
from pinui.tui.transfer_news import LONG, TransferNews
from pinui.workspace import Profile, Query, Transfer
from tests.servers import Seen, serve
from tests.tui.pilots import confirm, settled, shows, told, until, workbench

CID = "bafyreibnoelefnzgwbcacyt4vh52ymxvzbjq7mmqhtcnwarfq4lzegsiqe"  # of a kind that no upload can disprove


@asynccontextmanager
async def studio(app: Pinui) -> AsyncIterator[tuple[Seen, asyncio.Event]]:
    """A service in use that answers when the test says so, called studio."""
    may_answer = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        if request.method != "GET":
            await may_answer.wait()
        return web.json_response({"IpfsHash": CID, "PinSize": 3, "Timestamp": "2026-01-01T00:00:00Z"})

    async with serve(answer) as (url, seen):
        app.workspace.profiles.save(Profile("studio", "custom", url, f"{url}/ipfs"))
        await app.workspace.credentials.save("studio", Secret("a-token-of-studio"))
        await app.switch("studio")
        try:
            yield seen, may_answer
        finally:
            may_answer.set()


async def test_uploads_go_on_at_the_service_they_were_meant_for(tmp_path: Path) -> None:
    async with workbench() as (app, pilot), studio(app) as (seen, may_answer):
        await told(pilot, "Now using studio.")
        await pilot.press("3")
        for number in range(5):
            (tmp_path / f"{number}.txt").write_text(f"private {number}")
            app.workspace.transfers.upload(tmp_path / f"{number}.txt")
        await shows(pilot, "3 running · 2 waiting")
        await pilot.press("5")
        await shows(pilot, "Profiles", "studio")
        await pilot.press("g", "enter")
        await told(pilot, "Now using local. 5 transfers go on at studio.")
        await pilot.press("3", "tab", "tab")
        await shows(pilot, "this one at studio · 3 running · 2 waiting")
        may_answer.set()
        await shows(pilot, "5 done")
        assert [row.profile for row in await app.workspace.history.page(Query())] == ["studio"] * 5
        assert sum(request.method == "POST" for request in seen) == 5


async def test_steps_of_a_transfer_read_nothing_anew_and_all_else_shows_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench() as (app, pilot):
        await app.workspace.store([1], name="on-the-node.json")
        for number in range(3):
            await app.workspace.send("alice", f"{number} " * 300)
        async with studio(app):
            await told(pilot, "Now using studio.")
            (tmp_path / "large.bin").write_text("large")
            app.workspace.transfers.upload(tmp_path / "large.bin")
            await until(pilot, lambda: app.workspace.transfers.all[0].state == "running")
            await app.use("local")
            await shows(pilot, "on-the-node.json")
            reads: list[str] = []
            for owner, name in (
                (app.workspace.history, "recipients"),
                (app.workspace.history, "record"),
                (app.workspace.history, "ids"),
                (app.workspace.profiles, "list"),
                (app.workspace.credentials, "read"),
            ):
                monkeypatch.setattr(owner, name, noted(reads, name, getattr(owner, name)))
            for place, words in (("4", "you → alice"), ("5", "embedded node"), ("1", "on-the-node.json")):
                await pilot.press(place)
                await shows(pilot, words)
                await settled(pilot)
                reads.clear()
                screen = app.screen
                assert isinstance(screen, PlaceScreen)
                for _ in range(5):
                    screen.workspace_changed()  # as for each step of the upload
                    await settled(pilot)
                assert reads == [], f"in {place}"
            await pilot.press("4")
            await shows(pilot, "alice")
            await settled(pilot)
            reads.clear()
            await app.workspace.send("bob", "while it runs")
            await shows(pilot, "bob", "while it runs")
            assert "record" not in reads, "long messages are read once"


def noted(reads: list[str], name: str, work: Any) -> Any:
    def call(*values: Any) -> Any:
        reads.append(name)
        return work(*values)

    return call


async def test_pins_are_revoked_at_the_service_that_the_question_was_about() -> None:
    async with workbench() as (app, pilot):
        mine = [await app.workspace.store([number]) for number in range(2)]
        async with studio(app) as (seen, may_answer):
            for entry in mine:
                await app.workspace.history.add(replace(entry, id=0, profile="studio"), None)
            await shows(pilot, "● studio", "2 pins")
            await pilot.press("a", "x")
            await shows(pilot, "Revoke 2 pins")
            await confirm(pilot, "R")
            await until(pilot, lambda: any(request.method == "DELETE" for request in seen), "the first one")
            await pilot.press("q")
            await shows(pilot, "2 pins are still to be revoked. Quit anyway?")
            await pilot.press("escape")
            await app.switch("local")
            may_answer.set()
            await told(pilot, "Revoked 2 pins.")
            assert sum(request.method == "DELETE" for request in seen) == 2
        rows = await app.workspace.history.page(Query())
        assert {(row.profile, row.revoked_at is None) for row in rows} == {("local", True), ("studio", False)}


async def test_pins_of_a_profile_that_was_just_left_are_not_revoked() -> None:
    from pinui.tui.places.pins.screen import PinsScreen
    from pinui.tui.places.record_actions import revoke

    async with workbench() as (app, pilot):
        entry = await app.workspace.store([1])
        async with studio(app) as (seen, _):
            screen = app.screen
            assert isinstance(screen, PinsScreen)
            await revoke(screen, [entry])
            await told(pilot, "Nothing was revoked: another profile, studio, came into use just now.")
            assert not any(request.method == "DELETE" for request in seen)


def transfer(number: int, state: Any, seconds: float = 1.0) -> Transfer:
    ended = None if state in ("waiting", "running") else 1000.0 + seconds
    return Transfer(number, "upload", f"{number}.bin", state, started_at=1000.0, ended_at=ended)


def test_each_end_is_told_once_and_old_failures_are_not_told_again() -> None:
    transfers = TransferNews()
    first = transfer(1, "failed")
    assert transfers.news([transfer(1, "running")], "3") is None
    assert transfers.news([first], "3") == "1.bin failed. 3 shows it."
    assert transfers.news([first], "3") is None
    assert transfers.news([first, transfer(2, "running")], "3") is None
    assert transfers.news([first, transfer(2, "done")], "3") == "2.bin is uploaded. 3 shows it."
    retried = transfer(1, "failed", 9.0)
    assert transfers.news([retried, transfer(2, "done")], "3") == "1.bin failed. 3 shows it."


def test_a_failure_among_many_is_told_when_the_last_has_ended() -> None:
    transfers = TransferNews()
    assert transfers.news([transfer(1, "failed"), transfer(2, "running")], "3") is None
    both = [transfer(1, "failed"), transfer(2, "done")]
    assert transfers.news(both, "3") == "Transfers have ended, 1 failed. 3 shows them."


def test_one_that_took_long_is_told_while_others_go_on() -> None:
    transfers = TransferNews()
    going = transfer(9, "running")
    assert transfers.news([transfer(1, "done"), going], "3") is None, "many short ones would ring without end"
    told = transfers.news([transfer(1, "done"), transfer(2, "done", LONG), going], "3")
    assert told == "2.bin is uploaded; 1 transfer not done yet. 3 shows it."
    down = replace(transfer(3, "done", LONG), kind="download")
    assert transfers.news([down, going], "3") == "3.bin is here; 1 transfer not done yet. 3 shows it."
    two = [transfer(4, "failed", LONG), going, transfer(10, "running")]
    assert transfers.news(two, "3") == "4.bin failed; 2 transfers not done yet. 3 shows them."


def test_what_was_cancelled_is_no_news() -> None:
    assert TransferNews().news([transfer(1, "cancelled", LONG)], "3") is None
