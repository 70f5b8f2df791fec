"""What is collected here."""

from __future__ import annotations

from tests.unit.vectors import VECTORS

collect_ignore = [] if VECTORS.is_dir() else ["test_public_vectors.py"]
