"""The node: small JSON uploads a second, megabytes a second up and down, beside curl to a server that does nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aiohttp

from tests.bench.measure import best, null_server, table

SIZE = 256 << 20
UPLOADS = 600


async def small_uploads(url: str, token: str, at_once: int) -> float:
    """Uploads a second of documents that are all different."""
    headers = {"Authorization": f"Bearer {token}"}
    numbers = iter(range(UPLOADS))
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=at_once)) as session:

        async def upload() -> None:
            for number in numbers:
                body = {"pinContent": {"number": number, "of": at_once, "text": "x" * 200}}
                async with session.post(f"{url}/pinning/pinJSONToIPFS", json=body) as answer:
                    answer.raise_for_status()
                    await answer.read()

        start = time.perf_counter()
        await asyncio.gather(*(upload() for _ in range(at_once)))
        return UPLOADS / (time.perf_counter() - start)


def synced_files(folder: Path) -> float:
    """Files a second that this disk can make durable one by one: what a small upload costs at least."""
    start = time.perf_counter()
    for number in range(200):
        fd = os.open(folder / f"{number}", os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"x" * 300)
        os.fsync(fd)
        os.close(fd)
    return 200 / (time.perf_counter() - start)


def main() -> None:
    if shutil.which("curl") is None:
        sys.exit("curl is not here: install curl to run this bench")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = folder / "data.bin"
        with open(path, "wb") as file:
            for _ in range(SIZE >> 20):
                file.write(os.urandom(1 << 20))
        start = time.perf_counter()
        with open(path, "rb") as file:
            hashlib.file_digest(file, "sha256")
        hashed = time.perf_counter() - start
        command = [sys.executable, "-m", "pinui", "--json", "node", "--data", str(folder / "node")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        try:
            facts = json.loads(process.stdout.readline())
            url, auth = facts["api_url"], f"Authorization: Bearer {facts['token']}"
            per_second = [asyncio.run(small_uploads(url, facts["token"], at_once)) for at_once in (1, 16)]
            curl = ["curl", "-sSf", "-o", "/dev/null", "-H", auth]
            form = ["-F", f"file=@{path}"]
            with null_server(path) as null:
                null_up = best([*curl, *form, f"{null}/pinning/pinFileToIPFS"], 2).seconds
                null_down = best([*curl, f"{null}/ipfs/x"], 2).seconds
            up = best([*curl, *form, f"{url}/pinning/pinFileToIPFS"], 1).seconds
            pinned = subprocess.run(["curl", "-sS", "-H", auth, f"{url}/data/pinList?pageLimit=1"], capture_output=True)
            cid = json.loads(pinned.stdout)["rows"][0]["ipfs_pin_hash"]
            down = best([*curl, f"{url}/ipfs/{cid}"]).seconds
            car = best([*curl, f"{url}/ipfs/{cid}?format=car"]).seconds
            with open(f"/proc/{process.pid}/status") as status:
                peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()
        disk = synced_files(folder)

        def rate(seconds: float) -> str:
            return f"{SIZE / seconds / 1e6:.0f}"

        table(
            ["256 MiB by curl", "node MB/s", "null server", "sha-256 alone", "of the hash limit"],
            [
                ["up", rate(up), rate(null_up), rate(hashed), f"{hashed / up:.2f}"],
                ["down", rate(down), rate(null_down), "", ""],
                ["down as CAR", rate(car), "", "", ""],
            ],
        )
        table(
            ["small JSON, durable", "uploads/s", "of synced files alone"],
            [
                ["one at a time", f"{per_second[0]:.0f}", f"{per_second[0] / disk:.2f}"],
                ["16 at once", f"{per_second[1]:.0f}", f"{per_second[1] / disk:.2f}"],
            ],
        )
        print(f"  peak memory of the node: {peak / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
