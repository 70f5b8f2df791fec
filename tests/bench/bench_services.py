"""Adding and reading 1 GiB and 10,000 small files: pinui on its node, pinui on Kubo, and Kubo's own command."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bench.measure import Measured, run, table
from tests.real.kubo import Kubo, find_kubo

MIB = int(os.environ.get("BENCH_MIB", "1024"))
FILES = int(os.environ.get("BENCH_FILES", "10000"))
PINUI = [sys.executable, "-m", "pinui"]


def make_content(folder: Path) -> tuple[Path, Path]:
    """A large file, and a folder of small ones."""
    large, small = folder / "large.bin", folder / "small"
    with large.open("wb") as file:
        for _ in range(MIB):
            file.write(os.urandom(1 << 20))
    data = random.Random(1)
    for number in range(FILES):
        place = small / f"{number % 100:02}" / f"{number}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.randbytes(1000))
    return large, small


def cid_of(command: Sequence[str]) -> str:
    """The CID that a command prints for content that is there already."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0]


def measure(add: Sequence[str], get: Sequence[str], content: Path, target: Path) -> tuple[Measured, Measured]:
    """Add some content, and read it back."""
    added = run([*add, str(content)])
    cid = cid_of([*add, str(content)])
    read = run([*get, cid, "-o", str(target)])
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    return added, read


def main() -> None:
    try:
        program = find_kubo()
    except pytest.skip.Exception as missing:
        sys.exit(str(missing))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        contents = make_content(folder)
        # Each has a daemon of its own: blocks that are there already would be added faster.
        own, other = (Kubo(program, folder / name) for name in ("own", "other"))
        with own.serving("--offline"), other.serving("--offline"):
            ours = ["env", f"PINUI_HOME={folder / 'home'}", f"IPFS_PATH={other.environment['IPFS_PATH']}", *PINUI]
            subprocess.run(
                [*ours, "profile", "add", "kubo", "--provider", "kubo"], input=b"\n", check=True, capture_output=True
            )
            theirs = ["env", f"IPFS_PATH={own.environment['IPFS_PATH']}", program]
            ways = {
                "Kubo's own command": ([*theirs, "add", "-Q", "-r"], [*theirs, "get", "--progress=false"]),
                "pinui on Kubo": ([*ours, "--profile", "kubo", "upload"], [*ours, "--profile", "kubo", "download"]),
                "pinui on its node": ([*ours, "upload"], [*ours, "download"]),
            }
            for content, what in zip(contents, (f"{MIB:,} MiB", f"{FILES:,} files of 1 kB"), strict=True):
                rows: list[Sequence[object]] = []
                first: tuple[Measured, Measured] | None = None
                for name, (add, get) in ways.items():
                    measured = measure(add, get, content, folder / "back")
                    first = first or measured
                    row: list[object] = [name]
                    for one, other in zip(measured, first, strict=True):
                        row += [f"{one.seconds:.1f} s", f"{one.seconds / other.seconds:.2f}"]
                    rows.append([*row, f"{max(one.peak_kib for one in measured) / 1024:.0f} MiB"])
                table([what, "add", "times Kubo", "read", "times Kubo", "peak memory"], rows)


if __name__ == "__main__":
    main()
