"""Pictures as half blocks: two pixels in a cell, in every terminal that has colours."""

from __future__ import annotations

import io
from threading import Lock
from typing import TYPE_CHECKING

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

__all__ = ["TooLarge", "half_blocks"]

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
"""The formats whose cost of decoding is known. Pillow reads more, some of them with other programs."""
BUDGET = 40 * 2**20
"""Bytes that decoding may take. With Pillow itself and the file, a preview stays below 64 MiB."""
MOST_PIXELS = 40_000_000
"""A limit on time: a JPEG is made smaller while it is decoded, so memory alone would allow a billion."""
ONE_BYTE = frozenset(("1", "L", "P"))
"""The modes in which Pillow holds a pixel in one byte; in all others it takes up to four."""
MORE_ROWS = 256
"""Rows that a decoder holds beside the picture; this many in a BMP only, where a run may skip 255 rows."""
WEBP_PIXEL = 16
"""Bytes, as measured: two canvases, the decoder's own pixels, and the copy that Pillow makes."""

JPEG = b"\xff\xd8"

one_at_a_time = Lock()
"""One picture is decoded at a time: the next one waits, so that their costs don't add up."""


class TooLarge(Exception):
    """A picture that would take too much memory or time; the message is its size in words."""


def half_blocks(data: bytes, width: int, height: int) -> tuple[list[Strip], str] | None:
    """The picture in at most width × height cells, and its size in words; None if it can't be read."""
    from PIL import Image, PngImagePlugin  # slow to import, and only pictures need it

    Image.MAX_IMAGE_PIXELS = None  # our own limits are lower, and no warning goes to the terminal
    PngImagePlugin.MAX_TEXT_MEMORY = PngImagePlugin.MAX_TEXT_CHUNK  # comments may be compressed, too
    try:
        with one_at_a_time, Image.open(io.BytesIO(data), formats=FORMATS) as picture:
            columns, rows = picture.size
            words = f"{columns} × {rows} pixels"
            picture.draft("RGB", (width * 2, height * 4))
            if columns * rows > MOST_PIXELS or _cost(picture, data, columns * rows) > BUDGET:
                raise TooLarge(words)
            # Without a filter no copy of the whole is made; the rest is done smoothly.
            rough = min(picture.width, width * 8), min(picture.height, height * 16)
            small = picture.resize(rough, Image.Resampling.NEAREST).convert("RGBA")  # pyright: ignore[reportUnknownMemberType]  numpy in its hints
    except (OSError, ValueError, SyntaxError):
        return None
    scale = min(width / columns, height * 2 / rows)
    size = max(1, round(columns * scale)), max(2, round(rows * scale))
    small = small.resize(size, Image.Resampling.LANCZOS)  # pyright: ignore[reportUnknownMemberType]  numpy in its hints
    ground = Image.new("RGBA", small.size, (127, 127, 127, 255))
    rows_of = Image.alpha_composite(ground, small).convert("RGB").tobytes()
    across = size[0] * 3
    pixel_rows = [rows_of[start : start + across] for start in range(0, len(rows_of), across)]
    pairs = zip(pixel_rows[::2], [*pixel_rows[1::2], pixel_rows[-1]], strict=False)
    return [_strip(upper, lower) for upper, lower in pairs], words


def _cost(picture: ImageFile, data: bytes, pixels: int) -> int:
    """The bytes that decoding takes at most; `pixels` is their number before a JPEG is made smaller."""
    each = 1 if picture.mode in ONE_BYTE and picture.format != "BMP" else 4  # a BMP's runs are unpacked in Python
    cost = 2 * len(data) + picture.width * (picture.height + MORE_ROWS) * each
    if picture.format == "WEBP":
        cost += pixels * (WEBP_PIXEL - each)
    elif data.startswith(JPEG) and not _has_one_scan(data):
        cost += pixels * 2 * len(picture.getbands())  # the coefficients of the whole picture
    return cost


def _has_one_scan(data: bytes) -> bool:
    """Whether a JPEG is baseline with all its components in one scan; False for unusual files."""
    at, components = 2, 0
    while at + 10 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker == 0xDA:
            return data[at + 4] == components
        if marker in (0xC0, 0xC1):
            components = data[at + 9]
        elif not (marker in (0xC4, 0xDB, 0xDD, 0xFE) or 0xE0 <= marker <= 0xEF):
            return False
        at += 2 + length
    return False


def _strip(upper: bytes, lower: bytes) -> Strip:
    """Two rows of pixels as one row of cells."""
    cells = [
        Segment("▀", Style(color=Color.from_rgb(*upper[x : x + 3]), bgcolor=Color.from_rgb(*lower[x : x + 3])))
        for x in range(0, len(upper), 3)
    ]
    return Strip(cells).simplify()
