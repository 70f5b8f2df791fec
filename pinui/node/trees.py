"""The tree below a pin's root: its facts, and a copy of it from other pins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pinui.ipfs.cid import DAG_PB, IDENTITY, Cid
from pinui.ipfs.dagpb import decode_node
from pinui.ipfs.errors import MissingBlock, UnsupportedContent
from pinui.ipfs.exporter import BlockLookup, list_folder, load, read_file, walk_blocks
from pinui.ipfs.importer import NewBlock
from pinui.ipfs.ipld import CBOR, DAG_CBOR, DAG_JSON
from pinui.ipfs.multihash import Bytes, verify_block
from pinui.ipfs.unixfs import FilePiece, Folder, Shard
from pinui.node.draft import DraftCar
from pinui.node.media import OCTETS, SNIFFED, sniff

__all__ = ["TreeFacts", "copy_tree", "describe_tree"]

VALUES = {
    DAG_CBOR: "application/vnd.ipld.dag-cbor",
    DAG_JSON: "application/vnd.ipld.dag-json",
    CBOR: "application/cbor",
}


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """The facts about a pin for a listing, as far as its blocks tell them."""

    size: int
    files: int
    mime_type: str


def describe_tree(root: Cid, lookup: BlockLookup) -> TreeFacts:
    """Look at every folder and at the beginning of a file; of anything else, at the size of its blocks."""
    try:
        kinds = list(_files(root, lookup))
    except UnsupportedContent:
        size = sum(len(data) for _, data in walk_blocks(root, lookup, repeats=False))
        return TreeFacts(size, 1, VALUES.get(root.codec, OCTETS))
    is_folder = None in kinds
    beginning = b"" if is_folder else b"".join(read_file(root, lookup, 0, SNIFFED))
    block = lookup(root)
    links = decode_node(block).links if root.codec == DAG_PB else ()
    return TreeFacts(
        size=len(block) + sum(link.size or 0 for link in links),
        files=sum(kind is not None for kind in kinds),
        mime_type="directory" if is_folder else sniff(beginning),
    )


def _files(root: Cid, lookup: BlockLookup) -> Iterator[Cid | None]:
    """Every file below a root; None for a folder."""
    pending = [root]
    while pending:
        cid = pending.pop()
        piece = load(cid, lookup)
        if isinstance(piece, (Folder, Shard)):
            yield None
            pending.extend(link.cid for link in list_folder(cid, lookup))
        elif isinstance(piece, FilePiece):
            yield cid


def copy_tree(root: Cid, lookup: BlockLookup, draft: DraftCar) -> Iterator[Bytes]:
    """Add every block of a tree to a draft, verified and one at a time; `MissingBlock` if one is lost."""
    if root.hash_code == IDENTITY:
        raise MissingBlock(f"{root} holds its content itself.")  # there is nothing to keep
    for cid, data in walk_blocks(root, lookup, repeats=False):
        verify_block(cid, data)
        draft.add([NewBlock(cid, (data,), len(data), 0, 0)])
        yield data
