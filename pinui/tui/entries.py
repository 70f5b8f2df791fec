"""Entries of the history on the screen: their titles, verdicts, tones and sizes."""

from __future__ import annotations

from pinui.figures import plural, size
from pinui.workspace import Entry
from pinui.workspace.rows import Standing

__all__ = ["KIND_TONES", "PIN_STATES", "VERDICTS", "WHERE", "kind_label", "size_in_words", "title_of"]

KIND_TONES = {"json": "primary", "file": "secondary", "message": "warning"}
KIND_LABELS = {"json": "json", "file": "file", "message": "msg"}
PIN_STATES = {
    "queued": ("◌", "warning", "the service looks for the content"),
    "pinning": ("◌", "warning", "the service is fetching the content"),
    "failed": ("✗", "error", "the service did not find the content; pin its CID to ask again"),
}
"""The mark, the tone and an explanation of a pin that the service was asked for and has not made yet."""
VERDICTS = {
    "verified": ("✓", "success", "verified", "the bytes hash to the CID"),
    "unverifiable": ("?", "warning", "not provable", "the service cut the file its own way"),
    "mismatch": ("✗", "error", "mismatch", "the bytes do not hash to the CID"),
}

WHERE: dict[int, tuple[str, str, str]] = {
    Standing.BOTH: ("●", "success", "the account, and here"),
    Standing.ACCOUNT: ("○", "primary", "the account; made elsewhere"),
    Standing.HERE: ("·", "muted", "here; the account was not read to its end yet"),
    Standing.GONE: ("·", "muted", "here alone: gone from the account"),
    Standing.REVOKED: ("·", "muted", "here alone"),
}


def kind_label(entry: Entry) -> str:
    """The kind in at most four letters; a dash for a pin that another program made."""
    return "dir" if entry.is_folder else KIND_LABELS[entry.kind] if entry.recorded else "–"


def title_of(entry: Entry) -> str:
    """The user's own name for an entry, or the beginning of its content."""
    if entry.kind != "message" or entry.name:
        return entry.title
    words = (entry.excerpt or "").strip().split("\n", 1)[0]
    if entry.direction == "received":
        return f"from {entry.recipient} · “{words}”" if entry.recipient else f"received · “{words}”"
    return f"to {entry.recipient} · “{words}”"


def size_in_words(entry: Entry) -> str:
    """Bytes, of a file or of the JSON text."""
    if entry.bytes is None:
        return "unknown: the service doesn't tell it"
    exact = plural(entry.bytes, "byte") + ("" if entry.kind == "file" else " of JSON")
    return exact if entry.bytes < 1000 else f"{size(entry.bytes)} · {exact}"
