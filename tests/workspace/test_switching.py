"""Switching while something is under way: it ends at the service it was meant for, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from pinui.sdk.secret import Secret
from pinui.workspace import Profile, Query, Workspace
from tests.servers import serve

CID = "bafyreibnoelefnzgwbcacyt4vh52ymxvzbjq7mmqhtcnwarfq4lzegsiqe"  # of a kind that no upload can disprove


class Other:
    """A service that answers when the test says so."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.status = 200
        self.headers: dict[str, str] = {}
        self.asked: list[tuple[str, str]] = []
        self.tokens: list[str] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.asked.append((request.method, request.path))
        self.tokens.append(request.headers.get("Authorization", ""))
        await self.may_answer.wait()
        body = {"IpfsHash": CID, "PinSize": 3, "Timestamp": "2026-01-01T00:00:00Z"}
        return web.json_response(
            body if self.status == 200 else {"error": "no"}, status=self.status, headers=self.headers
        )

    async def is_asked(self, times: int) -> None:
        """Wait until that many requests have come."""
        async with asyncio.timeout(60):
            while len(self.asked) < times:
                await asyncio.sleep(0.01)  # between two looks; nothing is waited for by time alone


@pytest.fixture
async def other() -> Other:
    return Other()


@pytest.fixture
async def workspace(own_home: Path, other: Other) -> AsyncIterator[Workspace]:
    """A workspace that uses the profile `other`."""
    async with serve(other.answer) as (url, _), await Workspace.open() as workspace:
        workspace.profiles.save(Profile("other", "custom", url, f"{url}/ipfs"))
        await workspace.credentials.save("other", Secret("a-token-of-other"))
        await workspace.switch("other")
        yield workspace
        other.may_answer.set()


def letters(folder: Path, number: int) -> list[Path]:
    """Files that are nobody else's business."""
    paths = [folder / f"{count}.txt" for count in range(number)]
    for path in paths:
        path.write_text(f"private {path.name}")
    return paths


async def test_transfers_that_run_and_wait_end_where_they_were_begun(
    workspace: Workspace, other: Other, tmp_path: Path
) -> None:
    before = workspace.service
    queued = [workspace.transfers.upload(path) for path in letters(tmp_path, 6)]
    await other.is_asked(3)
    await workspace.switch("local")
    assert before.opened is not None, "three of them need it"
    mine = await workspace.store({"for": "local"})
    other.may_answer.set()
    await workspace.transfers.join()
    assert [(one.state, one.profile, one.error) for one in queued] == [("done", "other", None)] * 6
    assert len(other.asked) == 6
    rows = await workspace.history.page(Query())
    assert sorted(row.profile for row in rows) == ["local", *["other"] * 6]
    totals = await workspace.totals()
    assert totals is not None
    assert totals.pins == 1, "the local node has what was stored there"
    assert mine.profile == "local"
    async with asyncio.timeout(60):
        while before.opened is not None:
            await asyncio.sleep(0.01)  # between two looks


async def test_a_transfer_is_retried_at_its_own_service(workspace: Workspace, other: Other, tmp_path: Path) -> None:
    other.may_answer.set()
    other.status = 400
    transfer = workspace.transfers.upload(letters(tmp_path, 1)[0])
    await workspace.transfers.join()
    assert transfer.state == "failed"
    other.status = 200
    await workspace.switch("local")
    workspace.transfers.retry(transfer.id)
    await workspace.transfers.join()
    assert (transfer.state, transfer.error) == ("done", None)
    assert transfer.entry is not None
    assert transfer.entry.profile == "other"
    assert await workspace.history.count(Query(profile="local")) == 0


async def test_a_retry_uses_the_token_that_was_put_in_place(workspace: Workspace, other: Other, tmp_path: Path) -> None:
    other.may_answer.set()
    other.status = 401
    transfer = workspace.transfers.upload(letters(tmp_path, 1)[0])
    await workspace.transfers.join()
    assert transfer.state == "failed"
    other.status = 200
    await workspace.credentials.save("other", Secret("a-newer-token"))
    await workspace.switch("other")
    workspace.transfers.retry(transfer.id)
    await workspace.transfers.join()
    assert transfer.state == "done"
    assert other.tokens[-1] == "Bearer a-newer-token"


async def test_a_document_is_filed_under_the_profile_it_was_stored_with(workspace: Workspace, other: Other) -> None:
    storing = asyncio.ensure_future(workspace.store({"for": "other"}))
    await other.is_asked(1)
    await workspace.switch("local")
    other.may_answer.set()
    assert (await storing).profile == "other"


async def test_pins_are_revoked_at_the_service_that_was_held(workspace: Workspace, other: Other) -> None:
    other.may_answer.set()
    with workspace.service.held() as service:
        await workspace.switch("local")
        mine = await workspace.store([1])
        await workspace.revoke(mine.cid, at=service)
    (row,) = await workspace.history.page(Query())
    assert (row.profile, row.revoked_at) == ("local", None)
    assert other.asked[-1][0] == "DELETE"
    totals = await workspace.totals()
    assert totals is not None
    assert totals.pins == 1


async def test_the_end_of_old_work_says_nothing_of_the_profile_in_use(workspace: Workspace, other: Other) -> None:
    other.status = 401
    storing = asyncio.ensure_future(workspace.store({"for": "other"}))
    await other.is_asked(1)
    await workspace.switch("local")
    other.may_answer.set()
    await asyncio.wait([storing])
    assert storing.exception() is not None
    assert workspace.status.state == "unknown"


async def test_a_pause_that_another_service_asks_for_is_not_shown(workspace: Workspace, other: Other) -> None:
    other.status, other.headers = 429, {"Retry-After": "1"}
    storing = asyncio.ensure_future(workspace.store({"for": "other"}))
    await other.is_asked(1)
    await workspace.switch("local")
    other.may_answer.set()
    await other.is_asked(2)
    assert workspace.waiting_until is None
    other.status = 200
    await storing


async def test_closing_ends_what_goes_on_elsewhere(workspace: Workspace, other: Other, tmp_path: Path) -> None:
    before = workspace.service
    transfer = workspace.transfers.upload(letters(tmp_path, 1)[0])
    await other.is_asked(1)
    await workspace.switch("local")
    await workspace.aclose()
    assert transfer.state == "left"
    assert before.opened is None
