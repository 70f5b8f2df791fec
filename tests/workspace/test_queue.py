"""The queue of transfers: a dead service is found once, other processes are noticed, and turns are fair."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pinui.node import Node
from pinui.sdk.secret import Secret
from pinui.sdk.transport import retry
from pinui.workspace import Profile, Query, Workspace
from pinui.workspace.copies import copy_options
from pinui.workspace.copying import Copying
from pinui.workspace.transfers.rows import NewItem
from tests.workspace.rows import cid


@pytest.fixture
async def workspace(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workspace]:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.0)
    async with await Workspace.open() as workspace:
        yield workspace


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.txt" for number in range(20)]
    for path in paths:
        path.write_text(path.name)
    return paths


async def use_service(workspace: Workspace, url: str, token: str = "t") -> None:
    profile = Profile("elsewhere", "custom", url)
    workspace.profiles.save(profile)
    await workspace.keep_token(profile, Secret(token))
    await workspace.switch("elsewhere")


async def until(workspace: Workspace, condition: Callable[[], bool]) -> None:
    """Wait for a change of the workspace."""
    reached = asyncio.Event()
    stop = workspace.subscribe(lambda: reached.set() if condition() else None)
    if not condition():
        await asyncio.wait_for(reached.wait(), 60)
    stop()


def count_uploads(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    upload, begun = workspace.upload, list[Path]()

    async def counted(source: Path, **options: Any) -> Any:
        begun.append(source)
        return await upload(source, **options)

    monkeypatch.setattr(workspace, "upload", counted)
    return begun


async def test_files_for_a_service_that_can_not_be_reached_are_not_all_tried(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    await use_service(workspace, "http://127.0.0.1:9")
    begun = count_uploads(workspace, monkeypatch)
    many, alone = workspace.transfers.upload_all(files), workspace.transfers.upload(files[0])
    await workspace.transfers.join()
    assert len(begun) <= 3, "those that ran at the same time"
    assert (many.state, alone.state) == ("failed", "failed")
    assert many.unfinished >= 17
    assert [one.state for one in await workspace.transfers.ledger.requests()] == ["unfinished", "unfinished"]


async def test_a_patient_queue_waits_for_the_service_and_goes_on(
    workspace: Workspace, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Node(tmp_path / "node") as node:
        url, token, port = node.api_url, node.token, urlsplit(node.api_url).port or 0
    workspace.transfers.is_patient = True
    await use_service(workspace, url, token)
    begun = count_uploads(workspace, monkeypatch)
    transfer = workspace.transfers.upload_all(files)
    await until(workspace, lambda: transfer.waits_for is not None and not transfer.running)
    assert len(begun) <= 3
    assert (transfer.state, transfer.failed) == ("waiting", 0)
    assert 0 < workspace.pause_left <= 15
    async with Node(tmp_path / "node", port=port, token=token):
        workspace.transfers.go_on_with_all()
        await workspace.transfers.join()
    assert transfer.state == "done", transfer.error
    assert await workspace.history.count(Query()) == 20


async def test_pins_that_are_copied_to_a_dead_service_are_not_all_tried(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, prepare = list[Copying](), Copying.prepare

    async def counted(copying: Copying) -> None:
        asked.append(copying)
        await prepare(copying)

    monkeypatch.setattr(Copying, "prepare", counted)
    await use_service(workspace, "http://127.0.0.1:9")
    cids = [cid(number) for number in range(20)]
    items = [NewItem(cid) for cid in cids]
    transfer = workspace.transfers.begin("copy", "20 pins", copy_options("local", cids=cids), items)
    await workspace.transfers.join()
    assert (transfer.state, len(asked) <= 3) == ("failed", True), transfer.error
    assert transfer.unfinished >= 17
