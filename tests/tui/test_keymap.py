"""Keys of one's own, from config.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pinui.tui.all_keys import KEYS
from pinui.tui.app import run
from pinui.tui.keymap import read_keymap
from pinui.workspace import ConfigError
from tests.tui.pilots import shows, told, until, workbench


def test_no_keys_change_nothing() -> None:
    assert read_keymap({}, KEYS) == ({}, [])


def test_keys_are_read_by_the_names_of_commands() -> None:
    keys, mistakes = read_keymap({"app": {"quit": "ctrl+x"}, "pins.revoke": "D, f6", "app.help": "!,f1"}, KEYS)
    assert mistakes == []
    assert keys == {"app.quit": "ctrl+x", "pins.revoke": "D,f6", "app.help": "exclamation_mark,f1"}


def test_two_commands_can_swap_their_keys() -> None:
    keys, mistakes = read_keymap({"pins": {"copy": "x", "revoke": "y"}}, KEYS)
    assert (keys, mistakes) == ({"pins.copy": "x", "pins.revoke": "y"}, [])


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("app.quitt", "x", "names no command: did you mean app.quit?"),
        ("app.quit", 5, "should be a key in quotes"),
        ("app.quit", "", "should be a key in quotes"),
        ("app.quit", "ctrl+nonsense", "which is no key"),
        ("app.quit", "cmd+q", "which is no key"),
        ("app.quit", "shift+q", "write “Q”"),
        ("app.quit", "x", "is the key of “revoke” (pins.revoke)"),
        ("pins.revoke", "q", "is the key of “quit” (app.quit)"),
        ("pins.revoke", "j", "is the key of “down” (list.down)"),
        ("store.store", "s", "would be typed into the field"),
        ("field.leave", "x", "would be typed into the field"),
        ("confirm.revoke", "y", "can't be changed"),
    ],
)
def test_a_key_that_cannot_work_is_told_and_left_out(name: str, value: Any, why: str) -> None:
    keys, mistakes = read_keymap({name: value}, KEYS)
    assert keys == {}
    assert len(mistakes) == 1
    assert why in mistakes[0]


def test_a_command_that_shares_its_key_does_not_take_it_from_the_others() -> None:
    for group in KEYS:
        for command in group.commands:
            keys, _ = read_keymap({command.id: "ctrl+f9"}, KEYS)
            sharing = [other for other in group.commands if set(other.keys.split(",")) & set(command.keys.split(","))]
            assert command.id not in keys or {other.id for other in sharing} <= keys.keys()


def test_keys_that_are_no_table_are_told_before_the_screen_changes(own_home: Path) -> None:
    own_home.mkdir(mode=0o700)
    (own_home / "config.toml").write_text("keys = 5\n")
    with pytest.raises(ConfigError, match="“keys” should be a table"):
        run(None)


async def test_a_chosen_key_acts_and_is_shown_and_the_usual_one_does_not(own_home: Path) -> None:
    own_home.mkdir(mode=0o700)
    (own_home / "config.toml").write_text('[keys]\npins.copy = "c,f7"\npins.copy_to = "C"\napp.log = "q"\n')
    async with workbench() as (app, pilot):
        await told(pilot, "keys.app.log: q is the key of “quit”")
        await app.workspace.store({"city": "Oslo"})
        await shows(pilot, "─ 1 pin", "c copy")
        await pilot.press("y")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        await pilot.press("c")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("question_mark")
        await shows(pilot, "esc close")
        await pilot.press("end")
        await shows(pilot, "c F7")
