"""From a stream of bytes to the blocks of a UnixFS file, with the CIDs that Kubo gives the same bytes.

`Importer` does it all on one thread. Its three parts can be used apart, so that a caller may hash on many
threads: `Chunker` cuts the stream, `make_leaves` hashes a batch of chunks (the slow part: it releases the GIL
and may run anywhere), `TreeBuilder` takes the leaves in order and makes the nodes above them. Nothing here
copies a chunk: blocks are pieces that point into the caller's buffers, which must not be changed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pinui.ipfs.cid import Cid
from pinui.ipfs.dagpb import Link, data_field_head, encode_node
from pinui.ipfs.multihash import Bytes, dag_pb_cid, raw_cid
from pinui.ipfs.unixfs import file_with_children, leaf_head, leaf_tail

__all__ = [
    "KUBO_V0",
    "KUBO_V1",
    "PROFILES",
    "UNIXFS_2025",
    "Chunk",
    "Chunker",
    "CidPredictor",
    "ImportProfile",
    "Importer",
    "NewBlock",
    "TreeBuilder",
    "make_leaves",
]

KIB = 1024


@dataclass(frozen=True, slots=True)
class ImportProfile:
    """The choices that decide which CID a file gets."""

    name: str
    cid_version: int
    chunk_size: int
    raw_leaves: bool
    links: int
    measures_folders: bool = False
    """A folder is spread over many blocks if its one would be too large; elsewhere names and CIDs alone count."""


KUBO_V0 = ImportProfile("unixfs-v0-2015", 0, 256 * KIB, raw_leaves=False, links=174)
KUBO_V1 = ImportProfile("unixfs-v0-2015, version 1", 1, 256 * KIB, raw_leaves=True, links=174)
UNIXFS_2025 = ImportProfile("unixfs-v1-2025", 1, 1024 * KIB, raw_leaves=True, links=1024, measures_folders=True)
PROFILES = (KUBO_V0, KUBO_V1, UNIXFS_2025)


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A block that was made: its bytes in pieces, ready for `os.writev`."""

    cid: Cid
    parts: tuple[Bytes, ...]
    size: int
    """Bytes in this block."""
    content_size: int
    """Bytes of the file under it."""
    tree_size: int
    """Bytes of it and all blocks under it, as a link to it states."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One leaf's worth of the stream, in the pieces it arrived in."""

    parts: tuple[memoryview, ...]
    size: int


class Chunker:
    """Cuts a stream into chunks of one size; only the last may be shorter."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._pending: list[memoryview] = []
        self._missing = size
        self._any = False

    def feed(self, data: Bytes) -> list[Chunk]:
        """Take the next bytes; the chunks that they complete."""
        view = memoryview(data)
        chunks: list[Chunk] = []
        offset, end = 0, len(view)
        while end - offset >= self._missing:
            piece = view[offset : offset + self._missing]
            offset += self._missing
            chunks.append(Chunk((*self._pending, piece), self._size))
            self._pending.clear()
            self._missing = self._size
        if offset < end:
            self._pending.append(view[offset:])
            self._missing -= end - offset
        self._any = self._any or bool(chunks)
        return chunks

    def finish(self) -> list[Chunk]:
        """The rest; an empty stream is one empty chunk."""
        if not self._pending and self._any:
            return []
        return [Chunk(tuple(self._pending), self._size - self._missing)]


@lru_cache(maxsize=64)
def _wrapping(size: int) -> tuple[bytes, bytes]:
    head, tail = leaf_head(size), leaf_tail(size)
    return data_field_head(len(head) + size + len(tail)) + head, tail


def make_leaves(profile: ImportProfile, chunks: Iterable[Chunk]) -> list[NewBlock]:
    """Hash chunks into leaves. Pure: batches of about 16 chunks may go to different threads."""
    leaves: list[NewBlock] = []
    for chunk in chunks:
        if profile.raw_leaves:
            leaves.append(NewBlock(raw_cid(chunk.parts), chunk.parts, chunk.size, chunk.size, chunk.size))
            continue
        head, tail = _wrapping(chunk.size)
        parts = (head, *chunk.parts, tail)
        size = len(head) + chunk.size + len(tail)
        leaves.append(NewBlock(dag_pb_cid(parts, profile.cid_version), parts, size, chunk.size, size))
    return leaves


@dataclass(frozen=True, slots=True)
class _Child:
    """The facts about a block that its parent needs, without its bytes, which could be a whole chunk."""

    cid: Cid
    content_size: int
    tree_size: int


class TreeBuilder:
    """The balanced tree: all leaves at the same depth, each node full before the next begins."""

    def __init__(self, profile: ImportProfile) -> None:
        self._profile = profile
        self._levels: list[list[_Child]] = [[]]

    def add(self, leaf: NewBlock) -> list[NewBlock]:
        """Take the next leaf; the nodes that it completes."""
        made: list[NewBlock] = []
        block, level = leaf, 0
        while True:
            row = self._row(level)
            row.append(_Child(block.cid, block.content_size, block.tree_size))
            if len(row) < self._profile.links:
                return made
            block = self._parent(row)
            row.clear()
            made.append(block)
            level += 1

    def finish(self) -> tuple[list[NewBlock], Cid, int]:
        """The nodes that were not full, the root's CID and the size of the whole tree."""
        made: list[NewBlock] = []
        level = 0
        # A row with one block is the root only if nothing is above it: 174² + 1 leaves end in a chain of
        # nodes with one link each, not in a leaf beside a node.
        while level < len(self._levels) - 1 or len(self._levels[level]) > 1:
            row = self._levels[level]
            if row:
                block = self._parent(row)
                made.append(block)
                self._row(level + 1).append(_Child(block.cid, block.content_size, block.tree_size))
            level += 1
        root = self._levels[level][0]
        return made, root.cid, root.tree_size

    def _row(self, level: int) -> list[_Child]:
        if level == len(self._levels):
            self._levels.append([])
        return self._levels[level]

    def _parent(self, children: list[_Child]) -> NewBlock:
        data = file_with_children([child.content_size for child in children])
        block = encode_node((Link(child.cid, "", child.tree_size) for child in children), data)
        content = sum(child.content_size for child in children)
        total = len(block) + sum(child.tree_size for child in children)
        return NewBlock(dag_pb_cid((block,), self._profile.cid_version), (block,), len(block), content, total)


class Importer:
    """One file, on one thread: feed bytes, take blocks, ask for the root at the end."""

    def __init__(self, profile: ImportProfile) -> None:
        self.profile = profile
        self.size = 0
        """Bytes fed so far."""
        self._chunker = Chunker(profile.chunk_size)
        self._tree: TreeBuilder | None = None  # a small file has none: its one leaf is the root

    def feed(self, data: Bytes) -> list[NewBlock]:
        """Take the next bytes; the blocks that are ready, children before parents."""
        self.size += len(data)
        chunks = self._chunker.feed(data)
        return self._blocks(chunks) if chunks else []

    def finish(self) -> tuple[list[NewBlock], Cid, int]:
        """The last blocks, the root's CID and the size of the whole tree."""
        chunks = self._chunker.finish()
        if self._tree is None:
            leaf = make_leaves(self.profile, chunks)[0]
            return [leaf], leaf.cid, leaf.tree_size
        blocks = self._blocks(chunks)
        rest, root, total = self._tree.finish()
        return blocks + rest, root, total

    def _blocks(self, chunks: list[Chunk]) -> list[NewBlock]:
        tree = self._tree = self._tree or TreeBuilder(self.profile)
        blocks: list[NewBlock] = []
        for leaf in make_leaves(self.profile, chunks):
            blocks.append(leaf)
            blocks.extend(tree.add(leaf))
        return blocks


class CidPredictor:
    """The CID of a stream of bytes, which are not kept: feed them in order, from one thread at a time."""

    def __init__(self, profile: ImportProfile = KUBO_V0) -> None:
        self._importer = Importer(profile)

    @property
    def size(self) -> int:
        """Bytes fed so far."""
        return self._importer.size

    def feed(self, data: Bytes) -> None:
        """Take the next bytes. The last ones may be kept until the next call: don't change the buffer."""
        self._importer.feed(data)

    def finish(self) -> Cid:
        """The CID of everything that was fed; the predictor is used up."""
        return self._importer.finish()[1]
