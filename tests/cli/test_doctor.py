"""`pinui doctor`: one line for each check, with the next step, and no secrets."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pinui.testing import PinningNode
from tests.cli.conftest import Open, Run
from tests.servers import serve

CANARY = "canary-token-0123456789"


Examine = Callable[..., dict[str, dict[str, Any]]]


@pytest.fixture
def examine(run: Run) -> Examine:
    def examine(*arguments: str, code: int = 0, **environment: str) -> dict[str, dict[str, Any]]:
        ran = run(*arguments, "--json", "doctor", **environment)
        assert ran.code == code, ran.out + ran.err
        assert CANARY not in ran.out + ran.err
        return {check["check"]: check for check in map(json.loads, ran.out.splitlines())}

    return examine


def test_a_fresh_home_is_well(run: Run) -> None:
    ran = run("doctor")
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split(maxsplit=2) for line in ran.out.splitlines()]
    expected = "python terminal clipboard proxies home disk node keyring config profiles token api gateway"
    assert [line[1] for line in lines] == expected.split()
    assert not any(line[0] == "problem" for line in lines)
    assert "PINUI_TOKEN" in next(line[2] for line in lines if line[1] == "keyring"), "what to do without a keyring"


def test_a_broken_config_is_told_and_the_rest_is_checked(examine: Examine, own_home: Path) -> None:
    own_home.mkdir(mode=0o700)
    (own_home / "config.toml").write_text("profile = [")
    checks = examine(code=1)
    assert checks["config"]["verdict"] == "problem"
    assert "config.toml" in checks["config"]["finding"]
    assert "not checked" in checks["service"]["finding"]
    assert checks["disk"]["verdict"] == "ok"


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_a_home_that_others_can_read_is_noted(examine: Examine, own_home: Path) -> None:
    own_home.mkdir(mode=0o755)
    home = examine()["home"]
    assert home["verdict"] == "note"
    assert "chmod" in home["advice"]


def test_another_program_on_the_port_of_the_node_is_noted(examine: Examine, own_home: Path) -> None:
    (own_home / "node").mkdir(mode=0o700, parents=True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there: the connection is refused
        (own_home / "node" / "port").write_text(str(taken.getsockname()[1]))
        node = examine()["node"]
    assert node["verdict"] == "note"
    assert "Another program" in node["finding"]


def test_another_pinui_on_the_port_of_the_node_is_fine(
    examine: Examine, own_home: Path, pinning_node: PinningNode
) -> None:
    (own_home / "node").mkdir(mode=0o700, parents=True)
    (own_home / "node" / "port").write_text(pinning_node.api_url.rpartition(":")[2])
    assert "Another pinui" in examine()["node"]["finding"]


def test_a_good_service_is_well(examine: Examine, pinning_node: PinningNode) -> None:
    checks = examine(
        PINUI_API_URL=pinning_node.api_url,
        PINUI_GATEWAY_URL=pinning_node.gateway_url,
        PINUI_TOKEN=pinning_node.token,
        HTTPS_PROXY=f"http://me:{CANARY}@proxy.invalid:3128",
    )
    assert {checks[name]["verdict"] for name in ("token", "api", "gateway", "clock")} == {"ok"}
    assert "environment" in checks["token"]["finding"]
    assert "proxy.invalid" in checks["proxies"]["finding"]


def test_a_refused_token_is_a_problem_with_a_next_step(examine: Examine, pinning_node: PinningNode) -> None:
    checks = examine(
        code=1, PINUI_API_URL=pinning_node.api_url, PINUI_GATEWAY_URL=pinning_node.gateway_url, PINUI_TOKEN=CANARY
    )
    assert checks["api"]["verdict"] == "problem"
    assert checks["gateway"]["verdict"] == "ok"


async def test_a_clock_that_is_wrong_and_a_gateway_that_lies_are_told(examine: Examine) -> None:
    async def handler(request: web.Request) -> web.Response:
        headers = {"Date": formatdate(1_700_000_000, usegmt=True)}
        if request.path.startswith("/ipfs"):
            headers["Content-Type"] = "application/vnd.ipld.raw"
            return web.Response(body=b"something else", headers=headers)
        return web.json_response({"message": "ok"}, headers=headers)

    async with serve(handler) as (url, _seen):
        environment = {"PINUI_API_URL": url, "PINUI_GATEWAY_URL": f"{url}/ipfs", "PINUI_TOKEN": CANARY}
        checks = await asyncio.to_thread(lambda: examine(code=1, **environment))
    assert checks["api"]["verdict"] == "ok"
    assert checks["clock"]["verdict"] == "note"
    assert checks["gateway"]["verdict"] == "problem"


@pytest.mark.parametrize(
    ("variables", "finding"),
    [
        ({"TERM": "xterm-256color"}, "256 colours"),
        pytest.param({"TERM": "xterm", "COLORTERM": ""}, "16 colours", marks=pytest.mark.slow),
        pytest.param({"COLORTERM": "truecolor"}, "all colours", marks=pytest.mark.slow),
        ({"COLORTERM": "truecolor", "NO_COLOR": "1"}, "no colours (NO_COLOR is set)"),
    ],
)
def test_a_terminal_is_told_with_its_colours(terminal: Open, variables: dict[str, str], finding: str) -> None:
    shown = terminal("doctor", **{"COLORTERM": "", **variables})
    assert shown.end() == 0
    assert finding in shown.text
