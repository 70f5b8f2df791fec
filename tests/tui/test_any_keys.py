"""Whatever is typed, in whatever order and however fast: the app goes on and finds its way back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from pinui.tui.all_keys import KEYS
from pinui.tui.app import Pinui
from tests.tui import scene
from tests.tui.pilots import has_ended, keys_taken, workbench

ALL_KEYS = sorted({key for group in KEYS for command in group.commands for key in command.keys.split(",")})
LEAVING = {"q", "ctrl+q", "Q"}
OFTEN = [*"12345jkxydinuretFR", "up", "down", "enter", "enter", "escape", "tab", "shift+tab", "space", "delete"]
PASTED = [
    '{"a": [1, {"b": null}]}',
    "QmbRooKnishLPQ6xW8nQRLFb94ZAShqci87gRnuYuij5bJ",
    "alice",
    "~/letter.txt",
    "",
    "\x1b[31m[/]x[@click=app.quit()]",
    "https://gateway.example/ipfs/bafkqaaa",
    "🙂" * 30,
    "a\nb\nc",
    "http://127.0.0.1:9",
]


async def act(app: Pinui, pilot: Pilot[None], chance: random.Random) -> str:
    """One thing that a person, or a cat, does."""
    kind = chance.choices(["often", "any", "paste", "size", "rest"], [55, 30, 10, 2, 3])[0]
    if kind == "paste":
        text = chance.choice(PASTED)
        app.post_message(events.Paste(text))
        return f"paste {text!r}"
    if kind == "size":
        width, height = chance.choice([50, 60, 80, 120, 160]), chance.choice([12, 16, 24, 40])
        await pilot.resize_terminal(width, height)
        return f"{width}x{height}"
    if kind == "rest":
        await keys_taken(pilot)
        return "rest"
    key = chance.choice(OFTEN if kind == "often" else [key for key in ALL_KEYS if key not in LEAVING])
    app.post_message(events.Key(key, key if len(key) == 1 else None))
    if chance.random() < 0.5:
        await pilot.pause()
    return key


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_no_row_of_keys_ends_the_app(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("EDITOR", "VISUAL", "PAGER", "BROWSER"):
        monkeypatch.setenv(program, "true")
    (tmp_path / "home" / "letter.txt").write_text("Dear reader\n")
    chance = random.Random(seed)
    async with workbench(size=(110, 30)) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        done: list[str] = []
        for _ in range(300):
            done.append(await act(app, pilot, chance))
            assert not has_ended(app), f"it ended after {done[-30:]}"
        await pilot.resize_terminal(110, 30)
        await keys_taken(pilot)
        for _ in range(50):  # the wizard goes back a step at a time
            if len(app.screen_stack) == 1:
                break
            await pilot.press("escape")
            await keys_taken(pilot)  # a dialog below this one still waits for its answer
        assert len(app.screen_stack) == 1, f"no way back after {done[-30:]}"
