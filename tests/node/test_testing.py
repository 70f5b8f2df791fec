"""`pinui.testing`: the node as other people's tests use it."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest

from pinui import NetworkError, ProviderError
from pinui.sync import Client
from pinui.testing import PinningNode
from tests.node.conftest import PATIENCE


def test_the_fixture_is_an_empty_service(pinning_node: PinningNode) -> None:
    assert pinning_node.pins() == []
    with Client.init(**pinning_node.settings()) as client:
        record = client.store({"hello": "world"})
        client.upload(b"meow")
        client.revoke(record.cid)
        assert [pin.cid for pin in pinning_node.pins()] == [pin.cid for pin in client.pins()]
    assert [(line.method, line.status) for line in pinning_node.requests][:3] == [
        ("POST", 200),
        ("POST", 200),
        ("DELETE", 200),
    ]


def test_the_next_requests_fail_as_often_as_asked(pinning_node: PinningNode) -> None:
    pinning_node.fail_next(403, times=2)
    with Client.init(**pinning_node.settings(retries=0)) as client:
        for _ in range(2):
            with pytest.raises(ProviderError) as refused:
                client.store("x")
            assert (refused.value.status, refused.value.reason) == (403, "TEST_FAULT")
        assert pinning_node.pins() == []
        client.store("x")
    assert len(pinning_node.pins()) == 1


def test_a_fault_can_be_for_some_paths(pinning_node: PinningNode) -> None:
    pinning_node.fail_next(504, path="/ipfs/")
    with Client.init(**pinning_node.settings(retries=0)) as client:
        record = client.store("x")
        with pytest.raises(ProviderError):
            client.retrieve(record.cid)
        assert client.retrieve(record.cid) == "x"


def test_a_header_can_say_how_long_to_wait(pinning_node: PinningNode) -> None:
    pinning_node.fail_next(503, headers={"Retry-After": "7"})
    answer = httpx.get(f"{pinning_node.api_url}/v3/files/public", timeout=PATIENCE)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "7")
    assert answer.json()["error"]["code"] == 503, "the newer API has bodies of its own"


def test_an_answer_can_be_lost_after_the_work(pinning_node: PinningNode) -> None:
    pinning_node.lose_next()
    with Client.init(**pinning_node.settings(retries=0)) as client, pytest.raises(NetworkError):
        client.store("x")
    assert len(pinning_node.pins()) == 1


def test_a_rate_limit_begins_and_ends(pinning_node: PinningNode) -> None:
    headers = {"Authorization": f"Bearer {pinning_node.token}"}

    def status() -> int:
        url = f"{pinning_node.api_url}/data/testAuthentication"
        return httpx.get(url, headers=headers, timeout=PATIENCE).status_code

    pinning_node.rate_limit(2)
    assert [status() for _ in range(3)] == [200, 200, 429]
    pinning_node.fail_next(500, times=9)
    pinning_node.heal()
    assert status() == 200


def test_the_plugin_loads_nothing_heavy() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import pinui.testing.plugin; print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"pinui", "pinui.version", "pinui.testing", "pinui.testing.plugin"}
