"""Blocks made again from files that an earlier attempt left: they need not be read a second time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pinui.ipfs.cid import RAW, Cid
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.importer import KUBO_V0, Chunk, Chunker, TreeBuilder, make_leaves
from pinui.ipfs.limits import MAX_BLOCK
from pinui.ipfs.multihash import verify_block
from pinui.ipfs.plain_bytes import likely_profiles

__all__ = ["KeptBlocks"]

READ_SIZE = 1024 * 1024
# A node is about 9 kB for 45 MB of a file. Those of larger files are read again.
MOST_NODES = 2000


class KeptBlocks:
    """Finds blocks in kept files. Each is checked, so a changed or incomplete file does no harm. Touches the disk."""

    def __init__(self) -> None:
        self._nodes: dict[bytes, bytes] = {}

    def of_file(self, cid: Cid, path: Path) -> bytes | None:
        """The first block of a file; the nodes below it are remembered until the next file."""
        self._nodes = {}
        with suppress(OSError), path.open("rb") as file:
            if path.stat().st_size <= MAX_BLOCK and (block := _leaf(cid, file.read())) is not None:
                return block
            file.seek(0)
            if cid.codec != RAW:
                self._nodes = _nodes(cid, file)
        return self._nodes.get(cid.multihash)

    def of_part(self, cid: Cid, data: bytes | None) -> bytes | None:
        """A further block of that file: a node, or the one that holds these bytes of it."""
        node = self._nodes.get(cid.multihash)
        return _leaf(cid, data) if node is None and data is not None else node


def _leaf(cid: Cid, data: bytes) -> bytes | None:
    """The block of these bytes, if it has this CID."""
    block = data
    if cid.codec != RAW:
        [leaf] = make_leaves(KUBO_V0, [Chunk((memoryview(data),), len(data))])
        block = b"".join(leaf.parts)
    try:
        verify_block(cid, block)
    except ContentAddressError:
        return None
    return block


def _nodes(cid: Cid, file: BinaryIO) -> dict[bytes, bytes]:
    """The blocks above the leaves, as the usual importer makes them; of an incomplete file, those at its beginning."""
    profile = likely_profiles(cid)[0]
    tree, nodes = TreeBuilder(profile), dict[bytes, bytes]()
    for chunk in _chunks(file, Chunker(profile.chunk_size)):
        [leaf] = make_leaves(profile, [chunk])
        nodes |= {node.cid.multihash: bytes(node.parts[0]) for node in tree.add(leaf)}
        if len(nodes) >= MOST_NODES:
            return nodes
    return nodes | {node.cid.multihash: bytes(node.parts[0]) for node in tree.finish()[0]}


def _chunks(file: BinaryIO, chunker: Chunker) -> Iterator[Chunk]:
    while piece := file.read(READ_SIZE):
        yield from chunker.feed(piece)
    yield from chunker.finish()
