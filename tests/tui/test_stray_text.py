"""Text that was meant for something else: pasted without brackets, or typed into the wrong window."""

from __future__ import annotations

import random
import string
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from pinui.node import Node
from pinui.sdk.secret import Secret
from pinui.tui.app import Pinui
from pinui.workspace import Entry, Profile, Query
from tests.tui.pilots import (
    confirm,
    has_ended,
    paste,
    read_question,
    shows,
    told,
    type_ahead,
    type_at_once,
    workbench,
)
from tests.tui.services import TOKEN

pytestmark = pytest.mark.slow

STRAY = "'See QmbarExample and fix Rule 5"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine half a second is nothing; what is tested here is what keys do, not how fast."""
    monkeypatch.setattr(Pinui, "PATIENCE", 30.0)


async def revoked(app: Pinui) -> int:
    return await app.workspace.history.count(Query(revoked=True))


async def store(app: Pinui, number: int) -> None:
    for index in range(number):
        await app.workspace.store({"page": index})


@pytest.mark.parametrize("pins", [3, 30])
@pytest.mark.parametrize("by_a_person", [True, False])
async def test_text_for_another_window_revokes_nothing(pins: int, by_a_person: bool) -> None:
    async with workbench() as (app, pilot):
        await store(app, pins)
        await shows(pilot, f"{pins} pins")
        await (type_ahead if by_a_person else type_at_once)(pilot, STRAY)
        await shows(pilot, "─ Revoke ─", f"{pins} pins")  # with many pins, an l of the text lists them
        assert await revoked(app) == 0


async def test_the_question_is_asked_in_full_and_answered_after_a_quiet_moment() -> None:
    async with workbench() as (app, pilot):
        await store(app, 3)
        await shows(pilot, "3 pins")
        await pilot.press("a", "x")
        await shows(pilot, "Revoke 3 pins", "R works after half a second without keys")
        await type_ahead(pilot, "tab", "j", "R")  # another key starts the wait again, and the question stays
        await shows(pilot, "Revoke 3 pins", "R works after half a second without keys")
        await read_question(pilot)
        await shows(pilot, "R to revoke · esc to cancel")
        await pilot.press("R")
        await told(pilot, "Revoked 3 pins.")


async def test_the_button_takes_a_click_at_once_and_its_key_after_a_quiet_moment() -> None:
    async with workbench() as (app, pilot):
        await store(app, 2)
        await shows(pilot, "2 pins")
        await type_at_once(pilot, "g", "x", "tab", "enter")
        await shows(pilot, "Revoke this pin", "R works after")
        assert await revoked(app) == 0
        await confirm(pilot, "enter")
        await told(pilot, "Revoked 1 pin.")
        await pilot.press("G", "x")
        await shows(pilot, "Revoke this pin", "esc cancel")
        await pilot.click("#yes")
        await told(pilot, "Revoked 1 pin.")


@pytest.mark.parametrize("text", ["Rule 5", "RR", "R "])
async def test_text_that_begins_with_the_letter_answers_nothing(text: str) -> None:
    async with workbench() as (app, pilot):
        await store(app, 1)
        await shows(pilot, "1 pin")
        await pilot.press("x")
        await read_question(pilot)
        await shows(pilot, "R to revoke")
        await type_at_once(pilot, f"'{text}")
        await shows(pilot, "Revoke this pin", "R works after")
        assert await revoked(app) == 0


async def test_pasted_text_starts_the_wait_again() -> None:
    async with workbench() as (app, pilot):
        await store(app, 1)
        await shows(pilot, "1 pin")
        await pilot.press("x")
        await read_question(pilot)
        await shows(pilot, "R to revoke")
        await paste(pilot, "R")
        await shows(pilot, "Revoke this pin", "R works after")
        assert await revoked(app) == 0


async def test_many_pins_ask_for_their_number() -> None:
    async with workbench() as (app, pilot):
        await store(app, 21)
        await shows(pilot, "21 pins")
        await pilot.press("a", "x")
        await shows(pilot, "Revoke 21 pins", "Type 21 to revoke:", "digits count after half a second without keys")
        await shows(pilot, "enter confirm")
        await type_at_once(pilot, "'21\r")  # too early
        await read_question(pilot)
        await shows(pilot, "enter to confirm")
        await type_at_once(pilot, "'21\r")  # in one piece
        await paste(pilot, "21")
        await pilot.press("enter")
        await type_ahead(pilot, "'and 21", "enter")  # by a person, for another window
        await pilot.press("2", "2", "enter")
        await told(pilot, "The number doesn't match 21")
        assert await revoked(app) == 0
        await pilot.press("2", "1", "enter")
        await told(pilot, "21 revoked.")


async def test_many_rows_are_forgotten_by_their_number_too() -> None:
    async with workbench() as (app, pilot):
        await store(app, 22)
        await shows(pilot, "22 pins")
        await pilot.press("a", "delete")
        await shows(pilot, "Type 22 to forget:")
        await read_question(pilot)
        await pilot.press("2", "2", "enter")
        await told(pilot, "Forgot 22 rows")


async def test_text_stores_no_message_and_stays_as_a_draft() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.send("alice", "hello")
        await pilot.press("4")
        await shows(pilot, "alice")
        await type_at_once(pilot, "'iDear A.\rhow are you?\r")
        await told(pilot, "Press enter by itself: it came with other keys at once and does nothing.")
        await shows(pilot, "Dear A.⏎how are you?⏎")
        assert await app.workspace.history.count(Query()) == 1
        await pilot.press("enter")
        await shows(pilot, "how are you?", "you → alice")


async def test_enter_right_behind_pasted_text_counts() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.send("alice", "hello")
        await pilot.press("4")
        await shows(pilot, "alice")
        await pilot.press("i")
        app.post_message(events.Paste("Dear A."))
        app.post_message(events.Key("enter", None))
        await told(pilot, "Stored as Qm")
        await shows(pilot, "Dear A.", "you → alice")


async def test_text_uploads_nothing_and_does_not_quit() -> None:
    (Path.home() / "letter.txt").write_text("Dear reader\n")
    async with workbench() as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "letter.txt")
        await type_at_once(pilot, "'you use it")
        await told(pilot, "Press u by itself: it came with other keys at once and uploads nothing.")
        await type_at_once(pilot, "'quit")
        await told(pilot, "Press q by itself: it came with other keys at once and doesn't quit.")
        assert app.workspace.transfers.all == []
        await pilot.press("u")
        await shows(pilot, "1 done")


# -- any text -------------------------------------------------------------------------------------------------------

LETTERS = string.ascii_letters + string.digits + string.punctuation + "     \r\r\r\n\täø€🙂"
OFTEN = [*"123451234axxRFQUudnNiqryp", "\r", "\r", "x R", "aR", "21\r", "30\r", "i hello\r", "\t\r"]


def any_text(chance: random.Random) -> str:
    """Some characters, with the dangerous ones more often than in any book."""
    length = chance.choice([2, 3, 4, 5, 6, 8, 13, 21])
    parts = [chance.choice(OFTEN) if chance.random() < 0.5 else chance.choice(LETTERS) for _ in range(length)]
    return "".join(parts)


def _own(entry: Entry) -> Entry:
    """A row without what the mirror of the account adds to it, whenever that comes."""
    return replace(entry, id=0, service_name=None, standing=0)


async def holdings(app: Pinui) -> object:
    """All that a person could lose, and all that others could read."""
    workspace, home = app.workspace, Path.home()
    files = [path for path in home.rglob("*") if path.is_file() and not {".local", ".config"} & set(path.parts)]
    return (
        [_own(entry) for entry in await workspace.history.page(Query(), limit=100)],
        workspace.profiles.list(),
        (await workspace.credentials.read("work")).secret,
        {path: path.read_bytes() for path in files},
        list(workspace.transfers.all),
    )


async def many_texts(seed: int, number: int, service: Node) -> None:
    (Path.home() / "letter.txt").write_text("Dear reader\n")
    chance = random.Random(seed)
    async with workbench(size=(110, 30)) as (app, pilot):
        app.workspace.profiles.save(Profile("work", "custom", service.api_url, service.gateway_url))
        await app.workspace.credentials.save("work", Secret(TOKEN))
        await store(app, 24)
        await app.workspace.send("alice", "hello")
        await shows(pilot, "25 pins")
        before = await holdings(app)
        texts: list[str] = []
        while len(texts) < number:
            while len(app.screen_stack) > 1 and chance.random() < 0.7:  # sometimes a question is still open
                await pilot.press("escape")
            if len(app.screen_stack) == 1:
                await pilot.press(f"alt+{chance.randint(1, 5)}")
            app.pace.now.pass_by()
            texts.append(any_text(chance))
            await type_at_once(pilot, f"'{texts[-1]}")
            assert not has_ended(app), f"it ended after {texts[-1]!r}"
            if len(texts) % 10 == 0:
                assert await holdings(app) == before, f"in {app.current_mode}, after {texts[-10:]}"


async def test_no_text_revokes_forgets_removes_overwrites_sends_or_uploads_anything(service: Node) -> None:
    await many_texts(1, 30, service)


@pytest.mark.parametrize("seed", range(2, 12))
async def test_none_of_two_thousand_texts_does_either(seed: int, service: Node) -> None:
    await many_texts(seed, 200, service)
