"""Services in Pins: `c` copies to another one, and the detail tells the peers of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pinui import PeerStatus
from pinui.node import Node
from pinui.tui.app import Pinui
from pinui.tui.places.pins.copy_to import copy_question
from pinui.workspace import Profile, Workspace
from pinui.workspace.copying import Item, Plan
from tests.tui.conftest import TOKEN
from tests.tui.pilots import confirm, shows, told, until, workbench
from tests.tui.test_pins import pins_of, store


def add_profile(app: Pinui, service: Node) -> None:
    app.workspace.profiles.save(Profile("studio", "custom", service.api_url, service.gateway_url))


async def test_marked_pins_are_copied_after_a_question_with_the_plan(
    service: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINUI_TOKEN_STUDIO", TOKEN)
    async with workbench() as (app, pilot):
        add_profile(app, service)
        await store(app, one={"n": 1}, two={"n": 2}, three={"n": 3})
        await shows(pilot, "3 pins")
        await pilot.press("g", "space", "space", "c")
        await shows(pilot, "Copy to", "studio", "custom service")
        await pilot.press("a")
        await shows(pilot, "Copy 2 pins to studio (custom service)?", "2 by archive, same CID", "Nothing is removed")
        await confirm(pilot, "C")
        await told(pilot, "Copying 2 pins to studio.")
        await until(pilot, lambda: app.workspace.transfers.all[-1].state == "done", "the copy")
        assert not pins_of(app).pins.marked
        client = (await app.workspace.service_of("studio").open()).client
        assert len([pin async for pin in client.pins()]) == 2
        await pilot.press("3")
        await shows(pilot, "2 pins  local → studio")


async def test_a_pin_that_is_there_already_is_told_and_nothing_is_asked(
    service: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINUI_TOKEN_STUDIO", TOKEN)
    async with workbench() as (app, pilot):
        add_profile(app, service)
        await store(app, one={"n": 1})
        await (await app.workspace.service_of("studio").open()).client.store({"n": 1})
        await shows(pilot, "1 pin")
        await pilot.press("c")
        await shows(pilot, "Copy to")
        await pilot.press("enter")
        await told(pilot, "studio has it already.")


async def test_without_another_service_the_next_step_is_told() -> None:
    async with workbench() as (app, pilot):
        await store(app, one={"n": 1})
        await shows(pilot, "1 pin")
        await pilot.press("c")
        await told(pilot, "There is no other service to copy to.")


async def test_the_question_tells_why_pins_are_left_out_in_whole_sentences() -> None:
    why = "its CID would change, as it was cut into blocks in another way than the service does"
    left_out = [Item(f"left {number}", None, 10, "left out", why) for number in range(3)]
    plan = Plan("kubo", "pinata", (Item("goes", None, 10, "upload"), *left_out))
    async with workbench(size=(80, 24)) as (app, pilot):
        app.push_screen(copy_question(plan, Profile("pinata", "pinata")))
        await shows(pilot, "• 3 left out", "Left out: its CID would change, as it was cut into", "the service does.")


async def test_the_detail_tells_the_peers_of_a_cluster_and_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    async def peers(_workspace: Workspace, _cid: str) -> tuple[PeerStatus, ...]:
        return (
            PeerStatus(name="oslo", id="A", state="pinned"),
            PeerStatus(name="bergen", id="B", state="pinning"),
            PeerStatus(name="\x1b[31mtromsø", id="C", state="failed", error="no space left"),
        )

    monkeypatch.setattr(Workspace, "peers", peers)
    async with workbench() as (app, pilot):
        await store(app, one={"n": 1})
        await shows(pilot, "Peers", "1/3  oslo", "bergen pinning", "tromsø failed: no space", "left")


async def test_the_list_tells_how_many_copies_the_cluster_has(monkeypatch: pytest.MonkeyPatch) -> None:
    async def copies(_workspace: Workspace, cids: Sequence[str]) -> dict[str, tuple[int, int]]:
        return {cid: (2 + (cid == cids[0]), 3) for cid in cids}

    async with workbench() as (app, pilot):
        await store(app, one={"n": 1}, two={"n": 2})
        other = await app.workspace.connect()
        await other.store({"made": "elsewhere"})
        monkeypatch.setattr(Workspace, "copies", copies)
        app.workspace.service.profile = replace(app.workspace.profile, provider="cluster")
        await pilot.press("r")
        await shows(pilot, "3 pins", "ON", "3/3", "2/3")
