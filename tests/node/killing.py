"""A node that is killed again and again while it is written to, and a client that remembers what it was told."""

from __future__ import annotations

import contextlib
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
    """Each round: start, check everything that was ever acknowledged, write from three threads, kill -9.

    A slow disk acknowledges little before the kill: there are more rounds then, up to ten times as many, until
    `least` uploads have been acknowledged.
    """

    def __init__(self, folder: Path, rounds: int, seed: int, before: tuple[str, ...] = (), least: int = 0) -> None:
        self._folder = folder
        self._rounds = rounds
        self._least = least
        self._random = random.Random(seed)
        self._before = before
        self._pinned: dict[str, bytes] = {}
        self._unsure: set[str] = set()
        self._unpinned: set[str] = set()
        self._lock = threading.Lock()
        self.acknowledged = 0
        self.kills = 0

    def run(self) -> None:
        """All rounds and a last check."""
        for number in range(self._rounds * 10):
            if number >= self._rounds and self.acknowledged >= self._least:
                break
            with self._start() as process:
                if self._greeted(process):
                    with self._client() as api:
                        self._check(api)
                        self._write_until_killed(process, number)
                _kill(process)
            self.kills += 1
        with self._start(()) as process:
            assert self._greeted(process)
            with self._client() as api:
                self._check(api)
            _kill(process)

    def _start(self, before: tuple[str, ...] | None = None) -> subprocess.Popen[str]:
        prefix = self._before if before is None else before
        command = [*prefix, sys.executable, "-m", "pinui", "--json", "node", "--data", str(self._folder)]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
        )

    def _greeted(self, process: subprocess.Popen[str]) -> bool:
        """Whether the node came so far as to say where it listens; it may be killed while it cleans up."""
        assert process.stdout is not None
        line = process.stdout.readline()
        self._facts: dict[str, str] = json.loads(line) if line else {}
        return bool(line)

    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self._facts['token']}"}
        return httpx.Client(base_url=self._facts["api_url"], headers=headers, timeout=60, trust_env=False, verify=False)

    def _check(self, api: httpx.Client) -> None:
        rows = api.get("/data/pinList", params={"status": "pinned", "pageLimit": 1000}).json()["rows"]
        listed = {row["ipfs_pin_hash"] for row in rows}
        lost = self._pinned.keys() - listed - self._unsure
        assert not lost, f"acknowledged, but gone: {lost}"
        assert not self._unpinned & listed, "unpinned, but back"
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
        timer = threading.Timer(self._delay(), _kill, (process,))
        timer.start()
        for thread in threads:
            thread.join()
        if self._before:
            timer.cancel()
        timer.join()
        process.wait()

    def _delay(self) -> float:
        # With a prefix (strace) the kill comes from there, at a system call; this is for calls that never happen.
        return 5.0 if self._before else self._random.uniform(0.0, 0.4)

    def _write(self, name: str) -> None:
        own: list[str] = []
        try:
            with self._client() as api:
                for number in range(10_000):
                    data = f"{name}.{number} ".encode() + os.urandom(600_000 if number % 3 == 0 else 10)
                    answer = api.post("/pinning/pinFileToIPFS", files={"file": ("x", data)})
                    cid = answer.json()["IpfsHash"]
                    with self._lock:
                        self._pinned[cid] = data
                        self.acknowledged += 1
                    own.append(cid)
                    if len(own) > 3:  # so few pins a round that each check can read all of them
                        victim = own.pop(0)
                        with self._lock:
                            self._unsure.add(victim)
                        if api.delete(f"/pinning/unpin/{victim}").text == "OK":
                            with self._lock:
                                del self._pinned[victim]
                                self._unpinned.add(victim)
                                self._unsure.discard(victim)
        except httpx.TransportError:
            return  # killed


def _kill(process: subprocess.Popen[str]) -> None:
    """The whole group: a tracer that dies alone lets what it traced go on."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
