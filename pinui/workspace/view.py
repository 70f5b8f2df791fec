"""The view of the workbench: the place, the folder, the order and the filters of the last run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from pinui.disk import write_private
from pinui.workspace.rows import Sort

__all__ = ["View", "read_view", "write_view"]

ORDERS: dict[str, Sort] = {order: order for order in get_args(Sort)}


@dataclass(frozen=True, slots=True)
class View:
    """The view that the next start restores."""

    place: str = "pins"
    sort: Sort = "newest"
    folder: str | None = None
    """The folder of Files, if the user has gone to one."""
    filters: Mapping[str, str] = field(default_factory=dict[str, str])
    """The filter of Pins, for each profile that has one."""


def read_view(path: Path) -> View:
    """The view of the last run. A file that is missing or of no use is no reason to stop."""
    try:
        read = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return View()
    if not isinstance(read, dict):
        return View()
    known = cast("dict[str, Any]", read)
    place, sort, folder, filters = (known.get(key) for key in ("place", "sort", "folder", "filters"))
    texts = cast("dict[str, Any]", filters) if isinstance(filters, dict) else {}
    return View(
        place if isinstance(place, str) else "pins",
        ORDERS.get(sort, "newest") if isinstance(sort, str) else "newest",
        folder if isinstance(folder, str) else None,
        {name: text for name, text in texts.items() if isinstance(text, str)},
    )


def write_view(path: Path, view: View) -> None:
    """Write it for the next run."""
    write_private(path, json.dumps(asdict(view)))
