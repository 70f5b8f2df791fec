"""JSON text equals what JavaScript writes, and what would be lost is refused by name."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.ipfs.jsontext import NotJSON, is_small, parse, parse_as_javascript, stringify, utf16_length

# [a JSON text, what Node.js 20 printed for JSON.stringify(JSON.parse(text)), the length of that]
JAVASCRIPT: list[tuple[str, str, int]] = json.loads(
    (Path(__file__).parent / "data" / "javascript_json.json").read_text()
)

finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | finite.filter(lambda number: not number.is_integer() or abs(number) <= 2**53)  # larger ones are read as integers
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def reserialize(text: str | bytes) -> str:
    """What the service makes of a text."""
    return stringify(parse_as_javascript(text))


@pytest.mark.parametrize(("text", "expected", "length"), JAVASCRIPT)
def test_the_text_is_javascripts(text: str, expected: str, length: int) -> None:
    assert reserialize(text) == expected
    assert reserialize(text.encode("utf-8", "surrogatepass")) == expected
    assert utf16_length(expected) == length


@pytest.mark.parametrize(("text", "expected"), [row[:2] for row in JAVASCRIPT if "e400" not in row[0]])
def test_python_values_are_written_the_same_way(text: str, expected: str) -> None:
    value = json.loads(text, parse_int=float)
    assert stringify(value) == expected


@given(json_values)
def test_what_is_written_is_read_back_equal(value: Any) -> None:
    text = stringify(value)
    assert parse(text) == value
    assert reserialize(text) == text
    assert json.loads(text) == value


@given(finite)
def test_every_double_survives(value: float) -> None:
    assert float(stringify(value)) == value


@given(st.integers(-(2**53), 2**53))
def test_an_integer_and_its_double_have_one_text(value: int) -> None:
    assert stringify(value) == stringify(float(value)) == str(value)


def test_tuples_are_lists_and_subclasses_are_their_base() -> None:
    class Name(str):
        __slots__ = ()

    class Count(int):
        pass

    assert stringify({Name("a"): (Count(1), Name("b"))}) == '{"a":[1,"b"]}'


circle: dict[str, Any] = {}
circle["self"] = [circle]
deep: list[Any] = []
for _ in range(600):
    deep = [deep]


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"user": {"id": 2**53 + 1}}, "$.user.id", "beyond 2^53"),
        ([1, [math.nan]], "$[1][0]", "NaN"),
        ({"a b": -math.inf}, '$["a b"]', "infinity"),
        (circle, "$.self[0]", "contains itself"),
        ({"x": {1: 2}}, "$.x", "the key 1 is not a string"),
        ({"when": b"bytes"}, "$.when", "a bytes"),
        ({1, 2}, "$", "a set"),
        (deep, "$" + "[0]" * 500, "500 levels"),
    ],
)
def test_what_would_be_lost_is_refused_with_its_place(value: Any, path: str, reason: str) -> None:
    with pytest.raises(NotJSON, match=re.escape(reason)) as caught:
        stringify(value)
    assert caught.value.path == path


def test_the_same_list_twice_is_no_circle() -> None:
    twice = [1]
    assert stringify([twice, twice]) == "[[1],[1]]"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1, column 1"),
        ('{"a":\n  x}', "line 2, column 3"),
        ("NaN", "NaN is not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "it holds an integer of thousands of digits"),
        ('"', "Unterminated string at line 1, column 1"),
        ('["a\nb"]', "Invalid control character at line 1, column 4"),
    ],
)
def test_a_text_that_is_no_json_is_refused_with_a_sentence(text: str | bytes, reason: str) -> None:
    with pytest.raises(NotJSON, match=reason):
        parse(text)


@pytest.mark.parametrize("text", ["", "nope", "Infinity", b"\xff", "[" * 100_000])
def test_the_service_refuses_it_too(text: str | bytes) -> None:
    with pytest.raises(NotJSON):
        reserialize(text)


def test_a_byte_order_mark_is_no_content() -> None:
    assert parse(b"\xef\xbb\xbf[1]") == [1]


def test_what_takes_long_to_write_is_known_beforehand() -> None:
    assert is_small({"a": [1, "text", None], "b": (1.5, True)})
    assert not is_small("x" * 70_000)
    assert not is_small(list(range(70_000)))
    assert not is_small([{"a": "x" * 100} for _ in range(1000)])
    assert not is_small(circle), "who walks in a circle takes long"
