"""Content identifiers: a CID's parts, its canonical text and its bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, cast

import libipld

from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.varint import encode_varint

__all__ = ["DAG_PB", "IDENTITY", "RAW", "SHA2_256", "Cid"]

RAW = 0x55
DAG_PB = 0x70

IDENTITY = 0x00
SHA2_256 = 0x12

# A CID with a sha2-512 digest in base16 has 139 characters; identity CIDs may carry up to 128 bytes.
MAX_TEXT = 512
TEXT = re.compile(rf"[0-9A-Za-z+/_=-]{{4,{MAX_TEXT}}}")


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
            cid = cls._from_parts(libipld.decode_cid(text))
            # libipld stops reading after the digest: what stands behind it would be lost without a word.
            whole = text.startswith("Qm") or libipld.decode_multibase(text)[1] == bytes(cid)
        except ValueError as error:
            raise MalformedContent("not a CID") from error
        if not whole:
            raise MalformedContent("not a CID")
        return cid

    @classmethod
    def from_bytes(cls, raw: bytes) -> Cid:
        """Read a CID's binary form, which must fill `raw`."""
        try:
            cid = cls._from_parts(libipld.decode_cid(raw))
        except ValueError as error:
            raise MalformedContent("the bytes are no CID") from error
        if bytes(cid) != raw:
            raise MalformedContent("the bytes are no CID")
        return cid

    @classmethod
    def _from_parts(cls, parts: Any) -> Cid:
        multihash = parts["hash"]
        return cls(
            cast(int, parts["version"]),
            cast(int, parts["codec"]),
            cast(int, multihash["code"]),
            cast(bytes, multihash["digest"]),
        )

    @property
    def multihash(self) -> bytes:
        """Hash function, length and digest: what decides whether two CIDs name the same bytes."""
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
        return libipld.encode_cid(bytes(self))
