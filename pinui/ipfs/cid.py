"""Content identifiers: a CID's parts, its canonical text and its bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libipld

from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.varint import decode_varint, encode_varint

__all__ = ["DAG_PB", "IDENTITY", "MAX_CID_BYTES", "RAW", "SHA2_256", "Cid", "canonical", "other_version", "read_cid"]

RAW = 0x55
DAG_PB = 0x70

IDENTITY = 0x00
SHA2_256 = 0x12

# A CID with a sha2-512 digest in base16 has 139 characters; identity CIDs may carry up to 128 bytes.
MAX_TEXT = 512
TEXT = re.compile(rf"[0-9A-Za-z+/_=-]{{4,{MAX_TEXT}}}")
MAX_CID_BYTES = 256


@dataclass(frozen=True, slots=True)
class Cid:
    """One content identifier. Equal content in version 0 and 1 has equal `multihash` but unequal CIDs."""

    version: int
    codec: int
    hash_code: int
    digest: bytes

    @classmethod
    def parse(cls, text: str) -> Cid:
        """Read a CID in any multibase; `MalformedContent` says that it is none."""
        if not TEXT.fullmatch(text):
            raise MalformedContent("not a CID")
        try:
            # libipld knows the multibases. Its own reader of CIDs stops at digests of 64 bytes: ours takes longer ones.
            _base, raw = libipld.decode_multibase(f"z{text}" if text.startswith("Qm") else text)
            return cls.from_bytes(raw)
        except ValueError as error:
            raise MalformedContent("not a CID") from error

    @classmethod
    def from_bytes(cls, raw: bytes) -> Cid:
        """Read a CID's binary form, which must fill `raw`."""
        cid, end = read_cid(raw)
        if end != len(raw):
            raise MalformedContent("the bytes are no CID")
        return cid

    @property
    def multihash(self) -> bytes:
        """Hash function, length and digest: two CIDs with the same ones name the same bytes."""
        if self.hash_code == SHA2_256 and len(self.digest) == 32:
            return b"\x12\x20" + self.digest
        return encode_varint(self.hash_code) + encode_varint(len(self.digest)) + self.digest

    def to_v1(self) -> Cid:
        """The same content under version 1."""
        return Cid(1, self.codec, self.hash_code, self.digest)

    def to_v0(self) -> Cid:
        """The same content under version 0, which knows only dag-pb with sha2-256."""
        if (self.codec, self.hash_code, len(self.digest)) != (DAG_PB, SHA2_256, 32):
            raise ValueError("only dag-pb content with a sha2-256 hash has a version 0 CID")
        return Cid(0, self.codec, self.hash_code, self.digest)

    def spellings(self) -> tuple[Cid, ...]:
        """This CID and the same in the other version, if it has one: people copy either."""
        if self.version == 0:
            return self, self.to_v1()
        try:
            return self, self.to_v0()
        except ValueError:
            return (self,)

    def __bytes__(self) -> bytes:
        if self.version == 0:
            return self.multihash
        return b"\x01" + encode_varint(self.codec) + self.multihash

    def __str__(self) -> str:
        """The canonical text: base58 for version 0, lower-case base32 for version 1."""
        raw = bytes(self)
        return libipld.encode_multibase("z", raw)[1:] if self.version == 0 else libipld.encode_multibase("b", raw)


V1_OF_V0 = b"\x01\x70"
"""The bytes that version 1 puts in front of a version 0 CID's multihash."""


def canonical(text: str) -> str:
    """A CID's canonical text; `MalformedContent` for other text. Quick for the usual CIDs."""
    if len(text) == 59 and text.startswith("baf"):
        try:
            _base, raw = libipld.decode_multibase(text)
        except ValueError as error:
            raise MalformedContent("not a CID") from error
        if raw[2:4] == b"\x12\x20" and raw[1] < 0x80 and libipld.encode_multibase("b", raw) == text:
            return text
    return str(Cid.parse(text))


def other_version(text: str) -> str | None:
    """A CID's canonical text in the other version; None where it has none. Quick: lists ask for thousands."""
    is_v0 = text.startswith("Qm")
    try:
        _base, raw = libipld.decode_multibase(f"z{text}" if is_v0 else text)
    except ValueError:
        return None
    if is_v0:
        return libipld.encode_multibase("b", V1_OF_V0 + raw) if len(raw) == 34 else None
    if len(raw) == 36 and raw.startswith(V1_OF_V0 + b"\x12\x20"):
        return libipld.encode_multibase("z", raw[2:])[1:]
    return None


def read_cid(data: bytes | memoryview) -> tuple[Cid, int]:
    """The CID that `data` begins with, and where it ends."""
    if bytes(data[:2]) == b"\x12\x20":
        version, codec, hash_code, length, offset = 0, DAG_PB, SHA2_256, 32, 2
    else:
        version, offset = decode_varint(data)
        if version != 1:
            raise MalformedContent("the bytes are no CID")
        codec, offset = decode_varint(data, offset)
        hash_code, offset = decode_varint(data, offset)
        length, offset = decode_varint(data, offset)
    end = offset + length
    if end > min(len(data), MAX_CID_BYTES):
        raise MalformedContent("the bytes are no CID")
    return Cid(version, codec, hash_code, bytes(data[offset:end])), end
