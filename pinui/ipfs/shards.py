"""Names in folders, also in sharded ones (HAMTs): which slot a name has at each level, what a shard's links mean."""

from __future__ import annotations

from pinui.ipfs.dagpb import Link
from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.murmur3 import murmur3_x64_64
from pinui.ipfs.unixfs import Folder, Piece, Shard

__all__ = ["find_entry", "split_shard"]

HASH_BITS = 64


def split_shard(shard: Shard) -> list[tuple[str | None, Link]]:
    """Each link with the name of its entry, or None where it leads to a further shard."""
    return [((link.name or "")[shard.prefix :] or None, link) for link in shard.links]


def find_entry(piece: Piece, name: str, level: int) -> tuple[bool, Link] | None:
    """Where `name` leads from a folder, or a shard at this level: (whether it is the entry itself, link), or None."""
    if isinstance(piece, Folder):
        return next(((True, link) for link in piece.entries if link.name == name), None)
    return _find_in_shard(piece, name, level) if isinstance(piece, Shard) else None


def _find_in_shard(shard: Shard, name: str, level: int) -> tuple[bool, Link] | None:
    width = shard.fanout.bit_length() - 1
    shift = HASH_BITS - width * (level + 1)
    if shift < 0:
        raise MalformedContent("a sharded folder is nested too deeply")
    slot = int.from_bytes(murmur3_x64_64(name.encode()), "big") >> shift & (shard.fanout - 1)
    prefix = f"{slot:0{shard.prefix}X}"
    for link in shard.links:
        if link.name == prefix + name:
            return True, link
        if link.name == prefix:
            return False, link
    return None
