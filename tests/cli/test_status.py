"""`pinui status`: which profiles pin a CID, and which gateways serve it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinui.node import Node
from tests.cli.conftest import Run

CANARY = "canary-token-that-nobody-may-see"
ABSENT = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"


@pytest.fixture
def work(call: Run, tmp_path: Path) -> Iterator[Node]:
    """A second service, and the profile `my-work` for it, without a token in any keyring."""
    node = Node(tmp_path / "work", token=CANARY)
    node.start()
    urls = ("--api-url", node.api_url, "--gateway-url", node.gateway_url)
    assert call("profile", "add", "my-work", *urls, stdin=f"{CANARY}\n").code == 0
    yield node
    node.stop()


def test_each_profile_is_asked_with_its_own_token_and_each_gateway_for_a_block(call: Run, work: Node) -> None:
    cid = call("store", '{"a":1}', "--name", "first").line
    own = {"PINUI_TOKEN": "not for this one", "PINUI_TOKEN_MY_WORK": CANARY}
    told = [line.split("\t") for line in call("status", cid, **own).out.splitlines()]
    assert [row[:2] for row in told[:2]] == [["local", "pinned"], ["my-work", "not pinned"]]
    assert [row[1] for row in told[2:]] == ["serves it", "doesn't have it"]
    assert told[3][0] == work.gateway_url

    call("--profile", "my-work", "store", '{"a":1}', **own)
    places = [json.loads(line) for line in call("--json", "status", f"ipfs://{cid}", **own).out.splitlines()]
    assert [(place["place"], place["state"]) for place in places] == [
        ("profile", "pinned"),
        ("profile", "pinned"),
        ("gateway", "serves"),
        ("gateway", "serves"),
    ]
    assert places[3]["profiles"] == ["my-work"]


def test_a_profile_that_can_not_be_asked_says_why_in_its_line(call: Run, work: Node) -> None:
    told = call("status", ABSENT, PINUI_TOKEN="meant for another service")
    assert told.code == 0
    local, mine, *gateways = [line.split("\t") for line in told.out.splitlines()]
    assert local[:2] == ["local", "not pinned"]
    assert mine[:2] == ["my-work", "unknown"]
    assert "no token" in mine[2]
    refused = call("copy", "--from", "local", "--to", "my-work", ABSENT, PINUI_TOKEN="meant for another service")
    assert refused.code == 1
    assert "Set PINUI_TOKEN_MY_WORK" in refused.err
    assert len(gateways) == 1, "its gateway is not known to work for it"
    wrong = call("status", ABSENT, PINUI_TOKEN_MY_WORK="wrong").out.splitlines()
    assert wrong[1].split("\t") == ["my-work", "unknown", "HTTP error 401."]
    assert wrong[3].split("\t")[:2] == [work.gateway_url, "doesn't have it"]
    assert CANARY not in told.out + told.err


def test_a_text_that_is_no_cid_is_refused(call: Run) -> None:
    assert call("status", "no-cid").code == 1
