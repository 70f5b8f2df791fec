"""Made-up rows for tests of the history, and lines of them."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

from pinui.ipfs.cid import DAG_PB, SHA2_256, Cid
from pinui.workspace import Entry
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.lines import export_lines

START = 1_700_000_000_000


def cid(number: int) -> str:
    """A CID of its own for each number."""
    return str(Cid(1, DAG_PB, SHA2_256, hashlib.sha256(str(number).encode()).digest()))


def other_version(text: str) -> str:
    """The same CID in the other version."""
    return str(Cid.parse(text).spellings()[1])


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


def exported(history: HistoryFile) -> bytes:
    """Everything that a history exports."""
    out = io.BytesIO()
    export_lines(history, out)
    return out.getvalue()


def record(number: int = 1, **fields: Any) -> dict[str, Any]:
    """A line to import, before it is JSON text."""
    return {"cid": cid(number), "timestamp": START + number, "size": 7} | fields


def write(path: Path, *lines: Any) -> Path:
    """A file of lines; bytes are written as they are."""
    path.write_bytes(
        b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    )
    return path
