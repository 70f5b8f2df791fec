"""Pins with 10,000, 100,000 and 1,000,000 rows: writing, room, filters, first rows, keys and memory."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from pinui.ipfs.cid import DAG_PB, SHA2_256, Cid
from pinui.sdk.models import Pin
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.account import begin_run, merge_pins
from pinui.workspace.history.lines import import_lines
from pinui.workspace.rows import Query, Sort
from tests.bench.measure import table
from tests.memory import peak_kib
from tests.tui.terminal import ESCAPES, Terminal

COUNTS = (3, 10_000, 100_000, 1_000_000)
ADDED = 20_000
"""Rows that are written for a measurement."""
WORDS = [
    *("alpha", "bravo", "photo", "invoice", "draft", "report", "summer"),
    *("winter", "config", "budget", "release", "notes", "meeting", "travel"),
]
FILTERS = [
    *("photo", "draft-000", "needle", "zzzzqqqq", "png", "alpha png", "-photo", "photo -png", "-png -txt"),
    *("size:>1mb photo", "size:>2.9mb", "size:>1gb", "age:<7d", "age:>1y photo", "kind:file png", "kind:json"),
    *("on:here photo", "on:account", "is:revoked", "is:verified", "to:alice", "bafybei", "bafybeia", "cafe"),
]
SORTS: tuple[Sort, ...] = ("newest", "oldest", "name", "name-reversed", "size", "size-reversed")
KEYS = {"j": "j", "page": "\x1b[6~", "G": "G", "g": "g"}


def cid(text: str) -> str:
    """A CID of its own for each text."""
    return str(Cid(1, DAG_PB, SHA2_256, hashlib.sha256(text.encode()).digest()))


def lines(count: int, first: int = 0) -> Iterator[bytes]:
    """Made-up lines to import, newest first."""
    chance = random.Random(first)
    for number in range(first, first + count):
        name = f"{chance.choice(WORDS)}-{number:07}.{chance.choice(['png', 'txt'])}" if number else "needle"
        row = {"cid": cid(str(number)), "timestamp": 1_700_000_000_000 - number * 1000, "size": number * 37 % 3_000_000}
        yield json.dumps({**row, "kind": "file", "name": name}).encode() + b"\n"


def fill(history: HistoryFile, count: int) -> None:
    """Import so many rows, without care for the disk."""
    for setting in ("synchronous = OFF", "journal_mode = OFF", "cache_size = -200000"):
        history.connection.execute(f"PRAGMA {setting}")
    for first in range(0, count, 50_000):
        import_lines(history, io.BytesIO(b"".join(lines(min(count - first, 50_000), first))), profile="local")
    history.close()


def rate(work: Callable[[], object]) -> str:
    """Rows a second of the processor's time, and of time itself."""
    begun, used = time.perf_counter(), time.process_time()
    work()
    used, begun = time.process_time() - used, time.perf_counter() - begun
    return f"{ADDED / used:,.0f} ({ADDED / begun:,.0f})"


def written(history: HistoryFile, count: int) -> tuple[str, str]:
    """The rates of an import and of the mirror."""
    text = io.BytesIO(b"".join(lines(ADDED, count)))
    imported = rate(lambda: import_lines(history, text, profile="local"))
    pins = [
        Pin(
            cid=cid(f"pin {number}"),
            name=f"{WORDS[number % 14]}-{number}.png",
            size=number * 91,
            created=10**12 - number,
        )
        for number in range(ADDED)
    ]
    run = begin_run(history, "mine", "bench", 1, full=True)
    mirrored = rate(lambda: [merge_pins(history, run, pins[at : at + 5000], 1) for at in range(0, ADDED, 5000)])
    return imported, mirrored


def filtered(history: HistoryFile, sorts: Sequence[Sort]) -> float:
    """Milliseconds of the processor until the first page of a filter is there, at the 95th of a hundred."""
    known = history.page(Query(of="pins", profile="local"), limit=1)[0].cid
    times: list[float] = []
    for text in (*FILTERS, known[:10], known[-5:], known):
        for sort in sorts:
            begun = time.process_time()
            history.page(Query(text, of="pins", profile="local", sort=sort), limit=200)
            times.append((time.process_time() - begun) * 1000)
    return sorted(times)[int(len(times) * 0.95)]


@contextmanager
def workbench(home: Path) -> Iterator[tuple[Terminal, float]]:
    """The workbench in a terminal, and the seconds until its rows are there."""
    env = {**os.environ, "PINUI_HOME": str(home), "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    begun = time.perf_counter()
    terminal = Terminal([sys.executable, "-m", "pinui"], env)
    try:
        while b"needle" not in ESCAPES.sub(b"", terminal.raw):
            terminal.read(0.01)
        yield terminal, time.perf_counter() - begun
    finally:
        terminal.close()


def answered(terminal: Terminal, key: str) -> float:
    """Milliseconds until a key changes the screen; 2,000 if it doesn't."""
    while terminal.read(0.5):
        pass
    begun = time.perf_counter()
    os.write(terminal.master, key.encode())
    terminal.read(2)
    return (time.perf_counter() - begun) * 1000


def in_a_terminal(home: Path) -> list[str]:
    """First rows, keys and memory of the workbench."""
    firsts: list[float] = []
    for _ in range(3):
        with workbench(home) as (_, seconds):
            firsts.append(seconds)
    with workbench(home) as (terminal, _):
        rounds = [[answered(terminal, key) for key in KEYS.values()] for _ in range(4)]
        keys = [median(times[1:]) for times in zip(*rounds, strict=True)]  # the start may still be busy
        return [f"{median(firsts):.2f} s", *(f"{key:.0f}" for key in keys), f"{peak_kib(terminal.pid) / 1024:.0f}"]


def measure(count: int) -> list[str]:
    """One line of the table."""
    with tempfile.TemporaryDirectory(prefix="pinui-") as folder:
        home = Path(folder)
        (home / "config.toml").write_text("[settings]\nwelcomed = true\n")
        with HistoryFile(home / "history.db") as history:
            fill(history, count)
            room = history.path.stat().st_size / count
            seen = in_a_terminal(home)
            by_age, by_any = filtered(history, SORTS[:2]), filtered(history, SORTS)
            return [f"{count:,}", f"{room:.0f}", *written(history, count), f"{by_age:.0f}", f"{by_any:.0f}", *seen]


def main() -> None:
    """Print the table."""
    counts = [int(argument) for argument in os.environ.get("ROWS", "").split()] or COUNTS
    headings = ["rows", "bytes a row", "import/s", "mirror/s", "filter p95", "in any order", "first rows", *KEYS, "MiB"]
    print("Rates and filters (in ms) are the processor's time; rates in brackets are time itself. Keys are in ms.")
    table(headings, [measure(count) for count in counts])


if __name__ == "__main__":
    main()
