"""Of the verbs only the one that was typed is built, and that changes nothing of what can be typed."""

from __future__ import annotations

import pytest

from pinui.cli.examples import EXAMPLES
from pinui.cli.grammar import GRAMMAR, build_parser
from pinui.cli.main import VERBS


def test_every_verb_has_a_grammar_a_module_and_an_example() -> None:
    assert set(GRAMMAR) == set(VERBS) == {words.split()[0] for words in EXAMPLES}


@pytest.mark.parametrize(
    "line",
    [
        "history --filter x",
        "--json history",
        "--profile store history",
        "--profile=store history",
        "store - --name history",
        "--debug --profile history --json store {}",
        "upload -r a b -",
        "history forget --all -y",
        "profile add work --api-url https://x.example --no-test",
        "",
        "--json",
        "--profile history",
    ],
)
def test_a_line_means_the_same_with_all_verbs_and_with_the_typed_one(line: str) -> None:
    words = line.split()
    assert build_parser(words).parse_args(words) == build_parser().parse_args(words)


def test_the_help_lists_every_verb() -> None:
    assert all(f"\n    {verb} " in build_parser(["--help", "store"]).format_help() for verb in GRAMMAR)
