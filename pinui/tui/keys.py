"""Keys and commands: the types that all of them are written in, and the ways to show them.

Each place has its own keys beside its screen. The bindings, the palette, the help and the README's table are made from
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from textual.binding import Binding, BindingType

__all__ = ["Command", "Group", "KeyOf", "Place", "bindings", "here", "key_name", "key_table", "quiet", "spare"]

KeyOf = Callable[[str], str]
"""The key of a command, by its id, as people write it: `Workbench.key`."""


@dataclass(frozen=True, slots=True)
class Command:
    """One action of a person: its keys, its place in the footer and in the palette, and its words."""

    id: str
    keys: str
    action: str
    label: str
    tooltip: str
    shown: bool = True
    palette: bool = True
    from_palette: str = ""
    """The action of the palette, if the key only makes sense inside a field: it goes to that field."""


here = partial(Command, palette=False)
"""A command for the focused pane only: not in the palette."""
spare = partial(Command, shown=False)
"""A command that is left out of the footer; help and palette show it."""
quiet = partial(Command, shown=False, palette=False)
"""A command for moving about: only the help shows it."""


@dataclass(frozen=True, slots=True)
class Place:
    """One of the five modes."""

    id: str
    digit: str
    title: str
    short: str


@dataclass(frozen=True, slots=True)
class Group:
    """The commands of one pane; `place` and `pane` say where the palette finds it."""

    title: str
    commands: tuple[Command, ...]
    place: str | None = None
    pane: str | None = None


KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "full_stop": ".",
    "asterisk": "*",
    "shift+up": "shift+↑",
    "shift+down": "shift+↓",
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


def bindings(*groups: Group) -> list[BindingType]:
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
        for command in group.commands
    ]


def key_table(groups: Iterable[Group]) -> str:
    """The README's key table, as Markdown."""
    lines: list[str] = []
    for group in groups:
        lines += [f"**{group.title}**", "", "| key | what it does | name |", "|---|---|---|"]
        for command in group.commands:
            keys = " ".join(f"`{key_name(key)}`" for key in command.keys.split(","))
            lines.append(f"| {keys} | {command.tooltip} | `{command.id}` |")
        lines.append("")
    return "\n".join(lines).strip() + "\n"
