"""An upload's body: a form with files, framed here so that its length is exact and its files stream from threads."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from typing import BinaryIO, Protocol
from urllib.parse import quote

from pinui.sdk.trailing_work import QUICK_TO_HASH, TrailingWork
from pinui.sdk.transport.http import OnProgress
from pinui.sdk.writing.sources import PIECE, Part

OCTETS = "application/octet-stream"
FOLDER = "application/x-directory"
Head = Callable[[Part], tuple[str, str]]
_Framed = tuple[bytes, Part]
"""A file, and the bytes of the form before it."""
# A hop to a thread takes longer than reading a small file, and a server takes one such piece as fast as one file.
SMALL_TOGETHER = 256 * 1024

__all__ = ["Multipart", "Watch", "Watcher", "unixfs_head"]


class Watcher(Protocol):
    """Looks at the files of an upload as they pass by."""

    def begin(self) -> Watch:
        """A reading of the body starts at its beginning. Pieces of an earlier reading don't count for this one."""
        ...


class Watch(Protocol):
    """One reading of all files."""

    def feed(self, piece: bytes) -> None: ...
    def end_of(self, part: Part) -> None: ...


class Multipart:
    """The body. It can be read from its beginning again, for another try."""

    def __init__(
        self,
        parts: Iterable[Part],
        fields: Iterable[tuple[str, str]] = (),
        on_progress: OnProgress | None = None,
        watcher: Watcher | None = None,
        head: Head | None = None,
    ) -> None:
        boundary = secrets.token_hex(16)
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self.failure: Exception | None = None
        self._hold = _Hold()
        self._on_progress = on_progress
        self._watcher = watcher
        before_fields = [_field_text(boundary, name, text) for name, text in fields]
        self._parts = [(_framed(boundary, part, head or form_head), part) for part in parts]
        self._opening = b"".join(before_fields)
        self._closing = f"--{boundary}--\r\n".encode()
        self._total = sum(part.size for _, part in self._parts)
        framing = sum(len(head) + 2 for head, _ in self._parts)
        self.length = len(self._opening) + framing + self._total + len(self._closing)

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body from its beginning. An error on this side of the network ends it; `failure` keeps the error."""
        self.close()
        self.failure = None
        try:
            async for chunk in self._read():
                yield chunk
        except Exception as error:
            self.failure = error
            raise

    async def _read(self) -> AsyncIterator[bytes]:
        self._hold = hold = _Hold()
        watch = None if self._watcher is None else self._watcher.begin()
        hashing = TrailingWork()
        done = 0
        if self._opening:
            yield self._opening
        for batch in _batches(self._parts):
            head, part = batch[0]
            if part.size <= QUICK_TO_HASH:
                await hashing.settle()
                yield await asyncio.to_thread(self._read_small, batch, hold, watch)
                done += sum(part.size for _, part in batch)
                if self._on_progress is not None:
                    self._on_progress(done, self._total)
                continue
            yield head
            file = await self._open(part, hold)
            left = part.size
            while left:
                piece = await asyncio.to_thread(file.read, min(PIECE, left))
                if not piece:
                    part.fail()
                left -= len(piece)
                if watch is not None:
                    # Hashed while it is sent and the next ones are read.
                    await hashing.room()
                    hashing.start(watch.feed, piece)
                yield piece
                done += len(piece)
                if self._on_progress is not None:
                    self._on_progress(done, self._total)
            if await asyncio.to_thread(file.read, 1) or not await asyncio.to_thread(part.unchanged, file):
                part.fail()
            if watch is not None:
                await hashing.settle()
                await asyncio.to_thread(watch.end_of, part)
            hold.release()
            yield b"\r\n"
        yield self._closing

    def close(self) -> None:
        """Close the file being read; a caller that stops reading calls this."""
        self._hold.end()

    async def _open(self, part: Part, hold: _Hold) -> BinaryIO:
        try:
            file = await asyncio.to_thread(hold.take, part)
        except FileNotFoundError:
            file = None
        if file is None or not await asyncio.to_thread(part.unchanged, file):
            part.fail()
        return file

    def _read_small(self, batch: Iterable[_Framed], hold: _Hold, watch: Watch | None) -> bytes:
        """Small files with their heads, in one hop: a folder may have thousands of them."""
        return b"".join(piece for head, part in batch for piece in (head, self._read_whole(part, hold, watch), b"\r\n"))

    def _read_whole(self, part: Part, hold: _Hold, watch: Watch | None) -> bytes:
        try:
            file = hold.take(part)
        except FileNotFoundError:
            part.fail()
        try:
            data = b""
            while piece := file.read(part.size + 1 - len(data)):
                data += piece
            if len(data) != part.size or not part.unchanged(file):
                part.fail()
        finally:
            hold.release()
        if watch is not None:
            watch.feed(data)
            watch.end_of(part)
        return data


def _batches(parts: Iterable[_Framed]) -> Iterator[list[_Framed]]:
    """Files to be read together: small ones that follow each other, as many as one piece holds; large ones alone."""
    batch: list[_Framed] = []
    size = 0
    for head, part in parts:
        is_small = part.size <= QUICK_TO_HASH
        if batch and (not is_small or size + len(head) + part.size > SMALL_TOGETHER):
            yield batch
            batch, size = [], 0
        if is_small:
            batch.append((head, part))
            size += len(head) + part.size
        else:
            yield [(head, part)]
    if batch:
        yield batch


class _Hold:
    """The file being read. A cancelled upload can end while a thread is still opening it: that one is closed there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file: BinaryIO | None = None
        self._ended = False

    def take(self, part: Part) -> BinaryIO:
        file = part.open()
        with self._lock:
            self._file = file
        if self._ended:
            self.release()
        return file

    def release(self) -> None:
        with self._lock:
            file, self._file = self._file, None
        if file is not None:
            file.close()

    def end(self) -> None:
        self._ended = True
        self.release()


def _field_text(boundary: str, name: str, text: str) -> bytes:
    return f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'.encode()


def form_head(part: Part) -> tuple[str, str]:
    """Name and type of a file, as browsers write them in forms."""
    # But for back-slashes: where two follow each other, servers read one.
    quoted = part.name.replace("\\", "\\\\").replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    return quoted, part.media_type if part.media_type.isprintable() else OCTETS


def unixfs_head(part: Part) -> tuple[str, str]:
    """Name and type of a file or an empty folder, as Kubo and IPFS Cluster read them.

    They unquote the name like a part of an address. Some types mean something to them, such as a symbolic link, so that
    no file has one of its own; neither does a single file have a name.
    """
    is_inside = part.is_folder or "/" in part.name
    return quote(_encoded(part.name), safe="") if is_inside else "file", FOLDER if part.is_folder else OCTETS


def _framed(boundary: str, part: Part, head: Head) -> bytes:
    name, media_type = head(part)
    disposition = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    return _encoded(f"--{boundary}\r\n{disposition}\r\nContent-Type: {media_type}\r\n\r\n")


def _encoded(text: str) -> bytes:
    """Text with a name in it; one that is no Unicode goes out as the bytes that it is on disk."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, which no name on a disk has
        return text.encode("utf-8", "replace")
