"""The workbench: everything that a screen may ask of the app. The screens themselves are wired to it in `app`."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable
from urllib.parse import urlsplit

from textual import events
from textual.keys import key_to_character
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from pinui.figures import ago, count, plural
from pinui.tui.busy import Busy
from pinui.tui.common_keys import APP
from pinui.tui.errors import sentence
from pinui.tui.keys import Group, bindings, key_name
from pinui.tui.textual_private import HandlesCrashes, ParsedOnce, set_first_theme
from pinui.tui.themes import DARK, DARK_16, LIGHT, LIGHT_16, Tones, with_own_variables
from pinui.tui.transfer_news import TransferNews, transfer_words
from pinui.tui.typed_ahead import TypedAhead
from pinui.tui.unsaved import UnsavedText
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.paths import Paths
from pinui.workspace.text import clean_line
from pinui.workspace.view import View, read_view, write_view

if TYPE_CHECKING:
    from textual.filter import LineFilter

    from pinui import Totals
    from pinui.workspace import Entry, Profile, TestResult, Transfer, Workspace
    from pinui.workspace.drafts import Drafts
    from pinui.workspace.rows import AccountState

__all__ = ["AddressWanted", "PinWanted", "Place", "ServiceWanted", "Told", "Unfinished", "Workbench"]

log = logging.getLogger("pinui.tui")
LOOK = 1.5
GROWN_OLD = 30.0
"""Seconds between two checks of the history's file, and seconds after which ages are written again."""
ASK_AGAIN, LAST_ASK = 10.0, 300.0
"""Seconds until the service is asked about a pin that it has not made yet: the first time, and later at most."""
MOMENT = 0.5
"""Seconds of another view that a killed process may lose."""
KEPT = 500
"""Messages in the log."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Work that quitting would cut off: the fact as half a sentence, and the consequence."""

    fact: str
    consequence: str


@dataclass(frozen=True, slots=True)
class Told:
    """A message of the app: its time in seconds, all its words, and how bad it is."""

    at: float
    words: str
    severity: Literal["information", "warning", "error"] = "information"


@runtime_checkable
class Place(Protocol):
    """A screen that shows the workspace."""

    @property
    def is_mounted(self) -> bool: ...
    @property
    def unfinished(self) -> Unfinished | None:
        """Work that quitting would cut off."""
        ...

    def keep_text(self, drafts: Drafts) -> Drafts:
        """Add the unsaved text of this place to the drafts."""
        ...

    def show_status(self) -> None:
        """Bring the top bar up to date."""
        ...

    def workspace_changed(self) -> None:
        """Bring the body up to date."""
        ...


@dataclass
class AddressWanted(Message):
    """An address was pasted: a menu asks what to do with its content."""

    address: str


@dataclass
class PinWanted(Message):
    """A pin is to be shown, in Pins."""

    entry: Entry


class ServiceWanted(Message):
    """A service is to be set up: Connection opens its wizard."""


class Workbench(HandlesCrashes[None], TypedAhead[None]):
    """The app without its screens: the workspace, telling, copying, being busy, switching profiles."""

    TITLE = "pinui"
    KEYS: ClassVar[tuple[Group, ...]] = ()
    """All keys of all places, the important ones first."""
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {}
    BINDINGS = bindings(APP)
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-small"), (100, "-medium"), (120, "-wide"), (150, "-large")]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (16, "-short"), (28, "-tall")]
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        *,
        profile: str | None = None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.view: View = View()
        """The view of the last run, and then of this one."""
        with suppress(WorkspaceError):  # without a home, opening the workspace tells why
            self.view = read_view(Paths.find().view)
        self.kept_view: View = self.view
        """The view as its file has it."""
        if self.view.place in self.MODES:
            vars(self)["DEFAULT_MODE"] = self.view.place  # of this app alone, and before Textual makes its first screen
        super().__init__(monotonic)
        self.stylesheet = ParsedOnce(variables=self.theme_variables)
        self.clock = clock
        self.workspace: Workspace
        self._next_ask: Timer | None = None
        self._profile = profile
        self._dirty = False
        self._visited: list[Place] = []
        self.fresh: int | None = None
        """The row that another place stored last. Pins puts the cursor there at the next visit."""
        self.messages: deque[Told] = deque(maxlen=KEPT)
        """Everything that was told in this run. A toast vanishes."""
        self.keys: dict[str, str] = {}
        """The keys of commands, by their ids, where `config.toml` has others than usual."""
        self._key_mistakes: list[str] = []
        self.busy = Busy(self, self._show_standing)
        self.tests: dict[str, list[TestResult]] = {}
        self.tested_at: dict[str, float] = {}
        self.totals: dict[str, Totals] = {}
        self.accounts: dict[str, AccountState] = {}
        """How much of each profile's account is known, as it was read last."""
        self.unread: dict[str, str] = {}
        """The reasons for which accounts can't be read, by the profile; empty where the service can't list pins."""
        self._transfer_news = TransferNews()
        self._tell_no_more: Callable[[], None] = lambda: None
        self._written = 0
        self._shown_at = 0.0
        self._chosen_theme = ""
        self.unsaved = UnsavedText(self, self._gather_text, self._tell_lost)

    def keys_of(self, command: str) -> list[str]:
        """The keys of a command, by its id, as Textual calls them: those of `config.toml`, or the usual ones."""
        usual = next(one.keys for group in self.KEYS for one in group.commands if one.id == command)
        return self.keys.get(command, usual).split(",")

    def key(self, command: str) -> str:
        """The key of a command, for a sentence. While a field has the focus, it is a key that types nothing."""
        keys, field = self.keys_of(command), self.focused if self.screen_stack else None
        works = (key for key in keys if field is None or not field.check_consume_key(key, key_to_character(key)))
        return key_name(next(works, keys[0]))

    # -- life ---------------------------------------------------------------------------------------------------

    async def on_load(self) -> None:
        """Read the settings (one small file) before the first frame: it decides theme and welcome."""
        # From Python 3.12 on, Textual starts tasks eagerly: a field on the first screen is mounted before the app has
        # that screen, and asks for it (seen in 8.2.8).
        asyncio.get_running_loop().set_task_factory(None)
        for theme in (DARK_16, LIGHT_16) if self._has_16_colours else (DARK, LIGHT):
            self.register_theme(theme)
        from pinui.workspace import Workspace

        self.workspace = await Workspace.open(profile=self._profile)
        self.workspace.transfers.is_patient = True
        await self.unsaved.open(self.workspace.paths.drafts)
        theme = self.workspace.profiles.setting("theme")
        set_first_theme(self, theme if isinstance(theme, str) and theme in self.available_themes else "pinui")
        self._chosen_theme = self.theme
        self.theme_changed_signal.subscribe(self, self._remember_theme)
        if table := self.workspace.profiles.keys():
            from pinui.tui.keymap import read_keymap

            self.keys, self._key_mistakes = read_keymap(table, self.KEYS)
            self.set_keymap(self.keys)

    def on_mount(self) -> None:
        """After the first frame: the client, the node and the history, in the background."""
        from pinui.workspace.notices import on_notice

        self.workspace.subscribe(self._workspace_changed)
        self._tell_no_more = on_notice(lambda notice: self.tell(notice, warning=True))
        self.call_after_refresh(self.connect)
        self._tell_back()
        for mistake in self._key_mistakes:
            self.tell(f"{self.workspace.paths.config.name}: {mistake}", warning=True)
        self.run_worker(self._tell_left, exit_on_error=False)
        self.set_interval(LOOK, self.look_for_others)
        for name in ("SIGTERM", "SIGHUP"):
            with suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):  # Windows, another thread
                number = getattr(signal, name)
                asyncio.get_running_loop().add_signal_handler(number, self._end_by_signal, number)

    def _end_by_signal(self, number: int) -> None:
        """The system shuts down, or the window was closed: keep the text, and give the terminal back."""
        self.unsaved.save()
        self.exit(return_code=128 + number)

    async def on_unmount(self) -> None:
        """Close transfers, node and files."""
        self._tell_no_more()
        await self._write_view()
        if hasattr(self, "workspace"):
            await self.workspace.aclose()
        self.unsaved.close()

    async def on_event(self, event: events.Event) -> None:
        """Clean text that is pasted into Textual's palette. Our own fields clean their text themselves."""
        if (
            isinstance(event, events.Paste)
            and self.screen_stack
            and type(self.focused).__module__.startswith("textual.")
        ):
            event.text = clean_line(event.text)
        await super().on_event(event)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """With `NO_COLOR`, none of Textual's greys."""
        if not self.no_color:
            return super().get_line_filters()
        from textual.color import Color

        from pinui.tui.no_color import WithoutColours

        return [WithoutColours(Color.parse(self.theme_variables["background"]))]

    @property
    def _has_16_colours(self) -> bool:
        return self.console.color_system in ("standard", "windows")

    def get_css_variables(self) -> dict[str, str]:
        """Our own variables, for every theme."""
        theme = self.current_theme
        few_colours = self._has_16_colours or theme.ansi
        self.set_class(few_colours, "-few-colours", update=False)
        self.theme_variables = with_own_variables(theme, super().get_css_variables())
        self.tones = Tones(self.theme_variables, few_colours=few_colours)
        return self.theme_variables

    def _remember_theme(self, _theme: object) -> None:
        if self.theme != self._chosen_theme:
            self._chosen_theme = self.theme
            self.remember("theme", self.theme)

    # -- the workspace ------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Make the client. The local node is tested once, so that its dot is right; a service is not polled."""

        name = self.workspace.profile.name

        async def opened() -> None:
            try:
                await self.workspace.connect()
                if self.workspace.profile.preset == "local":
                    await self.test()
                self.mirror()
            except Exception as error:  # noqa: BLE001  whatever it is, the person hears of it and goes on
                self.unread[name] = sentence(error)
                self.tell_error(error)
                self._workspace_changed()

        self.run_worker(opened, group="app.connect", exclusive=True, exit_on_error=False)

    def mirror(self) -> None:
        """Read the account in the background. A service that can't list its pins is left alone."""
        from pinui.sdk.errors import Unsupported

        name = self.workspace.profile.name

        async def read() -> None:
            try:
                self.accounts[name] = await self.workspace.sync()
            except Unsupported:
                self.unread[name] = ""
            except Exception as error:  # noqa: BLE001  the bar shows that the service failed; the log tells why
                self.unread[name] = sentence(error)
                self.note_error(error)
            self._workspace_changed()

        self.unread.pop(name, None)

        self.run_worker(read, group="app.mirror", exclusive=True, exit_on_error=False)

    def ask_again(self, seconds: float = ASK_AGAIN) -> None:
        """Ask about pins that the service has not made yet: soon, and then less and less often."""

        async def ask() -> None:
            try:
                wanted = await self.workspace.ask_again()
            except Exception as error:  # noqa: BLE001  the bar shows that the service failed; the log tells why
                self.note_error(error)
                wanted = True
            self._workspace_changed()
            if wanted and self.workspace.requests:
                self.ask_again(min(2 * seconds, LAST_ASK))

        if self._next_ask is not None:
            self._next_ask.stop()
        self._next_ask = self.set_timer(
            seconds, lambda: self.run_worker(ask, group="app.requests", exclusive=True, exit_on_error=False)
        )

    async def test(self, other: Profile | None = None) -> TestResult:
        """Ask the service in use, or another one, whether the token works; remember how long it took."""
        name = (other or self.workspace.profile).name
        result = await self.workspace.test(other)
        self.remember_test(name, result)
        if result.ok and other is None:
            await self.count_pins()
        self._workspace_changed()
        return result

    def remember_test(self, name: str, result: TestResult) -> None:
        """For Connection and the bar."""
        self.tests.setdefault(name, []).append(result)
        self.tested_at[name] = self.clock()

    async def count_pins(self) -> None:
        """Ask the service in use for the number and size of the pins on the account."""
        name, totals = self.workspace.profile.name, await self.workspace.totals()
        if totals is not None:
            self.totals[name] = totals

    async def switch(self, name: str) -> None:
        """Use another profile. Running work goes on with the profile that it began with."""
        await self.workspace.switch(name)
        self._workspace_changed()
        self.connect()
        elsewhere = [one for one in self.workspace.transfers.all if one.is_active and one.profile != name]
        if elsewhere:
            go_on = "goes on" if len(elsewhere) == 1 else "go on"
            self.tell(f"Now using {name}. {plural(len(elsewhere), 'transfer')} {go_on} at {elsewhere[-1].profile}.")
        else:
            self.tell(f"Now using {name}.")

    async def use(self, name: str) -> bool:
        """Switch to another profile. If it is gone, or the settings can't be read, that is told and nothing changes."""
        try:
            await self.switch(name)
        except Exception as error:  # noqa: BLE001  whatever it is, the person hears of it and goes on
            self.tell_error(error)
            return False
        return True

    def _show_standing(self) -> None:
        for screen in self._places():
            screen.show_status()

    def _places(self) -> list[Place]:
        return [screen for screen in self.screen_stack if isinstance(screen, Place) and screen.is_mounted]

    @property
    def audience(self) -> str:
        """The audience of stored content, as half a sentence: the local node's gateway answers this machine alone."""
        return "on this machine only" if self.workspace.profile.preset == "local" else "public once stored"

    def standing(self) -> tuple[str, str, str]:
        """The profile, the result of its last call and one fact, for the top bar."""
        profile, status = self.workspace.profile, self.workspace.status
        moving = transfer_words(self.workspace.transfers.totals)
        also = f" · {moving}" if moving else ""
        if words := self.busy.words:
            return profile.name, "waiting", words + also
        if left := self.workspace.pause_left:
            return profile.name, "waiting", f"waiting {left} s for the service{also}"
        progress, account = self.workspace.mirror.progress, self.accounts.get(profile.name)
        if progress is not None and progress.profile == profile.name and progress.read:
            of = "" if progress.total is None else f" of {count(progress.total)}"
            return profile.name, status.state, f"mirroring {count(progress.read)}{of}{also}"
        if profile.preset == "local":
            return profile.name, status.state, moving or "node on 127.0.0.1"
        tests, totals = self.tests.get(profile.name), self.totals.get(profile.name)
        facts = [moving] if moving else []  # the last ones give way first
        if account is not None and account.mirrored_at is not None:
            facts.append(f"{plural(account.pins, 'pin')} · mirrored {ago(account.mirrored_at, self.clock())}")
        elif totals:
            facts.append(plural(totals.pins, "pin"))
        if tests and tests[-1].ok and not moving:
            facts.append(f"{tests[-1].milliseconds:.0f} ms")
        return profile.name, status.state, " · ".join(facts) or urlsplit(profile.api_url or "").hostname or ""

    def _workspace_changed(self) -> None:
        # Many changes come at once (a transfer's progress): the screen hears of them ten times a second at most.
        if not self._dirty and self.is_running:
            self._dirty = True
            self.set_timer(0.1, self._show_changes)

    def look_for_others(self) -> None:
        """Reload if another process has written to the history, or if ages have changed."""
        try:
            written = self.workspace.paths.history.stat().st_mtime_ns  # one look at the folder, no reading
        except OSError:
            return
        now = self.clock()
        if written != self._written or now - self._shown_at > GROWN_OLD:
            self._written, self._shown_at = written, now
            self._workspace_changed()

    def _show_changes(self) -> None:
        self._dirty = False
        if self.workspace.pause_left:
            self.set_timer(1.0, self._workspace_changed)  # the countdown in the bar
        for screen in self._places():
            screen.show_status()
            screen.workspace_changed()
        self.run_worker(self._count_account, group="app.account", exclusive=True, exit_on_error=False)
        self._tell_transfer_news()

    async def _count_account(self) -> None:
        """Bring the pins in the bar up to date: a bulk revoke changes them in every place."""
        name = self.workspace.profile.name
        with suppress(WorkspaceError):  # Pins tells about a history that can't be read
            self.accounts[name] = await self.workspace.history.account_state(name)
            self._show_standing()

    async def _tell_left(self) -> None:
        """Tell about transfers that an earlier run has not finished."""
        try:
            await self.workspace.transfers.look()
        except WorkspaceError as error:
            self.tell_error(error)
        rows = self.workspace.transfers.all  # the account is read at each start
        left = [row for row in rows if row.state in ("left", "paused") and row.kind != "mirror"]
        if left:
            be, them = ("was", "it") if len(left) == 1 else ("were", "them")
            self.tell(
                f"{plural(len(left), 'transfer')} {be} not finished last time. {self.key('app.files')} shows {them}."
            )

    def _tell_transfer_news(self) -> None:
        news = self._transfer_news.news(self.workspace.transfers.all, self.key("app.files"))
        for revoked in self._transfer_news.revoked:
            self.run_worker(self._tell_revoked(revoked), group="app.revoked", exit_on_error=False)
        if self._transfer_news.wrong is not None:
            self.tell_error(self._transfer_news.wrong)
        elif news is not None and self.current_mode != "files":
            self.tell(news)
            self.bell()

    async def _tell_revoked(self, transfer: Transfer) -> None:
        try:
            words = await self.workspace.revoke_report(transfer)
        except WorkspaceError as error:
            self.tell_error(error)
        else:
            cancelled = "Revoke cancelled: " if transfer.state == "cancelled" else ""
            self.tell(f"{cancelled}{words}", warning=transfer.state == "failed")

    # -- crashes ------------------------------------------------------------------------------------------------

    def run_and_report(self) -> int:
        """Run the app. Returns its exit code: 1 after a crash."""
        try:
            self.run()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 – while the app ends, or an error that Textual lets through
            self.crash(error)
            self.print_crash()
        return self.return_code or 0

    def report_crash(self, error: BaseException) -> str:
        """Save unsaved text and write a report. Returns the words that tell of both."""
        from pinui.workspace.crashes import report_crash

        try:
            saved = self.unsaved.save()
        except Exception as trouble:  # noqa: BLE001 – the app is broken: what can be saved is not known
            saved = f"Unsaved text could not be saved ({type(trouble).__name__})."
        return report_crash(error, f"workbench, {self.current_mode}", saved=saved)

    # -- text that is not stored yet ----------------------------------------------------------------------------

    def visited(self) -> list[Place]:
        """The places that were shown in this run."""
        return [place for place in self._visited if place.is_mounted]

    def remember_place(self, place: Place) -> None:
        """A place is shown for the first time."""
        self._visited.append(place)

    def _gather_text(self, drafts: Drafts) -> Drafts:
        for place in self.visited():
            drafts = place.keep_text(drafts)
        return drafts

    def _tell_lost(self, error: OSError) -> None:
        self.tell(f"Text that you don't store won't come back: {sentence(error)}", warning=True)

    def _tell_back(self) -> None:
        text = self.unsaved.text
        places = [place for place, there in (("JSON (2)", text.json), ("Messages (4)", text.messages)) if there]
        if places:
            self.tell(f"Text that you had not stored is back in {' and '.join(places)}.")

    # -- telling ------------------------------------------------------------------------------------------------

    def on_notify(self) -> None:
        """Show a toast. It replaces the one before, so that toasts never hide the work."""
        self.clear_notifications()

    def tell(self, text: str, *, warning: bool = False) -> None:
        """Show a toast, and keep it in the log."""
        words, severity = clean_line(text), "warning" if warning else "information"
        self.messages.append(Told(self.clock(), words, severity))
        self.notify(words, severity=severity, markup=False)

    def action_help_quit(self) -> None:
        """Answer ctrl+c where no text is selected."""
        self.tell(f"{self.key('app.quit')} quits. ctrl+c copies text that is selected with the mouse.")

    def tell_not_alone(self, command: str, does_not: str) -> None:
        """A toast for a key that arrived with others, all at once, as stray text does."""
        self.tell(f"Press {self.key(command)} by itself: it came with other keys at once and {does_not}.", warning=True)

    def tell_error(self, error: BaseException) -> None:
        """A toast for something that went wrong; the log of `--debug` tells where it came from."""
        self.note_error(error)
        self.notify(sentence(error), severity="error", timeout=self.NOTIFICATION_TIMEOUT * 1.6, markup=False)

    def note_error(self, error: BaseException) -> None:
        """Write down, without a toast, that work in the background failed."""
        log.debug("%s", type(error).__name__, exc_info=error)
        self.messages.append(Told(self.clock(), sentence(error, whole=True), "error"))

    def on_paste(self, event: events.Paste) -> None:
        """Text that no field took."""
        if not event.text.strip() or self.open_pasted(event.text):
            return
        if isinstance(self.screen, Place):
            self.tell(
                "A CID, or a URL with /ipfs/ in it, can be pasted here. Other text goes into a field.", warning=True
            )
        else:
            self.tell("No text can be pasted here.", warning=True)

    def open_pasted(self, text: str) -> bool:
        """Open the content of a pasted address. Returns False if it is no address, or if nothing can be opened now."""
        from pinui.sdk.address import Address
        from pinui.sdk.errors import InvalidCID

        try:
            address = str(Address.parse(text))
        except InvalidCID:
            return False
        if isinstance(self.screen, Place):
            self.post_message(AddressWanted(address))
            return True
        return False

    def copy(self, text: str, what: str) -> None:
        """Copy to the clipboard and say so."""
        from pinui.tui.clipboard import copied_by_system

        async def copied() -> None:
            by_system = await copied_by_system(text)
            self.tell(f"{what} copied." if by_system else f"{what} sent to the terminal's clipboard.")

        self.copy_to_clipboard(text)
        self.run_worker(copied, group="app.copy", exclusive=True, exit_on_error=False)

    def keep_view(self, view: View) -> None:
        """Remember another view for the next start; it is written in a moment, together with other changes."""
        if view != self.view:
            is_due, self.view = self.view != self.kept_view, view
            if not is_due:
                self.set_timer(MOMENT, lambda: self.run_worker(self._write_view, group="app.view", exit_on_error=False))

    async def _write_view(self) -> None:
        """Write the view until the file has the newest one. A quit in the middle leaves the rest to the unmount."""
        while self.view != self.kept_view:
            view = self.view
            try:
                await asyncio.to_thread(write_view, self.workspace.paths.view, view)
            except OSError as error:
                self.note_error(error)
            self.kept_view = view

    def remember(self, setting: str, value: Any) -> None:
        """Write a setting in the background; a failure is told."""

        async def written() -> None:
            try:
                await asyncio.to_thread(self.workspace.profiles.set_setting, setting, value)
            except Exception as error:  # noqa: BLE001  whatever it is, the choice is lost with the end of this run
                self.tell_error(error)

        self.run_worker(written, group=f"app.{setting}", exit_on_error=False)
