"""What is tried again, and when."""

from __future__ import annotations

from dataclasses import replace
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.sdk.transport.http import Breakdown, Rejection
from pinui.sdk.transport.retry import LONGEST_WAIT, retry_after, wait_before_retry

NOW = 1_700_000_000.0


def rejection(status: int, **headers: str) -> Rejection:
    return Rejection(status, {name.replace("_", "-"): value for name, value in headers.items()}, b"", "https://x")


def wait(outcome: Rejection | Breakdown, attempt: int = 0, chance: float = 1.0) -> float | None:
    return wait_before_retry(outcome, attempt=attempt, retries=4, now=NOW, random=lambda: chance)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520, 599])
def test_passing_refusals_are_tried_again(status: int) -> None:
    assert wait(rejection(status)) == 0.5
    assert wait(rejection(status), attempt=4) is None


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 409, 413, 501, 505, 507])
def test_lasting_refusals_are_not(status: int) -> None:
    assert wait(rejection(status)) is None


def test_a_500_by_which_a_daemon_means_no_is_not() -> None:
    assert wait(replace(rejection(500), final=True)) is None


def test_no_answer_is_worth_another_try_unless_it_would_end_the_same_way() -> None:
    assert wait(Breakdown("connect", "down")) == 0.5
    assert wait(Breakdown("sent", "broke")) == 0.5
    assert wait(Breakdown("connect", "bad certificate", final=True)) is None


@given(st.integers(0, 3), st.floats(0, 1))
def test_waiting_grows_with_full_jitter(attempt: int, chance: float) -> None:
    seconds = wait(rejection(503), attempt=attempt, chance=chance)
    assert seconds == chance * min(20.0, 0.5 * 2**attempt)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "60"}, 60.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW + 12)}, 12.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "later"}, None),
        ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": str(NOW + 12)}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after(headers, NOW) == expected


def test_what_was_asked_for_is_waited_and_no_more_than_the_limit() -> None:
    assert wait(rejection(429, retry_after="60")) == 60.5
    assert wait(rejection(429, retry_after=str(LONGEST_WAIT + 1))) is None


@given(st.dictionaries(st.sampled_from(["retry-after", "x-ratelimit-reset", "x-ratelimit-remaining"]), st.text()))
def test_no_header_breaks_it(headers: dict[str, str]) -> None:
    seconds = wait(Rejection(429, headers, b"", ""))
    assert seconds is None or 0 <= seconds <= LONGEST_WAIT + 1
