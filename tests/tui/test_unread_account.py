"""An account that is not read yet: Pins says so, and never that nothing is pinned."""

from __future__ import annotations

import asyncio

import pytest

from pinui.node import Node
from pinui.sdk.client import Client
from pinui.sdk.errors import NetworkError, Unsupported
from pinui.sdk.models import Totals
from tests.tui.pilots import shows, text_of, workbench
from tests.tui.services import TOKEN
from tests.tui.test_copy_to import add_profile


async def test_an_account_that_is_being_read_is_not_called_empty(
    service: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINUI_TOKEN_STUDIO", TOKEN)
    answered, totals = asyncio.Event(), Client.totals

    async def late(client: Client) -> Totals:
        await answered.wait()
        return await totals(client)

    async with workbench(size=(80, 24)) as (app, pilot):
        add_profile(app, service)
        monkeypatch.setattr(Client, "totals", late)
        await app.use("studio")
        await shows(pilot, "○ studio", "Reading the account …")
        assert "0 pins" not in text_of(app)
        assert "Nothing is pinned yet" not in text_of(app)
        answered.set()
        await shows(pilot, "Nothing is pinned yet.", "0 pins")


async def test_an_account_that_could_not_be_read_tells_why_and_r_tries_again(
    service: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINUI_TOKEN_STUDIO", TOKEN)

    async def silent(_client: Client) -> Totals:
        raise NetworkError("The service hung up", hint="Look at the cable of this machine, and at the lamp beside it.")

    async with workbench(size=(80, 24)) as (app, pilot):
        add_profile(app, service)
        with monkeypatch.context() as patch:
            patch.setattr(Client, "totals", silent)
            await app.use("studio")
            await shows(
                pilot, "The account could not be read.", "The service hung up", "r tries again, 5 changes the token."
            )
            assert "Nothing is pinned yet" not in text_of(app)
        await (await app.workspace.connect()).store({"n": 1})
        await pilot.press("r")
        await shows(pilot, "1 pin")


async def test_a_service_that_lists_no_pins_shows_the_history(service: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINUI_TOKEN_STUDIO", TOKEN)

    def unlisted(*_args: object, **_options: object) -> None:
        raise Unsupported("This service can't list pins.")

    monkeypatch.setattr(Client, "pins", unlisted)
    async with workbench(size=(80, 24)) as (app, pilot):
        add_profile(app, service)
        await app.use("studio")
        await shows(pilot, "studio", "Nothing is pinned yet.", "0 pins")
