"""Keys of one's own, from config.toml."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pinui.tui
from pinui.tui.all_keys import ABOUT, KEYS
from pinui.tui.app import run
from pinui.tui.keymap import read_keymap
from pinui.workspace import ConfigError
from tests.tui.pilots import read_question, shows, told, until, workbench


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


async def test_sentences_name_the_chosen_keys(own_home: Path) -> None:
    own_home.mkdir(mode=0o700)
    (own_home / "config.toml").write_text(
        '[keys]\napp.pins = "f11"\napp.json = "f12"\nstore.copy = "ctrl+y"\nbrowser.upload = "U"\n'
        'browser.mark = "m"\nplaces.next = "ctrl+n"\nmessages.new = "N"\nfield.enter = "w"\ndialog.close = "ctrl+g"\n'
    )
    async with workbench() as (_, pilot):
        await shows(pilot, "F12 stores JSON, 3 uploads files", "F11 Pins")
        await pilot.press("f12")
        await shows(pilot, "w to write")
        await pilot.press("w", *"[1]", "f5")
        await told(pilot, "ctrl+y copies the CID, F11 shows it in Pins.")
        await pilot.press("alt+3")
        await shows(pilot, "m marks", "In Upload, U uploads and d downloads.")
        await pilot.resize_terminal(80, 24)
        await shows(pilot, "ctrl+n download")
        await pilot.press("4")
        await shows(pilot, "N writes to somebody")
        await pilot.press("f11")
        await shows(pilot, "─ 1 pin")
        await pilot.press("x")
        await read_question(pilot)
        await shows(pilot, "R to revoke · ctrl+g to cancel")


async def test_a_sentence_names_a_key_that_works_in_the_field(own_home: Path) -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2")
        await shows(pilot, "enter to write")
        assert app.key("app.pins") == "1"
        await pilot.press("i")
        await until(pilot, lambda: app.key("app.pins") == "alt+1")


KEY = r"(?:F\d{1,2}|[Ee]sc|[Ee]nter|[Tt]ab|[Ss]pace|[Dd]el|alt\+\d|[b-zB-HJ-Z1-9])"
NAMED = re.compile(
    rf"(?:^|[\s(·:;]){KEY}(?= (?:\w+s|to|again|back|leave|next)\b)|\bkey \.|(?:press|with) {KEY}(?:\W|$)"
)
FIXED = {
    "l lists": "in a question that asks for a number, every key but this letter is a digit",
    "y copies": "the letter of a line in the copy menu",
    "Z to": "an order",
    "nodes may": "no key",
}


def sentences() -> Iterator[tuple[str, str]]:
    """The texts in the code of the workbench, apart from docstrings."""
    for path in Path(pinui.tui.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text())
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
                yield f"{path.name}:{node.lineno}", node.value


def test_no_sentence_has_a_key_of_its_own() -> None:
    """A person may have chosen another one: `Workbench.key` knows it."""
    assert NAMED.search("F8 copies the CID")
    assert NAMED.search("In Upload, u uploads")
    named = [
        f"{where}: {text}"
        for where, text in sentences()
        if (found := NAMED.search(text)) and not any(known in text[found.start() :] for known in FIXED)
    ]
    assert named == []


def test_no_help_names_a_key_as_the_keys_are_listed_below_it() -> None:
    texts = [text for _title, text in ABOUT.values()]
    texts += [command.tooltip for group in KEYS for command in group.commands]
    assert [text for text in texts if NAMED.search(text) and "l lists" not in text] == []
