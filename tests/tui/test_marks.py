"""Marks and ranges in Pins: every key acts on what is drawn as marked, and on nothing else."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import Callable, Coroutine, Iterable, Sequence
from random import Random
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from pinui.tui.app import Pinui
from pinui.tui.places.pins.marks import Marks
from pinui.workspace import Query
from tests.tui.pilots import confirm, shows, text_of, told, until, workbench
from tests.tui.test_pins import pins_of, store


def marked_rows(app: Pinui) -> list[str]:
    """The names of the rows that are drawn with a mark."""
    rows = (line.split("│")[1] for line in text_of(app).splitlines() if line.count("│") == 4)
    return [row.partition("•")[2][2:].split()[0] for row in rows if "•" in row]


async def six_pins(app: Pinui, pilot: Pilot[None]) -> None:
    await store(app, **{f"pin-{number}": {"n": number} for number in range(6)})
    await shows(pilot, "6 pins", "pin-0")


async def test_an_open_range_is_drawn_counted_and_revoked_as_marks_are() -> None:
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        await pilot.press("g", "v", "j", "j")
        await shows(pilot, "3 marked", "v ends the range")
        assert marked_rows(app) == ["pin-5", "pin-4", "pin-3"]
        await pilot.press("x")
        await shows(pilot, "Revoke 3 pins")
        await pilot.press("escape")
        await shows(pilot, "3 marked")
        await pilot.press("x")
        await confirm(pilot, "R")
        await told(pilot, "Revoked 3 pins.")
        await shows(pilot, "3 pins · 3 revoked")
        assert marked_rows(app) == []
        assert "marked" not in text_of(app)


async def test_esc_ends_a_range_and_marks_nothing() -> None:
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        await pilot.press("g", "space", "v", "j", "j")
        await shows(pilot, "4 marked", "esc drop the range")
        await pilot.press("escape")
        await shows(pilot, "1 marked")
        assert marked_rows(app) == ["pin-5"]
        assert "v ends the range" not in text_of(app)


async def test_esc_takes_the_marks_away_after_the_filter() -> None:
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        await pilot.press("g", "space", "slash", *"pin", "enter")
        await shows(pilot, "6 pins · 1 marked")
        await pilot.press("escape")
        await shows(pilot, "6 pins · 1 marked")
        await pilot.press("escape")
        await until(pilot, lambda: "marked" not in text_of(app), "the end of the marks")
        assert marked_rows(app) == []


async def test_a_range_moves_with_its_rows() -> None:
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        await pilot.press("g", "v", "j")
        await shows(pilot, "2 marked")
        await store(app, newer={"n": "newer"})
        await shows(pilot, "7 pins")
        assert marked_rows(app) == ["pin-5", "pin-4"]
        await pilot.press("v")
        await shows(pilot, "2 marked")
        assert marked_rows(app) == ["pin-5", "pin-4"]


async def test_a_range_whose_first_row_vanishes_ends() -> None:
    async with workbench() as (app, pilot):
        client = await app.workspace.connect()  # the client alone writes no history, as another program
        made = [await client.store({"n": number}) for number in range(6)]
        await app.workspace.sync(full=True)
        await shows(pilot, "6 pins")
        await pilot.press("g")  # the account may have been read when it had only the first of them
        await shows(pilot, made[5].cid[:20])
        await pilot.press("g", "v", "j", "j")
        await shows(pilot, "3 marked")
        await client.revoke(made[5].cid)
        await app.workspace.sync(full=True)
        await shows(pilot, "5 pins")
        await until(pilot, lambda: "marked" not in text_of(app), "the end of the range")
        assert marked_rows(app) == []


@pytest.mark.parametrize(
    ("keys", "marked"),
    [
        (("s", "n"), ["pin-3", "pin-4", "pin-5"]),
        (("space",), ["pin-5", "pin-4"]),
        (("asterisk",), ["pin-2", "pin-1", "pin-0"]),
        (("shift+down",), ["pin-5", "pin-4", "pin-3", "pin-2"]),
    ],
)
async def test_other_keys_for_marks_begin_with_the_rows_of_the_range(keys: tuple[str, ...], marked: list[str]) -> None:
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        await pilot.press("g", "v", "j", "j")
        await shows(pilot, "3 marked")
        await pilot.press(*keys)
        await until(pilot, lambda: marked_rows(app) == marked, f"marks: {marked}")
        await until(pilot, lambda: "v ends the range" not in text_of(app), "the end of the range")
        await shows(pilot, f"{len(marked)} marked")


async def test_a_filter_hides_the_rows_of_a_range_and_leaves_them_marked() -> None:
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        await pilot.press("g", "v", "j", "j", "slash")
        app.screen.query_one(Input).value = "pin-0"
        await shows(pilot, " 1 of ", "3 marked (3 not in sight)")


@pytest.mark.parametrize("text", ['""', "size:>1mbb", "-kind:jsn"])
async def test_a_filter_with_a_mistake_marks_no_list_that_nobody_meant(text: str) -> None:
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        await pilot.press("slash")
        app.screen.query_one(Input).value = text
        await shows(pilot, f"{text}: ", "6 pins")
        await pilot.press("enter")
        for key in ("a", "asterisk", "v"):
            await pilot.press(key)
            await told(pilot, "The filter has a mistake, so the list may not be the one you mean. Nothing was marked.")
        await pilot.press("j")
        assert marked_rows(app) == []
        await pilot.press("space")
        await shows(pilot, "1 marked")


def hold_lists(app: Pinui) -> asyncio.Event:
    """Let the rest of a list wait for this event; its first rows come at once."""
    released, history = asyncio.Event(), app.workspace.history
    list_ids: Callable[[Query], Coroutine[Any, Any, Any]] = history.list_ids

    async def late(query: Query) -> Any:
        await released.wait()
        return await list_ids(query)

    history.list_ids = late  # type: ignore[method-assign]
    return released


@pytest.mark.parametrize(
    ("keys", "marked"), [(["a"], 6), (["asterisk"], 6), (["G", "v"], 1), (["v", "G"], 6), (["G", "space"], 1)]
)
async def test_marks_wait_until_all_rows_are_known(
    keys: list[str], marked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinui.tui.places.pins.screen.FIRST", 2)
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        released = hold_lists(app)
        await pilot.press("z")  # another list, of which the first rows come at once
        await until(pilot, lambda: pins_of(app).pins.ids.is_part, "the first rows")
        await pilot.press("g", *keys, "x")
        released.set()
        await shows(pilot, f"Revoke {marked} pins" if marked > 1 else "Revoke this pin")
        await shows(pilot, f"{marked} marked")


async def test_many_marks_are_counted_without_their_size_and_rows_that_vanish_lose_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pinui.tui.places.pins.screen.SUMMED", 2)
    async with workbench() as (app, pilot):
        client = await app.workspace.connect()
        made = [await client.store({"n": number}) for number in range(6)]
        await app.workspace.sync(full=True)
        await shows(pilot, "6 pins")
        await pilot.press("g")  # the account may have been read when it had only the first of them
        await shows(pilot, made[5].cid[:20])
        await pilot.press("a")
        await shows(pilot, "6 pins · 6 marked ─")
        await client.revoke(made[5].cid)
        await app.workspace.sync(full=True)
        await shows(pilot, "5 pins · 5 marked ─")
        await pilot.press("slash")
        app.screen.query_one(Input).value = made[0].cid
        await shows(pilot, "5 marked (4 not in sight)")
        await pilot.press("escape", "a")
        await until(pilot, lambda: "marked" not in text_of(app), "the end of the marks")


async def test_other_keys_work_while_a_waits_for_a_long_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinui.tui.places.pins.screen.FIRST", 2)
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        released = hold_lists(app)
        await pilot.press("z")
        await until(pilot, lambda: pins_of(app).pins.ids.is_part, "the first rows")
        await pilot.press("g", "a", "j")
        await until(pilot, lambda: pins_of(app).pins.cursor == 1, "the next row")
        await shows(pilot, "marking …")
        await pilot.press("slash", *"pin-4")
        await shows(pilot, "/ pin-4")
        released.set()
        await shows(pilot, "6 marked (5 not in sight)")


async def test_other_keys_work_while_many_rows_are_marked_and_keys_for_marks_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released = threading.Event()

    def late(marks: Marks, ids: Iterable[int]) -> None:
        released.wait()
        marks.mark_all(ids)

    monkeypatch.setattr(Marks, "toggle_all", late)
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        try:
            await pilot.press("g", "a", "j")
            await until(pilot, lambda: pins_of(app).pins.cursor == 1, "the next row")
            app.post_message(events.Key("space", " "))
            app.post_message(events.Key("j", "j"))
            await shows(pilot, "marking …")
        finally:
            released.set()
        await until(pilot, lambda: pins_of(app).pins.cursor == 3, "the keys that waited")
        assert marked_rows(app) == ["pin-5", "pin-3", "pin-2", "pin-1", "pin-0"]


def test_marks_of_many_rows() -> None:
    marks = Marks([3, 5_000])
    marks.toggle_all([3, 4])
    assert marks == {3, 4, 5_000}
    marks.toggle_all([4, 3])
    assert marks == {5_000}
    marks.invert([9_000, 5_000])
    assert (marks.count_in([1, 9_000]), list(marks.beyond([7])), list(marks.beyond([9_000]))) == (1, [9_000], [])


@pytest.mark.parametrize("piece", [2, 3, 20_000])
def test_marks_are_a_set_however_they_are_made(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinui.tui.places.pins.marks.PIECE", piece)
    chance = Random(7)
    marks, expected = Marks(), set[int]()
    for _ in range(300):
        ids = chance.sample(range(12), chance.randrange(12))
        match chance.choice(["all", "invert", "toggle", "add", "discard", "take", "clear"]):
            case "all":
                marks.mark_all(ids)
                expected |= set(ids)
            case "invert":
                marks.invert(ids)
                expected ^= set(ids)
            case "toggle":
                marks.toggle_all(ids)
                expected = expected - set(ids) if expected >= set(ids) else expected | set(ids)
            case "add":
                marks.add(len(ids))
                expected.add(len(ids))
            case "discard":
                marks.discard(len(ids))
                expected.discard(len(ids))
            case "take":
                marks -= set(ids)
                expected -= set(ids)
            case _ if chance.random() < 0.1:
                marks.clear()
                expected.clear()
        assert (len(marks), list(marks)) == (len(expected), sorted(expected))
        assert [number in marks for number in range(12)] == [number in expected for number in range(12)]
        assert marks.count_in(ids) == len(expected & set(ids))
        assert list(marks.beyond(ids)) == sorted(expected - set(ids))


def test_a_million_marks_take_eight_bytes_each() -> None:
    marks = Marks(range(0, 200_000, 2))
    tracemalloc.start()
    marks.toggle_all(range(200_000))
    marks.invert([5, 7])
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(marks) == 199_998
    assert size < 9.5 * 200_000, "arrays grow by an eighth"


async def test_a_question_is_about_the_first_of_very_many_marks_and_the_others_stay_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pinui.tui.places.pins.screen.AT_ONCE", 4)
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        await pilot.press("g", "a")
        await shows(pilot, "6 marked")
        await pilot.press("x")
        await told(pilot, "The first 4 of 6 marked pins are taken; the others stay marked.")
        await shows(pilot, "Revoke 4 pins", "• pin-5", "• pin-2", "2 more are marked, and will stay so.")
        assert "• pin-1  " not in text_of(app).partition("Revoke 4 pins")[2].partition("Cancel")[0]
        await confirm(pilot, "R")
        await told(pilot, "Revoked 4 pins.")
        await shows(pilot, "2 pins · 4 revoked · 2 marked")
        assert marked_rows(app) == ["pin-1", "pin-0"]


@pytest.mark.parametrize("key", ["x", "delete"])
async def test_esc_cancels_a_question_that_takes_a_while_and_leaves_the_marks(key: str) -> None:
    async with workbench() as (app, pilot):
        await six_pins(app, pilot)
        await pilot.press("g", "a")
        await shows(pilot, "6 marked")
        history, asked, released = app.workspace.history, asyncio.Event(), asyncio.Event()
        entries: Callable[[Sequence[int]], Coroutine[Any, Any, Any]] = history.entries

        async def late(ids: Sequence[int]) -> Any:
            asked.set()
            await released.wait()
            return await entries(ids)

        history.entries = late  # type: ignore[method-assign,assignment]
        app.post_message(events.Key(key, None))
        await until(pilot, asked.is_set, "the rows for the question")
        await shows(pilot, "esc cancel")
        await pilot.press("escape")
        released.set()
        await until(pilot, lambda: "esc cancel" not in text_of(app), "the end of the question")
        await shows(pilot, "6 pins · 6 marked")
        assert len(app.screen_stack) == 1
