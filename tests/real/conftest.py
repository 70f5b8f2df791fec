"""What the tests with programs that nobody here wrote share: servers of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinui.node import Node
from tests.cli.conftest import call, environment
from tests.real.kubo import Kubo, KuboServer, find_kubo

__all__ = ["call", "environment", "kubo", "kubo_server", "node"]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path / "node")
    node.start()
    yield node
    node.stop()


@pytest.fixture
def kubo(tmp_path: Path) -> Kubo:
    """A repository of Kubo."""
    return Kubo(find_kubo(), tmp_path / "kubo")


@pytest.fixture
def kubo_server(kubo: Kubo) -> Iterator[KuboServer]:
    """A daemon of Kubo on the repository `kubo`."""
    with kubo.serving("--offline") as server:
        yield server
