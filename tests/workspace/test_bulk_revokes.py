"""Revoking many pins, at a real node: a pause, a cancel and a kill in the middle, and going on in a later process."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pinui.node import Node
from pinui.sdk.client import Client
from pinui.workspace import Entry, Query, Workspace
from pinui.workspace.models import RevokeResult
from pinui.workspace.transfers.transfer import Transfer
from tests.workspace.test_mirror import workspace_at

PINS = 12


@pytest.fixture
async def node(tmp_path: Path, own_home: Path) -> AsyncIterator[Node]:
    async with Node(tmp_path / "node") as node:
        yield node


async def pins_at(node: Node) -> list[str]:
    async with await Client.init(provider_token=node.token, pin_api_url=node.api_url) as client:
        return [pin.cid async for pin in client.pins()]


async def store_some(workspace: Workspace) -> list[Entry]:
    for number in range(PINS):
        await workspace.store({"number": number})
    return await workspace.history.page(Query())


async def begun(workspace: Workspace, entries: list[Entry], done: int) -> Transfer:
    """A transfer that has revoked so many pins, and waits for the service's next answer."""
    revoked, enough, revoke = list[str](), asyncio.Event(), workspace.revoke

    async def slow(cid: str, **how: Any) -> RevokeResult:
        if len(revoked) >= done:
            enough.set()
            await asyncio.Event().wait()
        revoked.append(cid)
        return await revoke(cid, **how)

    workspace.revoke = slow  # type: ignore[method-assign]
    transfer = workspace.revoke_many(entries)
    await enough.wait()
    workspace.revoke = revoke  # type: ignore[method-assign]
    return transfer


@pytest.fixture
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that never come are not waited for."""
    monkeypatch.setattr("pinui.workspace.revoking.LAST_ANSWER", 0.0)


async def sent(workspace: Workspace, entries: list[Entry]) -> tuple[Transfer, asyncio.Event]:
    """A transfer whose first requests are done at the service; their answers come when the event is set."""
    at_service, answered, revoke = asyncio.Event(), asyncio.Event(), workspace.revoke

    async def late(cid: str, **how: Any) -> RevokeResult:
        result = await revoke(cid, **how)
        at_service.set()
        await answered.wait()
        return result

    workspace.revoke = late  # type: ignore[method-assign]
    transfer = workspace.revoke_many(entries)
    await at_service.wait()
    workspace.revoke = revoke  # type: ignore[method-assign]
    return transfer, answered


@pytest.mark.parametrize("stop", ["pause", "cancel"])
async def test_requests_that_are_on_their_way_at_a_pause_or_cancel_count_as_revoked(node: Node, stop: str) -> None:
    async with workspace_at(node) as workspace:
        transfers = workspace.transfers
        transfer, answered = await sent(workspace, await store_some(workspace))
        transfers.pause(transfer.id) if stop == "pause" else transfers.cancel(transfer.id)
        answered.set()
        await transfers.wait(transfer)
        left = len(await pins_at(node))
        assert 0 < left < PINS
        assert await counted(workspace, transfer) == [PINS - left, 0, left]
        assert transfer.finished == PINS - left, "the row counts them, too"
        transfers.resume(transfer)
        transfers.retry(transfer.id)
        await transfers.wait(transfer)
        assert await counted(workspace, transfer) == [PINS, 0, 0]


@pytest.mark.usefixtures("nobody_waits")
async def test_a_request_without_an_answer_counts_as_revoked_when_it_turns_out_to_be_done(node: Node) -> None:
    async with workspace_at(node) as workspace:
        transfer, _never = await sent(workspace, await store_some(workspace))
        workspace.transfers.pause(transfer.id)
        await workspace.transfers.wait(transfer)
        workspace.transfers.resume(transfer)
        await workspace.transfers.wait(transfer)
        assert await counted(workspace, transfer) == [PINS, 0, 0]


@pytest.mark.usefixtures("nobody_waits")
async def test_a_bulk_revoke_that_was_paused_goes_on_in_a_later_process(node: Node) -> None:
    async with workspace_at(node) as workspace:
        transfer = await begun(workspace, await store_some(workspace), 4)
        workspace.transfers.pause(transfer.id)
        await workspace.transfers.wait(transfer)
        assert transfer.state == "paused"
        left = len(await pins_at(node))
        assert 0 < left < PINS
    async with workspace_at(node) as workspace:
        [transfer] = await workspace.transfers.look()
        workspace.transfers.resume(transfer)
        await workspace.transfers.wait(transfer)
        assert await counted(workspace, transfer) == [PINS, 0, 0]
    assert await pins_at(node) == []


@pytest.mark.usefixtures("nobody_waits")
async def test_a_cancelled_bulk_revoke_leaves_the_other_pins(node: Node) -> None:
    async with workspace_at(node) as workspace:
        transfer = await begun(workspace, await store_some(workspace), 4)
        workspace.transfers.cancel(transfer.id)
        await workspace.transfers.wait(transfer)
        left = len(await pins_at(node))
        assert 0 < left < PINS
        revoked, _, told = await counted(workspace, transfer)
        assert revoked + told == PINS
    async with workspace_at(node) as workspace:
        assert await workspace.transfers.look() == []
    assert len(await pins_at(node)) == left


KILLED = """
import asyncio, os
from pinui.workspace import Query, Workspace

revoke, revoked = Workspace.revoke, []


async def killed(self, cid, **how):
    result = await revoke(self, cid, **how)
    revoked.append(cid)
    if len(revoked) == 5:
        os._exit(9)
    return result


async def main():
    Workspace.revoke = killed
    async with await Workspace.open(profile="mine") as workspace:
        transfer = workspace.revoke_many(await workspace.history.page(Query()))
        await workspace.transfers.wait(transfer)


asyncio.run(main())
"""


async def test_a_bulk_revoke_that_was_killed_goes_on_and_counts_what_it_had_done(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workspace_at(node) as workspace:
        await store_some(workspace)
    monkeypatch.setenv("PINUI_TOKEN", node.token)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED)
    assert await process.wait() == 9
    left = len(await pins_at(node))
    assert 0 < left < PINS
    async with workspace_at(node) as workspace:
        [transfer] = await workspace.transfers.look()
        workspace.transfers.resume(transfer)
        await workspace.transfers.wait(transfer)
        assert await counted(workspace, transfer) == [PINS, 0, 0], "its own requests, whose answers were lost"
    assert await pins_at(node) == []


async def counted(workspace: Workspace, transfer: Transfer) -> list[int]:
    """The numbers in the report: pins that were revoked, that were gone already, and that are left."""
    report = await workspace.revoke_report(transfer)
    found = [re.search(rf"(\d+) {word}", report) for word in ("revoked", "(?:was|were) gone already", "left")]
    return [0 if match is None else int(match[1]) for match in found]
