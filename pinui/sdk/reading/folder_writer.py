"""A downloaded folder: built under a temporary name beside its place, and renamed when it is complete."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol, TypeVar

from pinui.disk import sync_folder, temporary_beside
from pinui.ipfs.folders import is_safe_name, portable_name
from pinui.ipfs.verifier import Event, FileBytes, FileEnd, FileStart, FolderStart, SymlinkFound
from pinui.sdk.errors import ContentError
from pinui.sdk.reading.partial import kept_beside
from pinui.sdk.reading.sinks import check_room, free_room
from pinui.sdk.transport.http import OnProgress

__all__ = ["FolderCounter", "FolderSink", "FolderWriter"]

# The limit of Linux.
LONGEST_TARGET = 4095
# A few blocks that link to each other many times may unfold to any number of entries.
MOST_ENTRIES = 1_000_000
# The room that a file system uses for an entry, even for an empty file.
ROOM_FOR_ENTRY = 4096

Made = TypeVar("Made")


class FolderSink(Protocol):
    """Takes a folder as verified events."""

    @property
    def keeps(self) -> bool:
        """Whether files that were received before a restart are kept."""
        ...

    @property
    def has_kept(self) -> bool:
        """Whether an earlier attempt left something."""
        ...

    def kept_entry(self, path: tuple[str, ...]) -> Path | None:
        """The file or folder that an earlier attempt left for this entry, complete or not. Touches the disk."""
        ...

    def kept_bytes(self, size: int) -> bytes | None:
        """The next bytes of the file that began, if an earlier attempt left so many. Touches the disk."""
        ...

    async def take(self, events: Iterable[Event]) -> None:
        """The next events."""
        ...

    def restart(self) -> None:
        """Begin again: with the kept files, or with nothing; in a thread."""
        ...


class FolderCounter:
    """Counts a folder's bytes and keeps none of them: for content that is only checked."""

    keeps = has_kept = False

    def __init__(self, on_progress: OnProgress | None = None) -> None:
        self._on_progress = on_progress
        self._done = 0

    async def take(self, events: Iterable[Event]) -> None:
        """Count their bytes."""
        self._done += sum(len(event.data) for event in events if isinstance(event, FileBytes))
        if self._on_progress is not None:
            self._on_progress(self._done, None)

    def restart(self) -> None:
        """Count from the beginning."""
        self._done = 0

    def kept_entry(self, path: tuple[str, ...]) -> None:
        """None: nothing is kept."""

    def kept_bytes(self, size: int) -> None:
        """None: nothing is kept."""


class FolderWriter:
    """Makes files and folders from verified events. All of it touches the disk: call it in threads.

    The files of an earlier attempt, perhaps of a process that was killed, are moved aside. Each moves back when its
    turn comes, and only the bytes that differ from the verified ones are written.
    """

    keeps = True

    def __init__(
        self, to: Path, name: str, on_progress: OnProgress | None = None, *, partial: Path | None = None
    ) -> None:
        self._to = to
        self._partial = partial
        self._name = name
        self._on_progress = on_progress
        self._temporary: Path | None = None
        self._kept: Path | None = None
        self._kept_size = 0
        self._file: BinaryIO | None = None
        self._goes_on = False
        """Whether the file has bytes of an earlier attempt from here on."""
        self._has_news = False
        self._done = self._entries = self._needed = 0
        self._free: int | None = None
        self._lock = threading.Lock()
        self._abandoned = False
        self.renamed: dict[tuple[str, ...], str] = {}
        """The paths of entries whose last name was escaped, and the name on the disk."""

    async def take(self, events: Iterable[Event]) -> None:
        """Write the entries of these events, in a thread."""
        await asyncio.to_thread(self._take_locked, events)
        if self._on_progress is not None and self._has_news:  # kept bytes didn't arrive now: they are no progress
            self._has_news = False
            self._on_progress(self._done, None)

    def _take_locked(self, events: Iterable[Event]) -> None:
        with self._lock:
            if not self._abandoned:
                self._take(events)

    def _take(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case FolderStart(path=path, declared=declared):
                    self._make(path, Path.mkdir)
                    check_room(0 if path else declared, self._free)
                case FileStart(path=path, size=size):
                    self._file = self._make(path, self._open, size)
                case FileBytes(data=data):
                    self._write(data)
                case FileEnd():
                    self._end_file()
                case SymlinkFound(path=path, target=target):
                    self._link(path, target)
                case _:
                    pass

    def commit(self) -> Path:
        """Give the folder its name. An existing folder is never mixed with it."""
        # The slow part, without the lock: a cancelled caller doesn't wait for the disk.
        for folder, _folders, _files in os.walk(self._temporary or ""):
            with suppress(OSError):
                sync_folder(Path(folder))
        with self._lock:
            if self._temporary is None:
                raise AssertionError("commit of a folder that was discarded")
            final = self._free_place()
            self._temporary.rename(final)
            self._temporary = None
        self._remove()  # files that are in no verified folder
        with suppress(OSError):
            sync_folder(final.parent)
        return final

    def take_up(self) -> None:
        """Go on with the files of an earlier process, if there are any."""
        if self._partial is not None and (self._partial.is_dir() or kept_beside(self._partial).is_dir()):
            self._temporary = self._partial
            self.restart()

    def restart(self) -> None:
        """Move the written files aside, to begin again with them."""
        with self._lock:
            self._close()
            if self._temporary is not None:
                self._kept = kept_beside(self._temporary)
                _merge(self._temporary, self._kept)
                self._kept_size = _size_of(self._kept)
                self._temporary = None
            self._done = self._entries = self._needed = 0
            self.renamed.clear()

    def leave(self) -> None:
        """Leave everything to a later process, if one may go on with it."""
        if self._partial is not None:
            with self._lock:
                self._abandoned = True
                self._close()
                self._temporary = self._kept = None

    def discard(self) -> None:
        """Remove the written files for good, after a thread that is still at work here."""
        self._abandoned = True
        with self._lock:
            self._close()
            self._remove()

    def _close(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # closing writes the rest of the buffer, and the disk may be full
                self._file.close()
            self._file = None
        self._goes_on = False

    def _remove(self) -> None:
        for folder in (self._temporary, self._kept):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
        self._temporary = self._kept = None

    @property
    def has_kept(self) -> bool:
        """Whether an earlier attempt left something."""
        return self._kept is not None

    def kept_entry(self, path: tuple[str, ...]) -> Path | None:
        """The file or folder that an earlier attempt left for this entry, complete or not."""
        if self._kept is None:
            return None
        name = (portable_name(name, windows=os.name == "nt") or "" for name in path[-1:])
        place = self._kept.joinpath(*self._names(path[:-1]), *name)
        return place if os.path.lexists(place) else None

    def kept_bytes(self, size: int) -> bytes | None:
        """The next bytes of the file that began, if an earlier attempt left so many."""
        with self._lock:
            if not self._goes_on or self._file is None:
                return None
            start = self._file.tell()
            data = self._file.read(size)
            self._file.seek(start)
            return data if len(data) == size else None

    def _free_place(self) -> Path:
        final = self._to / self._name if self._to.is_dir() else self._to
        if final.exists():
            raise FileExistsError(errno.EEXIST, "something of that name is there already", str(final))
        return final

    def _make(self, path: tuple[str, ...], make: Callable[[Path], Made], size: int = 0) -> Made:
        """Make one entry. The disk itself decides whether two names are the same: `a` and `A`, or two accents."""
        shown = "/".join(path)
        folder = self._place(path[:-1])
        self._entries += 1
        if self._entries > MOST_ENTRIES:
            raise ContentError(f"The folder holds more than {MOST_ENTRIES:,} entries, the limit")
        self._needed += size + ROOM_FOR_ENTRY
        check_room(self._needed, self._free)
        if not path:
            return make(folder)
        name = portable_name(path[-1], windows=os.name == "nt")
        if name is None:
            raise ContentError(f"The folder holds an entry whose name is no name: “{shown}”")
        # Another entry may have the escaped name as its own.
        for candidate in dict.fromkeys((name, name.replace("%", "%25"))):
            with suppress(FileExistsError):
                made = make(folder / candidate)
                if candidate != path[-1]:
                    self.renamed[path] = candidate
                return made
        raise ContentError(f"The disk takes “{shown}” for the name of another entry in the folder")

    def _place(self, path: tuple[str, ...]) -> Path:
        if self._temporary is None:
            final = self._free_place()  # asked now, before everything is transferred, and again at the end
            self._temporary = self._partial or temporary_beside(final)
            if (free := free_room(final.parent)) is not None:
                self._free = free + self._kept_size
        return self._temporary.joinpath(*self._names(path))

    def _names(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """The names on the disk."""
        if not self.renamed:
            return path
        return tuple(self.renamed.get(path[: depth + 1], name) for depth, name in enumerate(path))

    def _open(self, place: Path) -> BinaryIO:
        """A new file; with the content that an earlier attempt left."""
        file = place.open("xb")
        if self._kept is None or self._temporary is None:
            return file
        left = self._kept / place.relative_to(self._temporary)
        if not _is_file(left):
            return file
        file.close()
        left.replace(place)
        self._goes_on = True
        return place.open("r+b")

    def _write(self, data: memoryview) -> None:
        if self._file is None:
            return
        self._done += len(data)
        if self._goes_on:
            start = self._file.tell()
            if memoryview(self._file.read(len(data))) == data:
                return
            self._file.seek(start)
            self._file.truncate()
            self._goes_on = False
        self._file.write(data)
        self._has_news = True

    def _end_file(self) -> None:
        if self._file is not None:
            if self._goes_on:
                self._file.truncate()  # what an earlier attempt left may be longer
                self._goes_on = False
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def _link(self, path: tuple[str, ...], target: str) -> None:
        """Make a link only if it is relative and stays in the folder, as every system reads it.

        Steps up are taken only at its beginning, where they lead through folders made here: behind a name they could
        lead up from wherever another link points to.
        """
        shown = "/".join(path)
        if not target or "\0" in target or len(target.encode()) > LONGEST_TARGET:
            raise ContentError(f"The folder holds a link that leads nowhere: “{shown}”")
        steps = PurePosixPath(target).parts
        up = next((number for number, step in enumerate(steps) if step != ".."), len(steps))
        if up > len(path) - 1 or not all(is_safe_name(step) for step in steps[up:]):
            raise ContentError(f"The folder holds a link that could lead out of it: “{shown}”")
        self._make(path, lambda place: place.symlink_to(target))


def _is_file(place: Path) -> bool:
    return place.is_file() and not place.is_symlink()


def _size_of(folder: Path) -> int:
    """The room that the files in a folder take, as `_make` counts it."""
    return sum(
        ROOM_FOR_ENTRY + (Path(place) / name).lstat().st_size for place, _, files in os.walk(folder) for name in files
    )


def _merge(folder: Path, into: Path) -> None:
    """Move the files of a folder to the same places in another one."""
    if not into.exists():
        with suppress(FileNotFoundError):
            folder.rename(into)
        return
    for place, _, files in os.walk(folder):
        there = into / Path(place).relative_to(folder)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            file, other = Path(place, name), there / name
            if not other.exists() or file.lstat().st_size >= other.stat().st_size:  # else it had only just begun
                file.replace(other)
    shutil.rmtree(folder, ignore_errors=True)
