"""What the tests of the workbench share: a home of their own, one time zone, and snapshots."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from pinui.node import Node
from pinui.tui.app import Pinui
from tests.tui.pilots import svg, until
from tests.tui.services import TOKEN

SNAPSHOTS = Path(__file__).parent / "snapshots"
LAST_FRAMES = 20.0
UPDATE = bool(os.environ.get("UPDATE_SNAPSHOTS"))


@pytest.fixture(autouse=True)
def own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A home, a folder and a time zone that belong to the test."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("COLORTERM", "truecolor")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "NO_COLOR", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(home)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Node]:
    """A pinning service of one's own."""
    async with Node(tmp_path / "service", token=TOKEN) as node:
        yield node


Snapshot = Callable[[Pinui, Pilot[None], str], Awaitable[None]]


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    """Compare the screen with the stored picture; `UPDATE_SNAPSHOTS=1` stores it anew."""

    async def compare(app: Pinui, pilot: Pilot[None], name: str) -> None:
        stored, fresh = SNAPSHOTS / f"{name}.svg", tmp_path / f"{name}.svg"
        if UPDATE:
            SNAPSHOTS.mkdir(exist_ok=True)
            stored.write_text(await at_rest(app, pilot), "utf-8")
            return
        assert stored.exists(), f"no picture {stored.name} yet: UPDATE_SNAPSHOTS=1 stores it"
        wanted = stored.read_text("utf-8")
        try:
            # A scroll bar or a colour may come a frame after the text: what counts is where it ends.
            await until(pilot, lambda: svg(app) == wanted, patience=LAST_FRAMES)
        except AssertionError:
            fresh.write_text(svg(app), "utf-8")
            sentence = f"{stored.name} looks different now: compare it with {fresh}; UPDATE_SNAPSHOTS=1 stores it anew"
            raise AssertionError(sentence) from None

    return compare


async def at_rest(app: Pinui, pilot: Pilot[None]) -> str:
    """The picture that stays the same for a while."""
    seen = [svg(app)]
    while len(seen) < 8 or len(set(seen[-8:])) > 1:
        await pilot.pause(0.05)
        seen.append(svg(app))
    return seen[-1]
