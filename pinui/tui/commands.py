"""Every key in one place: the bindings, the palette, the help and the README's table are made from this."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from pinui.tui.command import Command, Group, Place, here, spare
from pinui.tui.common_keys import COMMON_KEYS
from pinui.tui.place_keys import PLACE_KEYS

__all__ = ["GROUPS", "PLACES", "bindings", "key_name", "key_table"]


PLACES = (
    Place("pins", "1", "Pins", "Pins"),
    Place("json", "2", "JSON", "JSON"),
    Place("files", "3", "Files", "Files"),
    Place("messages", "4", "Messages", "Msgs"),
    Place("connection", "5", "Connection", "Conn"),
)

APP = Group(
    "Everywhere",
    (
        *(
            spare(
                f"app.{place.id}",
                f"{place.digit},alt+{place.digit}",
                f"app.go('{place.id}')",
                place.title,
                f"Go to {place.title}; with alt from inside a field too",
            )
            for place in PLACES
        ),
        here("app.palette", "ctrl+p", "app.command_palette", "palette", "Find any command, profile or pin"),
        Command("app.help", "question_mark,f1", "app.help", "help", "Explain what has the focus, with its keys"),
        Command("app.quit", "q,ctrl+q", "app.quit", "quit", "Leave; asks first while something is under way"),
        spare("app.theme", "f9", "app.change_theme", "theme", "Choose another theme; it is remembered"),
    ),
)

GROUPS: dict[str, Group] = {"app": APP, **PLACE_KEYS, **COMMON_KEYS}

KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "full_stop": ".",
    "escape": "esc",
    "ctrl+p": "^p",
    "delete": "del",
    "pageup": "page up",
    "pagedown": "page down",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


def key_name(key: str) -> str:
    """A key as people write it."""
    if key.startswith("f") and key[1:].isdigit():
        return key.upper()
    return KEY_NAMES.get(key, key)


def bindings(*groups: str) -> list[BindingType]:
    """The bindings of these groups, for a widget's or screen's BINDINGS."""
    return [
        Binding(
            command.keys,
            command.action,
            command.label,
            show=command.shown,
            key_display=key_name(command.keys.split(",")[0]),
            tooltip=command.tooltip,
            id=command.id,
        )
        for group in groups
        for command in GROUPS[group].commands
    ]


def key_table() -> str:
    """The README's key table, as Markdown."""
    lines: list[str] = []
    for group in GROUPS.values():
        lines += [f"**{group.title}**", "", "| key | what it does |", "|---|---|"]
        for command in group.commands:
            keys = " ".join(f"`{key_name(key)}`" for key in command.keys.split(","))
            lines.append(f"| {keys} | {command.tooltip} |")
        lines.append("")
    return "\n".join(lines).strip() + "\n"
