"""UnixFS: the meaning of a block as a file, a folder or a symbolic link."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from pinui.ipfs.cid import DAG_PB, RAW, Cid
from pinui.ipfs.dagpb import Link, PbNode, decode_node
from pinui.ipfs.errors import MalformedContent, UnsupportedContent
from pinui.ipfs.multihash import Bytes
from pinui.ipfs.protobuf import bytes_field, fields, number_field
from pinui.ipfs.varint import decode_varint

__all__ = [
    "EMPTY_FOLDER",
    "JSON",
    "FilePiece",
    "Folder",
    "Piece",
    "Shard",
    "Symlink",
    "file_with_children",
    "leaf_head",
    "leaf_tail",
    "read_block",
    "shard_data",
]


class Field(IntEnum):
    """The fields of a UnixFS message."""

    TYPE = 1
    DATA = 2
    FILE_SIZE = 3
    BLOCK_SIZES = 4
    HASH_TYPE = 5
    FANOUT = 6


class Kind(IntEnum):
    """The kinds of UnixFS messages."""

    RAW = 0
    FOLDER = 1
    FILE = 2
    SYMLINK = 4
    SHARD = 5


MURMUR3_X64_64 = 0x22
# The JSON codec's blocks are served as they are, like raw ones.
JSON = 0x0200


@dataclass(frozen=True, slots=True)
class FilePiece:
    """A file or a part of one: its own bytes, then those of its children, each with its size."""

    data: memoryview
    children: tuple[tuple[Cid, int], ...]
    size: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder in one block."""

    entries: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a folder spread over many blocks (a HAMT); names begin with their slot's number in hex."""

    links: tuple[Link, ...]
    fanout: int

    @property
    def prefix(self) -> int:
        """The number of characters of a link's name that are the slot's number."""
        return len(f"{self.fanout - 1:X}")


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symbolic link; its target is unchecked text."""

    target: str


Piece = FilePiece | Folder | Shard | Symlink

EMPTY_FOLDER = number_field(Field.TYPE, Kind.FOLDER)


def shard_data(slots: Iterable[int]) -> bytes:
    """The UnixFS message of one block of a sharded folder with 256 slots, of which these are taken."""
    taken = sum(1 << slot for slot in slots)
    field = taken.to_bytes((taken.bit_length() + 7) // 8, "big")
    return (
        number_field(Field.TYPE, Kind.SHARD)
        + bytes_field(Field.DATA, len(field))
        + field
        + number_field(Field.HASH_TYPE, MURMUR3_X64_64)
        + number_field(Field.FANOUT, 256)
    )


def leaf_head(size: int) -> bytes:
    """The bytes before a leaf's data in its UnixFS message."""
    head = number_field(Field.TYPE, Kind.FILE)
    return head + bytes_field(Field.DATA, size) if size else head


def leaf_tail(size: int) -> bytes:
    """The bytes after a leaf's data in its UnixFS message."""
    return number_field(Field.FILE_SIZE, size)


def file_with_children(sizes: list[int]) -> bytes:
    """The UnixFS message of a node that only joins its children."""
    return (
        number_field(Field.TYPE, Kind.FILE)
        + number_field(Field.FILE_SIZE, sum(sizes))
        + b"".join(number_field(Field.BLOCK_SIZES, size) for size in sizes)
    )


def read_block(cid: Cid, block: Bytes) -> Piece:
    """The meaning of a verified block; codecs that hold no files are `UnsupportedContent`."""
    if cid.codec in (RAW, JSON):
        return FilePiece(memoryview(block), (), len(block))
    if cid.codec != DAG_PB:
        raise UnsupportedContent(f"{cid} is neither a file nor a folder (codec 0x{cid.codec:x})")
    node = decode_node(block)
    if node.data is None:
        raise UnsupportedContent(f"{cid} is dag-pb, but neither a file nor a folder")
    return _read_message(node, node.data)


def _read_message(node: PbNode, message: memoryview) -> Piece:
    kind = fanout = hash_type = size = None
    data = memoryview(b"")
    sizes: list[int] = []
    for number, wire_type, value in fields(message):
        match number, wire_type, value:
            case (Field.TYPE, 0, int()):
                kind = value
            case (Field.DATA, 2, memoryview()):
                data = value
            case (Field.FILE_SIZE, 0, int()):
                size = value
            case (Field.BLOCK_SIZES, 0, int()):
                sizes.append(value)
            case (Field.BLOCK_SIZES, 2, memoryview()):
                sizes.extend(_packed(value))
            case (Field.HASH_TYPE, 0, int()):
                hash_type = value
            case (Field.FANOUT, 0, int()):
                fanout = value
            case _:
                if number <= Field.FANOUT:
                    raise MalformedContent("a UnixFS field has the wrong type")
                # Mode, time and additions of later versions don't change the content.
    match kind:
        case Kind.FILE | Kind.RAW:
            return _file(node, data, sizes, size)
        case Kind.FOLDER:
            return Folder(node.links)
        case Kind.SYMLINK:
            return _symlink(data)
        case Kind.SHARD:
            return _shard(node, hash_type, fanout)
        case _:
            raise UnsupportedContent("a UnixFS block is of a kind that is not handled here")


def _packed(value: memoryview) -> list[int]:
    sizes: list[int] = []
    offset = 0
    while offset < len(value):
        size, offset = decode_varint(value, offset)
        sizes.append(size)
    return sizes


def _file(node: PbNode, data: memoryview, sizes: list[int], size: int | None) -> FilePiece:
    if len(sizes) != len(node.links):
        raise MalformedContent("a file's block does not give one size for each of its links")
    total = len(data) + sum(sizes)
    if size is not None and size != total:
        raise MalformedContent("a file's block gives a size that its parts do not have")
    children = tuple((link.cid, part) for link, part in zip(node.links, sizes, strict=True))
    return FilePiece(data, children, total)


def _symlink(data: memoryview) -> Symlink:
    try:
        return Symlink(str(data, "utf-8"))
    except UnicodeDecodeError as error:
        raise MalformedContent("the target of a symbolic link is not UTF-8") from error


def _shard(node: PbNode, hash_type: int | None, fanout: int | None) -> Shard:
    if hash_type != MURMUR3_X64_64:
        raise UnsupportedContent("a sharded folder uses a hash that is not handled here")
    if fanout is None or not 8 <= fanout <= 1024 or fanout & (fanout - 1):
        raise MalformedContent("a sharded folder has an impossible fanout")
    shard = Shard(node.links, fanout)
    if any(len(link.name or "") < shard.prefix for link in node.links):
        raise MalformedContent("a link of a sharded folder has no slot number")
    return shard
