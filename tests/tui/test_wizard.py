"""The wizard, against real nodes: its steps, what can go wrong in each, where the token goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from textual.pilot import Pilot

from pinui.node import Node
from pinui.sdk.errors import ProviderError
from pinui.tui.app import Pinui
from pinui.tui.places.connection.advice import answer_words
from pinui.tui.places.connection.wizard import Wizard
from pinui.workspace import TestResult
from tests.real.kubo import KuboServer
from tests.servers import serve
from tests.tui.pilots import paste, shows, text_of, until, workbench
from tests.tui.services import TOKEN, to_the_token


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
        await shows(pilot, "Nothing answers at that address.", "enter try again   esc back")


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
        await shows(pilot, "enter test   esc back")
        await pilot.press("enter")
        await shows(pilot, "enter save   esc back")
        await pilot.press("enter")
        await shows(pilot, "Saved as studio", "enter use   esc back")


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
        assert not app.screen.query("Toast"), "nothing stands over the form"


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
        await shows(pilot, "Paste the API token", "No keyring works here", "this run only")
        await pilot.press("enter")
        await shows(pilot, "Paste the token first.")
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, "Which gateway")
        await pilot.press("ctrl+u", "tab", "enter")
        await shows(pilot, "ateway address")
        assert focused(app) == "gateway"
        assert not app.screen.query("Toast"), "nothing stands over the form"


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


async def test_choosing_the_local_node_needs_nothing() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("3")
        await until(pilot, lambda: not isinstance(app.screen, Wizard))
        assert app.workspace.profile.name == "local"


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
        await shows(pilot, "It is never shown.", "unpin.", "○ Done")
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


def test_a_service_that_answers_with_pages_leaves_room_for_what_to_do() -> None:
    long = ProviderError("HTTP error 500", status=500, details="trouble " * 3000)
    words = answer_words(TestResult(False, 1.0, long), str).plain
    assert len(words) < 500
    assert words.startswith("✗ trouble trouble")
    assert "Try again later." in words


async def test_the_wizard_and_connection_tell_which_api_a_key_knows(
    service: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinui.workspace.sentences.is_pinata", lambda url: "127.0.0.1" in url)
    async with workbench() as (app, pilot):
        await to_the_token(pilot, service.api_url)
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter", "enter", "enter")
        await shows(pilot, "✓ The service accepts the token", "the first operation shows which one")
        await pilot.press("enter", "enter")
        await until(pilot, lambda: app.workspace.profile.name == "studio")
        await shows(pilot, "The service has two APIs")


async def test_a_kubo_that_runs_here_is_set_up_without_a_token(
    kubo_daemon: KuboServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPFS_PATH", kubo_daemon.kubo.environment["IPFS_PATH"])
    async with workbench() as (app, pilot):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?", "Kubo", "IPFS Cluster")
        await pilot.press("4")
        await shows(pilot, "where is its API?", kubo_daemon.rpc_url, "A daemon answers there.")
        await pilot.press("enter", "enter")
        await shows(pilot, "Does the daemon ask for a token?", "Leave it empty if it asks for none")
        await pilot.press("enter")
        await shows(pilot, "Which gateway", kubo_daemon.gateway_url, "enter test")
        assert "Key of a dedicated gateway" not in text_of(app)
        await pilot.press("enter")
        await shows(pilot, "✓ The daemon answers", "enter saves the profile.")
        await pilot.press("enter")
        await shows(pilot, "Saved as kubo", "It needs no token.")
        await pilot.press("enter")
        await until(pilot, lambda: app.workspace.profile.name == "kubo")
        entry = await app.workspace.store({"city": "Oslo"})
        assert entry.cid in kubo_daemon.kubo("pin", "ls", "-q", "--type=recursive").decode()
        await shows(pilot, "✓ Connected", "the daemon answers, and asks for no token")


async def test_a_kubo_that_does_not_run_is_told_with_how_to_start_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPFS_PATH", str(tmp_path))
    (tmp_path / "api").write_text("/ip4/127.0.0.1/tcp/9")
    async with workbench() as (_app, pilot):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("4")
        await shows(pilot, "http://127.0.0.1:9", "No daemon answers there. Start it, or change the address.")
        await pilot.press("enter", "enter", "enter")
        await shows(pilot, "Which gateway", "Left empty, contents are")
        await pilot.press("enter")
        await shows(pilot, "✗ Kubo is not running at http://127.0.0.1:9.", "Start Kubo with `ipfs daemon`")


async def test_a_service_that_pins_by_cid_may_have_no_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"count": 0, "results": []})

    async with serve(answer) as (url, _seen), workbench() as (app, pilot):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("6")
        await shows(pilot, "where is its API?")
        await paste(pilot, "asking")
        await pilot.press("enter")
        await paste(pilot, url)
        await pilot.press("enter")
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter")
        await shows(pilot, "Which gateway", "Left empty, nothing can be read.")
        await pilot.press("enter")
        await shows(pilot, "✓ The service accepts the token")
        await pilot.press("enter")
        await shows(pilot, "Saved as asking")
        saved = app.workspace.profiles.get("asking")
        assert (saved.provider, saved.api_url, saved.gateway_url) == ("psa", url, None)


async def test_a_daemon_elsewhere_is_not_read_through_the_gateway_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPFS_PATH", str(tmp_path))
    async with workbench() as (app, pilot):
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        await pilot.press("5")
        await shows(pilot, "http://127.0.0.1:9094")
        await pilot.press("enter", "ctrl+u")
        await paste(pilot, "https://cluster.example.com")
        await pilot.press("enter", "enter")
        await shows(pilot, "Which gateway", "Left empty, nothing can be read.")
        assert "8080" not in text_of(app)
