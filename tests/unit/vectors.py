"""Public test vectors of the IPFS projects, read from a folder beside the project where there is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pinui.ipfs.car import CarReader
from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import MissingBlock
from pinui.ipfs.multihash import verify_block

__all__ = ["VECTORS", "Store", "expected", "names", "needs_vectors"]

VECTORS = Path(__file__).resolve().parents[3] / "shared" / "vectors"

needs_vectors = pytest.mark.skipif(
    not VECTORS.is_dir(),
    reason="the public vectors are not here: put them in ../shared/vectors beside the project",
)


def expected() -> dict[str, Any]:
    """What the JavaScript reference stack reads in each archive."""
    path = VECTORS / "expected.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def names(pattern: str) -> list[str]:
    """Files below the folder of vectors."""
    return sorted(str(path.relative_to(VECTORS)) for path in VECTORS.glob(pattern))


class Store(dict[bytes, bytes]):
    """Verified blocks by multihash, callable as a lookup."""

    def __call__(self, cid: Cid) -> bytes:
        try:
            return self[cid.multihash]
        except KeyError:
            raise MissingBlock(f"block {cid} is missing") from None

    @classmethod
    def from_car(cls, data: bytes, piece: int = 1000) -> tuple[Store, tuple[Cid, ...], int]:
        """Read an archive in pieces and verify each block: blocks, roots, count."""
        reader, store, count = CarReader(), cls(), 0
        for start in range(0, len(data), piece):
            for block in reader.feed(data[start : start + piece]):
                verify_block(block.cid, block.data)
                store[block.cid.multihash] = bytes(block.data)
                count += 1
        reader.finish()
        assert reader.roots is not None
        return store, reader.roots, count
