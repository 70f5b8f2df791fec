"""A newcomer's first minutes, in tmux with real keys: store, find, preview, upload, download, send, receive, revoke."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux: install the package tmux"),
]

PATIENCE = 60.0


class Tmux:
    """One window of a tmux server of our own."""

    def __init__(self, folder: Path, command: str, env: dict[str, str]) -> None:
        self._base = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self._code = folder / "exit-code"
        self._code.unlink(missing_ok=True)
        size = ["-x", "110", "-y", "32"]
        whole = f"{command}; echo $? > {self._code}"
        subprocess.run([*self._base, "new-session", "-d", *size, "-s", "t", whole], check=True, env=env)
        self._run("set-option", "-g", "remain-on-exit", "on")

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._base, *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    def press(self, *keys: str) -> None:
        """Keys by their tmux names."""
        for key in keys:
            self._run("send-keys", "-t", "t", key)

    def paste(self, text: str) -> None:
        """Through a paste buffer, bracketed, as a terminal does."""
        self._run("set-buffer", text)
        self._run("paste-buffer", "-p", "-t", "t")

    def screen(self) -> str:
        """What a person sees."""
        return self._run("capture-pane", "-p", "-t", "t")

    def shows(self, *words: str, twice: str = "", patience: float = PATIENCE) -> str:
        """Wait until all of these are on the screen at once, one of them in two places."""
        end = time.monotonic() + patience
        while True:
            seen = self.screen()
            if all(word in seen for word in words) and (not twice or seen.count(twice) >= 2):
                return seen
            if time.monotonic() > end:
                raise AssertionError(f"never shown: {words} {twice}\n{seen}")
            time.sleep(0.05)  # between two looks; nothing is waited for by time alone

    def exit_code(self) -> int:
        """Wait for the end of the program. tmux itself may miss it on a busy machine."""
        end = time.monotonic() + PATIENCE
        while not (self._code.exists() and (code := self._code.read_text())):
            if time.monotonic() > end:
                raise AssertionError(f"it did not end\n{self.screen()}")
            time.sleep(0.05)  # between two looks, as above
        return int(code)

    def close(self) -> None:
        subprocess.run([*self._base, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def tmux(tmp_path: Path, own_home: Path) -> Iterator[Tmux]:
    home = tmp_path / "home"
    home.mkdir()
    (home / "letter.txt").write_text("Dear reader, this file went up and came down again.\n")
    own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}  # pytest-xdist's
    env = {**own, "HOME": str(home), "TERM": "xterm-256color"}
    terminal = Tmux(tmp_path, f"cd {home} && {sys.executable} -m pinui", env)
    yield terminal
    terminal.close()


def test_a_newcomer_gets_through_everything_in_one_sitting(tmux: Tmux, tmp_path: Path) -> None:
    # The first start welcomes; Enter begins on the local node.
    tmux.shows("Welcome to pinui.", "what you store is public.")
    tmux.press("Enter")
    tmux.shows("Nothing is pinned yet.", "● local")

    # Store JSON, and see it in Pins.
    tmux.press("2")
    tmux.shows("Store", "enter edit")
    tmux.press("i")
    tmux.shows("leave field")
    tmux.paste('{"city": "Oslo", "lamps": 42}')
    tmux.shows("valid · 26 characters")
    tmux.press("F5")
    tmux.shows("Stored as Qm")
    tmux.press("Escape")
    tmux.shows("enter edit")
    tmux.press("1")
    tmux.shows('{"city":"Oslo"', "1 pin", '"lamps": 42')

    # Upload a file.
    tmux.press("3")
    tmux.shows("letter.txt", "enter mark")
    tmux.press("u")
    tmux.shows("1 done")

    # Filter, and preview.
    tmux.press("1")
    tmux.shows("2 pins")
    tmux.press("/")
    tmux.shows("esc clear")
    tmux.paste("letter")
    tmux.shows(" 1 of ", "Dear reader")
    tmux.press("Enter")
    tmux.shows("space mark")

    # Download it to another name.
    tmux.press("d")
    tmux.shows("Save as", "~/letter.txt")
    tmux.paste(str(tmp_path / "home" / "copy.txt"))
    tmux.press("Enter")
    tmux.shows("2 done")
    assert (tmp_path / "home" / "copy.txt").read_text() == (tmp_path / "home" / "letter.txt").read_text()

    # Send a message, and receive it by its CID.
    tmux.press("4")
    tmux.shows("Nobody yet.", "on this machine only")
    tmux.press("n")
    tmux.shows("Whom do you want to write to?")
    tmux.paste("alice")
    tmux.press("Enter")
    tmux.shows("Write to alice")
    tmux.paste("The lantern is lit.")
    tmux.press("Enter")
    tmux.shows("you → alice", "The lantern is lit.")
    tmux.press("Escape")
    tmux.shows("enter edit")
    tmux.press("M-1")
    tmux.shows(" 1 of ")
    tmux.press("Escape")
    tmux.shows("3 pins", "to alice")
    tmux.press("g")
    # The list shows these words at once; the detail, whose CID is wanted, a moment later.
    seen = tmux.shows("✓ verified", twice="The lantern is lit.")
    cid = "".join(re.findall(r"│ (?:CID +|         )(\w{20,})", seen))
    assert re.fullmatch(r"Qm\w{44}", cid), cid
    tmux.press("4")
    tmux.shows("Recipients")
    tmux.press("v")
    tmux.shows("The CID of a message")
    tmux.paste(cid)
    tmux.press("Enter")
    tmux.shows("not filed yet · 1", "received")

    # Revoke everything, after the question.
    tmux.press("1")
    tmux.shows("3 pins")
    tmux.press("a")
    tmux.shows("3 marked")
    tmux.press("x")
    tmux.shows("Revoke 3 pins", "You can store them again", "R to revoke")
    tmux.press("R")
    tmux.shows("Revoked 3 pins.")
    tmux.press("z")
    tmux.shows("0 pins · revoked hidden")

    # And leave.
    tmux.press("q")
    assert tmux.exit_code() == 0
