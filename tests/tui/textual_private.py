"""Private parts of Textual that the tests use, all of them here. Checked with Textual 8.2.8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.css import stylesheet
from textual.css.stylesheet import Stylesheet
from textual.document._wrapped_document import WrappedDocument
from textual.events import Key
from textual.strip import Strip
from textual.widgets import TextArea

__all__ = [
    "draw_when_looked_at",
    "note_parsing",
    "notice_reading_all_lines",
    "parse_sheets_once",
    "read_keys",
    "strips_of",
]


PARSE_RULES = Stylesheet._parse_rules


def strips_of(app: App[Any]) -> list[Strip]:
    """The rows of the screen as they are drawn."""
    visible_screen_stack.set(app._background_screens)  # a dialog's lines are kept, with or without the app behind it
    width, height = app.size
    return [strip.crop(0, width) for strip in app.screen._compositor.render_strips()[:height]]


def read_keys(text: str) -> list[Key]:
    """The keys that Textual reads from what a terminal sends."""
    return [event for event in XTermParser().feed(text) if isinstance(event, Key)]


def parse_sheets_once(patch: pytest.MonkeyPatch) -> None:
    """Keep parsed style sheets: Textual parses all of them for every app, and again for every place."""
    parse = Stylesheet._parse_rules
    parsed: dict[Any, Any] = {}

    def parse_once(sheet: Stylesheet, *source: Any, **named: Any) -> Any:
        key = (source, frozenset(named.items()), frozenset(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, *source, **named)
        return parsed[key]

    patch.setattr(Stylesheet, "_parse_rules", parse_once)


def note_parsing(patch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The sources of style sheets that are parsed from now on, each time with its scope."""
    noted: list[tuple[object, ...]] = []
    parse = stylesheet.parse  # pyright: ignore[reportPrivateImportUsage]

    def note(scope: str, css: str, read_from: Any, **named: Any) -> Any:
        noted.append((scope, css, read_from, named["tie_breaker"]))
        return parse(scope, css, read_from, **named)

    patch.setattr(Stylesheet, "_parse_rules", PARSE_RULES)  # without `parse_sheets_once`
    patch.setattr(stylesheet, "parse", note)
    return noted


def draw_when_looked_at(patch: pytest.MonkeyPatch) -> None:
    """Leave out the frames that a headless app draws for nobody. `strips_of` and pictures draw the whole screen."""
    draw = Compositor.render_update

    def draw_pictures(compositor: Compositor, full: bool = False, **settings: Any) -> Any:
        if full:
            return draw(compositor, full, **settings)
        compositor._dirty_regions.clear()
        return None

    patch.setattr(Compositor, "render_update", draw_pictures)


def notice_reading_all_lines(patch: pytest.MonkeyPatch, notice: Callable[..., Any]) -> None:
    """Call `notice` where Textual's editor would read through the whole text for a single key."""
    patch.setattr(WrappedDocument, "height", property(notice))
    patch.setattr(TextArea, "_yield_character_locations", notice)
