"""Unsigned varints as multiformats writes them: seven bits a byte, lowest first, in the shortest form."""

from __future__ import annotations

from pinui.ipfs.errors import MalformedContent

__all__ = ["decode_varint", "encode_varint"]

# multiformats allows nine bytes (63 bits); protobuf's tenth byte is never needed for sizes that fit a file.
MAX_BYTES = 9
ONE_BYTE = [bytes((value,)) for value in range(0x80)]


def encode_varint(value: int) -> bytes:
    """The varint of a number that is not negative."""
    if value < 0x80:
        return ONE_BYTE[value]
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def decode_varint(data: bytes | memoryview, offset: int = 0) -> tuple[int, int]:
    """The number at `offset` and the offset behind it; padded, overlong and cut varints are refused."""
    if offset < len(data) and data[offset] < 0x80:  # by far the most common: one byte
        return data[offset], offset + 1
    value = shift = 0
    for position in range(offset, min(offset + MAX_BYTES, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if byte == 0 and position > offset:
                raise MalformedContent("a number is not written in its shortest form")
            return value, position + 1
        shift += 7
    if len(data) - offset >= MAX_BYTES:
        raise MalformedContent("a number is too large")
    raise MalformedContent("the data ends inside a number")
