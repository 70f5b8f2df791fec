"""The workspace's names are all there, and asking for one costs only that one."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pinui.workspace
import pinui.workspace.history


def test_every_public_name_is_there() -> None:
    for name in pinui.workspace.__all__:
        assert getattr(pinui.workspace, name) is not None
    for name in pinui.workspace.history.__all__:
        assert getattr(pinui.workspace.history, name) is not None


def test_another_name_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = pinui.workspace.Nothing
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = pinui.workspace.history.Nothing


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = "import sys, pinui.workspace; print([name for name in sys.modules if name.startswith('pinui.workspace.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
