"""The reading half of a provider: JSON, files, folders, streams and previews by CID, through gateways."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, overload

from pinui.ipfs.cid import RAW, Cid
from pinui.ipfs.jsontext import NotJSON, parse
from pinui.ipfs.unixfs import FilePiece, Folder, Piece, Shard
from pinui.ipfs.verifier import FolderEntry
from pinui.sdk.address import Address
from pinui.sdk.errors import ContentError, NetworkError, ProviderError
from pinui.sdk.models import Blob, ClientConfig, FolderItem, GatewayStatus, Peek, Resume, Verification
from pinui.sdk.names import name_of_reply, safe_name
from pinui.sdk.provider import Read
from pinui.sdk.reading.archive_sink import ArchiveSink
from pinui.sdk.reading.folder_writer import FolderCounter, FolderWriter
from pinui.sdk.reading.gateways import Gateway
from pinui.sdk.reading.partial import Partial
from pinui.sdk.reading.reader import GatewayReader
from pinui.sdk.reading.sinks import CountingSink, FileSink, MemorySink, PipeSink
from pinui.sdk.trailing_work import QUICK_TO_HASH
from pinui.sdk.transport.http import Head, OnProgress
from pinui.sdk.transport.ranges import whole_size
from pinui.sdk.transport.transport import Clock, Transport

__all__ = ["GatewayContent"]

# Pieces of a stream that wait for a slow reader.
PIECES_AHEAD = 2
# Entries of a folder that a preview looks into, to tell folders from files.
MOST_LOOKS = 100


class GatewayContent:
    """Reads content through the gateways of a configuration. Providers inherit it and add how they write."""

    def __init__(
        self, config: ClientConfig, transport: Transport, clock: Clock, gateways: list[Gateway] | None = None
    ) -> None:
        """`gateways` are asked in this order; None for those of the configuration."""
        self.config = config
        self._transport = transport
        self._reader = GatewayReader(config, transport, clock, gateways)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def read_json(self, cid: str) -> Read[Any]:
        """Read a JSON document."""
        address = Address.parse(cid)
        sink = MemorySink(
            self.config.max_json_bytes, what="The document", hint="Download it as a file, or raise max_json_bytes."
        )
        result = await self._reader.read(address, sink)
        data = sink.data
        try:
            value = parse(data) if len(data) < QUICK_TO_HASH else await asyncio.to_thread(parse, data)
        except NotJSON as error:
            reason = error.reason
        else:
            return Read(value, result.verification)
        raise ContentError(f"{address} is not JSON: {reason}", hint="If it is a file, download it.")

    async def export_car(
        self, cid: str, to: Path, *, overwrite: bool = True, on_progress: OnProgress | None = None
    ) -> None:
        """Write every block below a CID to a CAR file, verified, all or nothing."""
        address = Address.parse_root(cid)
        # Not in a thread, which would leave the file open when it is cancelled.
        sink = ArchiveSink(Cid.parse(address.cid), to, on_progress, overwrite=overwrite)
        try:
            await self._reader.read_archive(address, sink)
            await asyncio.to_thread(sink.commit)
        except BaseException:
            sink.discard()
            raise

    async def read_block(self, cid: str) -> bytes:
        """One block, verified."""
        return await self._reader.read_block(Cid.parse(Address.parse_root(cid).cid))

    async def check_gateways(self, cid: str) -> tuple[GatewayStatus, ...]:
        """Whether each gateway serves some content, checked with its first block."""
        return await self._reader.check_each(Cid.parse(Address.parse_root(cid).cid))

    async def read_blob(self, cid: str, *, on_progress: OnProgress | None = None) -> Read[Blob]:
        """Read a file into memory."""
        address = Address.parse(cid)
        hint = "Use download(cid, to=…), which needs no memory, or raise max_blob_bytes."
        sink = MemorySink(self.config.max_blob_bytes, what="The file", hint=hint, on_progress=on_progress)
        result = await self._reader.read(address, sink, transfer=True)
        blob = Blob(sink.data, _type(result.head), _name(result.head, address), result.verification)
        return Read(blob, result.verification)

    async def read_to(
        self,
        cid: str,
        to: Path,
        *,
        overwrite: bool = True,
        on_progress: OnProgress | None = None,
        resume: Resume | None = None,
    ) -> Read[Path]:
        """Read a file, or a folder, to a path (into a folder: under its own name), all or nothing."""
        address = Address.parse(cid)
        name = safe_name(address.name, address.cid)
        partial = None if resume is None else Partial.of(resume, to)
        file = FileSink(to, name, on_progress, overwrite=overwrite, partial=partial)
        folder = FolderWriter(to, name, on_progress, partial=partial and partial.folder)
        try:
            await asyncio.to_thread(_take_up, file, folder)
            result = await self._reader.read(address, file, transfer=True, folder=folder)
            path = await (asyncio.to_thread(folder.commit) if result.is_folder else file.commit())
            for entry, saved in folder.renamed.items():
                if self.config.on_notice is not None:
                    name = "/".join(entry)
                    self.config.on_notice(f"“{name}” is saved as “{saved}”: not every system takes its name.")
            return Read(path, result.verification)
        except (NetworkError, ProviderError, OSError, asyncio.CancelledError):
            if partial is not None:
                await asyncio.shield(_leave(file, folder))
            raise
        finally:
            file.stop()
            # Shielded: a second cancel doesn't keep the temporary file from being removed.
            await asyncio.shield(asyncio.to_thread(_discard, file, folder))

    async def get_json(self, cid: str) -> Any:
        """Read a JSON document."""
        return (await self.read_json(cid)).value

    @overload
    async def get_file(self, cid: str, *, to: None = None, on_progress: OnProgress | None = None) -> Blob: ...
    @overload
    async def get_file(self, cid: str, *, to: str | PathLike[str], on_progress: OnProgress | None = None) -> Path: ...
    async def get_file(
        self, cid: str, *, to: str | PathLike[str] | None = None, on_progress: OnProgress | None = None
    ) -> Blob | Path:
        """Read a file into memory, or to a path. A CID that names a folder becomes a folder at `to`."""
        if to is None:
            return (await self.read_blob(cid, on_progress=on_progress)).value
        return (await self.read_to(cid, Path(os.fsdecode(to)), on_progress=on_progress)).value

    @asynccontextmanager
    async def stream(self, cid: str) -> AsyncGenerator[_Stream]:
        """Content as it arrives; if the gateway serves blocks, each is verified before a byte of it is passed on."""
        stream = _Stream(Address.parse(cid))
        reading = asyncio.create_task(stream.fill(self._reader))
        try:
            await stream.begin()
            yield stream
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def verify(self, cid: str, *, on_progress: OnProgress | None = None) -> Verification | None:
        """Read a file or a folder only to check it; nothing is kept or written. A proven mismatch is an error."""
        folder, sink = FolderCounter(on_progress), CountingSink(on_progress)
        result = await self._reader.read(Address.parse(cid), sink, transfer=True, folder=folder, blocks_first=True)
        return result.verification

    async def peek(self, cid: str, limit: int) -> Peek:
        """The first bytes of some content, its type and size, or a folder's listing: enough to show what it is."""
        address = Address.parse(cid)
        sink = MemorySink(limit, cut=True)
        try:
            head = await self._reader.peek(address, sink, limit)
        except ProviderError as error:
            if error.status != 416:
                raise
            return Peek(b"", total=0)  # empty content has no first byte
        peek = Peek(sink.data, _type(head), whole_size(head))
        if not head.is_listing and (not peek.truncated or head.media_type != "text/html"):
            return peek
        # A listing that a gateway made for a browser, or a page that could be one: ask for the folder itself.
        listing = await self._reader.list_folder(address)
        if listing is None:
            return peek
        listing.sort(key=lambda entry: entry.name)  # large folders come in the order of their hashes
        untold = [entry for entry in listing if entry.cid.codec != RAW]
        pieces = await self._reader.look_into(untold[:MOST_LOOKS])
        return replace(peek, entries=tuple(_item(entry, pieces.get(entry.cid)) for entry in listing))


class _Stream:
    """A `ContentStream`: one task reads and checks, the caller iterates."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(PIECES_AHEAD)
        self._sink = PipeSink(self._pieces.put)
        self._first: bytes | None = None
        self._failure: Exception | None = None
        self.verification: Verification | None = None

    @property
    def type(self) -> str:
        return _type(self._sink.head)

    @property
    def size(self) -> int | None:
        return self._sink.head.length

    @property
    def name(self) -> str:
        return _name(self._sink.head, self._address)

    async def fill(self, reader: GatewayReader) -> None:
        """Read everything into the queue; None is its end."""
        try:
            result = await reader.read(self._address, self._sink, transfer=True, blocks_first=True)
            await self._sink.finish()
        except Exception as error:  # noqa: BLE001  # the caller gets it, behind the last piece
            self._failure = error
        else:
            self.verification = result.verification
        await self._pieces.put(None)

    async def begin(self) -> None:
        """Wait for the first piece, or for the reason why there is none."""
        self._first = await self._pieces.get()
        if self._first is None and self._failure is not None:
            raise self._failure

    async def __aiter__(self) -> AsyncIterator[bytes]:
        piece, self._first = self._first, None
        while piece is not None:
            yield piece
            piece = await self._pieces.get()
        if self._failure is not None:
            raise self._failure


def _type(head: Head) -> str:
    return head.headers.get("content-type", "")


def _name(head: Head, address: Address) -> str:
    return name_of_reply(head, safe_name(address.name, address.cid))


def _item(entry: FolderEntry, piece: Piece | None) -> FolderItem:
    is_folder, size = None, None
    if entry.cid.codec == RAW:  # a file in one block
        is_folder, size = False, entry.size
    elif piece is not None:
        is_folder, size = isinstance(piece, Folder | Shard), piece.size if isinstance(piece, FilePiece) else None
    return FolderItem(entry.name, str(entry.cid), size, is_folder, declared=entry.size)


def _take_up(file: FileSink, folder: FolderWriter) -> None:
    file.take_up()
    folder.take_up()


async def _leave(file: FileSink, folder: FolderWriter) -> None:
    await file.leave()
    await asyncio.to_thread(folder.leave)


def _discard(file: FileSink, folder: FolderWriter) -> None:
    file.discard()
    folder.discard()
