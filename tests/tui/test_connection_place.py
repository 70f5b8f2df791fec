"""Connection and the wizard, against real nodes: what is known, what can go wrong, where the token goes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from pinui.node import Node
from pinui.sdk.errors import ProviderError
from pinui.sdk.secret import Secret
from pinui.tui.app import Pinui
from pinui.tui.screens.wizard import Wizard
from pinui.tui.screens.wizard_words import answer_words
from pinui.tui.widgets.fields import Field
from pinui.workspace import Profile, TestResult
from pinui.workspace.keyring_store import KeyringTrouble
from pinui.workspace.profiles import BUILT_IN
from tests.tui.pilots import paste, settled, shows, text_of, told, until, workbench

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjQxMDI0NDQ4MDB9.c2lnbmF0dXJl"


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Node]:
    """A pinning service of one's own."""
    async with Node(tmp_path / "service", token=TOKEN) as node:
        yield node


async def to_the_token(pilot: object, api: str, name: str = "studio") -> None:
    await pilot.press("5", "a")  # type: ignore[attr-defined]
    await shows(pilot, "Where should your pins live?")  # type: ignore[arg-type]
    await pilot.press("2")  # type: ignore[attr-defined]
    await shows(pilot, "where is its API?")  # type: ignore[arg-type]
    await paste(pilot, name)  # type: ignore[arg-type]
    await pilot.press("enter")  # type: ignore[attr-defined]
    await paste(pilot, api)  # type: ignore[arg-type]
    await pilot.press("enter")  # type: ignore[attr-defined]


async def test_the_wizard_sets_up_a_service_and_says_where_the_token_is(service: Node) -> None:
    async with workbench() as (app, pilot):
        await to_the_token(pilot, service.api_url)
        await shows(pilot, "Paste the API token")
        await paste(pilot, f'  "{TOKEN[:20]}\n{TOKEN[20:]}"  ')
        await shows(pilot, "looks like a JWT, ends 1 Jan 2100")
        assert TOKEN[:10] not in text_of(app), "it is masked"
        await pilot.press("enter")
        await shows(pilot, "Which gateway", f"{service.api_url}/ipfs")
        assert [profile.name for profile in app.workspace.profiles.list()] == ["local", "pinata"], (
            "nothing is saved yet"
        )
        await pilot.press("enter", "enter")
        await shows(pilot, "✓ The service accepts the token")
        await pilot.press("enter")
        await shows(pilot, "Saved as studio", "The token is kept for this run only.")
        await pilot.press("enter")
        await until(pilot, lambda: app.workspace.profile.name == "studio")
        await shows(pilot, "● connected", "✓ Connected", "Last test")
        entry = await app.workspace.store({"on": "the other service"})
        assert entry.profile == "studio"
        config = app.workspace.paths.config.read_text()
        assert service.api_url in config
        assert TOKEN not in config


async def test_what_the_node_holds_is_counted_anew_on_every_visit() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("5")
        await shows(pilot, "On the account   0 pins")
        await pilot.press("1")
        await app.workspace.store({"one": "more"})
        await pilot.press("5")
        await shows(pilot, "On the account   1 pin", "In history here  1 record")


async def test_a_gateway_that_nobody_typed_follows_the_address(service: Node) -> None:
    async with workbench() as (app, pilot):
        await to_the_token(pilot, "http://127.0.0.1:9")
        await shows(pilot, "Paste the API token")
        await pilot.press("escape")
        await shows(pilot, "where is its API?")
        app.screen.set_focus(app.screen.query_one("#api"))
        await pilot.press("ctrl+u")
        await paste(pilot, service.api_url)
        await pilot.press("enter")
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, f"{service.api_url}/ipfs")


async def test_a_wrong_token_is_explained_and_nothing_is_saved(service: Node) -> None:
    async with workbench() as (app, pilot):
        await to_the_token(pilot, service.api_url)
        await shows(pilot, "Paste the API token")
        await paste(pilot, "not-the-token")
        await shows(pilot, "not a JWT; the service decides")
        await pilot.press("enter", "enter", "enter")
        await shows(pilot, "The service does not know this token.", "Nothing is saved.")
        await pilot.press("escape", "escape", "escape", "escape", "escape")
        await until(pilot, lambda: not isinstance(app.screen, Wizard))
        assert [profile.name for profile in app.workspace.profiles.list()] == ["local", "pinata"]


async def test_an_address_where_nobody_answers_is_explained(service: Node) -> None:
    async with workbench() as (_app, pilot):
        await to_the_token(pilot, "http://127.0.0.1:9")
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter", "enter", "enter")
        await shows(pilot, "Nobody answers at that address.", "esc back · enter try again")


async def to_the_name(pilot: Pilot[None]) -> None:
    await pilot.press("5", "a")
    await shows(pilot, "Where should your pins live?")
    await pilot.press("2")
    await shows(pilot, "where is its API?")


def focused(app: Pinui) -> str | None:
    return app.screen.focused.id if app.screen.focused else None


async def test_tab_moves_between_the_fields_of_a_step(service: Node) -> None:
    async with workbench() as (app, pilot):
        await to_the_name(pilot)
        await paste(pilot, "studio")
        await pilot.press("enter")
        assert focused(app) == "api"
        await shows(pilot, "tab next field")
        await pilot.press("shift+tab")
        assert focused(app) == "name"
        await pilot.press("tab")
        assert focused(app) == "api"
        await paste(pilot, service.api_url)
        await pilot.press("enter")
        await shows(pilot, "Paste the API token")
        assert "tab next field" not in text_of(app), "there is only one"
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, "Which gateway")
        await pilot.press("enter")
        assert focused(app) == "key"
        await pilot.press("shift+tab")
        assert focused(app) == "gateway"
        await pilot.press("tab")
        assert focused(app) == "key"


async def test_a_name_is_judged_before_the_address_is_asked_for() -> None:
    async with workbench() as (app, pilot):
        await to_the_name(pilot)
        await pilot.press("enter")
        await shows(pilot, "Give it a name first.")
        assert focused(app) == "name"
        await paste(pilot, "local")
        await until(pilot, lambda: "Give it a name" not in text_of(app), "the line goes when one types")
        await pilot.press("enter")
        await shows(pilot, "There is a profile local already")
        assert focused(app) == "name"
        await paste(pilot, "/studio")
        await pilot.press("enter")
        await shows(pilot, "A profile cannot be called “local/studio”.")
        assert "There is a profile" not in text_of(app), "one line, the last word only"
        assert focused(app) == "name"
        assert not app._notifications, "nothing stands over the form"


async def test_a_bad_name_is_told_when_tab_leaves_it_and_found_again_by_enter() -> None:
    async with workbench() as (app, pilot):
        await to_the_name(pilot)
        await paste(pilot, "local")
        await pilot.press("tab")
        await shows(pilot, "There is a profile local already")
        assert focused(app) == "api"
        await paste(pilot, "https://pins.example")
        await pilot.press("enter")
        assert focused(app) == "name"
        await shows(pilot, "There is a profile local already")
        await pilot.press("escape")
        await shows(pilot, "Where should your pins live?")
        assert "There is a profile" not in text_of(app), "it belongs to the step"


async def test_a_bad_address_is_told_in_the_box_and_has_the_focus(service: Node) -> None:
    async with workbench() as (app, pilot):
        await to_the_token(pilot, "pins.example")
        await shows(pilot, "must be a web address")
        assert focused(app) == "api"
        await pilot.press("ctrl+u")
        await until(pilot, lambda: "must be a web address" not in text_of(app), "the line goes when one types")
        await paste(pilot, service.api_url)
        await pilot.press("enter")
        await shows(pilot, "Paste the API token", "keyring where there is one, otherwise", "kept for this run")
        await pilot.press("enter")
        await shows(pilot, "Paste the token first.")
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, "Which gateway")
        await pilot.press("ctrl+u", "tab", "enter")
        await shows(pilot, "ateway address")
        assert focused(app) == "gateway"
        assert not app._notifications, "nothing stands over the form"


@asynccontextmanager
async def pinata_in_use(app: Pinui, service: Node) -> AsyncIterator[Profile]:
    """The hosted preset, with a token that has ended and a gateway of one's own."""
    changed = replace(
        BUILT_IN["pinata"], api_url=service.api_url, gateway_url="http://127.0.0.1:9/ipfs", gateway_key=True
    )
    app.workspace.profiles.save(changed)
    await app.workspace.credentials.save("pinata", Secret("an-old-token"))
    await app.workspace.credentials.save_gateway_key("pinata", Secret("the-gateway's-key"))
    await app.switch("pinata")
    yield changed


async def test_a_profile_in_use_is_set_up_again_with_its_own_gateway_and_goes_on_with_the_new_token(
    service: Node,
) -> None:
    async with workbench() as (app, pilot), pinata_in_use(app, service) as before:
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("1")
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, "Which gateway", "http://127.0.0.1:9/ipfs", "as it is now")
        await pilot.press("enter", "enter")
        await shows(pilot, "✓ The service accepts the token")
        await pilot.press("enter")
        await shows(pilot, "Saved as pinata")
        await pilot.press("enter")
        await told(pilot, "Now using pinata.")
        assert app.workspace.profiles.get("pinata") == before, "gateway and key are what they were"
        key = (await app.workspace.credentials.read_gateway_key("pinata")).secret
        assert key is not None
        assert key.reveal() == "the-gateway's-key"
        assert (await app.test()).ok, "it is the new token that is used"


async def test_the_key_of_a_gateway_does_not_go_to_another(service: Node) -> None:
    async with workbench() as (app, pilot), pinata_in_use(app, service):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("1")
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, "Which gateway", "as it is now")
        await pilot.press("ctrl+u")
        await paste(pilot, service.gateway_url)
        await until(pilot, lambda: "as it is now" not in text_of(app))
        await pilot.press("enter", "enter")
        await shows(pilot, "✓ The service accepts the token")
        await pilot.press("enter")
        await shows(pilot, "Saved as pinata")
        assert app.workspace.profiles.get("pinata").gateway_key is False


async def test_what_was_typed_for_a_service_waits_there_and_goes_to_no_other() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("1")
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, "Which gateway", "https://gateway.pinata.cloud/ipfs")
        await pilot.press("ctrl+u")
        await paste(pilot, "https://mine.mypinata.cloud/ipfs")
        await pilot.press("escape", "escape")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("2")
        await shows(pilot, "where is its API?")
        fields = {name: app.screen.query_one(f"#{name}", Field).value for name in ("token", "gateway", "key")}
        assert fields == {"token": "", "gateway": "", "key": ""}
        await pilot.press("escape", "1")
        await shows(pilot, "looks like a JWT")
        await pilot.press("enter")
        await shows(pilot, "https://mine.mypinata.cloud/ipfs")


async def test_settings_that_break_under_the_wizard_are_told(service: Node) -> None:
    async with workbench() as (app, pilot), pinata_in_use(app, service):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        app.workspace.paths.config.write_text("this is [ not toml")
        await pilot.press("3")
        await told(pilot, "cannot be used: line 1")
        await pilot.press("1")
        await shows(pilot, "✗", "cannot be used: line 1", "Where should your pins live?")
        assert app.workspace.profile.name == "pinata"


async def test_a_profile_removed_elsewhere_before_it_is_used_is_told(service: Node) -> None:
    async with workbench() as (app, pilot):
        await to_the_token(pilot, service.api_url)
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter", "enter", "enter")
        await shows(pilot, "✓ The service accepts the token")
        await pilot.press("enter")
        await shows(pilot, "Saved as studio")
        app.workspace.profiles.remove("studio")
        await pilot.press("enter")
        await told(pilot, "There is no profile “studio”.")
        await shows(pilot, "Profiles", "● local")


async def test_a_token_is_found_in_what_is_pasted() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("1")
        await shows(pilot, "Paste the API token")
        wizard = app.screen
        assert isinstance(wizard, Wizard)
        for pasted in (
            f"Bearer {TOKEN}",
            f"bearer\r\n{TOKEN[:20]}\r\n{TOKEN[20:]}",
            f'  "{TOKEN}"\n',
            f"'Bearer {TOKEN}'",
        ):
            await pilot.press("ctrl+u")
            await paste(pilot, pasted)
            await shows(pilot, "looks like a JWT")
            assert wizard.secret().reveal() == TOKEN


async def test_the_welcome_leads_through_the_wizard_to_the_profile_it_made(service: Node) -> None:
    async with workbench(size=(80, 24), welcome=True) as (_app, pilot):
        await shows(pilot, "Welcome")
        await pilot.press("s")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("2")
        await shows(pilot, "where is its API?")
        await paste(pilot, "studio")
        await pilot.press("enter")
        await paste(pilot, service.api_url)
        await pilot.press("enter")
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter", "enter", "enter")
        await shows(pilot, "✓ The service accepts the token")
        await pilot.press("enter")
        await shows(pilot, "Saved as studio")
        await pilot.press("enter")
        await shows(pilot, "▌studio", "· in use", "custom service")


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


async def test_choosing_the_local_node_needs_nothing() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("3")
        await until(pilot, lambda: not isinstance(app.screen, Wizard))
        assert app.workspace.profile.name == "local"


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
        await pilot.press("R")
        await until(pilot, lambda: app.workspace.profile.name == "local")
        await until(pilot, lambda: "studio" not in text_of(app).splitlines()[0])
        assert [profile.name for profile in app.workspace.profiles.list()] == ["local", "pinata"]


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
        await pilot.press("R")
        await told(pilot, "The token of pinata is removed.")
        assert (await credentials.read("pinata")).origin == "none"
        assert (await credentials.read_gateway_key("pinata")).origin == "none"
        assert profiles.get("pinata") == BUILT_IN["pinata"]
        await pilot.press("j")
        await shows(pilot, "hosted service")
        await pilot.press("delete")
        await shows(pilot, "Remove the token of pinata?")
        await pilot.press("R")
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
        await pilot.press("R")
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
        await pilot.press("R")
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
        assert not app._notifications, "once"


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


async def test_the_smallest_terminal_shows_every_step_and_all_that_is_wrong() -> None:
    async with workbench(size=(60, 16)) as (_app, pilot):
        await to_the_name(pilot)
        await shows(pilot, "○ Done", "The token is sent there")
        await paste(pilot, "local/studio")
        await pilot.press("enter")
        await shows(pilot, "✗ A profile cannot be called", "beginning with a letter or digit.", "○ Done")
        await pilot.press("ctrl+u")
        await paste(pilot, "studio")
        await pilot.press("enter")
        await paste(pilot, "http://pins.example.com")
        await pilot.press("enter")
        await shows(pilot, "✗ API address must start", "this machine alone): 'http://pins.example.com'.")
        await pilot.press("ctrl+u")
        await paste(pilot, "http://127.0.0.1:9")
        await pilot.press("enter")
        await shows(pilot, "never to a file.", "unpin.", "○ Done")
        await pilot.press("enter")
        await shows(pilot, "✗ Paste the token first.")
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, "its key is optional.")
        await pilot.press("ctrl+u", "enter")
        await shows(pilot, "✗ Gateway address must be")
        await pilot.press("escape", "enter")
        await shows(pilot, "its key is optional.")
        await pilot.resize_terminal(80, 24)
        await shows(pilot, "○ Test ── ○ Done")


async def test_enter_never_saves_on_the_strength_of_an_earlier_test(service: Node) -> None:
    async with workbench() as (app, pilot):
        await to_the_token(pilot, service.api_url)
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter", "enter", "enter")
        await shows(pilot, "✓ The service accepts the token")
        wizard = app.screen
        assert isinstance(wizard, Wizard)
        wizard.query_one("#token", Field).value = "another-token-untested"
        wizard._ask()
        await wizard.action_next()  # before the question has even been put
        await shows(pilot, "The service does not know this token.")
        assert wizard.page == "test"
        assert "studio" not in [profile.name for profile in app.workspace.profiles.list()]


async def test_settings_that_cannot_be_read_are_told_in_the_wizard() -> None:
    async with workbench() as (app, pilot):
        await until(pilot, lambda: app.workspace.profiles.setting("welcomed"))
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("1")
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, "Which gateway")
        app.workspace.paths.config.write_text("this is [ not toml")
        await pilot.press("enter", "enter")
        await shows(pilot, "cannot be used: line 1", "Nothing is saved.")


def test_a_service_that_answers_with_pages_leaves_room_for_what_to_do() -> None:
    long = ProviderError("HTTP error 500", status=500, details="trouble " * 3000)
    words = answer_words(TestResult(False, 1.0, long)).plain
    assert len(words) < 500
    assert words.startswith("✗ trouble trouble")
    assert "Try again later." in words
