"""Time and peak memory of a program, and tables of both."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.memory import peak_kib


@dataclass(frozen=True)
class Measured:
    seconds: float
    peak_kib: int


def run(command: Sequence[str], *, quiet: bool = True) -> Measured:
    """Run a program to its end; its failure ends the bench."""
    start = time.perf_counter()
    sink = subprocess.DEVNULL if quiet else None
    process = subprocess.Popen(command, stdout=sink, stderr=None)
    peaks = [0]
    watching = threading.Thread(target=_watch, args=(process.pid, peaks))
    watching.start()
    if process.wait():
        sys.exit(f"{command[0]} failed with {process.returncode}")
    seconds = time.perf_counter() - start
    watching.join()
    return Measured(seconds, max(peaks))


def _watch(pid: int, peaks: list[int]) -> None:
    """Note the peak until the program ends: it is a high-water mark, so that only the last moment can be missed."""
    with suppress(OSError):
        while peak := peak_kib(pid):
            peaks.append(peak)
            time.sleep(0.005)


def best(command: Sequence[str], times: int = 3) -> Measured:
    """The best of a few runs, in time and in memory: noise only ever adds."""
    runs = [run(command) for _ in range(times)]
    return Measured(min(one.seconds for one in runs), min(one.peak_kib for one in runs))


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns that line up: the first to the left, numbers to the right."""
    cells = [[str(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        print(
            "  " + row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            sep="  ",
        )
    sys.stdout.flush()


@contextmanager
def null_server(payload: Path | None = None) -> Iterator[str]:
    """A server that swallows any upload and serves one file: what remains is the client's own cost."""
    command = [sys.executable, "-m", "tests.bench.null_server", *([str(payload)] if payload else [])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
