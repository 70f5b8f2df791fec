"""The wheel installs in an empty environment and answers there."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from pinui import __version__

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_the_wheel_carries_the_types_and_the_styles_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "pinui/py.typed" in names
    styles = {path.relative_to(ROOT).as_posix() for path in (ROOT / "pinui").rglob("*.tcss")}
    assert styles <= set(names)
    assert not any(name.startswith("tests") for name in names)


@pytest.mark.slow
def test_the_version_answers_without_any_dependency(wheel: Path, tmp_path: Path) -> None:
    # No dependency is installed here at all, so an import of Textual or httpx would fail.
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    done = subprocess.run([python.parent / "pinui", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"pinui {__version__}\n"
