"""From blocks to files and folders: read, list, resolve a path, walk a tree. A function looks blocks up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from pinui.ipfs.cid import DAG_PB, IDENTITY, Cid
from pinui.ipfs.dagpb import Link, decode_node
from pinui.ipfs.errors import MalformedContent, UnsupportedContent
from pinui.ipfs.ipld import MISSING, decode_value, has_values, links_in, member
from pinui.ipfs.limits import MAX_FILE_DEPTH, MAX_FOLDER_DEPTH, MAX_PENDING
from pinui.ipfs.multihash import Bytes, verify_block
from pinui.ipfs.shards import find_entry, split_shard
from pinui.ipfs.unixfs import FilePiece, Folder, Piece, Shard, read_block

__all__ = [
    "BlockLookup",
    "Scope",
    "links_of",
    "list_folder",
    "load",
    "read_file",
    "resolve",
    "resolve_blocks",
    "walk_blocks",
    "walk_range",
]

BlockLookup = Callable[[Cid], Bytes]
"""Gives the bytes of a block, which it has checked or trusts; raises `MissingBlock`."""

Scope = Literal["block", "entity", "all"]
"""The part of a tree: its root block, one file or one folder's listing, everything."""


def load(cid: Cid, lookup: BlockLookup) -> Piece:
    """The node of `cid`: a file, a folder, a shard or a symbolic link."""
    return read_block(cid, _bytes_of(cid, lookup))


def _bytes_of(cid: Cid, lookup: BlockLookup) -> Bytes:
    if cid.hash_code == IDENTITY:
        verify_block(cid, cid.digest)
        return cid.digest
    return lookup(cid)


def read_file(cid: Cid, lookup: BlockLookup, start: int = 0, stop: int | None = None) -> Iterator[memoryview]:
    """The bytes of a file from `start` up to `stop`; blocks outside the range are not asked for.

    Between two pieces none is held here: a reader may take long.
    """
    stop = stop if stop is not None else 1 << 63
    pending: list[tuple[Cid, int | None, int, int]] = [(cid, None, 0, 0)]
    while pending:
        part, size, position, depth = pending.pop()
        piece = load(part, lookup)
        if not isinstance(piece, FilePiece):
            raise UnsupportedContent(f"{part} is not a file")
        if size is not None and piece.size != size:
            raise MalformedContent(f"part {part} of a file has another size than its parent says")
        if depth > MAX_FILE_DEPTH:
            raise UnsupportedContent("a file is nested too deeply")
        own = [piece.data[max(0, start - position) : max(0, stop - position)]]
        position += len(piece.data)
        wanted: list[tuple[Cid, int | None, int, int]] = []
        for child, child_size in piece.children:
            if child_size and position < stop and position + child_size > start:
                wanted.append((child, child_size, position, depth + 1))
            position += child_size
        pending.extend(reversed(wanted))
        del piece
        if len(own[0]):
            yield own.pop()


def list_folder(cid: Cid, lookup: BlockLookup) -> Iterator[Link]:
    """The entries of a folder, in the order of its blocks, with the names they have in it."""
    pending: list[tuple[Cid, int]] = [(cid, 0)]
    while pending:
        part, depth = pending.pop()
        piece = load(part, lookup)
        if isinstance(piece, Folder) and not depth:
            yield from piece.entries
        elif isinstance(piece, Shard):
            # A 64-bit hash has no more levels: a deeper chain is an attack.
            if depth > MAX_FILE_DEPTH or len(pending) > MAX_PENDING:
                raise UnsupportedContent("a sharded folder is nested too deeply")
            further: list[tuple[Cid, int]] = []
            for name, link in split_shard(piece):
                if name is None:
                    further.append((link.cid, depth + 1))
                else:
                    yield Link(link.cid, name, link.size)
            pending.extend(reversed(further))
        else:
            raise UnsupportedContent(f"{part} is not a folder")


def resolve(cid: Cid, path: Sequence[str], lookup: BlockLookup) -> Cid | None:
    """The CID of the entry at `path` below a folder, or None."""
    *_, last = resolve_blocks(cid, path, lookup)
    return last


def resolve_blocks(cid: Cid, path: Sequence[str], lookup: BlockLookup) -> Iterator[Cid | None]:
    """Each block on the way to `path`, shards too, and at the end the CID that lies there, or None."""
    here = cid
    inner: Any = MISSING
    for name in path:
        if inner is MISSING and has_values(here):
            yield here
            inner = decode_value(here, _bytes_of(here, lookup))
        if inner is not MISSING:
            inner = member(inner, name)
            if inner is MISSING:
                yield None
                return
            if isinstance(inner, Cid):
                here, inner = inner, MISSING
            continue
        level = 0
        while True:
            yield here
            found = find_entry(load(here, lookup), name, level)
            if found is None:
                yield None
                return
            is_entry, link = found
            here = link.cid
            if is_entry:
                break
            level += 1
    if inner is not MISSING:
        raise UnsupportedContent(f"the path ends inside of {here}, at a value that is no link")
    yield here


def walk_blocks(
    cid: Cid, lookup: BlockLookup, scope: Scope = "all", *, repeats: bool = True
) -> Iterator[tuple[Cid, Bytes]]:
    """Every block of a tree, parents first, each as often as it is linked, or once. Identity CIDs need no block.

    As with `read_file`, none is held between two.
    """
    seen: set[Cid] = set()
    pending: list[tuple[Cid, int]] = [(cid, 0)]
    while pending:
        part, depth = pending.pop()
        if part in seen:
            continue
        if not repeats:
            seen.add(part)
        if depth > MAX_FILE_DEPTH + MAX_FOLDER_DEPTH or len(pending) > MAX_PENDING:
            raise UnsupportedContent("a tree is nested too deeply")
        data = [_bytes_of(part, lookup)]
        pending.extend((child, depth + 1) for child in reversed(links_of(part, data[0], scope)))
        if part.hash_code != IDENTITY:
            yield part, data.pop()


def walk_range(cid: Cid, lookup: BlockLookup, start: int, stop: int) -> Iterator[tuple[Cid, Bytes]]:
    """The blocks that one range of a file needs, in the order of `walk_blocks`."""
    read: list[tuple[Cid, Bytes]] = []

    def note(part: Cid) -> Bytes:
        data = lookup(part)
        read.append((part, data))
        return data

    for _ in map(len, read_file(cid, note, start, stop)):
        while read:
            yield read.pop(0)
    yield from read


def links_of(cid: Cid, data: Bytes, scope: Scope = "all") -> list[Cid]:
    """The blocks that a block leads to."""
    if scope == "all" and has_values(cid):
        return list(links_in(decode_value(cid, data)))
    if scope == "block" or cid.codec != DAG_PB:
        return []
    if scope == "all":
        return [link.cid for link in decode_node(data).links]
    match read_block(cid, data):
        case FilePiece(children=children):
            return [child for child, _ in children]
        case Shard() as shard:
            return [link.cid for name, link in split_shard(shard) if name is None]
        case _:
            return []
