"""Content that a killed verb leaves behind is readable by its owner alone, and gone after the next start."""

from __future__ import annotations

import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import PINUI, Run


@pytest.fixture
def temporary(tmp_path: Path, environment: dict[str, str]) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment["TMPDIR"] = str(folder)
    return folder


@contextmanager
def uploading(environment: dict[str, str], temporary: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """An upload from a pipe that goes on and on, and the file in which it keeps what came."""
    process = subprocess.Popen([PINUI, "upload", "-"], env=environment, stdin=subprocess.PIPE, bufsize=0)
    assert process.stdin is not None
    try:
        process.stdin.write(b"secret content " * 1000)
        give_up = time.monotonic() + 60
        while not (found := [path for path in temporary.glob("pinui-*/stdin") if path.stat().st_size]):
            assert time.monotonic() < give_up
            process.stdin.write(b"more")
        yield process, found[0]
    finally:
        process.kill()
        process.wait()
        process.stdin.close()


@pytest.mark.slow
def test_a_killed_upload_leaves_nothing_after_the_next_start(
    run: Run, environment: dict[str, str], temporary: Path
) -> None:
    with uploading(environment, temporary) as (process, spool):
        assert stat.S_IMODE(spool.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(spool.stat().st_mode) == 0o600
        assert run("test").code == 0
        assert spool.exists(), "it is in use"
        process.kill()
        process.wait()
        assert spool.exists()
        assert run("test").code == 0
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_only_our_own_is_removed(run: Run, environment: dict[str, str], temporary: Path, tmp_path: Path) -> None:
    others = tmp_path / "others"
    for folder in (others, temporary / "pinui-of-somebody-else", temporary / "another"):
        folder.mkdir()
        (folder / "kept.txt").write_text("kept")
    (others / ".pinui-scratch").touch()
    (temporary / "pinui-a-link").symlink_to(others)
    (temporary / "pinui-a-file").write_text("kept")
    with uploading(environment, temporary) as (process, spool):
        process.kill()
        process.wait()
        assert run("test").code == 0
        assert not spool.parent.exists()
    names = ["another", "pinui-a-file", "pinui-a-link", "pinui-of-somebody-else"]
    assert sorted(path.name for path in temporary.iterdir()) == names
    assert (others / "kept.txt").exists()


def test_an_upload_that_is_done_leaves_nothing(run: Run, temporary: Path) -> None:
    assert run("upload", "-", stdin=b"x").code == 0
    assert list(temporary.iterdir()) == []
