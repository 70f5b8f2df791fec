"""What the tests of the workbench share: a home of their own, one time zone, and snapshots."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pinui.tui.app import Pinui
from tests.tui.pilots import svg

SNAPSHOTS = Path(__file__).parent / "snapshots"
UPDATE = bool(os.environ.get("UPDATE_SNAPSHOTS"))


@pytest.fixture(autouse=True)
def own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A home, a folder and a time zone that belong to the test."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "COLORTERM", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(home)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def snapshot(tmp_path: Path) -> Callable[[Pinui, str], None]:
    """Compare the screen with the stored picture; `UPDATE_SNAPSHOTS=1` stores it anew."""

    def compare(app: Pinui, name: str) -> None:
        stored, seen = SNAPSHOTS / f"{name}.svg", svg(app)
        if UPDATE:
            SNAPSHOTS.mkdir(exist_ok=True)
            stored.write_text(seen, "utf-8")
            return
        fresh = tmp_path / f"{name}.svg"
        fresh.write_text(seen, "utf-8")
        assert stored.exists(), f"no picture {stored.name} yet: UPDATE_SNAPSHOTS=1 stores it"
        same = stored.read_text("utf-8") == seen
        assert same, f"{stored.name} looks different now: compare it with {fresh}; UPDATE_SNAPSHOTS=1 stores it anew"

    return compare
