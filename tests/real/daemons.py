"""Daemons that nobody here wrote, on loopback and in folders of their own: Kubo, as many as a test wants."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real.kubo import find_kubo

__all__ = ["KuboDaemon", "kubo_daemon", "run_kubo", "until"]


def until(is_true: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait for another process."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, f"{what} took longer than {seconds:.0f} s"
        time.sleep(0.05)


@dataclass(frozen=True)
class KuboDaemon:
    """A running Kubo."""

    program: str
    repository: Path
    api_url: str
    gateway_url: str
    process: subprocess.Popen[bytes]

    def __call__(self, *arguments: str) -> str:
        """What `ipfs …`, which asks the daemon, writes to its output."""
        return _ipfs(self.program, self.repository, *arguments)

    def stop(self) -> None:
        """Tell the daemon to end, as its owner would."""
        self.process.terminate()


@contextmanager
def run_kubo(
    folder: Path, *, profile: str | None = None, authorizations: dict[str, Any] | None = None
) -> Iterator[KuboDaemon]:
    """A daemon on free ports that talks to nobody; it gives up on content that it doesn't have after a second."""
    program = find_kubo()
    settings = {
        "Addresses": {"API": LOOPBACK, "Gateway": LOOPBACK, "Swarm": [LOOPBACK], "Announce": [], "NoAnnounce": []},
        "Routing.Type": "none",
        "Gateway.RetrievalTimeout": "1s",
    }
    _ipfs(program, folder, "init", "--profile=test")
    for name, value in settings.items():
        _ipfs(program, folder, "config", "--json", name, json.dumps(value))
    if profile is not None:
        _ipfs(program, folder, "config", "profile", "apply", profile)
    if authorizations is not None:
        _ipfs(program, folder, "config", "--json", "API.Authorizations", json.dumps(authorizations))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([program, "daemon"], env=_environment(folder), stdout=log, stderr=log)
    try:
        until(lambda: b"Daemon is ready" in (folder / "log").read_bytes() or process.poll() is not None, "Kubo's start")
        assert process.poll() is None, (folder / "log").read_text()
        api, gateway = _http((folder / "api").read_text()), (folder / "gateway").read_text().strip()
        yield KuboDaemon(program, folder, api, f"{gateway}/ipfs", process)
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="session")
def kubo_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KuboDaemon]:
    """One daemon for all tests that don't mind what others pinned there; skipped where there is no Kubo."""
    with run_kubo(tmp_path_factory.mktemp("kubo")) as daemon:
        yield daemon


LOOPBACK = "/ip4/127.0.0.1/tcp/0"


def _environment(repository: Path) -> dict[str, str]:
    return os.environ | {"IPFS_PATH": str(repository), "IPFS_TELEMETRY": "off"}


def _ipfs(program: str, repository: Path, *arguments: str) -> str:
    command = [program, *arguments]
    done = subprocess.run(command, env=_environment(repository), capture_output=True, timeout=120, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _http(address: str) -> str:
    """`/ip4/127.0.0.1/tcp/5001` as a URL."""
    _, _, host, _, port = address.strip().split("/")
    return f"http://{host}:{port}"
