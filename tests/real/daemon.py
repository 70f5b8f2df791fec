"""A server that is a program of the machine: started, waited for by its own words, stopped."""

from __future__ import annotations

import asyncio
import queue
import re
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TextIO, TypeVar

__all__ = ["Daemon", "answered", "eventually"]

T = TypeVar("T")

PATIENCE = 90.0


class Daemon:
    """A running server. Its output is read all the time, or it would wait for a reader."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.said = ""
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def _read(self, output: TextIO) -> None:
        with output:
            for line in output:
                self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, pattern: str) -> str:
        """Wait until it says this; the first group of the pattern, or all of it."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.said)):
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                Daemon.stop(self)
                raise AssertionError(f"it never said {pattern!r}:\n{self.said}")
            self.said += line
        return found[found.lastindex or 0]

    @staticmethod
    def stop(*daemons: Daemon) -> None:
        """Ask all of them to end, then wait; one that hangs is killed."""
        for daemon in daemons:
            daemon._process.terminate()
        for daemon in daemons:
            try:
                daemon._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                daemon._process.kill()
                daemon._process.wait()

    @staticmethod
    def kill(*daemons: Daemon) -> None:
        """End them at once, as a power cut would."""
        for daemon in daemons:
            daemon._process.kill()
            daemon._process.wait()


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Look again and again until something holds that no server announces."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.05)  # between two looks; nothing is waited for by time alone


async def answered(ask: Callable[[], Awaitable[T]], wanted: Callable[[T], bool]) -> T:
    """The first answer that is wanted: a server asked again and again about something that it does not announce."""
    end = time.monotonic() + PATIENCE
    while not wanted(answer := await ask()):
        assert time.monotonic() < end, f"still {answer}"
        await asyncio.sleep(0.05)  # between two looks; nothing is waited for by time alone
    return answer
