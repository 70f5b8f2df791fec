"""What every test shares: nothing of the developer's own home, keyring, proxy or configuration is seen."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from pinui.sdk import secret
from pinui.sdk.reading import gateways
from pinui.testing.plugin import pinning_node as pinning_node  # the plugin itself is off here: see pyproject.toml
from tests.real.cluster import Cluster, running_cluster
from tests.real.kubo import Kubo, KuboServer, find_kubo

settings.register_profile("pinui", deadline=None)
settings.load_profile("pinui")

# `nohup` and a script's `&` start the tests with these ignored; programs that the tests start would inherit that.
for name, usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL), ("SIGTERM", signal.SIG_DFL)):
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, name), usual)

OWN_SETTINGS = ("PINUI_", "SSL_CERT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NO_COLOR")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process run all tests of a server that is slow to start, so that it is started once.

    Three peers of Cluster take as much time as a hundred screens, so their tests are slow ones.
    """
    for item in items:
        used = getattr(item, "fixturenames", ())
        if server := next((name for name in ("cluster", "kubo_daemon") if name in used), None):
            item.add_marker(pytest.mark.xdist_group(server))
            if server == "cluster":
                item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home for each test."""
    for name in list(os.environ):
        if name.upper().startswith(OWN_SETTINGS):
            monkeypatch.delenv(name)
    gateways.known.clear()  # a port may be another test's gateway now
    # Hypothesis makes tokens of any words, of `127.0.0.1`, too: in later tests they would be masked.
    monkeypatch.setattr(secret, "_known", {**secret._known})  # pyright: ignore[reportPrivateUsage]
    home = tmp_path / "pinui-home"
    monkeypatch.setenv("PINUI_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def kubo_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KuboServer]:
    """A Kubo that knows nobody. Tests share it: each stores content of its own."""
    kubo = Kubo(find_kubo(), tmp_path_factory.mktemp("kubo"))
    kubo.configure(Routing_Type="none", Gateway_RetrievalTimeout="1s")
    with kubo.serving() as server:
        yield server


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three peers of IPFS Cluster, each with its Kubo. Tests share it: each stores content of its own."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster
