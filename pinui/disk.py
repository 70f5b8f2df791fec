"""Files that are there whole or not at all, folders for their owner alone, and locks between processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["lock_folder", "private_folder", "replacing", "sync_folder", "temporary_beside", "write_private"]

try:
    import fcntl
except ImportError:  # Windows, where a folder can't be locked
    fcntl = None


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter; one that is there stays as the user made it."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)


def temporary_beside(final: Path) -> Path:
    """A free name in the same folder, so that the rename never crosses file systems."""
    from secrets import token_hex  # only writing needs it

    stem = os.fsencode(final.name)[:200].decode(errors="ignore")  # cut as file systems count; it only has to be new
    return final.with_name(f".{stem}.{token_hex(4)}.part")


@contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Generator[BinaryIO]:
    """A new file, open for writing, that takes its place at the end; after an error nothing has changed.

    The user's umask applies to `mode`.
    """
    temporary = temporary_beside(path)
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with suppress(OSError):
        sync_folder(path.parent)


def write_private(path: Path, text: str) -> None:
    """Replace a file as a whole; only its owner can read it."""
    target = path.resolve()  # a link (people keep settings in a repository) stays a link
    private_folder(target.parent)
    with replacing(target, mode=0o600) as file:
        file.write(text.encode())


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last; Windows has no such thing, and does so itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def lock_folder(folder: Path, wait: Callable[[Callable[[], None]], None] | None = None) -> Generator[None]:
    """Keep other processes, and other threads, out of a folder; they have to ask for the lock, too.

    `wait` is given an attempt to repeat until it raises no BlockingIOError. Without it, the wait has no end; and on
    network disks that lock no folders, the last writer wins.
    """
    if fcntl is None:
        yield
        return
    lock, exclusive, at_once = fcntl.flock, fcntl.LOCK_EX, fcntl.LOCK_NB
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if wait is not None:
            wait(lambda: lock(descriptor, exclusive | at_once))
        else:
            with suppress(OSError):
                lock(descriptor, exclusive)
        yield
    finally:
        os.close(descriptor)
