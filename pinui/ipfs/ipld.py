"""Blocks that hold values instead of files, dag-cbor and dag-json: the values, and the links in them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, cast

from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import MalformedContent, UnsupportedContent
from pinui.ipfs.jsontext import NotJSON, parse
from pinui.ipfs.multihash import Bytes

__all__ = ["CBOR", "DAG_CBOR", "DAG_JSON", "MISSING", "decode_value", "has_values", "links_in", "member"]

CBOR = 0x51
DAG_CBOR = 0x71
DAG_JSON = 0x0129
MAX_DEPTH = 128
CID_TAG = 42
MISSING: Any = object()
"""The value at a place that isn't there."""


def has_values(cid: Cid) -> bool:
    """Whether a block of this kind holds a value with links."""
    return cid.codec in (DAG_CBOR, DAG_JSON)


def decode_value(cid: Cid, block: Bytes) -> Any:
    """The value of a block; a link is a `Cid`."""
    if cid.codec == DAG_JSON:
        try:
            return _from_json(parse(bytes(block)))
        except NotJSON as error:
            raise MalformedContent(f"{cid} is no dag-json: {error}") from error
    try:
        value, end = _read(memoryview(block), 0, 0)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise MalformedContent(f"{cid} is no dag-cbor") from error
    if end != len(block):
        raise MalformedContent(f"{cid} is no dag-cbor: bytes follow its value")
    return value


def links_in(value: Any) -> Iterator[Cid]:
    """Every link in a value, in order."""
    if isinstance(value, Cid):
        yield value
    elif isinstance(value, (dict, list)):
        members = cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
        for inner in members:
            yield from links_in(inner)


def member(value: Any, name: str) -> Any:
    """The member of a map or a list with this name or number; `MISSING` if there is none."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get(name, MISSING)
    if isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(cast("list[Any]", value)):
        return cast("list[Any]", value)[int(name)]
    return MISSING


def _from_json(value: Any) -> Any:
    """A JSON value with its links: `{"/": "CID"}`."""
    if isinstance(value, list):
        return [_from_json(inner) for inner in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if fields.keys() == {"/"} and isinstance(fields["/"], str):
        return Cid.parse(fields["/"])
    return {name: _from_json(inner) for name, inner in fields.items()}


def _read(data: memoryview, offset: int, depth: int) -> tuple[Any, int]:
    """The value at an offset, and where it ends. Only what dag-cbor allows: nothing of indefinite length."""
    if depth > MAX_DEPTH:
        raise UnsupportedContent("a value is nested too deeply")
    kind, low = data[offset] >> 5, data[offset] & 0x1F
    offset += 1
    if kind == 7:
        return _read_simple(data, offset, low)
    count = low
    if low >= 24:
        if low > 27:
            raise MalformedContent("a length in dag-cbor is not allowed there")
        size = 1 << (low - 24)
        count, offset = int.from_bytes(data[offset : offset + size], "big"), offset + size
    match kind:
        case 0 | 1:
            return count if kind == 0 else -1 - count, offset
        case 2 | 3:
            end = offset + count
            if end > len(data):
                raise MalformedContent("a text in dag-cbor ends too early")
            raw = bytes(data[offset:end])
            return raw if kind == 2 else raw.decode(), end
        case 4:
            items: list[Any] = []
            for _ in range(count):
                item, offset = _read(data, offset, depth + 1)
                items.append(item)
            return items, offset
        case 5:
            fields: dict[str, Any] = {}
            for _ in range(count):
                name, offset = _read(data, offset, depth + 1)
                if not isinstance(name, str):
                    raise MalformedContent("a name in dag-cbor is no text")
                fields[name], offset = _read(data, offset, depth + 1)
            return fields, offset
        case _:
            raw, offset = _read(data, offset, depth + 1)
            if count != CID_TAG or not isinstance(raw, bytes) or raw[:1] != b"\0":
                raise MalformedContent("a tag in dag-cbor is no link")
            return Cid.from_bytes(raw[1:]), offset


def _read_simple(data: memoryview, offset: int, low: int) -> tuple[Any, int]:
    if low == 27:
        return struct.unpack_from(">d", data, offset)[0], offset + 8
    simple = {20: False, 21: True, 22: None}
    if low not in simple:
        raise MalformedContent("a value in dag-cbor is of no known kind")
    return simple[low], offset
