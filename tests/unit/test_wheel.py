"""The wheel and the sdist install in empty environments and work there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from pinui import __version__
from tests.tui.terminal import Terminal

ROOT = Path(__file__).parents[2]


PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def built(folder: Path, kind: str) -> Path:
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("pinui-*"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("sdist"), "sdist")


def uv(*arguments: str | Path, **environment: str) -> None:
    """Run uv, which asks the package index; an error shows its words."""
    if (program := shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")) is None:
        pytest.skip("install uv: pip install uv")
    command = [program, "--system-certs", "--quiet", *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def find_python(version: str) -> Path:
    """A Python of this version on this machine."""
    for folder in [
        *os.environ["PATH"].split(os.pathsep),
        *map(str, Path.home().glob(f".pyenv/versions/{version}*/bin")),
    ]:
        path = Path(folder, f"python{version}")
        if path.exists() and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    pytest.skip(f"install Python {version}: uv python install {version}")


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


def works(program: Path) -> None:
    """The verbs and the workbench work on the own node, in the test's empty home."""
    cid = subprocess.run([program, "store", '{"hello":"world"}'], capture_output=True, text=True, check=True).stdout
    read = subprocess.run([program, "retrieve", cid.strip()], capture_output=True, text=True, check=True)
    assert read.stdout == '{"hello":"world"}\n'
    workbench = Terminal([str(program)], os.environ)
    try:
        workbench.shows("Welcome to pinui.")
        workbench.press("\r")
        workbench.shows("1 pin")
        workbench.press("q")
        assert workbench.exit_code() == 0
    finally:
        workbench.close()


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_uv_tool_installs_the_wheel_and_it_runs(wheel: Path, tmp_path: Path, version: str) -> None:
    folders = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    uv("tool", "install", "--python", find_python(version), wheel, **folders)
    works(tmp_path / "bin" / "pinui")


@pytest.mark.slow
def test_pipx_installs_the_wheel_and_it_runs(wheel: Path, tmp_path: Path) -> None:
    folders = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    uv("tool", "run", "pipx", "install", "--python", sys.executable, wheel, **folders)
    works(tmp_path / "bin" / "pinui")


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_the_sdist_installs_and_runs(sdist: Path, tmp_path: Path, version: str) -> None:
    uv("venv", "--python", find_python(version), tmp_path / "venv")
    uv("pip", "install", "--python", tmp_path / "venv" / "bin" / "python", sdist)
    works(tmp_path / "venv" / "bin" / "pinui")


PROJECT_TEST = """
import urllib.request

import pytest
from pinui import ProviderError
from pinui.sync import Client


def test_something_is_stored(pinning_node):
    with Client.init(**pinning_node.settings()) as client:
        record = client.store({"hello": "world"})
    with urllib.request.urlopen(f"{pinning_node.gateway_url}/{record.cid}") as answer:
        assert answer.read() == b'{"hello":"world"}'
    assert [pin.cid for pin in pinning_node.pins()] == [record.cid]


def test_a_refusal_is_met(pinning_node):
    assert pinning_node.pins() == []
    pinning_node.fail_next(401)
    with Client.init(**pinning_node.settings()) as client, pytest.raises(ProviderError):
        client.store("x")
    pinning_node.rate_limit(1)
"""


@pytest.mark.slow
def test_the_fixture_is_there_in_a_project_of_its_own(wheel: Path, tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    uv("venv", "--python", sys.executable, tmp_path / "venv")
    uv("pip", "install", "--python", python, wheel, "pytest")
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_project.py").write_text(PROJECT_TEST)
    command = [python, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
