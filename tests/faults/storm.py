"""A storm of operations through the chaos proxy. `make faults SEED=7 COUNT=500` replays one."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pinui import Client, ClientConfig, PinProvider, PinuiError, Timeouts
from pinui.node import Node
from pinui.sdk.transport.transport import Clock
from tests.faults.chaos import chaos_proxy

# A hang would be far longer than all limits of an operation together.
HANG = 120.0
LANES = 8


@dataclass
class Report:
    """What came of a storm."""

    succeeded: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])
    faults: Counter[str] = field(default_factory=Counter[str])
    broken: list[str] = field(default_factory=list[str])
    """What must not happen: wrong bytes, foreign exceptions, hangs, files left behind."""


async def no_wait(_seconds: float) -> None:
    await asyncio.sleep(0)


async def storm(seed: int, count: int) -> Report:
    """`count` operations in a few lanes, each lane with a proxy and a client of its own."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        async with Node(Path(folder) / "node") as node:
            lanes = [
                _lane(node, seed * 1000 + lane, count // LANES, Path(folder) / f"lane{lane}", report)
                for lane in range(LANES)
            ]
            await asyncio.gather(*lanes)
    return report


async def _lane(node: Node, seed: int, count: int, folder: Path, report: Report) -> None:
    folder.mkdir()
    chance = random.Random(seed)
    api = node.api_url
    async with chaos_proxy(api, seed) as chaos:
        gateway = node.gateway_url.replace(api, chaos.url)
        config = ClientConfig(
            provider_token=node.token,
            pin_api_url=chaos.url,
            gateway_url=gateway,
            retries=3,
            timeout=Timeouts(connect=2.0, idle=0.5, total=3.0),
        )
        async with Client(PinProvider(config, clock=Clock(sleep=no_wait))) as client:
            for number in range(count):
                kind = chance.choice(["json", "message", "file", "file", "large", "revoke", "test"])
                story = f"seed {seed}, operation {number} ({kind})"
                try:
                    async with asyncio.timeout(HANG):
                        wrong = await _operate(client, kind, chance, folder)
                except PinuiError as error:
                    report.errors[type(error).__name__] += 1
                except TimeoutError:
                    report.broken.append(f"{story}: hung, after {chaos.faults[-4:]}")
                except Exception as error:
                    report.broken.append(f"{story}: {error!r}, after {chaos.faults[-4:]}")
                else:
                    report.succeeded += 1
                    if wrong:
                        report.broken.append(f"{story}: {wrong}, after {chaos.faults[-4:]}")
                chaos.hang_up()
                for left in folder.iterdir():
                    report.broken.append(f"{story}: left {left.name}")
                    left.unlink()
            # The client must still be good for something when the weather is.
            chaos.healthy = True
            if not await _survived(client):
                report.broken.append(f"seed {seed}: the client did not survive")
        report.faults.update(chaos.faults)


async def _survived(client: Client) -> bool:
    """Whether the client still works. Its time limits are those of the storm, so a busy machine gets several tries."""
    for _ in range(20):
        with contextlib.suppress(PinuiError):
            return await client.retrieve((await client.store({"after": "the storm"})).cid) == {"after": "the storm"}
    return False


async def _operate(client: Client, kind: str, chance: random.Random, folder: Path) -> str | None:
    """One operation and its way back; says what was wrong with the result."""
    if kind == "test":
        return None if await client.test_connection() is True else "not True"
    if kind == "json":
        value = {"number": chance.random(), "list": [chance.randrange(100) for _ in range(chance.randrange(50))]}
        return None if await client.retrieve((await client.store(value)).cid) == value else "another document"
    if kind == "message":
        record = await client.send("alice", str(chance.random()))
        return None if await client.receive(record.cid) == record.data else "another message"
    if kind == "revoke":
        record = await client.store([chance.random()])
        return None if await client.revoke(record.cid) is True else "not True"
    data = chance.randbytes(chance.randrange(20_000) if kind == "file" else 1_300_000)
    record = await client.upload(data)
    path = await client.download(record.cid, to=folder / "out")
    same = path.read_bytes() == data
    path.unlink()
    return None if same else "other bytes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    wanted = parser.parse_args()
    report = asyncio.run(storm(wanted.seed, wanted.count))
    print(f"{report.succeeded} succeeded; errors: {dict(report.errors)}; faults: {dict(report.faults)}")
    for line in report.broken:
        print("BROKEN", line)
    raise SystemExit(bool(report.broken))


if __name__ == "__main__":
    main()
