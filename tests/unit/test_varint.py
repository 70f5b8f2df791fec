"""Varints round-trip, and every malformed one is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.varint import decode_varint, encode_varint


@given(st.integers(min_value=0, max_value=2**63 - 1), st.binary(max_size=4))
def test_a_number_round_trips_and_the_rest_is_left(value: int, rest: bytes) -> None:
    encoded = encode_varint(value)
    assert decode_varint(b"xx" + encoded + rest, 2) == (value, 2 + len(encoded))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "ends inside"),
        (b"\x80", "ends inside"),
        (b"\x80\x00", "shortest form"),
        (b"\xff" * 9 + b"\x01", "too large"),
    ],
)
def test_malformed_numbers_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(MalformedContent, match=reason):
        decode_varint(data)
