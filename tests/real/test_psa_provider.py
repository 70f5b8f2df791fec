"""`provider="psa"` on the Pinning Service API of a real IPFS Cluster."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pinui import Client, KuboProvider, Pin, ProviderError
from pinui.sdk.transport.refusals import is_not_pinned
from tests.real.cluster import Cluster, running_cluster
from tests.real.daemon import answered

pytestmark = pytest.mark.real


@pytest.fixture
async def kubo(cluster: Cluster) -> AsyncIterator[Client]:
    """A Kubo of the cluster, which has what is to be pinned."""
    async with await Client.init(provider="kubo", pin_api_url=cluster.peers[0].kubo.rpc_url) as client:
        assert isinstance(client.provider, KuboProvider)
        yield client


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    gateway = cluster.peers[1].kubo.gateway_url
    async with await Client.init(provider="psa", pin_api_url=cluster.pinning_url, gateway_url=gateway) as client:
        yield client


async def pinned(client: Client, cid: str) -> Pin:
    return await answered(lambda: client.pin(cid), lambda pin: pin.status == "pinned")


async def test_content_of_one_kubo_is_pinned_by_all_and_read_from_another(client: Client, kubo: Client) -> None:
    assert await client.test_connection()
    data = random.Random(21).randbytes(600_000)
    cid = (await kubo.upload(data)).cid
    asked = await client.pin(cid, name="from elsewhere")
    assert (asked.status, asked.name, asked.id) == ("queued", "from elsewhere", cid)
    assert (await pinned(client, cid)).name == "from elsewhere"
    assert [pin.cid async for pin in client.pins(name="FROM else")] == [cid]
    blob = await client.download(cid)
    assert (blob.data, blob.verification) == (data, "verified")
    await client.rename(cid, "renamed")
    assert (await pinned(client, cid)).name == "renamed", "a rename does not remove it"
    assert (await client.totals()).pins >= 1
    assert await client.revoke(cid)
    with pytest.raises(ProviderError) as caught:
        await client.revoke(cid)
    assert is_not_pinned(caught.value)
    assert [pin async for pin in client.pins(cid=cid)] == []


async def test_credentials_are_a_name_and_a_password(tmp_path: Path) -> None:
    settings = {"CLUSTER_PINSVCAPI_BASICAUTHCREDENTIALS": "ann:long-password"}
    with running_cluster(tmp_path, count=1, **settings) as cluster:
        async with await Client.init(
            provider="psa", pin_api_url=cluster.pinning_url, provider_token="ann:long-password"
        ) as client:
            assert await client.test_connection()
        async with await Client.init(provider="psa", pin_api_url=cluster.pinning_url, provider_token="x") as client:
            with pytest.raises(ProviderError, match=r"^HTTP error 401$"):
                await client.test_connection()
