"""Masking: text without the tokens that this process knows, and without what looks like one."""

from __future__ import annotations

import pytest

from pinui.sdk.secret import Secret, masked

CANARY = "a-token-of-a-test-7c0ffee"


def test_every_secret_that_was_made_is_masked() -> None:
    Secret(CANARY)
    assert masked(f"refused: {CANARY}, and {CANARY[:-1]}") == f"refused: ***, and {CANARY[:-1]}"


def test_a_secret_that_begins_another_one_leaves_nothing_of_it() -> None:
    Secret(CANARY[:10])
    Secret(CANARY)
    assert masked(CANARY) == "***"


def test_further_secrets_may_be_named() -> None:
    assert masked("the word hunter2hunter2 is secret", "hunter2hunter2", "is") == "the word *** is secret"


def test_a_secret_is_masked_as_json_and_addresses_write_it() -> None:
    secret = "abc/def+ghi=="
    assert masked(r'{"error":"abc\/def+ghi=="}', secret) == '{"error":"***"}'
    assert masked("?key=abc%2Fdef%2Bghi%3D%3D&x", secret) == "?key=***&x"


def test_of_many_secrets_the_latest_are_known() -> None:
    for number in range(1000):
        Secret(f"one-of-many-{number:04}")
    assert masked("one-of-many-0999") == "***"
    assert masked("one-of-many-0000") == "one-of-many-0000", "a server's memory doesn't grow with its users"


def test_a_short_word_is_no_secret() -> None:
    Secret("local")
    assert masked("the profile local") == "the profile local"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{'Authorization': 'Bearer abc.def'}", "{'Authorization': 'Bearer ***'}"),
        ("key eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x-_y ends", "key *** ends"),
        ("cut off: eyJhbGciOiJIUzI1", "cut off: ***"),
        ("https://ann:pass@example.com/x", "https://***@example.com/x"),
        ("mail ann@example.com", "mail ann@example.com"),
        ("https://example.com/@ann", "https://example.com/@ann"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, shown: str) -> None:
    assert masked(text) == shown
