"""Copies between the embedded node, a real Kubo and a real IPFS Cluster."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from pinui import Blob, Pin
from pinui.workspace import Profile, Workspace
from pinui.workspace.copies import copy_options, new_items
from pinui.workspace.copying import Copying, Plan
from pinui.workspace.transfers.rows import Item
from pinui.workspace.whereabouts import AtProfile, whereabouts
from tests.real.cluster import Cluster, running_cluster
from tests.real.daemon import Daemon, answered
from tests.real.kubo import KuboServer

pytestmark = pytest.mark.real

KIB = 1024


@pytest.fixture
async def workspace(own_home: Path, kubo_daemon: KuboServer, cluster: Cluster) -> AsyncIterator[Workspace]:
    """A workspace with a profile for each server."""
    async with await Workspace.open() as workspace:
        first, second = cluster.peers[0], cluster.peers[1]
        for profile in (
            Profile("kubo", "custom", kubo_daemon.rpc_url, kubo_daemon.gateway_url, provider="kubo"),
            Profile("cluster", "custom", cluster.rest_url, cluster.gateway_url, provider="cluster"),
            Profile("member", "custom", first.kubo.rpc_url, first.kubo.gateway_url, provider="kubo"),
            Profile("other", "custom", second.kubo.rpc_url, second.kubo.gateway_url, provider="kubo"),
            Profile("asking", "custom", cluster.pinning_url, second.kubo.gateway_url, provider="psa"),
        ):
            workspace.profiles.save(profile)
        yield workspace


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Pinning Service API of a cluster without users takes any token."""
    monkeypatch.setenv("PINUI_TOKEN_ASKING", "any")


def fill(folder: Path, seed: int) -> Path:
    (folder / "sub" / "empty").mkdir(parents=True)
    for number, size in enumerate((0, 1, 256 * KIB, 256 * KIB + 1, 700 * KIB)):
        (folder / "sub" / f"{number}.bin").write_bytes(random.Random(seed + number).randbytes(size))
    return folder


async def store(workspace: Workspace, profile: str, path: Path) -> str:
    """Upload a file or folder at a service; its CID."""
    return (await workspace.upload(path, at=workspace.service_of(profile))).cid


async def copy(
    workspace: Workspace, source: str, to: str, *cids: str, on_item: Callable[[Item], None] = lambda _item: None
) -> tuple[Plan, list[Item]]:
    """Copy these CIDs, or everything: the plan, and the results."""
    copying = Copying(workspace, workspace.service_of(source), workspace.service_of(to))
    options = copy_options(source, cids=cids)
    plan, items = await copying.plan(await copying.wanted(options)), list[Item]()
    transfer = workspace.transfers.begin("copy", "", options, new_items(plan), at=workspace.service_of(to))
    async with aclosing(workspace.transfers.results(transfer)) as results:
        async for item in results:
            items.append(item)
            on_item(item)
    await workspace.transfers.wait(transfer)
    return plan, items


async def found(workspace: Workspace, profile: str, cid: str) -> Pin | None:
    return await (await workspace.service_of(profile).open()).client.find(cid)


@pytest.mark.parametrize(
    ("source", "to", "way"),
    [
        ("local", "kubo", "archive"),
        ("kubo", "local", "archive"),
        ("local", "cluster", "archive"),
        ("cluster", "local", "archive"),
        ("kubo", "cluster", "cid"),
        ("cluster", "kubo", "cid"),
        ("member", "cluster", "cid"),
        ("member", "other", "cid"),
    ],
)
async def test_files_and_folders_arrive_with_their_cids_and_names(
    workspace: Workspace, tmp_path: Path, source: str, to: str, way: str
) -> None:
    seed = random.Random(f"{source} {to}").randrange(10**9)
    folder = await store(workspace, source, fill(tmp_path / "album", seed))
    (tmp_path / "large.bin").write_bytes(random.Random(seed).randbytes(3_000_000))
    file = await store(workspace, source, tmp_path / "large.bin")
    plan, items = await copy(workspace, source, to, folder, file)
    assert [item.way for item in plan.items] == [way, way]
    assert all(item.size and item.size > 1_000_000 for item in plan.items)
    assert [item.resume for item in items] == ["copied", "copied"], items
    for cid, name in ((folder, "album"), (file, "large.bin")):
        pin = await answered(
            lambda cid=cid: found(workspace, to, cid), lambda pin: pin is not None and pin.status == "pinned"
        )
        assert pin is not None
        assert (pin.cid, pin.name) == (cid, name)
        assert await (await workspace.service_of(to).open()).client.verify(cid) == "verified"
    again, _items = await copy(workspace, source, to, folder, file)
    assert [item.way for item in again.items] == ["there", "there"]


async def test_a_service_that_pins_by_cid_fetches_from_the_daemon_that_has_it(
    workspace: Workspace, token: None, tmp_path: Path
) -> None:
    (tmp_path / "asked.bin").write_bytes(random.Random(77).randbytes(500_000))
    cid = await store(workspace, "other", tmp_path / "asked.bin")
    plan, items = await copy(workspace, "other", "asking", cid)
    assert [item.way for item in plan.items] == ["cid"]
    assert [item.resume for item in items] == ["copied"], items
    pin = await found(workspace, "asking", cid)
    assert pin is not None
    assert (pin.name, pin.status) == ("asked.bin", "pinned")
    places = {place.profile: place.state for place in await whereabouts(workspace, cid)}
    assert (places["asking"], places["cluster"], places["local"]) == ("pinned", "pinned", "not pinned")


async def test_nobody_can_fetch_from_the_embedded_node_so_its_pins_are_left_out(
    workspace: Workspace, token: None
) -> None:
    cid = (await workspace.store({"only": "here"})).cid
    plan, items = await copy(workspace, "local", "asking", cid)
    assert (plan.going, items) == ([], [])
    assert "not on the IPFS network" in (plan.items[0].why or "")


async def at_cluster(workspace: Workspace, cid: str) -> AtProfile:
    [place] = [place for place in await whereabouts(workspace, cid) if place.profile == "cluster"]
    return place


@pytest.mark.slow
async def test_a_thousand_files_arrive_though_a_peer_of_the_cluster_is_killed(own_home: Path, tmp_path: Path) -> None:
    numbers = range(1000)
    with running_cluster(tmp_path) as cluster:
        dead = cluster.peers[2]
        async with await Workspace.open() as workspace:
            first, *others = (peer.kubo.gateway_url for peer in cluster.peers)
            profile = Profile("cluster", "custom", cluster.rest_url, first, gateways=tuple(others), provider="cluster")
            workspace.profiles.save(replace(profile, replication_min=2, replication_max=3))
            local = (await workspace.service_of("local").open()).client
            cids = [(await local.upload(Blob(b"file %d" % number, name=f"{number}.txt"))).cid for number in numbers]
            seen = list[str]()

            def note(item: Item) -> None:
                seen.append(item.source)
                if len(seen) == 300:
                    Daemon.kill(dead.daemon, dead.kubo.daemon)

            await copy(workspace, "local", "cluster", on_item=note)
            again, _items = await copy(workspace, "local", "cluster")  # pins that were under way as the peer died
            assert len(again.going) < 10
            client = (await workspace.service_of("cluster").open()).client
            assert {pin.cid async for pin in client.pins()} >= set(cids)
            for cid in cids[::50]:
                assert await client.verify(cid) == "verified"
            for cid, peers in ((cids[0], 3), (cids[-1], 2)):  # before the peer died, and after
                place = await answered(
                    lambda cid=cid: at_cluster(workspace, cid),
                    lambda place: [peer.state for peer in place.peers].count("pinned") == 2,
                )
                states = {peer.id: peer.state for peer in place.peers}
                assert (len(states), states.get(dead.id)) == (peers, "unreachable" if peers == 3 else None)
                assert [gateway.state for gateway in place.gateways] == ["serves", "serves", "unreachable"]
