"""Owners: a process that works on transfers holds a locked file, and the lock ends with the process."""

from __future__ import annotations

import os
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING

from pinui.disk import lock_now, private_folder

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Owner", "is_alive"]


class Owner:
    """This process as an owner of transfers. Its name is written beside them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: int | None = None
        self.name = token_hex(8)

    def hold(self) -> None:
        """Lock the file of this owner; the first call makes it."""
        if self._lock is not None:
            return
        private_folder(self._folder)
        new = self._folder / f".{self.name}"  # no other process looks at it before it is locked
        lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            lock_now(lock)
            new.rename(self._folder / self.name)
        except BaseException:
            os.close(lock)
            raise
        self._lock = lock

    def release(self) -> None:
        """Unlock and remove the file."""
        if self._lock is not None:
            (self._folder / self.name).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None


def is_alive(folder: Path, name: str) -> bool:
    """Whether the owner of this name still runs; the file of a dead one is removed."""
    path = folder / name
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        lock_now(descriptor)
    except BlockingIOError:
        return True
    else:
        with suppress(OSError):
            path.unlink()
        return False
    finally:
        os.close(descriptor)
