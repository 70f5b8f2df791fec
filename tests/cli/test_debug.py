"""`--debug`: each request with its method, address, status and time, and no secret."""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path

from tests.cli.conftest import Run, clean_environment
from tests.tui.terminal import Terminal

LINE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "


def test_a_verb_logs_its_requests_to_stderr(run: Run) -> None:
    for arguments in (["--debug", "store", "1"], ["store", "1", "--debug"]):
        ran = run(*arguments)
        assert re.fullmatch(r"Qm\w{44}", ran.line)
        assert re.search(LINE + r"POST http://127\.0\.0\.1:\d+/pinning/pinJSONToIPFS 200 in \d+ ms\n", ran.err)
    assert run("store", "1").err == ""


def test_a_token_is_in_no_line_of_it(call: Run) -> None:
    ran = call(*("--debug", "test"), PINUI_TOKEN="canary-token-0123456789", PINUI_API_URL="http://127.0.0.1:9")
    assert "GET http://127.0.0.1:9/data/testAuthentication: 127.0.0.1:9 could not be reached in" in ran.err
    assert "canary" not in ran.err


def test_the_workbench_logs_to_a_file_of_its_own(own_home: Path) -> None:
    environment = clean_environment(own_home)
    app = Terminal([sys.executable, "-m", "pinui", "--debug"], environment)
    try:
        app.shows("Welcome")
        app.press("\r")
        app.shows("Nothing")
        app.press("5")
        app.shows("Connection")
        app.press("t")
        app.shows("✓ Connected")
        app.press("q")
        assert app.exit_code() == 0
    finally:
        app.close()
    log = own_home / "debug.log"
    assert str(log).encode() in app.raw
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert re.search(LINE + r"GET http://127\.0\.0\.1:\d+/data/testAuthentication 200 in \d+ ms\n", log.read_text())
