"""Plain bytes checked against a CID: the CID is computed again as the bytes pass by, without blocks.

A raw CID is the hash of the bytes, so the answer is certain. A dag-pb CID depends on the way the file was cut, so the
common ways are tried; if none fits, a small file is proven wrong, and a large one stays unknown.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

from pinui.ipfs.cid import DAG_PB, IDENTITY, RAW, SHA2_256, Cid
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, PROFILES, CidPredictor, ImportProfile
from pinui.ipfs.multihash import HASHES, Bytes, can_prove
from pinui.ipfs.unixfs import JSON, FilePiece, read_block

__all__ = [
    "ONE_BLOCK",
    "ContentCheck",
    "Finding",
    "can_rebuild",
    "compare_prediction",
    "likely_profiles",
    "same_content",
]

Finding = Literal["verified", "mismatch", "unknown"]

# Every importer in use puts this much into one block, so for smaller content there is nothing to guess.
ONE_BLOCK = 256 * 1024


def same_content(one: Cid, other: Cid) -> bool:
    """Whether two CIDs name the same block; their versions may differ."""
    return one.codec == other.codec and one.multihash == other.multihash


def likely_profiles(cid: Cid) -> tuple[ImportProfile, ...]:
    """The ways a file with this CID may have been cut, the likeliest first."""
    first = KUBO_V0 if cid.version == 0 else KUBO_V1
    return (first, *(profile for profile in PROFILES if profile is not first))


def can_rebuild(cid: Cid) -> bool:
    """Whether this CID names a tree as importers make it, so that building one from the bytes can give the same CID."""
    return (cid.codec, cid.hash_code, len(cid.digest)) == (DAG_PB, SHA2_256, 32)


class _Hasher(Protocol):
    def feed(self, data: Bytes) -> None: ...
    def matches(self, cid: Cid) -> bool: ...


class _WholeHash:
    """For CIDs that are the hash of the bytes themselves."""

    def __init__(self, hash_code: int) -> None:
        self._state: Any = HASHES[hash_code](b"")

    def feed(self, data: Bytes) -> None:
        self._state.update(data)

    def matches(self, cid: Cid) -> bool:
        return self._state.digest()[: len(cid.digest)] == cid.digest


class _Rebuilt:
    """For CIDs of a tree over the bytes: builds the tree again, in one profile."""

    def __init__(self, profile: ImportProfile) -> None:
        self._predictor = CidPredictor(profile)

    def feed(self, data: Bytes) -> None:
        self._predictor.feed(data)

    def matches(self, cid: Cid) -> bool:
        return same_content(self._predictor.finish(), cid)


class ContentCheck:
    """Feed the content of `cid` as it streams, then ask. A second check with `profile` tries another way."""

    def __init__(self, cid: Cid, profile: ImportProfile | None = None) -> None:
        self._cid = cid
        self._size = 0
        self._hasher: _Hasher | None = None
        self._start: bytes = b""
        self._is_certain = cid.codec in (RAW, JSON) and can_prove(cid)
        if cid.hash_code == IDENTITY:
            return
        if self._is_certain:
            self._hasher = _WholeHash(cid.hash_code)
        elif can_rebuild(cid):
            self._hasher = _Rebuilt(profile or likely_profiles(cid)[0])

    def feed(self, data: Bytes) -> None:
        """Take the next bytes; any thread, one at a time."""
        if self._cid.hash_code == IDENTITY and self._size <= len(self._cid.digest):
            self._start += bytes(data[: len(self._cid.digest) + 1])
        self._size += len(data)
        if self._hasher is not None:
            self._hasher.feed(data)

    def finding(self) -> Finding:
        """The finding on all the bytes; the check can't be used again."""
        if self._cid.hash_code == IDENTITY:
            return self._identity_finding()
        if self._hasher is None:
            return "unknown"
        if self._hasher.matches(self._cid):
            return "verified"
        return "mismatch" if self._is_certain else "unknown"

    def _identity_finding(self) -> Finding:
        if not can_prove(self._cid):
            return "unknown"
        try:
            piece = read_block(self._cid, self._cid.digest)
        except ContentAddressError:
            return "unknown"
        if not isinstance(piece, FilePiece) or piece.children:
            return "unknown"
        return "verified" if self._size == len(piece.data) and memoryview(self._start) == piece.data else "mismatch"


def compare_prediction(
    answer: str, predicted: Cid, small_content: bytes | None
) -> Literal["verified", "unverifiable", "mismatch"]:
    """The verdict on a provider's answer; `small_content` is all bytes that were sent, if they fit into one block."""
    try:
        cid = Cid.parse(answer)
    except ContentAddressError:
        return "unverifiable"
    if same_content(cid, predicted):
        return "verified"
    if small_content is None:
        return "unverifiable"
    findings: set[Finding] = set()
    for profile in PROFILES:
        check = ContentCheck(cid, profile)
        check.feed(small_content)
        findings.add(check.finding())
    if "verified" in findings:
        return "verified"
    return "mismatch" if "mismatch" in findings or can_rebuild(cid) else "unverifiable"
