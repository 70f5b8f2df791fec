"""The mirror: the account's pins in the history's file, read from a real node."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinui.node import Node
from pinui.sdk.client import Client
from pinui.sdk.errors import ProviderError, Unsupported
from pinui.sdk.models import Pin, Resume
from pinui.sdk.secret import Secret
from pinui.workspace import Entry, Profile, Query, Workspace
from pinui.workspace.rows import Standing
from tests.workspace.rows import cid as make_cid


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    async with Node(tmp_path / "node") as node:
        yield node


@pytest.fixture
async def other(node: Node) -> AsyncIterator[Client]:
    """Another program, at the same account."""
    async with await Client.init(
        provider_token=node.token, pin_api_url=node.api_url, gateway_url=node.gateway_url
    ) as client:
        yield client


@pytest.fixture
async def workspace(own_home: Path, node: Node) -> AsyncIterator[Workspace]:
    async with workspace_at(node) as workspace:
        yield workspace


@asynccontextmanager
async def workspace_at(node: Node, api: str = "pin") -> AsyncGenerator[Workspace]:
    """A workspace with the node as a service."""
    async with await Workspace.open() as workspace:
        profile = Profile("mine", "custom", node.api_url, node.gateway_url)
        if api == "pinata-v3":
            profile = replace(profile, dialect="pinata-v3")
        workspace.profiles.save(profile)
        await workspace.keep_token(profile, Secret(node.token))
        await workspace.switch("mine")
        yield workspace


async def pins(workspace: Workspace, text: str = "") -> list[Entry]:
    query = Query(text=text, of="pins", profile=workspace.profile.name)
    return await workspace.history.page(query, limit=1000)


async def standings(workspace: Workspace) -> dict[str, int]:
    return {entry.cid: entry.standing for entry in await pins(workspace)}


async def test_each_pin_says_where_it_is(workspace: Workspace, other: Client) -> None:
    elsewhere = (await other.store({"made": "elsewhere"})).cid
    both = (await workspace.store({"made": "here"})).cid
    gone = (await workspace.store({"made": "here, unpinned elsewhere"})).cid
    revoked = (await workspace.store({"made": "here, revoked"})).cid
    await other.revoke(gone)
    await workspace.revoke(revoked)
    state = await workspace.sync()
    assert await standings(workspace) == {
        elsewhere: Standing.ACCOUNT,
        both: Standing.BOTH,
        gone: Standing.GONE,
        revoked: Standing.REVOKED,
    }
    assert (state.pins, state.elsewhere, state.here, state.gone, state.revoked) == (2, 1, 0, 1, 1)
    assert state.mirrored_at is not None
    assert {entry.cid for entry in await workspace.history.page(Query())} == {both, gone, revoked}


async def test_content_stored_twice_is_one_pin_with_two_records(workspace: Workspace) -> None:
    first = await workspace.store({"same": 1}, name="first")
    second = await workspace.store({"same": 1}, name="second")
    await workspace.sync()
    assert [entry.id for entry in await pins(workspace)] == [second.id]
    assert await workspace.history.count(Query()) == 2
    await workspace.history.forget([second.id])
    [left] = await pins(workspace)
    assert (left.id, left.standing) == (first.id, Standing.BOTH)
    await workspace.history.forget([first.id])
    [left] = await pins(workspace)
    assert (left.cid, left.standing, left.recorded, left.name) == (first.cid, Standing.ACCOUNT, False, None)


async def test_a_pin_made_elsewhere_has_a_name_a_note_and_can_be_revoked(workspace: Workspace, other: Client) -> None:
    cid = (await other.upload(b"a picture")).cid
    await other.rename(cid, "café.png")
    await workspace.sync()
    [pin] = await pins(workspace, "cafe")
    assert (pin.service_name, pin.title, (pin.bytes or 0) > 0) == ("café.png", "café.png", True)
    await workspace.history.rename(pin.id, "my name")
    await workspace.history.annotate(cid, "mine", "a note")
    [pin] = await pins(workspace, "note name")
    assert (pin.title, pin.name, pin.service_name, pin.note) == ("my name", "my name", "café.png", "a note")
    await workspace.revoke(cid)
    [pin] = await pins(workspace)
    assert (pin.standing, pin.revoked_at is not None) == (Standing.REVOKED, True)
    await workspace.sync(full=True)
    assert [pin.standing for pin in await pins(workspace)] == [Standing.REVOKED]


async def test_storing_what_was_made_elsewhere_keeps_its_name_and_note(workspace: Workspace, other: Client) -> None:
    cid = (await other.store({"a": 1})).cid
    await workspace.sync()
    [pin] = await pins(workspace)
    await workspace.history.rename(pin.id, "mine")
    stored = await workspace.store({"a": 1})
    [pin] = await pins(workspace)
    assert (pin.id, pin.cid, pin.standing, pin.name) == (stored.id, cid, Standing.BOTH, "mine")


async def test_what_vanished_is_found_by_a_full_check(workspace: Workspace, other: Client) -> None:
    cids = [(await other.store({"number": number})).cid for number in range(5)]
    await workspace.sync()
    await other.revoke(cids[2])
    await workspace.sync()  # the count differs, so everything is read
    assert set(await standings(workspace)) == {*cids[:2], *cids[3:]}


async def test_the_second_time_only_what_is_new_is_read(
    workspace: Workspace, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        await other.store({"number": number})
    await workspace.sync()
    new = (await other.store({"number": "new"})).cid
    read: list[str] = []
    listed = Client.pins

    async def counted(client: Client, *, resume: Resume | None = None) -> AsyncGenerator[Pin]:
        async with aclosing(listed(client, resume=resume)) as listing:
            async for pin in listing:
                read.append(pin.cid)
                yield pin

    monkeypatch.setattr(Client, "pins", counted)
    state = await workspace.sync()
    assert (state.pins, len(await pins(workspace))) == (6, 6)
    assert read[0] == new
    assert len(read) <= 3, "the new pin, the newest of the run before, and the first that is older"


async def test_a_run_that_was_cut_off_is_in_the_ledger_and_a_finished_one_is_not(
    own_home: Path, node: Node, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinui.workspace.mirror.PAGE", 3)
    monkeypatch.setattr("pinui.workspace.mirror.MOST", 3)
    cids = {(await other.store({"number": number})).cid for number in range(10)}
    began, listed = asyncio.Event(), Client.pins

    async def halting(client: Client, *, resume: Resume | None = None) -> AsyncGenerator[Pin]:
        async with aclosing(listed(client, resume=resume)) as listing:
            number = 0
            async for pin in listing:
                if number == 7 and not began.is_set():
                    began.set()
                    await asyncio.Event().wait()
                number += 1
                yield pin

    monkeypatch.setattr(Client, "pins", halting)
    async with workspace_at(node) as workspace:
        syncing = asyncio.create_task(workspace.sync())
        await asyncio.wait_for(began.wait(), 60)
        assert [(one.kind, one.is_running) for one in await workspace.transfers.ledger.requests()] == [("mirror", True)]
        syncing.cancel()
        await asyncio.wait([syncing])
    async with workspace_at(node) as workspace:
        [row] = await workspace.transfers.look()
        assert (row.kind, row.state) == ("mirror", "left")
        workspace.transfers.resume(row)
        await workspace.transfers.join()
        assert row.state == "done", row.error
        assert set(await standings(workspace)) == cids
        await workspace.sync()
        assert await workspace.transfers.ledger.requests() == []


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("mirror.PAGE", "mirror.MOST"):
        monkeypatch.setattr(f"pinui.workspace.{place}", 3)
    for place in ("pin_list.PAGE", "newer_api.PAGE"):
        monkeypatch.setattr(f"pinui.sdk.providers.{place}", 3)


@pytest.mark.parametrize("api", ["pin", "pinata-v3"])
async def test_an_interrupted_run_goes_on_where_it_was(
    own_home: Path, node: Node, other: Client, monkeypatch: pytest.MonkeyPatch, small_pages: None, api: str
) -> None:
    cids = [(await other.store({"number": number})).cid for number in range(10)]
    listed, read = Client.pins, list[list[str]]()

    async def breaking(client: Client, *, resume: Resume | None = None) -> AsyncGenerator[Pin]:
        seen = list[str]()
        read.append(seen)
        async with aclosing(listed(client, resume=resume)) as listing:
            async for pin in listing:
                if len(read) == 1 and len(seen) == 7:
                    raise ConnectionResetError
                seen.append(pin.cid)
                yield pin

    monkeypatch.setattr(Client, "pins", breaking)
    async with workspace_at(node, api) as workspace:
        with pytest.raises(ConnectionResetError):
            await workspace.sync()
        assert (await workspace.account_state()).is_unfinished
        assert len(await pins(workspace)) == 6
    newer = (await other.store({"came": "meanwhile"})).cid
    async with workspace_at(node, api) as workspace:
        state = await workspace.sync()
        assert set(await standings(workspace)) == {*cids, newer}
        assert (state.pins, state.is_unfinished) == (11, False)
    assert set(read[1]).isdisjoint(read[0][:2]), "the second run begins where the first one broke off"


async def test_a_page_that_the_service_has_forgotten_begins_with_the_first_one(
    own_home: Path, node: Node, other: Client, small_pages: None
) -> None:
    cids = {(await other.store({"number": number})).cid for number in range(5)}
    async with workspace_at(node, "pinata-v3") as workspace:
        client = (await workspace.service.open()).client
        kept = list[str]()
        for handle in ("page unknown", "page \u00e9", "1700000000000", None):
            assert {pin.cid async for pin in client.pins(resume=Resume(keep=kept.append, handle=handle))} == cids
    assert len(kept) == 4, "each list has two pages"


async def test_another_token_or_address_starts_a_new_mirror(
    own_home: Path, tmp_path: Path, node: Node, other: Client
) -> None:
    mine = (await other.store({"account": 1})).cid
    async with workspace_at(node) as workspace:
        own = (await workspace.store({"own": 1})).cid
        await workspace.sync()
        assert await standings(workspace) == {mine: Standing.ACCOUNT, own: Standing.BOTH}
    async with Node(tmp_path / "second") as second, workspace_at(second) as workspace:
        await workspace.sync()
        assert await standings(workspace) == {own: Standing.GONE}


async def test_a_removed_profile_takes_its_mirror_along_and_leaves_the_history(
    workspace: Workspace, other: Client
) -> None:
    await other.store({"made": "elsewhere"})
    own = (await workspace.store({"made": "here"})).cid
    await workspace.sync()
    await workspace.switch("local")
    await workspace.remove_profile("mine")
    state = await workspace.history.account_state("mine")
    assert (state.pins, state.here, state.mirrored_at) == (0, 1, None)
    assert [entry.cid for entry in await workspace.history.page(Query(of="both"))] == [own]


async def test_what_is_revoked_while_a_page_is_on_its_way_stays_revoked(workspace: Workspace, other: Client) -> None:
    cid = (await other.store({"a": 1})).cid
    listing = [pin async for pin in other.pins()]
    run = await workspace.history.begin_run("mine", "x", 1, full=True)
    await workspace.history.mark_revoked(cid, "mine", 1000)
    await workspace.history.merge_pins(run, listing, 999)
    assert await standings(workspace) == {}


async def test_pinning_by_cid_and_renaming_at_the_service(workspace: Workspace, other: Client) -> None:
    record = await other.store({"a": 1})
    pin = await workspace.pin(record.cid, name="kept")
    assert pin.status == "pinned"
    [row] = await pins(workspace)
    await workspace.history.rename(row.id, "own")
    await workspace.rename_at_service(record.cid, "at the service")
    [row] = await pins(workspace)
    assert (row.name, row.service_name) == ("own", "at the service")
    assert [pin.name async for pin in other.pins()] == ["at the service"]


async def test_what_was_there_all_the_time_is_mirrored_while_others_write_and_remove(
    workspace: Workspace, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("pinui.sdk.providers.pin_list.PAGE", "pinui.workspace.mirror.PAGE", "pinui.workspace.mirror.MOST"):
        monkeypatch.setattr(place, 10)
    made = [(await other.store({"number": number})).cid for number in range(60)]
    stable, removed, written = made[::2], made[1::2], list[str]()
    merge = workspace.history.merge_pins

    async def meanwhile(run: Any, page: Any, asked_at: int, position: str | None) -> None:
        await merge(run, page, asked_at, position)
        for _ in range(3):
            await other.revoke(removed.pop(len(removed) // 2))
            written.append((await other.store({"written": len(written)})).cid)

    monkeypatch.setattr(workspace.history, "merge_pins", meanwhile)
    await workspace.sync()
    assert len(written) >= 9, "others were at work during the run"
    assert set(stable) <= set(await standings(workspace))
    monkeypatch.undo()
    await workspace.sync(full=True)
    assert set(await standings(workspace)) == {pin.cid async for pin in other.pins()}


async def test_another_token_at_the_same_address_starts_a_new_mirror(own_home: Path, tmp_path: Path) -> None:
    async with Node(tmp_path / "first", token="first-token") as node, workspace_at(node) as workspace:
        port, own = node.port, (await workspace.store({"own": 1})).cid
        async with await Client.init(
            provider_token=node.token, pin_api_url=node.api_url, gateway_url=node.gateway_url
        ) as other:
            elsewhere = (await other.store({"account": 1})).cid
        await workspace.sync()
        assert await standings(workspace) == {elsewhere: Standing.ACCOUNT, own: Standing.BOTH}
    async with Node(tmp_path / "second", token="second-token", port=port) as node, workspace_at(node) as workspace:
        await workspace.sync()
        assert await standings(workspace) == {own: Standing.GONE}


async def test_a_refused_token_clears_nothing_and_own_words_outlive_a_new_token(own_home: Path, tmp_path: Path) -> None:
    async with Node(tmp_path / "node", token="first-token") as node, workspace_at(node) as workspace:
        port = node.port
        async with await Client.init(
            provider_token=node.token, pin_api_url=node.api_url, gateway_url=node.gateway_url
        ) as other:
            known = {(await other.store({"n": n})).cid for n in range(3)}
        await workspace.sync()
        named = (await pins(workspace))[0]
        await workspace.history.rename(named.id, "my own name")
        await workspace.keep_token(workspace.profile, Secret("wrong-token"))
        await workspace.switch("local")
        await workspace.switch("mine")
        with pytest.raises(ProviderError):
            await workspace.sync()
        assert set(await standings(workspace)) == known
    async with Node(tmp_path / "node", token="second-token", port=port) as node, workspace_at(node) as workspace:
        await workspace.sync()
        assert {row.cid: row.name for row in await pins(workspace)}[named.cid] == "my own name"
        assert set(await standings(workspace)) == known


async def test_a_service_that_cannot_list_pins_shows_the_history_as_before(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(client: Client, *, resume: Resume | None = None) -> AsyncGenerator[Pin]:
        raise Unsupported("This service can't list pins.")
        yield

    stored = await workspace.store({"a": 1})
    before = await pins(workspace)
    monkeypatch.setattr(Client, "pins", refused)
    for _ in range(2):
        with pytest.raises(Unsupported):
            await workspace.sync()
    state = await workspace.account_state()
    assert (state.tells_where, state.mirrored_at) == (False, None)
    assert await pins(workspace) == before
    assert [entry.id for entry in before] == [stored.id]


async def test_a_pin_made_elsewhere_is_read_saved_and_verified_as_any_other(
    workspace: Workspace, other: Client, tmp_path: Path
) -> None:
    cid = (await other.upload(b"made elsewhere")).cid
    await workspace.sync()
    assert (await workspace.preview(cid)).data == b"made elsewhere"
    saved = await workspace.download(cid, tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes() == b"made elsewhere", saved
    assert await workspace.verify(cid) == "verified"
    [pin] = await pins(workspace, "is:verified")
    assert (pin.cid, pin.recorded, pin.standing) == (cid, False, Standing.ACCOUNT)
    assert await workspace.pinned_cids() == [cid]


async def test_what_is_gone_from_the_account_is_not_pinned(workspace: Workspace, other: Client) -> None:
    kept = (await workspace.store({"kept": 1})).cid
    gone = (await workspace.store({"gone": 1}, name="first")).cid
    await workspace.store({"gone": 1}, name="second")
    assert set(await workspace.pinned_cids()) == {kept, gone}, "nothing else is known yet"
    await other.revoke(gone)
    state = await workspace.sync()
    assert (state.pins, state.here, state.gone) == (1, 0, 1)
    assert [entry.cid for entry in await pins(workspace, "is:pinned")] == [kept]
    assert [entry.cid for entry in await pins(workspace, "-is:pinned")] == [gone]
    assert await workspace.pinned_cids() == [kept]
    records = await workspace.history.page(Query())
    assert [(entry.cid, entry.is_gone) for entry in records] == [(gone, True), (gone, True), (kept, False)]
    assert [entry.cid for entry in await workspace.history.page(Query("is:pinned"))] == [kept]
    again = await workspace.store({"gone": 1})
    assert (await standings(workspace))[again.cid] == Standing.BOTH
    assert not any(entry.is_gone for entry in await workspace.history.page(Query()))


async def test_a_pin_is_found_by_the_words_of_each_of_its_records(workspace: Workspace) -> None:
    first = await workspace.store({"same": 1}, name="draft")
    second = await workspace.store({"same": 1}, name="final")

    async def found(text: str) -> tuple[list[int], list[int]]:
        records = await workspace.history.page(Query(text=text))
        return [entry.id for entry in await pins(workspace, text)], [entry.id for entry in records]

    assert await found("draft") == ([second.id], [first.id])
    assert await found("final draft") == ([second.id], [])
    assert await found("-draft") == ([], [second.id])
    assert await found("-dr") == ([], [second.id])
    await workspace.history.rename(first.id, "sketch")
    assert await found("draft") == ([], [])
    assert await found("sketch") == ([second.id], [first.id])
    await workspace.history.forget([second.id])
    assert await found("final") == ([], [])
    assert await found("sketch") == ([first.id], [first.id])
    third = await workspace.store({"same": 1}, name="print")
    await workspace.history.forget([first.id])
    assert await found("sketch") == ([], [])
    assert await found("-sketch") == ([third.id], [third.id])


async def test_the_kind_of_a_pin_made_elsewhere_is_unknown(workspace: Workspace, other: Client) -> None:
    own = (await workspace.upload(b"a file")).cid
    await other.store({"made": "elsewhere"})
    await workspace.sync()
    for text, expected in {"kind:file": [own], "-kind:json": [own], "kind:json": [], "-kind:dir": [own]}.items():
        assert [entry.cid for entry in await pins(workspace, text)] == expected, text
    assert [entry.cid for entry in await pins(workspace, "-to:alice")] == [own]


def telling_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the service tells neither sizes nor dates, as Kubo does."""
    listed = Client.pins

    async def untold(client: Client, **options: Any) -> AsyncGenerator[Pin]:
        async with aclosing(listed(client, **options)) as listing:
            async for pin in listing:
                yield replace(pin, size=None, created=None)

    monkeypatch.setattr(Client, "pins", untold)


async def test_a_size_and_a_date_that_a_service_does_not_tell_match_no_filter(
    workspace: Workspace, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = (await other.store({"made": "elsewhere"})).cid
    own = (await workspace.store({"made": "here"})).cid
    telling_little(monkeypatch)
    state = await workspace.sync()
    found = {entry.cid: entry for entry in await pins(workspace)}
    assert (found[elsewhere].bytes, found[elsewhere].pinned_at) == (None, None)
    assert (found[own].bytes, found[own].pinned_at) == (len('{"made":"here"}'), found[own].timestamp)
    for text in ("size:<1kb", "-size:>1kb", "age:<1h", "-age:>1h", "age:<1h size:<1kb"):
        assert [entry.cid for entry in await pins(workspace, text)] == [own], text
    for text in ("size:>1kb", "-size:<1kb", "age:>1h", "-age:<1h"):
        assert await pins(workspace, text) == [], text
    assert (state.pins, state.size, state.unsized) == (2, len('{"made":"here"}'), 1)


async def test_a_size_and_a_date_are_known_once_the_service_tells_them(
    workspace: Workspace, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    await other.store({"made": "elsewhere"})
    with monkeypatch.context() as patch:
        telling_little(patch)
        await workspace.sync()
        [pin] = await pins(workspace)
        await workspace.history.rename(pin.id, "my name")
    state = await workspace.sync(full=True)
    [pin] = await pins(workspace, "age:<1h size:<1kb")
    assert (pin.name, pin.bytes, pin.pinned_at) == ("my name", 28, pin.timestamp)
    assert (state.pins, state.size, state.unsized) == (1, 28, 0)


KILLED = """
import asyncio, os, sys
from pinui.sdk.providers import pin_list
from pinui.workspace import Workspace, history, mirror

mirror.PAGE = mirror.MOST = pin_list.PAGE = 3
merge, merged = history.History.merge_pins, []


async def killed(self, run, page, asked_at, position):
    await merge(self, run, page, asked_at, position)
    merged.append(len(page))
    if len(merged) == 2:
        os._exit(9)


async def main():
    history.History.merge_pins = killed
    async with await Workspace.open(profile="mine") as workspace:
        await workspace.sync()


asyncio.run(main())
"""


async def test_a_run_that_was_killed_goes_on_where_it_was(
    own_home: Path, node: Node, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cids = [(await other.store({"number": number})).cid for number in range(10)]
    async with workspace_at(node) as workspace:
        monkeypatch.setenv("PINUI_TOKEN", node.token)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED)
        assert await process.wait() == 9
        state = await workspace.account_state()
        assert (state.pins, state.is_unfinished) == (6, True)
        asked: list[str | None] = []
        listed = Client.pins

        def noted(client: Client, *, resume: Resume | None = None) -> AsyncGenerator[Pin]:
            asked.append(resume and resume.handle)
            return listed(client, resume=resume)

        monkeypatch.setattr(Client, "pins", noted)
        state = await workspace.sync()
        assert (state.pins, state.is_unfinished, set(await standings(workspace))) == (10, False, set(cids))
        assert asked[0] is not None, "it goes on behind the last page that was written"


@pytest.mark.slow
async def test_what_was_there_all_the_time_is_mirrored_from_an_account_with_200000_pins(
    workspace: Workspace, node: Node, other: Client
) -> None:
    count, now = 200_000, time.time_ns() // 1_000_000
    made = [make_cid(number) for number in range(count)]
    with closing(sqlite3.connect(node.data_dir / "index.db")) as index, index:
        index.executemany(
            "INSERT INTO pins (id, cid, size, files, name, pinned_at) VALUES (?, ?, 7, 1, ?, ?)",
            ((f"id-{number}", made[number], f"pin {number}", now - number * 10) for number in range(count)),
        )
    stable, removed, written = made[::2], made[1::2], list[str]()
    syncing = asyncio.create_task(workspace.sync())
    chance = random.Random(1)
    while not syncing.done():
        await other.revoke(removed.pop(chance.randrange(len(removed))))
        written.append((await other.store({"written": len(written)})).cid)
    await syncing
    assert len(written) > 50, "others were at work during the run"
    known = set(await standings_of_all(workspace))
    assert set(stable) <= known
    await workspace.sync(full=True)
    assert set(await standings_of_all(workspace)) == {*stable, *removed, *written}


async def standings_of_all(workspace: Workspace) -> list[str]:
    """The CIDs on the account, as far as is known here."""
    ids = await workspace.history.ids(Query(text="on:account", of="pins", profile="mine"))
    return [entry.cid for entry in await workspace.history.entries(ids)]
