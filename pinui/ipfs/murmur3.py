"""murmur3-x64-64, the hash by which a sharded folder finds the slot of a name."""

from __future__ import annotations

import struct

__all__ = ["murmur3_x64_64"]

MASK = (1 << 64) - 1
C1 = 0x87C37B91114253D5
C2 = 0x4CF5AD432745937F


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & MASK


def _mix_1(value: int) -> int:
    return _rotate(value * C1 & MASK, 31) * C2 & MASK


def _mix_2(value: int) -> int:
    return _rotate(value * C2 & MASK, 33) * C1 & MASK


def _final(value: int) -> int:
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & MASK
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & MASK
    return value ^ value >> 33


def murmur3_x64_64(data: bytes) -> bytes:
    """The first half of murmur3's 128-bit hash for 64-bit machines, seed 0, as eight big-endian bytes."""
    first = second = 0
    whole = len(data) // 16 * 16
    for low, high in struct.iter_unpack("<QQ", data[:whole]):
        first = (_rotate(first ^ _mix_1(low), 27) + second) * 5 + 0x52DCE729 & MASK
        second = (_rotate(second ^ _mix_2(high), 31) + first) * 5 + 0x38495AB5 & MASK
    tail = data[whole:]
    second ^= _mix_2(int.from_bytes(tail[8:], "little"))
    first ^= _mix_1(int.from_bytes(tail[:8], "little"))
    first ^= len(data)
    second ^= len(data)
    first = first + second & MASK
    second = second + first & MASK
    first, second = _final(first), _final(second)
    return (first + second & MASK).to_bytes(8, "big")
