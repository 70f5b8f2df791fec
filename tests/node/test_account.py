"""What the node holds, as an account: listed page by page, renamed, and pinned by CID."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import trustme

from pinui import Client, ProviderError, Resume
from pinui.ipfs.cid import Cid
from pinui.node import Node
from pinui.node.index import Pin, insert_pin
from pinui.node.remote import CAR, read_car
from pinui.node.store import PinStore
from tests.node.conftest import client
from tests.servers import read_head, reply
from tests.unit.trees import Store

OTHER = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
FOLDER = [
    ("file", ("album/a.txt", b"a")),
    ("file", ("album/sub/large.bin", bytes(range(256)) * 3000)),
    ("file", ("album/sub/page.html", b"<!doctype html><p>hello")),
]


def pin_json(api: httpx.Client, content: object, **fields: object) -> str:
    answer = api.post("/pinning/pinJSONToIPFS", json={"pinContent": content, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["IpfsHash"]


def row_of(api: httpx.Client, cid: str) -> dict:
    [row] = api.get("/data/pinList", params={"cid": cid, "status": "pinned"}).json()["rows"]
    return row


def cid_below(node: Node, folder: str, path: str) -> str:
    """The CID of a part of a folder, as the gateway tells it."""
    answer = httpx.head(f"{node.gateway_url}/{folder}/{path}", follow_redirects=True, trust_env=False, timeout=60)
    return answer.headers["X-Ipfs-Roots"].split(",")[-1]


# Listing


@pytest.fixture
def many(tmp_path: Path) -> list[str]:
    """The ids of 2,500 pins, newest first; a hundred of them have the same date."""
    store = PinStore(tmp_path / "node")
    pins = [
        Pin(f"id-{n}", f"Qm{n:044}", n, 1, f"Name {n}", None, None, 1_000_000 + n // 100, None, f"{n}.car")
        for n in range(2500)
    ]
    store.change(lambda connection: [insert_pin(connection, pin, {}) for pin in pins])
    store.close()
    return [pin.id for pin in reversed(pins)]


def test_pages_of_a_thousand_hold_every_pin_once_newest_first(many: list[str], api: httpx.Client) -> None:
    def page(offset: int, limit: int = 1000) -> list[str]:
        query = {"status": "pinned", "pageLimit": limit, "pageOffset": offset}
        return [row["id"] for row in api.get("/data/pinList", params=query).json()["rows"]]

    assert page(0) + page(1000) + page(2000) == many
    assert page(2500) == []
    assert [name for offset in range(0, 2500, 7) for name in page(offset, 7)] == many, "also among those of one date"


def test_pages_cut_by_date_hold_every_pin_while_others_come_and_go(many: list[str], api: httpx.Client) -> None:
    seen: dict[str, None] = {}
    until: dict[str, str] = {}
    while True:
        query = {"status": "pinned", "pageLimit": "300", **until}
        rows = api.get("/data/pinList", params=query).json()["rows"]
        fresh = [row["id"] for row in rows if row["id"] not in seen]
        if not fresh:
            break
        seen |= dict.fromkeys(fresh)
        until = {"pinEnd": rows[-1]["date_pinned"]}
        pin_json(api, f"new, after {len(seen)}")
        api.delete(f"/pinning/unpin/{rows[0]['ipfs_pin_hash']}")
    assert list(seen) == many


def test_pins_are_found_by_a_part_of_their_cid_or_name(many: list[str], api: httpx.Client) -> None:
    def found(**query: str) -> list[str]:
        rows = api.get("/data/pinList", params={"pageLimit": "1000", **query}).json()["rows"]
        return [row["id"] for row in rows]

    assert found(hashContains=f"{77:044}") == ["id-77"]
    assert found(**{"metadata[name]": "NAME 24"}) == [f"id-{n}" for n in range(2499, 2399, -1)] + [
        *(f"id-{n}" for n in range(249, 239, -1)),
        "id-24",
    ]
    assert found(**{"metadata[name]": "Name 24", "hashContains": f"{24:044}"}) == ["id-24"]


def test_the_id_of_a_pin_stays_when_the_index_is_made_again(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        before = row_of(api, pin_json(api, "x"))
    node.stop()
    (tmp_path / "index.db").unlink()
    node.start()
    with client(node) as api:
        after = row_of(api, before["ipfs_pin_hash"])
    node.stop()
    assert after["id"] == before["id"]


# Renaming


def update(api: httpx.Client, **fields: object) -> httpx.Response:
    return api.put("/pinning/hashMetadata", json=fields)


def test_a_pin_gets_another_name_and_keyvalues(api: httpx.Client) -> None:
    cid = pin_json(api, 1, pinMetadata={"name": "old", "keyvalues": {"kept": 1, "changed": "a", "removed": True}})
    answer = update(api, ipfsPinHash=cid, name="nëw")
    assert (answer.status_code, answer.text) == (200, "OK")
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert row_of(api, cid)["metadata"] == {
        "name": "nëw",
        "keyvalues": {"kept": 1, "changed": "a", "removed": True},
    }
    v1 = str(Cid.parse(cid).to_v1())
    assert update(api, ipfsPinHash=v1, keyvalues={"changed": "b", "removed": None, "added": 1.5}).text == "OK"
    assert row_of(api, cid)["metadata"] == {"name": "nëw", "keyvalues": {"kept": 1, "changed": "b", "added": 1.5}}
    assert update(api, ipfsPinHash=cid, name="").text == "OK"
    assert row_of(api, cid)["metadata"]["name"] is None


def test_a_new_name_is_what_a_listing_finds(api: httpx.Client) -> None:
    cid = pin_json(api, 1, pinMetadata={"name": "old"})
    update(api, ipfsPinHash=cid, name="new")
    found = {
        name: [row["ipfs_pin_hash"] for row in api.get(f"/data/pinList?metadata[name]={name}").json()["rows"]]
        for name in ("old", "new")
    }
    assert found == {"old": [], "new": [cid]}


def test_what_is_not_pinned_cannot_be_renamed(api: httpx.Client) -> None:
    cid = pin_json(api, 1)
    api.delete(f"/pinning/unpin/{cid}")
    for absent in (cid, OTHER):
        answer = update(api, ipfsPinHash=absent, name="x")
        assert answer.status_code == 400
        assert answer.json()["error"] == {
            "reason": "CURRENT_USER_HAS_NOT_PINNED_CID",
            "details": f"The current user has not pinned the cid: {absent}",
        }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"ipfsPinHash": 5, "name": "x"}',
        b'{"ipfsPinHash": "rubbish", "name": "x"}',
        b'{"ipfsPinHash": "%s", "name": 5}' % OTHER.encode(),
        b'{"ipfsPinHash": "%s", "keyvalues": "x"}' % OTHER.encode(),
        b'{"ipfsPinHash": "%s", "keyvalues": {"a": []}}' % OTHER.encode(),
    ],
)
def test_metadata_that_makes_no_sense_is_refused(api: httpx.Client, body: bytes) -> None:
    assert api.put("/pinning/hashMetadata", content=body).status_code == 400


def test_a_pin_has_no_more_than_ten_keyvalues_after_all_updates(api: httpx.Client) -> None:
    cid = pin_json(api, 1, pinMetadata={"keyvalues": {str(n): n for n in range(10)}})
    refused = update(api, ipfsPinHash=cid, name="not this one either", keyvalues={"one more": 1})
    assert refused.status_code == 400
    assert row_of(api, cid)["metadata"] == {"name": None, "keyvalues": {str(n): n for n in range(10)}}
    assert update(api, ipfsPinHash=cid, keyvalues={"0": None, "one more": 1}).text == "OK"


# By CID


@pytest.mark.parametrize("part", ["a.txt", "sub/large.bin", "sub/page.html", "sub"])
@pytest.mark.parametrize("version", [0, 1])
def test_a_part_of_a_pin_is_pinned_by_its_cid_and_stays_without_the_whole(
    node: Node, api: httpx.Client, part: str, version: int
) -> None:
    options = {"pinataOptions": f'{{"cidVersion": {version}}}'}
    whole = api.post("/pinning/pinFileToIPFS", files=FOLDER, data=options).json()["IpfsHash"]
    cid = cid_below(node, whole, part)
    answer = api.post(
        "/pinning/pinByHash", json={"hashToPin": cid, "pinataMetadata": {"name": "part", "keyvalues": {"a": 1}}}
    )
    assert answer.status_code == 200
    row = row_of(api, cid)
    assert answer.json() == {"id": row["id"], "ipfsHash": cid, "status": "pinned", "name": "part"}
    assert row["metadata"] == {"name": "part", "keyvalues": {"a": 1}}
    assert row["number_of_files"] == (2 if part == "sub" else 1)
    api.delete(f"/pinning/unpin/{whole}")
    files = {path.partition("/")[2]: data for _, (path, data) in FOLDER}
    for path, data in files.items():
        if path.startswith(part):
            assert api.get(f"/ipfs/{cid}{path.removeprefix(part)}").content == data
    [car] = (node.data_dir / "pins").iterdir()
    _, roots, _ = Store.from_car(car.read_bytes())
    assert [str(root) for root in roots] == [cid]


def test_a_part_has_the_size_and_the_type_that_it_would_have_by_itself(node: Node, api: httpx.Client) -> None:
    whole = api.post("/pinning/pinFileToIPFS", files=FOLDER).json()["IpfsHash"]
    cid = cid_below(node, whole, "sub/page.html")
    api.post("/pinning/pinByHash", json={"hashToPin": cid})
    part = row_of(api, cid)
    api.delete(f"/pinning/unpin/{cid}")
    api.post("/pinning/pinFileToIPFS", files=[("file", ("page.html", FOLDER[2][1][1]))])
    alone = row_of(api, cid)
    for fact in ("size", "mime_type", "number_of_files"):
        assert part[fact] == alone[fact]


def test_what_is_pinned_already_stays_the_pin_it_is(api: httpx.Client) -> None:
    cid = pin_json(api, 1, pinMetadata={"name": "first"})
    before = row_of(api, cid)
    for spelling in (cid, str(Cid.parse(cid).to_v1())):
        job = api.post("/pinning/pinByHash", json={"hashToPin": spelling, "pinMetadata": {"name": "second"}}).json()
        assert job == {"id": before["id"], "ipfsHash": cid, "status": "pinned", "name": "first"}
    assert api.get("/data/userPinnedDataTotal").json()["pin_count"] == 1


@pytest.mark.parametrize("cid", [OTHER, "bafkqaaa", "bafyreigdmqpykrgxyaxtlafqpqhzrb7qy2rh75nldvfd4tucqmqqme5yje"])
def test_what_no_pin_contains_cannot_be_pinned_by_its_cid(node: Node, api: httpx.Client, cid: str) -> None:
    answer = api.post("/pinning/pinByHash", json={"hashToPin": cid})
    assert answer.status_code == 404
    assert answer.json()["error"]["details"] == (
        f"No pin here contains {cid}, and the node looks nowhere else: start it with --fetch-from GATEWAY."
    )
    assert len(list((node.data_dir / "drafts").iterdir())) == 1, "only the lock"


@pytest.mark.parametrize(
    ("damage", "status"),
    [(lambda data: data[: len(data) // 2], 404), (lambda data: data.replace(b"hello", b"Hello"), 500)],
    ids=["cut", "changed"],
)
def test_a_tree_of_which_a_block_is_lost_cannot_be_pinned_by_its_cid(
    node: Node, api: httpx.Client, damage: Callable[[bytes], bytes], status: int
) -> None:
    whole = api.post("/pinning/pinFileToIPFS", files=FOLDER).json()["IpfsHash"]
    cid = cid_below(node, whole, "sub")
    [car] = (node.data_dir / "pins").iterdir()
    car.write_bytes(damage(car.read_bytes()))
    answer = api.post("/pinning/pinByHash", json={"hashToPin": cid})
    assert answer.status_code == status
    assert cid in answer.json()["error"]["details"]
    assert api.get("/data/userPinnedDataTotal").json()["pin_count"] == 1
    assert len(list((node.data_dir / "drafts").iterdir())) == 1, "only the lock"


@pytest.mark.parametrize("body", [b"", b"{}", b'{"hashToPin": null}', b'{"hashToPin": "rubbish"}', b"[]"])
def test_a_cid_that_is_none_is_refused(api: httpx.Client, body: bytes) -> None:
    assert api.post("/pinning/pinByHash", content=body).status_code == 400


# With the SDK


async def test_the_sdk_lists_pins_and_renames_on_the_node(tmp_path: Path) -> None:
    (tmp_path / "album").mkdir()
    (tmp_path / "album" / "a.txt").write_text("a")
    async with (
        Node(tmp_path / "node") as node,
        await Client.init(provider_token=node.token, pin_api_url=node.api_url, gateway_url=node.gateway_url) as client,
    ):
        album = await client.upload(tmp_path / "album")
        part = await client.pin(cid_below(node, album.cid, "a.txt"), name="a part")
        assert part.status == "pinned"
        await client.rename(album.cid, "the whole")
        pins = [pin async for pin in client.pins()]
        assert [(pin.cid, pin.name) for pin in pins] == [(part.cid, "a part"), (album.cid, "the whole")]
        assert [pin.id async for pin in client.pins(cid=part.cid)] == [part.id]
        assert [pin.cid async for pin in client.pins(name="WHOLE")] == [album.cid]
        assert [
            pin.cid async for pin in client.pins(name="WHOLE", resume=Resume(keep=print, handle="4000000000000"))
        ] == [album.cid]
        with pytest.raises(ProviderError, match="not pinned the cid"):
            await client.rename(OTHER, "nothing")
        with pytest.raises(ProviderError, match="looks nowhere else"):
            await client.pin(OTHER)


async def test_other_gateways_are_read_with_the_certificates_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(reply("200 OK", b"a car", f"Content-Type: {CAR}", "Connection: close"))
        await writer.drain()
        writer.close()

    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        gateway = f"https://localhost:{server.sockets[0].getsockname()[1]}/ipfs"
        assert [piece async for piece in read_car(gateway, Cid.parse(OTHER))] == [b"a car"]
