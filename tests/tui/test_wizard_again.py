"""The wizard for a service that is set up already, and when something changes while it is open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pinui.node import Node
from pinui.sdk.secret import Secret
from pinui.tui.app import Pinui
from pinui.tui.widgets.fields import Field
from pinui.workspace import Profile
from pinui.workspace.profiles import BUILT_IN
from tests.tui.pilots import paste, shows, text_of, told, type_ahead, until, workbench
from tests.tui.services import TOKEN, to_pinatas_gateway, to_the_token

pytestmark = pytest.mark.slow


async def use_pinata(app: Pinui, service: Node) -> Profile:
    """Use the hosted preset, with a token that has ended and a gateway of one's own."""
    changed = replace(
        BUILT_IN["pinata"], api_url=service.api_url, gateway_url="http://127.0.0.1:9/ipfs", gateway_key=True
    )
    app.workspace.profiles.save(changed)
    await app.workspace.credentials.save("pinata", Secret("an-old-token"))
    await app.workspace.credentials.save_gateway_key("pinata", Secret("the-gateway's-key"))
    await app.switch("pinata")
    return app.workspace.profiles.get("pinata")


async def test_a_profile_in_use_is_set_up_again_with_its_own_gateway_and_goes_on_with_the_new_token(
    service: Node,
) -> None:
    async with workbench() as (app, pilot):
        before = await use_pinata(app, service)
        await to_pinatas_gateway(pilot)
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
    async with workbench() as (app, pilot):
        await use_pinata(app, service)
        await to_pinatas_gateway(pilot)
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
        await to_pinatas_gateway(pilot)
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


async def test_enter_never_saves_on_the_strength_of_an_earlier_test(service: Node) -> None:
    async with workbench() as (app, pilot):
        await to_the_token(pilot, service.api_url)
        await shows(pilot, "Paste the API token")
        await paste(pilot, TOKEN)
        await pilot.press("enter", "enter", "enter")
        await shows(pilot, "✓ The service accepts the token")
        await pilot.press("escape", "escape")
        await shows(pilot, "Paste the API token")
        await pilot.press("ctrl+u")
        await paste(pilot, "another-token-untested")
        await type_ahead(pilot, "enter", "enter", "enter", "enter")  # the last one before the answer is there
        await shows(pilot, "The service does not know this token.")
        assert "studio" not in [profile.name for profile in app.workspace.profiles.list()]


async def test_settings_that_break_under_the_wizard_are_told(service: Node) -> None:
    async with workbench() as (app, pilot):
        await use_pinata(app, service)
        await pilot.press("5", "a")
        await shows(pilot, "Where should your pins live?")
        app.workspace.paths.config.write_text("this is [ not toml")
        await pilot.press("3")
        await told(pilot, "cannot be used: line 1")
        await pilot.press("1")
        await shows(pilot, "✗", "cannot be used: line 1", "Where should your pins live?")
        assert app.workspace.profile.name == "pinata"


async def test_settings_that_cannot_be_read_are_told_in_the_wizard() -> None:
    async with workbench() as (app, pilot):
        await until(pilot, lambda: app.workspace.profiles.setting("welcomed"))
        await to_pinatas_gateway(pilot)
        await shows(pilot, "Which gateway")
        app.workspace.paths.config.write_text("this is [ not toml")
        await pilot.press("enter", "enter")
        await shows(pilot, "cannot be used: line 1", "Nothing is saved.")


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
