"""Pictures as half blocks: two pixels in a cell, in every terminal that has colours."""

from __future__ import annotations

import io

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

__all__ = ["MOST_PIXELS", "half_blocks"]

MOST_PIXELS = 40_000_000
"""A small file can claim to be a huge picture; beyond this it is not unpacked."""


def half_blocks(data: bytes, width: int, height: int) -> tuple[list[Strip], str] | None:
    """The picture in at most width × height cells and its size in words; None if it is none we can read."""
    from PIL import Image  # slow to import, and only pictures need it

    try:
        with Image.open(io.BytesIO(data)) as picture:
            columns, rows = picture.size
            if columns * rows > MOST_PIXELS:
                return None
            picture.draft("RGB", (width * 2, height * 4))
            small = picture.convert("RGBA")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    words = f"{columns} × {rows} pixels"
    scale = min(width / small.width, height * 2 / small.height)
    size = max(1, round(small.width * scale)), max(2, round(small.height * scale))
    small = small.resize(size, Image.Resampling.LANCZOS)  # pyright: ignore[reportUnknownMemberType]  numpy in its hints
    ground = Image.new("RGBA", small.size, (127, 127, 127, 255))
    rows_of = Image.alpha_composite(ground, small).convert("RGB").tobytes()
    across = size[0] * 3
    pixel_rows = [rows_of[start : start + across] for start in range(0, len(rows_of), across)]
    pairs = zip(pixel_rows[::2], [*pixel_rows[1::2], pixel_rows[-1]], strict=False)
    return [_strip(upper, lower) for upper, lower in pairs], words


def _strip(upper: bytes, lower: bytes) -> Strip:
    """Two rows of pixels as one row of cells."""
    cells = [
        Segment("▀", Style(color=Color.from_rgb(*upper[x : x + 3]), bgcolor=Color.from_rgb(*lower[x : x + 3])))
        for x in range(0, len(upper), 3)
    ]
    return Strip(cells).simplify()
