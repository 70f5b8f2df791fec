"""What the tests with programs that nobody here wrote share: a node of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinui.node import Node


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path / "node")
    node.start()
    yield node
    node.stop()
