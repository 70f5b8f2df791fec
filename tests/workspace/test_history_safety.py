"""What was acknowledged is in the history: after kill -9, with two writers, on a full disk."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pinui.workspace import HistoryError, Query
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.schema import ID_BITS, writing
from tests.workspace.rows import START, row

# Writes rows for ever and says each number after its row was acknowledged.
WRITER = """
import sys
from pathlib import Path
from pinui.workspace.history import HistoryFile
from tests.workspace.rows import row
path, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
with HistoryFile(path) as history:
    for number in range(first, last):
        history.add(row(number, name=f"row number {number}", excerpt="x" * 400), '"' + "y" * 5000 + '"')
        print(number, flush=True)
"""

# Opens fresh homes, one after the other, each from six processes at once; says what went wrong.
OPENERS = """
import os, sys
from pathlib import Path
from pinui.workspace.history import HistoryFile
from tests.workspace.rows import row
folder, homes = Path(sys.argv[1]), int(sys.argv[2])
def open_at_once(path, number, start):
    os.read(start, 1)  # returns when the parent closes the other end
    try:
        with HistoryFile(path) as history:
            history.add(row(number), None)
    except Exception as error:
        print(type(error).__name__, error, flush=True)
for home in range(homes):
    start, go = os.pipe()
    children = []
    for number in range(6):
        child = os.fork()
        if not child:
            os.close(go)
            open_at_once(folder / str(home) / "history.db", number, start)
            os._exit(0)
        children.append(child)
    os.close(start)
    os.close(go)
    for child in children:
        os.waitpid(child, 0)
    with HistoryFile(folder / str(home) / "history.db") as history:
        rows = history.connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    if rows != 6:
        print("home", home, "has", rows, "rows")
"""


def writer(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(first), str(last)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def assert_sound(path: Path, acknowledged: set[int]) -> None:
    with HistoryFile(path) as history:
        assert history.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        history.connection.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
        names = {entry.name for entry in history.page(Query(), limit=100_000)}
        assert {f"row number {number}" for number in acknowledged} <= names
        found = history.page(Query(text="row number"), limit=100_000)
        assert {entry.name for entry in found} == names
        assert all(history.document(entry.id) for entry in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("homes", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_six_processes_open_a_fresh_home_at_once(tmp_path: Path, homes: int) -> None:
    command = [sys.executable, "-c", OPENERS, str(tmp_path), str(homes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "")


def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    processes = [writer(path, first, first + 60) for first in (0, 1000, 2000)]
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    acknowledged = {int(line) for output in said for line in output.split()}
    assert len(acknowledged) == 180
    assert_sound(path, acknowledged)


@pytest.mark.slow
def test_kill_at_any_time_loses_nothing_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    chance = random.Random(4)
    acknowledged: set[int] = set()
    for turn in range(60):
        process = writer(path, turn * 10_000, turn * 10_000 + 10_000)
        assert process.stdout is not None
        acknowledged.add(int(process.stdout.readline()))
        time.sleep(chance.random() * 0.05)  # when to strike, not a wait for anything
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate()
        acknowledged.update(int(line) for line in rest.split())
    assert len(acknowledged) > 100
    assert_sound(path, acknowledged)


@pytest.mark.slow
def test_killed_while_it_is_made_the_history_is_made_by_the_next(tmp_path: Path) -> None:
    chance = random.Random(5)
    for turn in range(25):
        path = tmp_path / str(turn) / "history.db"
        process = writer(path, 0, 5)
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            pass
        time.sleep(chance.random() * 0.01)
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate()
        assert_sound(path, {int(line) for line in rest.split()})


def test_a_full_disk_is_a_clear_error_and_the_history_goes_on_after_it(tmp_path: Path) -> None:
    with HistoryFile(tmp_path / "history.db") as history:
        first = history.add(row(1), None)
        pages = history.connection.execute("PRAGMA page_count").fetchone()[0]
        history.connection.execute(f"PRAGMA max_page_count = {pages + 4}")  # SQLite's own way to run out of room
        with pytest.raises(HistoryError, match="disk is full"):
            history.add(row(2), '"' + "y" * 200_000 + '"')
        history.connection.execute("PRAGMA max_page_count = 1000000")
        assert [entry.id for entry in history.page(Query())] == [first.id]
        history.add(row(2), '"' + "y" * 200_000 + '"')
        assert history.count(Query()) == 2


def test_rows_are_read_while_a_page_of_the_account_is_being_written(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with HistoryFile(path) as writer, HistoryFile(path) as reader:
        known = writer.add(row(), None)
        reader.connection.execute("PRAGMA busy_timeout = 0")
        page = [((START + number) << ID_BITS, row(number), None) for number in range(1, 3000)]
        with writing(writer.connection):
            writer.insert_new(page)
            assert reader.entries([known.id]) == [known], (
                "SQLite has written parts of a transaction, and holds the lock"
            )
