"""The command palette: every action, every profile, recent pins; and the themes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from pinui.tui.app_of import app_of
from pinui.tui.commands import GROUPS, key_name
from pinui.tui.display import fit, short_cid
from pinui.tui.entries import title_of
from pinui.workspace import Query
from pinui.workspace.text import clean_line

if TYPE_CHECKING:
    from pinui.tui.app import Pinui
    from pinui.workspace import Entry

__all__ = ["PinuiProvider", "ThemesProvider"]

RECENT = 30
Doing = Callable[[], Awaitable[None]]


class PinuiProvider(Provider):
    """Names that may come from anywhere: they are cleaned, and they are no markup."""

    @property
    def pinui(self) -> Pinui:
        """The app, by its own type."""
        return app_of(self.screen)

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for name, about, doing in await self._known():
            yield DiscoveryHit(Content(name), doing, text=name, help=about)

    async def search(self, query: str) -> Hits:
        """What matches."""
        matcher = self.matcher(query)
        for name, about, doing in await self._known():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, Content(name), doing, text=name, help=about)

    async def _known(self) -> list[tuple[str, str, Doing]]:
        found = [*self._actions(), *self._profiles(), *await self._pins()]
        return [(clean_line(name), escape(clean_line(about)), doing) for name, about, doing in found]

    def _actions(self) -> Iterable[tuple[str, str, Doing]]:
        """What the registry knows, with the names and sentences of the footer and the README; this place first."""
        here = self.pinui.current_mode
        for group in sorted(GROUPS.values(), key=lambda group: (group.place != here, group.place is not None)):
            for command in group.commands:
                if command.palette:
                    place = f"{group.title.partition(':')[0]}: " if group.place else ""
                    name = place + command.label if place else command.label[0].upper() + command.label[1:]
                    about = f"{command.tooltip}  ({key_name(command.keys.split(',')[0])})"
                    yield name, about, partial(self.pinui.run_command, group, command)

    def _profiles(self) -> Iterable[tuple[str, str, Doing]]:
        used = self.pinui.workspace.profile.name
        for profile in self.pinui.workspace.profiles.list():
            if profile.name != used:
                about = profile.api_url or "the embedded node"
                yield f"Use the profile {profile.name}", about, partial(self.pinui.switch, profile.name)

    async def _pins(self) -> Iterable[tuple[str, str, Doing]]:
        workspace = self.pinui.workspace
        query = Query(direction="sent", profile=workspace.profile.name)
        entries = await workspace.history.page(query, limit=RECENT)
        return [
            (fit(title_of(entry), 70).rstrip(), f"pin {short_cid(entry.cid)}", partial(self._show, entry))
            for entry in entries
        ]

    async def _show(self, entry: Entry) -> None:
        from pinui.tui.screens.pins import PinsScreen

        await self.pinui.action_go("pins")
        if isinstance(self.pinui.screen, PinsScreen):
            await self.pinui.screen.show_cid(entry.cid)


class ThemesProvider(Provider):
    """Ours first, then those that came with the toolkit; the one in use says so."""

    async def discover(self) -> Hits:
        """All of them."""
        for name, words, doing in self._known():
            yield DiscoveryHit(Content(words), doing, text=name)

    async def search(self, query: str) -> Hits:
        """What matches."""
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
