"""Ten thousand small files as one transfer, written down and recorded, beside plain uploads one after another."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from pinui import Client
from pinui.workspace import Workspace
from tests.bench.measure import table
from tests.memory import peak_kib

FILES = int(os.environ.get("FILES", "10000"))
PLAIN = FILES // 5


async def plain(files: list[Path], settings: dict[str, str]) -> float:
    """Files a second, without ledger and history."""
    async with await Client.init(**settings) as client:  # type: ignore[arg-type]
        start = time.perf_counter()
        for file in files:
            await client.upload(file)
        return len(files) / (time.perf_counter() - start)


async def as_transfer(folder: Path) -> tuple[float, int]:
    """Files a second, and the memory that they took."""
    async with await Workspace.open() as workspace:
        await workspace.connect()
        before, start = peak_kib(), time.perf_counter()
        transfer = workspace.transfers.upload_all([folder], each=True)
        await workspace.transfers.join()
        assert (transfer.state, transfer.finished) == ("done", FILES), transfer.error
        return FILES / (time.perf_counter() - start), peak_kib() - before


def main() -> None:
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "small"
        folder.mkdir()
        files = [folder / f"{number}.bin" for number in range(FILES)]
        others = [Path(scratch) / f"{number}.bin" for number in range(PLAIN)]
        for file in files + others:
            file.write_bytes(os.urandom(1000))
        command = [sys.executable, "-m", "pinui", "node", "--json", "--data", f"{scratch}/node"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert server.stdout is not None
        try:
            told = json.loads(server.stdout.readline())
            settings = {"pin_api_url": told["api_url"], "gateway_url": told["gateway_url"]}
            os.environ |= {
                "PINUI_HOME": f"{scratch}/home",
                "PINUI_API_URL": told["api_url"],
                "PINUI_GATEWAY_URL": told["gateway_url"],
                "PINUI_TOKEN": told["token"],
            }
            one_by_one = asyncio.run(plain(others, settings | {"provider_token": told["token"]}))
            rate, kib = asyncio.run(as_transfer(folder))
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
    rows = [
        (f"{PLAIN:,} plain uploads, one after another", f"{one_by_one:,.0f}", "1.0", ""),
        (f"{FILES:,} files as one transfer", f"{rate:,.0f}", f"{rate / one_by_one:.1f}", f"{kib / 1024:.0f} MiB"),
    ]
    table(("small files", "a second", "times plain", "memory"), rows)
