"""Names in folders and sharded folders (HAMTs): the slot of a name at each level, the meaning of a shard's links."""

from __future__ import annotations

from dataclasses import dataclass

from pinui.ipfs.dagpb import Link
from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.murmur3 import murmur3_x64_64
from pinui.ipfs.unixfs import Folder, Piece, Shard

__all__ = ["Place", "find_entry", "hash_of", "slot_of", "split_shard"]

HASH_BITS = 64


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a sharded folder: the first bits of the hashes of all names there.

    A shard that is linked from two places is right in one of them at most: a few blocks can't unfold into millions.
    """

    bits: int = 0
    value: int = 0

    def below(self, shard: Shard, link: Link) -> Place:
        """The place that a link of the shard at this place leads to."""
        bits = self.bits + shard.fanout.bit_length() - 1
        prefix = (link.name or "")[: shard.prefix]
        try:
            slot = int(prefix, 16)
        except ValueError as error:
            raise MalformedContent("a link of a sharded folder has no slot number") from error
        # One spelling alone, which is the one that a search for a name looks for.
        if bits > HASH_BITS or not 0 <= slot < shard.fanout or prefix != f"{slot:0{shard.prefix}X}":
            raise MalformedContent("a sharded folder is damaged")
        return Place(bits, self.value * shard.fanout + slot)

    def is_home_of(self, name: str) -> bool:
        """Whether an entry of this name belongs here."""
        return hash_of(name) >> (HASH_BITS - self.bits) == self.value


def hash_of(name: str) -> int:
    """The 64 bits that decide where a name goes."""
    return int.from_bytes(murmur3_x64_64(name.encode()), "big")


def slot_of(digest: int, level: int, width: int = 8) -> int:
    """The slot at a level, for shards of `2 ** width` slots."""
    shift = HASH_BITS - width * (level + 1)
    if shift < 0:
        raise MalformedContent("a sharded folder is nested too deeply")
    return digest >> shift & ((1 << width) - 1)


def split_shard(shard: Shard) -> list[tuple[str | None, Link]]:
    """Each link with the name of its entry, or None where it leads to a further shard."""
    return [((link.name or "")[shard.prefix :] or None, link) for link in shard.links]


def find_entry(piece: Piece, name: str, level: int) -> tuple[bool, Link] | None:
    """The link for `name` in a folder, or in a shard at this level: (whether it is the entry itself, link), or None."""
    if isinstance(piece, Folder):
        return next(((True, link) for link in piece.entries if link.name == name), None)
    return _find_in_shard(piece, name, level) if isinstance(piece, Shard) else None


def _find_in_shard(shard: Shard, name: str, level: int) -> tuple[bool, Link] | None:
    slot = slot_of(hash_of(name), level, shard.fanout.bit_length() - 1)
    prefix = f"{slot:0{shard.prefix}X}"
    for link in shard.links:
        if link.name == prefix + name:
            return True, link
        if link.name == prefix:
            return False, link
    return None
