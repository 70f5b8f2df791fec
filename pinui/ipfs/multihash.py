"""Hashing blocks and checking them against their CIDs, with the few hash functions that are trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from pinui.ipfs.cid import DAG_PB, IDENTITY, RAW, SHA2_256, Cid
from pinui.ipfs.errors import UnsupportedContent, WrongHash
from pinui.ipfs.limits import MAX_BLOCK

__all__ = [
    "BLAKE2B_256",
    "HASHES",
    "SHA2_512",
    "Bytes",
    "can_prove",
    "dag_pb_cid",
    "hash_name",
    "raw_cid",
    "verify_block",
]

Bytes = bytes | bytearray | memoryview

SHA2_512 = 0x13
BLAKE2B_256 = 0xB220

# An identity CID carries its content in itself; longer ones would be a way around block limits.
MAX_IDENTITY = 128
# A digest may be cut, but not so short that other bytes with the same one can be found.
MIN_DIGEST = 20


def _blake2b_256(data: Bytes) -> Any:
    return hashlib.blake2b(data, digest_size=32)


def _blake2b_512(data: Bytes) -> Any:
    return hashlib.blake2b(data)


HASHES: dict[int, Callable[[Bytes], Any]] = {
    SHA2_256: hashlib.sha256,
    SHA2_512: hashlib.sha512,
    BLAKE2B_256: _blake2b_256,
    0x14: hashlib.sha3_512,
    0x15: hashlib.sha3_384,
    0x16: hashlib.sha3_256,
    0x20: hashlib.sha384,
    0xB240: _blake2b_512,
    0xB260: hashlib.blake2s,
}
# Names of hashes that blocks are seen with, for a sentence about those that are not trusted or not known here.
NAMES = {
    0x11: "sha1",
    0x12: "sha2-256",
    0x13: "sha2-512",
    0x1B: "keccak-256",
    0x1E: "blake3",
    0x56: "dbl-sha2-256",
    0xD5: "md5",
}


def hash_name(cid: Cid) -> str:
    """The name of the hash function in a CID."""
    return NAMES.get(cid.hash_code, f"0x{cid.hash_code:x}")


def can_prove(cid: Cid) -> bool:
    """Whether a block can be checked against this CID: it names a trusted hash, and enough of it."""
    if cid.hash_code == IDENTITY:
        return len(cid.digest) <= MAX_IDENTITY
    make = HASHES.get(cid.hash_code)
    return make is not None and MIN_DIGEST <= len(cid.digest) <= make(b"").digest_size


def verify_block(cid: Cid, data: Bytes) -> None:
    """Return only if `data` matches `cid`; `UnsupportedContent` if that can't be decided."""
    if len(data) > MAX_BLOCK:
        raise UnsupportedContent(f"block {cid} is larger than 2 MiB")
    if not can_prove(cid):
        raise UnsupportedContent(f"the hash of block {cid} ({hash_name(cid)}), or its length, is not supported here")
    digest: Bytes = data if cid.hash_code == IDENTITY else HASHES[cid.hash_code](data).digest()[: len(cid.digest)]
    if digest != cid.digest:
        raise WrongHash(f"the bytes of block {cid} are not what its CID says")


def raw_cid(parts: Iterable[Bytes]) -> Cid:
    """The CID of a raw block given in pieces."""
    return Cid(1, RAW, SHA2_256, _sha2_256(parts))


def dag_pb_cid(parts: Iterable[Bytes], version: int) -> Cid:
    """The CID of a dag-pb block given in pieces."""
    return Cid(version, DAG_PB, SHA2_256, _sha2_256(parts))


def _sha2_256(parts: Iterable[Bytes]) -> bytes:
    # Pieces instead of one joined block: a chunk is never copied. Updates of 2 KiB and more release the GIL.
    state = hashlib.sha256()
    for part in parts:
        state.update(part)
    return state.digest()
