"""Folders that another process keeps locked."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def held_folder(folder: Path) -> Iterator[int]:
    """Lock a folder as another process would; closing the descriptor releases it."""
    folder.mkdir(parents=True, exist_ok=True)
    fd = os.open(folder, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        yield fd
    finally:
        with suppress(OSError):
            os.close(fd)
