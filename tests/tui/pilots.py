"""Ways to drive the app as a person does, for the tests, the snapshots and the README's pictures alike."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from pinui import Totals
from pinui.sdk.secret import Secret
from pinui.tui.app import Pinui, make_app
from pinui.tui.dialogs.confirm import Confirm
from pinui.tui.widgets.fields import pane_title
from pinui.tui.widgets.line_view import LineView
from pinui.workspace import Credential, KeyringState, Query, TestResult
from pinui.workspace.paths import Paths
from pinui.workspace.profiles import Profiles
from tests.tui import scene
from tests.tui.textual_private import read_keys, strips_of

__all__ = [
    "PATIENCE",
    "SCENES",
    "Seconds",
    "Typing",
    "confirm",
    "paste",
    "plain",
    "read_question",
    "settled",
    "shows",
    "svg",
    "text_of",
    "told",
    "type_ahead",
    "type_at_once",
    "until",
    "workbench",
]

PATIENCE = 60.0


async def until(
    pilot: Pilot[Any], condition: Callable[[], object], what: str = "the screen", *, patience: float | None = None
) -> None:
    """Let the app work until the condition holds."""
    end = time.monotonic() + (patience or PATIENCE)
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what}\n{text_of(pilot.app)}")
        await pilot.pause(0.05)


def text_of(app: App[Any]) -> str:
    """What a person reads on the screen."""
    return "\n".join(strip.text.rstrip() for strip in strips_of(app))


async def shows(pilot: Pilot[Any], *words: str) -> None:
    """Wait until all of these words are on the screen."""

    def are_there() -> bool:
        text = text_of(pilot.app)
        return all(word in text for word in words)

    await until(pilot, are_there, " and ".join(words))


async def told(pilot: Pilot[Any], words: str) -> None:
    """Wait until a toast says this, after those that were waited for before.

    On the screen its lines may break anywhere, and on a busy machine it may be gone before anybody looked.
    """
    toasts = TOASTS[pilot.app]
    await until(pilot, lambda: any(words in toast for toast in toasts), f"a toast: {words}")
    while words not in toasts.pop(0):
        pass


TOASTS: WeakKeyDictionary[App[Any], list[str]] = WeakKeyDictionary()


def keep_toasts(app: Pinui) -> None:
    """Note every toast, for `told`."""
    toasts: list[str] = []
    notify = app.notify

    def kept(message: str, **how: Any) -> None:
        toasts.append(message)
        notify(message, **how)

    TOASTS[app], app.notify = toasts, kept


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until nothing works in the background and nothing on the screen changes."""
    seen = ""

    def quiet() -> bool:
        nonlocal seen
        before, seen = seen, text_of(pilot.app)
        return before == seen and all(worker.is_finished for worker in pilot.app.workers)

    await until(pilot, quiet, "rest")


async def paste(pilot: Pilot[Any], text: str) -> None:
    """Paste into what has the focus, as a terminal does."""
    pilot.app.post_message(events.Paste(text))
    await pilot.pause()
    await keys_taken(pilot)


async def keys_taken(pilot: Pilot[Any]) -> None:
    """Wait until all that was typed has arrived where it was meant to."""
    app = pilot.app
    assert isinstance(app, Pinui)
    await until(pilot, lambda: has_ended(app) or app.has_taken_every_key, "the end of what was typed")


def has_ended(app: App[Any]) -> bool:
    """Whether the app is on its way out, or gone."""
    return app.return_code is not None


class Seconds:
    """The clock of the keys. It moves only when somebody moves it: what is typed at once is at once."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self) -> None:
        """Long enough for any question, and for a machine that takes its time."""
        self.now += 60.0


def press_one_by_one(pilot: Pilot[Any], seconds: Seconds) -> None:
    """Let `pilot.press` press keys as a person does, each by itself and after the one before it has been taken."""
    press = pilot.press

    async def press_and_wait(*keys: str) -> None:
        for key in keys:
            seconds.pass_by()
            await press(key)
            await keys_taken(pilot)

    pilot.press = press_and_wait


async def type_at_once(pilot: Pilot[Any], *typed: str, gap: float = 0.0) -> None:
    """All of it before the app has read any of it: names of keys, or text behind a quote."""
    named = (
        [events.Key(part, part if len(part) == 1 else None)] if part[0] != "'" else read_keys(part[1:])
        for part in typed
    )
    keys = [key for part in named for key in part]
    for number, key in enumerate(keys):
        key.time = keys[-1].time - gap * (len(keys) - 1 - number)
        pilot.app.post_message(key)
    await pilot.pause()
    await keys_taken(pilot)
    app = pilot.app
    assert isinstance(app, Pinui)
    await until(pilot, lambda: has_ended(app) or not app.is_holding_keys, "what the last key leads to")


async def type_ahead(pilot: Pilot[Any], *typed: str) -> None:
    """The same by a person, who presses five keys a second while the app is busy."""
    await type_at_once(pilot, *typed, gap=0.2)


Typing = Callable[..., Awaitable[None]]


async def read_question(pilot: Pilot[Any]) -> None:
    """Take the time that a person takes who reads it."""
    app: Any = pilot.app
    await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.is_shown, "a question")
    app.pace.now.pass_by()


async def confirm(pilot: Pilot[Any], key: str) -> None:
    """Answer a question as a person does who has read it."""
    await read_question(pilot)
    await pilot.press(key)


@asynccontextmanager
async def workbench(
    *,
    size: tuple[int, int] = (132, 34),
    welcome: bool = False,
    theme: str | None = None,
    clock: Callable[[], float] = scene.clock,
) -> AsyncIterator[tuple[Pinui, Pilot[None]]]:
    """The app on its own home, past the welcome, with the node running."""
    if not welcome:
        Profiles(Paths.find().config).set_setting("welcomed", True)
    seconds = Seconds()
    app = make_app(clock=clock, monotonic=seconds)
    keep_toasts(app)
    app.NOTIFICATION_TIMEOUT = 2.5  # type: ignore[misc]  toasts stand in front of what tests look at
    async with app.run_test(size=size, notifications=True) as pilot:
        press_one_by_one(pilot, seconds)
        if not welcome:
            await until(pilot, lambda: app.tests.get("local"), "the node")
            await shows(pilot, "● local")
        if theme:
            app.theme = theme
        yield app, pilot


# -- pictures -------------------------------------------------------------------------------------------------------


def plain(picture: str) -> str:
    """A picture without what differs from run to run, and without addresses of fonts."""
    picture = re.sub(r"terminal-\d+", "terminal", picture)
    picture = re.sub(r",\s*url\([^)]*\) format\([^)]*\)", "", picture)
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def svg(app: Pinui) -> str:
    """The screen as a picture."""
    return plain(app.export_screenshot(title="pinui"))


async def pins(app: Pinui, pilot: Pilot[None]) -> None:
    """Two pins marked, the invoice open."""
    await shows(pilot, "invoice-2026-10.json", "contract-signed.pdf")
    await pilot.press("g", "j", "j", "space", "space", "g")
    await shows(pilot, "2 marked", "Nordlys AS") if app.size.width >= 100 else await shows(pilot, "2 marked")


async def detail(app: Pinui, pilot: Pilot[None]) -> None:
    """A picture, in the terminal."""
    await pins(app, pilot)
    await pilot.press("j")
    await shows(pilot, "96 × 64 pixels") if app.size.width >= 100 else None
    await pilot.press("enter")
    await shows(pilot, "96 × 64 pixels")


async def json_place(app: Pinui, pilot: Pilot[None]) -> None:
    """A document in the editor, and the same one retrieved."""
    from pinui.tui.places.json.screen import JsonScreen

    entries = await app.workspace.history.page(Query(text="Release notes"))
    await pilot.press("2")
    await until(pilot, lambda: isinstance(app.screen, JsonScreen))
    screen = app.screen
    assert isinstance(screen, JsonScreen)
    await pilot.press("tab", "enter")
    await paste(pilot, entries[0].cid)
    await pilot.press("enter")
    await shows(pilot, "breaking: false")
    pane_title(screen.query_one("#retrieve"), "Retrieve", "✓ verified · 12 ms from 127.0.0.1")
    screen.show_pane("#store")
    screen.editor.load_text(json.dumps(scene.NOTES, indent=2))
    await pilot.press("enter")
    await shows(pilot, "valid · 181 characters")


async def files(app: Pinui, pilot: Pilot[None]) -> None:
    """Three files marked, five transfers."""
    from pinui.tui.places.files.screen import FilesScreen

    folder = Path(os.environ["HOME"]) / "Pictures" / "norway"
    (folder / "raw").mkdir(parents=True)
    sizes = {
        "fjord-01.jpg": 4_800_000,
        "fjord-02.jpg": 5_100_000,
        "fjord-03.jpg": 4_400_000,
        "panorama.tif": 312_000_000,
    }
    for name, size in {**sizes, "track.gpx": 88_000}.items():
        with (folder / name).open("wb") as file:
            file.truncate(size)
    await pilot.press("3")
    await until(pilot, lambda: isinstance(app.screen, FilesScreen))
    screen = app.screen
    assert isinstance(screen, FilesScreen)
    screen.read(folder)
    await shows(pilot, "panorama.tif")
    await pilot.press("g", "j", "j", "space", "space", "space", "k", "k")
    scene.furnish_transfers(app)
    screen.show_status()  # nothing else tells the screen of transfers that are only for the picture
    screen.workspace_changed()
    if app.size.width >= 80:  # the bar has room to count them
        await shows(pilot, "0 of 3")
    await shows(pilot, "3 marked · 14 MB", "2 running")


async def messages(app: Pinui, pilot: Pilot[None]) -> None:
    """The thread with alice, and a line begun."""
    await pilot.press("4")
    await shows(pilot, "alice", "ops-team")
    await pilot.press("i")
    await paste(pilot, "Bring the lantern")
    await shows(pilot, "Which page?", "Bring the lantern")


async def connection(app: Pinui, pilot: Pilot[None]) -> None:
    """The hosted service in use, with some tests behind it."""
    from pinui.workspace.models import Status

    async def pinata() -> str:
        return "https://api.pinata.cloud"

    async def gateway() -> str:
        return "https://gateway.pinata.cloud/ipfs"

    app.workspace.api_url, app.workspace.gateway_url = pinata, gateway

    times = [208, 204, 231, 209, 205, 248, 207, 203, 190, 206, 219, 207, 205, 206, 287, 208, 206, 209, 218, 212]
    app.tests["pinata"] = [TestResult(True, float(value)) for value in times]
    app.tested_at["pinata"] = app.clock()
    app.totals["pinata"] = Totals(1204, 1_400_000_000)

    async def kept(_profile: str) -> Credential:
        return Credential(Secret("a token"), "keyring", None, scene.NOW + timedelta(days=365))

    app.workspace.credentials.read = kept  # type: ignore[method-assign]
    await asyncio.to_thread(app.workspace.profiles.use, "pinata")
    app.workspace.service.profile = app.workspace.profiles.current
    app.workspace.status = Status("ok", "The service answered.", app.clock())
    await pilot.press("5")
    await shows(pilot, "1,204 pins · 1.4 GB")


async def wizard(app: Pinui, pilot: Pilot[None]) -> None:
    """The token has been pasted, on a machine with a keyring."""

    async def working() -> KeyringState:
        return KeyringState("SecretService", True, "The keyring works (SecretService).")

    app.workspace.credentials.keyring_state = working  # type: ignore[method-assign]
    await pilot.press("5", "a")
    await shows(pilot, "Where should your pins live?")
    await pilot.press("enter")
    await shows(pilot, "Paste the API token", "It goes to the OS keyring")
    await paste(pilot, "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4MjU3NTAwMDB9.c2lnbmF0dXJl")
    await shows(pilot, "looks like a JWT")


async def revoke(app: Pinui, pilot: Pilot[None]) -> None:
    """Two marked pins are about to go."""
    await pins(app, pilot)
    await pilot.press("x")
    await shows(pilot, "Revoke 2 pins")
    view = app.screen.query_one("#rows", LineView)
    await until(pilot, lambda: len(view.lines) == 2)
    await read_question(pilot)
    await shows(pilot, "R to revoke")


async def palette(app: Pinui, pilot: Pilot[None]) -> None:
    """Looking for everything that stores."""
    await pins(app, pilot)
    await pilot.press("ctrl+p")
    await shows(pilot, "Search for commands")
    app.screen.query_one(Input).cursor_blink = False
    await pilot.press(*"inv")
    await shows(pilot, "invoice-2026-10.json")
    await pilot.app.workers.wait_for_complete()


async def help_page(app: Pinui, pilot: Pilot[None]) -> None:
    """What the list of pins is."""
    await pins(app, pilot)
    await pilot.press("question_mark")
    await shows(pilot, "The pins of this profile")


Scene = Callable[[Pinui, Pilot[None]], Awaitable[None]]
SCENES: dict[str, Scene] = {
    "pins": pins,
    "detail": detail,
    "json": json_place,
    "files": files,
    "messages": messages,
    "connection": connection,
    "wizard": wizard,
    "revoke": revoke,
    "palette": palette,
    "help": help_page,
}
