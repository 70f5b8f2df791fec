"""`make release`: wheel and sdist of a version that the changelog tells of. It uploads nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from pinui.version import __version__

ROOT = Path(__file__).parents[1]
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def released(changelog: str) -> list[str]:
    """The versions that a changelog tells of, newest first; `## 1.2.0 – 2027-01-31` is a heading of one."""
    return [heading.split()[0] for heading in HEADING.findall(changelog) if heading != "Unreleased"]


def unready(changelog: str, version: str) -> str | None:
    """The reason why this version can't be released with this changelog, and what to do."""
    headings = HEADING.findall(changelog)
    if headings[:1] == ["Unreleased"]:
        return f"CHANGELOG.md begins with “Unreleased”: write “{version} – YEAR-MONTH-DAY” there, or the next version."
    if released(changelog)[:1] != [version]:
        return f"CHANGELOG.md begins with {headings[:1]}, and pinui/version.py says {version}: make them agree."
    if not re.fullmatch(rf"{re.escape(version)} – \d{{4}}-\d\d-\d\d", headings[0]):
        return f"The heading of the version in CHANGELOG.md has no date: write “{version} – YEAR-MONTH-DAY”."
    return None


def main() -> int:
    """Check, build, and say what is left to do."""
    changes = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    trouble = unready((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__)
    if trouble is None and changes.stdout:
        trouble = "There are changes that are not committed: commit them first."
    if trouble is not None:
        print(trouble)
        return 1
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--no-isolation", str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    for path in sorted((ROOT / "dist").iterdir()):
        print(path.relative_to(ROOT))
    print(f"""
Nothing was uploaded. To publish it:

  git tag -a v{__version__} -m "pinui {__version__}"
  git push origin v{__version__}
  uv publish dist/*""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
