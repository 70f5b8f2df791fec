"""Clients that nobody here wrote, against the node: curl, and SDKs of the hosted service for JavaScript and Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import aleph_cid
import pytest

from pinui.node import Node

pytestmark = pytest.mark.real


@pytest.fixture
def curl(node: Node):
    if shutil.which("curl") is None:
        pytest.skip("curl is not here: install curl to see these tests")

    def curl(*arguments: str, code: int = 0) -> bytes:
        command = ["curl", "-sS", "--noproxy", "*", "-H", f"Authorization: Bearer {node.token}", *arguments]
        done = subprocess.run(command, capture_output=True, timeout=60)
        assert done.returncode == code, done.stderr
        return done.stdout

    return curl


def test_curl_pins_reads_and_unpins(node: Node, curl, tmp_path: Path) -> None:
    body = '{"pinataContent": {"a": 1}, "pinataMetadata": {"name": "x"}}'
    pinned = json.loads(curl(f"{node.api_url}/pinning/pinJSONToIPFS", "--json", body))
    assert curl(f"{node.gateway_url}/{pinned['IpfsHash']}") == b'{"a":1}'
    data = os.urandom(3_000_000)
    (tmp_path / "data.bin").write_bytes(data)
    form = ["-F", f"file=@{tmp_path / 'data.bin'}", "-F", 'pinataOptions={"cidVersion": 0}']
    pinned = json.loads(curl(f"{node.api_url}/pinning/pinFileToIPFS", *form))
    assert pinned["IpfsHash"] == aleph_cid.compute_cid(data)
    assert curl(f"{node.gateway_url}/{pinned['IpfsHash']}") == data
    assert curl("-r", "1000000-1000009", f"{node.gateway_url}/{pinned['IpfsHash']}") == data[1000000:1000010]
    assert curl("-X", "DELETE", f"{node.api_url}/pinning/unpin/{pinned['IpfsHash']}") == b"OK"
    assert b"does not have" in curl(f"{node.gateway_url}/{pinned['IpfsHash']}")


def test_curl_resumes_a_download(node: Node, curl, tmp_path: Path) -> None:
    data = os.urandom(1_000_000)
    (tmp_path / "data.bin").write_bytes(data)
    form = ["-F", f"file=@{tmp_path / 'data.bin'}"]
    cid = json.loads(curl(f"{node.api_url}/pinning/pinFileToIPFS", *form))["IpfsHash"]
    (tmp_path / "half").write_bytes(data[:400_000])
    curl("-C", "-", "-o", str(tmp_path / "half"), f"{node.gateway_url}/{cid}")
    assert (tmp_path / "half").read_bytes() == data


def test_curl_sends_a_folder(node: Node, curl, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    form: list[str] = []
    for name in ("a.txt", "sub/b.txt"):
        (folder / name).write_text(name)
        form += ["-F", f"file=@{folder / name};filename=folder/{name}"]
    cid = json.loads(curl(f"{node.api_url}/pinning/pinFileToIPFS", *form))["IpfsHash"]
    assert cid == aleph_cid.hash_folder(str(folder), cid_version=0)
    assert b"b.txt" in curl("-L", f"{node.gateway_url}/{cid}/sub")


def test_the_line_that_pinui_node_prints_works_when_pasted(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not here: install curl to see these tests")
    command = [sys.executable, "-m", "pinui", "node", "--data", str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        line = next(line for line in running.stdout if "curl " in line)
        pasted = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
        running.terminate()
        assert running.wait(60) == 0
    assert re.search(r'"IpfsHash": "Qm\w{44}"', pasted.stdout)


def raw_cid(data: bytes) -> str:
    hasher = aleph_cid.CidHasher.for_ipfs_v1_raw_leaves()
    hasher.update(data)
    return hasher.finalize()


def npm_project(folder: Path, *packages: str) -> Path:
    """A folder with these packages installed."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("Node.js is not here: install nodejs and npm to see this test")
    folder.mkdir()
    (folder / "package.json").write_text('{"name": "x", "private": true}')
    install = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *packages]
    installed = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=300)
    if installed.returncode:
        pytest.skip(f"npm could not install {packages[0]}: {installed.stderr.strip()[:200]}")
    return folder


READ_CAR = """
import { createReadStream } from "fs";
import { CarBlockIterator } from "@ipld/car";
import { sha256 } from "multiformats/hashes/sha2";
const car = await CarBlockIterator.fromIterable(createReadStream(process.argv[2]));
const roots = (await car.getRoots()).map(String);
let blocks = 0, wrong = 0;
for await (const { cid, bytes } of car) {
  blocks += 1;
  const digest = await sha256.digest(bytes);
  if (Buffer.compare(digest.bytes, cid.multihash.bytes)) wrong += 1;
}
console.log(JSON.stringify({ roots, blocks, wrong }));
"""


@pytest.mark.slow
def test_javascripts_reader_accepts_the_cars_of_pins(node: Node, curl, tmp_path: Path) -> None:
    project = npm_project(tmp_path / "project", "@ipld/car@5", "multiformats@13")
    (project / "read.mjs").write_text(READ_CAR)
    (tmp_path / "data.bin").write_bytes(os.urandom(1_000_000))
    form = ["-F", f"file=@{tmp_path / 'data.bin'};filename=d/data.bin", "-F", "file=@/dev/null;filename=d/empty"]
    cid = json.loads(curl(f"{node.api_url}/pinning/pinFileToIPFS", *form))["IpfsHash"]
    [pinned] = (node.data_dir / "pins").iterdir()
    served = tmp_path / "served.car"
    curl("-o", str(served), f"{node.gateway_url}/{cid}?format=car")
    for path in (pinned, served):
        done = subprocess.run(["node", "read.mjs", str(path)], cwd=project, capture_output=True, text=True, timeout=60)
        assert json.loads(done.stdout) == {"roots": [cid], "blocks": 7, "wrong": 0}, done.stderr


@pytest.mark.slow
def test_the_hosted_services_own_sdk_works_against_the_node(node: Node, tmp_path: Path) -> None:
    project = npm_project(tmp_path / "project", "pinata-web3@0.5.4")
    script = project / "script.mjs"
    script.write_bytes(Path(__file__).with_name("pinata_web3.mjs").read_bytes())
    command = ["node", str(script), node.api_url, node.token]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert "Congratulations" in str(seen["authentication"])
    assert seen["json"]["IpfsHash"] == raw_cid(b'{"hello":"world","number":1}')
    assert seen["file0"]["IpfsHash"] == "Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD"
    assert seen["file"]["IpfsHash"] == "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
    assert seen["folder"]["NumberOfFiles"] == 2
    assert {row["ipfs_pin_hash"] for row in seen["list"]} >= {seen["file"]["IpfsHash"], seen["json"]["IpfsHash"]}
    assert [row["ipfs_pin_hash"] for row in seen["named"]] == [seen["json"]["IpfsHash"]]
    assert seen["usage"] == 4
    assert seen["unpin"][0]["status"] == "OK"
    assert seen["json"]["IpfsHash"] not in {row["ipfs_pin_hash"] for row in seen["after"]}
    assert "401" in seen["refused"] or "Authentication" in seen["refused"]


@pytest.mark.slow
def test_the_hosted_services_current_sdk_works_against_the_node(node: Node, tmp_path: Path) -> None:
    project = npm_project(tmp_path / "project", "pinata@2.5.6")
    script = project / "script.mjs"
    script.write_bytes(Path(__file__).with_name("pinata.mjs").read_bytes())
    command = ["node", str(script), node.api_url, node.token, f"{node.gateway_url}/bafkqaaa"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert "Congratulations" in seen["authentication"]["message"]
    # Uploads
    assert seen["file"]["cid"] == "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
    assert (seen["file"]["group_id"], seen["file"]["keyvalues"]) == (seen["group"]["id"], {"kind": "greeting"})
    assert seen["file0"]["cid"] == "Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD"
    assert (seen["again"]["id"], seen["again"]["is_duplicate"]) == (seen["file"]["id"], True)
    assert seen["json"]["cid"] == raw_cid(b'{"hello":"world","number":1}')
    assert seen["base64"]["cid"] == raw_cid(b"base64")
    assert seen["url"]["name"] == "url_upload"
    assert (seen["folder"]["number_of_files"], seen["folder"]["mime_type"]) == (2, "directory")
    assert seen["large"]["cid"] == raw_cid(bytes(95_000_000)), "in pieces"
    assert (seen["guest"]["name"], seen["guest"]["cid"]) == ("signed.txt", raw_cid(b"from a guest"))
    assert seen["guestFolder"]["number_of_files"] == 2
    assert "does not grant permissions" in seen["wrongType"]
    # Files
    assert len(seen["all"]) == len(set(seen["all"])) == 9
    assert [file["id"] for file in seen["named"]] == [seen["json"]["id"]]
    assert (
        [file["id"] for file in seen["inGroup"]] == [file["id"] for file in seen["greetings"]] == [seen["file"]["id"]]
    )
    assert seen["pictures"] == []
    assert seen["oldestFirst"][0]["id"] == seen["got"]["id"] == seen["file"]["id"]
    assert (seen["updated"]["name"], seen["updated"]["keyvalues"]) == ("renamed", {"kind": "greeting", "more": "yes"})
    # Groups
    assert seen["members"] == [seen["json"]["id"]]
    assert [group["id"] for group in seen["groups"]] == [seen["group"]["id"]]
    assert seen["renamedGroup"]["name"] == seen["gotGroup"]["name"] == "another"
    # Pins by CID, reading, deleting
    assert (seen["pinned"]["cid"], seen["queue"]["jobs"]) == (seen["json"]["cid"], [])
    assert (seen["failed"], seen["pending"], seen["ownGroups"]) == ([], [], [])
    assert [file["id"] for file in seen["byCid"]] == [seen["json"]["id"]]
    assert seen["withoutGroup"] == 9
    assert (seen["car"]["cid"], seen["car"]["is_duplicate"]) == (seen["json"]["cid"], True)
    assert seen["read"]["data"] == {"hello": "world", "number": 1}
    assert seen["deleted"][0]["status"] == "OK"
    assert len(seen["left"]) == 8
    # What the node refuses, with its sentence
    assert "401" in seen["wrongToken"] or "Authentication" in seen["wrongToken"]
    assert "network=public" in seen["private"]
    assert "swaps no content" in seen["swap"]
    assert "HTTP error" in seen["deletedRequest"]
    assert "makes no streams" in seen["streamable"]


PINATAPY = """
import json, sys
from pathlib import Path
import pinatapy

url, token, folder = sys.argv[1:]
pinatapy.API_ENDPOINT = url + "/"
pinata = pinatapy.PinataPy("a key", token)
seen = {
    "json": pinata.pin_json_to_ipfs({"hello": "world"}, {"pinataMetadata": {"name": "a document"}}),
    "file": pinata.pin_file_to_ipfs(str(Path(folder) / "a.txt")),
    "folder": pinata.pin_file_to_ipfs(folder, save_absolute_paths=False),
}
seen["pinned"] = pinata.pin_to_pinata_using_ipfs_hash(seen["json"]["IpfsHash"], "again")
seen["jobs"] = pinata.pin_jobs({"status": "retrieving"})
seen["list"] = pinata.pin_list({"status": "pinned"})
seen["totals"] = pinata.user_pinned_data_total()
seen["removed"] = pinata.remove_pin_from_ipfs(seen["json"]["IpfsHash"])
print(json.dumps(seen))
"""


@pytest.mark.slow
def test_the_python_client_with_a_key_and_a_secret_works_against_the_node(node: Node, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(packages), "pinatapy-vourhey==0.2.0"]
    installed = subprocess.run(install, capture_output=True, text=True, timeout=300)
    if installed.returncode:
        pytest.skip(f"pip could not install pinatapy-vourhey: {installed.stderr.strip()[:200]}")
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(name)
    command = [sys.executable, "-c", PINATAPY, node.api_url, node.token, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(packages), "NO_PROXY": "*"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["json"]["Name"] == "a document"
    assert (seen["file"]["NumberOfFiles"], seen["folder"]["NumberOfFiles"]) == (1, 2)
    assert (seen["pinned"]["ipfsHash"], seen["pinned"]["status"]) == (seen["json"]["IpfsHash"], "pinned")
    assert seen["jobs"] == {"count": 0, "rows": []}
    assert (len(seen["list"]["rows"]), seen["totals"]["pin_count"]) == (3, 3)
    assert seen["removed"] == {"message": "Removed"}


@pytest.mark.slow
def test_the_hosted_services_first_sdk_with_a_key_and_a_secret_works_against_the_node(
    node: Node, tmp_path: Path
) -> None:
    project = npm_project(tmp_path / "project", "@pinata/sdk@2.1.0")
    script = project / "script.cjs"
    script.write_bytes(Path(__file__).with_name("pinata_sdk.cjs").read_bytes())
    command = ["node", str(script), node.api_url, node.token]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["authentication"] == {"authenticated": True}
    assert seen["json"]["IpfsHash"] == raw_cid(b'{"hello":"world"}')
    assert seen["file"]["IpfsHash"] == "Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD"
    assert (seen["byHash"]["status"], seen["jobs"]["count"]) == ("pinned", 0)
    assert [row["metadata"]["name"] for row in seen["list"]["rows"]] == ["hello.txt"], "by a keyvalue that is larger"
    assert [row["metadata"]["name"] for row in seen["named"]["rows"]] == ["a document"]
    assert (seen["metadata"], seen["totals"]["pin_count"], len(seen["files"])) == ("OK", 2, 2)
    assert seen["unpinned"] == "OK"
