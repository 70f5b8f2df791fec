"""A screen as text and tones: what a person reads, and the role of each colour in the theme.

A picture has two parts. The first is the screen's text. The second has a line for each row of the screen, with all that
is not plain text on the plain ground. A tone names the colours of the theme ("muted on row") and the attributes
("bold"): it stays the same when Textual mixes a colour a little differently, and it is the same in every theme.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color

from tests.tui.textual_private import strips_of

__all__ = ["picture_of"]

TEXT, GROUND = "foreground", "background"
GREYS = ("strong", "second", "muted", "line", "row", "surface", "panel")
COLOURS = ("primary", "secondary", "accent", "success", "error", "string")
ATTRIBUTES = ("bold", "italic", "underline", "strike", "reverse")
NEARLY = 8
REPEATED = re.compile(r"([ ─])\1+")

Roles = dict[str, Color]


def picture_of(app: App[None]) -> str:
    """The screen as a person reads it, and below it the tones of each row."""
    variables = app.get_css_variables()
    roles = {role: Color.parse(variables[role]) for role in (TEXT, GROUND, *GREYS, *COLOURS)}
    strips = strips_of(app)
    text = [strip.text.rstrip() for strip in strips]
    tones = [" ".join(_tones(strip, roles)) for strip in strips]
    return "\n".join([*text, "─" * app.size.width, *tones, ""])


def _tones(row: Iterable[Segment], roles: Roles) -> Iterator[str]:
    """Each tone with its text. The ink of a blank can't be seen: blanks stay with the text before or after them."""
    for ground, segments in groupby(row, lambda segment: _ground(segment.style, roles)):
        pieces: list[list[str]] = [["", ""]]
        for text, style, _control in segments:
            ink = _ink(style, roles)
            if text.isspace() or ink == pieces[-1][0]:
                pieces[-1][1] += text
            elif pieces[-1][1].isspace() or not pieces[-1][1]:
                pieces[-1] = [ink, pieces[-1][1] + text]
            else:
                pieces.append([ink, text])
        for ink, text in pieces:
            words = REPEATED.sub(r"\1", text).strip()
            if tone := f"{ink} on {ground}".removesuffix(f" on {GROUND}").strip():
                yield f"{tone}‹{words}›"


def _ground(style: Style | None, roles: Roles) -> str:
    return GROUND if style is None else _role(style.bgcolor, GROUND, roles)


def _ink(style: Style | None, roles: Roles) -> str:
    """Attributes and the colour of the text; nothing for plain text."""
    if style is None:
        return ""
    role = _role(style.color, TEXT, roles)
    return " ".join([name for name in ATTRIBUTES if getattr(style, name)] + [role] * (role != TEXT))


def _role(colour: RichColor | None, otherwise: str, roles: Roles) -> str:
    """The role that has this colour, nearly; "mixed" for those of an image, or of a screen behind a dialog."""
    if colour is None or colour.is_default:
        return otherwise
    shown = Color.from_rich_color(colour)

    def distance(role: str) -> int:
        return max(abs(one - other) for one, other in zip(shown.rgb, roles[role].rgb, strict=True))

    closest = min(roles, key=distance)
    return closest if distance(closest) <= NEARLY else "mixed"
