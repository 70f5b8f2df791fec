"""Transfers in tmux with real keys: quit while they run, come back, go on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.test_journey import Tmux

pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux: install the package tmux"),
]

FILES = 40


@pytest.fixture
def environment(tmp_path: Path, own_home: Path) -> Iterator[dict[str, str]]:
    """A home with files, and a service of its own that answers 30 requests a minute."""
    home = tmp_path / "home"
    home.mkdir()
    for number in range(FILES):
        (home / f"f{number:02}.txt").write_text(f"file {number}")
    command = [sys.executable, "-m", "pinui", "node", "--json", "--rate-limit", "30", "--data", str(tmp_path / "node")]
    node = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert node.stdout is not None
    told = json.loads(node.stdout.readline())
    own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    yield own | {
        "HOME": str(home),
        "TERM": "xterm-256color",
        "PINUI_API_URL": told["api_url"],
        "PINUI_GATEWAY_URL": told["gateway_url"],
        "PINUI_TOKEN": told["token"],
    }
    node.terminate()
    node.wait()
    node.stdout.close()


def open_workbench(folder: Path, environment: dict[str, str]) -> Tmux:
    folder.mkdir()
    return Tmux(folder, f"cd {environment['HOME']} && {sys.executable} -m pinui", environment)


def test_transfers_go_on_after_quitting(environment: dict[str, str], tmp_path: Path) -> None:
    tmux = open_workbench(tmp_path / "first", environment)
    try:
        tmux.shows("Welcome to pinui.")
        tmux.press("Enter")
        tmux.shows("● environment")
        tmux.press("3")
        tmux.shows("f00.txt", "space mark")
        for _ in range(FILES):
            tmux.press("Space")
        tmux.shows(f"{FILES} marked")
        tmux.press("u")
        tmux.shows(f"▸ {FILES} files", "waiting for the service")
        tmux.press("q")
        tmux.shows("1 transfer is not done. Quit anyway?", "Nothing is lost", "Q to quit")
        tmux.press("Q")
        assert tmux.exit_code() == 0
    finally:
        tmux.close()
    listed = subprocess.run(
        [sys.executable, "-m", "pinui", "transfers", "--json"], env=environment, capture_output=True, check=True
    )
    left = json.loads(listed.stdout)
    assert left["state"] == "unfinished"
    assert 0 < left["done"] < left["items"] == FILES
    tmux = open_workbench(tmp_path / "second", environment)
    try:
        tmux.shows("unfinished", f"{left['done']} of {FILES}")
        tmux.press("Tab", "Tab")
        tmux.shows("r resume", "del forget")
        tmux.press("r")
        tmux.shows("1 done", f"{FILES} of {FILES}", patience=150)
        tmux.press("Enter")
        tmux.shows(f"▾ {FILES} files", "✓ f00.txt")
        tmux.press("q")
        assert tmux.exit_code() == 0
    finally:
        tmux.close()
    pins = subprocess.run(
        [sys.executable, "-m", "pinui", "history"], env=environment, capture_output=True, check=True, text=True
    )
    assert len(pins.stdout.splitlines()) == FILES
