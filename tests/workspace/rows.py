"""Made-up rows for tests of the history."""

from __future__ import annotations

import hashlib
from typing import Any

from pinui.ipfs.cid import DAG_PB, SHA2_256, Cid
from pinui.workspace import Entry

START = 1_700_000_000_000


def cid(number: int) -> str:
    """A CID of its own for each number."""
    return str(Cid(1, DAG_PB, SHA2_256, hashlib.sha256(str(number).encode()).digest()))


def row(number: int = 0, **fields: Any) -> Entry:
    """A row; what is given differs from the ordinary."""
    ordinary: dict[str, Any] = {
        "id": 0,
        "cid": cid(number),
        "timestamp": START + number,
        "size": 7,
        "kind": "json",
        "direction": "sent",
        "profile": "local",
    }
    return Entry(**(ordinary | fields))
