"""An index that is lost or damaged, made anew: the CARs of the pins say everything but their names."""

from __future__ import annotations

import logging
import sqlite3
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pinui.ipfs.car import CarReader, encode_header, encode_section_head
from pinui.ipfs.cid import DAG_PB, SHA2_256, Cid
from pinui.ipfs.dagpb import decode_node
from pinui.ipfs.errors import ContentAddressError, MalformedContent, MissingBlock
from pinui.ipfs.exporter import BlockLookup, list_folder, load, read_file
from pinui.ipfs.multihash import verify_block
from pinui.ipfs.unixfs import FilePiece, Folder, Shard
from pinui.node.index import Index, Pin
from pinui.node.media import SNIFFED, sniff

__all__ = ["open_index"]

PIECE = 1024 * 1024
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
log = logging.getLogger("pinui.node")


def open_index(path: Path, pins: Path, *, suspect: bool) -> Index:
    """The index at `path`; if it is new or damaged, with a row for each CAR in `pins`. One process at a time.

    SQLite notices by itself what is no database or has been cut short; `suspect` has it look at everything.
    """

    def fill(index: Index, connection: sqlite3.Connection) -> None:
        _fill(index, connection, pins)

    try:
        index = Index(path, fill)
        if not suspect or index.is_sound():
            return index
        index.close()
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) not in DAMAGE:
            raise
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    path.rename(aside)
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
    log.warning("the index was damaged and is made anew from the pins; their names are lost. The old one is %s", aside)
    return Index(path, fill)


def _fill(index: Index, connection: sqlite3.Connection, pins: Path) -> None:
    cars = sorted(pins.glob("*.car"), key=lambda path: path.stat().st_mtime_ns)
    for path in cars:
        try:
            archive = _Archive.read(path)
            pin = _describe(archive, path)
        except ContentAddressError as error:
            # Not deleted, which is what happens to CARs without a row: perhaps its owner can still use a part.
            path.rename(pins.parent / f"{path.name}.damaged")
            log.warning("%s is damaged and was put aside: %s", path.name, error)
            continue
        if index.pinned(pin.cid, connection) is None:
            index.insert(connection, pin, archive.places)


def _describe(archive: _Archive, path: Path) -> Pin:
    with path.open("rb") as file:

        def lookup(cid: Cid) -> bytes:
            place = archive.places.get(cid.digest)
            if place is None:
                raise MissingBlock(f"block {cid} is missing")
            file.seek(place[0])
            return file.read(place[1])

        kinds = list(_files(archive.root, lookup))
        beginning = b"" if None in kinds else b"".join(read_file(archive.root, lookup, 0, SNIFFED))
        root = lookup(archive.root)
    links = decode_node(root).links if archive.root.codec == DAG_PB else ()
    return Pin(
        id=str(uuid.uuid4()),
        cid=str(archive.root),
        size=len(root) + sum(link.size or 0 for link in links),
        files=sum(kind is not None for kind in kinds),
        name=None,
        keyvalues=None,
        mime_type="directory" if None in kinds else sniff(beginning),
        pinned_at=path.stat().st_mtime_ns // 1_000_000,
        unpinned_at=None,
        car=path.name,
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


@dataclass(frozen=True, slots=True)
class _Archive:
    """A CAR whose every block is what its CID says: its root, and where each block lies."""

    root: Cid
    places: dict[bytes, tuple[int, int]]

    @classmethod
    def read(cls, path: Path) -> _Archive:
        reader = CarReader()
        places: dict[bytes, tuple[int, int]] = {}
        end = 0
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                for block in reader.feed(piece):
                    verify_block(block.cid, block.data)
                    end = end or len(encode_header(reader.roots or ()))
                    start = end + len(encode_section_head(block.cid, len(block.data)))
                    end = start + len(block.data)
                    if block.cid.hash_code == SHA2_256:
                        places.setdefault(block.cid.digest, (start, len(block.data)))
        reader.finish()
        if reader.roots is None or len(reader.roots) != 1 or reader.roots[0].digest not in places:
            raise MalformedContent("it does not hold the one root that its header names")
        return cls(reader.roots[0], places)
