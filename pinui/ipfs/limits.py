"""Limits of size and depth for content from strangers."""

from __future__ import annotations

__all__ = [
    "MAX_BLOCK",
    "MAX_CAR_HEADER",
    "MAX_FILE_DEPTH",
    "MAX_FOLDER_BLOCK",
    "MAX_FOLDER_DEPTH",
    "MAX_PENDING",
]

# The limit of bitswap and of every gateway: larger blocks can't travel.
MAX_BLOCK = 2 * 1024 * 1024

# A header names roots only; one root takes about 60 bytes.
MAX_CAR_HEADER = 64 * 1024

# Beyond this size a folder is spread over many blocks (a HAMT), as Kubo does it.
MAX_FOLDER_BLOCK = 256 * 1024

# 174 links a node: depth 8 is already beyond any disk. Foreign layouts (trickle, two links a node) go deeper.
MAX_FILE_DEPTH = 64

MAX_FOLDER_DEPTH = 128

# Links that wait to be followed while a tree is walked.
MAX_PENDING = 1_000_000
