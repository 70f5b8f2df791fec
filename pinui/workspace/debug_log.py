"""The log of `--debug`: each request with its answer and time, and where errors came from, without secrets."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pinui.disk import private_folder
from pinui.sdk.secret import masked
from pinui.workspace.paths import Paths
from pinui.workspace.text import clean, encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

__all__ = ["debug_file", "debug_log"]


@contextmanager
def debug_log(write: Callable[[str], None]) -> Generator[None]:
    """Write each line that pinui logs."""
    log, handler = logging.getLogger("pinui"), _Lines(write)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@contextmanager
def debug_file() -> Generator[Path]:
    """Write the log to a file that only its owner can read, for a program that has the screen for itself."""
    path = Paths.find().debug_log
    private_folder(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(descriptor, "w", encoding="utf-8", buffering=1) as file, debug_log(lambda line: print(line, file=file)):
        yield path


class _Lines(logging.Handler):
    def __init__(self, write: Callable[[str], None]) -> None:
        super().__init__()
        self._write = write
        self.setFormatter(logging.Formatter("{asctime}.{msecs:03.0f} {message}", "%Y-%m-%d %H:%M:%S", style="{"))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write(masked(clean(encodable(self.format(record)))))
        except Exception:  # noqa: BLE001 – a log that can't be written, on a full disk, stops nothing
            self.handleError(record)
