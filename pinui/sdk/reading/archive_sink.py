"""A CAR file that is made from blocks of a gateway, each verified, each written once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from pinui.disk import NewFile
from pinui.ipfs.car import CarReader, encode_header, encode_section_head
from pinui.ipfs.cid import IDENTITY, Cid
from pinui.ipfs.errors import MissingBlock
from pinui.ipfs.exporter import links_of
from pinui.ipfs.multihash import Bytes, verify_block
from pinui.sdk.reading.proof_sinks import NotTrustless
from pinui.sdk.transport.http import Head, OnProgress

__all__ = ["ArchiveSink"]

CAR_TYPE = "application/vnd.ipld.car"


class ArchiveSink:
    """Takes archives and single blocks; `missing` names the blocks still to come. Nothing of it is held in memory."""

    full = False

    def __init__(self, root: Cid, path: Path, on_progress: OnProgress | None = None, *, overwrite: bool) -> None:
        self._root = root
        self._new = NewFile(path, may_replace=overwrite)
        self._on_progress = on_progress
        self._reader = CarReader()
        self._places: dict[bytes, tuple[int, int]] = {}
        self._new.file.write(encode_header([root]))

    def resume_from(self) -> None:
        return None

    async def begin(self, head: Head, offset: int) -> None:  # noqa: ARG002  # never continued: see resume_from
        """An archive follows. Blocks that an earlier one brought stay: each was verified."""
        if head.media_type != CAR_TYPE:
            raise NotTrustless
        self._reader = CarReader()

    async def write(self, chunk: bytes) -> None:
        """The next bytes of the archive."""
        await asyncio.to_thread(self._take, chunk)
        self._tell()

    def _take(self, chunk: bytes) -> None:
        for block in self._reader.feed(chunk):
            self._add(block.cid, block.data)

    def add(self, cid: Cid, data: Bytes) -> None:
        """A block; `ContentAddressError` if it is not what its CID says."""
        self._add(cid, data)
        self._tell()

    def _tell(self) -> None:
        if self._on_progress is not None:
            self._on_progress(self._new.file.tell(), None)

    def _add(self, cid: Cid, data: Bytes) -> None:
        verify_block(cid, data)
        if cid.hash_code == IDENTITY or cid.digest in self._places:
            return
        file = self._new.file
        file.write(encode_section_head(cid, len(data)))
        self._places[cid.digest] = (file.tell(), len(data))
        file.write(data)

    def missing(self) -> Iterator[Cid]:
        """The blocks below the root that have not come, parents first; add each before asking for the next."""
        pending, seen = [self._root], set[Cid]()
        while pending:
            cid = pending.pop()
            if cid in seen:
                continue
            seen.add(cid)
            if cid.hash_code != IDENTITY and cid.digest not in self._places:
                yield cid
            pending += reversed(links_of(cid, self._read(cid)))

    def _read(self, cid: Cid) -> bytes:
        if cid.hash_code == IDENTITY:
            return cid.digest
        if cid.digest not in self._places:
            raise MissingBlock(f"block {cid} is missing")
        offset, length = self._places[cid.digest]
        file = self._new.file
        file.seek(offset)
        data = file.read(length)
        file.seek(0, 2)
        return data

    def commit(self) -> None:
        """Everything is there: the file gets its name."""
        self._new.commit()

    def discard(self) -> None:
        """Leave nothing behind."""
        self._new.discard()
