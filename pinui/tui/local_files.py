"""Files of this machine, as the workbench reads, finds and writes them."""

from __future__ import annotations

import asyncio
import os
import shlex
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pinui.sdk.writing.folder_rules import is_hidden
from pinui.workspace import WorkspaceError
from pinui.workspace.text import natural_key

__all__ = [
    "LARGEST_TEXT",
    "TOO_LARGE",
    "FileRow",
    "changed_at",
    "find_paths",
    "place_to_save",
    "read_folder",
    "text_of_file",
]

LARGEST_TEXT = 256_000
"""The most characters in the editor: the more it holds, the slower it answers each key."""
TOO_LARGE = "That is too large for the editor: upload it as a file (3), or use `pinui store @FILE`."


@dataclass(frozen=True, slots=True)
class FileRow:
    """One name in the folder."""

    path: Path
    is_dir: bool
    size: int | None
    target: str = ""
    """The target of a link."""


def read_folder(folder: Path, hidden: bool) -> list[FileRow]:
    """The folder's names, folders first. An unreadable file has no size."""
    rows: list[FileRow] = []
    with os.scandir(folder) as names:
        for name in names:
            if is_hidden(name.name) and not hidden:
                continue
            try:
                is_dir, target = name.is_dir(), str(Path(name.path).readlink()) if name.is_symlink() else ""
                rows.append(FileRow(Path(name.path), is_dir, None if is_dir else name.stat().st_size, target))
            except OSError:
                rows.append(FileRow(Path(name.path), False, None))
    return sorted(rows, key=lambda row: (not row.is_dir, natural_key(row.path.name)))


def changed_at(folder: Path) -> int | None:
    """When names were last added to a folder or taken away; None for one that can't be looked at."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def find_paths(text: str) -> list[FileRow]:
    """The paths in typed or pasted text: one a line, or several as a shell would read them.

    Shells and file managers put quotes around them, and terminals do when files are dropped on them.
    """
    found: list[FileRow] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        for name in [line] if _path(line).exists() else _words(line):
            path = _path(name)
            status = path.stat()
            is_dir = stat.S_ISDIR(status.st_mode)
            found.append(FileRow(path, is_dir, None if is_dir else status.st_size))
    return found


def _path(name: str) -> Path:
    if name.startswith("file://"):
        name = unquote(urlsplit(name).path)
    if not _can_be(name):
        raise WorkspaceError("No file is called that: the name holds a character that names cannot have.")
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError:
        raise WorkspaceError(f"There is no home folder {name.split('/', 1)[0]} on this machine.") from None


def _can_be(name: str) -> bool:
    try:
        return b"\0" not in os.fsencode(name)
    except ValueError:
        return False


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quote that is never closed is part of a name
        return [line]


async def text_of_file(name: str) -> str:
    """The text of a file, for the editor."""
    path = _path(name)
    try:
        text = await asyncio.to_thread(_beginning, path)
    except UnicodeDecodeError:
        raise WorkspaceError(f"{path.name} is not text: upload it as a file (3).") from None
    if len(text) > LARGEST_TEXT:
        raise WorkspaceError(TOO_LARGE)
    return text


def _beginning(path: Path) -> str:
    """Read at most one character more than the editor takes: the size of a file is known only after reading it."""
    if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():  # opening a folder says what is wrong with it
        raise WorkspaceError(f"{path.name} is a device or a pipe: only files can be loaded.")
    with path.open(encoding="utf-8-sig") as file:
        return file.read(LARGEST_TEXT + 1)


async def place_to_save(name: str) -> Path:
    """The path of a file that can be written there."""
    path = _path(name)
    if await asyncio.to_thread(path.is_dir):
        raise WorkspaceError(f"{name} is a folder: add a name for the file.")
    if not await asyncio.to_thread(path.parent.is_dir):
        raise WorkspaceError(f"There is no folder {path.parent}.")
    return path
