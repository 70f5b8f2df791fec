"""What carries information can be read: in both themes, on every ground, with all colours, with 256 and with 16."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rich._palettes import STANDARD_PALETTE
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.style import Style
from textual.color import Color
from textual.command import CommandPalette
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.theme import Theme
from textual.widgets import Input

from pinui.tui.app import Pinui
from pinui.tui.json_text import JSON_TONES
from pinui.tui.places.pins.screen import PinsScreen
from pinui.tui.themes import COLOURS, DARK, DARK_16, LIGHT, LIGHT_16
from pinui.tui.widgets.item_list import ItemList
from tests.tui import scene
from tests.tui.pilots import SCENES, settled, shows, workbench
from tests.tui.textual_private import strips_of

pytestmark = pytest.mark.slow

READABLE = 4.5
"""The contrast that WCAG 2 asks of text (AA)."""
GROUNDS = ("background", "surface", "panel", "row")


def luminance(colour: Color) -> float:
    """How much light a colour gives, as WCAG 2 defines it."""

    def linear(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)


def contrast(one: Color, other: Color) -> float:
    """As WCAG 2 defines it: 1 for the same colour, 21 for black on white."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_measured_as_the_standard_does() -> None:
    assert contrast(Color.parse("#000"), Color.parse("#fff")) == pytest.approx(21)
    assert contrast(Color.parse("#777"), Color.parse("#fff")) == pytest.approx(4.48, abs=0.01)


def shown(colour: RichColor, system: ColorSystem) -> Color:
    """A colour as a terminal with so many colours shows it."""
    colour = colour.downgrade(system)
    if system is ColorSystem.STANDARD and colour.number is not None:
        return Color(*STANDARD_PALETTE[colour.number])
    return Color(*colour.get_truecolor())


@pytest.mark.parametrize(
    ("theme", "system"),
    [
        (DARK, ColorSystem.TRUECOLOR),
        (LIGHT, ColorSystem.TRUECOLOR),
        (DARK, ColorSystem.EIGHT_BIT),
        (LIGHT, ColorSystem.EIGHT_BIT),
        (DARK_16, ColorSystem.STANDARD),
        (LIGHT_16, ColorSystem.STANDARD),
    ],
)
def test_every_tone_can_be_read_on_every_ground(theme: Theme, system: ColorSystem) -> None:
    variables = {**theme.to_color_system().generate(), **theme.variables}
    variables["text"] = variables["foreground"]
    pairs = [(tone, ground) for tone in COLOURS for ground in GROUNDS]
    pairs += [(tone, "input-selection-background") for tone in {"text", *JSON_TONES.values()}]
    pairs += [("on-primary", "primary"), ("background", "error")]
    pairs += [("input-cursor-foreground", "input-cursor-background")]
    measured = {
        pair: round(contrast(*(shown(RichColor.parse(variables[name]), system) for name in pair)), 2) for pair in pairs
    }
    assert {pair: number for pair, number in measured.items() if number < READABLE} == {}


# -- what is on the screen ------------------------------------------------------------------------------------------


def regions(app: Pinui) -> list[Region]:
    """All of the screen, or of a dialog what stands before the dimmed screen."""
    screen = app.screen
    if isinstance(screen, CommandPalette):
        return [screen.query_one(name).region for name in ("#--input", "CommandList")]
    if isinstance(screen, ModalScreen):
        return [child.region for child in screen.children]
    return [screen.region]


def texts(app: Pinui) -> Iterator[tuple[str, Style]]:
    """What is written there, and how; without lines, blocks and pictures."""
    strips = strips_of(app)
    for region in regions(app):
        for strip in strips[region.y : region.bottom]:
            for text, style, _ in strip.crop(region.x, region.right):
                words = "".join(character for character in text if not "\u2500" <= character <= "\u259f").strip()
                if words and style is not None:
                    yield words, style


def unreadable(app: Pinui, system: ColorSystem) -> dict[str, float]:
    """The texts that have too little contrast."""
    found: dict[str, float] = {}
    for words, style in texts(app):
        assert style.color is not None, words
        assert style.bgcolor is not None, words
        assert not style.dim, words
        number = contrast(shown(style.color, system), shown(style.bgcolor, system))
        if number < READABLE:
            found[words] = round(number, 2)
    return found


async def look_everywhere(app: Pinui, pilot: Pilot[None], system: ColorSystem) -> None:
    """Each row of each list under the cursor, with and without marks, and each pane with the focus."""
    for _ in app.screen.query(".pane"):
        focused = app.screen.focused
        rows = focused.item_count if isinstance(focused, ItemList) else 1
        for row in range(rows):
            if isinstance(focused, ItemList):
                focused.cursor = row
                await pilot.pause()
            assert unreadable(app, system) == {}, f"row {row} of {focused}"
        if isinstance(focused, Input):
            await pilot.press("escape")
        await pilot.press("tab")


async def look_at_dialogs(app: Pinui, pilot: Pilot[None], system: ColorSystem) -> None:
    """A question, a menu, help, a line to fill in, and the palette."""
    await shows(pilot, "invoice-2026-10.json", "contract-signed.pdf")
    await settled(pilot)
    await pilot.press("g")  # the cursor stayed on the row that came first
    keys = {"x": "Revoke this", "y": "Copy", "question_mark": "The pins of", "n": "A name", "ctrl+p": "Pins: filter"}
    for key, words in keys.items():
        await pilot.press(key)
        await shows(pilot, words)
        assert unreadable(app, system) == {}, words
        await pilot.press("escape")


@pytest.mark.parametrize(
    ("theme", "term", "colours"),
    [
        ("pinui", "truecolor", ColorSystem.TRUECOLOR),
        pytest.param("pinui-light", "", ColorSystem.STANDARD, marks=pytest.mark.slow),
        pytest.param("pinui-light", "truecolor", ColorSystem.TRUECOLOR, marks=pytest.mark.slow),
        pytest.param("pinui", "", ColorSystem.STANDARD, marks=pytest.mark.slow),
    ],
)
async def test_every_text_on_every_screen_can_be_read(
    theme: str, term: str, colours: ColorSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLORTERM", term)
    monkeypatch.setenv("TERM", "xterm")
    async with workbench(size=(100, 30), theme=theme) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        await look_at_dialogs(app, pilot, colours)
        for place in ("pins", "json", "files", "messages", "connection"):
            await SCENES[place](app, pilot)
            await settled(pilot)
            await look_everywhere(app, pilot, colours)
            app.screen.set_focus(app.screen.query(".pane").first())
        await SCENES["wizard"](app, pilot)
        assert unreadable(app, colours) == {}


def styles_of(app: Pinui, words: str) -> list[Style]:
    """How the row with these words is written, from its first cell to its last."""
    region = app.screen.query_one(ItemList).content_region
    rows = (strip.crop(region.x, region.right) for strip in strips_of(app))  # the detail has the words, too
    return [segment.style or Style.null() for segment in next(row for row in rows if words in row.text)]


async def go_to(app: Pinui, pilot: Pilot[None], name: str) -> None:
    """Put the cursor on a pin."""
    screen = app.screen
    assert isinstance(screen, PinsScreen)
    pins = screen.pins
    await shows(pilot, name, "contract-signed.pdf")
    await settled(pilot)
    pins.cursor = next(index for index, number in enumerate(pins.ids) if pins.known[number].name == name)
    await shows(pilot, "▌", name)
    await settled(pilot)


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_a_revoked_pin_under_the_cursor_can_be_read_whatever_the_colours_of_the_terminal(
    theme: str, tmp_path: Path
) -> None:
    async with workbench(size=(120, 30), theme=theme) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        await go_to(app, pilot, "old-manifest.json")
        await shows(pilot, "▌ × old-manifest.json")
        styles = styles_of(app, "▌ × old-manifest.json")
        for style in styles:
            assert style.reverse
            assert {style.color and style.color.name, style.bgcolor and style.bgcolor.name} <= {"default", None}
        assert any(style.strike for style in styles)


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_red_means_that_something_is_wrong(theme: str) -> None:
    async with workbench(size=(100, 30), theme=theme) as (app, pilot):
        await settled(pilot)
        tones = {tone: app.theme_variables[tone] for tone in COLOURS if tone != "text"}
        assert [tone for tone, colour in tones.items() if "red" in colour] == ["error"]
        assert not [tone for tone, colour in tones.items() if "black" in colour], "which may be the ground's own colour"


async def test_a_pane_without_the_focus_has_a_quieter_cursor(tmp_path: Path) -> None:
    async with workbench(size=(120, 30)) as (app, pilot):
        await scene.furnish(app.workspace, tmp_path)
        await go_to(app, pilot, "invoice-2026-10.json")
        grounds = {style.bgcolor for style in styles_of(app, "invoice-2026-10.json")}
        assert grounds == {RichColor.parse(DARK.variables["row"])}
        await pilot.press("tab")
        await shows(pilot, "▌ ✓ invoice-2026-10.json")
        await settled(pilot)
        grounds = {style.bgcolor for style in styles_of(app, "invoice-2026-10.json")}
        assert grounds == {RichColor.parse(DARK.background or "")}


@pytest.mark.parametrize("variable", ["NO_COLOR", "COLORTERM"])
async def test_the_chosen_command_of_the_palette_is_seen_without_colours(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(variable, "1")
    async with workbench(size=(80, 24)) as (app, pilot):
        await pilot.press("ctrl+p")
        await shows(pilot, "Pins: filter", "Pins: mark")
        chosen, other = (
            next(style for text, style in texts(app) if text == words) for words in ("Pins: filter", "Pins: mark")
        )
        assert (chosen.underline, other.underline) == (True, None)
