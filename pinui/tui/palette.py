"""The command palette: every action, every profile, recent pins; and the themes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from pinui.figures import short_cid
from pinui.tui.all_keys import KEYS
from pinui.tui.display import fit
from pinui.tui.entries import title_of
from pinui.tui.focus import focus_now
from pinui.tui.keys import Command, Group, key_name
from pinui.tui.workbench import PinWanted, Workbench
from pinui.workspace import Query
from pinui.workspace.text import clean_line

if TYPE_CHECKING:
    from pinui.workspace import Entry

__all__ = ["PinuiProvider", "ThemesProvider"]

RECENT = 30
SHORTEST_PART = 4
"""The fewest letters of a CID to search for: shorter parts are in most CIDs."""
ARRIVING = 2.0
"""Seconds that a command waits for a place to load."""
Doing = Callable[[], Awaitable[None]]


class Known(NamedTuple):
    """Something that can be found."""

    name: str
    about: str
    doing: Doing
    cid: str = ""


class PinuiProvider(Provider):
    """Commands, profiles and pins. Names may come from outside, so they are cleaned and are no markup."""

    @property
    def bench(self) -> Workbench:
        """The app, by its own type."""
        if not isinstance(self.app, Workbench):
            raise TypeError("the palette belongs to the workbench")
        return self.app

    async def startup(self) -> None:
        """Read everything once, when the palette opens, and not at every letter."""
        found = [*self._actions(), *await self._profiles(), *await self._pins()]
        self._known = [
            known._replace(name=clean_line(known.name), about=escape(clean_line(known.about))) for known in found
        ]

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for known in self._known:
            yield DiscoveryHit(Content(known.name), known.doing, text=known.name, help=known.about)

    async def search(self, query: str) -> Hits:
        """Find entries by their names, and pins by a part of the CID, too."""
        matcher = self.matcher(query)
        for known in self._known:
            by_cid = len(query) >= SHORTEST_PART and query in known.cid
            if (score := 1.0 if by_cid else matcher.match(known.name)) > 0:
                yield Hit(score, Content(known.name), known.doing, text=known.name, help=known.about)

    def _actions(self) -> Iterable[Known]:
        """All commands, with the words of the footer and the README; those of the current place first."""
        here = self.bench.current_mode
        for group in sorted(KEYS, key=lambda group: (group.place != here, group.place is not None)):
            for command in group.commands:
                if command.palette:
                    place = f"{group.title.partition(':')[0]}: " if group.place else ""
                    name = place + command.label if place else command.label[0].upper() + command.label[1:]
                    about = f"{command.tooltip}  ({key_name(self.bench.keys_of(command.id)[0])})"
                    yield Known(name, about, partial(self._run, group, command))

    async def _run(self, group: Group, command: Command) -> None:
        """Do what a key would do, in the place and pane where that key works."""
        app = self.bench
        arriving = group.place not in (None, app.current_mode)
        if group.place is not None:
            await app.run_action(f"app.go('{group.place}')")
        if group.pane is not None:
            focus_now(app.screen.query_one(group.pane))
        if await self._done(command):
            return
        app.run_worker(self._tried(command, ARRIVING if arriving else 0), group="app.command", exclusive=True)

    async def _done(self, command: Command) -> bool:
        app = self.bench
        action = command.from_palette or command.action
        return await app.run_action(action, default_namespace=app.screen.focused or app.screen)

    async def _tried(self, command: Command, patience: float) -> None:
        """Try again for a while: a place that was just entered may still be loading."""
        screen, end = self.bench.screen, time.monotonic() + patience
        while time.monotonic() < end and self.bench.screen is screen:
            await asyncio.sleep(0.05)
            if await self._done(command):
                return
        self.bench.tell(f"Nothing to do here for “{command.label}”.", warning=True)

    async def _profiles(self) -> Iterable[Known]:
        workspace = self.bench.workspace
        try:
            profiles = await asyncio.to_thread(workspace.profiles.list)
        except Exception as error:  # noqa: BLE001  the settings can't be read: the rest of the palette can
            self.bench.tell_error(error)
            return []
        return [
            Known(
                f"Use the profile {profile.name}",
                profile.api_url or "the embedded node",
                partial(self._use, profile.name),
            )
            for profile in profiles
            if profile.name != workspace.profile.name
        ]

    async def _use(self, name: str) -> None:
        await self.bench.use(name)

    async def _pins(self) -> Iterable[Known]:
        workspace = self.bench.workspace
        query = Query(direction="sent", profile=workspace.profile.name)
        try:
            entries = await workspace.history.page(query, limit=RECENT)
        except Exception as error:  # noqa: BLE001  nor does a history that can't be read take the commands away
            self.bench.tell_error(error)
            return []
        return [
            Known(
                fit(title_of(entry), 70).rstrip(),
                f"pin {short_cid(entry.cid)}",
                partial(self._show, entry),
                entry.cid,
            )
            for entry in entries
        ]

    async def _show(self, entry: Entry) -> None:
        self.bench.post_message(PinWanted(entry))


class ThemesProvider(Provider):
    """The themes: pinui's own first, then Textual's; the one in use is marked."""

    async def discover(self) -> Hits:
        for name, words, doing in self._known():
            yield DiscoveryHit(Content(words), doing, text=name)

    async def search(self, query: str) -> Hits:
        """Themes that match the query."""
        matcher = self.matcher(query)
        for name, words, doing in self._known():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, Content(words), doing, text=name)

    def _known(self) -> Iterable[tuple[str, str, Callable[[], None]]]:
        names = sorted(self.app.available_themes, key=lambda name: (not name.startswith("pinui"), name))
        for name in names:
            yield name, f"{name} · in use" if name == self.app.theme else name, partial(self._use, name)

    def _use(self, name: str) -> None:
        self.app.theme = name
