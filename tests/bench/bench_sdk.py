"""Files up and down through the SDK, beside curl and plain httpx: time and peak memory."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.bench.measure import Measured, best, null_server, table

SIZE = int(os.environ.get("PINUI_BENCH_MIB", "1024")) * 1024 * 1024
CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"

OURS_UP = """
import asyncio, sys
from pinui import Client
async def main(url, path):
    settings = dict(provider_token="t", pin_api_url=url, gateway_url=url + "/ipfs", verify="off")
    async with await Client.init(**settings) as client:
        if path: await client.upload(path)
        else: await client.store(1)
asyncio.run(main(*sys.argv[1:]))
"""
OURS_DOWN = """
import asyncio, sys
from pinui import Client
async def main(url, path):
    settings = dict(provider_token="t", pin_api_url=url, gateway_url=url + "/ipfs", verify="off")
    async with await Client.init(**settings) as client:
        await client.download("CID", to=path)
asyncio.run(main(*sys.argv[1:]))
""".replace("CID", CID)
HTTPX_UP = """
import asyncio, sys, httpx
async def main(url, path):
    async with httpx.AsyncClient(timeout=None) as client:
        with open(path, "rb") as file:
            (await client.post(url + "/pinning/pinFileToIPFS", files={"file": file})).raise_for_status()
asyncio.run(main(*sys.argv[1:]))
"""
HTTPX_DOWN = """
import asyncio, sys, httpx
async def main(url, path):
    async with httpx.AsyncClient(timeout=None) as client:
        async with client.stream("GET", url + "/ipfs/x") as reply:
            with open(path, "wb") as file:
                async for chunk in reply.aiter_bytes():
                    file.write(chunk)
asyncio.run(main(*sys.argv[1:]))
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        payload = Path(folder) / "payload.bin"
        with payload.open("wb") as file:
            block = os.urandom(1024 * 1024)
            for _ in range(SIZE // len(block)):
                file.write(block)
        out = Path(folder) / "out.bin"
        with null_server(payload) as url:
            start = best([sys.executable, "-c", OURS_UP, url, ""])
            programs = {
                "up": {
                    "curl": ["curl", "-sSf", "-H", "Expect:", "-F", f"file=@{payload}", f"{url}/pinning/pinFileToIPFS"],
                    "httpx": [sys.executable, "-c", HTTPX_UP, url, str(payload)],
                    "pinui": [sys.executable, "-c", OURS_UP, url, str(payload)],
                },
                "down": {
                    "curl": ["curl", "-sSf", "-o", str(out), f"{url}/ipfs/{CID}"],
                    "httpx": [sys.executable, "-c", HTTPX_DOWN, url, str(out)],
                    "pinui": [sys.executable, "-c", OURS_DOWN, url, str(out)],
                },
            }
            for direction, commands in programs.items():
                if shutil.which("curl") is None:
                    commands.pop("curl")
                results = {name: best(command) for name, command in commands.items()}
                show(direction, results, start)


def show(direction: str, results: dict[str, Measured], start: Measured) -> None:
    fastest = next(iter(results.values()))
    rows = [
        (
            name,
            f"{SIZE / one.seconds / 1e6:,.0f}",
            f"{fastest.seconds / one.seconds:.2f}",
            f"{one.peak_kib / 1024:,.0f}",
            f"{(one.peak_kib - start.peak_kib) / 1024:+,.0f}" if name == "pinui" else "",
        )
        for name, one in results.items()
    ]
    table((f"{SIZE >> 20} MiB {direction}", "MB/s", "ratio", "peak MiB", "over a small call"), rows)


if __name__ == "__main__":
    main()
