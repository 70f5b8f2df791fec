"""Values of dag-cbor and dag-json blocks, and the links in them."""

from __future__ import annotations

import hashlib
from typing import Any

import libipld
import pytest

from pinui.ipfs.cid import RAW, SHA2_256, Cid
from pinui.ipfs.errors import ContentAddressError, MalformedContent, UnsupportedContent
from pinui.ipfs.exporter import resolve, resolve_blocks, walk_blocks
from pinui.ipfs.ipld import DAG_CBOR, DAG_JSON, MISSING, decode_value, has_values, links_in, member

CBOR_CID = Cid(1, DAG_CBOR, SHA2_256, bytes(32))
JSON_CID = Cid(1, DAG_JSON, SHA2_256, bytes(32))
LEAF = Cid(1, RAW, SHA2_256, hashlib.sha256(b"leaf").digest())
LINK = b"\xd8\x2a\x58\x25\x00" + bytes(LEAF)


@pytest.mark.parametrize(
    "value",
    [
        *(0, 23, 24, 255, 256, 2**32, 2**64 - 1, -1, -500, 1.5, True, False, None),
        *("", "é" * 300, b"x" * 70_000, [], {}, {"a": [1, {"b": None}], "ü": "x"}),
    ],
)
def test_values_are_read_as_another_library_writes_them(value: Any) -> None:
    assert decode_value(CBOR_CID, libipld.encode_dag_cbor(value)) == value


def test_links_are_found_in_order() -> None:
    value = decode_value(CBOR_CID, b"\xa2\x61a" + LINK + b"\x61b\x82\x01" + LINK)
    assert value == {"a": LEAF, "b": [1, LEAF]}
    assert list(links_in(value)) == [LEAF, LEAF]


def test_json_has_links_too() -> None:
    value = decode_value(JSON_CID, b'{"a": [{"/": "%s"}], "b": {"/": {"bytes": "AA"}}, "c": 1}' % str(LEAF).encode())
    assert value == {"a": [LEAF], "b": {"/": {"bytes": "AA"}}, "c": 1}
    assert list(links_in(value)) == [LEAF]


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\x82\x01",
        b"\x00\x00",
        b"\x9f\xff",
        b"\x62a",
        b"\x61\xff",
        b"\xa1\x01\x01",
        b"\xc1\x00",
        b"\xd8\x2a\x41\x01",
        b"\xfb\x00",
        b"\xf7",
        b"\x1c",
    ],
)
def test_what_is_no_dag_cbor_is_refused(block: bytes) -> None:
    with pytest.raises(MalformedContent):
        decode_value(CBOR_CID, block)


def test_deep_values_and_broken_json_are_refused() -> None:
    with pytest.raises(UnsupportedContent, match="deeply"):
        decode_value(CBOR_CID, b"\x81" * 200 + b"\x00")
    with pytest.raises(MalformedContent, match="dag-json"):
        decode_value(JSON_CID, b"{")


def test_members_have_names_or_numbers() -> None:
    assert member({"a": 1}, "a") == 1
    assert member([1, 2], "1") == 2
    for value, name in (({"a": 1}, "b"), ([1], "1"), ([1], "x"), ([1], "²"), ("text", "0")):
        assert member(value, name) is MISSING


def store(*blocks: tuple[int, bytes]) -> dict[Cid, bytes]:
    return {Cid(1, codec, SHA2_256, hashlib.sha256(data).digest()): data for codec, data in blocks}


def test_paths_lead_through_values_to_what_they_link_to() -> None:
    inner = b"\xa1\x64last" + LINK
    [(inner_cid, _)] = store((DAG_CBOR, inner)).items()
    outer = b'{"way": [{"/": "%s"}]}' % str(inner_cid).encode()
    blocks = store((DAG_CBOR, inner), (DAG_JSON, outer), (RAW, b"leaf"))
    root = next(cid for cid in blocks if cid.codec == DAG_JSON)
    assert has_values(root)
    assert resolve(root, ["way", "0", "last"], blocks.__getitem__) == LEAF
    assert list(resolve_blocks(root, ["way", "0", "last"], blocks.__getitem__)) == [root, inner_cid, LEAF]
    assert resolve(root, ["way", "1"], blocks.__getitem__) is None
    assert [cid for cid, _ in walk_blocks(root, blocks.__getitem__)] == [root, inner_cid, LEAF]
    assert [cid for cid, _ in walk_blocks(root, blocks.__getitem__, "entity")] == [root]
    with pytest.raises(ContentAddressError, match="inside"):
        resolve(root, ["way"], blocks.__getitem__)
