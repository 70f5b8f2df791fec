"""Running the installed `pinui` as a process, the way a script or a person would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

PINUI = str(Path(sys.executable).with_name("pinui"))


@dataclass(frozen=True)
class Ran:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The only line of stdout of a run that went well."""
        assert self.code == 0, self.err
        assert self.out.count("\n") == 1, self.out
        return self.out.rstrip("\n")


Run = Callable[..., Ran]


def clean_environment(home: Path) -> dict[str, str]:
    """The environment of a run: a home of its own, no bus, no keyring, no proxy."""
    hidden = ("PINUI_", "DBUS_", "XDG_", "DISPLAY", "WAYLAND", "PYTHON_KEYRING", "HTTP", "ALL_PROXY", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(hidden)}
    return kept | {"PINUI_HOME": str(home), "HOME": str(home.parent), "COLUMNS": "100"}


@pytest.fixture
def environment(own_home: Path) -> dict[str, str]:
    return clean_environment(own_home)


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Run `pinui` with these arguments in an empty folder."""
    folder = tmp_path / "here"
    folder.mkdir()

    def run_pinui(*arguments: str, stdin: str | bytes = b"", timeout: float = 60, **variables: str) -> Ran:
        ran = subprocess.run(
            [PINUI, *arguments],
            env=environment | variables,
            cwd=folder,
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        out, err = ran.stdout.decode("utf-8", "surrogateescape"), ran.stderr.decode()
        assert "Traceback" not in err, err
        return Ran(ran.returncode, out, err)

    return run_pinui


@pytest.fixture
def here(tmp_path: Path, run: Run) -> Path:
    """The folder that `run` runs in."""
    return tmp_path / "here"
