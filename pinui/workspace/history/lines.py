"""The history as JSON lines: one record a line, with the contract's names and ours beside them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from pinui.disk import replacing
from pinui.ipfs.cid import canonical
from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.jsontext import NotJSON, parse, stringify
from pinui.workspace.errors import HistoryError
from pinui.workspace.history.pinned import BY_ENDING, both_versions, ending, merge_revocation
from pinui.workspace.history.schema import ID_BITS, MAX_TIMESTAMP, explained, undone_if_refused, writing
from pinui.workspace.history.store import NewIds
from pinui.workspace.models import ImportReport
from pinui.workspace.rows import UNDATED, Entry, Query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pinui.workspace.history.store import HistoryFile

__all__ = ["BadLine", "entry_line", "export_lines", "import_lines", "parse_line"]

AT_ONCE = 500
ADDED_AT_ONCE = 10_000  # rows of a transaction write the same pages; a longer one would keep others from writing
MAX_LINE = 64 * 1024 * 1024
JSON_SAFE = 2**53
SURROGATE = re.compile("[\ud800-\udfff]")


class BadLine(ValueError):
    """A line that holds no record; the message says why."""


def export_lines(history: HistoryFile, target: Path | IO[bytes], query: Query | None = None) -> int:
    """Write the rows of a query, oldest first; returns their number. A file appears when it is complete."""
    query = replace(query or Query(), sort="oldest")
    if not isinstance(target, Path):
        return _write_lines(history, target, query)
    try:
        with replacing(target, mode=0o600) as stream:
            return _write_lines(history, stream, query)
    except OSError as error:
        raise HistoryError(f"{target} cannot be written: {error.strerror or error}.") from error


def import_lines(history: HistoryFile, source: Path | IO[bytes], *, profile: str) -> ImportReport:
    """Add the rows that are missing here; the report lists bad lines. A line that names no profile gets `profile`."""
    if not isinstance(source, Path):
        return _add_lines(history, source, profile)
    try:
        with source.open("rb") as stream:
            return _add_lines(history, stream, profile)
    except OSError as error:
        raise HistoryError(f"{source} cannot be read: {error.strerror or error}.") from error


def entry_line(entry: Entry, data: str | None) -> str:
    """One row as a line, without its line end. The document keeps its stored text."""
    # A number as large as the id would lose its end in JavaScript.
    line = json.dumps({**entry.to_json(), "id": str(entry.id)}, ensure_ascii=False)
    return line if data is None else f'{line[:-1]}, "data": {data}}}'


def parse_line(line: bytes, *, profile: str) -> tuple[Entry, str | None]:
    """Read a line; `id` is 0 if it names none. A bare `ClientRecord` is enough."""
    try:
        found = parse(line)
    except NotJSON as error:
        raise BadLine(f"it is not JSON: {error.reason}") from None
    if not isinstance(found, dict):
        raise BadLine("it is not a JSON object")
    fields = cast("dict[str, Any]", found)
    try:
        cid = canonical(_text(fields, "cid") or "")
    except MalformedContent:
        raise BadLine("“cid” is missing or no CID") from None
    timestamp = _number(fields, "timestamp", MAX_TIMESTAMP)
    size = _number(fields, "size", JSON_SAFE)
    data = _document(fields["data"]) if "data" in fields else None
    kind = _one_of(fields, "kind", ("json", "file", "message"), "file" if data is None else "json")
    direction = _one_of(fields, "direction", ("sent", "received"), "sent")
    verification = _one_of(fields, "verification", ("verified", "unverifiable", "mismatch"), None)
    revoked_at = _number(fields, "revokedAt", MAX_TIMESTAMP) if fields.get("revokedAt") is not None else None
    entry = Entry(
        _id(fields, timestamp),
        cid,
        timestamp,
        size,
        cast("Any", kind),
        cast("Any", direction),
        _profile(fields) or profile,
        _text(fields, "name"),
        _text(fields, "note"),
        _text(fields, "recipientId"),
        _excerpt(fields, kind, data),
        verification,
        revoked_at,
        is_folder=kind == "file" and fields.get("folder") is True,
    )
    return entry, data


def _write_lines(history: HistoryFile, stream: IO[bytes], query: Query) -> int:
    count, last = 0, None
    while entries := history.page(query, after=last, limit=AT_ONCE):
        for entry in entries:
            stream.write(entry_line(entry, history.document(entry.id)).encode("utf-8") + b"\n")
        count, last = count + len(entries), entries[-1]
    stream.flush()
    return count


def _add_lines(history: HistoryFile, stream: IO[bytes], profile: str) -> ImportReport:
    bad: list[tuple[int, str]] = []
    added = unchanged = 0
    for batch in _batches(stream, profile, bad):
        known = 0
        with explained(history.path), writing(history.connection):
            fresh = _add_fresh(history, [(entry, data) for _, entry, data in batch])
            new = len(fresh)
            for index, (number, entry, data) in enumerate(batch):
                if index in fresh:
                    continue
                try:
                    with undone_if_refused(history.connection):
                        is_new = _add_line(history, entry, data)
                except (HistoryError, UnicodeEncodeError) as error:
                    bad.append((number, f"{str(error)[:1].lower()}{str(error)[1:]}".rstrip(".")))
                else:
                    new, known = new + is_new, known + (not is_new)
        added, unchanged = added + new, unchanged + known
    return ImportReport(added, unchanged, sorted(bad))


def _batches(
    stream: IO[bytes], profile: str, bad: list[tuple[int, str]]
) -> Iterator[list[tuple[int, Entry, str | None]]]:
    """The rows of the lines with their line numbers, some at a time; bad lines go to `bad`."""
    found: list[tuple[int, Entry, str | None]] = []
    number = size = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        size += len(line)
        if len(line) > MAX_LINE:
            bad.append((number, "it is longer than 64 MiB"))
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
        elif line.strip():
            try:
                found.append((number, *parse_line(line, profile=profile)))
            except BadLine as error:
                bad.append((number, str(error)))
        if len(found) == ADDED_AT_ONCE or size >= MAX_LINE:
            yield found
            found, size = [], 0
    yield found


def _add_line(history: HistoryFile, entry: Entry, data: str | None) -> bool:
    """Insert an imported row inside the caller's transaction, unless it is known; note its revocation."""
    execute = history.connection.execute
    identity = (ending(entry.cid), entry.cid, entry.timestamp, entry.kind, entry.direction, entry.profile)
    same = f"SELECT id FROM {BY_ENDING} WHERE ending = ? AND cid = ? AND timestamp = ? AND kind = ? AND direction = ?"  # noqa: S608
    same += " AND profile = ? AND recorded = 1"
    known = [row[0] for row in execute(same, identity).fetchall()]
    taken = entry.id and execute("SELECT 1 FROM entries WHERE id = ?", (entry.id,)).fetchone()
    # An id means the same row in every copy of a history, unless two machines wrote in the same millisecond.
    is_new = not (entry.id in known or (known and (taken or not entry.id)))
    if is_new:
        history.insert(entry, data, at=entry.id if entry.id and not taken else None)
    merge_revocation(history.connection, entry.cid, entry.profile, entry.revoked_at)
    return is_new


def _add_fresh(history: HistoryFile, lines: Sequence[tuple[Entry, str | None]]) -> set[int]:
    """Insert all rows with new content at once, most of an import, and return them.

    Inside the caller's transaction. The other rows have to be compared, by `_add_line`.
    """
    spellings = [both_versions(entry.cid) for entry, _ in lines]
    sought = {spelling for both in spellings for spelling in both}
    endings = history.known_among("ending", "entries", {ending(cid) for cid in sought})
    # Two CIDs with the same ending are taken for one that is known: then the row is compared.
    known = {cid for cid in sought if ending(cid) in endings} | history.known_among("cid", "revocations", sought)
    taken = history.known_among("id", "entries", {entry.id for entry, _ in lines if entry.id})
    ids = NewIds(history, (entry.timestamp for entry, _ in lines if not entry.id))
    fresh: list[tuple[int, Entry, str | None]] = []
    added: set[int] = set()
    for index, (entry, data) in enumerate(lines):
        is_known = not known.isdisjoint(spellings[index])
        known.update(spellings[index])  # a second row about it is compared with this one
        if is_known or entry.revoked_at is not None or entry.id in taken or (data is not None and not _is_text(data)):
            continue
        try:
            if entry.id:
                ids.keep_free(entry.id)
            id_ = entry.id or ids.take(entry.timestamp)
        except HistoryError:
            continue  # `_add_line` says why it can't be kept
        fresh.append((id_, entry, data))
        taken.add(id_)
        added.add(index)
    history.insert_new(fresh)
    return added


def _is_text(data: str) -> bool:
    return data.isascii() or not SURROGATE.search(data)


def _document(value: Any) -> str:
    try:
        return stringify(value)
    except NotJSON as error:
        raise BadLine(f"“data” cannot be kept: {error.reason} ({error.path})") from None


def _excerpt(fields: dict[str, Any], kind: str | None, data: str | None) -> str | None:
    value = fields.get("data")
    if kind == "message" and isinstance(value, dict):
        payload = cast("dict[str, Any]", value).get("payload")
        return payload if isinstance(payload, str) else data
    return data


def _id(fields: dict[str, Any], timestamp: int) -> int:
    given = fields.get("id")
    if not (isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 20):
        return 0
    return int(given) if int(given) >> ID_BITS == timestamp and not int(given) & UNDATED else 0


def _text(fields: dict[str, Any], key: str) -> str | None:
    value = fields.get(key)
    if value is not None and not isinstance(value, str):
        raise BadLine(f"“{key}” should be text")
    return value


def _profile(fields: dict[str, Any]) -> str | None:
    """The profile of a row. Unlike other text, it is never altered to be storable."""
    name = _text(fields, "profile")
    if name is not None and SURROGATE.search(name):
        raise BadLine("“profile” holds a character that is no text")
    return name


def _number(fields: dict[str, Any], key: str, largest: int) -> int:
    value = fields.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        raise BadLine(f"“{key}” should be a whole number from 0 to {largest}")
    return value


def _one_of(fields: dict[str, Any], key: str, choices: tuple[str, ...], otherwise: str | None) -> str | None:
    value = fields.get(key, otherwise)
    if value is not otherwise and value not in choices:
        raise BadLine(f"“{key}” should be one of {', '.join(choices)}")
    return value
