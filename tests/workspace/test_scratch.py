"""Temporary folders: whenever their process is killed, the next start removes them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

import pytest

from pinui.workspace.scratch import remove_left_overs

KILLED = 9
USE = """
import os, sys, tempfile
from pinui.workspace.scratch import scratch_folder

steps = int(sys.argv[1])

def kill(event, _arguments):
    global steps
    if event.partition(".")[0] in ("os", "shutil", "tempfile", "fcntl"):
        steps -= 1
        if steps < 0:
            os._exit(9)

tempfile.gettempdir()  # tries the folder with a file of its own
sys.addaudithook(kill)
with scratch_folder() as folder:
    (folder / "content.car").write_text("content")
    (folder / "inner").mkdir()
    (folder / "inner" / "more").write_text("more")
"""


def test_a_process_that_is_killed_at_any_step_leaves_nothing_after_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for steps in count():
        command = [sys.executable, "-c", USE, str(steps)]
        code = subprocess.run(command, env=os.environ | {"TMPDIR": str(tmp_path)}, check=False).returncode
        for folder in tmp_path.iterdir():
            os.utime(folder, (1, 1))  # an hour later
        remove_left_overs()
        assert list(tmp_path.iterdir()) == [], f"killed at step {steps}"
        if code == 0:
            break
        assert code == KILLED
    assert steps > 10


def test_an_empty_folder_that_is_new_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process may be about to lock it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "pinui-new").mkdir()
    remove_left_overs()
    assert (tmp_path / "pinui-new").exists()
