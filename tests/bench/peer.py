"""The peers of `make bench`: the same work without pinui. Prints the seconds and the CPU seconds that it took.

It runs in an environment of its own, in which pinui is not installed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

DOCUMENT = {"name": "a small document", "values": list(range(20))}
PIECE = 1 << 20


@contextmanager
def measured():
    seconds, cpu = time.perf_counter(), time.process_time()
    yield
    print(json.dumps({"seconds": time.perf_counter() - seconds, "cpu": time.process_time() - cpu}))


async def at_once(lanes: int, count: int, store: Callable[[], Awaitable[object]]) -> None:
    """Stores, so many at a time; connections are made before the clock starts."""
    await asyncio.gather(*(store() for _ in range(lanes)))

    async def lane() -> None:
        for _ in range(count // lanes):
            await store()

    with measured():
        await asyncio.gather(*(lane() for _ in range(lanes)))


async def upload(url: str, token: str, path: str) -> None:
    """A file by plain httpx."""
    import httpx

    async with httpx.AsyncClient(timeout=None, headers={"Authorization": f"Bearer {token}"}) as client:
        with open(path, "rb") as file, measured():
            (await client.post(f"{url}/pinning/pinFileToIPFS", files={"file": file})).raise_for_status()


async def stores(url: str, lanes: str, count: str) -> None:
    """Small documents by bare aiohttp."""
    import aiohttp

    body = {"pinContent": DOCUMENT, "pinMetadata": {"name": "x"}}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=int(lanes))) as session:

        async def store() -> None:
            async with session.post(f"{url}/pinning/pinJSONToIPFS", json=body) as answer:
                answer.raise_for_status()
                await answer.json()

        await at_once(int(lanes), int(count), store)


async def stores_in_threads(url: str, lanes: str, count: str) -> None:
    """Small documents by pinatapy, which knows threads only."""
    import pinatapy

    pinatapy.API_ENDPOINT = url + "/"
    client = pinatapy.PinataPy("key", "secret")
    with ThreadPoolExecutor(int(lanes)) as threads:
        list(threads.map(client.pin_json_to_ipfs, [DOCUMENT] * int(lanes)))
        with measured():
            list(threads.map(client.pin_json_to_ipfs, [DOCUMENT] * int(count)))


async def hash_files(folder: str, times: str) -> None:
    """SHA-256 of all files, so many times, on one thread."""
    with measured():
        for _ in range(int(times)):
            for path in sorted(Path(folder).iterdir()):
                with path.open("rb") as file:
                    hashlib.file_digest(file, "sha256")


async def hash_and_write(path: str, target: str) -> None:
    """Hash, write and sync a file, one after the other in one thread."""
    with measured():
        state = hashlib.sha256()
        with open(path, "rb", buffering=0) as file, open(target, "wb", buffering=0) as copy:
            while piece := file.read(PIECE):
                state.update(piece)
                copy.write(piece)
            os.fsync(copy.fileno())
    Path(target).unlink()


if __name__ == "__main__":
    asyncio.run(globals()[sys.argv[1]](*sys.argv[2:]))
