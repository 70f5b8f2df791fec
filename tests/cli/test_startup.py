"""Each verb loads only the modules it needs, none of them Textual."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
import trustme

from tests.bench import bench_startup
from tests.cli.conftest import Run
from tests.servers import read_head, reply

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


async def test_a_verb_trusts_the_certificates_of_the_machine(run: Run, tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(reply("200 OK", b'{"message":"ok"}', "Connection: close"))
        await writer.drain()
        writer.close()

    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        variables = {
            "PINUI_API_URL": f"https://localhost:{server.sockets[0].getsockname()[1]}",
            "PINUI_TOKEN": "secret",
        }
        trusted = await asyncio.to_thread(run, "test", SSL_CERT_FILE=str(tmp_path / "ca.pem"), **variables)
        assert trusted.code == 0, trusted.err
        refused = await asyncio.to_thread(run, "test", **variables)
        assert (refused.code, "not trusted" in refused.err) == (1, True), refused.err


@pytest.mark.slow
def test_the_version_and_the_history_start_within_their_limits() -> None:
    for name, ratio in bench_startup.measure().items():
        assert ratio < bench_startup.LIMITS[name], name
