"""Public test vectors of the IPFS projects: an extra, for a machine that has them in a folder beside the project."""

from __future__ import annotations

from pathlib import Path

__all__ = ["VECTORS"]

VECTORS = Path(__file__).resolve().parents[3] / "shared" / "vectors"
