"""Hashing blocks and checking them against their CIDs, with the few hash functions that are trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from pinui.ipfs.cid import DAG_PB, IDENTITY, RAW, SHA2_256, Cid
from pinui.ipfs.errors import UnsupportedContent, WrongHash
from pinui.ipfs.limits import MAX_BLOCK

__all__ = ["BLAKE2B_256", "HASHES", "MAX_IDENTITY", "SHA2_512", "Bytes", "dag_pb_cid", "raw_cid", "verify_block"]

Bytes = bytes | bytearray | memoryview

SHA2_512 = 0x13
BLAKE2B_256 = 0xB220

# An identity CID carries its content in itself; longer ones would be a way around block limits.
MAX_IDENTITY = 128
MIN_DIGEST = 20


def _blake2b_256(data: Bytes) -> Any:
    return hashlib.blake2b(data, digest_size=32)


HASHES: dict[int, Callable[[Bytes], Any]] = {
    SHA2_256: hashlib.sha256,
    SHA2_512: hashlib.sha512,
    BLAKE2B_256: _blake2b_256,
}


def verify_block(cid: Cid, data: Bytes) -> None:
    """Return only if `data` is what `cid` names; `UnsupportedContent` where that can't be told."""
    if len(data) > MAX_BLOCK:
        raise UnsupportedContent(f"block {cid} is larger than 2 MiB")
    if cid.hash_code == IDENTITY:
        if len(cid.digest) > MAX_IDENTITY:
            raise UnsupportedContent(f"an identity CID may carry at most {MAX_IDENTITY} bytes")
        if cid.digest != data:
            raise WrongHash(f"the bytes of block {cid} are not what its CID says")
        return
    make = HASHES.get(cid.hash_code)
    if make is None:
        raise UnsupportedContent(f"block {cid} uses a hash function that is not trusted here")
    digest: bytes = make(data).digest()
    if not MIN_DIGEST <= len(cid.digest) <= len(digest):
        raise UnsupportedContent(f"the digest of block {cid} has a length that is not trusted here")
    if digest[: len(cid.digest)] != cid.digest:
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
