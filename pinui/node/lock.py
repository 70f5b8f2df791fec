"""Sharing a data folder with other processes: waiting for them, and telling their drafts from those of dead ones."""

from __future__ import annotations

import logging
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pinui.disk import OwnerLock
from pinui.node.errors import FolderBusy, is_busy

__all__ = ["FolderLock", "Patience"]

# Seconds until a notice about the other process, and until the wait ends with an error.
QUIET = 1.0
LIMIT = 20.0
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.01
T = TypeVar("T")
log = logging.getLogger("pinui.node")


class Patience:
    """A node's way of waiting for other processes: a notice after a second, and an end when the node is stopped."""

    def __init__(self, folder: Path, stop: threading.Event | None = None) -> None:
        self._folder = folder
        self._stop = stop or threading.Event()

    def check(self) -> None:
        """Raise `FolderBusy` if the node has been stopped: for work that takes long."""
        if self._stop.is_set():
            raise FolderBusy(f"The node was stopped before it was done with the folder {self._folder}.")

    def until(self, attempt: Callable[[], T]) -> T:
        """Try until no other process is in the way; `FolderBusy` at the limit, and when the node is stopped."""
        began, pause, told = time.monotonic(), FIRST_PAUSE, False
        while True:
            try:
                return attempt()
            except (BlockingIOError, sqlite3.OperationalError) as error:
                if not is_busy(error):
                    raise
            self.check()
            waited = time.monotonic() - began
            if waited >= LIMIT:
                raise FolderBusy(
                    f"Another process has held the node's folder {self._folder} for {LIMIT:.0f} seconds. "
                    "Wait until it is done, or end it, and try again."
                )
            if waited >= QUIET and not told:
                told = True
                log.warning("Waiting for another process, which holds the node's folder %s.", self._folder)
            self._stop.wait(pause)
            pause = min(LONGEST_PAUSE, pause * 2)


class FolderLock:
    """A file `NAME.lock` that is locked while its owner lives; the owner's files are called `NAME-…`."""

    def __init__(self, folder: Path) -> None:
        """Make a new lock, with the folder locked: before it is locked, others would take its owner for dead."""
        self._folder = folder
        self.name = secrets.token_hex(8)
        self._lock = OwnerLock.hold(folder / f"{self.name}.lock")
        self.release = self._lock.release

    def left_over(self) -> list[Path]:
        """The files of owners that crashed without releasing their lock. The folder is locked, too."""
        alive = {self.name: True}
        left: list[Path] = []
        for path in self._folder.iterdir():
            owner = path.name.partition(".")[0].partition("-")[0]
            if owner not in alive:
                alive[owner] = self.is_alive(owner)
            if not alive[owner]:
                left.append(path)
        return left

    def is_alive(self, owner: str) -> bool:
        """Whether another owner holds its lock."""
        try:
            OwnerLock.of_dead_owner(self._folder / f"{owner}.lock").close()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False
