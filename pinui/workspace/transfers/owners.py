"""Owners: a process that works on transfers holds a locked file, and the lock ends with the process."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING

from pinui.disk import OwnerLock, private_folder

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Owner", "is_alive"]


class Owner:
    """This process as an owner of transfers. Its name is written beside them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: OwnerLock | None = None
        self.name = token_hex(8)

    def hold(self) -> None:
        """Lock the file of this owner; the first call makes it."""
        if self._lock is None:
            private_folder(self._folder)
            self._lock = OwnerLock.hold(self._folder / self.name)

    def release(self) -> None:
        """Unlock and remove the file."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def is_alive(folder: Path, name: str) -> bool:
    """Whether the owner of this name still runs; the file of a dead one is removed."""
    try:
        OwnerLock.of_dead_owner(folder / name).release()
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False
