"""The pytest plugin: the fixture `pinning_node`, in every project whose environment has pinui."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinui.testing import PinningNode

__all__ = ["pinning_node"]


@pytest.fixture
def pinning_node(tmp_path: Path) -> Iterator[PinningNode]:
    """A pinning service on this machine, empty for each test; see `pinui.testing.PinningNode`."""
    with PinningNode(tmp_path / "pinning-node") as node:
        yield node
