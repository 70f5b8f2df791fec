"""What is loaded when: the version costs neither Textual nor httpx."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
sys.argv = ["pinui", *{arguments!r}]
from pinui.cli import main
try:
    main()
except SystemExit:
    pass
heavy = ("textual", "rich", "httpx", "aiohttp", "keyring")
print(*(name for name in heavy if name in sys.modules), file=sys.stderr)
"""


def test_the_version_loads_no_heavy_library() -> None:
    code = LOADED.format(arguments=["--version"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pinui ")
    assert done.stderr.strip() == ""
