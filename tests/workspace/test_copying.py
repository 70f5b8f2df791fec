"""Copies are transfers: an interrupted one is finished by a later process, each pin once."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest

from pinui.node import Node
from pinui.workspace import Profile, Workspace
from pinui.workspace.copies import copy_options, new_items
from pinui.workspace.copying import Copying

TOKEN = "a-long-token-0123"


async def test_an_interrupted_copy_is_finished_by_the_next_process(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINUI_TOKEN_WORK", TOKEN)
    async with Node(tmp_path / "work", token=TOKEN) as node:
        async with await Workspace.open() as workspace:
            workspace.profiles.save(Profile("work", "custom", node.api_url, node.gateway_url))
            cids = {(await workspace.store({"number": number})).cid for number in range(30)}
            copying = Copying(workspace, workspace.service_of("local"), workspace.service_of("work"))
            options = copy_options("local")
            plan = await copying.plan(await copying.wanted(options))
            assert len(plan.going) == 30
            begun = workspace.transfers.begin(
                "copy", "30 pins", options, new_items(plan), at=workspace.service_of("work")
            )
            async with aclosing(workspace.transfers.results(begun)) as results:
                await anext(results)  # the process ends here
        async with await Workspace.open() as workspace:
            [left] = await workspace.transfers.look()
            assert (left.kind, left.profile, left.items) == ("copy", "work", 30)
            assert 0 < left.finished < 30
            workspace.transfers.resume(left)
            await workspace.transfers.wait(left)
            assert (left.state, left.finished) == ("done", 30), left.error
            client = (await workspace.service_of("work").open()).client
            held = [pin.cid async for pin in client.pins()]
            assert sorted(held) == sorted(cids), "each once"
            assert await workspace.transfers.ledger.requests() == []
