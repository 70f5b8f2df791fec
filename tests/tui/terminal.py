"""A real terminal: the program on a pty, what it wrote, and keys for it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence

__all__ = ["Terminal"]

ESCAPES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves, modes
    rb"|\x1b[\]P_^X].*?(?:\x07|\x1b\\)"  # titles, clipboards, strings
    rb"|\x1b[ -/]*[0-~]",
    re.DOTALL,
)


class Terminal:
    """One program on one pty. Everything it writes is kept."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], *, cols: int = 120, rows: int = 40) -> None:
        self.raw = b""
        self._from = 0
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
                # The size is the terminal's own: these two, which test runners set, would be believed instead.
                own = {name: value for name, value in env.items() if name not in ("COLUMNS", "LINES")}
                os.execvpe(argv[0], list(argv), {**own, "TERM": "xterm-256color", "COLORTERM": "truecolor"})
            finally:
                os._exit(127)

    def read(self, seconds: float) -> bytes:
        """What it writes within this time, as soon as there is something."""
        if not select.select([self.master], [], [], seconds)[0]:
            return b""
        try:
            chunk = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            chunk = b""
        self.raw += chunk
        return chunk

    def press(self, *keys: str) -> None:
        """Send keys; what is waited for next must come after them."""
        while self.read(0.05):  # let it finish what the keys before brought about
            pass
        self._from = len(self.raw)
        for key in keys:
            os.write(self.master, key.encode())

    def paste(self, text: str) -> None:
        """Paste, as a terminal does it."""
        self.press(f"\x1b[200~{text}\x1b[201~")

    def shows(self, text: str, *, patience: float = 60.0) -> None:
        """Wait until this text is painted, in one style and on one line."""
        end = time.monotonic() + patience
        while text.encode() not in ESCAPES.sub(b"", self.raw[self._from :]):
            if time.monotonic() > end:
                seen = ESCAPES.sub(b" ", self.raw[self._from :]).decode("utf-8", "replace")
                raise AssertionError(f"never shown: {text}\nafter the last keys: {seen[-3000:]}")
            self.read(0.1)

    def exit_code(self, *, patience: float = 60.0) -> int:
        """Wait for the end."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError("it did not end")

    def close(self) -> None:
        """End the program if it still runs."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        os.close(self.master)
