"""`pinui` on a pseudo-terminal: what it shows, and keys for it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import PINUI

__all__ = ["Terminal"]


class Terminal:
    """`pinui` on a pseudo-terminal of 100 × 30."""

    def __init__(self, environment: dict[str, str], folder: Path, *arguments: str) -> None:
        self.seen = b""
        self._master, slave = pty.openpty()
        os.set_blocking(self._master, False)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.process = subprocess.Popen(
            [PINUI, *arguments],
            env=environment,
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def read_until(self, words: str, seconds: float = 60) -> str:
        """Everything shown up to these words."""
        return self.read_until_true(lambda text: words in text, words, seconds)

    def read_until_true(self, enough: Callable[[str], bool], what: str, seconds: float = 60) -> str:
        """Everything shown until it is enough."""
        deadline = time.monotonic() + seconds
        while not enough(self.text):
            assert time.monotonic() < deadline, f"{what!r} did not appear in {self.text!r}"
            if not self._read() and self.process.poll() is not None:
                self._read()
                assert enough(self.text), f"ended without {what!r}: {self.text!r}"
        return self.text

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self, seconds: float = 60) -> int:
        """Wait for the end, read the rest and return the exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still running: {self.text!r}"
            self._read()
        while self._read():
            pass
        os.close(self._master)
        return self.process.returncode

    @property
    def text(self) -> str:
        return self.seen.decode("utf-8", "replace")

    def _read(self) -> bool:
        if not select.select([self._master], [], [], 0.05)[0]:
            return False
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return False
        self.seen += piece
        return bool(piece)
