"""CAR files to import: every block verified before anything is sent, and one archive for each root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pinui.ipfs.car import CarReader, encode_header, encode_section_head
from pinui.ipfs.cid import IDENTITY, Cid
from pinui.ipfs.errors import ContentAddressError, MalformedContent, MissingBlock
from pinui.ipfs.exporter import BlockLookup, load, walk_blocks
from pinui.ipfs.multihash import verify_block
from pinui.ipfs.unixfs import Folder, Shard
from pinui.sdk.errors import ContentError
from pinui.sdk.writing.sources import PIECE

__all__ = ["Archive", "open_archives"]


@dataclass(frozen=True, slots=True)
class Archive:
    """A CAR with one root."""

    root: Cid
    path: Path
    is_folder: bool


def open_archives(path: Path, scratch: Path) -> list[Archive]:
    """One archive for each root of a CAR, with the blocks below that root alone.

    A CAR that is such an archive is taken as it is. Others have to be written again, in the folder `scratch`: services
    take one root, and version 1. `ContentError` says why it can't be imported. Touches the disk.
    """
    try:
        return _open(path, scratch)
    except ContentAddressError as error:
        raise ContentError(f"{path} can't be imported: {error}") from error


def _open(path: Path, scratch: Path) -> list[Archive]:
    reader = CarReader()
    places: dict[bytes, tuple[int, int]] = {}
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            for block in reader.feed(piece):
                verify_block(block.cid, block.data)
                if block.cid.hash_code != IDENTITY:
                    size = len(block.data)
                    places.setdefault(block.cid.digest, (reader.position - size, size))
        reader.finish()
        if not reader.roots:
            raise MalformedContent("it names no root")

        def lookup(cid: Cid) -> bytes:
            if cid.digest not in places:
                raise MissingBlock(f"block {cid} is missing")
            offset, length = places[cid.digest]
            file.seek(offset)
            return file.read(length)

        root, *others = roots = tuple(dict.fromkeys(reader.roots))
        is_one = not others and reader.version == 1
        if is_one and sum(1 for _ in walk_blocks(root, lookup, repeats=False)) == len(places):
            return [Archive(root, path, _is_folder(root, lookup))]
        archives: list[Archive] = []
        for number, root in enumerate(roots):
            target = scratch / f"{number}.car"
            with target.open("wb") as written:
                written.write(encode_header([root]))
                for cid, data in walk_blocks(root, lookup, repeats=False):
                    written.write(encode_section_head(cid, len(data)))
                    written.write(data)
            archives.append(Archive(root, target, _is_folder(root, lookup)))
    return archives


def _is_folder(root: Cid, lookup: BlockLookup) -> bool:
    try:
        return isinstance(load(root, lookup), (Folder, Shard))
    except ContentAddressError:
        return False
