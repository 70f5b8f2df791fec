"""Many clients at once: each has its answers, none an error."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pinui import Client, ClientConfig


async def use(client: Client, name: str, until: float) -> int:
    """Store, read, upload, download and revoke, again and again; how often."""
    rounds = 0
    while time.monotonic() < until:
        document = {"of": name, "round": rounds}
        record = await client.store(document)
        assert await client.retrieve(record.cid) == document
        file = await client.upload(f"{name} {rounds} ".encode() * 1000)
        assert (await client.download(file.cid)).data == f"{name} {rounds} ".encode() * 1000
        assert await client.test_connection()
        assert await client.revoke(record.cid)
        rounds += 1
    return rounds


@pytest.mark.parametrize(("clients", "seconds"), [(20, 2), pytest.param(200, 30, marks=pytest.mark.slow)])
async def test_two_hundred_clients_for_thirty_seconds_see_no_error(tmp_path: Path, clients: int, seconds: int) -> None:
    command = [sys.executable, "-m", "pinui", "--json", "node", "--data", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        facts = json.loads(process.stdout.readline())
        config = ClientConfig(
            provider_token=facts["token"],
            pin_api_url=facts["api_url"],
            gateway_url=facts["gateway_url"],
            retries=0,
        )
        until = time.monotonic() + seconds
        opened = [await Client.init(config) for _ in range(clients)]
        try:
            rounds = await asyncio.gather(*(use(client, str(number), until) for number, client in enumerate(opened)))
        finally:
            for client in opened:
                await client.aclose()
            process.kill()
    assert all(rounds)
