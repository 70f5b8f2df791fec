"""Connection, against real nodes: what is known of each profile, and what can be done with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pinui.node import Node
from pinui.sdk.secret import Secret
from pinui.tui.app import Pinui
from pinui.workspace import Profile
from pinui.workspace.keyring_store import KeyringTrouble
from pinui.workspace.profiles import BUILT_IN
from tests.tui.pilots import TOASTS, confirm, paste, settled, shows, text_of, told, until, workbench
from tests.tui.services import TOKEN
from tests.workspace.stores import FakeOSStore, use_store


async def test_what_the_node_holds_is_counted_anew_on_every_visit() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("5")
        await shows(pilot, "On the account   0 pins")
        await pilot.press("1")
        await app.workspace.store({"one": "more"})
        await pilot.press("5")
        await shows(pilot, "On the account   1 pin", "In history here  1 record")


async def test_a_profile_that_cannot_be_edited_says_why() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("5")
        await shows(pilot, "▌local", "Settings         built in; nothing to edit or remove")
        assert [app.screen.check_action(action, ()) for action in ("edit", "replace_token", "remove")] == [None] * 3
        await pilot.press("j")
        await shows(pilot, "▌pinata")
        await until(pilot, lambda: "Settings" not in text_of(app), "the facts of the other profile")
        assert all(app.screen.check_action(action, ()) for action in ("edit", "replace_token", "remove"))


@pytest.mark.parametrize("width", [60, 80, 132])
async def test_a_long_name_leaves_the_bar_to_the_places(width: int) -> None:
    async with workbench(size=(width, 24)) as (app, pilot):
        name = "production-eu-west-1-pinning-service-of-the-archive-team-in-oslo"
        app.workspace.profiles.save(Profile(name, "custom", "https://pins.example", "https://pins.example/ipfs"))
        await app.use(name)
        await pilot.press("5")
        bar = "1 Pins  2 JSON  3 Files  4 Msgs  5 Conn" if width < 100 else "5 Connection"
        await until(pilot, lambda: text_of(app).splitlines()[0].rstrip().endswith(bar), "the places")
        await until(pilot, lambda: " pro" in text_of(app).splitlines()[0], "the name")


async def test_long_addresses_are_whole_beside_the_scroll_bar() -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        gateway = "https://gateway.eu-west-1.archive.example.organisation/" + "a-long-way-down/" * 8 + "ipfs"
        others = tuple(f"https://other-{number}.example/ipfs" for number in range(6))
        profile = Profile("archive", "custom", "https://pins.example", gateway, gateways=others)
        app.workspace.profiles.save(profile)
        await pilot.press("5")
        await shows(pilot, "▌local")
        await pilot.press("j", "j")
        await shows(pilot, "Gateway", "other-1")
        rows = text_of(app).splitlines()
        first = next(index for index, row in enumerate(rows) if "Gateway" in row)
        seen = "".join(row.strip(" │").removeprefix("Gateway").strip() for row in rows[first : first + 5])
        assert gateway in seen


@pytest.mark.parametrize("lines", [6, 7, 8])
async def test_a_list_that_scrolls_shows_both_lines_of_the_profile_and_no_half_one(lines: int) -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        for name in "abcdef":
            app.workspace.profiles.save(Profile(name, "custom", f"https://{name}.example", f"https://{name}.example"))
        await pilot.press("5")
        await shows(pilot, "▌local", "embedded node")
        app.screen.query_one("#profiles").styles.height = lines + 2
        await pilot.press("j")
        for key, names in (("j", "abcdef"), ("k", "edcba")):
            for name in names:
                await pilot.press(key)
                await shows(pilot, f"▌{name} ", f"{name}.example")
                first = text_of(app).splitlines()[2].strip("│ ")
                assert not first.endswith((".example", "node", ".cloud")), "a second line without its first"


async def add_profile(app: Pinui, service: Node) -> None:
    app.workspace.profiles.save(Profile("studio", "custom", service.api_url, service.gateway_url))
    await app.workspace.credentials.save("studio", Secret(TOKEN))


async def test_profiles_are_tested_used_and_removed(service: Node) -> None:
    async with workbench() as (app, pilot):
        await add_profile(app, service)
        await pilot.press("5")
        await shows(pilot, "local", "● ready", "studio", "○ not tested", "the node makes its own")
        await pilot.press("j", "j", "t")
        await shows(pilot, "● connected", "✓ Connected", "in memory, for this run only", "Last test")
        await pilot.press("enter")
        await told(pilot, "Now using studio.")
        await until(pilot, lambda: app.workspace.profile.name == "studio")
        await until(pilot, lambda: "studio" in text_of(app).splitlines()[0], "the name in the bar")
        await pilot.press("delete")
        await shows(pilot, "Remove the profile studio?")
        await confirm(pilot, "R")
        await until(pilot, lambda: app.workspace.profile.name == "local")
        await until(pilot, lambda: "studio" not in text_of(app).splitlines()[0])
        assert [profile.name for profile in app.workspace.profiles.list()] == ["local", "pinata"]


async def test_a_changed_address_asks_for_another_token(service: Node) -> None:
    async with workbench() as (app, pilot):
        await add_profile(app, service)
        await pilot.press("5")
        await shows(pilot, "studio", "○ not tested")
        await pilot.press("j", "j", "enter")
        await told(pilot, "Now using studio.")
        await pilot.press("e")
        await shows(pilot, "API address of studio")
        await pilot.press("ctrl+u")
        await paste(pilot, "http://127.0.0.1:9")
        await pilot.press("enter")
        await shows(pilot, "Gateway address of studio")
        await pilot.press("enter")
        await told(pilot, f"Its token was entered for {service.api_url}, and is not sent to http://127.0.0.1:9.")
        await pilot.press("t")
        await shows(pilot, "○ no token", "○ No token", "5, then r", f"entered for {service.api_url}")
        assert "unreachable" not in text_of(app)
        await pilot.press("r")
        await shows(pilot, "New token for studio", "No keyring works here")
        await paste(pilot, "another-token")
        await pilot.press("enter")
        await told(pilot, "Kept in memory, for this run only.")
        await pilot.press("t")
        await shows(pilot, "✗ unreachable")


async def test_a_token_that_goes_to_the_keyring_is_said_to(monkeypatch: pytest.MonkeyPatch, service: Node) -> None:
    use_store(monkeypatch, FakeOSStore())
    async with workbench() as (app, pilot):
        await add_profile(app, service)
        await pilot.press("5")
        await shows(pilot, "studio", "○ not tested")
        await pilot.press("j", "j", "r")
        await shows(pilot, "It goes to the OS keyring, never to a file")


async def test_of_a_built_in_profile_the_token_is_removed_and_the_profile_stays() -> None:
    async with workbench() as (app, pilot):
        credentials, profiles = app.workspace.credentials, app.workspace.profiles
        await credentials.save("pinata", Secret(TOKEN))
        await credentials.save_gateway_key("pinata", Secret("key"))
        changed = replace(profiles.get("pinata"), gateway_url="https://mine.example/ipfs", gateway_key=True)
        profiles.save(changed)
        await pilot.press("5")
        await shows(pilot, "pinata")
        await pilot.press("j")
        await shows(pilot, "hosted service")
        await pilot.press("delete")
        await shows(pilot, "Remove the token of pinata?", "is built in and stays")
        assert "takes its place" not in text_of(app), "it is not in use"
        await confirm(pilot, "R")
        await told(pilot, "The token of pinata is removed.")
        assert (await credentials.read("pinata")).origin == "none"
        assert (await credentials.read_gateway_key("pinata")).origin == "none"
        assert profiles.get("pinata") == BUILT_IN["pinata"]
        await pilot.press("j")
        await shows(pilot, "hosted service")
        await pilot.press("delete")
        await shows(pilot, "Remove the token of pinata?")
        await confirm(pilot, "R")
        await told(pilot, "The token of pinata is removed.")
        assert app.workspace.profile.name == "local"


async def test_a_built_in_profile_in_use_gives_way_to_the_local_node_once_its_token_is_gone() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.credentials.save("pinata", Secret(TOKEN))
        await pilot.press("5")
        await shows(pilot, "pinata")
        await pilot.press("j", "enter")
        await told(pilot, "Now using pinata.")
        await pilot.press("delete")
        await shows(pilot, "Remove the token of pinata?", "the local node takes its place")
        await confirm(pilot, "R")
        await told(pilot, "Now using local.")
        assert (await app.workspace.credentials.read("pinata")).origin == "none"


async def test_a_keyring_that_keeps_the_token_keeps_the_profile_too(service: Node) -> None:
    async with workbench() as (app, pilot):
        await add_profile(app, service)

        async def locked(_profile: str) -> None:
            raise KeyringTrouble("The keyring is locked: unlock it and try again.")

        app.workspace.credentials.delete = locked  # type: ignore[method-assign]
        await pilot.press("5")
        await shows(pilot, "studio")
        await pilot.press("j", "j", "enter")
        await told(pilot, "Now using studio.")
        await pilot.press("delete")
        await shows(pilot, "Remove the profile studio?")
        await confirm(pilot, "R")
        await told(pilot, "The keyring is locked: unlock it and try again.")
        assert app.workspace.profile.name == "studio"
        assert "studio" in [profile.name for profile in app.workspace.profiles.list()]


async def test_settings_that_cannot_be_read_are_told_once_and_what_is_in_use_is_shown() -> None:
    async with workbench() as (app, pilot):
        await until(pilot, lambda: app.workspace.profiles.setting("welcomed"))
        app.workspace.paths.config.write_text("this is [ not toml")
        await pilot.press("5")
        await told(pilot, "cannot be used: line 1")
        await shows(pilot, "Profiles", "● ready", "embedded node", "In history here")
        await pilot.press("1", "5")
        await shows(pilot, "Profiles", "● ready", "In history here")
        await settled(pilot)
        assert not TOASTS[app], "once"


async def test_a_token_is_replaced_and_never_shown(service: Node) -> None:
    async with workbench() as (app, pilot):
        await add_profile(app, service)
        await pilot.press("5")
        await shows(pilot, "studio")
        await pilot.press("j", "j")
        await settled(pilot)
        await pilot.press("r")
        await shows(pilot, "New token for studio")
        await paste(pilot, "Bearer another-\ntoken")
        await shows(pilot, "•••••")
        assert "another-token" not in text_of(app)
        await pilot.press("enter")
        await told(pilot, "Kept in memory, for this run only.")
        kept = (await app.workspace.credentials.read("studio")).secret
        assert kept is not None
        assert kept.reveal() == "another-token"
        await pilot.press("t")
        await shows(pilot, "✗ refused", "Not connected")


async def test_addresses_are_edited_and_checked(service: Node) -> None:
    async with workbench() as (app, pilot):
        await add_profile(app, service)
        await pilot.press("5")
        await shows(pilot, "studio")
        await pilot.press("j", "j")
        await settled(pilot)
        await pilot.press("e")
        await shows(pilot, "API address of studio")
        await pilot.press("ctrl+u")
        await paste(pilot, "http://plain.example")
        await pilot.press("enter")
        await shows(pilot, "must start with https", "http://plain.example")
        await pilot.press("ctrl+u")
        await paste(pilot, service.api_url)
        await pilot.press("enter")
        await shows(pilot, "Gateway address of studio")
        await pilot.press("escape")
        await settled(pilot)
        assert app.workspace.profiles.get("studio").api_url == service.api_url


async def test_the_embedded_node_has_nothing_to_edit() -> None:
    async with workbench() as (_app, pilot):
        await pilot.press("5", "e", "r", "delete")
        await settled(pilot)
        await shows(pilot, "Profiles", "embedded node")


async def test_the_pins_of_an_account_are_told_in_full_beside_a_narrow_list() -> None:
    async with workbench(size=(100, 30)) as (app, pilot):
        other = await app.workspace.connect()  # the client alone writes no history, as another program
        await other.upload(b"made elsewhere")
        await pilot.press("r")
        await shows(pilot, "1 pin")
        await pilot.press("5")
        await shows(pilot, "Mirrored here    1 pin ·", "elsewhere")
