"""Waiting before being refused."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.sdk.transport.limiter import Bucket, bucket_for

NOW = 1_700_000_000.0


def told(left: int, reset: float, limit: int | None = None) -> dict[str, str]:
    headers = {"x-ratelimit-remaining": str(left), "x-ratelimit-reset": str(reset)}
    return headers | ({} if limit is None else {"x-ratelimit-limit": str(limit)})


def test_who_says_nothing_is_not_waited_for() -> None:
    bucket = Bucket()
    assert [bucket.wait(NOW) for _ in range(1000)] == [0.0] * 1000
    bucket.learn(200, {}, now=NOW, wall=NOW)
    assert bucket.wait(NOW) == 0


def test_what_is_left_is_used_up_and_then_the_next_count_awaited() -> None:
    bucket = Bucket()
    bucket.wait(NOW)
    bucket.learn(200, told(2, NOW + 30), now=NOW, wall=NOW)
    assert [bucket.wait(NOW) for _ in range(3)] == [0, 0, 30]
    assert bucket.wait(NOW + 30) == 0


def test_a_new_count_lets_only_as_many_go_as_it_has_room_for() -> None:
    bucket = Bucket()
    bucket.learn(200, told(0, NOW + 30, limit=3), now=NOW, wall=NOW)
    assert bucket.wait(NOW) == 30
    assert [bucket.wait(NOW + 30) for _ in range(4)] == [0, 0, 0, 30]
    bucket.learn(200, told(2, NOW + 50, limit=3), now=NOW + 30, wall=NOW + 30)
    assert bucket.wait(NOW + 31) == 19, "the reply tells when the count ends; the room was given away already"


def test_replies_that_overtake_each_other_give_no_room_back() -> None:
    bucket = Bucket()
    bucket.learn(200, told(1, NOW + 30), now=NOW, wall=NOW)
    bucket.learn(200, told(5, NOW + 30), now=NOW, wall=NOW)
    assert [bucket.wait(NOW) for _ in range(2)] == [0, 30]
    bucket.learn(200, told(5, NOW + 90), now=NOW + 31, wall=NOW + 31)
    assert bucket.wait(NOW + 31) == 0


def test_a_reset_is_read_by_the_service_s_own_clock() -> None:
    for wall in (NOW - 86_400, NOW - 40, NOW + 86_400):
        bucket = Bucket()
        bucket.learn(200, told(0, NOW + 30) | {"date": formatdate(NOW, usegmt=True)}, now=5.0, wall=wall)
        assert bucket.wait(5.0) == 30
        assert bucket.wait(35.0) == 0


def test_a_refusal_closes_the_bucket_for_everybody() -> None:
    bucket = Bucket()
    bucket.learn(429, {"retry-after": "12"}, now=NOW, wall=NOW)
    assert bucket.wait(NOW) == 12
    bucket.learn(429, {"retry-after": "5"}, now=NOW, wall=NOW)
    assert bucket.wait(NOW + 2) == 10
    assert bucket.wait(NOW + 12) == 0
    bucket.learn(429, {"retry-after": "3600"}, now=NOW + 12, wall=NOW + 12)
    assert bucket.wait(NOW + 12) == 0, "who asks for too much is the caller's to deal with"
    bucket.learn(429, {}, now=NOW + 12, wall=NOW + 12)
    assert bucket.wait(NOW + 12) == 0


def test_a_limit_known_beforehand_holds_over_any_minute() -> None:
    bucket = Bucket(3)
    assert [bucket.wait(NOW + second) for second in (0, 10, 20)] == [0, 0, 0]
    assert bucket.wait(NOW + 30) == 30
    assert bucket.wait(NOW + 60) == 0
    assert bucket.wait(NOW + 60) == 10


@pytest.mark.parametrize(
    "headers",
    [
        {"x-ratelimit-remaining": "x", "x-ratelimit-reset": str(NOW + 5)},
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"},
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW - 5)},
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW + 5000)},
        {"x-ratelimit-remaining": "nan", "x-ratelimit-reset": "inf"},
        {"x-ratelimit-remaining": "0"},
    ],
)
def test_headers_that_make_no_sense_are_ignored(headers: dict[str, str]) -> None:
    bucket = Bucket()
    bucket.learn(200, headers, now=NOW, wall=NOW)
    assert bucket.wait(NOW) == 0


@given(st.lists(st.tuples(st.integers(0, 600), st.dictionaries(st.sampled_from(list(told(0, 0, 0))), st.text()))))
def test_no_reply_makes_anybody_wait_for_ever(replies: list[tuple[int, dict[str, str]]]) -> None:
    bucket = Bucket()
    for status, headers in replies:
        bucket.learn(status, headers, now=NOW, wall=NOW)
    assert 0 <= bucket.wait(NOW) <= 90


async def test_data_calls_have_a_bucket_of_their_own_with_the_hosted_services_limit() -> None:
    pins = bucket_for("https://api.pinata.cloud/pinning/pinJSONToIPFS")
    data = bucket_for("https://api.pinata.cloud/data/testAuthentication")
    assert pins is bucket_for("https://api.pinata.cloud:443/pinning/unpin/x")
    assert pins is not data
    assert (pins.most_a_minute, data.most_a_minute) == (None, 30)
    assert bucket_for("http://127.0.0.1:1/data/pinList").most_a_minute is None
    assert bucket_for("https://api.pinata.cloud/v1/data/pinList") is data, "the API may stand below a path"
    assert bucket_for("https://api.pinata.cloud/data/api/pinning/pinJSONToIPFS") is not data
