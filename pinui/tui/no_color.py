"""`NO_COLOR`: no colours at all, greys included. Bold, dim and reversed text take over their meaning."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

__all__ = ["WithoutColours"]

PLAIN = Style.from_color(RichColor.parse("default"), RichColor.parse("default"))
STANDS_OUT = 0.3
"""The difference in brightness from the screen at which a ground is shown reversed: a chosen button, a cursor."""
FADES = 0.35
"""The difference in brightness from its ground below which text is dim: hints, revoked rows, a dimmed screen."""


class WithoutColours(LineFilter):
    """Keeps the terminal's own two colours, and the differences that matter."""

    def __init__(self, screen: Color) -> None:
        super().__init__()
        self._screen = screen.brightness

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same text without colours."""
        return [Segment(text, _plain(style, self._screen), control) for text, style, control in segments]


@lru_cache(4096)
def _plain(style: Style | None, screen: float) -> Style:
    if style is None:
        return PLAIN
    ground, text = _brightness(style.bgcolor, screen), _brightness(style.color, 1 - screen)
    reverse = abs(ground - screen) > STANDS_OUT
    dim = not reverse and abs(text - ground) < FADES
    # A dim ground would still be bright: behind a dialog, the chosen place and the cursor are dim text instead.
    return style + PLAIN + Style(reverse=not dim and reverse != bool(style.reverse), dim=dim)


def _brightness(colour: RichColor | None, otherwise: float) -> float:
    return otherwise if colour is None or colour.is_default else Color.from_rich_color(colour).brightness
