"""CARs of others on the node: any codec and hash that can be checked, and paths through their values."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pinui.ipfs.car import encode_header, encode_section_head
from pinui.ipfs.cid import RAW, SHA2_256, Cid
from pinui.ipfs.ipld import CBOR, DAG_CBOR, DAG_JSON
from pinui.ipfs.multihash import BLAKE2B_256, SHA2_512
from pinui.ipfs.unixfs import JSON
from pinui.node import Node
from tests.node.conftest import client

FOLDER = [("file", ("album/a.txt", b"a")), ("file", ("album/sub/b.bin", bytes(range(256)) * 3000))]
BLAKE3 = 0x1E


def block(codec: int, data: bytes, hash_code: int = SHA2_256) -> tuple[Cid, bytes]:
    hashes = {
        SHA2_256: hashlib.sha256,
        SHA2_512: hashlib.sha512,
        BLAKE2B_256: lambda data: hashlib.blake2b(data, digest_size=32),
        BLAKE3: hashlib.sha256,
    }
    return Cid(1, codec, hash_code, hashes[hash_code](data).digest()), data


def car(*blocks: tuple[Cid, bytes], roots: list[Cid] | None = None) -> bytes:
    """An archive; its root is the first block."""
    sections = (encode_section_head(cid, len(data)) + data for cid, data in blocks)
    return encode_header(roots if roots is not None else [blocks[0][0]]) + b"".join(sections)


def link(cid: Cid) -> bytes:
    """A link in dag-cbor."""
    raw = b"\0" + bytes(cid)
    return b"\xd8\x2a\x58" + bytes([len(raw)]) + raw


def upload(api: httpx.Client, archive: bytes, **fields: str) -> httpx.Response:
    form = {"network": "public", "car": "true", **fields}
    return api.post("/v3/files", files={"file": ("content.car", archive)}, data=form)


def imported(api: httpx.Client, archive: bytes) -> dict[str, Any]:
    answer = upload(api, archive)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def refusal(answer: httpx.Response) -> str:
    assert answer.status_code == 400, answer.text
    return answer.json()["error"]["message"]


LEAF = block(RAW, b"a leaf")
INNER = block(DAG_CBOR, b"\xa1\x65hello\x72this is not a link")
VALUE = block(DAG_CBOR, b"\xa2\x63foo\xa1\x64link" + link(INNER[0]) + b"\x64list\x81" + link(LEAF[0]))


# Uploads


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[httpx.Client]:
    node = Node(tmp_path / "elsewhere")
    node.start()
    with client(node) as api:
        yield api
    node.stop()


def test_a_folder_moves_from_one_node_to_another(api: httpx.Client, elsewhere: httpx.Client) -> None:
    cid = elsewhere.post("/pinning/pinFileToIPFS", files=FOLDER).json()["IpfsHash"]
    archive = elsewhere.get(f"/ipfs/{cid}?format=car").content
    file = imported(api, archive)
    assert (file["cid"], file["number_of_files"], file["mime_type"]) == (cid, 2, "directory")
    assert api.get(f"/ipfs/{cid}/sub/b.bin").content == FOLDER[1][1][1]
    [row] = api.get("/data/pinList").json()["rows"]
    there = elsewhere.get("/data/pinList").json()["rows"][0]
    assert (row["ipfs_pin_hash"], row["size"]) == (cid, there["size"])


def test_the_option_may_come_in_front_of_the_archive(api: httpx.Client) -> None:
    parts = [("car", (None, "true")), ("network", (None, "public")), ("file", ("x.car", car(LEAF)))]
    assert api.post("/v3/files", files=parts).json()["data"]["cid"] == str(LEAF[0])


@pytest.mark.parametrize("hash_code", [SHA2_512, BLAKE2B_256])
def test_other_hashes_are_kept_served_and_survive_a_lost_index(node: Node, hash_code: int) -> None:
    leaf = block(RAW, b"another hash", hash_code)
    value = block(DAG_CBOR, b"\xa1\x64leaf" + link(leaf[0]), hash_code)
    with client(node) as api:
        assert imported(api, car(value, leaf))["cid"] == str(value[0])
        (node.data_dir / "index.db").unlink()
        assert api.get(f"/ipfs/{value[0]}/leaf").text == "another hash"
        assert api.get("/v3/files/public").json()["data"]["files"][0]["cid"] == str(value[0])


def test_an_archive_goes_up_in_pieces(api: httpx.Client) -> None:
    archive = car(VALUE, INNER, LEAF)
    fields = {"filename": "values.car", "network": "public", "car": "true"}
    metadata = ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in fields.items())
    headers = {"Upload-Length": str(len(archive)), "Upload-Metadata": metadata}
    place = api.post("/v3/files", headers=headers).headers["Location"]
    headers = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    done = api.patch(place, headers=headers, content=archive)
    assert (done.status_code, done.headers["upload-cid"]) == (204, str(VALUE[0]))


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (car((LEAF[0], b"other bytes")), "not what its CID says"),
        (car(VALUE, INNER), "missing"),
        (car(block(RAW, b"x", BLAKE3)), "hash"),
        (car(LEAF, INNER, roots=[LEAF[0], INNER[0]]), "2 roots"),
        (car(LEAF)[:-3], "before it is whole"),
        (b"no archive", "CAR"),
    ],
    ids=["damaged", "incomplete", "unknown hash", "several roots", "cut", "something else"],
)
def test_an_archive_that_can_not_be_pinned_says_why(node: Node, api: httpx.Client, archive: bytes, words: str) -> None:
    assert words in refusal(upload(api, archive))
    assert api.get("/v3/files/public").json()["data"]["files"] == []
    assert len(list((node.data_dir / "drafts").iterdir())) == 1, "only the lock"


# Values at the gateway


@pytest.fixture
def values(api: httpx.Client) -> httpx.Client:
    imported(api, car(VALUE, INNER, LEAF))
    return api


def test_paths_lead_through_values_over_several_links(values: httpx.Client) -> None:
    answer = values.get(f"/ipfs/{VALUE[0]}/foo/link", params={"format": "dag-cbor"})
    assert (answer.status_code, answer.content) == (200, INNER[1])
    assert answer.headers["X-Ipfs-Roots"] == f"{VALUE[0]},{INNER[0]}"
    assert values.get(f"/ipfs/{VALUE[0]}/list/0").text == "a leaf"
    assert values.get(f"/ipfs/{VALUE[0]}/foo").status_code == 501, "a value that is no link"
    for missing in ("bar", "foo/i-do-not-exist", "list/1", "foo/link/bar"):
        assert values.get(f"/ipfs/{VALUE[0]}/{missing}").status_code == 404


def test_paths_lead_through_dag_json(api: httpx.Client) -> None:
    inner = block(DAG_JSON, json.dumps({"end": {"/": str(LEAF[0])}}).encode())
    root = block(DAG_JSON, json.dumps({"foo": {"link": {"/": str(inner[0])}}}).encode())
    imported(api, car(root, inner, LEAF))
    assert api.get(f"/ipfs/{root[0]}/foo/link/end").content == LEAF[1]
    assert api.get(f"/ipfs/{root[0]}/foo").status_code == 501
    assert api.get(f"/ipfs/{root[0]}/foo/i-do-not-exist").status_code == 404
    proof = api.get(f"/ipfs/{root[0]}/foo/link/i-do-not-exist?format=car")
    assert (proof.status_code, proof.content) == (404, car(root, inner))


def test_the_blocks_of_a_value_come_as_an_archive(values: httpx.Client) -> None:
    assert values.get(f"/ipfs/{VALUE[0]}?format=car").content == car(VALUE, INNER, LEAF)
    for scope in ("block", "entity", "entity&entity-bytes=0:*"):
        assert values.get(f"/ipfs/{VALUE[0]}?format=car&dag-scope={scope}").content == car(VALUE)
    assert values.get(f"/ipfs/{VALUE[0]}/list/0?format=car").content == car(VALUE, LEAF, roots=[LEAF[0]])


@pytest.mark.parametrize(
    ("codec", "name", "kind", "plain"),
    [
        (DAG_CBOR, "cbor", "application/vnd.ipld.dag-cbor", "application/cbor"),
        (DAG_JSON, "json", "application/vnd.ipld.dag-json", "application/json"),
        (CBOR, "cbor", "application/cbor", "application/cbor"),
        (JSON, "json", "application/json", "application/json"),
    ],
)
def test_a_value_is_served_as_it_is(api: httpx.Client, codec: int, name: str, kind: str, plain: str) -> None:
    data = b"\xa1\x61a\x01" if name == "cbor" else json.dumps({"a": 1}).encode()
    cid, _ = block(codec, data)
    imported(api, car((cid, data)))
    bare = api.get(f"/ipfs/{cid}")
    assert (bare.content, bare.headers["Content-Type"]) == (data, kind)
    assert bare.headers["Cache-Control"] == "public, max-age=29030400, immutable"
    assert (bare.headers["X-Ipfs-Path"], bare.headers["X-Ipfs-Roots"]) == (f"/ipfs/{cid}", str(cid))
    assert api.get(f"/ipfs/{cid}", headers={"If-None-Match": bare.headers["ETag"]}).status_code == 304
    how = "attachment" if name == "cbor" else "inline"
    assert bare.headers["Content-Disposition"].startswith(f'{how}; filename="{cid}.{name}"')
    for query, accept in ((f"?format={name}", "*/*"), ("", plain)):
        answer = api.get(f"/ipfs/{cid}{query}", headers={"Accept": accept})
        assert (answer.content, answer.headers["Content-Type"]) == (data, plain)
    assert api.get(f"/ipfs/{cid}", headers={"Accept": kind}).headers["Content-Type"] == kind
    for asked in ("1-2", "1-2,0-0"):
        part = api.get(f"/ipfs/{cid}", headers={"Range": f"bytes={asked}"})
        assert (part.status_code, part.content) == (206, data[1:3])
    assert api.head(f"/ipfs/{cid}", params={"format": name}).status_code == 200
    saved = api.get(f"/ipfs/{cid}", params={"download": "true", "filename": "x.bin"})
    assert saved.headers["Content-Disposition"].startswith('attachment; filename="x.bin"')


def test_a_browser_is_shown_a_value_as_a_page_with_links(values: httpx.Client) -> None:
    page = values.get(f"/ipfs/{VALUE[0]}/", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.headers["Content-Type"].startswith("text/html")
    assert "DagIndex-" in page.headers["ETag"]
    assert not page.headers.keys() & {"content-disposition", "cache-control"}
    assert f'<a href="/ipfs/{INNER[0]}">{INNER[0]}</a>' in page.text
    odd = block(DAG_CBOR, b"\xa4\x61<\x63<b>\x61b\x41\x00\x61l\x80\x61m\xa0")
    imported(values, car(odd))
    page = values.get(f"/ipfs/{odd[0]}", headers={"Accept": "text/html"})
    for shown in ("&quot;&lt;&quot;: &quot;&lt;b&gt;&quot;", "1 bytes: 00", "[]", "{}"):
        assert shown in page.text


def test_no_format_is_converted_into_another(values: httpx.Client) -> None:
    file = values.post("/pinning/pinFileToIPFS", files={"file": ("t.json", b'{"a": 1}')}).json()["IpfsHash"]
    for path, asked in (
        (f"/ipfs/{file}", "dag-json"),
        (f"/ipfs/{file}", "dag-cbor"),
        (f"/ipfs/{file}", "tar"),
        (f"/ipfs/{VALUE[0]}", "dag-json"),
        (f"/ipfs/{VALUE[0]}", "json"),
    ):
        answer = values.get(path, params={"format": asked})
        assert (answer.status_code, answer.text.endswith(".\n")) == (406, True)
    for accept in ("application/vnd.ipld.dag-json", "application/x-tar"):
        assert values.get(f"/ipfs/{file}", headers={"Accept": accept}).status_code == 406
    plain_json = "application/json"
    plain = values.get(f"/ipfs/{file}?format=json", headers={"Accept": "application/vnd.ipld.raw"})
    for answer in (plain, values.get(f"/ipfs/{file}"), values.get(f"/ipfs/{file}", headers={"Accept": plain_json})):
        assert (answer.json(), answer.headers["Content-Type"]) == ({"a": 1}, plain_json)


# What every gateway has


@pytest.mark.parametrize(
    "cid",
    ["QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn", "bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354"],
)
def test_the_empty_folder_is_always_there(anyone: httpx.Client, cid: str) -> None:
    page = anyone.get(f"/ipfs/{cid}/")
    assert (page.status_code, "0 entries" in page.text) == (200, True)
    assert anyone.get(f"/ipfs/{cid}?format=raw").content == b"\n\x02\x08\x01"


def test_a_range_of_an_empty_file_is_the_empty_file(api: httpx.Client) -> None:
    cid = api.post("/pinning/pinFileToIPFS", files={"file": ("empty", b"")}).json()["IpfsHash"]
    for asked in ("bytes=0-1", "bytes=0-", "bytes=-5"):
        answer = api.get(f"/ipfs/{cid}", headers={"Range": asked})
        assert (answer.status_code, answer.content) == (200, b"")
