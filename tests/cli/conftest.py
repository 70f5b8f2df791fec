"""Running the installed `pinui` as a process, the way a script or a person would."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.terminal import Terminal

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
Open = Callable[..., "Terminal"]


def clean_environment(home: Path) -> dict[str, str]:
    """The environment of a run: a home of its own, no bus, no keyring, no proxy."""
    hidden = ("PINUI_", "DBUS_", "XDG_", "DISPLAY", "WAYLAND", "HTTP", "ALL_PROXY", "NO_COLOR")
    hidden += ("PYTHON",)  # also PYTHONDONTWRITEBYTECODE, which would compile everything anew in each run
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(hidden)}
    return kept | {"PINUI_HOME": str(home), "HOME": str(home.parent), "COLUMNS": "100"}


@pytest.fixture
def environment(own_home: Path) -> dict[str, str]:
    return clean_environment(own_home)


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Run `pinui` with these arguments in an empty folder."""
    folder = tmp_path / "here"
    folder.mkdir(exist_ok=True)

    def run_pinui(*arguments: str, stdin: str | bytes = b"", timeout: float = 120, **variables: str) -> Ran:
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
def call(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Like `run`, in this process: for the many ways to be wrong, which a process each would make slow."""
    folder = tmp_path / "here"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)

    def call_main(*arguments: str, stdin: str | bytes = b"", **variables: str) -> Ran:
        from pinui.cli import main

        given = io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin)
        streams = [io.TextIOWrapper(buffer, "utf-8") for buffer in (given, io.BytesIO(), io.BytesIO())]
        with monkeypatch.context() as patch:
            for name in list(os.environ):
                patch.delenv(name)
            for name, value in (environment | variables).items():
                patch.setenv(name, value)
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            code = main(arguments)
        texts: list[str] = []
        for stream in streams[1:]:
            stream.flush()
            texts.append(stream.buffer.getvalue().decode("utf-8", "surrogateescape"))
        return Ran(code, *texts)

    return call_main


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The folder that `run` and `call` run in."""
    (tmp_path / "here").mkdir(exist_ok=True)
    return tmp_path / "here"


@pytest.fixture
def terminal(environment: dict[str, str], here: Path) -> Iterator[Open]:
    """Open `pinui` with these arguments on a terminal."""
    if sys.platform == "win32":
        pytest.skip("needs a pty")
    from tests.cli.terminal import Terminal

    opened: list[Terminal] = []

    def open_terminal(*arguments: str, **variables: str) -> Terminal:
        opened.append(Terminal(environment | {"TERM": "xterm-256color"} | variables, here, *arguments))
        return opened[-1]

    yield open_terminal
    for one in opened:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
