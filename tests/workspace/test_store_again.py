"""A revoked pin is stored again where that is honest: from the history, its file, or a gateway that still has it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pinui.sdk.writing.folder_rules import FolderRules
from pinui.workspace import Entry, Workspace, WorkspaceError


@pytest.fixture
async def workspace(own_home: Path) -> AsyncIterator[Workspace]:
    async with await Workspace.open() as workspace:
        yield workspace


async def revoked(workspace: Workspace, entry: Entry) -> Entry:
    await workspace.revoke(entry.cid)
    (row,) = await workspace.history.entries([entry.id])
    assert row.revoked_at is not None
    return row


async def is_pinned(workspace: Workspace, cid: str) -> bool:
    client = await workspace.connect()
    return [pin.cid async for pin in client.pins(cid=cid)] == [cid]


async def test_documents_and_messages_come_back_from_the_history(workspace: Workspace) -> None:
    for entry in (await workspace.store({"a": 1.5}, name="menu"), await workspace.send("alice", "hello")):
        again = await workspace.store_again(await revoked(workspace, entry))
        assert (again.cid, again.kind, again.name, again.recipient) == (
            entry.cid,
            entry.kind,
            entry.name,
            entry.recipient,
        )
        assert again.revoked_at is None
        assert await is_pinned(workspace, entry.cid)


async def test_a_file_comes_back_from_its_place(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "cat.png"
    file.write_bytes(b"meow" * 1000)
    entry = await revoked(workspace, await workspace.upload(file))
    again = await workspace.store_again(entry)
    assert (again.cid, again.name) == (entry.cid, "cat.png")
    assert await is_pinned(workspace, entry.cid)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("follow_links", [False, True])
async def test_a_folder_comes_back_from_its_place_as_it_was_uploaded(
    workspace: Workspace, tmp_path: Path, hidden: bool, follow_links: bool
) -> None:
    folder = tmp_path / "album"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "cat.png").write_bytes(b"meow")
    (folder / ".notes").write_text("a note")
    (folder / "link").symlink_to(folder / "deep" / "cat.png")
    entry = await revoked(workspace, await workspace.upload(folder, rules=FolderRules(hidden, follow_links)))
    again = await workspace.store_again(entry)
    assert (again.cid, again.name, again.is_folder, again.source) == (entry.cid, "album", True, str(folder))
    assert await is_pinned(workspace, entry.cid)


async def test_a_note_stays_with_it(workspace: Workspace) -> None:
    entry = await workspace.store([1])
    await workspace.history.annotate(entry.cid, entry.profile, "the first one")
    again = await workspace.store_again(await revoked(workspace, entry))
    assert again.note == "the first one"


@pytest.mark.parametrize("change", ["changed", "gone", "unknown"])
async def test_a_file_that_is_nowhere_any_more_stays_revoked(workspace: Workspace, tmp_path: Path, change: str) -> None:
    file = tmp_path / "cat.png"
    file.write_bytes(b"meow" * 1000)
    entry = await revoked(workspace, await workspace.upload(b"meow" * 1000 if change == "unknown" else file))
    if change == "changed":
        file.write_bytes(b"woof" * 1000)
    elif change == "gone":
        file.unlink()
    with pytest.raises(WorkspaceError, match="can't be stored again"):
        await workspace.store_again(entry)
    assert not await is_pinned(workspace, entry.cid)


async def test_what_a_gateway_still_has_comes_back_from_there(workspace: Workspace, tmp_path: Path) -> None:
    entry = await workspace.upload(b"kept by somebody else")
    folder = tmp_path / "album"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"a")
    album = await workspace.upload(folder)
    shutil.rmtree(folder)
    # The pin is there still; only the history believes that it was revoked, as after a revoke elsewhere.
    for one in (entry, album):
        await workspace.history.mark_revoked(one.cid, one.profile, one.timestamp + 1)
        (row,) = await workspace.history.entries([one.id])
        assert row.revoked_at is not None
        again = await workspace.store_again(row)
        assert (again.cid, again.source) == (one.cid, one.source)
