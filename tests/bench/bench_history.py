"""How long the history's filter takes at 100,000 rows, beside a plain scan of the same rows."""

from __future__ import annotations

import hashlib
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pinui.ipfs.cid import DAG_PB, SHA2_256, Cid
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.schema import writing
from pinui.workspace.rows import Entry, Query

ROWS = 100_000
LIMIT_MS = 50.0
WORDS = [
    *("alpha", "bravo", "photo", "invoice", "draft", "report", "summer"),
    *("winter", "config", "budget", "release", "notes", "meeting", "travel"),
]
CASES = {
    "a rare word": "needle",
    "a common word": "photo",
    "in every row": "baf",
    "end of a CID": "",
    "nowhere": "zzzzqqqq",
    "a long text": '{"title":"photo',
}


def fill(history: HistoryFile, rows: int = ROWS) -> str:
    """Made-up rows; returns the end of one CID."""
    chance = random.Random(1)
    part = ""
    with writing(history.connection):
        for number in range(rows):
            cid = str(Cid(1, DAG_PB, SHA2_256, hashlib.sha256(str(number).encode()).digest()))
            title, tag = chance.choices(WORDS, k=2)
            body = " ".join(chance.choices(WORDS, k=25))
            text = f'{{"title":"{title}","tag":"{tag}","n":{number},"body":"{body}"}}'
            name = "needle.txt" if number == 70_000 else f"{chance.choice(WORDS)}-{number}.json" if number % 2 else None
            entry = Entry(0, cid, 1_700_000_000_000 + number, len(text), "json", "sent", "local", name, excerpt=text)
            history.insert(entry, text)
            part = cid[-20:] if number == rows // 3 else part
    return part


def best_ms(work: Callable[[], object], rounds: int = 9) -> float:
    """The best time of some work, in milliseconds: whatever else the machine does only adds to it."""
    times: list[float] = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times) * 1000


def measure(rows: int = ROWS) -> list[tuple[str, float, float, float]]:
    """For each case: a page of 100, the count, and a page by plain scan, in milliseconds."""
    results: list[tuple[str, float, float, float]] = []
    with tempfile.TemporaryDirectory() as folder, HistoryFile(Path(folder, "history.db")) as history:
        part = fill(history, rows)
        for name, text in CASES.items():
            query = Query(text=text or part)
            page = best_ms(lambda query=query: history.page(query))
            count = best_ms(lambda query=query: history.count(query))
            history.searchable = False
            scan = best_ms(lambda query=query: history.page(query), 3)
            history.searchable = True
            results.append((name, page, count, scan))
    return results


def main() -> None:
    """Print the table."""
    print(f"{f'filter at {ROWS:,} rows':<24} {'page':>9} {'count':>9} {'plain scan':>11} {'× faster':>9}")
    for name, page, count, scan in measure():
        late = "  over 50 ms" if page > LIMIT_MS else ""
        print(f"{name:<24} {page:>6.1f} ms {count:>6.1f} ms {scan:>8.1f} ms {scan / page:>9.1f}{late}")


if __name__ == "__main__":
    main()
