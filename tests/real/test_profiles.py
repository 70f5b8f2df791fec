"""The program on daemons of other people: a profile for Kubo and one for IPFS Cluster, through the verbs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.real.cluster import Cluster
from tests.real.daemon import eventually
from tests.real.kubo import KuboServer

Verb = Callable[..., str]


@pytest.fixture
def verb(call: Run, kubo_daemon: KuboServer) -> Verb:
    """Run a verb on a machine where this Kubo runs."""

    def run(*arguments: str, stdin: str = "", code: int = 0) -> str:
        ran = call(*arguments, stdin=stdin, IPFS_PATH=kubo_daemon.kubo.environment["IPFS_PATH"])
        assert ran.code == code, ran.err
        return ran.out if code == 0 else ran.err

    return run


def test_a_kubo_that_runs_here_is_found_and_used_without_a_token(
    verb: Verb, kubo_daemon: KuboServer, tmp_path: Path
) -> None:
    added = json.loads(verb("profile", "add", "mine", "--provider", "kubo", "--json", stdin="\n"))
    assert (added["apiUrl"], added["gatewayUrl"]) == (kubo_daemon.rpc_url, kubo_daemon.gateway_url)
    verb("profile", "use", "mine")
    verb("test")
    (tmp_path / "letter.txt").write_text("Dear reader")
    cid = verb("upload", str(tmp_path / "letter.txt")).split("\t")[0]
    assert cid in kubo_daemon.kubo("pin", "ls", "-q", "--type=recursive").decode()
    assert verb("download", cid, "-o", "-") == "Dear reader"
    stored = verb("store", '{"city": "Oslo"}').strip()
    assert json.loads(verb("retrieve", stored)) == {"city": "Oslo"}
    assert stored in verb("pins")
    verb("revoke", stored, "--yes")
    assert stored not in verb("pins")


def test_a_daemon_that_asks_for_no_token_is_not_said_to_accept_one(
    verb: Verb, call: Run, kubo_daemon: KuboServer
) -> None:
    verb("profile", "add", "mine", "--provider", "kubo", stdin="\n")
    told = call("--profile", "mine", "doctor").out
    assert f"{kubo_daemon.rpc_url} answers (" in told
    assert "accepts the token" not in told


def test_cid_predicts_a_folder_as_the_profile_in_use_keeps_it(verb: Verb, tmp_path: Path) -> None:
    verb("profile", "add", "mine", "--provider", "kubo", stdin="\n")
    (tmp_path / "album" / "empty").mkdir(parents=True)
    (tmp_path / "album" / "a.txt").write_text("one")
    for profile in ("mine", "local"):
        predicted = verb("--profile", profile, "cid", str(tmp_path / "album")).split("\t")[0]
        assert verb("--profile", profile, "upload", str(tmp_path / "album")).split("\t")[0] == predicted
    kept = verb("--profile", "mine", "cid", str(tmp_path / "album"))
    assert kept.split("\t")[0] != predicted, "only Kubo keeps the empty folder"


@pytest.mark.slow  # Kubo looks for lost blocks for half a minute
def test_what_kubo_has_lost_is_copied_back_from_the_node(verb: Verb, kubo_daemon: KuboServer, tmp_path: Path) -> None:
    verb("profile", "add", "mine", "--provider", "kubo", stdin="\n")
    (tmp_path / "letter.txt").write_text("Dear forgetful daemon")
    cid = verb("--profile", "mine", "upload", str(tmp_path / "letter.txt")).split("\t")[0]
    assert verb("copy", "--from", "mine", "--to", "local", cid) == f"{cid}\tcopied\tletter.txt\n"
    for command in (("pin", "rm", cid), ("block", "rm", cid)):
        subprocess.run(
            [kubo_daemon.kubo.program, *command], env=kubo_daemon.kubo.environment, capture_output=True, check=True
        )
    repaired = verb("--profile", "mine", "verify", "--all", "--repair-from", "local")
    assert repaired == f"repaired\t{cid}\n"
    assert f"{cid} recursive letter.txt" in kubo_daemon.kubo("pin", "ls", "--names", "--type=recursive").decode()


def test_a_cluster_is_used_by_its_addresses(verb: Verb, cluster: Cluster, tmp_path: Path) -> None:
    gateway = cluster.peers[0].kubo.gateway_url
    address = ("--api-url", cluster.peers[0].rest_url, "--gateway-url", gateway)
    verb("profile", "add", "studio", "--provider", "cluster", *address, stdin="\n")
    (tmp_path / "letter.txt").write_text("Dear cluster")
    cid = verb("--profile", "studio", "upload", str(tmp_path / "letter.txt")).split("\t")[0]
    assert verb("--profile", "studio", "download", cid, "-o", "-") == "Dear cluster"


def test_status_names_the_peers_that_keep_a_pin_as_many_as_the_profile_asks_for(
    verb: Verb, cluster: Cluster, tmp_path: Path
) -> None:
    address = ("--api-url", cluster.peers[0].rest_url, "--gateway-url", cluster.peers[0].kubo.gateway_url)
    factors = ("--replication-min", "2", "--replication-max", "2")
    verb("profile", "add", "studio", "--provider", "cluster", *address, *factors, stdin="\n")
    (tmp_path / "letter.txt").write_text("Dear two of three peers")
    cid = verb("--profile", "studio", "upload", str(tmp_path / "letter.txt")).split("\t")[0]
    eventually(lambda: "studio\tpinned\ton 2/2 peers\n" in verb("status", cid), "two pinned copies")
    places = [json.loads(line) for line in verb("--json", "status", cid).splitlines()]
    peers = [place["peer"] for place in places if place["place"] == "peer"]
    assert len(peers) == 2
    assert set(peers) < {"peer0", "peer1", "peer2"}
    assert [place["state"] for place in places if place.get("url") == cluster.peers[0].kubo.gateway_url] == ["serves"]
    refused = verb("profile", "add", "other", "--provider", "kubo", "--replication-max", "2", stdin="\n", code=1)
    assert "--provider cluster" in refused


def test_a_daemon_that_does_not_run_is_told_with_how_to_start_it(verb: Verb) -> None:
    refused = verb(
        "profile", "add", "gone", "--provider", "kubo", "--api-url", "http://127.0.0.1:9", stdin="\n", code=1
    )
    assert "nothing was saved" in refused
    assert "ipfs daemon" in refused


def test_a_service_without_an_address_is_asked_for_one(verb: Verb) -> None:
    assert "--api-url" in verb("profile", "add", "other", "--provider", "psa", stdin="t\n", code=1)
