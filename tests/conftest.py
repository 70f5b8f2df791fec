"""What every test shares: nothing of the developer's own home, keyring, proxy or configuration is seen."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from pinui.sdk.reading import gateways
from tests.real.daemons import kubo_daemon

__all__ = ["kubo_daemon"]

settings.register_profile("pinui", deadline=None)
settings.load_profile("pinui")

# `nohup` and a script's `&` start the tests with these ignored; programs that the tests start would inherit that.
for name, usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL), ("SIGTERM", signal.SIG_DFL)):
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, name), usual)

OWN_SETTINGS = ("PINUI_", "SSL_CERT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NO_COLOR")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home for each test."""
    for name in list(os.environ):
        if name.upper().startswith(OWN_SETTINGS):
            monkeypatch.delenv(name)
    gateways.known.clear()  # a port may be another test's gateway now
    home = tmp_path / "pinui-home"
    monkeypatch.setenv("PINUI_HOME", str(home))
    return home
