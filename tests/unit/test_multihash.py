"""Blocks are checked with every hash that is trusted here; others are named."""

from __future__ import annotations

import hashlib

import pytest

from pinui.ipfs.cid import RAW, Cid
from pinui.ipfs.errors import UnsupportedContent, WrongHash
from pinui.ipfs.multihash import HASHES, can_prove, hash_name, verify_block


@pytest.mark.parametrize(
    ("code", "digest"),
    [
        (0x12, hashlib.sha256(b"x").digest()),
        (0x13, hashlib.sha512(b"x").digest()),
        (0x14, hashlib.sha3_512(b"x").digest()),
        (0x15, hashlib.sha3_384(b"x").digest()),
        (0x16, hashlib.sha3_256(b"x").digest()),
        (0x20, hashlib.sha384(b"x").digest()),
        (0xB220, hashlib.blake2b(b"x", digest_size=32).digest()),
        (0xB240, hashlib.blake2b(b"x").digest()),
        (0xB260, hashlib.blake2s(b"x").digest()),
    ],
)
def test_a_block_is_checked_with_the_hash_of_its_cid(code: int, digest: bytes) -> None:
    cid = Cid(1, RAW, code, digest)
    assert code in HASHES
    verify_block(cid, b"x")
    with pytest.raises(WrongHash):
        verify_block(cid, b"y")


@pytest.mark.parametrize(("code", "name"), [(0x1E, "blake3"), (0x11, "sha1"), (0x7777, "0x7777")])
def test_a_hash_that_is_not_supported_is_named(code: int, name: str) -> None:
    cid = Cid(1, RAW, code, bytes(32))
    assert not can_prove(cid)
    assert hash_name(cid) == name
    with pytest.raises(UnsupportedContent, match=name):
        verify_block(cid, b"x")
