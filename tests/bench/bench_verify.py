"""What verification costs: a file from the node, verified and not, with peak memory; and the upload's prediction."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from statistics import median

from pinui import Client
from pinui.node import Node
from tests.bench.measure import Measured, run, table
from tests.servers import settings_of

SIZE = int(os.environ.get("PINUI_BENCH_MIB", "1024")) * 1024 * 1024

DOWN = """
import asyncio, sys
from pinui import Client
from tests.servers import settings_of
async def main(verify, cid, path, token, api, gateway):
    settings = dict(provider_token=token, pin_api_url=api, gateway_url=gateway, verify=verify)
    async with await Client.init(**settings) as client:
        await client.download(cid, to=path)
asyncio.run(main(*sys.argv[1:]))
"""


async def measure(folder: Path) -> dict[str, list[Measured]]:
    block = os.urandom(1024 * 1024)
    with (folder / "source").open("wb") as file:
        for _ in range(SIZE // len(block)):
            file.write(block)
    async with Node(folder / "node") as node:
        async with await Client.init(**settings_of(node)) as client:
            cid = (await client.upload(folder / "source")).cid
            small = (await client.upload(b"x")).cid
        seen: dict[str, list[Measured]] = {}
        runs = [("small", "try", small), ("unverified", "off", cid), ("verified", "try", cid)]
        # In turns, and each time in the other order: whatever the machine or the run before does to one, all get it.
        for turn in range(6):
            for name, verify, what in runs[:: 1 if turn % 2 else -1]:
                arguments = [verify, what, str(folder / "out"), node.token, node.api_url, node.gateway_url]
                (folder / "out").unlink(missing_ok=True)
                os.sync()  # nobody pays for writing out what the one before left in the system's memory
                one = await asyncio.to_thread(run, [sys.executable, "-c", DOWN, *arguments])
                seen.setdefault(name, []).append(one)
    return seen


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        seen = asyncio.run(measure(Path(folder)))
    base = min(one.peak_kib for one in seen["small"])
    rows: list[tuple[str, ...]] = []
    for name in ("unverified", "verified"):
        seconds, peak = median(one.seconds for one in seen[name]), max(one.peak_kib for one in seen[name])
        # Of each turn by itself: a machine that others use is slow for minutes, and then for both.
        times = median(one.seconds / plain.seconds for one, plain in zip(seen[name], seen["unverified"], strict=True))
        rows.append((name, f"{seconds:.2f}", f"{times:.2f}", f"{peak / 1024:.0f}", f"{(peak - base) / 1024:+.0f}"))
    table(
        (f"{SIZE >> 20} MiB down from the node", "seconds", "times unverified", "peak MiB", "over a small call"), rows
    )


if __name__ == "__main__":
    main()
