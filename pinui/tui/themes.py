"""The two themes of pinui, and the colours that it asks of every other theme.

Text has a contrast of at least 4.5 to 1 on every ground that it can be on, the cursor's row too: with all colours, with
256, for which each colour is rounded, and with 16.
"""

from __future__ import annotations

from rich.style import Style
from textual.color import Color
from textual.theme import Theme

__all__ = ["COLOURS", "DARK", "DARK_16", "LIGHT", "LIGHT_16", "Tones", "with_own_variables"]

DARK = Theme(
    name="pinui",
    primary="#5ec4cf",
    secondary="#9d8cf5",
    accent="#f2b86b",
    warning="#f2b86b",
    success="#7bd88f",
    error="#f2777a",
    foreground="#d7dee6",
    background="#10151b",
    surface="#151c24",
    panel="#1c252f",
    dark=True,
    variables={
        "line": "#2b3743",
        "row": "#272e34",
        "strong": "#e8eef4",
        "second": "#a9b6c2",
        "muted": "#8997a5",
        "string": "#9bd6a3",
        "on-primary": "#10151b",
        "input-cursor-background": "#5ec4cf",
        "input-cursor-foreground": "#10151b",
        "input-selection-background": "#272e34",
    },
)

LIGHT = Theme(
    name="pinui-light",
    primary="#0a7082",
    secondary="#5f45c9",
    accent="#9a5500",
    warning="#9a5500",
    success="#1f7038",
    error="#bb2c37",
    foreground="#24303b",
    background="#f8fafb",
    surface="#eff3f6",
    panel="#e4edf1",
    dark=False,
    variables={
        "line": "#c3ced7",
        "row": "#d9eef2",
        "strong": "#0f1820",
        "second": "#445360",
        "muted": "#5a6876",
        "string": "#1f6b3a",
        "on-primary": "#ffffff",
        "input-cursor-background": "#0a7082",
        "input-cursor-foreground": "#ffffff",
        "input-selection-background": "#cdeef4",
    },
)

# Terminals of 16 colours have colours of their own. These are the ones that can be read in most of them, written as the
# numbers that are rounded to them; what differs by colour elsewhere differs by a sign or a word, too.
DARK_16 = Theme(
    name=DARK.name,
    primary="#55ffff",
    secondary="#ff55ff",
    accent="#ffff55",
    warning="#ffff55",
    success="#55ff55",
    error="#ff5555",
    foreground="#aaaaaa",
    background="#000000",
    surface="#000000",
    panel="#000000",
    dark=True,
    variables={
        "line": "#555555",
        "row": "#000000",
        "strong": "#ffffff",
        "second": "#aaaaaa",
        "muted": "#aaaaaa",
        "string": "#55ff55",
        "on-primary": "#000000",
        "input-cursor-background": "#55ffff",
        "input-cursor-foreground": "#000000",
        "input-selection-background": "#0000aa",
    },
)

LIGHT_16 = Theme(
    name=LIGHT.name,
    primary="#0000aa",
    secondary="#aa00aa",
    accent="#aa00aa",
    warning="#aa00aa",
    success="#0000aa",
    error="#aa0000",
    foreground="#000000",
    background="#ffffff",
    surface="#ffffff",
    panel="#ffffff",
    dark=False,
    variables={
        "line": "#aaaaaa",
        "row": "#ffffff",
        "strong": "#000000",
        "second": "#000000",
        "muted": "#000000",
        "string": "#000000",
        "on-primary": "#ffffff",
        "input-cursor-background": "#0000aa",
        "input-cursor-foreground": "#ffffff",
        "input-selection-background": "#55ffff",
    },
)

# The same for themes that leave the ground to the terminal.
ANSI = {
    "line": "ansi_bright_black",
    "row": "ansi_default",
    "strong": "ansi_default",
    "second": "ansi_default",
    "muted": "ansi_default",
    "string": "ansi_default",
    "input-cursor-background": "ansi_default",
    "input-cursor-foreground": "ansi_default",
    "input-cursor-text-style": "reverse",
}
ANSI_DARK = {
    **ANSI,
    "primary": "ansi_cyan",
    "secondary": "ansi_bright_magenta",
    "warning": "ansi_yellow",
    "success": "ansi_green",
    "error": "ansi_bright_red",
    "string": "ansi_green",
    "on-primary": "ansi_black",
}
ANSI_LIGHT = {
    **ANSI,
    "primary": "ansi_blue",
    "secondary": "ansi_magenta",
    "warning": "ansi_magenta",
    "success": "ansi_blue",
    "error": "ansi_red",
    "on-primary": "ansi_bright_white",
}


def with_own_variables(theme: Theme, variables: dict[str, str]) -> dict[str, str]:
    """A theme's variables, and those that pinui's style sheets need besides, mixed from the theme's own colours."""
    if theme.ansi:
        return {**variables, **(ANSI_DARK if theme.dark else ANSI_LIGHT)}
    background, foreground = Color.parse(variables["background"]), Color.parse(variables["foreground"])
    primary = Color.parse(variables["primary"])

    def mixed(share: float) -> str:
        return background.blend(foreground, share).hex6

    return {
        "line": mixed(0.16),
        "row": background.blend(primary, 0.16).hex6,
        "strong": foreground.hex6,
        "second": mixed(0.78),
        "muted": mixed(0.68),
        "string": Color.parse(variables["success"]).blend(foreground, 0.3).hex6,
        "on-primary": primary.get_contrast_text(1.0).hex6,
        **variables,
    }


COLOURS = ("text", "strong", "second", "muted", "primary", "secondary", "warning", "success", "error", "string")
"""Tones of text that differ by colour; `line`, `row`, `bold` and `struck` are the others."""


class Tones(dict[str, Style]):
    """Styles of a theme by the names of their tones: `tones["bold strong"]`.

    They are no component classes of the widgets: Textual would work all of them out for every list, whenever the focus
    moves.
    """

    def __init__(self, variables: dict[str, str], *, few_colours: bool) -> None:
        super().__init__({"": Style.null(), "bold": Style(bold=True), "struck": Style(strike=True)})
        for tone in (*COLOURS, "line"):
            colour = Color.parse(variables["foreground" if tone == "text" else tone])
            self[tone] = Style(color=colour.rich_color)
        self["row"] = Style(bgcolor=Color.parse(variables["row"]).rich_color)
        if few_colours:  # which have no ground that all of them can be read on: the row is reversed, without colours
            self["row"] += self["text"] + Style(reverse=True)

    def __missing__(self, names: str) -> Style:
        style = self[""]
        for name in names.split():
            style += self[name]
        self[names] = style
        return style
