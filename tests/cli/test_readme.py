"""The transcript in the README is what really happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def transcript() -> list[tuple[str, str]]:
    """The commands under “Verbs”, each with what the README shows after it."""
    section = README.read_text(encoding="utf-8").partition("\n## Verbs\n")[2].partition("\n## ")[0]
    block = section.partition("```console\n")[2].partition("```")[0]
    steps = re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    return [(command, shown) for command, shown in steps]


@pytest.mark.skipif(sys.platform == "win32", reason="the transcript is of a POSIX shell")
@pytest.mark.slow
def test_the_transcript_under_verbs_is_what_happens(environment: dict[str, str], tmp_path: Path) -> None:
    steps = transcript()
    assert len(steps) > 10
    mark = "=== next ==="
    script = "".join(f"{command}\necho '{mark}'\n" for command, _ in steps)
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    ran = subprocess.run(
        ["sh", "-c", f"exec 2>&1\n{script}"],
        env=environment | {"PATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    happened = ran.stdout.split(f"{mark}\n")
    for (command, shown), really in zip(steps, happened, strict=False):
        assert f"$ {command}\n{really}" == f"$ {command}\n{shown}"


def test_each_promise_names_tests_that_exist() -> None:
    text = README.read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| .+ \| (.+) \|$", text.partition("| Promise | Held by |\n|---|---|\n")[2].partition("\n\n")[0], re.M
    )
    assert len(rows) > 5
    assert all("::test_" in row for row in rows)
    named = set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text))
    sources = {(file, test): (README.parent / file).read_text(encoding="utf-8") for file, test in named}
    assert [
        name for name, source in sources.items() if (f"def {name[1]}(" if name[1] else "def test_") not in source
    ] == []


def test_each_link_leads_somewhere() -> None:
    text = README.read_text(encoding="utf-8")
    headings = {f"#{title.lower().replace(' ', '-')}" for title in re.findall(r"^#+ (.+)$", text, re.M)}
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert target in headings or (README.parent / target).exists(), target
