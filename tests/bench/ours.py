"""Work for `make bench` with pinui, as `peer` does it without. Prints the seconds and the CPU seconds that it took."""

from __future__ import annotations

import asyncio
import json
import sys

from pinui import Client
from tests.bench.peer import DOCUMENT, at_once, measured
from tests.memory import peak_kib


async def upload(url: str, token: str, path: str) -> None:
    """A file or a folder, with the CID predicted."""
    async with await Client.init(provider_token=token, pin_api_url=url) as client:
        with measured():
            await client.upload(path)


async def download(api: str, gateway: str, token: str, verify: str, cid: str, path: str) -> None:
    """A file, verified or not."""
    settings = {"provider_token": token, "pin_api_url": api, "gateway_url": gateway, "verify": verify}
    async with await Client.init(**settings) as client:  # type: ignore[arg-type]
        with measured():
            await client.download(cid, to=path)


async def memory(api: str, gateway: str, token: str, work: str, source: str, target: str) -> None:
    """The KiB that a large file costs over a small one, up or down."""
    settings = {"provider_token": token, "pin_api_url": api, "gateway_url": gateway}
    if work == "upload in pieces":
        settings["dialect"] = "pinata-v3"
    async with await Client.init(**settings) as client:  # type: ignore[arg-type]
        small = (await client.upload(b"small")).cid
        await client.download(small, to=target)
        before = peak_kib()
        cid = source
        if work == "verified download":
            await client.download(cid, to=target)
        else:
            cid = (await client.upload(source)).cid
        print(json.dumps({"cid": cid, "kib": peak_kib() - before}))


async def stores(url: str, lanes: str, count: str) -> None:
    """Small documents."""
    async with await Client.init(provider_token="t", pin_api_url=url) as client:
        await at_once(int(lanes), int(count), lambda: client.store(DOCUMENT))


if __name__ == "__main__":
    asyncio.run(globals()[sys.argv[1]](*sys.argv[2:]))
