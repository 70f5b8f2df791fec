"""`pinui completion`: what a shell offers behind `pinui`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ASK = """
source ./pinui.bash
COMP_WORDS=({words} "") COMP_CWORD={place}
_shtab_pinui pinui "" "{before}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", {"store", "retrieve", "upload", "history"}),
        ("history", {"export", "import", "forget"}),
        ("history --kind", {"json", "file", "message"}),
        ("upload", {"cat.png", "notes"}),
        ("download --output", {"cat.png", "notes"}),
    ],
)
def test_bash_is_offered_what_may_come_next(call: Run, here: Path, typed: str, offered: set[str]) -> None:
    (here / "cat.png").touch()
    (here / "notes").mkdir()
    (here / "pinui.bash").write_text(call("completion", "bash").out)
    words = ["pinui", *typed.split()]
    script = ASK.format(words=" ".join(words), place=len(words), before=words[-1])
    ran = subprocess.run(["bash", "-c", script], cwd=here, capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    assert offered <= set(ran.stdout.split())


@pytest.mark.real
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_that_they_can_read(call: Run, here: Path, shell: str) -> None:
    script = here / "script"
    script.write_text(call("completion", shell).out)
    assert "forget" in script.read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here: install {shell} to see this test")
    subprocess.run([shell, "-n", str(script)], check=True)


def test_a_shell_that_is_not_known_is_wrong_usage(call: Run) -> None:
    ran = call("completion", "cmd")
    assert ran.code == 2
    assert "there is no “cmd” here, only bash, zsh, fish" in ran.err
