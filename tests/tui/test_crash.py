"""A crash of the workbench shows a sentence and the place of a report; no output and no file shows a token."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
import textual

from pinui.tui.unsaved import UnsavedText

if sys.platform == "win32":
    pytest.skip("needs a pty", allow_module_level=True)

from tests.tui.pilots import workbench
from tests.tui.terminal import Terminal

CANARY = "canary-5f1e7c0ffee-of-a-token"

# Opens the workbench with one part of it broken. Every frame of the traceback holds the token in a local variable.
BROKEN = f"""
import asyncio, sys
from pinui.cli import main
from pinui.sdk.secret import Secret
from pinui.tui.app import Pinui
from pinui.tui.places.pins.screen import PinsScreen
from pinui.tui.widgets.top_bar import TopBar
from pinui.tui.places.pins.pin_list import PinList
from pinui.workspace import Workspace

def explode(*_arguments, kind=RuntimeError):
    token = {CANARY!r}
    headers = {{"Authorization": f"Bearer {{token}}", "held": Secret(token)}}
    if kind is not RuntimeError:
        other = KeyboardInterrupt() if kind is BaseExceptionGroup else KeyError(token)
        raise kind("several", [ValueError(token), other])
    try:
        raise ValueError(token)
    except ValueError as error:
        error.add_note(f"the note names {{token}}")
        raise RuntimeError(f"the service refused {{headers}}") from error

async def explode_later(*arguments):
    explode()

def in_a_worker(self):
    self.run_worker(explode_later, group="test")

def in_a_task(self):
    self.task = asyncio.get_running_loop().create_task(explode_later())

def group(*_arguments):
    explode(kind=ExceptionGroup)

def base_group(*_arguments):
    explode(kind=BaseExceptionGroup)

breaks = {{
    "a handler": (Pinui, "action_help", explode_later),
    "a handler of a screen": (PinsScreen, "action_filter", explode),
    "a timer": (Pinui, "look_for_others", explode),
    "a worker": (Pinui, "connect", in_a_worker),
    "compose": (PinsScreen, "compose_body", explode),
    "render": (TopBar, "render", explode),
    "a line of a list": (PinList, "render_line", explode),
    "the start": (Workspace, "open", explode_later),
    "mounting": (Pinui, "on_mount", explode),
    "a style sheet": (Pinui, "CSS", "Screen {{ color: {CANARY}; }}"),
    "the end": (Pinui, "on_unmount", explode_later),
    "the end of a widget": (PinList, "on_unmount", explode),
    "a group": (Pinui, "action_help", group),
    "a group of any kind": (Pinui, "action_help", base_group),
    "a group of any kind in a screen": (PinsScreen, "action_filter", base_group),
}}
where, name, broken = breaks[sys.argv[1]]
setattr(where, name, broken)
sys.argv[1:] = []
sys.exit(main())
"""

PLACES = {
    "a handler": "?",
    "a handler of a screen": "/",
    "a timer": "",
    "a worker": "",
    "compose": "",
    "render": "",
    "a line of a list": "",
    "the start": "",
    "mounting": "",
    "a style sheet": "",
    "the end": "q",
    "the end of a widget": "q",
    "a group": "?",
    "a group of any kind": "?",
    "a group of any kind in a screen": "/",
}
QUICK = {"a worker", "the start", "a group of any kind in a screen"}


@pytest.mark.parametrize(
    "place", [place if place in QUICK else pytest.param(place, marks=pytest.mark.slow) for place in PLACES]
)
def test_a_crash_shows_no_token_and_leaves_a_report(place: str, own_home: Path) -> None:
    own_home.mkdir()
    (own_home / "config.toml").write_text("[settings]\nwelcomed = true\n")
    (own_home / "history.db").touch()
    terminal = Terminal([sys.executable, "-c", BROKEN, place], {**os.environ, "PINUI_TOKEN": CANARY}, cols=200)
    try:
        if key := PLACES[place]:
            terminal.shows("Nothing is pinned yet")
            terminal.press(key)
        assert terminal.exit_code() == 1
        while terminal.read(0.1):
            pass
    finally:
        terminal.close()
    (report,) = (own_home / "crashes").iterdir()
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    shown = terminal.raw.decode("utf-8", "replace")
    after = shown[shown.rindex("\x1b[?1049l") :] if "\x1b[?1049l" in shown else shown
    assert "An unexpected error happened" in after
    assert str(report) in after
    assert "Traceback" not in after
    text = report.read_text()
    assert "Traceback (most recent call last)" in text or place == "a style sheet"
    assert f"textual {textual.__version__}" in text
    assert "xterm-256color" in text
    for path in own_home.rglob("*"):
        assert not path.is_file() or CANARY.encode() not in path.read_bytes()
    assert CANARY not in shown


async def test_text_that_is_nowhere_else_is_saved_before_the_end(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(UnsavedText, "save", lambda self: "Your text is in draft.json.")
    with pytest.raises(RuntimeError, match="broken"):
        async with workbench() as (app, _pilot):
            app.call_later(broken)
    assert "Your text is in draft.json." in capfd.readouterr().err
