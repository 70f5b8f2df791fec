"""The history: what was written is there, is found, and comes back in order."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import stat
import sys
import threading
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinui.sdk.models import Pin
from pinui.tui.entries import title_of
from pinui.workspace import Entry, History, HistoryError, Query
from pinui.workspace.filters import folded
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.account import add_pin
from pinui.workspace.history.schema import LAYOUT, MAX_TIMESTAMP, can_search, writing
from pinui.workspace.rows import Kind, Sort, Standing
from tests.workspace.old_histories import VERSIONS, write_old
from tests.workspace.rows import START, cid, row

BOTH = pytest.mark.parametrize("searchable", [pytest.param(True, id="index"), pytest.param(False, id="LIKE")])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "made" / "history.db"


def test_this_machines_sqlite_has_the_index() -> None:
    assert can_search(), "without it, the tests of the index below would prove nothing"


async def test_a_row_comes_back_as_it_was_written_also_in_another_run(path: Path) -> None:
    history = History(path)
    written = await history.add(
        row(name="cat.png", note="a note", kind="file", verification="verified", excerpt=None), None
    )
    await history.aclose()
    again = History(path)
    assert await again.page(Query()) == [written]
    assert (written.title, written.verification) == ("cat.png", "verified")
    await again.aclose()


async def test_the_whole_record_comes_back_with_its_data(path: Path) -> None:
    history = History(path)
    document = '{"2":"two","a":[1,2.5,null,"é"]}'
    entry = await history.add(row(excerpt=document), document)
    record = await history.record(entry.id)
    assert record is not None
    assert record.to_json() == {
        "cid": entry.cid,
        "timestamp": entry.timestamp,
        "data": {"2": "two", "a": [1, 2.5, None, "é"]},
        "size": 7,
    }
    assert await history.record(entry.id + 1) is None
    await history.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_the_file_is_its_owners_alone(path: Path) -> None:
    with HistoryFile(path) as history:
        history.add(row(), None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@BOTH
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (cid(1)[:12], {1}),
        (cid(1)[-5:], {1}),
        (cid(1)[-14:], {1}),
        (cid(1)[-14:].upper(), {1}),
        (cid(1)[10:30], set()),
        ("cat", {2}),
        ("CAT.PNG", {2}),
        ("remember", {3}),
        ("alice", {4}),
        ('"colour":"re', {5}),
        ("100%", {6}),
        ("a_b", {6}),
        ("a*b OR c", set()),
        ('say "hi"', {7}),
        ('"h', {7}),
        ("日本", {8}),
        ("日本語の", {8}),
        ("x\0y", set()),
        ("", {1, 2, 3, 4, 5, 6, 7, 8}),
    ],
)
def test_the_filter_finds_a_part_of_each_field_and_takes_it_literally(
    path: Path, searchable: bool, text: str, found: set[int]
) -> None:
    rows = [
        row(1),
        row(2, name="cat.png", kind="file"),
        row(3, note="to remember"),
        row(4, recipient="alice", kind="message"),
        row(5, excerpt='{"colour":"red"}'),
        row(6, name="100% a_b"),
        row(7, name='say "hi"'),
        row(8, name="日本語のファイル"),
    ]
    with HistoryFile(path, searchable=searchable) as history:
        for one in rows:
            history.add(one, None)
        entries = history.page(Query(text=text))
        assert {entry.timestamp - START for entry in entries} == found
        assert history.count(Query(text=text)) == len(found)
        assert list(history.ids(Query(text=text))) == [entry.id for entry in entries]


@BOTH
def test_renaming_and_forgetting_change_what_the_filter_finds(path: Path, searchable: bool) -> None:
    with HistoryFile(path, searchable=searchable) as history:
        entry = history.add(row(1, name="draft"), "{}")
        other = history.add(row(2, name="draft too"), None)
        history.rename(entry.id, "final")
        assert [found.id for found in history.page(Query(text="draft"))] == [other.id]
        assert [found.id for found in history.page(Query(text="final"))] == [entry.id]
        history.rename(entry.id, None)
        assert history.page(Query(text="final")) == []
        assert history.forget([entry.id, other.id, 12345]) == 2
        assert history.page(Query(text="draft")) == []
        assert history.document(entry.id) is None


@pytest.mark.parametrize("sort", ["newest", "oldest", "name", "name-reversed", "size", "size-reversed"])
@pytest.mark.parametrize("text", ["", "e", "baf"])
def test_pages_by_key_give_every_row_once_in_order_while_rows_arrive(path: Path, sort: str, text: str) -> None:
    with HistoryFile(path) as history:
        for number in range(40):
            name = "Abc"[number % 3] * 4 + "e" if number % 4 else "E"
            history.add(row(number // 2, name=name, size=number % 5), None)
        query = Query(text=text, sort=sort)  # pyright: ignore[reportArgumentType]
        expected = list(history.ids(query))
        assert len(expected) == 40
        seen: list[Entry] = []
        while page := history.page(query, after=seen[-1] if seen else None, limit=7):
            seen.extend(page)
            if sort == "newest":  # arrives before the first page's first row, so it belongs to none of the later ones
                history.add(row(1000 + len(seen), name="later"), None)
        assert [entry.id for entry in seen] == expected
        assert [entry.id for entry in history.entries(expected)] == expected


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.text(alphabet="abAB%_\\'* é日", max_size=8), max_size=8),
    text=st.text(alphabet="abAB%_\\'* é日", min_size=1, max_size=5),
)
def test_the_index_and_the_plain_search_agree_with_a_plain_loop(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], text: str
) -> None:
    path = tmp_path_factory.mktemp("history") / "history.db"
    for searchable in (True, False):  # a build without the index takes over the file of one that has it, and back
        with HistoryFile(path, searchable=searchable) as history:
            if searchable:
                for number, name in enumerate(names):
                    history.add(row(number, name=name, cid="Q"), None)
            found = {entry.timestamp - START for entry in history.page(Query(text=text))}
        words = folded(text).split()
        assert found == {number for number, name in enumerate(names) if all(word in folded(name) for word in words)}


def test_rows_written_by_a_build_without_the_index_are_found_by_one_that_has_it(path: Path) -> None:
    with HistoryFile(path) as history:
        history.add(row(1, name="first"), None)
    with HistoryFile(path, searchable=False) as history:
        history.add(row(2, name="second"), None)
        history.rename(history.ids(Query(text="first"))[0], "changed")
    with HistoryFile(path) as history:
        assert [entry.name for entry in history.page(Query(text="second"))] == ["second"]
        assert [entry.name for entry in history.page(Query(text="changed"))] == ["changed"]
        assert history.page(Query(text="first")) == []


def test_kind_direction_profile_recipient_and_state_narrow_a_query(path: Path) -> None:
    with HistoryFile(path) as history:
        history.add(row(1, kind="file"), None)
        history.add(row(2, kind="message", recipient="bob"), None)
        history.add(row(3, kind="message", direction="received"), None)
        history.add(row(4, profile="work"), None)
        history.mark_revoked(cid(1), "local", 5)

        def numbers(query: Query) -> list[int]:
            return [entry.timestamp - START for entry in history.page(query)]

        assert numbers(Query(kind="message")) == [3, 2]
        assert numbers(Query(direction="received")) == [3]
        assert numbers(Query(profile="work")) == [4]
        assert numbers(Query(recipient="bob")) == [2]
        assert numbers(Query(kind="message", filed=False)) == [3]
        assert numbers(Query(kind="message", filed=True)) == [2]
        assert numbers(Query(revoked=True)) == [1]
        assert numbers(Query(revoked=False)) == [4, 3, 2]
        assert numbers(Query(text="baf", kind="message", revoked=False)) == [3, 2]


def test_thousands_of_rows_are_summed_and_their_sharers_counted(path: Path) -> None:
    with HistoryFile(path) as history:
        with writing(history.connection):
            for number in range(1200):
                history.insert(row(number, size=number), None)
            history.insert(row(1199, name="again"), None)
            history.insert(row(1199, profile="work"), None)
        assert history.total_size(history.ids(Query(profile="local"))) == sum(range(1200)) + 7
        assert history.total_size([]) == 0
        twice = [cid(number) for number in range(1200)] * 2
        assert history.rows_sharing(twice, "local") == 1201
        assert history.rows_sharing([], "local") == 0


def test_recipients_come_newest_first_with_their_last_words(path: Path) -> None:
    with HistoryFile(path) as history:
        history.add(row(1, kind="message", recipient="alice", excerpt="one"), None)
        history.add(row(2, kind="message", recipient="bob", excerpt="two"), None)
        history.add(row(3, kind="message", recipient="alice", excerpt="three"), None)
        history.add(row(4, kind="message", direction="received", excerpt="unfiled"), None)
        history.add(row(5, kind="message", recipient="eve", profile="work"), None)
        known = history.recipients("local")
        assert [(one.name, one.count, one.excerpt) for one in known] == [("alice", 2, "three"), ("bob", 1, "two")]
        assert [one.name for one in history.recipients(None)] == ["eve", "alice", "bob"]


@pytest.mark.parametrize("timestamp", [-1, MAX_TIMESTAMP + 1, 2**80])
def test_an_impossible_time_is_refused(path: Path, timestamp: int) -> None:
    with HistoryFile(path) as history, pytest.raises(HistoryError, match="no time"):
        history.add(row(timestamp=timestamp), None)


def test_a_name_that_is_no_text_is_kept_as_well_as_it_can_be(path: Path) -> None:
    with HistoryFile(path) as history:
        assert history.add(row(name="caf\udce9.txt"), None).name == "caf?.txt"


@BOTH
@pytest.mark.parametrize("version", VERSIONS)
def test_a_history_of_an_earlier_version_is_brought_up_to_date(path: Path, version: int, searchable: bool) -> None:
    write_old(path, version)
    for _ in range(2):  # the second time there is nothing to do
        with HistoryFile(path, searchable=searchable) as history:
            file, document = history.page(Query())
            assert (document.name, document.note, document.size, document.bytes) == ("menu", "lunch", 9, 10)
            assert (file.name, file.size, file.bytes, file.revoked_at) == ("cat.png", 9, 9, START + 5)
            assert history.document(document.id) == '{"a":"é"}'
            assert history.page(Query(text="lunch")) == [document]
            assert history.page(Query(text="is:revoked", of="pins", profile="local")) == [file]
            assert history.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    with HistoryFile(path, searchable=searchable) as history:
        added = history.add(row(3, name="later"), '"é"')
        assert history.page(Query(text="later")) == [added]
        assert not any(entry.is_folder for entry in history.page(Query()))
        assert history.add(row(4, kind="file", name="notes", is_folder=True), None).title == "notes/"


FILTERS = [
    *("photo", "png", "ph", "-png", "-png -txt", "photo -png", "photo -photo", "nowhere", "png nowhere", "cafe"),
    *("kind:json", "kind:dir", "-kind:json", "kind:json photo", "kind:message size:>100", "size:>150", "-size:>150"),
    *("age:<1d", "-age:<1d", "age:<1d photo", "is:revoked", "-is:revoked", "is:verified", "is:unverified -photo"),
    *("on:account", "on:here", "on:both", "on:elsewhere -png", "on:elsewhere kind:json", "to:alice", "to:al photo"),
    *("-to:alice kind:message", "baf", "bafkrei", "-baf", "size:>120 png age:>1d", "draft png", "about", "-café"),
    *('"to alice"', '-"to alice"', "to:alice -about", "photo about", "-photo -draft", "alice", "-alice photo"),
]


@pytest.mark.parametrize(("few", "patience"), [(0, 2), (8, 0), (8, 1), (15, 1), (10_000, 0)])
@pytest.mark.parametrize("sort", ["newest", "oldest", "name", "name-reversed", "size", "size-reversed"])
def test_every_way_to_find_rows_finds_the_same(
    path: Path, sort: Sort, few: int, patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HistoryFile(path) as history:
        _furnish(history)
        shared = history.page(Query(), limit=1)[0].cid
        texts = [*FILTERS, shared[:20], shared[-4:], shared[-12:], f"-{shared[-12:]}", f"photo {shared[-5:]}"]
        queries = [Query(text, of="pins", profile="local", sort=sort) for text in texts]
        history.searchable = False
        expected = [list(history.ids(query)) for query in queries]
        assert sum(map(bool, expected)) > len(queries) / 2
        history.searchable = True
        monkeypatch.setattr("pinui.workspace.history.query.MANY", few)
        monkeypatch.setattr("pinui.workspace.history.query.COUNTED", 2 * few)
        monkeypatch.setattr("pinui.workspace.history.store.STEPS", 10)
        monkeypatch.setattr("pinui.workspace.history.store.MOMENT", 60 * patience)
        monkeypatch.setattr("pinui.workspace.history.store.BESIDE", few)
        if patience == 1:
            monkeypatch.setattr(HistoryFile, "_within", _unless_row_by_row)
        for query, ids in zip(queries, expected, strict=True):
            assert list(history.ids(query)) == ids, query
            assert history.count(query) == len(ids), query
            pages, last = list[int](), None
            while page := history.page(query, after=last, limit=7):
                last = page[-1]
                pages += [entry.id for entry in page]
            assert pages == ids, query


def _unless_row_by_row(history: HistoryFile, seconds: float, sql: str, values: Sequence[Any]) -> list[Any] | None:
    del seconds
    return history.connection.execute(sql, values).fetchall() if "UNION" in sql or "IN (" in sql else None


def _furnish(history: HistoryFile) -> None:
    """Pins of every kind and state, some made elsewhere."""
    now = time.time_ns() // 1_000_000
    for number in range(60):
        name = f"{['photo', 'Café', 'draft'][number % 3]} {number}.{['png', 'txt'][number % 2]}"
        moment = now - number * 3_600_000
        if number % 4 == 0:
            elsewhere = cid(1000 + number)
            add_pin(history, "local", Pin(cid=elsewhere, name=name, size=number * 7, created=moment), now)
            continue
        kind: Kind = "json" if number % 4 == 1 else "message" if number % 4 == 2 else "file"
        entry = row(
            number,
            timestamp=moment,
            size=number * 5,
            kind=kind,
            name=None if kind == "message" else name,
            recipient=["alice", "bob"][number % 8 // 4] if kind == "message" else None,
            excerpt=None if kind == "file" else f"about a photo {number}",
            is_folder=kind == "file" and number % 3 == 0,
        )
        history.add(entry, None)
        if number % 10 == 1:
            history.mark_revoked(entry.cid, "local", now)
        if number % 10 == 3:
            history.set_verification(entry.cid, "local", "verified")


def test_every_earlier_version_is_among_these_tests() -> None:
    assert list(VERSIONS) == list(range(1, LAYOUT.version))


@BOTH
def test_rows_that_share_a_cid_are_one_pin(path: Path, searchable: bool) -> None:
    with HistoryFile(path, searchable=searchable) as history:
        for number, which in enumerate((1, 1, 2, 3)):
            history.add(row(number, cid=cid(which), name=f"content {which}"), None)
        history.mark_revoked(cid(3), "local", START + 10)
        assert (history.count(Query()), history.count_pins(Query())) == (4, 3)
        assert history.count_pins(Query(revoked=False)) == 2
        assert history.count_pins(Query(text="content 1")) == 1


def test_sizes_are_ordered_and_added_up_in_bytes(path: Path) -> None:
    with HistoryFile(path) as history:
        umlauts = history.add(row(1, size=5), '"äöü"')
        letters = history.add(row(2, size=7), '"abcde"')
        assert (umlauts.bytes, letters.bytes) == (8, 7)
        assert history.page(Query(sort="size")) == [umlauts, letters]
        assert history.page(Query(sort="size"), after=umlauts) == [letters]
        assert history.total_size([umlauts.id, letters.id]) == 15


class TestFilesThatAreNotOurs:
    def test_a_newer_history_is_refused_politely_and_not_touched(self, path: Path) -> None:
        with HistoryFile(path) as history:
            history.add(row(), None)
            history.connection.execute("PRAGMA user_version = 99")
        before = path.read_bytes()
        with HistoryFile(path) as history, pytest.raises(HistoryError, match="newer pinui") as caught:
            history.add(row(), None)
        assert caught.value.hint is not None
        assert "Upgrade" in caught.value.hint
        assert path.read_bytes() == before

    def test_another_programs_database_is_refused(self, path: Path) -> None:
        path.parent.mkdir()
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE bookmarks (url TEXT)")
        other.close()
        with HistoryFile(path) as history, pytest.raises(HistoryError, match="another program"):
            history.ids(Query())

    def test_a_file_that_is_no_database_is_refused_and_stays(self, path: Path) -> None:
        path.parent.mkdir()
        path.write_text("these are my notes, which happen to have that name " * 20)
        with HistoryFile(path) as history, pytest.raises(HistoryError, match="damaged, or no file of pinui"):
            history.ids(Query())
        assert path.read_text().startswith("these are my notes")

    def test_a_folder_in_the_way_is_named(self, path: Path) -> None:
        path.mkdir(parents=True)
        with HistoryFile(path) as history, pytest.raises(HistoryError, match=r"history\.db cannot be used"):
            history.ids(Query())


async def test_an_error_in_the_file_reaches_the_caller_as_a_sentence(path: Path) -> None:
    path.mkdir(parents=True)
    history = History(path)
    with pytest.raises(HistoryError, match="cannot be used"):
        await history.check()
    await history.aclose()


async def test_changes_are_told_and_names_and_filing_are_kept(path: Path) -> None:
    told: list[int] = []
    history = History(path, changed=lambda: told.append(1))
    entry = await history.add(row(kind="message", direction="received", excerpt="hello"), None)
    await history.rename(entry.id, "greeting")
    await history.file_under(entry.id, "alice")
    assert len(told) == 3
    (changed,) = await history.entries([entry.id])
    assert (changed.name, changed.recipient) == ("greeting", "alice")
    assert await history.latest(entry.cid, "local", direction="received") == changed
    assert await history.latest(entry.cid) == changed
    assert [one.name for one in await history.recipients("local")] == ["alice"]
    assert await history.rows_sharing([entry.cid], "local") == 1
    assert await history.forget(Query(text="greeting")) == 1
    assert await history.count(Query()) == 0
    await history.aclose()


async def test_a_cancelled_writer_still_leaves_a_whole_row(path: Path) -> None:
    import asyncio

    history = History(path)
    await history.check()
    for number in range(20):
        task = asyncio.ensure_future(history.add(row(number), '{"a":1}'))
        for _ in range(number % 4):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    entries = await history.page(Query())
    for entry in entries:
        record = await history.record(entry.id)
        assert record is not None
        assert record.data == {"a": 1}
    assert entries, "a write that began is finished"
    await history.aclose()


@BOTH
@pytest.mark.parametrize(
    ("text", "found"),
    [("alice eight", 1), ("eight alice", 1), ("see you", 2), ("at alice", 1), ("alice nine", 0), (" ", 2)],
)
def test_the_words_of_a_filter_may_stand_in_different_places(
    path: Path, searchable: bool, text: str, found: int
) -> None:
    with HistoryFile(path, searchable=searchable) as history:
        history.add(row(1, recipient="alice", excerpt="see you at eight"), None)
        history.add(row(2, recipient="bob", excerpt="see you at nine"), None)
        assert history.count(Query(text=text)) == len(history.page(Query(text=text))) == found


def test_pins_sort_by_the_titles_that_the_list_shows(path: Path) -> None:
    with HistoryFile(path) as history:
        history.add(row(1, kind="message", recipient="zoe", excerpt="  alpha"), None)
        history.add(row(2, kind="message", recipient="alice", excerpt="\nzebra"), None)
        history.add(row(3, kind="message", recipient="bob", excerpt="x", note="aaa"), None)
        history.add(row(4, excerpt=" {}", name=""), None)
        history.add(row(5, name="beta"), None)
        history.add(row(6, name="Omega", note="a"), None)
        for sort in ("name", "name-reversed"):
            query = Query(of="pins", profile="local", sort=sort)
            titles = [title_of(entry) for entry in history.page(query)]
            assert titles == sorted(titles, key=str.casefold, reverse=sort != "name")
            pages, last = list[str](), None
            while page := history.page(query, after=last, limit=1):
                last = page[-1]
                pages += map(title_of, page)
            assert pages == titles


async def test_a_list_that_is_given_up_twice_leaves_no_word_behind(path: Path) -> None:
    told = list[dict[str, Any]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    history = History(path)
    await history.add(row(1), None)
    began, go_on = threading.Event(), threading.Event()

    def slow(file: HistoryFile, query: Query) -> array[int]:
        began.set()
        go_on.wait()
        raise HistoryError("interrupted")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HistoryFile, "ids", slow)
        reading = asyncio.create_task(history.list_ids(Query()))
        await asyncio.to_thread(began.wait)
        for _ in range(2):
            reading.cancel()
            await asyncio.sleep(0)
        go_on.set()
        await asyncio.wait([reading])
        del reading
        await history.list_page(Query(), 1)  # the thread is free again
    await history.aclose()
    gc.collect()
    assert told == []


def test_the_standings_of_rows_are_counted(path: Path) -> None:
    with HistoryFile(path) as history:
        _furnish(history)
        ids = history.ids(Query(of="pins", profile="local"))
        found = history.standings(ids)
        assert sum(found.values()) == len(ids)
        for state in ("revoked", "pinned"):
            counted = history.count(Query(text=f"is:{state}", of="pins", profile="local"))
            are_meant = {Standing.REVOKED} if state == "revoked" else set(Standing) - {Standing.REVOKED, Standing.GONE}
            assert sum(number for standing, number in found.items() if standing in are_meant) == counted > 0


async def test_rows_are_read_while_others_are_written(path: Path) -> None:
    history = History(path)
    entry = await history.add(row(1), None)
    began, go_on = threading.Event(), threading.Event()

    def slow(file: HistoryFile) -> None:
        with writing(file.connection):
            began.set()
            go_on.wait()

    writer = asyncio.create_task(history.write(slow))
    await asyncio.to_thread(began.wait)
    try:
        async with asyncio.timeout(30):
            assert await history.entries([entry.id]) == [entry]
            assert (await history.account_state("local")).here == 1
    finally:
        go_on.set()
        await writer
        await history.aclose()
