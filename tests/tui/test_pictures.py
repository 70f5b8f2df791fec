"""Pictures in the terminal: whatever a file unpacks to, a look at it costs little memory."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from pinui import Peek
from pinui.tui.preview import show_bytes, show_words

MOST_MEMORY = 64 * 1024  # kB
MEASURE = """
import sys
from pathlib import Path
from pinui import Peek
from pinui.tui.preview import show_bytes

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM:")))

before = peak()
shown = show_bytes(Peek(data := Path(sys.argv[1]).read_bytes(), total=len(data)), 120, 40)
text = " ".join("".join(span for span, _ in line) for line in shown.lines if isinstance(line, list))
print(peak() - before)
print(shown.what)
print(text)
"""


def whole(data: bytes) -> Peek:
    return Peek(data, total=len(data))


def saved(form: str, mode: str, size: tuple[int, int], **how: Any) -> Callable[[], bytes]:
    """A picture of one colour, which takes few bytes in any format but BMP."""

    def save() -> bytes:
        file = io.BytesIO()
        Image.new(mode, size).save(file, form, **how)
        return file.getvalue()

    return save


def png_with_comments() -> bytes:
    comments = PngInfo()
    for number in range(60):
        comments.add_text(f"comment {number}", "x" * 1_000_000, zip=True)
    return saved("PNG", "RGB", (10, 10), pnginfo=comments)()


def huge_png() -> bytes:
    """A few bytes that claim to be a huge picture."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000)))


def bmp_of_runs(width: int, height: int, runs: bytes) -> Callable[[], bytes]:
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(runs), 0, 0, 2, 0)
    start = 14 + 40 + 8
    head = b"BM" + struct.pack("<IHHI", start + len(runs), 0, 0, start)
    return lambda: head + info + b"\0\0\0\0\xff\xff\xff\0" + runs


def jpeg_in_scans() -> bytes:
    """A baseline JPEG, said to hold one component in its first scan: a decoder keeps all of it until the last."""
    data = bytearray(saved("JPEG", "RGB", (6000, 6000))())
    data[data.index(b"\xff\xda") + 4] = 1
    return bytes(data)


def noise() -> bytes:
    file = io.BytesIO()
    Image.effect_noise((1590, 1590), 90).convert("RGB").resize((1590, 1590)).save(file, "PNG", compress_level=0)
    return file.getvalue()


SKIP_ROWS = b"\0\2\0\xff"

SHOWN = {
    "PNG": saved("PNG", "RGB", (3100, 3100)),
    "PNG with transparency": saved("PNG", "RGBA", (3100, 3100)),
    "PNG in grey": saved("PNG", "L", (6200, 6200)),
    "PNG in one row": saved("PNG", "RGBA", (40_000, 1)),
    "PNG of noise": noise,
    "GIF": saved("GIF", "P", (6200, 6200)),
    "JPEG": saved("JPEG", "RGB", (6300, 6300)),
    "progressive JPEG": saved("JPEG", "RGB", (2500, 2500), progressive=True, subsampling=0),
    "WEBP": saved("WEBP", "RGB", (1920, 1280)),
    "WEBP without loss": saved("WEBP", "RGBA", (1920, 1280), lossless=True),
    "BMP": saved("BMP", "1", (3000, 3000)),
}
TOO_LARGE = {
    "PNG": saved("PNG", "RGB", (6300, 6300)),
    "PNG in one row": saved("PNG", "RGBA", (9_000_000, 1)),
    "PNG that claims to be huge": huge_png,
    "GIF": saved("GIF", "P", (12_000, 12_000)),
    "JPEG": saved("JPEG", "L", (12_000, 12_000)),
    "progressive JPEG": saved("JPEG", "RGB", (6300, 6300), progressive=True),
    "JPEG in several scans": jpeg_in_scans,
    "WEBP": saved("WEBP", "RGB", (6000, 6000)),
    "BMP": saved("BMP", "1", (8000, 8000)),
    "BMP of runs": bmp_of_runs(1_000_000, 10, SKIP_ROWS * 4),
}
OTHERS = {
    "PNG with comments": png_with_comments,
    "BMP of runs": bmp_of_runs(30_000, 90, SKIP_ROWS * 4),
    "TIFF": saved("TIFF", "RGB", (6300, 6300), compression="tiff_deflate"),
    "ICO": lambda: b"\0\0\1\0\1\0\0\0\0\0\1\0\x20\0" + struct.pack("<II", 200_000, 22) + TOO_LARGE["PNG"](),
    "JPEG 2000": saved("JPEG2000", "L", (6300, 6300)),
    "lines": lambda: b"\n" * 262_144,
    "JSON": lambda: b"[" + b"{}," * 87_000 + b"0]",
}
CASES = [
    *((f"{name} that is shown", make, "pixels") for name, make in SHOWN.items()),
    *((f"{name} that is too large", make, "too large") for name, make in TOO_LARGE.items()),
    *((name, make, "") for name, make in OTHERS.items()),
]
# One of each outcome; the others, each a process of its own, take long together.
QUICK = {"PNG that is shown", "PNG that claims to be huge that is too large", "JPEG that is too large", "JSON"}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system doesn't tell a process its peak")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(make, words, id=name, marks=() if name in QUICK else pytest.mark.slow)
        for name, make, words in CASES
    ],
)
def test_a_look_at_any_content_costs_little_memory(make: Callable[[], bytes], words: str, tmp_path: Path) -> None:
    path = tmp_path / "content"
    path.write_bytes(make())
    ran = subprocess.run([sys.executable, "-c", MEASURE, path], capture_output=True, text=True, check=True)
    memory, what, text = ran.stdout.split("\n", 2)
    assert int(memory) < MOST_MEMORY
    assert words in (text if words == "too large" else what)


def test_a_picture_that_is_too_large_says_so_and_what_can_be_done() -> None:
    shown = show_bytes(whole(TOO_LARGE["PNG"]()), 200, 20)
    words = "This picture is too large to show: 6300 × 6300 pixels. Open it in the browser, or download it."
    assert shown.lines == [[(words, "warning")]]
    beginning = Peek(b"\xff\xd8\xff" + bytes(1000), total=12_000_000)
    assert "too large to show: 12 MB." in str(show_bytes(beginning, 200, 20).lines)


def test_a_text_that_begins_like_a_picture_is_a_text() -> None:
    assert show_bytes(Peek(b"BM is short for bitmap. " * 20_000), 80, 20).what == "text"


def test_a_picture_keeps_its_shape() -> None:
    picture = show_bytes(whole(saved("JPEG", "RGB", (4000, 1000))()), 80, 40)
    assert picture.what == "4000 × 1000 pixels"
    assert (len(picture.lines), len(picture.lines[0].text)) == (10, 80)  # type: ignore[union-attr]


def test_a_message_of_many_lines_is_cut() -> None:
    shown = show_words("\n" * 100_000, 40)
    assert len(shown.lines) < 100_000
    assert shown.cut
