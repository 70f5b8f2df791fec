"""Tokens as people paste them, and when they end."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.sdk.secret import Secret
from pinui.workspace.credentials import ending, expiry, tidy

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)


def jwt(claims: Any) -> Secret:
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return Secret(f"eyJhbGciOiJIUzI1NiJ9.{body}.signature")


@pytest.mark.parametrize("pasted", ["abc", " abc\n", '"abc"', "'abc'\r\n", "Bearer abc", " bearer  abc "])
def test_a_token_is_taken_as_people_paste_it(pasted: str) -> None:
    assert tidy(pasted) == "abc"


def test_a_jwts_end_is_read() -> None:
    assert expiry(jwt({"exp": NOW.timestamp()})) == NOW


@pytest.mark.parametrize(
    "claims", [{}, {"exp": None}, {"exp": "soon"}, {"exp": True}, {"exp": 1e300}, {"exp": [1]}, [1], 5, "x"]
)
def test_a_jwt_that_does_not_say_when_it_ends_is_fine(claims: Any) -> None:
    assert expiry(jwt(claims)) is None


@given(st.text(max_size=80))
def test_any_text_is_a_token_without_an_end(text: str) -> None:
    expiry(Secret(text))
    expiry(Secret(f"a.{text}.c"))


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(days=-1), "ended on 2026-01-09"),
        (timedelta(minutes=10), "within the hour"),
        (timedelta(hours=5, minutes=3), "ends in 5 h"),
        (timedelta(days=6), "ends in 6 days, on 2026-01-16"),
    ],
)
def test_a_token_about_to_end_is_said_so(left: timedelta, words: str) -> None:
    sentence = ending(NOW + left, NOW)
    assert sentence is not None
    assert words in sentence


def test_a_token_that_is_good_for_a_while_is_not_mentioned() -> None:
    assert ending(NOW + timedelta(days=8), NOW) is None
    assert ending(None, NOW) is None
