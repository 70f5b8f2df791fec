"""Sources of uploads: paths, folders, bytes, open files and blobs, each as named parts that can be read again."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn, Self, TypeVar, cast

from pinui.sdk.errors import PinuiError, SourceChanged
from pinui.sdk.models import Blob, LeftOut
from pinui.sdk.names import media_type_of
from pinui.sdk.writing.folder_rules import IGNORE_FILE, USUAL, FolderRules, is_hidden

__all__ = [
    "PIECE",
    "FileStatus",
    "FolderContents",
    "FolderWalk",
    "FoundFile",
    "OnFound",
    "Part",
    "UploadSource",
    "Uploadable",
    "contents_of",
    "look_at",
    "look_into",
    "open_source",
]

UNNAMED = "client-file"
PIECE = 1024 * 1024

Walked = TypeVar("Walked")


class Part(NamedTuple):  # as the other values of a folder with thousands of files: no other kind is made as fast
    """One file of an upload. `open` reads it from its beginning; `unchanged` tells whether it is still the same."""

    name: str
    size: int
    media_type: str
    open: Callable[[], BinaryIO]
    unchanged: Callable[[BinaryIO], bool]
    is_folder: bool = False
    """An empty folder, for services that keep those."""

    def fail(self) -> NoReturn:
        """End the upload: this file is not the one that it was."""
        raise SourceChanged(
            f"{self.name} changed while it was uploaded",
            hint="Nothing was recorded. Upload it again when nothing else writes to it.",
        )


@dataclass(frozen=True, slots=True)
class UploadSource:
    """One or more files that go up together.

    >>> UploadSource(parts=(), name="nothing", size=0).is_folder
    False
    """

    parts: tuple[Part, ...]
    name: str
    size: int
    is_folder: bool = False
    close: Callable[[], None] = field(default=lambda: None)
    left_out: LeftOut | None = None


UploadSource.__module__ = "pinui"  # as people import it


class FileStatus(NamedTuple):
    """The part of an `os.stat_result` that tells whether a file has changed: there may be many."""

    st_mode: int
    st_dev: int
    st_ino: int
    st_size: int
    st_mtime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The same of a whole one."""
        return cls(status.st_mode, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


class FoundFile(NamedTuple):
    """A file in a folder."""

    name: str
    """Below the folder, with slashes."""
    place: str
    status: FileStatus

    @property
    def path(self) -> Path:
        return Path(self.place)

    @property
    def size(self) -> int:
        return self.status.st_size


@dataclass(frozen=True, slots=True)
class FolderContents:
    """The contents of a folder as an upload takes them."""

    folder: Path
    files: tuple[FoundFile, ...]
    """By name."""
    size: int
    left_out: LeftOut
    empty: tuple[str, ...] = ()
    """Folders without anything to upload, named like the files; those around other ones are not among them."""


OnFound = Callable[[int, int], None]
"""Called with the number of files found so far and their bytes; an exception from it ends the walk."""

Uploadable = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Blob | FolderContents | UploadSource


def open_source(
    file: Uploadable,
    rules: FolderRules = USUAL,
    *,
    empty_folders: bool = False,
    on_found: OnFound | None = None,
) -> UploadSource:
    """Look at a source; the rules are for folders. Touches the disk: call it in a thread."""
    if isinstance(file, UploadSource):
        return file
    if isinstance(file, FolderContents):
        return _from_folder(file, empty_folders=empty_folders)
    if isinstance(file, Blob):
        return _from_bytes(bytes(file.data), _last_part(file.name), file.type)
    if isinstance(file, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(file), UNNAMED, "")
    if isinstance(file, (str, os.PathLike)):
        path = Path(file)
        if path.is_dir():
            return _from_folder(look_into(path, rules, on_found=on_found), empty_folders=empty_folders)
        part = _from_file(FoundFile(path.name, str(path), FileStatus.of(path.stat())), path.name)
        return UploadSource((part,), path.name, part.size)
    if hasattr(file, "read"):
        # An empty read shows whether a file gives bytes or text; its class doesn't: temporary files wrap either kind.
        if isinstance(cast(object, file.read(0)), str):
            raise TypeError("the file is open as text; open it in binary mode ('rb')")
        return _from_open_file(file)
    raise TypeError(f"upload takes a path, bytes, an open binary file or a Blob, not {type(file).__name__}")


def look_into(
    folder: Path,
    rules: FolderRules = USUAL,
    *,
    on_found: OnFound | None = None,
    on_error: Callable[[OSError], None] | None = None,
) -> FolderContents:
    """Find the files that an upload of a folder takes, and count the entries that it leaves out.

    A folder that can't be read is an error, or goes to `on_error`. Touches the disk: call it in a thread.
    """
    walk = FolderWalk(folder, rules, on_found, on_error)
    files = tuple(walk)
    empty = sorted(walk.empty, key=lambda name: name.split("/"))
    return FolderContents(folder, files, walk.size, walk.left_out, tuple(empty))


@dataclass(slots=True)
class FolderWalk:
    """A walk through the files of a folder, in the order of their names; the numbers are right at its end.

    Nothing is kept but the entries of the folders around the current file. Touches the disk: go on in a thread.
    """

    folder: Path
    rules: FolderRules = USUAL
    on_found: OnFound | None = None
    on_error: Callable[[OSError], None] | None = None
    """Called for a folder that can't be read; without it, that is an error."""
    files: int = 0
    size: int = 0
    empty: list[str] = field(default_factory=list[str])
    """Folders without anything to upload; those around other ones are not among them."""
    left_out: LeftOut = field(default_factory=LeftOut)

    def __iter__(self) -> Iterator[FoundFile]:
        rules, is_excluded = self.rules, self.rules.excluded_in(self.folder)
        hidden = links = excluded = empty_folders = 0
        visits = [self._open(_Visit("", self.folder, frozenset()))]
        while visits:
            here = visits[-1]
            if not here.entries:
                visits.pop()
                if visits and not here.holds_files:
                    empty_folders += 1
                    self.empty += [] if here.holds_empty else [here.prefix.rstrip("/")]
                if visits:
                    visits[-1].note(here)
                continue
            entry = here.entries.pop()
            if self.on_found is not None:
                self.on_found(self.files, self.size)
            is_link = entry.is_symlink() or (os.name == "nt" and _is_junction(entry))
            if is_hidden(entry.name) and not rules.hidden:
                hidden += bool(here.prefix) or entry.name != IGNORE_FILE  # nobody misses the list of patterns itself
            elif is_excluded is not None and is_excluded(here.prefix + entry.name + "/" * entry.is_dir()):
                excluded += 1
            elif is_link and not rules.follow_links:
                links += 1
            elif entry.is_dir():
                visits.append(self._open(here.enter(entry, checked=rules.follow_links)))
            else:
                status = FileStatus.of(entry.stat(follow_symlinks=is_link))
                here.holds_files = True
                self.files, self.size = self.files + 1, self.size + status.st_size
                yield FoundFile(here.prefix + entry.name, entry.path, status)
        self.left_out = LeftOut(hidden=hidden, links=links, empty_folders=empty_folders, excluded=excluded)

    def _open(self, visit: _Visit) -> _Visit:
        try:
            visit.entries = sorted(os.scandir(visit.path), key=lambda entry: entry.name, reverse=True)
        except OSError as error:
            if self.on_error is None:
                raise
            self.on_error(error)
        return visit


@dataclass(slots=True)
class _Visit:
    """A folder that is looked into. `above` are those around it, by identity: a link that leads to one is a loop."""

    prefix: str
    path: str | Path
    above: frozenset[tuple[int, int]]
    entries: list[os.DirEntry[str]] = field(default_factory=list[os.DirEntry[str]])
    """Those that are left, the next one last."""
    holds_files: bool = False
    holds_empty: bool = False
    """Whether it holds a folder without anything to upload."""

    def note(self, inner: _Visit) -> None:
        """An inner folder is done."""
        self.holds_files |= inner.holds_files
        self.holds_empty |= not inner.holds_files

    def enter(self, entry: os.DirEntry[str], *, checked: bool) -> _Visit:
        above = self.above
        if checked:
            status = os.stat(self.path)  # noqa: PTH116  # a text, most of the time
            above |= {(status.st_dev, status.st_ino)}
            inner = os.stat(entry.path)  # noqa: PTH116
            if (inner.st_dev, inner.st_ino) in above:
                raise PinuiError(f"{entry.path} leads back to a folder around it, so following it has no end")
        return _Visit(f"{self.prefix}{entry.name}/", entry.path, above)


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is Windows' other kind of link to a folder."""
    return getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == 0xA000_0003


async def contents_of(
    folder: Path,
    rules: FolderRules = USUAL,
    *,
    on_found: OnFound | None = None,
    on_error: Callable[[OSError], None] | None = None,
) -> FolderContents:
    """`look_into` beside the loop; cancelling it ends the walk. The callbacks are called in another thread."""

    def look(go_on: OnFound) -> FolderContents:
        return look_into(folder, rules, on_found=go_on, on_error=on_error)

    return await _walking(look, on_found)


async def _walking(work: Callable[[OnFound], Walked], on_found: OnFound | None = None) -> Walked:
    """Do some work in a thread, with a function to call on the way; cancelling it ends the work there."""
    cancelled = threading.Event()

    def go_on(files: int, size: int) -> None:
        if cancelled.is_set():
            raise PinuiError("The upload was cancelled")
        if on_found is not None:
            on_found(files, size)

    try:
        return await asyncio.to_thread(work, go_on)
    finally:
        cancelled.set()


async def look_at(file: Uploadable, rules: FolderRules = USUAL, *, empty_folders: bool = False) -> UploadSource:
    """`open_source` beside the loop. A pipe is read by a daemon thread: a silent one keeps no program alive."""
    known = (UploadSource, FolderContents, Blob, bytes, bytearray, memoryview, str, os.PathLike)
    if isinstance(file, known) or _is_seekable(file):

        def look(go_on: OnFound) -> UploadSource:
            return open_source(file, rules, empty_folders=empty_folders, on_found=go_on)

        return await _walking(look)
    loop = asyncio.get_running_loop()
    found: asyncio.Future[UploadSource] = loop.create_future()

    def tell(source: UploadSource | None, error: Exception | None) -> None:
        if found.cancelled():
            if source is not None:
                source.close()
        elif error is not None:
            found.set_exception(error)
        elif source is not None:
            found.set_result(source)

    def read() -> None:
        source, error = None, None
        try:
            source = open_source(file)
        except Exception as caught:  # noqa: BLE001  # the waiting caller gets it
            error = caught
        with suppress(RuntimeError):  # the loop is closed, and no caller waits
            loop.call_soon_threadsafe(tell, source, error)

    threading.Thread(target=read, name="pinui reads a pipe", daemon=True).start()
    return await found


def _is_seekable(file: object) -> bool:
    seekable = getattr(file, "seekable", None)
    return seekable is None or bool(seekable())


def _last_part(name: object) -> str:
    """The name without folders: the API takes one with a slash for a file in a directory, and pins that."""
    return (os.path.basename(name) if isinstance(name, str) else "") or UNNAMED  # noqa: PTH119  # also "<stdin>"


def _from_bytes(data: bytes, name: str, media_type: str) -> UploadSource:
    part = Part(name, len(data), media_type or media_type_of(name), lambda: io.BytesIO(data), _as_it_was)
    return UploadSource((part,), name, len(data))


def _from_file(found: FoundFile, name: str) -> Part:
    place, seen = found.place, found.status  # no Path: a folder may have many files, and each would cost its making
    if not stat.S_ISREG(seen.st_mode):
        raise PinuiError(f"{place} is not a regular file")
    if not os.access(place, os.R_OK):
        raise PermissionError(errno.EACCES, "no permission to read it", place)

    def unchanged(file: BinaryIO) -> bool:
        # The open file, and the file that has its name now: a replaced file is a change, too.
        try:
            return _identity(os.fstat(file.fileno())) == _identity(os.stat(place)) == _identity(seen)  # noqa: PTH116
        except OSError:
            return False

    media_type = media_type_of(name.rpartition("/")[2])
    return Part(name, seen.st_size, media_type, lambda: open(place, "rb", buffering=0), unchanged)


def _from_folder(contents: FolderContents, *, empty_folders: bool) -> UploadSource:
    """The files of a folder, each named with the folder's own name in front: the API's form of a directory."""
    folder = contents.folder
    left_out = replace(contents.left_out, empty_folders=0) if empty_folders else contents.left_out
    if not contents.files and (left_out or not empty_folders):
        why = f" (left out: {left_out})" if left_out else ""
        hint = "Hidden names and links are taken in on request." if left_out else None
        raise PinuiError(f"{folder} holds no files to upload{why}", hint=hint)
    # The root's name is no part of the CID. Servers take one with a back-slash for a path of an old Windows program.
    name = Path(os.path.abspath(folder)).name.replace("\\", "_") or "folder"  # noqa: PTH100  # a link keeps its name
    parts = [_from_file(file, f"{name}/{file.name}") for file in contents.files]
    if empty_folders and contents.empty:
        parts += [_empty_folder(f"{name}/{inner}") for inner in contents.empty]
        parts.sort(key=lambda part: part.name.split("/"))
    return UploadSource(tuple(parts or [_empty_folder(name)]), name, contents.size, is_folder=True, left_out=left_out)


def _empty_folder(name: str) -> Part:
    return Part(name, 0, "", lambda: io.BytesIO(b""), _as_it_was, is_folder=True)


def _from_open_file(file: BinaryIO) -> UploadSource:
    label = _last_part(getattr(file, "name", None))
    label = UNNAMED if label.startswith("<") else label  # <stdin>
    if not (hasattr(file, "seekable") and file.seekable()):
        return _spooled(file, label)
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    seen = _identity_of_open(file)

    def rewound() -> BinaryIO:
        file.seek(start)
        return cast(BinaryIO, _Borrowed(file))

    def unchanged(_file: BinaryIO) -> bool:
        return _identity_of_open(file) == seen

    part = Part(label, size, media_type_of(label), rewound, unchanged)
    return UploadSource((part,), label, size)


def _spooled(file: BinaryIO, label: str) -> UploadSource:
    """A pipe can't tell its length or be read twice: it goes to a nameless temporary file first."""
    spool = tempfile.TemporaryFile()  # noqa: SIM115  # closed by the source
    while piece := file.read(PIECE):
        spool.write(piece)
    size = spool.tell()

    def rewound() -> BinaryIO:
        spool.seek(0)
        return cast(BinaryIO, _Borrowed(spool))

    part = Part(label, size, media_type_of(label), rewound, _as_it_was)
    return UploadSource((part,), label, size, close=spool.close)


def _as_it_was(_file: BinaryIO) -> bool:
    """Content that nobody else can change."""
    return True


class _Borrowed:
    """An open file of the caller, which is read here and closed there."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        pass


def _identity(seen: os.stat_result | FileStatus) -> tuple[int, int, int, int]:
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns


def _identity_of_open(file: BinaryIO) -> tuple[int, int, int, int] | None:
    with suppress(OSError, AttributeError, io.UnsupportedOperation):
        return _identity(os.fstat(file.fileno()))
    return None
