"""The filter language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.workspace.filters import (
    Age,
    Filter,
    Is,
    KindIs,
    On,
    Size,
    To,
    Word,
    completion,
    explanation,
    folded,
    parse_filter,
)


def test_each_kind_of_term_is_understood() -> None:
    found = parse_filter('kind:json size:>1mb age:<7d on:account is:revoked to:alice -draft "two words" -kind:dir')
    assert found == Filter(
        (
            KindIs("json"),
            Size(">", 1_000_000),
            Age("<", 7 * 86_400),
            On("account"),
            Is("revoked"),
            To("alice"),
            Word("draft", negated=True),
            Word("two words"),
            KindIs("dir", negated=True),
        )
    )
    assert found.words == ("alice", "two words")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("size:>1mbb", "size:>1mbb: give a size such as >1mb or <300kb"),
        ("age:old", "age:old: give an age such as <7d, >2h or >1y"),
        ("kind:movie", "kind:movie: give one of json, file, message, dir"),
        ("on:mars", "on:mars: give one of account, here, both, elsewhere"),
        ("is:nice", "is:nice: give one of revoked, pinned, verified, unverified, mismatch"),
        ("to:", "to:: give a part of the recipient's name, as in to:alice"),
    ],
)
def test_a_mistake_is_told_and_leaves_the_other_terms(text: str, sentence: str) -> None:
    assert parse_filter(f"one {text} two") == Filter((Word("one"), Word("two")), (sentence,))


@pytest.mark.parametrize("text", ["http://example.com", '{"title":"photo', '"colour":"re', "a:b", "--", "5:30"])
def test_text_that_is_no_term_is_looked_for_as_it_is(text: str) -> None:
    assert parse_filter(text) == Filter((Word(text),))


@given(st.text())
def test_any_text_is_a_filter(text: str) -> None:
    found = parse_filter(text)
    assert all(word.strip() == word or " " in word or word for word in found.words)
    found.matches("bafy", "name", 5, 5, 5.0)


@given(st.lists(st.text(st.characters(blacklist_characters='"\0:-', blacklist_categories=("Z", "C")), min_size=1)))
def test_words_come_back_and_quotes_keep_blanks_together(words: list[str]) -> None:
    assert parse_filter(" ".join(words)).words == tuple(words)
    assert parse_filter(" ".join(f'-"{word} {word}"' for word in words)).terms == tuple(
        Word(f"{word} {word}", negated=True) for word in words
    )


@given(st.integers(0, 10**6), st.sampled_from(["", "b", "kb", "mib"]), st.sampled_from(["<", "<=", ">", ">="]))
def test_a_term_and_its_opposite_divide_all_pins(number: int, unit: str, sign: str) -> None:
    term = f"size:{sign}{number}{unit}"
    for size in (0, number, number * 1000, 10**9):
        [one, other] = [parse_filter(text).matches("bafy", None, size, 0, 0.0) for text in (term, f"-{term}")]
        assert one != other


def test_case_and_accents_are_folded() -> None:
    assert folded("Café", None, "NAÏVE ﬁle") == "cafe\nnaive file"
    assert parse_filter("cafe").matches("bafy", "CAFÉ.png", None, None, 0.0)


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("ki", "kind:"),
        ("kind:", "kind:json"),
        ("kind:f", "kind:file"),
        ("draft -is:r", "draft -is:revoked"),
        ("size:<", "size:<100kb"),
        ("to:al", "to:alice"),
        ("to:the", None),
        ('to:"the', None),
        ("kind:json", None),
        ("harbour", None),
        ("", None),
        ("kind:json ", None),
        ("http:", None),
    ],
)
def test_the_last_term_is_completed(typed: str, completed: str | None) -> None:
    assert completion(typed, ["alice", "the crew"]) == completed


@given(st.text(), st.lists(st.text()))
def test_a_completion_begins_with_the_typed_text(text: str, names: list[str]) -> None:
    found = completion(text, names)
    assert found is None or (found.startswith(text) and len(found) > len(text))


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("ki", "kind: json, file, message, dir"),
        ("draft on:", "on: account, here, both, elsewhere"),
        ("size:", "size: a size such as >1mb or <300kb"),
        ("-to:", "to: a part of the recipient's name"),
        ("kind:json", ""),
        ("harbour", ""),
        ("", ""),
    ],
)
def test_the_values_of_a_key_are_explained(typed: str, words: str) -> None:
    assert explanation(typed) == words


@pytest.mark.parametrize("text", ['""', '-""', "\u0301", "-\u0301", 'to:"\u0301"'])
def test_a_term_without_text_to_look_for_is_a_mistake_and_never_matches_everything(text: str) -> None:
    parsed = parse_filter(text)
    assert parsed.terms == ()
    assert len(parsed.mistakes) == 1


@pytest.mark.parametrize("text", ["size:<1kb", "-size:<1kb", "age:<1h", "-age:<1h", "-size:>1kb -age:>1h"])
def test_neither_a_term_about_an_unknown_fact_nor_its_opposite_matches(text: str) -> None:
    assert not parse_filter(text).matches("bafy", "name", None, None, 0.0)
