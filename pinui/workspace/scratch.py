"""Temporary folders for content: only their owner can enter them, and those of a killed process are removed later."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pinui.disk import OwnerLock

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["is_scratch", "remove_left_overs", "scratch_folder"]

PREFIX = "pinui-"
LOCK = ".pinui-scratch"
"""A file in each folder, locked as long as the folder's owner lives."""
NEW = f"{LOCK}.new"
YOUNG = 60.0
"""Seconds in which a new folder is locked."""


@contextmanager
def scratch_folder() -> Generator[Path]:
    """A new folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        lock = OwnerLock.hold(folder / LOCK)
        try:
            yield folder
        finally:
            _empty(folder)
            lock.release()


def is_scratch(path: Path) -> bool:
    """Whether a file or folder is in such a temporary folder."""
    return (path.parent / LOCK).exists()


def remove_left_overs() -> None:
    """Remove the folders of processes that died without removing them."""
    if os.name == "nt":  # without locks, a folder is removed by its owner alone
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # another user's, or another process was faster
            if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
                continue
            try:
                lock = OwnerLock.of_dead_owner(folder / LOCK)
            except FileNotFoundError:
                _remove_unlocked(folder)
                continue
            _empty(folder)
            lock.release()
            folder.rmdir()


def _empty(folder: Path) -> None:
    """Remove everything but the lock, which goes last: after a kill in between, the rest is still found."""
    for entry in folder.iterdir():
        if entry.name in (LOCK, NEW):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _remove_unlocked(folder: Path) -> None:
    """Remove a folder whose process was killed before it locked it, or after it emptied it."""
    if time.time() - folder.lstat().st_mtime > YOUNG:
        if {entry.name for entry in folder.iterdir()} <= {NEW}:
            (folder / NEW).unlink(missing_ok=True)
        folder.rmdir()  # fails if it holds anything else: then it is somebody else's
