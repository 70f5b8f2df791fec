"""One registry of keys: complete, without clashes, and the README's table comes from it."""

from __future__ import annotations

from pathlib import Path

from pinui.tui.all_keys import KEYS
from pinui.tui.dialogs.dialog import Dialog
from pinui.tui.keys import bindings, key_table
from tests.tui.pilots import shows, until, workbench

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- keys -->\n", "<!-- /keys -->"


def test_every_command_has_an_id_of_its_own_and_words() -> None:
    commands = [command for group in KEYS for command in group.commands]
    assert len({command.id for command in commands}) == len(commands)
    for command in commands:
        assert command.label, command.id
        assert command.tooltip[0].isupper(), command.id
        assert not command.tooltip.endswith("."), command.id


def test_no_pane_binds_a_key_to_two_actions() -> None:
    for group in KEYS:
        actions: dict[str, str] = {}
        for command in group.commands:
            action = command.action.partition("(")[0]  # enter may do one of several things, each with its word
            for key in command.keys.split(","):
                assert actions.setdefault(key, action) == action, (group.title, key)


def test_no_letter_or_digit_wins_over_a_field() -> None:
    for group in KEYS:
        for binding in bindings(group):
            assert not binding.priority, binding  # type: ignore[union-attr]


async def test_every_key_that_acts_has_an_id_and_words_in_every_place_and_dialog() -> None:
    """What edits text in a field is Textual's own and as everywhere; all else is ours to name."""
    async with workbench() as (app, pilot):
        await app.workspace.store({"city": "Oslo"})
        await app.workspace.send("alice", "hello")
        await shows(pilot, "Oslo")
        dialogs = ("y", "x", "question_mark", "a")
        for key in ("1", *dialogs[:3], "enter", "2", "tab", "3", "4", "tab", "5", "tab", "a"):
            await pilot.press(key)
            await until(pilot, lambda dialog=key in dialogs: isinstance(app.screen, Dialog) == dialog)
            await pilot.pause()
            nameless = [
                (pressed, binding.action)
                for pressed, (_node, binding, _enabled, _tooltip) in app.screen.active_bindings.items()
                if not binding.id or not binding.tooltip
            ]
            assert nameless == [], (key, app.focused)
            if isinstance(app.screen, Dialog):
                await pilot.press("escape")


def test_the_readme_has_the_key_table_of_the_registry() -> None:
    text = README.read_text("utf-8")
    table = text.partition(BEGIN)[2].partition(END)[0]
    assert table == key_table(KEYS), "write it again with: python -m tests.tui.test_keys"


if __name__ == "__main__":
    whole = README.read_text("utf-8")
    head, _, rest = whole.partition(BEGIN)
    README.write_text(head + BEGIN + key_table(KEYS) + END + rest.partition(END)[2], "utf-8")
