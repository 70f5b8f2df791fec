"""The providers that the contract suite runs on. A new `StorageProvider` joins by one more entry in PROVIDERS."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pinui import (
    Client,
    ClientConfig,
    ClusterProvider,
    KuboProvider,
    OnProgress,
    Pinned,
    PinProvider,
    PsaProvider,
    StorageProvider,
    Uploadable,
)
from pinui.node import Node
from pinui.sdk.providers import newer_api
from pinui.sdk.reading import gateways
from tests.contract.shelf import Shelf
from tests.real.cluster import Cluster
from tests.real.kubo import KuboServer


@asynccontextmanager
async def on_the_node(request: pytest.FixtureRequest) -> AsyncGenerator[StorageProvider]:
    """`PinProvider` on the embedded node, over real sockets, in the neutral dialect."""
    async with Node(_folder(request) / "node") as node:
        config = ClientConfig(provider_token=node.token, pin_api_url=node.api_url, gateway_url=node.gateway_url)
        yield PinProvider(config)


@asynccontextmanager
async def on_the_node_as_pinata(request: pytest.FixtureRequest) -> AsyncGenerator[StorageProvider]:
    """The same in the hosted service's dialect, with version 1 CIDs."""
    async with Node(_folder(request) / "node") as node:
        config = ClientConfig(
            provider_token=node.token,
            pin_api_url=node.api_url,
            gateway_url=node.gateway_url,
            dialect="pinata",
            cid_version=1,
        )
        yield PinProvider(config)


@asynccontextmanager
async def on_the_node_as_pinata_v3(request: pytest.FixtureRequest) -> AsyncGenerator[StorageProvider]:
    """The same with the hosted service's newer API."""
    async with Node(_folder(request) / "node") as node:
        config = ClientConfig(
            provider_token=node.token,
            pin_api_url=node.api_url,
            gateway_url=node.gateway_url,
            dialect="pinata-v3",
        )
        yield PinProvider(config)


@asynccontextmanager
async def in_pieces(request: pytest.FixtureRequest) -> AsyncGenerator[StorageProvider]:
    """The same with every file above a few bytes in pieces."""
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    patch.setattr(newer_api, "LARGEST_FORM", 8)
    patch.setattr(newer_api, "PIECE", 300_000)
    async with on_the_node_as_pinata_v3(request) as provider:
        yield provider


@asynccontextmanager
async def in_memory(_request: pytest.FixtureRequest) -> AsyncGenerator[StorageProvider]:
    """A provider of a few lines: the suite asks for nothing but the contract."""
    yield Shelf()


@asynccontextmanager
async def on_kubo(request: pytest.FixtureRequest) -> AsyncGenerator[StorageProvider]:
    """A real Kubo, read through its gateway."""
    request.getfixturevalue("monkeypatch").setattr(gateways, "RPC_PATIENCE", 1)
    kubo: KuboServer = request.getfixturevalue("kubo_daemon")
    yield KuboProvider(ClientConfig(provider="kubo", pin_api_url=kubo.rpc_url, gateway_url=kubo.gateway_url))


@asynccontextmanager
async def on_kubo_alone(request: pytest.FixtureRequest) -> AsyncGenerator[StorageProvider]:
    """The same without a gateway, with version 1 CIDs."""
    request.getfixturevalue("monkeypatch").setattr(gateways, "RPC_PATIENCE", 1)
    kubo: KuboServer = request.getfixturevalue("kubo_daemon")
    yield KuboProvider(ClientConfig(provider="kubo", pin_api_url=kubo.rpc_url, cid_version=1))


@asynccontextmanager
async def on_cluster(request: pytest.FixtureRequest) -> AsyncGenerator[StorageProvider]:
    """A real IPFS Cluster of three peers."""
    cluster: Cluster = request.getfixturevalue("cluster")
    yield ClusterProvider(
        ClientConfig(provider="cluster", pin_api_url=cluster.rest_url, gateway_url=cluster.gateway_url)
    )


class PinsWhatKuboHas(PsaProvider):
    """The Pinning Service API takes no uploads: its user puts things on a Kubo, and has them pinned by CID."""

    def __init__(self, config: ClientConfig, kubo: KuboProvider) -> None:
        super().__init__(config)
        self._kubo = kubo

    async def put_json(self, data: Any) -> Pinned:
        return await self._have_pinned(await self._kubo.put_json(data))

    async def put_file(self, file: Uploadable, *, on_progress: OnProgress | None = None) -> Pinned:
        return await self._have_pinned(await self._kubo.put_file(file, on_progress=on_progress))

    async def _have_pinned(self, pinned: Pinned) -> Pinned:
        await self.pin(pinned.cid)
        return pinned


@asynccontextmanager
async def on_psa(request: pytest.FixtureRequest) -> AsyncGenerator[StorageProvider]:
    """The Pinning Service API of a real IPFS Cluster, and a Kubo for what it can't do."""
    cluster: Cluster = request.getfixturevalue("cluster")
    kubo = KuboProvider(ClientConfig(provider="kubo", pin_api_url=cluster.peers[0].kubo.rpc_url))
    config = ClientConfig(provider="psa", pin_api_url=cluster.pinning_url, gateway_url=cluster.gateway_url)
    yield PinsWhatKuboHas(config, kubo)
    await kubo.aclose()


def _folder(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue("tmp_path")


PROVIDERS: dict[str, Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[StorageProvider]]] = {
    "node": on_the_node,
    "node-pinata": on_the_node_as_pinata,
    "node-v3": on_the_node_as_pinata_v3,
    "node-v3-tus": in_pieces,
    "memory": in_memory,
    "kubo": on_kubo,
    "kubo-rpc": on_kubo_alone,
    "cluster": on_cluster,
    "psa": on_psa,
}
SERVERS = {"kubo": "kubo_daemon", "kubo-rpc": "kubo_daemon", "cluster": "cluster", "psa": "cluster"}


def marks(name: str) -> list[pytest.MarkDecorator]:
    """The marks of a provider on a real server, as in tests/conftest.py, which sees only fixtures of tests."""
    server = SERVERS.get(name)
    if server is None:
        return []
    return [pytest.mark.real, pytest.mark.xdist_group(server), *([pytest.mark.slow] if server == "cluster" else [])]


@pytest.fixture(params=[pytest.param(name, marks=marks(name)) for name in PROVIDERS])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    async with PROVIDERS[request.param](request) as provider, Client(provider) as client:
        yield client
