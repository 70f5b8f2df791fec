"""The log of messages: toasts vanish, their words don't."""

from __future__ import annotations

import pytest

from pinui.sdk.errors import ProviderError
from pinui.tui.dialogs.log import LogScreen
from tests.tui.pilots import paste, shows, until, workbench


async def test_the_log_opens_from_every_place_and_tells_what_was_told() -> None:
    async with workbench() as (app, pilot):
        for digit in "12345":
            await pilot.press(digit)
            app.tell(f"Told in place {digit}.")
            await pilot.press("L")
            words = f"today 22:43  · Told in place {digit}."
            await shows(pilot, "Messages of this run", words, "esc close", "y copy all")
            await pilot.press("L")
            await until(pilot, lambda: not isinstance(app.screen, LogScreen), "the place")


async def test_f2_opens_the_log_from_inside_a_field() -> None:
    async with workbench() as (_app, pilot):
        await pilot.press("2", "enter", "f2")
        await shows(pilot, "No messages yet.")


@pytest.mark.slow
async def test_an_error_has_all_its_words_in_the_log_and_the_newest_message_comes_first() -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        details = " ".join(f"word-{number}" for number in range(120))
        app.tell("Before it.")
        app.tell_error(ProviderError(details, status=500))
        await pilot.press("L")
        await shows(pilot, "✗ word-0 ", "word-60 ")
        await pilot.press("G")
        await shows(pilot, "word-119.", "· Before it.")


async def test_the_palette_opens_the_log() -> None:
    async with workbench() as (app, pilot):
        app.tell("Something happened.")
        await pilot.press("ctrl+p")
        await shows(pilot, "Search for commands")
        await paste(pilot, "log")
        await shows(pilot, "Read all messages of this run again")
        await pilot.press("enter")
        await shows(pilot, "Messages of this run", "Something happened.")


async def test_y_copies_the_whole_log_in_the_order_of_its_times(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[str] = []

    async def kept(text: str) -> bool:
        copies.append(text)
        return True

    monkeypatch.setattr("pinui.tui.clipboard.copied_by_system", kept)
    async with workbench() as (app, pilot):
        app.tell("First.")
        app.tell("Second.", warning=True)
        await pilot.press("L", "y")
        await until(pilot, lambda: copies, "a copy")
        assert [line.split("  ")[1] for line in copies[0].splitlines()] == ["First.", "Second."]
