"""One registry of keys: complete, without clashes, and the README's table comes from it."""

from __future__ import annotations

from pathlib import Path

from pinui.tui.commands import GROUPS, bindings, key_table

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- keys -->\n", "<!-- /keys -->"


def test_every_command_has_an_id_of_its_own_and_words() -> None:
    commands = [command for group in GROUPS.values() for command in group.commands]
    assert len({command.id for command in commands}) == len(commands)
    for command in commands:
        assert command.label, command.id
        assert command.tooltip[0].isupper(), command.id
        assert not command.tooltip.endswith("."), command.id


def test_no_pane_binds_a_key_twice() -> None:
    for name, group in GROUPS.items():
        keys = [key for command in group.commands for key in command.keys.split(",")]
        assert len(set(keys)) == len(keys), name


def test_no_letter_or_digit_wins_over_a_field() -> None:
    for name in GROUPS:
        for binding in bindings(name):
            assert not binding.priority, binding  # type: ignore[union-attr]


def test_the_readme_has_the_key_table_of_the_registry() -> None:
    text = README.read_text("utf-8")
    table = text.partition(BEGIN)[2].partition(END)[0]
    assert table == key_table(), "write it anew with: python -m tests.tui.test_keys"


if __name__ == "__main__":
    whole = README.read_text("utf-8")
    head, _, rest = whole.partition(BEGIN)
    README.write_text(head + BEGIN + key_table() + END + rest.partition(END)[2], "utf-8")
