"""dag-pb, the block format of UnixFS: links, then data. Strict, because another order is another CID."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import MalformedContent, UnsupportedContent
from pinui.ipfs.limits import MAX_BLOCK
from pinui.ipfs.multihash import Bytes
from pinui.ipfs.protobuf import BYTES, NUMBER, bytes_field, fields, number_field

__all__ = ["Link", "PbNode", "data_field_head", "decode_node", "encode_node"]

DATA = 1
LINKS = 2
HASH = 1
NAME = 2
TSIZE = 3


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a block to another one. `size` is the total size of the linked tree, as its writer claims."""

    cid: Cid
    name: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class PbNode:
    """A decoded block; `data` is a view into it. No data and empty data are two different blocks."""

    links: tuple[Link, ...]
    data: memoryview | None


def encode_node(links: Iterable[Link], data: bytes | None) -> bytes:
    """The block for these links, in the order given, and this data."""
    encoded = encode_links(links)
    return encoded if data is None else encoded + data_field_head(len(data)) + data


def encode_links(links: Iterable[Link]) -> bytes:
    """The part of a block that holds its links."""
    return b"".join(_encode_link(link) for link in links)


def data_field_head(length: int) -> bytes:
    """The bytes before the data of a block, for writers that don't want to copy the data."""
    return bytes_field(DATA, length)


def _encode_link(link: Link) -> bytes:
    raw = bytes(link.cid)
    body = bytes_field(HASH, len(raw)) + raw
    if link.name is not None:
        name = link.name.encode()
        body += bytes_field(NAME, len(name)) + name
    if link.size is not None:
        body += number_field(TSIZE, link.size)
    return bytes_field(LINKS, len(body)) + body


def decode_node(block: Bytes) -> PbNode:
    """Read a block; bytes that no writer of dag-pb produces are `MalformedContent`."""
    if len(block) > MAX_BLOCK:
        raise UnsupportedContent("a block is larger than 2 MiB")
    links: list[Link] = []
    data: memoryview | None = None
    links_ended = False
    for number, wire_type, value in fields(memoryview(block)):
        if wire_type != BYTES or not isinstance(value, memoryview) or number not in (DATA, LINKS):
            raise MalformedContent("a dag-pb block has a field that dag-pb does not know")
        if number == LINKS:
            # Old writers put the data first; no writer puts links on both sides of it.
            if links_ended:
                raise MalformedContent("a dag-pb block has links on both sides of its data")
            links.append(_decode_link(value))
        else:
            if data is not None:
                raise MalformedContent("a dag-pb block has its data twice")
            data = value
            links_ended = bool(links)
    return PbNode(tuple(links), data)


def _decode_link(raw: memoryview) -> Link:
    cid: Cid | None = None
    name: str | None = None
    size: int | None = None
    last = 0
    for number, wire_type, value in fields(raw):
        if number <= last:
            raise MalformedContent("the fields of a dag-pb link are out of order")
        last = number
        if number == HASH and wire_type == BYTES and isinstance(value, memoryview):
            cid = Cid.from_bytes(bytes(value))
        elif number == NAME and wire_type == BYTES and isinstance(value, memoryview):
            try:
                name = str(value, "utf-8")
            except UnicodeDecodeError as error:
                raise MalformedContent("the name of a dag-pb link is not UTF-8") from error
        elif number == TSIZE and wire_type == NUMBER and isinstance(value, int):
            size = value
        else:
            raise MalformedContent("a dag-pb link has a field that dag-pb does not know")
    if cid is None:
        raise MalformedContent("a dag-pb link has no CID")
    return Link(cid, name, size)
