"""IPFS Cluster: several peers of a program of the machine, each with a Kubo of its own, all on loopback.

Every server finds its own ports: they are read in its log, so two clusters never want the same one. One thing leaves
loopback: Cluster 1.1.6 looks for a router that would open ports, and no setting turns that off.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.real.daemon import Daemon, eventually
from tests.real.kubo import BUILT, Kubo, KuboServer, find_kubo

__all__ = ["Cluster", "Peer", "find_cluster", "running_cluster"]

PORT_0 = "/ip4/127.0.0.1/tcp/0"
ON_PORT = r"/ip4/127\.0\.0\.1/tcp/(\d+)"
SETTINGS = {
    "CLUSTER_SECRET": f"{7:064x}",
    "CLUSTER_LISTENMULTIADDRESS": PORT_0,  # by default it listens on every address of the machine
    "CLUSTER_RESTAPI_HTTPLISTENMULTIADDRESS": PORT_0,
    "CLUSTER_PINSVCAPI_HTTPLISTENMULTIADDRESS": PORT_0,
    "CLUSTER_IPFSPROXY_LISTENMULTIADDRESS": PORT_0,
    "CLUSTER_MDNSINTERVAL": "0s",
    "CLUSTER_MONITORPINGINTERVAL": "2s",
    # By these a peer chooses who keeps a pin. They are told to the others twice in that time.
    "CLUSTER_DISK_METRICTTL": "10s",
    "CLUSTER_TAGS_METRICTTL": "10s",
    "CLUSTER_CRDT_TRUSTEDPEERS": "*",
    "CLUSTER_IPFSHTTP_CONNECTSWARMSDELAY": "1s",
}


def find_cluster() -> str:
    """The program; where there is none, the test is skipped."""
    name = "ipfs-cluster-service"
    found = shutil.which(name) or max(map(str, BUILT.glob(f"cluster-*/{name}")), default=None)
    if found is None:
        pytest.skip("IPFS Cluster is not here: `make cluster` builds it (with Go)")
    return found


@dataclass(frozen=True)
class Peer:
    """One peer of a cluster, and the Kubo that keeps its pins."""

    name: str
    kubo: KuboServer
    daemon: Daemon
    address: str
    """Where other peers find it."""
    rest_url: str
    pinning_url: str
    """The Pinning Service API."""
    proxy_url: str
    """Kubo's RPC, with the cluster behind it."""

    @property
    def id(self) -> str:
        return self.address.rpartition("/")[2]


@dataclass(frozen=True)
class Cluster:
    """Peers that know each other."""

    peers: tuple[Peer, ...]

    @property
    def rest_url(self) -> str:
        return self.peers[0].rest_url

    @property
    def pinning_url(self) -> str:
        return self.peers[0].pinning_url

    @property
    def gateway_url(self) -> str:
        return self.peers[0].kubo.gateway_url


@contextmanager
def running_cluster(folder: Path, count: int = 3, **settings: str) -> Iterator[Cluster]:
    """A cluster of so many peers; settings are variables such as `CLUSTER_RESTAPI_BASICAUTHCREDENTIALS`."""
    program, ipfs = find_cluster(), find_kubo()
    with ExitStack() as stack:
        kubos: list[KuboServer] = []
        for number in range(count):
            kubo = Kubo(ipfs, folder / f"kubo{number}")
            kubo.configure(Routing_Type="none", Gateway_RetrievalTimeout="1s")
            kubos.append(kubo.start())
            stack.callback(Daemon.stop, kubos[-1].daemon)
        peers: list[Peer] = []
        stack.callback(lambda: Daemon.stop(*(peer.daemon for peer in peers)))
        for number, kubo in enumerate(kubos):
            known = [peer.address for peer in peers]  # with the first one alone, the others never find each other
            peers.append(start_peer(program, folder / f"cluster{number}", f"peer{number}", kubo, known, settings))
        cluster = Cluster(tuple(peers))
        eventually(lambda: everybody_is_known(cluster, settings), f"{count} peers")
        yield cluster


def start_peer(
    program: str, folder: Path, name: str, kubo: KuboServer, known: list[str], settings: dict[str, str]
) -> Peer:
    rpc = f"/ip4/127.0.0.1/tcp/{kubo.rpc_url.rpartition(':')[2]}"
    environment = os.environ | SETTINGS | {"IPFS_CLUSTER_PATH": str(folder), "CLUSTER_PEERNAME": name}
    environment |= {"CLUSTER_IPFSHTTP_NODEMULTIADDRESS": rpc, "CLUSTER_IPFSPROXY_NODEMULTIADDRESS": rpc} | settings
    subprocess.run([program, "init", "--consensus", "crdt"], env=environment, capture_output=True, check=True)
    daemon = Daemon([program, "daemon", *(["--bootstrap", ",".join(known)] if known else [])], environment)
    address = daemon.wait_for(r"/ip4/127\.0\.0\.1/tcp/\d+/p2p/\w+")
    ports = [daemon.wait_for(rf"{api}.*?: {ON_PORT}") for api in ("RESTAPI", "PINSVCAPI", "IPFS Proxy")]
    daemon.wait_for("IPFS Cluster is READY")
    return Peer(name, kubo, daemon, address, *(f"http://127.0.0.1:{port}" for port in ports))


def everybody_is_known(cluster: Cluster, settings: dict[str, str]) -> bool:
    """Whether each peer sees all of them, without an error, and can choose among them who keeps a pin."""
    user, _, password = settings.get("CLUSTER_RESTAPI_BASICAUTHCREDENTIALS", "").partition(":")
    with httpx.Client(auth=(user, password) if user else None, trust_env=False) as http:
        for peer in cluster.peers:
            answer = http.get(f"{peer.rest_url}/peers").raise_for_status()
            known = [json.loads(line) for line in answer.text.splitlines()]
            metrics = [http.get(f"{peer.rest_url}/monitor/metrics/{name}") for name in ("freespace", "tag:group")]
            told = [len(metric.raise_for_status().json() or ()) for metric in metrics]
            if min(len(known), *told) < len(cluster.peers) or any(other.get("error") for other in known):
                return False
    return True
