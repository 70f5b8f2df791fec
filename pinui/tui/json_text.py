"""JSON as coloured lines. A JSON string never spans lines, so each line can be read by itself, when it is shown."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["JSON_TONES", "TOKEN", "beginning", "in_short_lines", "json_spans", "laid_out", "pretty", "safe_for_editor"]

TOKEN = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<string>"(?:[^"\\]|\\.)*"?)|(?P<number>-?\d[\d.eE+-]*)"""
    r"""|(?P<word>\b(?:true|false|null)\b)|(?P<other>[^"\d\-tfn]+|.)"""
)
ENCODER = json.JSONEncoder(indent=2, ensure_ascii=False)
JSON_TONES = {"key": "primary", "string": "string", "number": "warning", "word": "warning", "other": "muted"}
# What a terminal could obey or a person could not see: it is written as an escape, which JSON reads back unchanged.
UNSEEN = re.compile(
    "[\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


PIECE = re.compile(r""""(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+""")
LONG_LINE = 2_000
"""The longest line for the editor, which works through a whole line at each key."""


def json_spans(line: str) -> list[tuple[str, str]]:
    """One line of JSON text as spans of tones."""
    return [(match[0], JSON_TONES[match.lastgroup or "other"]) for match in TOKEN.finditer(line)]


def pretty(value: Any) -> str:
    """The document for reading: two spaces a level, Unicode as it is. A large one takes seconds: use a thread."""
    return ENCODER.encode(value)


def beginning(value: Any, most: int) -> str:
    """The first `most` characters of `pretty`; the rest is not worked out."""
    parts: list[str] = []
    room = most
    for part in ENCODER.iterencode(value):
        parts.append(part[:room])
        room -= len(part)
        if room <= 0:
            break
    return "".join(parts)


def in_short_lines(text: str) -> str:
    """A document in long lines as one member a line: only white space changes. Text that is no JSON stays."""
    if max(map(len, text.split("\n"))) <= LONG_LINE:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return laid_out(text)


def laid_out(text: str) -> str:
    """JSON text as one member a line: only white space changes."""
    parts: list[str] = []
    before, depth = "", 0
    for piece in PIECE.findall(text):
        if piece in ("}", "]"):
            depth -= 1
        if before in ("{", "[", ",") or piece in ("}", "]"):
            is_empty = before in ("{", "[") and piece in ("}", "]")
            parts.append("" if is_empty else "\n" + "  " * depth)
        parts.append(": " if piece == ":" else piece)
        if piece in ("{", "["):
            depth += 1
        before = piece
    return "".join(parts)


def safe_for_editor(text: str) -> str:
    """JSON text in which nothing is invisible; it means the same."""
    return UNSEEN.sub(lambda match: "".join(f"\\u{ord(unit):04x}" for unit in match[0]), text)
