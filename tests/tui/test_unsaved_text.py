"""Quitting, a crash or a kill lose no text that was typed: it comes back at the next start."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from pinui.tui.app import Pinui
from pinui.workspace import Paths, Query
from tests.tui.pilots import PATIENCE, paste, shows, text_of, told, until, workbench
from tests.tui.terminal import Terminal

pytestmark = pytest.mark.slow


def kept() -> str:
    """All that is on the disk."""
    return "".join(path.read_text() for path in sorted(Paths.find().drafts.rglob("*.json")))


async def write_json(pilot: Pilot[None], text: str) -> None:
    await pilot.press("2", "i")
    await paste(pilot, text)


async def write_to(pilot: Pilot[None], name: str, text: str) -> None:
    await pilot.press("alt+4", "escape", "n")
    await shows(pilot, "Whom do you want to write to?")
    await paste(pilot, name)
    await pilot.press("enter")
    await shows(pilot, f"Write to {name}")
    await paste(pilot, text)


async def leave(app: Pinui, pilot: Pilot[None]) -> None:
    await pilot.press("escape", "q")
    await until(pilot, lambda: not app.is_running, "the end")


async def test_what_was_typed_is_back_after_quitting_without_a_question() -> None:
    async with workbench() as (app, pilot):
        await write_json(pilot, '{"half": ')
        await write_to(pilot, "alice", "The keys are")
        await write_to(pilot, "bob", "See you")
        await leave(app, pilot)
    async with workbench(welcome=True) as (app, pilot):
        await told(pilot, "Text that you had not stored is back in JSON (2) and Messages (4).")
        await pilot.press("2")
        await shows(pilot, '{"half": ')
        await pilot.press("4")
        await shows(pilot, "draft: See you", "Write to alice", "The keys are")
        await pilot.press("j")
        await shows(pilot, "draft: The keys are", "Write to bob", "See you")
        await leave(app, pilot)
    assert "The keys are" in kept(), "a look is not enough to lose it"
    assert "See you" in kept()


async def test_a_place_that_nobody_visits_keeps_its_text() -> None:
    async with workbench() as (app, pilot):
        await write_json(pilot, "[1, 2")
        await leave(app, pilot)
    async with workbench(welcome=True) as (app, pilot):
        await shows(pilot, "● local")
        await write_to(pilot, "alice", "hello")
        await leave(app, pilot)
    async with workbench(welcome=True) as (app, pilot):
        await told(pilot, "is back in JSON (2) and Messages (4).")


async def test_what_is_stored_sent_or_cleared_does_not_come_back() -> None:
    async with workbench() as (app, pilot):
        await write_json(pilot, "[1]")
        await until(pilot, lambda: "[1]" in kept(), "the text on the disk")
        await pilot.press("f5")
        await told(pilot, "Stored as Qm")
        await until(pilot, lambda: not kept(), "no text on the disk")
        await write_to(pilot, "alice", "hello")
        await until(pilot, lambda: "hello" in kept(), "the message on the disk")
        await pilot.press("enter")
        await told(pilot, "Stored as Qm")
        await until(pilot, lambda: not kept(), "no message on the disk")
        await paste(pilot, "never mind")
        await until(pilot, lambda: "never mind" in kept())
        await pilot.press("ctrl+u")
        await until(pilot, lambda: not kept(), "no message on the disk")
        await leave(app, pilot)
    assert not kept()


async def test_a_message_on_its_way_is_kept_until_it_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        may_answer = asyncio.Event()
        send = app.workspace.send

        async def slow(*values: str) -> Any:
            await may_answer.wait()
            return await send(*values)

        monkeypatch.setattr(app.workspace, "send", slow)
        await write_to(pilot, "alice", "hello")
        await pilot.press("enter")
        await paste(pilot, "and again")
        await until(pilot, lambda: "hello\\nand again" in kept(), "both on the disk")
        may_answer.set()
        await told(pilot, "Stored as Qm")
        await until(pilot, lambda: "hello" not in kept() and "and again" in kept())


async def test_two_windows_keep_their_own_text() -> None:
    async with workbench() as (first, one):
        await write_json(one, '"of the first window"')
        await until(one, lambda: "first" in kept())
        async with workbench(welcome=True) as (second, other):
            await shows(other, "● local")
            await write_json(other, '"of the second window"')
            assert "first" not in text_of(second)
            await leave(second, other)
        await leave(first, one)
    assert "first" in kept()
    assert "second" in kept()


async def test_a_crash_saves_what_was_typed_last(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="broken"):
        async with workbench() as (app, pilot):
            await write_json(pilot, "[1, 2")
            app.crash(RuntimeError("broken"))
    assert "Text that you had not stored comes back at the next start." in capfd.readouterr().err
    assert "[1, 2" in kept()


async def test_a_disk_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINUI_HOME", str(Path.home() / "p"))
    (Path.home() / "p").mkdir()
    (Path.home() / "p" / "drafts").write_text("in the way")
    async with workbench() as (app, pilot):
        await told(pilot, "Text that you don't store won't come back")
        await write_json(pilot, "[1]")
        await pilot.press("f5")
        await told(pilot, "Stored as Qm")
        assert await app.workspace.history.count(Query()) == 1


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_a_killed_window_loses_nothing(own_home: Path, number: int) -> None:
    own_home.mkdir()
    (own_home / "config.toml").write_text("[settings]\nwelcomed = true\n")
    terminal = Terminal([sys.executable, "-m", "pinui"], dict(os.environ))
    try:
        terminal.shows("Nothing is pinned yet.")
        terminal.press("2")
        terminal.shows("enter to write")
        terminal.press("i")
        terminal.shows("leave field")
        terminal.press('{"typed": "by hand')
        if number == signal.SIGKILL:
            written(terminal, "by hand")
        else:  # it has a moment to write, and gives the terminal back
            terminal.shows("by hand")
        os.kill(terminal.pid, number)
        if number != signal.SIGKILL:
            assert terminal.exit_code() == 128 + number
            assert b"\x1b[?1049l" in terminal.raw
    finally:
        terminal.close()
    again = Terminal([sys.executable, "-m", "pinui"], dict(os.environ))
    try:
        again.shows("is back in JSON (2)")
        again.press("3")  # it may have started in JSON, where it was killed
        again.shows("Upload")
        again.press("2")
        again.shows("by hand")
    finally:
        again.close()


def written(terminal: Terminal, text: str) -> None:
    """Wait until it is on the disk; what the program writes must be read meanwhile."""
    looks = 0
    while text not in kept():
        terminal.read(0.1)
        looks += 1
        assert looks < PATIENCE * 10, "never written"
