"""The workbench: its first frame beside a one-widget app, and how fast keys are answered while transfers run."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.tui.terminal import ESCAPES, Terminal

RUNS = 7
KEYS = 120
FILES, FILE_SIZE = 8, 250_000_000
ONE_WIDGET = """
from textual.app import App
from textual.widgets import Static
class One(App):
    def compose(self):
        yield Static("pinui")
One().run()
"""


def first_frame(argv: list[str], env: dict[str, str]) -> float:
    """Seconds from exec until the word is painted."""
    began = time.perf_counter()
    terminal = Terminal(argv, env)
    try:
        while b"pinui" not in ESCAPES.sub(b"", terminal.raw):
            terminal.read(0.01)
        return time.perf_counter() - began
    finally:
        terminal.close()


def compare_first_frames(env: dict[str, str]) -> None:
    """Interleaved, so that a busy machine is unfair to both alike."""
    ours: list[float] = []
    theirs: list[float] = []
    for run in range(RUNS + 1):
        a = first_frame([sys.executable, "-m", "pinui"], env)
        b = first_frame([sys.executable, "-c", ONE_WIDGET], env)
        if run:  # the first one warms the disk's cache
            ours.append(a)
            theirs.append(b)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"first frame: {statistics.median(ours):.2f} s, {ratio:.2f} × a one-widget app (at most 2)")


def keys_while_transferring(home: Path, env: dict[str, str]) -> None:
    """Walk through the pins with ↓ and ↑ while files go up to the embedded node."""
    folder = home / "large"
    folder.mkdir()
    block = os.urandom(1_000_000)
    for number in range(FILES):
        with (folder / f"file-{number}").open("wb") as file:
            for index in range(FILE_SIZE // len(block)):
                file.write(number.to_bytes(8, "big") + index.to_bytes(8, "big") + block[16:])
    terminal = Terminal([sys.executable, "-m", "pinui"], env)
    try:
        terminal.shows("pin-0")
        terminal.press("3")
        terminal.shows("large")
        terminal.press("g", "j")
        terminal.press("\r")
        terminal.shows("file-0")
        for _ in range(FILES):
            terminal.press(" ")
        terminal.press("u")
        began = time.perf_counter()
        terminal.shows("MB/s")
        terminal.press("1")
        terminal.shows("Detail")
        waits = [_key_to_paint(terminal, "j" if key % 40 < 20 else "k") for key in range(KEYS)]
        terminal.press("3")
        terminal.shows(f"{FILES} done", patience=300)
        rate = FILES * FILE_SIZE / (time.perf_counter() - began) / 1e6
    finally:
        terminal.close()
    waits.sort()
    p50, p95 = waits[len(waits) // 2] * 1000, waits[int(len(waits) * 0.95)] * 1000
    print(f"key to repaint at {rate:.0f} MB/s of uploads: p50 {p50:.0f} ms, p95 {p95:.0f} ms (at most 100)")


def _key_to_paint(terminal: Terminal, key: str) -> float:
    """Until the cursor stands on the other row."""
    while terminal.read(0.02):
        pass
    began, seen = time.perf_counter(), len(terminal.raw)
    os.write(terminal.master, key.encode())
    while "▌".encode() not in terminal.raw[seen:] and time.perf_counter() - began < 5:
        terminal.read(0.005)
    return time.perf_counter() - began


async def furnish() -> None:
    """Some pins to walk through, and no welcome."""
    from pinui.workspace import Workspace

    async with await Workspace.open() as workspace:
        workspace.profiles.set_setting("welcomed", True)
        for number in reversed(range(60)):
            await workspace.store({"number": number}, name=f"pin-{number}")


def main() -> None:
    """Both, in a home of their own."""
    with tempfile.TemporaryDirectory(prefix="pinui-") as home:
        os.environ["PINUI_HOME"] = str(Path(home) / "pinui")
        os.environ["HOME"] = home
        os.chdir(home)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        asyncio.run(furnish())
        compare_first_frames(env)
        keys_while_transferring(Path(home), env)


if __name__ == "__main__":
    main()
