"""The workspace on the embedded node: what a write returned is in the history before it returns."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pinui.sdk.errors import InvalidCID, NetworkError, ProviderError, SerializationError
from pinui.sdk.models import Resume
from pinui.sdk.secret import Secret
from pinui.workspace import AlreadyExists, HistoryError, NoToken, NotRecorded, Profile, Query, Workspace, WorkspaceError

DEAD = "http://127.0.0.1:9"


@pytest.fixture
async def workspace(own_home: Path) -> AsyncIterator[Workspace]:
    async with await Workspace.open() as workspace:
        yield workspace


async def test_opening_is_cheap_and_creates_nothing(own_home: Path) -> None:
    async with await Workspace.open() as workspace:
        assert workspace.profile.name == "local"
        assert workspace.status.state == "unknown"
    assert not own_home.exists()


async def test_json_is_stored_remembered_and_read_back(workspace: Workspace) -> None:
    entry = await workspace.store({"hello": "world"}, name="greeting")
    assert await workspace.history.page(Query()) == [entry]
    assert (entry.kind, entry.direction, entry.name, entry.size) == ("json", "sent", "greeting", 17)
    assert entry.excerpt == '{"hello":"world"}'
    assert await workspace.retrieve(entry.cid) == {"hello": "world"}
    record = await workspace.history.record(entry.id)
    assert record is not None
    assert record.data == {"hello": "world"}
    assert workspace.status.state == "ok"
    assert (await workspace.link(entry.cid)).startswith(await workspace.gateway_url())


async def test_a_file_a_folder_bytes_and_an_open_file_are_uploaded(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("one")
    progress: list[tuple[int, int | None]] = []
    file = await workspace.upload(
        tmp_path / "folder" / "a.txt", on_progress=lambda done, total: progress.append((done, total))
    )
    folder = await workspace.upload(tmp_path / "folder")
    data = await workspace.upload(b"two", name="two.bin")
    opened = await workspace.upload(io.BytesIO(b"three"), name="three.bin")
    assert [entry.name for entry in (file, folder, data, opened)] == ["a.txt", "folder", "two.bin", "three.bin"]
    assert [entry.title for entry in (file, folder, data)] == ["a.txt", "folder/", "two.bin"]
    assert progress
    assert await workspace.history.count(Query(kind="file")) == 4
    path = await workspace.download(opened.cid, tmp_path)
    assert path == tmp_path / "three.bin"
    assert path.read_bytes() == b"three"
    with pytest.raises(AlreadyExists, match=r"three\.bin exists already"):
        await workspace.download(opened.cid, tmp_path)
    assert await workspace.download(opened.cid, tmp_path, overwrite=True) == path


async def test_a_preview_is_the_beginning(workspace: Workspace) -> None:
    entry = await workspace.upload(b"0123456789" * 100, name="digits.txt")
    preview = await workspace.preview(entry.cid, limit=15)
    assert (preview.data, preview.total, preview.truncated) == (b"012345678901234", 1000, True)
    whole = await workspace.preview(entry.cid)
    assert (len(whole.data), whole.truncated) == (1000, False)


async def test_messages_are_sent_received_once_and_filed(workspace: Workspace) -> None:
    sent = await workspace.send("alice", "see you")
    assert (sent.kind, sent.recipient, sent.excerpt) == ("message", "alice", "see you")
    received, message = await workspace.receive(f"ipfs://{sent.cid}")
    assert (message.recipient_id, message.payload) == ("alice", "see you")
    assert (received.direction, received.recipient, received.cid) == ("received", None, sent.cid)
    again, _ = await workspace.receive(sent.cid)
    assert again == received
    record = await workspace.history.record(received.id)
    assert record is not None
    assert record.data == message.to_json()
    with pytest.raises(WorkspaceError, match="needs a recipient"):
        await workspace.send("  ", "x")


async def test_a_message_that_is_read_again_has_the_newer_verdict(workspace: Workspace) -> None:
    sent = await workspace.send("alice", "hello")
    await workspace.receive(sent.cid)
    await workspace.history.set_verification(sent.cid, "local", "unverifiable")
    again, _ = await workspace.receive(sent.cid)
    assert again.verification == "verified"
    assert await workspace.history.entries([again.id]) == [again]


async def test_revoking_marks_and_what_is_not_pinned_is_said_so(workspace: Workspace) -> None:
    entry = await workspace.store([1])
    first = await workspace.revoke(entry.cid)
    second = await workspace.revoke(f"https://gateway.example/ipfs/{entry.cid}/")
    assert (first.was_pinned, second.was_pinned) == (True, False)
    assert first.cid == second.cid == entry.cid
    (row,) = await workspace.history.page(Query())
    assert row.revoked_at is not None
    assert workspace.status.state == "ok"
    with pytest.raises(InvalidCID):
        await workspace.revoke("nonsense")


async def test_the_connection_is_tested_and_the_account_told(workspace: Workspace) -> None:
    assert (await workspace.test()).ok
    await workspace.store({"a": 1})
    totals = await workspace.totals()
    assert totals is not None
    assert totals.pins == 1
    assert totals.size


async def test_a_draft_is_tested_without_being_saved(workspace: Workspace) -> None:
    draft = Profile("draft", "custom", await workspace.api_url())
    refused = await workspace.test(draft, Secret("wrong"))
    assert not refused.ok
    assert isinstance(refused.error, ProviderError)
    assert refused.error.status == 401
    unreachable = await workspace.test(Profile("draft", "custom", DEAD), Secret("t"))
    assert isinstance(unreachable.error, NetworkError)
    assert [profile.name for profile in workspace.profiles.list()] == ["local", "pinata"]
    assert workspace.status.state == "unknown", "a draft says nothing of the profile in use"


async def test_a_value_that_is_no_json_changes_nothing(workspace: Workspace) -> None:
    with pytest.raises(SerializationError, match=r"\$\.a"):
        await workspace.store({"a": {1, 2}})
    assert not workspace.paths.history.exists()


async def test_with_a_history_that_cannot_be_written_nothing_is_sent(workspace: Workspace) -> None:
    workspace.paths.history.mkdir(parents=True)
    with pytest.raises(HistoryError, match="cannot be used"):
        await workspace.store({"a": 1})
    totals = await workspace.totals()
    assert totals is not None
    assert totals.pins == 0


async def test_with_a_history_in_a_folder_that_is_read_only_nothing_is_sent(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    await workspace.store(1)
    monkeypatch.setattr("pinui.workspace.history.store.os.access", lambda *_: False)  # root may write everywhere
    with pytest.raises(HistoryError, match="its folder is read-only"):
        await workspace.store(2)
    totals = await workspace.totals()
    assert totals is not None
    assert totals.pins == 1


async def test_a_disk_that_fills_up_meanwhile_gives_the_cid_with_the_error(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: Any) -> None:
        raise HistoryError("the disk is full")

    monkeypatch.setattr(workspace.history, "add", full)
    with pytest.raises(NotRecorded, match="the disk is full") as caught:
        await workspace.store({"a": 1})
    assert caught.value.record.cid in str(caught.value)
    assert await workspace.retrieve(caught.value.record.cid) == {"a": 1}


async def test_a_store_cancelled_at_any_moment_leaves_whole_rows_and_a_client_that_works(
    workspace: Workspace,
) -> None:
    await workspace.store(0)
    for turns in range(0, 120, 4):
        task = asyncio.ensure_future(workspace.store({"turns": turns}))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            assert await workspace.history.entries([task.result().id])
    for entry in await workspace.history.page(Query()):
        assert await workspace.history.record(entry.id) is not None
    assert await workspace.retrieve((await workspace.store({"still": "works"})).cid) == {"still": "works"}


async def test_switching_takes_effect_at_once_and_lasts(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    await workspace.store({"a": 1})
    api = await workspace.api_url()
    gateway = await workspace.gateway_url()
    token = (workspace.paths.node / "token").read_text()
    told: list[int] = []
    stop = workspace.subscribe(lambda: told.append(1))
    workspace.profiles.save(Profile("work", "custom", DEAD, gateway))
    await workspace.switch("work")
    assert told
    assert workspace.profile.name == "work"
    with pytest.raises(NoToken, match="“work” has no token"):
        await workspace.store({"b": 2})
    assert workspace.status.state == "failed"
    monkeypatch.setenv("PINUI_TOKEN", token)
    assert await workspace.api_url() == DEAD != api
    stop()
    stop()
    async with await Workspace.open() as again:
        assert again.profile.name == "work"


async def test_another_workspace_on_the_same_home_works_at_the_same_time(workspace: Workspace) -> None:
    entry = await workspace.store({"from": "one"})
    async with await Workspace.open() as other:
        assert await other.retrieve(entry.cid) == {"from": "one"}
        second = await other.store({"from": "other"})
        assert await workspace.retrieve(second.cid) == {"from": "other"}
        assert await workspace.history.count(Query()) == 2


class TestTransfers:
    async def test_uploads_run_three_at_once_and_end_as_rows(self, workspace: Workspace, tmp_path: Path) -> None:
        await workspace.connect()
        most = 0

        def watch() -> None:
            nonlocal most
            most = max(most, sum(one.state == "running" for one in workspace.transfers.all))

        workspace.subscribe(watch)
        for number in range(8):
            (tmp_path / f"{number}.bin").write_bytes(os.urandom(200_000))
            workspace.transfers.upload(tmp_path / f"{number}.bin")
        assert workspace.transfers.active == 8
        await workspace.transfers.join()
        assert most == 3
        assert {one.state for one in workspace.transfers.all} == {"done"}
        assert all(one.cid and one.done == one.total for one in workspace.transfers.all)
        assert await workspace.history.count(Query()) == 8
        workspace.transfers.clear_ended()
        assert workspace.transfers.all == []

    async def test_a_failure_is_a_sentence_on_its_row_and_can_be_tried_again(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        transfer = workspace.transfers.upload(tmp_path / "later.txt")
        await workspace.transfers.join()
        assert transfer.state == "failed"
        assert "later.txt" in (transfer.error or "")
        (tmp_path / "later.txt").write_text("now it is there")
        workspace.transfers.retry(transfer.id)
        await workspace.transfers.wait(transfer)
        assert (transfer.state, transfer.error) == ("done", None)
        down = workspace.transfers.download(transfer.cid or "", tmp_path / "copy.txt")
        await workspace.transfers.join()
        assert (down.state, down.path) == ("done", tmp_path / "copy.txt")
        assert (tmp_path / "copy.txt").read_text() == "now it is there"

    async def test_the_incomplete_file_of_a_download_is_written_down_before_it_is_made(
        self, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        entry = await workspace.store([1])
        known: list[str | None] = []
        download = workspace.download

        async def note_and_download(*given: Any, resume: Resume, **named: Any) -> Path:
            known.append(resume.handle)
            return await download(*given, resume=resume, **named)

        monkeypatch.setattr(workspace, "download", note_and_download)
        workspace.transfers.download(entry.cid, tmp_path / "copy.json")
        await workspace.transfers.join()
        assert str(tmp_path / ".copy.json.") in (known[0] or "")

    async def test_cancelling_ends_running_and_waiting_ones_and_leaves_no_file(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        (tmp_path / "up").mkdir()
        with (tmp_path / "up" / "big.bin").open("wb") as file:
            file.truncate(300_000_000)
        entry = await workspace.upload(tmp_path / "up" / "big.bin")
        (tmp_path / "down").mkdir()
        transfers = [workspace.transfers.download(entry.cid, tmp_path / "down" / str(number)) for number in range(5)]
        begun = asyncio.Event()
        workspace.subscribe(lambda: begun.set() if any(one.done for one in transfers) else None)
        await asyncio.wait_for(begun.wait(), 60)
        workspace.transfers.cancel(transfers[4].id)
        await workspace.transfers.wait(transfers[4])
        assert transfers[4].state == "cancelled"
        for one in transfers:
            workspace.transfers.cancel(one.id)
            await workspace.transfers.wait(one)
        assert workspace.transfers.active == 0
        left = {path.name for path in (tmp_path / "down").iterdir()}
        assert left == {str(number) for number, one in enumerate(transfers) if one.state == "done"}
        assert (await workspace.test()).ok
