"""CAR, the archive format of blocks: writing version 1, reading versions 1 and 2 as a stream."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from pinui.ipfs.cid import DAG_PB, MAX_CID_BYTES, RAW, SHA2_256, Cid, read_cid
from pinui.ipfs.errors import MalformedContent, UnsupportedContent
from pinui.ipfs.limits import MAX_BLOCK, MAX_CAR_HEADER
from pinui.ipfs.multihash import Bytes
from pinui.ipfs.varint import decode_varint, encode_varint

__all__ = ["Block", "CarReader", "encode_header", "encode_section_head"]

# Four bytes of seven bits each: more than a block can be long.
LENGTH_BYTES = 4
NOTHING = memoryview(b"")
COMMON = {b"\x01\x55\x12\x20": RAW, b"\x01\x70\x12\x20": DAG_PB}

# The first bytes of a version 2 archive, in the place of version 1's header: {"version": 2}.
V2_HEADER = bytes.fromhex("a16776657273696f6e02")


class Cbor(IntEnum):
    """The kinds of values in a header, as CBOR numbers them. By hand: libipld refuses CIDs with long digests there."""

    NUMBER = 0
    BYTES = 2
    TEXT = 3
    LIST = 4
    MAP = 5
    TAG = 6


CID_TAG = 42


@dataclass(frozen=True, slots=True)
class Block:
    """A block from an archive, not yet checked against its CID."""

    cid: Cid
    data: Bytes


def encode_header(roots: Sequence[Cid]) -> bytes:
    """The beginning of an archive. CIDs of one kind have one length: a root can be patched in later."""
    listed = b"".join(b"\xd8\x2a" + _cbor_head(Cbor.BYTES, len(raw) + 1) + b"\0" + raw for raw in map(bytes, roots))
    header = b"\xa2\x65roots" + _cbor_head(Cbor.LIST, len(roots)) + listed + b"\x67version\x01"
    return encode_varint(len(header)) + header


def _cbor_head(kind: Cbor, count: int) -> bytes:
    """The beginning of a byte string or a list; no CID and no list of roots is longer than a byte can count."""
    return bytes([kind << 5 | count]) if count < 24 else bytes([kind << 5 | 24, count])


def encode_section_head(cid: Cid, size: int) -> bytes:
    """The header of a block of `size` bytes."""
    raw = bytes(cid)
    return encode_varint(len(raw) + size) + raw


class _Intake:
    """Bytes that have arrived and are not read yet; bytes within one piece are never copied."""

    def __init__(self) -> None:
        self._pieces: deque[memoryview] = deque()
        self.size = 0
        self.taken = 0

    def add(self, data: Bytes) -> None:
        if len(data):
            self._pieces.append(memoryview(data))
            self.size += len(data)

    def take(self, count: int) -> memoryview:
        """The next `count` bytes, which must be here."""
        self.size -= count
        self.taken += count
        parts: list[memoryview] = []
        while count:
            piece = self._pieces.popleft()
            if len(piece) > count:
                self._pieces.appendleft(piece[count:])
                piece = piece[:count]
            parts.append(piece)
            count -= len(piece)
        return parts[0] if len(parts) == 1 else memoryview(b"".join(parts))

    def next_piece(self) -> memoryview:
        """The first bytes, as far as they are in one piece; they stay."""
        return self._pieces[0] if self._pieces else NOTHING


class CarReader:
    """Reads an archive that arrives in pieces of any size; holds little more than a block.

    `roots` is the archive's own claim; trust the blocks instead. After an error the reader can't be used again.
    """

    def __init__(self) -> None:
        self.roots: tuple[Cid, ...] | None = None
        self.version = 1
        self._intake = _Intake()
        self._left: int | None = None
        self._between = False
        self._blocks = self._read()

    @property
    def position(self) -> int:
        """The place in the archive where the last block ends."""
        return self._intake.taken

    def feed(self, data: Bytes) -> Iterator[Block]:
        """Take the next bytes; the blocks that they complete, as views where possible. Consume it whole."""
        self._intake.add(data)
        for block in self._blocks:
            if block is None:
                return
            yield block

    def finish(self) -> None:
        """Say that no more bytes come; `MalformedContent` if the archive was not whole."""
        if not self._between or self._intake.size or self._left:
            raise MalformedContent("the CAR ends before it is whole")

    def _read(self) -> Generator[Block | None, None, None]:
        """Every block; None where more bytes are needed."""
        length = yield from self._length(MAX_CAR_HEADER, "the header of the CAR")
        header = yield from self._take(length)
        if bytes(header) == V2_HEADER:
            self.version = 2
            yield from self._enter_payload()
            length = yield from self._length(MAX_CAR_HEADER, "the header of the CAR")
            header = yield from self._take(length)
        self.roots = _decode_header(bytes(header))
        while self._left != 0:
            self._between = True
            length = yield from self._length(MAX_CID_BYTES + MAX_BLOCK, "a block in the CAR")
            section = yield from self._take(length)
            cid, end = _read_cid(section)
            yield Block(cid, section[end:])
        # After the payload of version 2 comes an index, which a stream can't use.
        while True:
            self._between = True
            self._intake.take(self._intake.size)
            yield None

    def _enter_payload(self) -> Generator[None, None, None]:
        fixed = yield from self._take(40)
        offset, size, _index = struct.unpack_from("<QQQ", fixed, 16)
        gap = offset - (1 + len(V2_HEADER) + 40)
        if not 0 <= gap <= MAX_CAR_HEADER or not size:
            raise MalformedContent("the header of the CAR points nowhere")
        yield from self._take(gap)
        self._left = size

    def _length(self, limit: int, what: str) -> Generator[None, None, int]:
        front = self._intake.next_piece()
        if len(front) > LENGTH_BYTES:  # nearly always: no need to go byte by byte
            raw = bytes(front[:LENGTH_BYTES])
            count = next((place for place, byte in enumerate(raw, 1) if byte < 0x80), LENGTH_BYTES)
            raw = bytes((yield from self._take(count)))
        else:
            raw = b""
            while len(raw) < LENGTH_BYTES and (not raw or raw[-1] & 0x80):
                raw += bytes((yield from self._take(1)))
                self._between = False
        self._between = False
        if raw[-1] & 0x80:
            raise UnsupportedContent(f"{what} is too large")
        length, _ = decode_varint(raw)
        if length > limit:
            raise UnsupportedContent(f"{what} is too large")
        if length == 0:
            raise MalformedContent("the CAR has an empty section")
        return length

    def _take(self, count: int) -> Generator[None, None, memoryview]:
        if self._left is not None:
            if count > self._left:
                raise MalformedContent("the CAR ends before it is whole")
            self._left -= count
        while self._intake.size < count:
            yield None
        return self._intake.take(count)


def _decode_header(raw: bytes) -> tuple[Cid, ...]:
    try:
        return _read_header(raw)
    except (MalformedContent, IndexError) as error:
        raise MalformedContent("the header of the CAR is damaged") from error


def _read_header(raw: bytes) -> tuple[Cid, ...]:
    version, roots = 0, list[Cid]()
    count, offset = _read_cbor_head(raw, 0, Cbor.MAP)
    for _ in range(count):
        size, offset = _read_cbor_head(raw, offset, Cbor.TEXT)
        name, offset = raw[offset : offset + size], offset + size
        if name == b"version":
            version, offset = _read_cbor_head(raw, offset, Cbor.NUMBER)
        elif name == b"roots":
            length, offset = _read_cbor_head(raw, offset, Cbor.LIST)
            for _ in range(length):
                tag, offset = _read_cbor_head(raw, offset, Cbor.TAG)
                size, offset = _read_cbor_head(raw, offset, Cbor.BYTES)
                if (tag, raw[offset]) != (CID_TAG, 0):
                    raise MalformedContent("a root is no CID")
                roots.append(Cid.from_bytes(raw[offset + 1 : offset + size]))
                offset += size
        else:
            raise MalformedContent("there is an unknown field")
    if version != 1 or offset != len(raw):
        raise MalformedContent("the version is unknown, or bytes follow it")
    return tuple(roots)


def _read_cbor_head(raw: bytes, offset: int, kind: Cbor) -> tuple[int, int]:
    """The number at `offset`, and the offset of the bytes after it."""
    low = raw[offset] & 0x1F
    if raw[offset] >> 5 != kind or low > 25:
        raise MalformedContent("something else is due")
    if low < 24:
        return low, offset + 1
    end = offset + 1 + (low - 23)
    return int.from_bytes(raw[offset + 1 : end], "big"), end


def _read_cid(section: memoryview) -> tuple[Cid, int]:
    """The CID at the beginning of a section, and where the block begins."""
    known = COMMON.get(bytes(section[:4]))
    if known is not None and len(section) >= 36:
        return Cid(1, known, SHA2_256, bytes(section[4:36])), 36
    return read_cid(section)
