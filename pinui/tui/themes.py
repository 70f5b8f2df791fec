"""The two themes of pinui, and the greys that it asks of every other theme."""

from __future__ import annotations

from textual.color import Color
from textual.theme import Theme

__all__ = ["DARK", "LIGHT", "own_variables"]

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
        "row": "#22313d",
        "strong": "#e8eef4",
        "second": "#a9b6c2",
        "muted": "#7d8b99",
        "faint": "#46535f",
        "string": "#9bd6a3",
        "on-primary": "#10151b",
        "input-cursor-background": "#5ec4cf",
        "input-cursor-foreground": "#10151b",
        "input-selection-background": "#2f4b57",
    },
)

LIGHT = Theme(
    name="pinui-light",
    primary="#0b7285",
    secondary="#5f45c9",
    accent="#a35a00",
    warning="#a35a00",
    success="#1f7a36",
    error="#c0303a",
    foreground="#24303b",
    background="#f8fafb",
    surface="#eff3f6",
    panel="#e4eaef",
    dark=False,
    variables={
        "line": "#c3ced7",
        "row": "#d8e7ec",
        "strong": "#0f1820",
        "second": "#445360",
        "muted": "#5f6e7b",
        "faint": "#9aa8b4",
        "string": "#1f6b3a",
        "on-primary": "#ffffff",
        "input-cursor-background": "#0b7285",
        "input-cursor-foreground": "#ffffff",
        "input-selection-background": "#bfe0e6",
    },
)


def own_variables(theme: Theme, variables: dict[str, str]) -> dict[str, str]:
    """What our style sheets need beyond Textual's variables, mixed from the theme's own two ends."""
    if theme.ansi or variables["background"].startswith("ansi"):
        return {
            "line": "ansi_bright_black",
            "row": "ansi_black" if theme.dark else "ansi_white",
            "strong": "ansi_default",
            "second": "ansi_default",
            "muted": "ansi_bright_black",
            "faint": "ansi_bright_black",
            "string": "ansi_green",
            "on-primary": "ansi_black",
        }
    background, foreground = Color.parse(variables["background"]), Color.parse(variables["foreground"])
    primary = Color.parse(variables["primary"])

    def mixed(share: float) -> str:
        return background.blend(foreground, share).hex6

    return {
        "line": mixed(0.16),
        "row": background.blend(primary, 0.22).hex6,
        "strong": foreground.hex6,
        "second": mixed(0.78),
        "muted": mixed(0.58),
        "faint": mixed(0.32),
        "string": Color.parse(variables["success"]).blend(foreground, 0.3).hex6,
        "on-primary": primary.get_contrast_text(1.0).hex6,
    }
