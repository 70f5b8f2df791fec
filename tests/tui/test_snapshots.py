"""The screens look as they did: three sizes, two themes."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from pinui.tui.app import Pinui
from pinui.tui.screens.pins import PinsScreen
from tests.tui import scene
from tests.tui.conftest import Snapshot
from tests.tui.pilots import SCENES, settled, shows, until, workbench

LOOKS = tuple((size, theme) for size in ((160, 50), (100, 30), (80, 24)) for theme in ("pinui", "pinui-light"))
PLACES = ("pins", "json", "files", "messages", "connection")
DIALOGS = ("detail", "wizard", "revoke", "palette", "help")


async def test_each_place_looks_as_it_did(snapshot: Snapshot, tmp_path: Path) -> None:
    async with workbench(size=LOOKS[0][0]) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        for place in PLACES:
            await SCENES[place](app, pilot)
            for size, theme in LOOKS:
                await look_at(app, pilot, size, theme)
                await snapshot(app, pilot, f"{place}-{size[0]}x{size[1]}-{theme}")
            await look_at(app, pilot, *LOOKS[0])
            app.screen.set_focus(app.screen.query(".pane").first())


async def look_at(app: Pinui, pilot: Pilot[None], size: tuple[int, int], theme: str) -> None:
    """Change size and theme, and let everything find its place."""
    app.theme = theme
    if app.size != size:
        await pilot.resize_terminal(*size)
    if isinstance(app.screen, PinsScreen):
        detail = app.screen.detail
        await until(pilot, lambda: detail.shown is not None, "the preview")
    await settled(pilot)


@pytest.mark.parametrize("name", DIALOGS)
async def test_each_dialog_looks_as_it_did(name: str, snapshot: Snapshot, tmp_path: Path) -> None:
    async with workbench(size=(100, 30)) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        await SCENES[name](app, pilot)
        await snapshot(app, pilot, name)


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


async def test_the_first_start_looks_welcoming(snapshot: Snapshot) -> None:
    async with workbench(size=(80, 24), welcome=True) as (app, pilot):
        await shows(pilot, "Welcome to pinui.", "enter begin")
        await pilot.pause()
        await snapshot(app, pilot, "welcome")


async def test_an_empty_workbench_says_what_to_do(snapshot: Snapshot) -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        await shows(pilot, "Nothing is pinned yet.")
        await snapshot(app, pilot, "empty")


async def test_colours_are_left_out_where_nobody_wants_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with workbench(size=(80, 24)) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        await shows(pilot, "invoice-2026-10.json")
        for keys, words in (((), "Pins"), (("g", "x"), "Revoke this pin"), (("escape", "2", "i"), "leave field")):
            await pilot.press(*keys)
            await shows(pilot, words)
            segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
            styles = [segment.style for segment in segments if segment.style is not None]
            colours = {colour for style in styles for colour in (style.color, style.bgcolor) if colour is not None}
            assert all(colour.is_default for colour in colours), "not even greys"
            assert any(style.reverse for style in styles), "what is chosen is seen all the same"
