"""The palette: everything that a key can do is found there, and what can't be done says so."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from pinui.tui.app import Pinui
from pinui.workspace import Profile, Profiles
from tests.tui.pilots import paste, settled, shows, text_of, told, until, workbench


async def choose(pilot: Pilot[None], words: str, name: str) -> None:
    """Find a command in the palette, and take it."""
    await pilot.press("ctrl+p")
    await shows(pilot, "Search for commands")
    await paste(pilot, words)
    await shows(pilot, name)
    await settled(pilot)
    await pilot.press("enter")


def focused(app: Pinui) -> str | None:
    return app.focused.id if app.focused else None


async def test_what_is_pasted_into_the_palette_cannot_steer_the_terminal() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("ctrl+p")
        await shows(pilot, "Search for commands")
        app.post_message(events.Paste("a\x9b31mb\x1b[2J"))
        await until(pilot, lambda: app.screen.query_one(Input).value, "what was pasted")
        assert not set("\x9b\x1b") & set(app.screen.query_one(Input).value)
        await settled(pilot)


async def test_it_knows_what_has_no_room_in_the_footer() -> None:
    async with workbench() as (app, pilot):
        await choose(pilot, "json: retrieve", "JSON: retrieve")
        await until(pilot, lambda: focused(app) == "address", "the field for a CID")
        assert app.current_mode == "json"
        await pilot.press("alt+1")
        await choose(pilot, "hidden files", "Files: hidden files")
        await until(pilot, lambda: focused(app) == "browser")
        for words in ("Messages: copy", "Messages: browser"):
            await pilot.press("ctrl+p")
            await shows(pilot, "Search for commands")
            await paste(pilot, words)
            await shows(pilot, words, "Copy a message's CID" if "copy" in words else "through the gateway")
            await pilot.press("escape")
            await settled(pilot)


async def test_a_command_that_has_nothing_to_act_on_says_so() -> None:
    async with workbench() as (app, pilot):
        await choose(pilot, "pins: revoke", "Pins: revoke")
        await told(pilot, "Nothing to do here for “revoke”.")
        await choose(pilot, "files: retry", "Files: retry")
        await until(pilot, lambda: app.current_mode == "files")
        await told(pilot, "Nothing to do here for “retry”.")


async def test_a_command_waits_for_the_place_that_it_leads_to() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.send("alice", "hello")
        await choose(pilot, "messages: copy", "Messages: copy")
        await shows(pilot, "ipfs:// URI")
        assert app.current_mode == "messages"


async def test_settings_that_cannot_be_read_take_no_commands_away() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.store({"city": "Oslo"}, name="a letter")
        app.workspace.paths.config.write_text("this is [ not toml")
        await pilot.press("ctrl+p")
        await shows(pilot, "Pins: filter")
        await told(pilot, "cannot be used: line 1")
        await paste(pilot, "a letter")
        await shows(pilot, "a letter", "pin Qm")
        assert "Use the profile" not in text_of(app)


async def test_the_settings_are_read_once_and_not_at_every_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[object] = []
    known = Profiles.list

    def counted(self: Profiles) -> object:
        reads.append(self)
        return known(self)

    async with workbench() as (_app, pilot):
        monkeypatch.setattr(Profiles, "list", counted)
        await pilot.press("ctrl+p")
        await shows(pilot, "Pins: filter")
        await pilot.press(*"profile")
        await shows(pilot, "Use the profile pinata")
        await settled(pilot)
    assert len(reads) == 1


async def test_a_history_that_cannot_be_read_takes_no_commands_away(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):

        async def broken(*_: object, **__: object) -> None:
            raise OSError(5, "Input/output error")

        await settled(pilot)
        monkeypatch.setattr(app.workspace.history, "page", broken)
        await pilot.press("ctrl+p")
        await shows(pilot, "Pins: filter")
        await told(pilot, "Input/output error.")


async def test_a_profile_that_is_gone_by_now_is_told_and_the_old_one_stays() -> None:
    async with workbench() as (app, pilot):
        profiles = app.workspace.profiles
        profiles.save(Profile("studio", "custom", "https://pins.example", "https://pins.example/ipfs"))
        await pilot.press("ctrl+p")
        await shows(pilot, "Search for commands")
        await paste(pilot, "profile studio")
        await shows(pilot, "Use the profile studio")
        await settled(pilot)
        profiles.remove("studio")  # another pinui did
        await pilot.press("enter")
        await told(pilot, "studio")
        assert app.workspace.profile.name == "local"
        assert app.is_running
