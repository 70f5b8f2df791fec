"""The app: five places wired to one workbench."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual import on
from textual.screen import Screen

from pinui.figures import be, plural
from pinui.tui.all_keys import ABOUT, KEYS
from pinui.tui.textual_private import let_alt_digits_through
from pinui.tui.workbench import AddressWanted, PinWanted, ServiceWanted, Unfinished, Workbench

if TYPE_CHECKING:
    from pinui.tui.dialogs.confirm import Confirm

__all__ = ["Pinui", "make_app", "run"]

PlaceKind = TypeVar("PlaceKind")


# The first frame pays for one place only: each is imported when it is first shown.


def _pins() -> Screen[Any]:
    from pinui.tui.places.pins.screen import PinsScreen

    return PinsScreen()


def _json() -> Screen[Any]:
    from pinui.tui.places.json.screen import JsonScreen

    return JsonScreen()


def _files() -> Screen[Any]:
    from pinui.tui.places.files.screen import FilesScreen

    return FilesScreen()


def _messages() -> Screen[Any]:
    from pinui.tui.places.messages.screen import MessagesScreen

    return MessagesScreen()


def _connection() -> Screen[Any]:
    from pinui.tui.places.connection.screen import ConnectionScreen

    return ConnectionScreen()


def _palette() -> Any:
    from pinui.tui.palette import PinuiProvider

    return PinuiProvider


class Pinui(Workbench):
    """The workbench with its screens."""

    # All sheets at once: one that comes with its screen makes Textual parse all of them again, at the first visit.
    CSS_PATH = [
        "app.tcss",
        "dialogs/welcome.tcss",
        "places/pins/pins.tcss",
        "places/json/json.tcss",
        "places/files/files.tcss",
        "places/messages/messages.tcss",
        "places/connection/connection.tcss",
        "places/connection/wizard.tcss",
    ]
    MODES = {
        "pins": _pins,
        "json": _json,
        "files": _files,
        "messages": _messages,
        "connection": _connection,
    }
    DEFAULT_MODE = "pins"
    COMMANDS = {_palette}
    KEYS = KEYS

    def on_mount(self) -> None:
        """Show the welcome at the first start."""
        self.call_after_refresh(_collect_garbage_again)
        if not self.workspace.profiles.setting("welcomed"):
            from pinui.tui.dialogs.welcome import WelcomeScreen

            self.push_screen(WelcomeScreen())

    async def action_download(self, address: str) -> None:
        """Fill in the download in Files."""
        from pinui.tui.places.files.screen import FilesScreen

        if files := await self._visit("files", FilesScreen):
            files.prepare_download(address)

    async def action_receive(self, address: str) -> None:
        """Read content as a message, in Messages."""
        from pinui.tui.places.messages.screen import MessagesScreen

        if messages := await self._visit("messages", MessagesScreen):
            messages.receive(address)

    @on(AddressWanted)
    def _open_address(self, wanted: AddressWanted) -> None:
        from pinui.tui.places.content import open_address
        from pinui.tui.places.place import PlaceScreen

        screen = self.screen
        if isinstance(screen, PlaceScreen):
            screen.ask_on(lambda: open_address(screen, wanted.address), "pasted")

    @on(PinWanted)
    async def _show_pin(self, wanted: PinWanted) -> None:
        from pinui.tui.places.pins.screen import PinsScreen

        if pins := await self._visit("pins", PinsScreen):
            pins.ask_on(partial(pins.show_entry, wanted.entry), "show")

    @on(ServiceWanted)
    async def _set_up_service(self) -> None:
        from pinui.tui.places.connection.screen import ConnectionScreen

        if connection := await self._visit("connection", ConnectionScreen):
            connection.action_add()

    async def _visit(self, place: str, kind: type[PlaceKind]) -> PlaceKind | None:
        """Go to a place and return its screen; None while the app is about to end."""
        await self.action_go(place)
        screen: object = self.screen
        return screen if isinstance(screen, kind) else None

    async def action_go(self, place: str) -> None:
        """Go to one of the five places, unless the app is about to end: a key typed after `q` may arrive then."""
        if self.return_code is not None:
            return
        from pinui.tui.dialogs.welcome import WelcomeScreen

        if isinstance(self.screen, WelcomeScreen):
            self.screen.leave()
        if place != self.current_mode:
            self.clear_notifications()  # what was told belongs to the place that is left
            await self.switch_mode(place)
            self.keep_view(replace(self.view, place=place))

    async def action_help(self) -> None:
        """Explain what has the focus."""
        from pinui.tui.dialogs.help import HelpScreen

        await self._open(HelpScreen.about(self.screen, ABOUT))

    async def action_log(self) -> None:
        """Show everything that was told in this run."""
        from pinui.tui.dialogs.log import LogScreen

        await self._open(LogScreen([*self.messages]))

    async def _open(self, dialog: Screen[None]) -> None:
        """Open a dialog, unless it is open already."""
        if not isinstance(self.screen, type(dialog)):
            await self.push_screen(dialog)

    async def action_quit(self) -> None:
        """Quit if the key was pressed by itself: the rest of stray text would go to the shell."""
        self.if_by_itself(self._leave, lambda: self.tell_not_alone("app.quit", "doesn't quit"))

    def _leave(self) -> None:
        """Ask first while transfers or other work run. Unsaved text comes back at the next start."""
        running = self.workspace.transfers.active
        unfinished = [place.unfinished for place in self.visited() if place.unfinished]
        if not running and not unfinished:
            self._end()
            return
        self.push_screen(_leave_question(running, unfinished), lambda yes: self._end() if yes else None)

    def _end(self) -> None:
        self.unsaved.save()
        self.exit()

    def search_themes(self) -> None:
        """Show the themes: F9, and Theme in the palette."""
        from textual.command import CommandPalette

        from pinui.tui.palette import ThemesProvider

        self.push_screen(CommandPalette(providers=[ThemesProvider], placeholder="Search for themes…"))


def _leave_question(running: int, unfinished: Sequence[Unfinished]) -> Confirm:
    """The question before quitting while transfers or other work run."""
    from pinui.tui.dialogs.confirm import Confirm

    undone: list[str] = []
    consequences: list[str] = []
    if running:
        undone.append(f"{plural(running, 'transfer')} {be(running)} not done")
        lists = "lists it, and can resume it" if running == 1 else "lists them, and can resume them"
        consequences.append(f"Nothing is lost: next time, Files {lists}.")
    for work in unfinished:
        undone.append(work.fact)
        consequences.append(work.consequence)
    fact = ", and ".join(undone)
    return Confirm("Quit", f"{fact[0].upper()}{fact[1:]}. Quit anyway?", "\n\n".join(consequences), "Quit")


def _collect_garbage_again() -> None:
    """End the pause of `pinui.cli`, which lasts until the first frame."""
    if not gc.isenabled():
        gc.freeze()  # modules and classes stay: there is no garbage to find among them
        gc.enable()


def make_app(
    profile: str | None = None,
    *,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
) -> Pinui:
    """Make the app, for the command line and the tests: `clock` tells ages, `monotonic` the pace of keys."""
    let_alt_digits_through()
    return Pinui(profile=profile, clock=clock, monotonic=monotonic)


def run(profile: str | None) -> int:
    """Open the workbench. Returns the exit code of the app: 1 after a crash.

    Settings that cannot be read and a missing profile raise before the screen changes.
    """
    from pinui.workspace import Paths, Profiles

    profiles = Profiles(Paths.find().config, chosen=profile)
    _ = profiles.current, profiles.keys()
    return make_app(profile).run_and_report()
