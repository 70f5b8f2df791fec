"""A node on a folder of its own, and clients of it: real sockets, real files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pinui.node import Node, RequestLine

# A disk that others keep busy may take its time to sync; httpx gives up after five seconds by itself.
PATIENCE = 60.0

# A node that waited for its transfers, or for a time-out of its own, would take a minute to end.
PROMPTLY = 15.0


def client(node: Node, *, with_token: bool = True) -> httpx.Client:
    """A client of a node."""
    headers = {"Authorization": f"Bearer {node.token}"} if with_token else {}
    return httpx.Client(base_url=node.api_url, headers=headers, timeout=PATIENCE, trust_env=False, verify=False)


@pytest.fixture
def log() -> list[RequestLine]:
    """What the node logged."""
    return []


@pytest.fixture
def node(tmp_path: Path, log: list[RequestLine]) -> Iterator[Node]:
    """A node that runs."""
    node = Node(tmp_path / "node", on_request=log.append)
    node.start()
    yield node
    node.stop()


@pytest.fixture
def anyone(node: Node) -> Iterator[httpx.Client]:
    """A client without the token."""
    with client(node, with_token=False) as anyone:
        yield anyone


@pytest.fixture
def api(node: Node) -> Iterator[httpx.Client]:
    """A client with the token."""
    with client(node) as api:
        yield api
