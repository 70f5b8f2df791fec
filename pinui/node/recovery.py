"""Rebuilding a lost or damaged index: the CARs of the pins hold everything but the names."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from pinui.ipfs.car import CarReader
from pinui.ipfs.cid import IDENTITY, Cid
from pinui.ipfs.errors import ContentAddressError, MalformedContent, MissingBlock
from pinui.ipfs.multihash import verify_block
from pinui.node.errors import is_damage
from pinui.node.index import Index, Pin, id_of, insert_pin, make_index, pin_of
from pinui.node.lock import Patience
from pinui.node.trees import describe_tree

__all__ = ["make_again", "open_index"]

PIECE = 1024 * 1024
# A larger index takes too long to check at every start; its damage is found on use.
SMALL = 8 * 1024 * 1024
log = logging.getLogger("pinui.node")


def open_index(path: Path, pins: Path, patience: Patience, *, suspect: bool) -> Index:
    """The index at `path`; one that is gone or damaged is made again from the CARs in `pins`. The folder is locked.

    SQLite notices by itself what is no database or has been cut short; `suspect` has it look at everything.
    """
    try:
        index = Index(path, patience)
    except Exception as error:
        if not is_damage(error):
            raise
    else:
        for file in (path, _journal(path)):
            with contextlib.suppress(OSError):
                file.chmod(0o600)
        if not (suspect or path.stat().st_size <= SMALL) or index.is_sound():
            return index
        index.close()
    make_again(path, pins, patience)
    return Index(path, patience)


def make_again(path: Path, pins: Path, patience: Patience) -> None:
    """Make the index from the CARs in `pins`, with the folder locked; a damaged one is kept beside it."""
    cars = sorted(pins.glob("*.car"), key=lambda car: car.stat().st_mtime_ns)
    is_damaged = path.exists() and path.stat().st_size > 0
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    if is_damaged or cars:
        trouble = f"is damaged (it is kept as {aside.name})" if is_damaged else "is gone"
        log.warning("The node's index %s %s. It is made again from the pins; their names are lost.", path, trouble)
    new = path.with_name(f"{path.name}.new")
    _remove(new)
    try:
        make_index(new, lambda connection: _fill(connection, cars, patience), patience)
        if is_damaged:
            aside.unlink(missing_ok=True)
            aside.hardlink_to(path)
        _journal(path).unlink(missing_ok=True)
        new.replace(path)
    finally:
        _remove(new)


def _remove(index: Path) -> None:
    for file in (index, _journal(index)):
        file.unlink(missing_ok=True)


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _fill(connection: sqlite3.Connection, cars: list[Path], patience: Patience) -> None:
    for path in cars:
        try:
            archive = _Archive.read(path, patience)
            pin = _describe(archive, path)
        except ContentAddressError as error:
            # Not deleted, as CARs without a row are: perhaps its owner can still use a part.
            path.rename(path.parent.with_name(f"{path.name}.damaged"))
            log.warning("%s is damaged and was put aside: %s.", path.name, error)
            continue
        if pin_of(connection, pin.cid) is None:
            insert_pin(connection, pin, archive.places)


def _describe(archive: _Archive, path: Path) -> Pin:
    with path.open("rb") as file:

        def lookup(cid: Cid) -> bytes:
            place = archive.places.get(cid.digest)
            if place is None:
                raise MissingBlock(f"block {cid} is missing")
            file.seek(place[0])
            return file.read(place[1])

        facts = describe_tree(archive.root, lookup)
    return Pin(
        id=id_of(path.name),
        cid=str(archive.root),
        size=facts.size,
        files=facts.files,
        name=None,
        keyvalues=None,
        mime_type=facts.mime_type,
        pinned_at=path.stat().st_mtime_ns // 1_000_000,
        unpinned_at=None,
        car=path.name,
    )


@dataclass(frozen=True, slots=True)
class _Archive:
    """A CAR with verified blocks: its root, and the place of each block."""

    root: Cid
    places: dict[bytes, tuple[int, int]]

    @classmethod
    def read(cls, path: Path, patience: Patience) -> _Archive:
        reader = CarReader()
        places: dict[bytes, tuple[int, int]] = {}
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                patience.check()
                for block in reader.feed(piece):
                    verify_block(block.cid, block.data)
                    size = len(block.data)
                    if block.cid.hash_code != IDENTITY:
                        places.setdefault(block.cid.digest, (reader.position - size, size))
        reader.finish()
        if reader.roots is None or len(reader.roots) != 1 or reader.roots[0].digest not in places:
            raise MalformedContent("it does not hold the one root that its header names")
        return cls(reader.roots[0], places)
