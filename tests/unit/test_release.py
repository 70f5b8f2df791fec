"""The version follows the changelog, and `make release` stops where they don't agree."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pinui import __version__
from tests.release import released, unready

ROOT = Path(__file__).parents[2]


def test_the_newest_version_of_the_changelog_is_the_version() -> None:
    versions = released((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert versions[:1] in ([], [__version__]), "pinui/version.py and CHANGELOG.md change together"


@pytest.mark.parametrize(
    ("headings", "why"),
    [
        (["Unreleased", "1.0.0 – 2027-01-31"], "Unreleased"),
        (["0.9.0 – 2026-12-24"], "make them agree"),
        (["1.0.0"], "no date"),
        ([], "make them agree"),
    ],
)
def test_a_changelog_that_is_not_ready_is_told(headings: list[str], why: str) -> None:
    changelog = "# Changelog\n\n" + "\n".join(f"## {heading}\n\n- Something.\n" for heading in headings)
    assert why in (unready(changelog, "1.0.0") or "")


@pytest.mark.slow
def test_a_release_is_built_and_not_uploaded(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    names = ("pinui", "tests", "README.md", "LICENSE", "Makefile", "pyproject.toml", "requirements.lock")
    clone.mkdir()
    for name in names:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, clone / name)
    (clone / "CHANGELOG.md").write_text(f"# Changelog\n\n## {__version__} – 2027-01-31\n\n- Something.\n")
    (clone / ".gitignore").write_text("dist/\n__pycache__/\n")

    def release() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "tests.release"], cwd=clone, capture_output=True, text=True)

    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], cwd=clone, check=True)
    assert "not committed" in release().stdout
    subprocess.run([*git, "add", "-A"], cwd=clone, check=True)
    subprocess.run([*git, "commit", "-qm", "All"], cwd=clone, check=True)
    done = release()
    assert done.returncode == 0, done.stderr
    assert "Nothing was uploaded" in done.stdout
    assert {path.suffix for path in (clone / "dist").iterdir()} == {".whl", ".gz"}
