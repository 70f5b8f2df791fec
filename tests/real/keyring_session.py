"""A session bus and a keyring of the test's own: real programs, private folders, nothing outlives it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType

import pytest

PATIENCE = 60
NEEDED = ("dbus-daemon", "gnome-keyring-daemon")

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  {services}
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


def need_keyring_programs() -> None:
    """Skip where there is nothing to test with."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        pytest.skip(f"needs {' and '.join(missing)} (Debian: apt install gnome-keyring dbus-daemon)")


class KeyringSession:
    """A bus; `start_keyring` adds the Secret Service. `environment` is what a program needs to find them."""

    def __init__(self, folder: Path, *, services: str = "") -> None:
        self.folder = folder
        self.socket = folder / "bus"
        private = {"HOME": "home", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "cfg", "XDG_CACHE_HOME": "cache"}
        private["XDG_RUNTIME_DIR"] = "run"
        hidden = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "PYTHON_KEYRING_BACKEND", "GNOME_KEYRING")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        for name, part in private.items():
            (folder / part).mkdir(mode=0o700)
            self.environment[name] = str(folder / part)
        self.environment["PINUI_HOME"] = str(folder / "pinui")
        self._services = services
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> KeyringSession:
        config = self.folder / "bus.conf"
        config.write_text(BUS.format(socket=self.socket, services=self._services))
        # The bus prints its address once it listens; its socket file appears a moment before, and refuses.
        bus = self._run(["dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile", "--print-address"])
        assert bus.stdout is not None
        assert bus.stdout.readline(), f"the bus did not start: exit {bus.wait(PATIENCE)}"
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={self.socket}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            self.stop(process)

    def start_keyring(self, *, unlocked: bool = True) -> subprocess.Popen[bytes]:
        """Start the daemon; unlocked means with its password, which makes a keyring if there is none."""
        how = ["--unlock"] if unlocked else ["--start"]
        process = self._run(["gnome-keyring-daemon", *how, "--foreground", "--components=secrets"])
        assert process.stdin is not None
        process.stdin.write(b"a password")
        process.stdin.close()
        deadline = time.monotonic() + PATIENCE
        while not self._has_service():
            assert time.monotonic() < deadline, f"no Secret Service after {PATIENCE} seconds"
            time.sleep(0.01)  # between two looks: the daemon can't tell us
        return process

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """End one of our own processes."""
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(PATIENCE)
        self._processes.remove(process)

    def _has_service(self) -> bool:
        from jeepney import DBusAddress, new_method_call
        from jeepney.io.blocking import open_dbus_connection

        with open_dbus_connection(bus=f"unix:path={self.socket}") as connection:
            bus = DBusAddress("/", "org.freedesktop.DBus", "org.freedesktop.DBus")
            ask = new_method_call(bus, "NameHasOwner", "s", ("org.freedesktop.secrets",))
            return bool(connection.send_and_get_reply(ask).body[0])

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            command,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._processes.append(process)
        return process
