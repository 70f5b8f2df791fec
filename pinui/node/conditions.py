"""The parts of a gateway request beyond its path: format, range, condition, file name. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from pinui.ipfs.exporter import Scope

__all__ = ["Format", "NotAcceptable", "Unsatisfiable", "Wanted", "byte_range", "disposition", "is_known", "wanted"]

KINDS = {
    "application/vnd.ipld.raw": "raw",
    "application/vnd.ipld.car": "car",
    "application/vnd.ipld.dag-json": "dag-json",
    "application/vnd.ipld.dag-cbor": "dag-cbor",
    "application/json": "json",
    "application/cbor": "cbor",
    "application/x-tar": "tar",
}
Format = Literal["plain", "raw", "car", "dag-json", "dag-cbor", "json", "cbor"]
RANGE = re.compile(r"bytes=\s*(\d{0,18})\s*-\s*(\d{0,18})\s*(?:,.*)?")


class Unsatisfiable(Exception):
    """A range outside the file, or a parameter that has no meaning; the message is a sentence."""


class NotAcceptable(Exception):
    """A format that this content is not served in; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The representation that is asked for."""

    format: Format = "plain"
    scope: Scope = "all"
    first: int = 0
    last: int | None = None
    """`entity-bytes`: positions from the start, or negative ones from the end; the last one is included."""
    repeats: bool = True
    """Whether a CAR holds a block as often as it is linked (`dups=y`), which lets a reader forget it."""

    @property
    def is_part(self) -> bool:
        """Whether only some bytes of a file are asked for."""
        return self.scope == "entity" and (self.first != 0 or self.last is not None)

    def span(self, size: int) -> tuple[int, int]:
        """Start and stop of those bytes in a file of this size."""
        start = self.first if self.first >= 0 else max(0, size + self.first)
        last = size - 1 if self.last is None else self.last
        return start, min(size, (last if last >= 0 else size + last) + 1)


def wanted(query: Mapping[str, str], accept: str) -> Wanted:
    """By `?format=`, else by the Accept header, which may also say how a CAR shall be."""
    name = query.get("format")
    parameters: dict[str, str] = {}
    for offer in accept.split(","):
        kind, *rest = (part.strip().lower() for part in offer.split(";"))
        if kind in KINDS and name in (None, KINDS[kind]):
            name = KINDS[kind]
            parameters = {key: value for key, _, value in (part.partition("=") for part in rest)}
            break
    if name is None:
        return Wanted()
    if name in ("dag-json", "dag-cbor", "json", "cbor"):
        return Wanted(name)
    if name not in ("raw", "car"):
        raise NotAcceptable(f"The format {name[:40]!r} is not served here; raw and car are.")
    if query.get("car-version", parameters.get("version", "1")) != "1":
        raise Unsatisfiable("Only version 1 of CAR is served here.")
    scope = query.get("dag-scope", "entity" if "entity-bytes" in query else "all")
    if scope not in ("block", "entity", "all"):
        raise Unsatisfiable("dag-scope must be block, entity or all.")
    repeats = query.get("car-dups", parameters.get("dups", "y")) != "n"
    return Wanted(name, scope, *_entity_bytes(query.get("entity-bytes")), repeats)


def _entity_bytes(text: str | None) -> tuple[int, int | None]:
    if text is None:
        return 0, None
    found = re.fullmatch(r"(-?\d{1,18}):(\*|-?\d{1,18})", text)
    if found is None:
        raise Unsatisfiable("entity-bytes must be from:to, such as 0:1023 or -100:*.")
    return int(found[1]), None if found[2] == "*" else int(found[2])


def byte_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Start and stop of the range asked for, the first if there are several; None for the whole file."""
    found = RANGE.fullmatch(header or "")
    # Some clients ask for a range always; as Kubo does, an empty file is given whole.
    if found is None or not (found[1] or found[2]) or not size:
        return None
    if found[1]:
        start, stop = int(found[1]), min(size, int(found[2]) + 1) if found[2] else size
        if found[2] and int(found[2]) < start:
            return None
    else:
        start, stop = max(0, size - int(found[2])), size
    if start >= stop:
        raise Unsatisfiable("The range lies outside the file.")
    return start, stop


def is_known(header: str | None, etag: str) -> bool:
    """Whether an If-None-Match header says that the client has this already."""
    tags = [tag.strip().removeprefix("W/") for tag in (header or "").split(",")]
    return "*" in tags or etag in tags


def disposition(name: str | None, download: bool) -> str:
    """The Content-Disposition header for a file."""
    kind = "attachment" if download else "inline"
    if not name:
        return kind
    plain = re.sub(r'[^ -~]|["\\%;]', "_", name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
