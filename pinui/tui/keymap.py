"""Keys that a person chose in `config.toml`: read, checked, and explained where they can't work.

[keys]
app.quit = "ctrl+x"
pins.revoke = "D,f6"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

from textual.keys import Keys, key_to_character

from pinui.tui.common_keys import APP, BETWEEN_PANES, CONFIRM, LIST
from pinui.tui.keys import Command, Group, key_name
from pinui.tui.textual_private import key_of_character

__all__ = ["read_keymap"]

MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "meta", "hyper"})
NAMED = frozenset(key.value for key in Keys)
# Their keys work beside those of every pane.
SHARED = (APP, LIST, BETWEEN_PANES)


def read_keymap(table: Mapping[str, Any], groups: Sequence[Group]) -> tuple[dict[str, str], list[str]]:
    """The keys of the commands that have others than usual, and a sentence for each mistake, which has no effect."""
    commands = {command.id: (group, command) for group in groups for command in group.commands}
    chosen: dict[str, str] = {}
    mistakes: list[str] = []
    for name, value in _flat(table):
        if name not in commands:
            near = get_close_matches(name, commands, 1)
            mistakes.append(f"keys.{name} names no command" + (f": did you mean {near[0]}?" if near else "."))
        elif trouble := _trouble(*commands[name], value):
            mistakes.append(f"keys.{name} {trouble}.")
        else:
            chosen[name] = ",".join(_textual_name(key) for key in cast("str", value).split(","))
    for name, keys in [*chosen.items()]:
        if clash := _clash(*commands[name], keys.split(","), groups, chosen):
            mistakes.append(f"keys.{name}: {clash}.")
            del chosen[name]
    # Textual takes a key that is given up from all commands that share it in a pane, so those get it back.
    for name in [*chosen]:
        group, command = commands[name]
        for other in group.commands:
            if set(other.keys.split(",")) & set(command.keys.split(",")):
                chosen.setdefault(other.id, other.keys)
    return chosen, mistakes


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The entries under whole names: TOML reads `app.quit = "x"` as a table in a table."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(cast("dict[str, Any]", value), f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _trouble(group: Group, command: Command, value: object) -> str | None:
    """The reason why a command can't have these keys."""
    if not isinstance(value, str) or not value.strip():
        return 'should be a key in quotes, such as "f6", "ctrl+x" or "x,delete"'
    if group is CONFIRM:
        return "can't be changed: its question names the key"
    for key in value.split(","):
        *modifiers, base = key.strip().split("+") if key.strip() != "+" else ["+"]
        if not set(modifiers) <= MODIFIERS or not _is_key(base):
            return f"says “{key.strip()}”, which is no key: write it as f6, ctrl+x, alt+x, delete, question_mark or x"
        if modifiers == ["shift"] and len(base) == 1:
            return f"says “{key.strip()}”: write “{base.upper()}” for a letter with shift"
        if _is_typed(key.strip()) and _is_for_fields(command):
            return (
                f"says “{key.strip()}”, which would be typed into the field: choose an F-key, or one with ctrl or alt"
            )
    return None


def _is_key(base: str) -> bool:
    return (len(base) == 1 and base.isprintable()) or base in NAMED or key_to_character(base) is not None


def _is_typed(key: str) -> bool:
    """Whether a key types a character."""
    character = key if len(key) == 1 else key_to_character(key) or ""
    return "+" not in key[:-1] and character.isprintable() and character != ""


def _is_for_fields(command: Command) -> bool:
    """Whether a command works while a text field has the focus."""
    keys = command.keys.split(",")
    return command.action == "submit" or not any(_is_typed(key) or key in ("enter", "delete") for key in keys)


def _textual_name(key: str) -> str:
    """A key as Textual and our own registry call it; `?` is `question_mark`."""
    key = key.strip()
    return key_of_character(key) if len(key) == 1 else key


def _clash(
    group: Group, command: Command, keys: Sequence[str], groups: Sequence[Group], chosen: Mapping[str, str]
) -> str | None:
    """The other command in the same pane that has one of these keys."""
    beside = groups if group in SHARED else (group, *SHARED)
    for other in (other for one in beside for other in one.commands):
        theirs = chosen.get(other.id, other.keys).split(",")
        usual = command.keys.split(",")
        for key in keys:
            if other.id != command.id and key in theirs and key not in usual:
                return f"{key_name(key)} is the key of “{other.label}” ({other.id}), which needs another one first"
    return None
