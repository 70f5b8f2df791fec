"""The servers that other tests talk to are real ones, and they work."""

from __future__ import annotations

import json

import aleph_cid
import httpx
import pytest

from tests.real.cluster import Cluster
from tests.real.daemon import eventually
from tests.real.kubo import KuboServer

pytestmark = pytest.mark.real


def test_a_file_that_a_cluster_takes_is_pinned_by_every_peer(cluster: Cluster) -> None:
    data = b"kept three times"
    with httpx.Client(trust_env=False, timeout=60) as http:
        added = http.post(f"{cluster.rest_url}/add", files={"file": ("three.txt", data)}).raise_for_status()
        cid = json.loads(added.text.splitlines()[-1])["cid"]
        assert cid == aleph_cid.compute_cid(data)

        def states() -> dict[str, str]:
            answer = http.get(f"{cluster.peers[-1].rest_url}/pins/{cid}").raise_for_status().json()
            return {peer["peername"]: peer["status"] for peer in answer["peer_map"].values()}

        everywhere = dict.fromkeys(("peer0", "peer1", "peer2"), "pinned")
        eventually(lambda: states() == everywhere, "a pin on three peers")
        for peer in cluster.peers:
            assert http.get(f"{peer.kubo.gateway_url}/{cid}").content == data


def test_kubo_answers_on_its_rpc_and_its_gateway(kubo_server: KuboServer) -> None:
    data = b"kept once"
    with httpx.Client(trust_env=False, timeout=60) as http:
        added = http.post(f"{kubo_server.rpc_url}/api/v0/add", files={"file": ("one.txt", data)}).raise_for_status()
        assert http.get(f"{kubo_server.gateway_url}/{added.json()['Hash']}").content == data
