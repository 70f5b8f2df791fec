"""A node on a folder of its own, and clients of it: real sockets, real files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pinui.node import Node, RequestLine


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
    with httpx.Client(base_url=node.api_url, trust_env=False, verify=False) as client:
        yield client


@pytest.fixture
def api(node: Node, anyone: httpx.Client) -> Iterator[httpx.Client]:
    """A client with the token."""
    headers = {"Authorization": f"Bearer {node.token}"}
    with httpx.Client(base_url=node.api_url, headers=headers, trust_env=False, verify=False) as client:
        yield client
