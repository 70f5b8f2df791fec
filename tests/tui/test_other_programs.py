"""Other programs get the terminal and give it back, on a real pty: also those that are not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tui.terminal import Terminal

pytestmark = pytest.mark.slow

Open = Callable[..., Terminal]


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def start(**environment: str) -> Terminal:
        environment = {**os.environ, "TMPDIR": str(tmp_path), **environment}
        opened.append(Terminal([sys.executable, "-m", "pinui"], environment))
        opened[-1].shows("Welcome to pinui.")
        opened[-1].press("\r")
        opened[-1].shows("Nothing is pinned yet.")
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def program(folder: Path, body: str) -> str:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_the_editor_gets_the_terminal_and_gives_it_back(workbench: Open, tmp_path: Path) -> None:
    # It waits for a key of its own: the workbench must not take it, nor paint meanwhile.
    body = (
        """stty -icanon; echo over to you; key=$(dd bs=1 count=1 2>/dev/null); printf '{"key": "%s"}' "$key" > "$1" """
    )
    shown = workbench(EDITOR=program(tmp_path, body), VISUAL="")
    shown.press("2")
    shown.shows("$EDITOR")
    shown.press("\x1bOS")
    shown.shows("over to you")
    shown.press("k")
    shown.shows('"key"')
    shown.shows("valid")
    assert [path.name for path in tmp_path.glob("pinui-*") if path.name != "pinui-home"] == []


def test_a_message_of_several_lines_is_written_in_the_editor(workbench: Open, tmp_path: Path) -> None:
    shown = workbench(EDITOR=program(tmp_path, "printf ' and\\nthree\\nlines\\n' >> \"$1\""), VISUAL="")
    shown.press("4")
    shown.shows("Nobody yet")
    shown.press("n")
    shown.shows("Whom do you want to write to?")
    shown.press("alice")
    shown.shows("alice")  # Enter that comes together with text submits nothing
    shown.press("\r")
    shown.shows("Write to alice")
    shown.press("Hello")
    shown.shows("Hello")
    shown.press("\x1bOS")
    shown.shows("Hello and⏎three⏎lines")
    shown.press("\r")
    shown.shows("Stored as")


@pytest.mark.parametrize("editor", ["/nowhere/editor", "'"])
def test_an_editor_that_is_not_there_is_a_sentence(workbench: Open, editor: str) -> None:
    shown = workbench(EDITOR=editor, VISUAL="")
    shown.press("2")
    shown.shows("$EDITOR")
    shown.press("\x1bOS")
    shown.shows("can't be started")
    shown.press("1")
    shown.shows("Nothing is pinned yet.")


def test_what_the_editor_wrote_is_kept_when_it_cannot_be_taken(workbench: Open, tmp_path: Path) -> None:
    shown = workbench(EDITOR=program(tmp_path, 'printf \'"\\351"\' > "$1"'), VISUAL="")
    shown.press("2")
    shown.shows("$EDITOR")
    shown.press("\x1bOS")
    shown.shows("document.json is not text")
    (kept,) = tmp_path.glob("pinui-*/document.json")
    assert kept.read_bytes() == b'"\xe9"'


def test_ctrl_c_in_the_editor_is_the_editors(workbench: Open, tmp_path: Path) -> None:
    shown = workbench(EDITOR=program(tmp_path, "trap 'echo caught; exit 3' INT; echo over to you; cat"), VISUAL="")
    shown.press("2")
    shown.shows("$EDITOR")
    shown.press("\x1bOS")
    shown.shows("over to you")
    shown.press("\x03")
    shown.shows("The editor ended with code 3")
    shown.press("1")
    shown.shows("Nothing is pinned yet.")
