"""Each verb loads only the modules it needs, none of them Textual."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.bench import bench_startup

LOADED = """
import sys
sys.modules["click"] = None  # users don't have it, so httpx leaves its own command line out
from pinui.cli import main
code = main(sys.argv[1:])
heavy = ("textual", "rich", "httpx", "aiohttp", "keyring", "asyncio", "tomlkit")
print(*(name for name in heavy if name in sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["--version"], set()),
        (["--help"], set()),
        (["history"], set()),
        (["history", "--filter", "x", "--json"], set()),
        (["profile", "list"], set()),
        (["store", "{}"], {"httpx", "aiohttp", "asyncio"}),
        (["info"], {"asyncio", "keyring"}),
        (["doctor"], {"asyncio", "keyring", "httpx", "aiohttp"}),
    ],
)
def test_a_verb_loads_only_what_it_needs(arguments: list[str], loaded: set[str]) -> None:
    ran = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True)
    assert set(ran.stderr.split()) == loaded


@pytest.mark.slow
def test_the_version_and_the_history_start_within_their_limits() -> None:
    for name, ratio in bench_startup.measure().items():
        assert ratio < bench_startup.LIMITS[name], name
