"""The ledger: every item is done once, whatever order of kills, listings and failures comes."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pinui.workspace import WorkspaceError
from pinui.workspace.transfers.ledger_file import LedgerFile
from pinui.workspace.transfers.rows import Item, ItemState, NewItem


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "transfers.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[LedgerFile]:
    ledger = LedgerFile(path)
    yield ledger
    ledger.close()


def files(*names: str, seen: str = "1") -> list[NewItem]:
    return [NewItem(name, size=len(name), seen=seen) for name in names]


def finish(ledger: LedgerFile, item: Item, state: ItemState = ItemState.DONE) -> None:
    item.state = state
    ledger.write_items([item])


def test_only_the_owner_can_read_it(ledger: LedgerFile, path: Path) -> None:
    ledger.add("upload", "local", "a", {}, files("a"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_nothing_is_made_by_looking(ledger: LedgerFile, path: Path) -> None:
    assert ledger.requests() == []
    assert ledger.left_at("local") == []
    ledger.close()
    assert not path.parent.exists()


def test_small_items_come_first(ledger: LedgerFile) -> None:
    request = ledger.add("upload", "local", "x", {}, files("ccc", "a", "bb"))
    assert [item.source for item in ledger.take(request, 2)] == ["a", "bb"]
    assert [item.source for item in ledger.take(request, 2)] == ["ccc"]


def test_a_name_that_is_no_text_comes_back_as_it_was(ledger: LedgerFile) -> None:
    name = os.fsdecode(b"/tmp/\xff\xfe.txt")
    request = ledger.add("upload", "local", name, {"paths": [name]}, [NewItem(name, shown=name)])
    item = ledger.take(request, 1)[0]
    assert (item.source, item.shown) == (name, name)
    assert ledger.find("upload", "local", {"paths": [name]}) is not None


def test_a_living_process_keeps_what_it_works_on_and_a_dead_one_does_not(ledger: LedgerFile, path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from pinui.workspace.transfers.ledger_file import LedgerFile;"
        "from pinui.workspace.transfers.rows import NewItem; ledger = LedgerFile(Path(sys.argv[1]));"
        "request = ledger.add('upload', 'local', 'x', {}, [NewItem('a'), NewItem('b')]); ledger.take(request, 1);"
        "print(request, flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin is not None
    assert other.stdout is not None
    request = int(other.stdout.readline())
    assert ledger.requests()[0].is_running
    assert not ledger.claim(request)
    ledger.has_news()
    assert not ledger.has_news()
    other.kill()
    other.wait()
    assert ledger.has_news(), "what it worked on is left"
    other.stdin.close()
    other.stdout.close()
    assert not ledger.requests()[0].is_running
    assert ledger.claim(request)
    taken = ledger.take(request, 5)
    assert sorted(item.source for item in taken) == ["a", "b"]
    assert [item.source for item in taken if item.started_at is not None] == ["a"], "it may have been done"


def test_what_another_process_works_on_is_neither_let_go_nor_forgotten(ledger: LedgerFile, path: Path) -> None:
    request = ledger.add("upload", "local", "a", {}, files("a"))
    other = LedgerFile(path)
    assert not other.claim(request)
    other.let_go(request, "unfinished")
    other.forget([request])
    assert [one.is_running for one in other.requests()] == [True]
    other.close()


def test_a_copy_is_left_at_both_of_its_services(ledger: LedgerFile) -> None:
    upload = ledger.add("upload", "work", "a", {})
    copy = ledger.add("copy", "mine", "2 pins", {"from": "work"})
    assert (ledger.left_at("work"), ledger.left_at("mine"), ledger.left_at("local")) == ([upload, copy], [copy], [])


def test_what_was_taken_and_not_begun_is_as_it_was(ledger: LedgerFile) -> None:
    request = ledger.add("upload", "local", "x", {}, files("a", "b"))
    ledger.put_back(ledger.take(request, 2))
    assert [item.started_at for item in ledger.take(request, 2)] == [None, None]


def test_an_item_that_broke_off_may_be_done_when_it_is_tried_again(ledger: LedgerFile) -> None:
    request = ledger.add("upload", "local", "x", {}, files("a", "b"))
    broken, failed = ledger.take(request, 2)
    finish(ledger, broken, ItemState.BROKEN_OFF)
    finish(ledger, failed, ItemState.FAILED)
    ledger.retry(request, broken.id)
    [again] = ledger.take(request, 2)
    assert (again.started_at is not None, again.seen) == (True, "1")
    ledger.retry(request)
    [fresh] = ledger.take(request, 2)
    assert (fresh.started_at, fresh.seen) == (None, None)


@pytest.mark.parametrize("theirs", ["PRAGMA application_id = 7", "CREATE TABLE others (id)"])
def test_a_file_of_another_program_is_left_alone(path: Path, theirs: str) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as database:
        database.execute(theirs)
    database.close()
    before = path.read_bytes()
    with pytest.raises(WorkspaceError, match="another program"):
        LedgerFile(path).add("upload", "local", "x", {})
    assert path.read_bytes() == before


NAMES = st.sampled_from("abcdefgh")


class Killed(RuleBasedStateMachine):
    """A request whose process may be killed between any two steps. The model knows what was done."""

    @initialize()
    def begin(self) -> None:
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "transfers.db"
        self.ledger = LedgerFile(self.path)
        self.request = self.ledger.add("upload", "local", "x", {}, files("a", "b"))
        self.listed = {"a": "1", "b": "1"}
        self.done: dict[str, str] = {}
        self.failed: set[str] = set()
        self.taken: list[Item] = []

    @rule(names=st.dictionaries(NAMES, st.sampled_from("12")))
    def list_again(self, names: dict[str, str]) -> None:
        self.kill_and_claim()
        self.ledger.list_again(self.request)
        self.ledger.add_items(self.request, [NewItem(name, size=1, seen=seen) for name, seen in names.items()])
        self.ledger.end_listing(self.request)
        changed = {name for name, seen in names.items() if self.done.get(name, seen) != seen}
        self.done = {name: seen for name, seen in self.done.items() if name not in changed}
        self.listed = {name: self.done[name] for name in self.done} | names
        self.failed.clear()

    @rule(number=st.integers(1, 5))
    def take(self, number: int) -> None:
        taken = self.ledger.take(self.request, number)
        waiting = self.listed.keys() - self.done.keys() - self.failed - {item.source for item in self.taken}
        assert len(taken) == min(number, len(waiting))
        assert {item.source for item in taken} <= waiting, "neither done nor taken before"
        self.taken += taken

    @precondition(lambda self: self.taken)
    @rule()
    def end(self) -> None:
        item = self.taken.pop()
        finish(self.ledger, item)
        self.done[item.source] = self.listed[item.source]

    @precondition(lambda self: self.taken)
    @rule()
    def fail(self) -> None:
        item = self.taken.pop()
        finish(self.ledger, item, ItemState.FAILED)
        self.failed.add(item.source)

    @rule()
    def kill_and_claim(self) -> None:
        self.ledger._owner.release()  # pyright: ignore[reportPrivateUsage]  as the system does for a killed process
        self.ledger = LedgerFile(self.path)
        assert self.ledger.claim(self.request)
        self.taken = []

    @rule()
    def retry(self) -> None:
        self.ledger.retry(self.request)
        self.failed.clear()

    @invariant()
    def the_tally_is_true(self) -> None:
        if hasattr(self, "request"):
            tally = self.ledger.tally(self.request)
            assert (tally.items, tally.done, tally.failed) == (len(self.listed), len(self.done), len(self.failed))

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.ledger.close()
            self.folder.cleanup()


TestKilled = Killed.TestCase
TestKilled.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
