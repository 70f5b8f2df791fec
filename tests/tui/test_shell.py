"""The shell: places, keys, footer, palette, help, themes, and how it ends."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest
from aiohttp import web

from pinui.sdk.secret import Secret
from pinui.tui.app import Pinui, make_app, run
from pinui.tui.places.json.screen import JsonScreen
from pinui.tui.widgets.top_bar import TopBar
from pinui.workspace import ConfigError, Profile, UnknownProfile, Workspace
from tests.locks import held_folder
from tests.servers import serve
from tests.tui import textual_private
from tests.tui.pilots import PATIENCE, confirm, paste, settled, shows, text_of, told, type_ahead, until, workbench
from tests.tui.services import TOKEN


def footer(app: Pinui) -> str:
    return text_of(app).splitlines()[-1]


async def test_the_first_start_welcomes_once() -> None:
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, "Welcome to pinui.", "what you store is public.")
        await pilot.press("enter")
        await shows(pilot, "Nothing is pinned yet.")
        await until(pilot, lambda: app.workspace.profiles.setting("welcomed"))
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, "Nothing is pinned yet.")
        assert "Welcome" not in text_of(app)


async def test_the_welcome_gives_way_to_any_place_and_to_the_palette() -> None:
    async with workbench(welcome=True) as (_app, pilot):
        await shows(pilot, "Welcome to pinui.")
        await pilot.press("2")
        await shows(pilot, "Store", "Retrieve")
        await pilot.press("1")
        await shows(pilot, "Nothing is pinned yet.")
    async with workbench(welcome=True) as (app, pilot):
        app.workspace.profiles.set_setting("welcomed", False)
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, "Welcome to pinui.")
        await pilot.press("ctrl+p")
        await shows(pilot, "Search for commands")
        await paste(pilot, "pins: filter")
        await shows(pilot, "Pins: filter")
        await pilot.press("enter")
        await shows(pilot, "/ filter: words, kind:json size:>1mb", "enter to the list   esc clear")


async def test_s_on_the_welcome_screen_sets_up_a_service() -> None:
    async with workbench(welcome=True) as (_app, pilot):
        await shows(pilot, "Welcome")
        await pilot.press("s")
        await shows(pilot, "Where should your pins live?")


async def test_digits_go_to_the_five_places_and_alt_digits_do_from_a_field() -> None:
    async with workbench() as (app, pilot):
        for digit, mode in zip("23451", ("json", "files", "messages", "connection", "pins"), strict=True):
            await pilot.press(digit)
            assert app.current_mode == mode
        await pilot.press("2", "i", "5", "q")
        screen = app.screen
        assert isinstance(screen, JsonScreen)
        assert screen.editor.text == "5q", "in a field letters and digits are text"
        await pilot.press("alt+1")
        assert app.current_mode == "pins"
        await pilot.press("2")
        assert app.screen is screen
        assert screen.editor.text == "5q", "a place is as it was left"


async def test_the_footer_shows_only_keys_that_work() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2")
        await shows(pilot, "enter edit")
        assert "q quit" in footer(app)
        await pilot.press("enter")
        await shows(pilot, "esc leave field")
        line = footer(app)
        assert "F5 store" in line
        assert "F1 help" in line
        assert "enter edit" not in line
        assert " q quit" not in line, "q is typed in a field"
        await pilot.press("escape")
        await shows(pilot, "enter edit")
        assert "leave field" not in footer(app)


async def test_a_click_in_the_bars_does_what_it_says() -> None:
    async with workbench() as (app, pilot):
        x = text_of(app).splitlines()[0].index("3 Files")
        await pilot.click(TopBar, offset=(x, 0))
        assert app.current_mode == "files"
        last = app.size.height - 1
        await pilot.click(offset=(text_of(app).splitlines()[-1].index("? help"), last))
        await shows(pilot, "Your own files.")


async def test_the_palette_finds_actions_of_other_places_and_profiles() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("ctrl+p")
        await shows(pilot, "Pins: filter")
        await paste(pilot, "messages: new")
        await shows(pilot, "Messages: new")
        await pilot.press("enter")
        await shows(pilot, "Whom do you want to write to?")
        assert app.current_mode == "messages"
        await pilot.press("escape", "ctrl+p")
        await paste(pilot, "profile pinata")
        await shows(pilot, "Use the profile pinata")


async def test_help_explains_what_has_the_focus() -> None:
    async with workbench(size=(100, 40)) as (_app, pilot):
        await pilot.press("question_mark")
        await shows(pilot, "The pins of this profile", "Mark this pin")
        await pilot.press("escape", "2", "i", "f1")
        await shows(pilot, "Write or load a JSON document", "F5")


async def test_f1_explains_dialogs_too() -> None:
    async with workbench(size=(100, 40)) as (app, pilot):
        await app.workspace.store({"city": "Oslo"})
        await shows(pilot, "Oslo")
        for keys, words in (
            ("x", ("A question", "Nothing changes until you say yes", "Press the button")),
            ("y", ("A menu", "Choose CID", "Close the dialog")),
            ("n", ("A line to fill in", "Take this text")),
        ):
            await pilot.press(keys)
            await until(pilot, lambda: len(app.screen_stack) == 2)
            await pilot.press("f1")
            await shows(pilot, *words)
            await pilot.press("escape")
            await until(pilot, lambda: len(app.screen_stack) == 2)
            await pilot.press("escape")
            await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("1", "f1")
        await shows(pilot, "Five steps", "Open the page where tokens are made")
        await pilot.press("escape")
        await shows(pilot, "Paste the API token")


async def test_a_theme_is_remembered() -> None:
    async with workbench() as (app, pilot):
        app.theme = "pinui-light"
        await until(pilot, lambda: app.workspace.profiles.setting("theme") == "pinui-light")
    async with workbench(welcome=True) as (app, _pilot):
        assert app.theme == "pinui-light"


async def test_a_sheet_is_parsed_once_for_a_theme(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = textual_private.note_parsing(monkeypatch)
    async with workbench() as (app, pilot):
        await pilot.press("3", "4", "1")
        await shows(pilot, "Nothing is pinned yet.")
        assert len(parsed) > 10
        assert len(set(parsed)) == len(parsed), "neither the first frame nor another place parses a sheet again"
        dark = app.screen.styles.background
        app.theme = "pinui-light"
        await until(pilot, lambda: app.screen.styles.background != dark)
        assert app.has_class("-light-mode", "-theme-pinui-light")
        assert not app.has_class("-dark-mode")
        assert not app.has_class("-theme-pinui")


async def test_a_choice_that_cannot_be_remembered_is_told() -> None:
    async with workbench() as (app, pilot):
        await until(pilot, lambda: app.workspace.profiles.setting("welcomed"))
        app.workspace.paths.config.write_text("this is [ not toml")
        app.theme = "pinui-light"
        await told(pilot, "cannot be used: line 1")
    app.workspace.paths.config.unlink()
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, "Welcome to pinui.")
        app.workspace.paths.config.write_text("this is [ not toml")
        await pilot.press("enter")
        await told(pilot, "cannot be used: line 1")


@pytest.mark.parametrize("size", [(59, 20), (80, 15)])
async def test_a_tiny_terminal_gets_a_sentence(size: tuple[int, int]) -> None:
    async with workbench() as (app, pilot):
        await pilot.resize_terminal(*size)
        await shows(pilot, "at least 60×16")
        await pilot.resize_terminal(80, 24)
        await shows(pilot, "Nothing is pinned yet.", "space mark")
        assert app.screen.focused is not None, "keys work as before"


async def test_what_another_program_stores_appears_by_itself() -> None:
    async with workbench() as (_app, pilot):
        await shows(pilot, "Nothing is pinned yet.")
        async with await Workspace.open() as elsewhere:
            await elsewhere.store({"from": "elsewhere"}, name="a letter from elsewhere")
        await shows(pilot, "a letter from elsewhere", "1 pin")


async def test_one_toast_at_a_time_above_the_lower_border_and_gone_in_the_next_place() -> None:
    async with workbench() as (app, pilot):
        app.tell("The first word.")
        app.tell("The second word.")
        await shows(pilot, "The second word.")
        app.tell("The last word.")
        await shows(pilot, "The last word.")
        await until(pilot, lambda: "second" not in text_of(app))
        assert "first" not in text_of(app)
        *_, above, border, keys = text_of(app).splitlines()
        assert "The last word." in above
        assert border.strip().startswith("╰")
        assert border.endswith("╯")
        assert "q quit" in keys
        await pilot.press("2")
        await shows(pilot, "on this machine only")
        assert "The last word." not in text_of(app)
        await pilot.press("1")
        await shows(pilot, "Nothing is pinned yet.")
        assert "The last word." not in text_of(app)


async def test_q_leaves_at_once_when_nothing_runs() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running, "the end")
    assert app.return_code == 0


async def test_leaving_asks_while_a_transfer_runs() -> None:
    async with workbench() as (app, pilot):
        waiting = asyncio.Event()

        async def slow(*_: object, **__: object) -> None:
            await waiting.wait()

        app.workspace.upload = slow  # type: ignore[method-assign,assignment]
        app.workspace.transfers.upload(app.workspace.paths.config)
        await pilot.press("q")
        await shows(pilot, "1 transfer is not done.")
        await pilot.press("q", "enter")
        await settled(pilot)
        assert app.is_running, "the dialog starts on Cancel, and the key that opened it does not confirm"
        await pilot.press("q")
        await shows(pilot, "1 transfer is not done.")
        await confirm(pilot, "Q")
        await until(pilot, lambda: not app.is_running, "the end")
    assert app.return_code == 0


async def test_a_crash_is_not_exit_code_0() -> None:
    app = make_app()
    with pytest.raises(ZeroDivisionError):
        async with app.run_test() as pilot:

            def crash() -> None:
                raise ZeroDivisionError

            app.call_later(crash)
            await pilot.pause()
            await until(pilot, lambda: not app.is_running)
    assert app.return_code == 1


def test_broken_settings_are_reported_before_the_screen_is_taken(own_home: Path) -> None:
    own_home.mkdir()
    config = own_home / "config.toml"
    config.write_text("profile = [broken")
    with pytest.raises(ConfigError, match="line 1, column 12"):
        run(None)
    assert config.read_text() == "profile = [broken"


def test_a_profile_that_is_not_there_is_reported_before_the_screen_is_taken() -> None:
    with pytest.raises(UnknownProfile, match="nowhere"):
        run("nowhere")


async def test_a_pause_that_the_service_asks_for_is_counted_down_in_the_bar() -> None:
    async def service(request: web.Request) -> web.Response:
        if request.method == "POST":
            return web.json_response({"IpfsHash": "QmS7Upb9rN86uA91bY7YWgpUR28LjGVQ22UPtAFqzA5b4n"})
        return web.Response(status=429, headers={"Retry-After": "80"})

    async with serve(service) as (url, _seen), workbench(size=(80, 24)) as (app, pilot):
        app.workspace.profiles.save(Profile("busy", "custom", api_url=url, gateway_url=f"{url}/ipfs"))
        await app.workspace.credentials.save("busy", Secret(TOKEN))
        await app.workspace.switch("busy")
        asking = asyncio.ensure_future(app.workspace.test())

        def left() -> int:
            return int((re.findall(r"busy  waiting (\d+) s for", text_of(app)) or ["0"])[0])

        await until(pilot, left, "the countdown")
        first = left()
        assert 60 < first <= 81
        await until(pilot, lambda: 0 < left() < first, "the next second")
        asking.cancel()
        await app.workspace.store("while it waits")
        await until(pilot, lambda: not left(), "the end of the countdown")


async def test_a_digit_typed_behind_q_opens_nothing_any_more() -> None:
    async with workbench() as (app, pilot):
        app.pace.now.pass_by()  # since the key that left the welcome
        await type_ahead(pilot, "q", "4")
        assert app.current_mode != "messages"
    assert app.return_code == 0


async def test_a_person_hears_that_another_process_holds_the_nodes_folder(own_home: Path) -> None:
    with held_folder(own_home / "node") as fd:
        async with workbench(welcome=True) as (app, pilot):
            await told(pilot, "Waiting for another process, which holds the node's folder")
            os.close(fd)
            await until(pilot, lambda: app.workspace.status.state == "ok", "the node")


async def test_leaving_does_not_wait_for_the_nodes_folder(own_home: Path) -> None:
    with held_folder(own_home / "node"):
        async with asyncio.timeout(PATIENCE), workbench(welcome=True) as (app, pilot):
            await told(pilot, "Waiting for another process, which holds the node's folder")
            await pilot.press("q")
            await until(pilot, lambda: not app.is_running, "the end")


async def test_the_welcome_says_where_enter_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINUI_API_URL", "https://pins.example")
    monkeypatch.setenv("PINUI_TOKEN", "a-token")
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, "begin with environment, at pins.example")
        assert app.audience == "public once stored"


@pytest.mark.parametrize(
    ("width", "keys"),
    [
        (80, "/ filter   space mark   enter open   y copy   x revoke"),
        (120, "/ filter   space mark   enter open   y copy   x revoke   v range   c copy to…   s sort   n name"),
    ],
)
async def test_the_footer_of_pins_begins_with_the_keys_that_are_needed_most(width: int, keys: str) -> None:
    async with workbench(size=(width, 30)) as (app, pilot):
        await app.workspace.store({"n": 1})
        await shows(pilot, "1 pin")
        await until(pilot, lambda: footer(app).strip().startswith(keys), keys)
        assert footer(app).rstrip().endswith("? help   q quit")
