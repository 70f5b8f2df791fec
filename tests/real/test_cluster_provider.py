"""`provider="cluster"` on a real IPFS Cluster of three peers."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pinui import (
    Client,
    ClientConfig,
    ClusterProvider,
    LeftOut,
    NetworkError,
    PeerStatus,
    Pin,
    PinuiError,
    ProviderError,
    Unsupported,
)
from pinui.node import Node
from pinui.sdk.secret import masked
from pinui.sdk.transport.refusals import is_not_pinned
from pinui.sdk.transport.transport import Clock
from tests.real.cluster import Cluster, running_cluster
from tests.real.daemon import Daemon, answered
from tests.real.kubo import KuboServer
from tests.real.proxy import proxy_to
from tests.servers import settings_of

pytestmark = pytest.mark.real

CHUNK = 256 * 1024
ABSENT = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"
PEERS = ["peer0", "peer1", "peer2"]


async def no_wait(_seconds: float) -> None:
    """Time that takes none."""


def on(cluster: Cluster, **settings: Any) -> Client:
    urls = {"pin_api_url": cluster.rest_url, "gateway_url": cluster.gateway_url}
    config = ClientConfig(**{"provider": "cluster", **urls, **settings})
    return Client(ClusterProvider(config, clock=Clock(sleep=no_wait)))


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with on(cluster) as client:
        yield client


def states(peers: tuple[PeerStatus, ...]) -> list[str]:
    return [peer.state for peer in peers]


async def one(client: Client, cid: str) -> Pin:
    (pin,) = [pin async for pin in client.pins(cid=cid)]
    return pin


def fill(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


# Adding


def added(cluster: Cluster, path: Path, version: int) -> str:
    """The CID that `ipfs add` gives, which stores nothing here."""
    kubo = cluster.peers[0].kubo.kubo
    return kubo("add", "-Q", "-r", "-n", f"--cid-version={version}", str(path)).decode().strip()


@pytest.mark.parametrize("version", [0, 1])
async def test_files_get_the_cids_of_kubo(cluster: Cluster, tmp_path: Path, version: int) -> None:
    async with on(cluster, cid_version=version) as client:
        for size in (0, 1, 1000, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 174 * CHUNK + 1):
            (tmp_path / "file").write_bytes(random.Random(size).randbytes(size))
            record = await client.upload(tmp_path / "file")
            assert record.verification == "verified"
            assert record.cid == added(cluster, tmp_path / "file", version)


@pytest.mark.parametrize("version", [0, 1])
async def test_folders_get_the_cids_of_kubo(cluster: Cluster, tmp_path: Path, version: int) -> None:
    names = ("a.txt", "ä", "日本語", "%41 +&=?#.txt", 'a"b', "a\\b", "a\nb", "sub/x", ".hidden")
    small = fill(tmp_path / "small", {name: name.encode() * 30_000 for name in names})
    for empty in ("empty", "sub/deep/er"):
        (small / empty).mkdir(parents=True)
    spread = fill(tmp_path / "spread", {f"{number:0100}": b"%d" % number for number in range(2100)})
    async with on(cluster, cid_version=version) as client:
        for folder in (small, spread):
            record = await client.upload(folder)
            assert record.verification == "verified"
            assert record.cid == added(cluster, folder, version)
            assert record.left_out == (LeftOut(hidden=1) if folder is small else LeftOut())


async def test_a_cut_body_is_no_success_and_a_lost_reply_no_second_upload(cluster: Cluster) -> None:
    async with proxy_to(cluster.rest_url) as proxy, on(cluster, pin_api_url=proxy.url) as client:
        proxy.cuts_body_of = "/add"
        with pytest.raises(ProviderError):
            await client.upload(random.Random(1).randbytes(1_100_000))
        proxy.seen.clear()
        proxy.loses_reply_to = "/add"
        record = await client.upload(random.Random(2).randbytes(2_000_000))
        assert record.verification == "verified"
        paths = [line.split()[1].partition("?")[0] for line in proxy.seen]
        assert paths == ["/add", f"/allocations/{record.cid}"]


# Replication


async def test_a_pin_is_kept_by_as_many_peers_as_the_factors_say(cluster: Cluster) -> None:
    async with on(cluster) as client:
        everywhere = await client.store({"kept": "everywhere"})
        peers = await answered(lambda: client.status(everywhere.cid), lambda peers: states(peers) == ["pinned"] * 3)
        assert [peer.name for peer in peers] == PEERS
        assert (await one(client, everywhere.cid)).status == "pinned"
        assert await client.copies([everywhere.cid]) == {everywhere.cid: (3, 3)}
    async with on(cluster, replication_min=1, replication_max=2) as client:
        twice = await client.store({"kept": "twice"})
        peers = await answered(lambda: client.status(twice.cid), lambda peers: states(peers) == ["pinned"] * 2)
        assert {peer.name for peer in peers} < set(PEERS)
        await client.rename(twice.cid, "renamed")
    async with on(cluster) as client:
        await client.rename(twice.cid, "again “renamed”\n")
        pin = await answered(lambda: one(client, twice.cid), lambda pin: pin.status == "pinned")
        assert pin.name == "again “renamed”\n"
        assert len(await client.status(twice.cid)) == 2, "a name is no reason to replicate anew"


async def test_a_rename_keeps_what_else_was_said_of_a_pin(client: Client, cluster: Cluster) -> None:
    record = await client.store({"with": "notes"})
    said = {"meta-note": "mine & yours", "expire-at": "2099-01-01T00:00:00Z", "name": "old"}
    address = f"{cluster.rest_url}/pins/{record.cid}"
    httpx.post(address, params=said, trust_env=False).raise_for_status()
    await client.rename(record.cid, "new")
    order = httpx.get(f"{cluster.rest_url}/allocations/{record.cid}", trust_env=False).json()
    assert (order["name"], order["metadata"], order["expire_at"][:10]) == (
        "new",
        {"note": "mine & yours"},
        "2099-01-01",
    )


async def test_factors_that_the_cluster_cannot_meet_are_refused_in_its_own_words(cluster: Cluster) -> None:
    async with (
        proxy_to(cluster.rest_url) as proxy,
        on(cluster, pin_api_url=proxy.url, replication_min=9, replication_max=10) as client,
    ):
        for call in (client.upload(b"x" * 2_000_000), client.store(1), client.pin(ABSENT)):
            with pytest.raises(ProviderError, match="not enough peers to allocate CID"):
                await call
        assert sum("/add" in line for line in proxy.seen) == 2, "a refusal is not asked for again"


async def test_what_is_still_being_fetched_is_pinning(client: Client) -> None:
    pin = await client.pin(ABSENT, name="on its way")
    assert pin.status in ("queued", "pinning")
    pin = await answered(lambda: one(client, ABSENT), lambda pin: pin.status == "pinning")
    assert (pin.name, pin.cid) == ("on its way", ABSENT)
    assert set(states(await client.status(ABSENT))) <= {"queued", "pinning"}
    assert ABSENT in [pin.cid async for pin in client.pins() if pin.status != "pinned"]
    assert await client.revoke(ABSENT)
    assert await client.status(ABSENT) == ()
    assert [pin async for pin in client.pins(cid=ABSENT)] == []


# The account


async def test_pins_are_named_dated_and_found(client: Client, tmp_path: Path) -> None:
    (tmp_path / "a cluster's name.txt").write_text("named")
    file = await client.upload(tmp_path / "a cluster's name.txt")
    pin = await one(client, file.cid)
    assert pin.name == "a cluster's name.txt"
    assert pin.created is not None
    assert abs(pin.created - file.timestamp) < 60_000
    assert [pin.cid async for pin in client.pins(name="CLUSTER'S")] == [file.cid]
    assert (await client.pin(file.cid)).name == "a cluster's name.txt", "pinning again takes no name away"
    before = await client.totals()
    await client.revoke(file.cid)
    assert (await client.totals()).pins == before.pins - 1
    assert before.size is None


async def test_what_is_not_pinned_is_neither_revoked_nor_renamed(cluster: Cluster) -> None:
    async with proxy_to(cluster.rest_url) as proxy, on(cluster, pin_api_url=proxy.url) as client:
        record = await client.store({"revoked": "once"})
        proxy.loses_reply_to = "DELETE"
        assert await client.revoke(record.cid) is True
        for call in (client.revoke(record.cid), client.rename(record.cid, "x")):
            with pytest.raises(ProviderError) as caught:
                await call
            assert is_not_pinned(caught.value)
        assert [pin async for pin in client.pins(cid=record.cid)] == []


# Peers that are gone, credentials, and no daemon


@pytest.mark.slow
async def test_a_peer_that_is_gone_is_told_and_reads_go_on(tmp_path: Path) -> None:
    with running_cluster(tmp_path, count=2) as cluster:
        gateways = (cluster.peers[1].kubo.gateway_url,)
        async with on(cluster, replication_min=1, replication_max=2, gateways=gateways) as client:
            record = await client.upload(random.Random(3).randbytes(600_000))
            await answered(lambda: client.status(record.cid), lambda peers: states(peers) == ["pinned"] * 2)

            Daemon.stop(cluster.peers[1].kubo.daemon)
            async with on(cluster) as everywhere:
                other = await everywhere.store({"stored": "while a Kubo is down"})
            peers = await answered(lambda: client.status(other.cid), lambda peers: "failed" in states(peers))
            assert {peer.name: bool(peer.error) for peer in peers} == {"peer0": False, "peer1": True}
            assert (await one(client, other.cid)).status == "pinning"

            Daemon.stop(cluster.peers[1].daemon)
            for cid in (record.cid, other.cid):  # one of two peers, and on all of them
                peers = await answered(lambda cid=cid: client.status(cid), lambda peers: "unreachable" in states(peers))
                assert {peer.name: peer.state for peer in peers} == {"peer0": "pinned", "peer1": "unreachable"}
                assert await client.copies([cid]) == {cid: (1, 2)}
            assert (await one(client, record.cid)).status == "pinned"
            assert record.cid in [pin.cid async for pin in client.pins()]
            assert (await client.download(record.cid)).size == 600_000


async def test_credentials_are_a_name_and_a_password_or_a_token(tmp_path: Path) -> None:
    settings = {"CLUSTER_RESTAPI_BASICAUTHCREDENTIALS": "ann:long pass word"}
    with running_cluster(tmp_path, count=1, **settings) as cluster:
        answer = httpx.post(f"{cluster.rest_url}/token", auth=("ann", "long pass word"), trust_env=False)
        for token in ("ann:long pass word", "basic:ann:long pass word", answer.json()["token"]):
            async with on(cluster, provider_token=token) as client:
                assert await client.test_connection()
                record = await client.store({"by": "somebody"})
                assert await client.retrieve(record.cid) == {"by": "somebody"}
                assert await client.revoke(record.cid)
            assert "word" not in masked(f"got {token}, or long pass word")
        for token in ("", "wrong", "ann:wrong"):
            async with on(cluster, provider_token=token) as client:
                for call in (client.test_connection(), client.store(1), client.upload(b"x" * 3_000_000)):
                    with pytest.raises(ProviderError, match=r"^HTTP error 401$") as caught:
                        await call
                    assert "basic_auth_credentials" in (caught.value.hint or "")


async def test_a_cluster_that_is_not_running_is_told_with_how_to_start_it() -> None:
    async with await Client.init(provider="cluster", pin_api_url="http://127.0.0.1:1", retries=0) as client:
        for call in (client.test_connection(), client.store(1), client.status(ABSENT), client.totals()):
            with pytest.raises(NetworkError, match="IPFS Cluster is not running at") as caught:
                await call
            assert "`ipfs-cluster-service daemon`" in (caught.value.hint or "")
        with pytest.raises(PinuiError, match="No gateway is configured"):
            await client.retrieve(ABSENT)


async def test_another_server_is_not_taken_for_a_cluster(kubo_daemon: KuboServer, cluster: Cluster) -> None:
    async with on(cluster, pin_api_url=kubo_daemon.rpc_url, retries=0) as client:
        with pytest.raises(PinuiError):
            await client.test_connection()


async def test_other_services_know_nothing_of_peers(kubo_daemon: KuboServer) -> None:
    async with await Client.init(provider="kubo", pin_api_url=kubo_daemon.rpc_url) as client:
        with pytest.raises(Unsupported, match="where a pin is kept"):
            await client.status(ABSENT)


async def test_the_cluster_takes_a_car_file(client: Client, tmp_path: Path) -> None:
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as other:
        record = await other.upload(b"for the cluster" * 50_000)
        archive = await other.export_car(record.cid, tmp_path / "x.car")
    [imported] = await client.import_car(archive)
    assert imported.cid == record.cid
    assert [pin.cid async for pin in client.pins(cid=record.cid)] == [record.cid]
    assert (await client.download(record.cid)).data == b"for the cluster" * 50_000
