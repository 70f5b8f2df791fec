"""The screens look as they did. Each picture shows something of its own; those of the places hold in both themes.

The pictures are text files in `snapshots/`; tests/tui/tones.py says how to read them. `make snapshots` stores them as
the screens look now: read the difference that git shows before you commit it.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui import scene
from tests.tui.pilots import SCENES, shows, until, workbench
from tests.tui.textual_private import strips_of
from tests.tui.tones import picture_of

FOLDER = Path(__file__).parent / "snapshots"
LAST_FRAMES = 10.0
UPDATE = bool(os.environ.get("UPDATE_SNAPSHOTS"))

WIDE, MIDDLE, NARROW = (160, 50), (100, 30), (80, 24)
PLACES = ("pins", "json", "files", "messages", "connection")
PICTURES = {
    "pins": ("pins", MIDDLE),
    "pins-wide": ("pins", WIDE),
    "pins-narrow": ("pins", NARROW),
    "json": ("json", MIDDLE),
    "files": ("files", MIDDLE),
    "files-narrow": ("files", NARROW),
    "messages": ("messages", MIDDLE),
    "connection": ("connection", MIDDLE),
    "detail": ("detail", NARROW),
    "wizard": ("wizard", NARROW),
    "revoke": ("revoke", MIDDLE),
    "palette": ("palette", MIDDLE),
    "help": ("help", MIDDLE),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_a_screen_looks_as_it_did(name: str, tmp_path: Path) -> None:
    scene_name, size = PICTURES[name]
    async with workbench(size=size) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        await SCENES[scene_name](app, pilot)
        await looks_as_stored(pilot, name)
        if name in PLACES and not UPDATE:  # behind a dialog, colours are mixed differently
            app.theme = "pinui-light"
            await looks_as_stored(pilot, name)


async def test_the_first_start_looks_welcoming() -> None:
    async with workbench(size=NARROW, welcome=True) as (_app, pilot):
        await shows(pilot, "Welcome to pinui.", "enter begin")
        await looks_as_stored(pilot, "welcome")


async def test_an_empty_workbench_says_what_to_do() -> None:
    async with workbench(size=NARROW) as (_app, pilot):
        await shows(pilot, "Nothing is pinned yet.")
        await looks_as_stored(pilot, "empty")


async def looks_as_stored(pilot: Pilot[Any], name: str) -> None:
    """Compare the screen with its picture, or store the picture."""
    stored = FOLDER / f"{name}.txt"
    if UPDATE:
        FOLDER.mkdir(exist_ok=True)
        stored.write_text(await at_rest(pilot), "utf-8")
        return
    assert stored.exists(), f"there is no picture {stored.name} yet: `make snapshots` stores it"
    wanted = stored.read_text("utf-8")
    try:
        # A scroll bar or a colour may come a frame after the text: the last frame counts.
        await until(pilot, lambda: picture_of(pilot.app) == wanted, patience=LAST_FRAMES)
    except AssertionError:
        lines = (wanted.splitlines(), picture_of(pilot.app).splitlines())
        difference = "\n".join(difflib.unified_diff(*lines, "stored", "now", n=1, lineterm=""))
        raise AssertionError(f"{stored.name} looks different; `make snapshots` stores it\n{difference}") from None


async def at_rest(pilot: Pilot[Any]) -> str:
    """The picture that stays the same for a while."""
    seen = [picture_of(pilot.app)]
    while len(seen) < 8 or len(set(seen[-8:])) > 1:
        await pilot.pause(0.05)
        seen.append(picture_of(pilot.app))
    return seen[-1]


async def test_every_kind_of_theme_draws_every_place() -> None:
    async with workbench(size=(100, 30)) as (app, pilot):
        for theme in ("textual-dark", "ansi-light", "solarized-light"):
            app.theme = theme
            for digit, words in (
                ("2", "Store"),
                ("3", "Upload"),
                ("4", "Recipients"),
                ("5", "Profiles"),
                ("1", "Pins"),
            ):
                await pilot.press(digit)
                await shows(pilot, words)


async def test_colours_are_left_out_where_nobody_wants_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with workbench(size=(80, 24)) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        await shows(pilot, "invoice-2026-10.json")
        for keys, words in (((), "Pins"), (("g", "x"), "Revoke this pin"), (("escape", "2", "i"), "leave field")):
            await pilot.press(*keys)
            await shows(pilot, words)
            styles = [segment.style for strip in strips_of(app) for segment in strip if segment.style is not None]
            colours = {colour for style in styles for colour in (style.color, style.bgcolor) if colour is not None}
            assert all(colour.is_default for colour in colours), "not even greys"
            assert any(style.reverse for style in styles), "the chosen row can be seen without colours"


async def test_without_colours_everything_behind_a_dialog_is_dim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with workbench(size=(80, 24)) as (app, pilot):
        await pilot.press("2", "i", "7")
        await shows(pilot, "valid")
        rows = [(text, style) for strip in strips_of(app)[:4] for text, style, _ in strip if style is not None]
        assert {"pinui", "2 JSON", ""} <= {text.strip() for text, style in rows if style.reverse}, "and the cursor"
        await pilot.press("f7")
        await shows(pilot, "The name of this document")
        rows = [(text, style) for strip in strips_of(app)[:4] for text, style, _ in strip if style is not None]
        assert not [text for text, style in rows if style.reverse]
        assert all(style.dim for text, style in rows if text.strip() in ("pinui", "local", "2 JSON", "7"))
