"""One file in pieces: each is the body of a request of its own, and an upload may go back to an earlier offset."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import BinaryIO

from pinui.sdk.trailing_work import TrailingWork
from pinui.sdk.transport.http import OnProgress
from pinui.sdk.writing.multipart import Watch
from pinui.sdk.writing.sources import PIECE, Part

__all__ = ["FileInPieces"]


class FileInPieces:
    """Reads a file. The watch sees each byte once, in order, however often it is sent."""

    def __init__(self, part: Part, watch: Watch | None, on_progress: OnProgress | None) -> None:
        self._part = part
        self._watch = watch
        self._on_progress = on_progress
        self._hashing = TrailingWork()
        self._hashed = 0
        self._file: BinaryIO | None = None
        self._position = 0

    def piece(self, offset: int, length: int) -> _Piece:
        """The body of a request."""
        return _Piece(self, offset, length)

    async def read(self, offset: int, length: int) -> AsyncGenerator[bytes]:
        """Some bytes of the file; `SourceChanged` if it is not the one that it was."""
        file = await self._at(offset)
        if not await asyncio.to_thread(self._part.unchanged, file):
            self._part.fail()
        while length:
            data = await self._next(file, length)
            length -= len(data)
            yield data
            if self._on_progress is not None:
                self._on_progress(self._position, self._part.size)

    async def finish(self) -> None:
        """Note the end of the sending: the file must be unchanged, and the watcher is told."""
        file = await self._at(self._part.size)
        if await asyncio.to_thread(file.read, 1) or not await asyncio.to_thread(self._part.unchanged, file):
            self._part.fail()
        await self._hashing.settle()
        if self._watch is not None:
            await asyncio.to_thread(self._watch.end_of, self._part)

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    async def _at(self, offset: int) -> BinaryIO:
        if self._file is None or self._position != offset:
            self.close()
            try:
                self._file = await asyncio.to_thread(self._part.open)
            except FileNotFoundError:
                self._part.fail()
            self._position = 0
        while self._position < offset:  # not every source can seek, and the watch needs every byte
            await self._next(self._file, offset - self._position)
        return self._file

    async def _next(self, file: BinaryIO, most: int) -> bytes:
        data = await asyncio.to_thread(file.read, min(PIECE, most))
        if not data:
            self._part.fail()
        self._position += len(data)
        if self._watch is not None and self._position > self._hashed:
            await self._hashing.room()
            self._hashing.start(self._watch.feed, data[self._hashed - self._position :])
            self._hashed = self._position
        return data


class _Piece:
    """A piece as the body of a request."""

    def __init__(self, file: FileInPieces, offset: int, length: int) -> None:
        self.length = length
        self.failure: Exception | None = None
        self._file = file
        self._offset = offset

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The bytes of the piece."""
        self.failure = None
        try:
            async for data in self._file.read(self._offset, self.length):
                yield data
        except Exception as error:
            self.failure = error
            raise

    def close(self) -> None:
        """The file stays open for the next piece."""
