"""Previews of content: JSON in colours, text, a picture, the entries of a folder, or bytes in hex."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from rich.cells import cell_len

from pinui.figures import size
from pinui.tui.display import fit, right, wrapped
from pinui.tui.json_text import beginning, json_spans
from pinui.tui.pictures import TooLarge, half_blocks
from pinui.tui.widgets.line_view import LazyLines, Line

if TYPE_CHECKING:
    from pinui import FolderItem, Peek
    from pinui.workspace import Workspace

__all__ = ["Shown", "folder_lines", "peek", "show_bytes", "show_json", "show_words"]

CAP = 262_144
"""Characters of a text that are shown. More is for a pager or a file."""
PICTURE_CAP = 8_000_000
MOST_LINES = 20_000


@dataclass(frozen=True, slots=True)
class Shown:
    """A preview: its lines, the width of the widest, and a word for the kind of content."""

    lines: Sequence[Line]
    widest: int
    what: str
    cut: bool = False


def show_json(value: object, _width: int = 0, _height: int = 0) -> Shown:
    """A document in colours. Long lines scroll sideways, so it doesn't depend on the size."""
    text = beginning(value, CAP + 1)
    lines = text[:CAP].split("\n")[:MOST_LINES]
    return Shown(
        LazyLines(lines, json_spans), max(map(cell_len, lines)), "json", len(text) > CAP or len(lines) == MOST_LINES
    )


def show_words(text: str, width: int, _height: int = 0) -> Shown:
    """A message, as it is read."""
    lines = _lines(text, width)
    return Shown(lines, width, "message", len(text) > CAP or len(lines) == MOST_LINES)


def show_bytes(preview: Peek, width: int, height: int, *, colours: bool = True) -> Shown:
    """A preview of bytes: a picture, a document, text, or a hex dump."""
    data = preview.data
    if not data:
        return Shown([[("empty", "muted")]], width, "empty")
    if is_picture(preview) and (shown := _picture(preview, width, height, colours=colours)) is not None:
        return shown
    text = _text(data, preview.truncated)
    if text is None:
        return _hex(data, preview.truncated, width)
    if not preview.truncated and text.lstrip()[:1] in ("{", "["):
        try:
            return show_json(json.loads(text))
        except (ValueError, RecursionError):
            pass
    lines = _lines(text, width)
    return Shown(lines, width, "text", preview.truncated or len(lines) == MOST_LINES)


def _picture(preview: Peek, width: int, height: int, *, colours: bool) -> Shown | None:
    """The picture, or a sentence if it can't be drawn; None if the bytes are no picture after all."""
    if preview.truncated:
        return _too_large(size(preview.total) if preview.total else f"more than {size(len(preview.data))}", width)
    try:
        picture = half_blocks(preview.data, width, height)
    except TooLarge as error:
        return _too_large(str(error), width)
    if picture is None:
        return None
    words: Line = [("Pictures need colours, and NO_COLOR is set.", "muted")]
    return Shown(picture[0] if colours else [words], width, picture[1])


def _too_large(how_large: str, width: int) -> Shown:
    sentence = f"This picture is too large to show: {how_large}. Open it in the browser, or download it."
    return Shown([[(line, "warning")] for line in wrapped(sentence, width)], width, "picture")


async def peek(workspace: Workspace, address: str) -> Peek:
    """The beginning of the content at an address; all of a picture, unless it is huge."""
    preview = await workspace.preview(address, limit=CAP)
    if is_picture(preview) and preview.truncated and (preview.total or 0) <= PICTURE_CAP:
        return await workspace.preview(address, limit=PICTURE_CAP)
    return preview


def is_picture(preview: Peek) -> bool:
    """Whether the first bytes are those of a picture."""
    data = preview.data
    return (
        data.startswith((b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a"))
        or (data[:2] == b"BM" and data[6:10] == bytes(4))  # two letters alone may begin a text
        or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
    )


def folder_lines(entries: Sequence[FolderItem], chosen: int, width: int) -> list[Line]:
    """The names in a folder, with the chosen one marked."""
    lines: list[Line] = []
    for index, entry in enumerate(entries):
        here = index == chosen
        # What the folder declares counts blocks, too.
        number = size(entry.size) if entry.size is not None else f"~{size(entry.declared)}" if entry.declared else ""
        name = fit(entry.name + ("/" if entry.is_folder else ""), max(8, width - 12))
        tone = "bold strong" if here else "text"
        lines.append([("▌" if here else " ", "primary"), (" " + name, tone), (right(number, 9), "muted")])
    return lines or [[("an empty folder", "muted")]]


def _lines(text: str, width: int) -> list[Line]:
    return [[(line, "text")] for line in islice(wrapped(text[:CAP], width), MOST_LINES)]


def _text(data: bytes, truncated: bool) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # The cap may have cut a character in two.
        if truncated and error.start >= len(data) - 4:
            return data[: error.start].decode("utf-8")
        return None


def _hex(data: bytes, truncated: bool, width: int) -> Shown:
    columns = 16 if width >= 74 else 8
    lines: list[Line] = []
    for start in range(0, min(len(data), 65_536), columns):
        row = data[start : start + columns]
        digits = " ".join(f"{byte:02x}" for byte in row)
        letters = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in row)
        lines.append([(f"{start:06x}  ", "muted"), (digits.ljust(columns * 3), "second"), (" " + letters, "muted")])
    widest = max(cell_len("".join(text for text, _ in line)) for line in lines if isinstance(line, list))
    return Shown(lines, widest, "bytes", truncated or len(data) > 65_536)
