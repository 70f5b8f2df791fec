"""Kubo, the reference implementation of IPFS: a program of the machine, on a repository of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pinui.ipfs.importer import KUBO_V1, ImportProfile
from tests.real.daemon import Daemon

__all__ = ["BUILT", "Kubo", "KuboServer", "find_kubo"]

OLDEST = (0, 40)
# Where `make kubo` and `make cluster` put their programs, each under its version.
BUILT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pinui"
# Read before a test's own environment, which has nothing of pinui's, takes over.
NAMED = os.environ.get("PINUI_TEST_KUBO")


def find_kubo() -> str:
    """The program; where there is none, the test is skipped."""
    found = NAMED or shutil.which("ipfs") or max(map(str, BUILT.glob("kubo-*/ipfs")), default=None)
    if found is None:
        pytest.skip("Kubo is not here: `make kubo` builds it (with Go), or name an `ipfs` in PINUI_TEST_KUBO")
    return found


@dataclass(frozen=True)
class KuboServer:
    """A running daemon of Kubo, on ports that it found free."""

    kubo: Kubo
    daemon: Daemon
    rpc_url: str
    gateway_url: str
    """With `/ipfs` at its end."""


class Kubo:
    """A repository; every call is `ipfs …` on it, without a network."""

    def __init__(self, program: str, repository: Path) -> None:
        self.program = program
        self.environment = os.environ | {"IPFS_PATH": str(repository), "IPFS_TELEMETRY": "off"}
        version = self("version", "--number").decode().strip()
        if tuple(int(part) for part in version.partition("-")[0].split(".")) < OLDEST:
            pytest.skip(f"Kubo {version} does not know the named profiles yet: `make kubo` builds one that does")
        self("init", "--profile=test")

    def use(self, profile: ImportProfile) -> tuple[str, ...]:
        """Import in the profile of that name from now on; what `add` needs besides."""
        name, *_ = profile.name.split(",")
        self("config", "profile", "apply", name)
        return ("--cid-version=1", "--raw-leaves") if profile is KUBO_V1 else ()

    def __call__(self, *arguments: str) -> bytes:
        """What a command writes to its output."""
        command = [self.program, "--offline", *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def add(self, path: Path, *options: str) -> str:
        """The CID of a file or folder, which the repository then holds unless `--only-hash` is given."""
        return self("add", "-Q", "-r", "-H", *options, str(path)).decode().strip()

    def configure(self, **settings: object) -> None:
        """Change settings; an underscore in a name stands for a dot."""
        for name, value in settings.items():
            self("config", "--json", name.replace("_", "."), json.dumps(value))

    def start(self, *options: str) -> KuboServer:
        """Start the daemon; `Daemon.stop` ends it."""
        daemon = Daemon([self.program, "daemon", *options], self.environment)
        rpc, gateway = (
            daemon.wait_for(rf"{name} server listening on /ip4/127\.0\.0\.1/tcp/(\d+)")
            for name in ("RPC API", "Gateway")
        )
        daemon.wait_for("Daemon is ready")
        return KuboServer(self, daemon, f"http://127.0.0.1:{rpc}", f"http://127.0.0.1:{gateway}/ipfs")

    @contextmanager
    def serving(self, *options: str) -> Iterator[KuboServer]:
        """The daemon, while a test needs it."""
        server = self.start(*options)
        try:
            yield server
        finally:
            Daemon.stop(server.daemon)
