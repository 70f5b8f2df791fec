"""The little of protobuf's wire format that dag-pb and UnixFS use."""

from __future__ import annotations

from collections.abc import Iterator

from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.varint import decode_varint, encode_varint

__all__ = ["BYTES", "NUMBER", "bytes_field", "fields", "number_field"]

NUMBER = 0
BYTES = 2
FIXED_WIDTHS = {1: 8, 5: 4}


def fields(data: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """Every field of a message as (number, wire type, value); byte values are views, not copies."""
    offset, end = 0, len(data)
    while offset < end:
        key, offset = decode_varint(data, offset)
        number, wire_type = key >> 3, key & 7
        if wire_type == NUMBER:
            value, offset = decode_varint(data, offset)
            yield number, wire_type, value
            continue
        if wire_type == BYTES:
            length, offset = decode_varint(data, offset)
        else:
            length = FIXED_WIDTHS.get(wire_type, -1)
        if length < 0:
            raise MalformedContent("a field has a type that protobuf does not know")
        if length > end - offset:
            raise MalformedContent("the data ends inside a field")
        yield number, wire_type, data[offset : offset + length]
        offset += length


def number_field(number: int, value: int) -> bytes:
    """A field that holds a number."""
    return encode_varint(number << 3 | NUMBER) + encode_varint(value)


def bytes_field(number: int, length: int) -> bytes:
    """The head of a field that holds `length` bytes; the bytes follow."""
    return encode_varint(number << 3 | BYTES) + encode_varint(length)
