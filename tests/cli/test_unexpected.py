"""An unexpected error in a verb: a sentence, a report in a file, exit code 1, and no token anywhere."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NoReturn

import pytest

from pinui.sdk.secret import Secret
from pinui.workspace import Workspace
from tests.cli.conftest import Run

CANARY = "canary-5f1e7c0ffee-of-a-token"


def refuse(*_arguments: object, **_settings: object) -> NoReturn:
    held = Secret(CANARY)
    raise KeyError(f"no header {held.reveal()} in {Path.home()}/notes")


def refuse_in_a_group(*_arguments: object, **_settings: object) -> NoReturn:
    raise BaseExceptionGroup(CANARY, [ValueError(CANARY), KeyboardInterrupt()])


@pytest.mark.parametrize("broken", [refuse, refuse_in_a_group])
@pytest.mark.parametrize("arguments", [["store", "1"], ["upload", "a.txt"], ["--debug", "store", "1"], ["info"]])
def test_an_unexpected_error_is_a_sentence_and_a_report(
    call: Run,
    here: Path,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    broken: object,
    arguments: list[str],
) -> None:
    (here / "a.txt").write_text("a")
    for name in ("store", "upload", "credential"):
        monkeypatch.setattr(Workspace, name, broken)
    ran = call(*arguments, PINUI_TOKEN=CANARY)
    assert (ran.code, ran.out) == (1, "")
    (report,) = (own_home / "crashes").iterdir()
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert str(report) in ran.err
    assert "unexpected error" in ran.err
    assert ("Traceback" in ran.err) is ("--debug" in arguments)
    text = report.read_text()
    assert "Traceback (most recent call last)" in text
    assert f"pinui {arguments[-2] if len(arguments) > 1 else 'info'}" in text
    assert f"{own_home.parent}/notes" not in text
    assert CANARY not in ran.err + text


def test_a_report_that_cant_be_saved_is_shown(call: Run, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_home.mkdir()
    (own_home / "crashes").write_text("a file is in the way")
    monkeypatch.setattr(Workspace, "store", refuse)
    ran = call("store", "1")
    assert ran.code == 1
    assert "could not be saved" in ran.err
    assert "Traceback (most recent call last)" in ran.err
    assert CANARY not in ran.err


def test_an_error_that_is_expected_leaves_no_report(call: Run, own_home: Path) -> None:
    assert call("retrieve", "QmNoCid").code == 1
    assert call("store", "@missing.json").code == 1
    assert not (own_home / "crashes").exists()
