"""Whose drafts are whose: each node that uses a folder holds a lock there, and a dead one's lock is free."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Generator
from pathlib import Path

__all__ = ["FolderLock", "alone_in"]

try:
    import fcntl
except ImportError:  # Windows: a file that is open can't be removed there, which is all that is needed
    fcntl = None


@contextlib.contextmanager
def alone_in(folder: Path) -> Generator[None]:
    """Wait until no other process is in here; Windows does without."""
    if fcntl is None:
        yield
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


class FolderLock:
    """A file `NAME.lock` that is locked while its owner lives; what the owner makes is called `NAME-…`."""

    def __init__(self, folder: Path, name: str, fd: int) -> None:
        self._folder = folder
        self.name = name
        self._fd = fd

    @classmethod
    def take(cls, folder: Path) -> FolderLock:
        """Make a new lock, `alone_in` there: before it is locked, others would take its owner for dead."""
        name = secrets.token_hex(8)
        fd = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        _try_lock(fd)
        return cls(folder, name, fd)

    def release(self) -> None:
        """Give the name up."""
        path = self._folder / f"{self.name}.lock"
        if fcntl is None:
            os.close(self._fd)
        with contextlib.suppress(OSError):
            path.unlink()
        if fcntl is not None:
            os.close(self._fd)

    def left_over(self) -> list[Path]:
        """What owners left who are gone without giving their name up: they crashed. `alone_in` there, too."""
        alive = {self.name: True}
        left: list[Path] = []
        for path in self._folder.iterdir():
            owner = path.name.partition(".")[0].partition("-")[0]
            if owner not in alive:
                alive[owner] = self._is_alive(owner)
            if not alive[owner]:
                left.append(path)
        return left

    def _is_alive(self, owner: str) -> bool:
        path = self._folder / f"{owner}.lock"
        try:
            fd = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        try:
            return not _try_lock(fd)
        finally:
            os.close(fd)


def _try_lock(fd: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
