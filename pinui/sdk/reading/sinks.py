"""Targets of downloads: memory with a limit, or a file that appears when it is complete."""

from __future__ import annotations

import asyncio
import errno
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path

from pinui.disk import NewFile, sync_folder
from pinui.sdk.errors import ContentError, NetworkError
from pinui.sdk.names import name_of_reply
from pinui.sdk.reading.partial import Partial
from pinui.sdk.trailing_work import ONE_HOP, TrailingWork
from pinui.sdk.transport.http import Head, OnProgress
from pinui.sdk.transport.ranges import strong_etag, whole_size

__all__ = [
    "CountingSink",
    "FileSink",
    "MemorySink",
    "PipeSink",
    "check_room",
    "free_room",
]

READ_SIZE = 1024 * 1024
# The last byte of a file that an earlier process left is read again, so that there is a rest to ask for.
READ_AGAIN = 1
# Where a later process may go on, bytes go to the disk in smaller pieces: a killed one loses those in memory.
LOST_AT_MOST = 256 * 1024


class MemorySink:
    """Collects a body. Beyond the limit it is an error, or with `cut` the end of the reading."""

    keeps = True
    can_restart = True

    def __init__(
        self, limit: int, *, what: str = "The answer", hint: str | None = None, cut: bool = False,
        on_progress: OnProgress | None = None,
    ) -> None:  # fmt: skip
        self._limit = limit
        self._what = what
        self._hint = hint
        self._cut = cut
        self._on_progress = on_progress
        self._total: int | None = None
        self._data = bytearray()

    @property
    def data(self) -> bytes:
        return bytes(self._data) if len(self._data) <= self._limit else bytes(memoryview(self._data)[: self._limit])

    @property
    def full(self) -> bool:
        return self._cut and len(self._data) >= self._limit

    def resume_from(self) -> None:
        return None

    def restart(self) -> None:
        self._data.clear()

    async def replay(self, feed: Callable[[bytes], None]) -> None:
        await asyncio.to_thread(feed, bytes(self._data))

    async def begin(self, head: Head, offset: int) -> None:  # noqa: ARG002  # never continued: see resume_from
        self._data.clear()
        self._total = head.length
        if not self._cut and self._total is not None and self._total > self._limit:
            self._refuse()

    async def write(self, chunk: bytes) -> None:
        self._data += chunk
        if len(self._data) > self._limit and not self._cut:
            self._refuse()
        if self._on_progress is not None:
            self._on_progress(len(self._data), self._total)

    def _refuse(self) -> None:
        raise ContentError(f"{self._what} is larger than {self._limit:,} bytes, the limit", hint=self._hint)


class PipeSink:
    """Hands on pieces for good. It holds the first block's worth back, so that small content is checked before any
    of it leaves."""

    HELD_BACK = 256 * 1024
    keeps = True
    full = False

    def __init__(self, hand_on: Callable[[bytes], Awaitable[None]]) -> None:
        self._hand_on = hand_on
        self._held: list[bytes] = []
        self._holding = 0
        self._done = 0
        self._written = 0
        self._etag: str | None = None
        self.head = Head(200, {}, "")
        """The head of the gateway's answer."""

    @property
    def can_restart(self) -> bool:
        """Whether everything is still held back."""
        return self._written == 0

    def restart(self) -> None:
        if self.can_restart:
            self._held.clear()
            self._holding = self._done = 0

    async def replay(self, feed: Callable[[bytes], None]) -> None:
        await asyncio.to_thread(feed, b"".join(self._held))

    def resume_from(self) -> tuple[int, str] | None:
        return (self._done, self._etag) if self._written and self._etag is not None else None

    async def begin(self, head: Head, offset: int) -> None:
        self.restart()
        if offset != self._done:
            raise NetworkError("The download broke off after a part of it was written")
        if offset == 0:
            self._etag, self.head = strong_etag(head), head

    async def write(self, chunk: bytes) -> None:
        self._held.append(chunk)
        self._holding += len(chunk)
        self._done += len(chunk)
        if self._holding > self.HELD_BACK:
            await self.finish()

    async def finish(self) -> None:
        """Hand on the bytes that are held back."""
        held = b"".join(self._held)
        self._held.clear()
        self._holding = 0
        self._written += len(held)
        if held:
            await self._hand_on(held)


class FileSink:
    """Writes beside the destination under a temporary name; `commit` syncs and renames, `discard` leaves nothing."""

    keeps = True
    can_restart = True

    def __init__(
        self,
        to: Path,
        fallback_name: str,
        on_progress: OnProgress | None = None,
        *,
        overwrite: bool = True,
        partial: Partial | None = None,
    ) -> None:
        self.full = False
        self._to = to
        self._partial = partial
        self._fallback_name = fallback_name
        self._overwrite = overwrite
        self._on_progress = on_progress
        self._new: NewFile | None = None
        self._final: Path | None = None
        self._buffer: list[bytes] = []
        self._buffered = 0
        self._writing = TrailingWork()
        self._done = 0
        self._total: int | None = None
        self._etag: str | None = None
        self._lock = threading.Lock()
        self._abandoned = False

    def take_up(self) -> None:
        """Go on with the file of an earlier process, if there is one; in a thread."""
        if (partial := self._partial) is None:
            return
        with suppress(OSError):
            kept = partial.path.stat().st_size - READ_AGAIN
            if partial.etag is not None and kept > 0 and partial.path.is_file():
                self._new = NewFile(self._to, buffering=0, temporary=partial.path, goes_on=True)
                self._new.file.truncate(kept)
                self._new.file.seek(kept)
                self._done, self._etag = kept, partial.etag
                return
        partial.remove_file()

    def restart(self) -> None:
        self._etag = None
        self._buffer.clear()
        self._buffered = self._done = 0

    async def replay(self, feed: Callable[[bytes], None]) -> None:
        await self._writing.settle()
        await asyncio.to_thread(self._replay, self._taken_buffer(), feed)

    def resume_from(self) -> tuple[int, str] | None:
        return (self._done, self._etag) if self._done and self._etag is not None else None

    async def begin(self, head: Head, offset: int) -> None:
        self.full = head.is_listing  # a page about a folder, which is no content
        if self.full:
            return
        self._total = whole_size(head)
        if offset == 0:
            self._etag = strong_etag(head)
            self._buffer.clear()
            self._buffered = self._done = 0
        await self._writing.settle()
        await asyncio.to_thread(self._prepare, head, offset)
        if offset == 0 and self._partial is not None:
            self._partial.note(self._etag)

    async def write(self, chunk: bytes) -> None:
        if self.full:
            return
        self._buffer.append(chunk)
        self._buffered += len(chunk)
        self._done += len(chunk)
        if self._buffered >= (ONE_HOP if self._partial is None else LOST_AT_MOST):
            await self._writing.room()
            self._writing.start(self._write_all, self._taken_buffer())
        if self._on_progress is not None:
            self._on_progress(self._done, self._total)

    async def commit(self) -> Path:
        """Sync the file, give it its final name, and return that."""
        await self._writing.settle()
        return await asyncio.to_thread(self._commit, self._taken_buffer())

    async def leave(self) -> None:
        """Leave the file to a later process, if one can go on with it."""
        if self._partial is None or self._partial.etag is None or self._new is None:
            return
        await self._writing.settle()
        await asyncio.to_thread(self._write_all, self._taken_buffer())
        self._new.leave()
        self._new = None

    def stop(self) -> None:
        """Write nothing more. A thread that is still at work here ends after its piece."""
        self._abandoned = True

    def discard(self) -> None:
        """Remove the file. A cancelled download may still have a thread at work here: wait for it."""
        self.stop()
        with self._lock:
            if self._new is not None:
                self._new.discard()
                self._new = None

    def _prepare(self, head: Head, offset: int) -> None:
        with self._lock:
            if not self._abandoned:
                self._open(head, offset)

    def _open(self, head: Head, offset: int) -> None:
        if offset == 0 or self._final is None:
            self._final = self._place_for(head)
            check_room(head.length or 0, free_room(self._final.parent))
        if self._new is None:
            self._new = NewFile(self._final, buffering=0, temporary=self._partial and self._partial.path)
        self._new.path, self._new.may_replace = self._final, self._may_replace  # another reply may name it otherwise
        if offset == 0:
            self._new.file.seek(0)
            self._new.file.truncate()

    def _place_for(self, head: Head) -> Path:
        name = name_of_reply(head, self._fallback_name)
        final = self._to / name if self._to.is_dir() else self._to
        # A gateway that chose the name may not choose to overwrite something.
        self._may_replace = self._overwrite and (final == self._to or name == self._fallback_name)
        if not self._may_replace and final.exists():
            raise FileExistsError(errno.EEXIST, "a file of that name is there already", str(final))
        if not final.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(final.parent))
        if final.is_dir():
            raise FileExistsError(errno.EEXIST, "a folder of that name is in the way", str(final))
        if final.exists() and not final.is_file():
            raise FileExistsError(errno.EEXIST, "a pipe or device can't be replaced by a file", str(final))
        return final

    def _taken_buffer(self) -> list[bytes]:
        pieces = self._buffer
        self._buffer, self._buffered = [], 0
        return pieces

    def _write_all(self, pieces: Iterable[bytes]) -> None:
        # One lock for each piece: a discard waits for one of them, not for all of them.
        for piece in pieces:
            with self._lock:
                if self._abandoned or self._new is None:
                    return
                view = memoryview(piece)
                while view:
                    view = view[self._new.file.write(view) :]

    def _replay(self, pieces: Iterable[bytes], feed: Callable[[bytes], None]) -> None:
        self._write_all(pieces)
        if self._new is not None:
            with self._new.temporary.open("rb") as file:
                while not self._abandoned and (piece := file.read(READ_SIZE)):
                    feed(piece)

    def _commit(self, pieces: Iterable[bytes]) -> Path:
        self._write_all(pieces)
        # The slow part, without the lock: a cancelled caller doesn't wait for the disk.
        if (new := self._new) is not None:
            with suppress(ValueError):  # closed by a discard in between, which is noticed below
                new.sync()
        with self._lock:
            if self._new is None or self._final is None:
                raise AssertionError("commit of a download that was discarded")
            self._new.take_place()
            self._new = None
            final = self._final
        with suppress(OSError):
            sync_folder(final.parent)
        return final


class CountingSink:
    """Counts bytes and keeps none of them: for content that is only checked."""

    keeps = False
    full = False
    can_restart = True

    def __init__(self, on_progress: OnProgress | None = None) -> None:
        self._on_progress = on_progress
        self._done = 0
        self._total: int | None = None

    def restart(self) -> None:
        self._done = 0

    async def replay(self, feed: Callable[[bytes], None]) -> None:  # noqa: ARG002  # see `keeps`
        raise AssertionError("nothing was kept")

    def resume_from(self) -> None:
        return None

    async def begin(self, head: Head, offset: int) -> None:  # noqa: ARG002  # never continued: see resume_from
        self._done, self._total = 0, head.length

    async def write(self, chunk: bytes) -> None:
        self._done += len(chunk)
        if self._on_progress is not None:
            self._on_progress(self._done, self._total)


def free_room(folder: Path) -> int | None:
    """The free bytes on a folder's disk; None if the file system doesn't tell."""
    usage = shutil.disk_usage(folder)
    return usage.free if usage.total else None


def check_room(size: int, free: int | None) -> None:
    """Refuse a download that the disk has no room for, before a byte of it is written."""
    if free is not None and size > free:
        raise OSError(errno.ENOSPC, f"it takes {size:,} bytes, and {free:,} are free")
