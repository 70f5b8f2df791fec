"""A node that is killed again and again while it is written to, and a client that remembers what it was told."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx

__all__ = ["KillLoop"]


class KillLoop:
    """Each round: start, check everything that was ever acknowledged, write from three threads, kill -9."""

    def __init__(self, folder: Path, rounds: int, seed: int, before: tuple[str, ...] = ()) -> None:
        self._folder = folder
        self._rounds = rounds
        self._random = random.Random(seed)
        self._before = before
        self._pinned: dict[str, bytes] = {}
        self._unsure: set[str] = set()
        self._lock = threading.Lock()
        self.acknowledged = 0

    def run(self) -> None:
        """All rounds and a last check."""
        for number in range(self._rounds):
            with self._start() as process:
                with self._client(process) as api:
                    self._check(api)
                    self._write_until_killed(process, number)
                process.kill()
        with self._start(()) as process, self._client(process) as api:
            self._check(api)
            process.kill()

    def _start(self, before: tuple[str, ...] | None = None) -> subprocess.Popen[str]:
        prefix = self._before if before is None else before
        command = [*prefix, sys.executable, "-m", "pinui", "--json", "node", "--data", str(self._folder)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def _client(self, process: subprocess.Popen[str]) -> httpx.Client:
        assert process.stdout is not None
        facts = json.loads(process.stdout.readline())
        self._facts = facts
        headers = {"Authorization": f"Bearer {facts['token']}"}
        return httpx.Client(base_url=facts["api_url"], headers=headers, trust_env=False, verify=False)

    def _check(self, api: httpx.Client) -> None:
        rows = api.get("/data/pinList", params={"status": "pinned", "pageLimit": 1000}).json()["rows"]
        listed = {row["ipfs_pin_hash"] for row in rows}
        lost = self._pinned.keys() - listed - self._unsure
        assert not lost, f"acknowledged, but gone: {lost}"
        for cid in listed:
            answer = api.get(f"/ipfs/{cid}")
            assert answer.status_code == 200
            if cid in self._pinned:
                assert answer.content == self._pinned[cid]
        cars = {path.name.partition(".")[0] for path in (self._folder / "pins").iterdir()}
        assert cars == listed
        drafts = [path.name for path in (self._folder / "drafts").iterdir()]
        assert len(drafts) == 1, "only the lock of the node that runs"
        self._unsure.clear()
        self._pinned = {cid: data for cid, data in self._pinned.items() if cid in listed}

    def _write_until_killed(self, process: subprocess.Popen[str], number: int) -> None:
        threads = [threading.Thread(target=self._write, args=(f"{number}.{n}",)) for n in range(3)]
        for thread in threads:
            thread.start()
        timer = threading.Timer(self._random.uniform(0.0, 0.4), process.send_signal, (signal.SIGKILL,))
        timer.start()
        for thread in threads:
            thread.join()
        timer.join()
        process.wait()

    def _write(self, name: str) -> None:
        headers = {"Authorization": f"Bearer {self._facts['token']}"}
        own: list[str] = []
        url = self._facts["api_url"]
        try:
            with httpx.Client(base_url=url, headers=headers, trust_env=False, verify=False) as api:
                for number in range(10_000):
                    data = f"{name}.{number} ".encode() + os.urandom(600_000 if number % 3 == 0 else 10)
                    answer = api.post("/pinning/pinFileToIPFS", files={"file": ("x", data)})
                    cid = answer.json()["IpfsHash"]
                    with self._lock:
                        self._pinned[cid] = data
                        self.acknowledged += 1
                    own.append(cid)
                    if number % 4 == 3:
                        victim = own.pop(0)
                        with self._lock:
                            self._unsure.add(victim)
                        if api.delete(f"/pinning/unpin/{victim}").text == "OK":
                            with self._lock:
                                del self._pinned[victim]
                                self._unsure.discard(victim)
        except httpx.TransportError:
            return  # killed
