"""A download continues only where the answer is provably its continuation."""

from __future__ import annotations

import pytest

from pinui.sdk.transport.http import Head
from pinui.sdk.transport.ranges import Continuation, continuation, range_headers, strong_etag, whole_size


def head(status: int, **headers: str) -> Head:
    return Head(status, {name.replace("_", "-"): value for name, value in headers.items()}, "https://x")


def test_the_rest_is_asked_for_only_of_the_same_bytes() -> None:
    assert range_headers(10, '"abc"') == {"Range": "bytes=10-", "If-Range": '"abc"'}
    assert strong_etag(head(200, etag='"abc"')) == '"abc"'
    assert strong_etag(head(200, etag='W/"abc"')) is None
    assert strong_etag(head(200)) is None


@pytest.mark.parametrize(
    ("reply", "resume", "expected"),
    [
        (head(200), None, 0),
        (head(200), (10, '"e"'), 0),
        (head(206, content_range="bytes 10-19/20", etag='"e"'), (10, '"e"'), 10),
        (head(206, content_range="bytes 10-19/20"), (10, '"e"'), 10),
        (head(206, content_range="bytes 10-19/*"), (10, '"e"'), 10),
        (head(206, content_range="bytes 9-19/20"), (10, '"e"'), Continuation.WRONG),
        (head(206, content_range="bytes 10-18/20"), (10, '"e"'), Continuation.WRONG),
        (head(206, content_range="bytes 10-19/20", etag='"f"'), (10, '"e"'), Continuation.WRONG),
        (head(206), (10, '"e"'), Continuation.WRONG),
        (head(206, content_range="bytes 0-19/20"), None, 0),
        (head(206, content_range="bytes 0-9/20"), None, Continuation.WRONG),
        (head(206, content_range="bytes 5-9/20"), None, Continuation.WRONG),
    ],
)
def test_where_the_body_starts(reply: Head, resume: tuple[int, str] | None, expected: object) -> None:
    assert continuation(reply, resume) == expected


def test_a_beginning_is_taken_by_who_asked_for_one() -> None:
    assert continuation(head(206, content_range="bytes 0-9/20"), None, takes_part=True) == 0
    assert continuation(head(206, content_range="bytes 5-9/20"), None, takes_part=True) == Continuation.WRONG


def test_the_size_of_the_whole_is_read_from_either_answer() -> None:
    assert whole_size(head(200, content_length="9")) == 9
    assert whole_size(head(206, content_range="bytes 0-3/100", content_length="4")) == 100
    assert whole_size(head(206, content_range="bytes 0-3/*")) is None
    assert whole_size(head(206)) is None
