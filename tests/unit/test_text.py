"""Text from elsewhere cannot steer a terminal, and names stand in an order that people expect."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.workspace.text import clean, clean_line, natural_key

EMOJI = (
    "👩\u200d👩\u200d👧\u200d👦",
    "👩🏻\u200d❤\ufe0f\u200d💋\u200d👩🏿",
    "👩🏽\u200d⚕\ufe0f",
    "🏳\ufe0f\u200d🌈",
    "🐻\u200d❄\ufe0f",
    "🙂\u200d↔\ufe0f",
    "👍🏽",
    "❤\ufe0f",
    "1\ufe0f\u20e3",
    "🇳🇴",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text\twith\nlines", "plain text\twith\nlines"),
        ("Zoë 日本語 🎉 “quoted”", "Zoë 日本語 🎉 “quoted”"),
        ("\x1b]52;c;ZXZpbA==\x07", "�]52;c;ZXZpbA==�"),
        ("\x9b31mred", "�31mred"),
        ("invoice\u202egpj.exe", "invoice�gpj.exe"),
        ("a\u2066b\u2069c\u200bd\ufeff", "a�b�c�d�"),
        ("over\rwritten\x7f\x00", "over�written��"),
        ("half \ud83d", "half �"),
        ("line\u2028separator", "line�separator"),
        ("a\u200db 👩\u200d \u200d👩 👩\u200d\u200d👩", "a�b 👩� �👩 👩��👩"),
        ("\U000e0061 🏴\U000e0067\U000e0062\U000e007f", "� 🏴���"),
        ("👩" + "\u200d👩" * 4, "👩" + "\u200d👩" * 3 + "�👩"),
    ],
)
def test_what_steers_a_terminal_is_replaced_and_the_rest_stays(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@pytest.mark.parametrize("emoji", EMOJI)
def test_joined_emoji_stay_whole(emoji: str) -> None:
    assert clean(f"a{emoji}{emoji}b") == f"a{emoji}{emoji}b"


@given(st.lists(st.sampled_from([*EMOJI, *"a\u200d\ufe0f👩❤🏽🏴\U000e0067\U000e007f"])).map("".join))
def test_emoji_in_pieces_are_cleaned_as_other_text_is(raw: str) -> None:
    shown = clean(raw)
    assert len(shown) == len(raw)
    assert clean(shown) == shown
    for before, joiner, after in zip(" " + shown, shown, shown[1:] + " ", strict=False):
        if joiner == "\u200d":
            assert {unicodedata.category(before), unicodedata.category(after)} <= {"So", "Sm", "Sk", "Mn"}


@given(st.text(alphabet=st.characters(codec=None)))
def test_cleaning_keeps_the_length_changes_nothing_twice_and_leaves_no_control(raw: str) -> None:
    shown = clean(raw)
    assert len(shown) == len(raw)
    assert clean(shown) == shown
    assert not [c for c in shown if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def test_a_line_stays_a_line() -> None:
    assert clean_line("one\r\ntwo\nthree\tfour") == "one two three four"


def test_names_are_ordered_as_people_count() -> None:
    ordered = [
        "",
        "1",
        "02",
        "10",
        "A",
        "a",
        "a1b2",
        "a1b10",
        "a2",
        "b",
        "f2.txt",
        "F10.txt",
        "f10b",
        "ü2",
        "ü" + "9" * 5000,
    ]
    assert sorted(set(ordered), key=natural_key) == ordered


@given(st.lists(st.text()))
def test_every_name_has_its_place(names: list[str]) -> None:
    assert sorted(sorted(names, key=natural_key, reverse=True), key=natural_key) == sorted(names, key=natural_key)
