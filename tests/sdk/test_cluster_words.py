"""What IPFS Cluster says of pins and peers, in situations that a real one shows only for a moment."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from pinui import Client, ClientConfig, ClusterProvider
from pinui.sdk.transport.transport import Clock
from tests.servers import serve

CID = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"


async def no_wait(_seconds: float) -> None:
    """Time that takes none."""


def on(url: str, **settings: Any) -> Client:
    config = ClientConfig(provider="cluster", pin_api_url=url, **settings)
    return Client(ClusterProvider(config, clock=Clock(sleep=no_wait)))


def told(states: dict[str, str], allocations: list[str] | None = None, **more: Any) -> dict[str, Any]:
    peers = {
        peer: {"peername": peer, "status": state, "error": "ouch" if "error" in state else ""}
        for peer, state in states.items()
    }
    return {
        "cid": CID,
        "name": "n",
        "created": "2026-01-02T03:04:05Z",
        "peer_map": peers,
        "allocations": allocations,
    } | more


@pytest.mark.parametrize(
    ("states", "status"),
    [
        ({"a": "pinned", "b": "pinned"}, "pinned"),
        ({"a": "pinned", "b": "remote"}, "pinned"),
        ({"a": "pinned", "b": "cluster_error"}, "pinned"),
        ({"a": "pinned", "b": "pinning"}, "pinning"),
        ({"a": "pinned", "b": "pin_queued"}, "pinning"),
        ({"a": "pinned", "b": "unpinned"}, "pinning"),
        ({"a": "pinned", "b": "pin_error"}, "pinning"),
        ({"a": "pinned", "b": "unexpectedly_unpinned"}, "pinning"),
        ({"a": "pin_queued", "b": "unpinned"}, "queued"),
        ({"a": "pin_error", "b": "pin_error"}, "failed"),
        ({"a": "remote", "b": "cluster_error"}, "failed"),
        ({"a": "pinned", "b": "a word of tomorrow"}, "pinning"),
        ({"a": "unpinning", "b": "unpinned"}, None),
        ({"a": "unpin_error", "b": "cluster_error"}, None),
        ({}, None),
    ],
)
async def test_the_states_at_the_peers_are_one_status(states: dict[str, str], status: str | None) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text=json.dumps(told(states)) + "\n")

    async with serve(answer) as (url, _seen), on(url) as client:
        assert [pin.status async for pin in client.pins()] == ([] if status is None else [status])


async def test_a_peer_that_left_is_still_told() -> None:
    async def answer(request: web.Request) -> web.Response:
        if "allocations" in request.path:
            return web.json_response({"cid": CID, "name": "the name", "timestamp": "2026-01-02T03:04:05Z"})
        return web.json_response(told({"a": "pinned", "c": "cluster_error"}, ["a", "b", "c"], name="", created=None))

    async with serve(answer) as (url, _seen), on(url) as client:
        peers = await client.status(CID)
        assert [(peer.name, peer.state) for peer in peers] == [
            ("a", "pinned"),
            ("b", "unreachable"),
            ("c", "unreachable"),
        ]
        assert [peer.error for peer in peers] == [None, "It left the cluster.", "ouch"]
        (pin,) = [pin async for pin in client.pins(cid=CID)]
        assert (pin.name, pin.created, pin.status) == ("the name", 1_767_323_045_000, "pinned")


@pytest.mark.parametrize("has_alerts", [True, False])
async def test_a_peer_that_was_forgotten_is_known_from_the_alerts(has_alerts: bool) -> None:
    alert = {"name": "ping", "peer": "b", "value": '{"peer_name":"studio"}', "triggered_at": "2026-01-02T03:04:05.6Z"}
    back = {**alert, "peer": "a", "triggered_at": "2026-01-01T00:00:00Z"}
    strange: list[Any] = [
        5,
        {},
        {"name": "ping", "peer": "c", "value": "{"},
        {**alert, "name": "freespace", "peer": "d"},
    ]

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/health/alerts":
            return web.json_response([alert, back, *strange]) if has_alerts else web.Response(status=404)
        if "allocations" in request.path:
            return web.json_response({"cid": CID, "name": "n"})
        return web.Response(text=json.dumps(told({"a": "pinned"}, [])) + "\n")

    async with serve(answer) as (url, _seen), on(url) as client:
        peers = {peer.name: (peer.state, peer.error) for peer in await client.status(CID)}
        copies = await client.copies([CID])
    if has_alerts:
        since = "It has not answered since 2026-01-02 03:04 UTC."
        assert peers == {
            "a": ("pinned", None),
            "studio": ("unreachable", since),
            "c": ("unreachable", "It left the cluster."),
        }
        assert copies == {CID: (1, 3)}
    else:
        assert (peers, copies) == ({"a": ("pinned", None)}, {CID: (1, 1)})


async def test_an_account_without_pins_is_empty_and_strange_lines_are_left_out() -> None:
    lines = [b""]

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=204) if not lines[0] else web.Response(body=lines[0])

    async with serve(answer) as (url, _seen), on(url) as client:
        assert [pin async for pin in client.pins()] == []
        assert (await client.totals()).pins == 0
        strange = [{"cid": None}, {"cid": CID, "peer_map": []}, {"cid": "two words"}, told({"a": "pinned"}, name=5)]
        lines[0] = b"\n".join(json.dumps(line).encode() for line in [*strange, {"cid": CID, "peer_map": {"a": 5}}])
        assert [(pin.cid, pin.name) async for pin in client.pins()] == [(CID, None)]
