"""Connection: the profiles, and the facts about each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from textual import events, on
from textual.containers import Horizontal
from textual.widget import Widget

from pinui.figures import be, plural
from pinui.sdk.urls import origin_text
from pinui.tui.dialogs.prompt import CheckedPrompt, Choice, Menu, TokenPrompt, one_token
from pinui.tui.errors import sentence
from pinui.tui.keys import bindings
from pinui.tui.places.connection.facts import FIXED, ORIGINS, Facts, standing, token_goes
from pinui.tui.places.connection.keys import CONNECTION
from pinui.tui.places.place import PlaceScreen, asks
from pinui.tui.widgets.fields import pane_title
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.two_line_list import TwoLineList, TwoLines
from pinui.workspace import Profile

if TYPE_CHECKING:
    from pinui.tui.dialogs.confirm import Confirm

__all__ = ["ConnectionScreen"]


class ConnectionScreen(PlaceScreen):
    """Profiles at the left, facts at the right."""

    BINDINGS = bindings(CONNECTION)
    PLACE = "connection"
    PANES = ("#profiles", "#facts")

    def __init__(self) -> None:
        super().__init__()
        self.known: list[Profile] = []
        self._trouble = ""  # with the settings

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(classes="body"):
            yield TwoLineList(id="profiles")
            yield Facts(id="facts", classes="pane")

    def on_mount(self) -> None:
        pane_title(self.profiles, "Profiles")

    @on(Facts.Widened)
    def _break_elsewhere(self) -> None:
        self.reload()

    @property
    def profiles(self) -> TwoLineList:
        return self.query_one(TwoLineList)

    @property
    def facts(self) -> Facts:
        """The pane beside it."""
        return self.query_one(Facts)

    @property
    def chosen(self) -> Profile:
        """The profile under the cursor."""
        current, used = self.profiles.current, self.workspace.profile
        if current is None or current.id == used.name:
            return used
        # The list may be a moment behind: a profile that was just removed counts as the one in use.
        return next((profile for profile in self.known if profile.name == current.id), used)

    # -- showing ------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Show the profiles again."""
        self.work_on(self._reload, "reload")

    def on_screen_resume(self, _event: events.ScreenResume) -> None:
        """Ask the embedded node for its pins again, which costs nothing. Only `t` asks a service."""
        if self.workspace.profile.preset == "local" and self.app.tests.get("local"):
            self.work_on(self.app.count_pins, "totals")

    async def _reload(self, select: str | None = None) -> None:
        used = self.workspace.profile
        profiles = await self._read_profiles()
        if used.name not in [profile.name for profile in profiles]:
            profiles.insert(0, used)
        self.known = profiles
        items = [self._item(profile, used.name) for profile in profiles]
        first = None if self.profiles.items else used.name
        self.profiles.show_items(items, select or first)
        await self._show_facts()

    async def _read_profiles(self) -> list[Profile]:
        """All profiles, or none if the settings can't be read. That is told once, not at every call."""
        try:
            profiles = await asyncio.to_thread(self.workspace.profiles.list)
        except Exception as error:  # noqa: BLE001  the profile in use is known anyway
            if sentence(error) != self._trouble:
                self._trouble = sentence(error)
                self.app.tell_error(error)
            return []
        self._trouble = ""
        return profiles

    def _item(self, profile: Profile, used: str) -> TwoLines:
        below = urlsplit(profile.api_url or "").netloc or "embedded node"
        state, tone = standing(profile, self.app.tests.get(profile.name, []))
        if profile.name == used:
            below += " · in use"
        return TwoLines(profile.name, profile.name, state, below, tone)

    @on(ItemList.Moved, "#profiles")
    def _moved(self) -> None:
        self.work_on(self._show_facts, "facts")

    async def _show_facts(self) -> None:
        await self.facts.show(self.chosen)
        self.refresh_bindings()

    # -- acting -------------------------------------------------------------------------------------------------

    @on(ItemList.Chosen, "#profiles")
    def action_use(self) -> None:
        """Use the profile under the cursor."""
        name = self.chosen.name
        if name == self.workspace.profile.name:
            self.app.tell(f"{name} is in use already.")
        else:
            self.work_on(lambda: self.app.switch(name), "use", exclusive=False)

    def action_test(self) -> None:
        """Test the chosen service now."""
        self.work_on(self._test, "test", busy=self.facts)

    async def _test(self) -> None:
        profile = self.chosen
        pane_title(self.facts, profile.name, "asking …")
        result = await self.app.test(None if profile.name == self.workspace.profile.name else profile)
        await self._reload()
        if result.error is not None and self.app.screen is not self:  # here, the pane says it
            self.app.tell_error(result.error)

    @asks("add")
    async def action_add(self) -> None:
        from pinui.tui.places.connection.wizard import Wizard

        name = await self.ask(Wizard())
        if name:
            await self._reload(name)

    @asks("edit")
    async def action_edit(self) -> None:
        profile = self.chosen
        question = f"API address of {profile.name}"
        api = await self.ask(CheckedPrompt("Edit", question, _address("API address"), profile.api_url or ""), more=True)
        if api is None:
            return
        question = f"Gateway address of {profile.name}"
        gateway = await self.ask(
            CheckedPrompt("Edit", question, _address("gateway address"), profile.gateway_url or "")
        )
        if gateway is None:
            return
        keeps_key = profile.gateway_key and origin_text(gateway) == origin_text(profile.gateway_url or "")
        changed = replace(profile, api_url=api, gateway_url=gateway, gateway_key=keeps_key)
        await asyncio.to_thread(self.workspace.profiles.save, changed)
        if profile.name == self.workspace.profile.name:
            await self.app.switch(profile.name)
        self.app.tests.pop(profile.name, None)
        await self._reload()
        credential = await self.workspace.credential(await asyncio.to_thread(self.workspace.profiles.get, profile.name))
        if credential.secret is None and credential.trouble:
            self.app.tell(f"{credential.trouble} {self.app.key('connection.token')} enters one.", warning=True)

    @asks("token")
    async def action_replace_token(self) -> None:
        """A new token, unseen."""
        from pinui.sdk.secret import Secret

        profile = self.chosen
        note = token_goes(await self.workspace.credentials.keyring_state())
        typed = await self.ask(TokenPrompt("Token", f"New token for {profile.name}", note=note, password=True))
        secret = Secret(one_token(typed or ""))
        if not secret:
            return
        kept = await self.workspace.keep_token(profile, secret)
        self.app.tell(
            f"Kept {ORIGINS.get(kept.origin, 'in the OS keyring')}. {kept.trouble or ''}", warning=bool(kept.trouble)
        )
        self.app.tests.pop(profile.name, None)
        if profile.name == self.workspace.profile.name:
            await self.app.switch(profile.name)
        await self._reload()

    @asks("remove")
    async def action_remove(self) -> None:
        """Ask, then remove."""
        from pinui.workspace.profiles import BUILT_IN

        workspace, name = self.workspace, self.chosen.name
        built_in, in_use = name in BUILT_IN, name == workspace.profile.name
        unfinished = 0 if built_in else len(await workspace.transfers.ledger.left_at(name))
        question = _remove_question(name, built_in=built_in, in_use=in_use, unfinished=unfinished)
        if not await self.ask(question):
            return
        await workspace.remove_profile(name)
        self.app.tests.pop(name, None)
        if in_use:
            await self.app.switch("local")
        else:
            self.app.tell(f"The token of {name} is removed." if built_in else f"{name} is removed.")
        await self._reload(workspace.profile.name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Some profiles can't be edited or removed; the facts tell why."""
        if self.is_mounted and action in ("edit", "replace_token", "remove"):
            return None if self.chosen.name in FIXED else True
        return super().check_action(action, parameters)

    @asks("copy")
    async def action_copy(self) -> None:
        addresses = (await self.facts.addresses(self.chosen))[:2]
        choices = [Choice(key, label, text) for key, (label, text) in zip("yg", addresses, strict=True)]
        chosen = await self.ask(Menu("Copy", choices))
        for choice in choices:
            if choice.key == chosen:
                self.app.copy(choice.fact, f"{choice.name} address")


def _address(what: str) -> Callable[[str], Awaitable[str]]:
    """A check that refuses text that is no address, with a sentence that names it."""

    async def check(text: str) -> str:
        from pinui.workspace.profiles import check_url

        return check_url(text, what=what)

    return check


def _remove_question(name: str, *, built_in: bool, in_use: bool, unfinished: int = 0) -> Confirm:
    """The question before a profile is removed; of a built-in one, everything that was added to it."""
    from pinui.tui.dialogs.confirm import Confirm

    if built_in:
        question = f"Remove the token of {name}?"
        consequence = (
            "The token is removed from this machine, and addresses that you changed are the service's own again. "
            "The profile is built in and stays; so do pins and history."
        )
    else:
        question = f"Remove the profile {name}?"
        consequence = "Its addresses and its token are removed from this machine. Pins and history stay."
        if unfinished:
            are = be(unfinished)
            consequence += f"\n\n{plural(unfinished, 'transfer')} {are} not finished there, and {are} forgotten."
    if in_use:
        consequence += "\n\nIt is in use: the local node takes its place."
    return Confirm("Remove", question, consequence, "Remove")
