"""The providers that the contract suite runs on. A new `StorageProvider` joins by one more entry in PROVIDERS."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from pinui import Client, ClientConfig, PinProvider, StorageProvider
from pinui.node import Node
from tests.contract.shelf import Shelf


@asynccontextmanager
async def on_the_node(folder: Path) -> AsyncGenerator[StorageProvider]:
    """`PinProvider` on the embedded node, over real sockets, in the neutral dialect."""
    async with Node(folder / "node") as node:
        config = ClientConfig(provider_token=node.token, pin_api_url=node.api_url, gateway_url=node.gateway_url)
        yield PinProvider(config)


@asynccontextmanager
async def on_the_node_as_pinata(folder: Path) -> AsyncGenerator[StorageProvider]:
    """The same in the hosted service's dialect, with version 1 CIDs."""
    async with Node(folder / "node") as node:
        config = ClientConfig(
            provider_token=node.token,
            pin_api_url=node.api_url,
            gateway_url=node.gateway_url,
            dialect="pinata",
            cid_version=1,
        )
        yield PinProvider(config)


@asynccontextmanager
async def in_memory(_folder: Path) -> AsyncGenerator[StorageProvider]:
    """A provider of a few lines: the suite asks for nothing but the contract."""
    yield Shelf()


PROVIDERS: dict[str, Callable[[Path], AbstractAsyncContextManager[StorageProvider]]] = {
    "node": on_the_node,
    "node-pinata": on_the_node_as_pinata,
    "memory": in_memory,
}


@pytest.fixture(params=list(PROVIDERS))
async def client(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Client]:
    async with PROVIDERS[request.param](tmp_path) as provider, Client(provider) as client:
        yield client
