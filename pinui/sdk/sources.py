"""What is uploaded: paths, folders, bytes, open files and blobs, each as named parts that can be read again."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Self, cast

from pinui.sdk.errors import PinuiError
from pinui.sdk.models import Blob
from pinui.sdk.names import media_type_of

__all__ = ["PIECE", "Part", "UploadSource", "Uploadable", "look_at", "open_source"]

UNNAMED = "client-file"
PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Part:
    """One file of an upload. `open` gives it from its beginning; `unchanged` tells whether it is still the same."""

    name: str
    size: int
    media_type: str
    open: Callable[[], BinaryIO]
    unchanged: Callable[[BinaryIO], bool]


@dataclass(frozen=True, slots=True)
class UploadSource:
    """One or more files that go up together."""

    parts: tuple[Part, ...]
    name: str
    size: int
    is_folder: bool = False
    close: Callable[[], None] = field(default=lambda: None)


Uploadable = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Blob | UploadSource


def open_source(file: Uploadable) -> UploadSource:
    """Look at what is to be uploaded. Touches the disk: call it in a thread."""
    if isinstance(file, UploadSource):
        return file
    if isinstance(file, Blob):
        return _from_bytes(bytes(file.data), _last_part(file.name), file.type)
    if isinstance(file, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(file), UNNAMED, "")
    if isinstance(file, (str, os.PathLike)):
        path = Path(file)
        return _from_folder(path) if path.is_dir() else _from_files([(path.name, path)], path.name)
    if hasattr(file, "read"):
        # Asked for nothing, a file tells what it gives; its class doesn't: temporary files wrap either kind.
        if isinstance(cast(object, file.read(0)), str):
            raise TypeError("the file is open as text; open it in binary mode ('rb')")
        return _from_open_file(file)
    raise TypeError(f"upload takes a path, bytes, an open binary file or a Blob, not {type(file).__name__}")


async def look_at(file: Uploadable) -> UploadSource:
    """`open_source` beside the loop. A pipe is read by a daemon thread: a silent one keeps no program alive."""
    if isinstance(file, (UploadSource, Blob, bytes, bytearray, memoryview, str, os.PathLike)) or _is_seekable(file):
        return await asyncio.to_thread(open_source, file)
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
        except Exception as caught:  # noqa: BLE001  # handed to whoever waits
            error = caught
        with suppress(RuntimeError):  # the loop is gone, and with it whoever waited
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
    part = Part(name, len(data), media_type or media_type_of(name), lambda: io.BytesIO(data), lambda _file: True)
    return UploadSource((part,), name, len(data))


def _from_files(files: Iterable[tuple[str, Path]], name: str, *, is_folder: bool = False) -> UploadSource:
    parts = tuple(_from_path(path, part_name) for part_name, path in files)
    return UploadSource(parts, name, sum(part.size for part in parts), is_folder)


def _from_path(path: Path, name: str) -> Part:
    seen = path.stat()
    if not stat.S_ISREG(seen.st_mode):
        raise PinuiError(f"{path} is not a regular file")
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, "no permission to read it", str(path))

    def unchanged(file: BinaryIO) -> bool:
        # The open file, and what stands under its name now: a replaced file is a change, too.
        try:
            return _identity(os.fstat(file.fileno())) == _identity(path.stat()) == _identity(seen)
        except OSError:
            return False

    return Part(name, seen.st_size, media_type_of(path.name), lambda: path.open("rb"), unchanged)


def _from_folder(folder: Path) -> UploadSource:
    """All files below a folder, each named with the folder's own name in front: the API's form of a directory."""
    # The root's name is no part of the CID. Servers take one with a back-slash for a path of an old Windows program.
    root = (folder.resolve().name or "folder").replace("\\", "_")
    files = [(f"{root}/{path.relative_to(folder).as_posix()}", path) for path in _files_below(folder)]
    if not files:
        raise PinuiError(f"{folder} holds no files: there is nothing to upload")
    return _from_files(files, root, is_folder=True)


def _files_below(folder: Path) -> list[Path]:
    """Every file, in order. A folder that can't be read is an error: what is left out would be missed by nobody."""

    def refuse(error: OSError) -> None:
        raise error

    files: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=refuse):
        for name in folders:
            if (path := Path(parent, name)).is_symlink():
                raise PinuiError(f"{path} is a link to a folder; upload what it points to by itself")
        files += [Path(parent, name) for name in names]
    return sorted(files)


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

    part = Part(label, size, media_type_of(label), rewound, lambda _file: _identity_of_open(file) == seen)
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

    part = Part(label, size, media_type_of(label), rewound, lambda _file: True)
    return UploadSource((part,), label, size, close=spool.close)


class _Borrowed:
    """Somebody else's open file: reading is ours, closing is not."""

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


def _identity(seen: os.stat_result) -> tuple[int, int, int, int]:
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns


def _identity_of_open(file: BinaryIO) -> tuple[int, int, int, int] | None:
    with suppress(OSError, AttributeError, io.UnsupportedOperation):
        return _identity(os.fstat(file.fileno()))
    return None
