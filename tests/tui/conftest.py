"""What the tests of the workbench share: a home of their own, one time zone, a service."""

from __future__ import annotations

import gc
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from pinui.node import Node
from tests.tui import textual_private
from tests.tui.services import TOKEN


@pytest.fixture(autouse=True, scope="session")
def less_to_do() -> Iterator[None]:
    """Nobody looks at most of the frames, and the style sheets are the same in every app: half of the tests' time."""
    gc.collect()
    gc.freeze()  # the imported modules stay; without this, each app that goes makes Python look at all of them
    gc.set_threshold(20_000, 20, 100)
    with pytest.MonkeyPatch.context() as patch:
        textual_private.parse_sheets_once(patch)
        textual_private.draw_when_looked_at(patch)
        yield


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
