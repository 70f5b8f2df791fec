"""Pins at 10,000, 100,000 and 1,000,000 rows: writing, room, first rows, filters, every id, memory."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles

from pinui.ipfs.cid import DAG_PB, SHA2_256, Cid
from pinui.sdk.models import Pin
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.account import begin_run, finish_run, merge_pins
from pinui.workspace.rows import Query
from tests.memory import peak_kib

COUNTS = (10_000, 100_000, 1_000_000)
WORDS = [
    *("alpha", "bravo", "photo", "invoice", "draft", "report", "summer"),
    *("winter", "config", "budget", "release", "notes", "meeting", "travel"),
]
FILTERS = ("photo", "draft-000", "needle", "zzzzqqqq", "png", "alpha png", "-photo", "size:>1mb photo", "age:<7d")
PAGE = 200


def pins(count: int) -> Iterator[Pin]:
    """Made-up pins, newest first."""
    chance = random.Random(1)
    for number in range(count):
        cid = str(Cid(1, DAG_PB, SHA2_256, hashlib.sha256(str(number).encode()).digest()))
        name = (
            "needle" if number == count // 2 else f"{chance.choice(WORDS)}-{number:07}.{chance.choice(['png', 'txt'])}"
        )
        yield Pin(cid=cid, name=name, size=number * 37 % 3_000_000, created=1_700_000_000_000 - number * 1000, id=cid)


def fill(history: HistoryFile, count: int) -> float:
    """Mirror so many pins; returns the seconds that writing took."""
    run = begin_run(history, "mine", "bench", 1, full=True)
    listing, spent = pins(count), 0.0
    while page := list(itertools.islice(listing, 1000)):
        begun = time.perf_counter()
        merge_pins(history, run, page, 1)
        spent += time.perf_counter() - begun
    begun = time.perf_counter()
    finish_run(history, run, 2, pins=count)
    return spent + time.perf_counter() - begun


def timed(history: HistoryFile, query: Query) -> float:
    """Milliseconds until the first page of a query is there."""
    begun = time.perf_counter()
    history.page(query, limit=PAGE)
    return (time.perf_counter() - begun) * 1000


def measure(count: int) -> str:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as folder, HistoryFile(Path(folder, "history.db")) as history:
        rate = count / fill(history, count)
        room = os.path.getsize(history.path) / count  # noqa: PTH202 – a number is all that is wanted
        history.close()
        sorts = ("newest", "oldest", "name", "name-reversed", "size", "size-reversed")
        first = [timed(history, Query(of="pins", profile="mine", sort=sort)) for sort in sorts]
        found = [
            timed(history, Query(text=text, of="pins", profile="mine", sort=sort)) for text in FILTERS for sort in sorts
        ]
        slowest = max(zip(found, itertools.product(FILTERS, sorts), strict=True))
        begun = time.perf_counter()
        before = peak_kib()
        ids = history.ids(Query(of="pins", profile="mine"))
        every = time.perf_counter() - begun
        p95 = quantiles(found, n=20)[-1]
        return (
            f"{len(ids):>9,} {rate:>8,.0f}/s {room:>6.0f} B {max(first):>8.1f} ms {p95:>8.1f} ms {every:>7.2f} s"
            f" {(peak_kib() - before) / 1024:>6.1f} MiB   slowest: {slowest[1]} {slowest[0]:.0f} ms"
        )


def main() -> None:
    """Print the table."""
    print(
        f"{'rows':>9} {'written':>10} {'a row':>8} {'first page':>11} {'filter p95':>11} {'every id':>9} {'memory':>10}"
    )
    for count in [int(argument) for argument in sys.argv[2:]] or COUNTS:
        print(measure(count), flush=True)


if __name__ == "__main__":
    main()
