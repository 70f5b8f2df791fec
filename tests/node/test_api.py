"""The pinning API as clients of the hosted service know it."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from pinui.ipfs.cid import Cid
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, CidPredictor
from pinui.node import Node, RequestLine
from tests.node.conftest import client

OTHER = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"


def cid_of(data: bytes, version: int = 0) -> str:
    predictor = CidPredictor((KUBO_V0, KUBO_V1)[version])
    predictor.feed(data)
    return str(predictor.finish())


def pin_json(api: httpx.Client, content: object, **fields: object) -> str:
    answer = api.post("/pinning/pinJSONToIPFS", json={"pinContent": content, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["IpfsHash"]


def test_the_token_is_tested_and_asked_for_everywhere(api: httpx.Client, anyone: httpx.Client) -> None:
    answer = api.get("/data/testAuthentication")
    assert answer.status_code == 200
    assert answer.json() == {"message": "Congratulations! You are communicating with the Pinata API!"}
    refused = {"error": {"reason": "INVALID_CREDENTIALS", "details": "Invalid/expired credentials"}}
    for method, path in (
        ("GET", "/data/testAuthentication"),
        ("GET", "/data/pinList"),
        ("GET", "/data/userPinnedDataTotal"),
        ("POST", "/pinning/pinJSONToIPFS"),
        ("POST", "/pinning/pinFileToIPFS"),
        ("DELETE", f"/pinning/unpin/{OTHER}"),
    ):
        for token in (None, "Bearer wrong", "Basic x", "Bearer", "Bearer ünïcode".encode().decode("latin-1")):
            headers = [] if token is None else [(b"Authorization", token.encode("latin-1"))]
            answer = anyone.request(method, path, headers=headers)
            assert (answer.status_code, answer.json()) == (401, refused)


def test_the_token_is_looked_at_before_the_body(anyone: httpx.Client, api: httpx.Client) -> None:
    headers = {"Content-Type": "application/json", "Authorization": "Bearer wrong"}
    for content in (b'{"pinContent": ', b'{"pinContent": 1}', b"{}", b"", bytes(10_000_001)):
        assert anyone.post("/pinning/pinJSONToIPFS", headers=headers, content=content).status_code == 401
    assert api.post("/pinning/pinJSONToIPFS", content=b'{"pinContent": ').status_code == 400
    assert api.post("/pinning/pinJSONToIPFS", content=bytes(10_000_001)).status_code == 413
    assert api.get("/data/userPinnedDataTotal").json()["pin_count"] == 0


@pytest.mark.parametrize(
    ("content", "meta", "options"),
    [("pinContent", "pinMetadata", "pinOptions"), ("pinataContent", "pinataMetadata", "pinataOptions")],
)
def test_json_is_pinned_in_both_dialects(api: httpx.Client, content: str, meta: str, options: str) -> None:
    body = {content: {"b": [1, 2]}, meta: {"name": "a name", "keyvalues": {"k": "v"}}, options: {"cidVersion": 1}}
    pinned = api.post("/pinning/pinJSONToIPFS", json=body).json()
    assert pinned["IpfsHash"] == cid_of(b'{"b":[1,2]}', 1)
    assert pinned["PinSize"] == 11
    assert not pinned["isDuplicate"]
    assert datetime.fromisoformat(pinned["Timestamp"])
    [row] = api.get("/data/pinList").json()["rows"]
    assert row["metadata"] == {"name": "a name", "keyvalues": {"k": "v"}}
    assert api.get(f"/ipfs/{pinned['IpfsHash']}").json() == {"b": [1, 2]}


def test_metadata_comes_back_as_it_was_sent(api: httpx.Client) -> None:
    meta = {"name": "grün", "keyvalues": {"whole": 3, "part": 1.5, "text": "\ud800", "flag": True}}
    pinned = api.post("/pinning/pinJSONToIPFS", content=json.dumps({"pinContent": 1, "pinMetadata": meta})).json()
    assert (pinned["Name"], pinned["Keyvalues"]) == (meta["name"], meta["keyvalues"])
    assert isinstance(pinned["Keyvalues"]["whole"], int)
    half = api.post("/pinning/pinJSONToIPFS", content=b'{"pinContent": 2, "pinMetadata": {"name": "a\\ud800b"}}')
    assert half.json()["Name"] == "a\ufffdb"
    found = api.get("/data/pinList", params={"metadata[name]": "RÜn"}).json()["rows"]
    assert [row["metadata"]["name"] for row in found] == ["grün"]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ('{"pinContent": {"b": 1.0, "a": "\\u00e9", "10": 1, "9": 2}}', '{"9":2,"10":1,"b":1,"a":"é"}'),
        ('{"pinContent": [9007199254740993, 1e21, 1e400]}', "[9007199254740992,1e+21,null]"),
        ('{"pinContent": "text"}', '"text"'),
        ('{"pinContent": null}', "null"),
        ('{"pinContent": 123456789012345678901234567890}', "1.2345678901234568e+29"),
    ],
)
def test_json_is_stored_as_javascript_writes_it(api: httpx.Client, sent: str, stored: str) -> None:
    headers = {"Content-Type": "application/json"}
    cid = api.post("/pinning/pinJSONToIPFS", content=sent.encode(), headers=headers).json()["IpfsHash"]
    assert cid == cid_of(stored.encode())
    assert api.get(f"/ipfs/{cid}").text == stored


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"pinMetadata": {}}',
        b'{"pinContent": NaN}',
        b"\xff",
        b'{"pinContent": 1, "pinMetadata": []}',
        b'{"pinContent": 1, "pinMetadata": {"name": 1}}',
        b'{"pinContent": 1, "pinMetadata": {"keyvalues": {"a": []}}}',
        b'{"pinContent": 1, "pinOptions": {"cidVersion": 2}}',
        b'{"pinContent": 1, "pinOptions": {"cidVersion": true}}',
        json.dumps({"pinContent": 1, "pinMetadata": {"keyvalues": dict.fromkeys("abcdefghijk", "v")}}).encode(),
        b'{"pinContent": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    ],
)
def test_bad_json_is_refused_and_nothing_is_pinned(api: httpx.Client, body: bytes) -> None:
    answer = api.post("/pinning/pinJSONToIPFS", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert api.get("/data/userPinnedDataTotal").json()["pin_count"] == 0


def test_json_above_ten_megabytes_is_refused(api: httpx.Client) -> None:
    body = b'{"pinContent": "' + b"x" * 10_000_000 + b'"}'
    assert api.post("/pinning/pinJSONToIPFS", content=body).status_code == 413
    assert api.post("/pinning/pinJSONToIPFS", content=iter([body])).status_code == 413
    assert api.get("/data/testAuthentication").status_code == 200


def test_the_same_content_again_is_the_first_pin(api: httpx.Client) -> None:
    body = {"pinContent": 1, "pinMetadata": {"name": "first"}}
    first = api.post("/pinning/pinJSONToIPFS", json=body).json()
    again = api.post("/pinning/pinJSONToIPFS", json=body | {"pinMetadata": {"name": "second"}}).json()
    assert again == first | {"isDuplicate": True}
    assert api.get("/data/pinList").json()["rows"][0]["metadata"]["name"] == "first"


def test_unpinning_removes_the_content_and_says_ok(api: httpx.Client) -> None:
    cid = pin_json(api, {"a": 1})
    answer = api.delete(f"/pinning/unpin/{cid}")
    assert (answer.status_code, answer.text) == (200, "OK")
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert api.get(f"/ipfs/{cid}").status_code == 404
    again = api.delete(f"/pinning/unpin/{cid}")
    assert again.status_code == 400
    assert again.json()["error"] == {
        "reason": "CURRENT_USER_HAS_NOT_PINNED_CID",
        "details": f"The current user has not pinned the cid: {cid}",
    }
    assert pin_json(api, {"a": 1}) == cid
    assert api.get(f"/ipfs/{cid}").json() == {"a": 1}


def test_either_spelling_of_a_cid_unpins(api: httpx.Client) -> None:
    cid = Cid.parse(pin_json(api, "x"))
    assert api.delete(f"/pinning/unpin/{cid.to_v1()}").text == "OK"
    assert api.delete("/pinning/unpin/rubbish").json()["error"]["reason"] == "INVALID_CID"


def test_what_another_pin_holds_too_stays(api: httpx.Client) -> None:
    folder = [("file", ("d/a.txt", b"shared")), ("file", ("d/b.txt", b"own"))]
    api.post("/pinning/pinFileToIPFS", files=folder)
    alone = api.post("/pinning/pinFileToIPFS", files=[("file", ("a.txt", b"shared"))]).json()["IpfsHash"]
    api.delete(f"/pinning/unpin/{alone}")
    assert api.get(f"/ipfs/{alone}").text == "shared"


def test_pins_are_listed_by_page_status_name_cid_size_and_date(api: httpx.Client) -> None:
    cids = [pin_json(api, "x" * n, pinMetadata={"name": f"Name {n}"}) for n in range(1, 16)]
    api.delete(f"/pinning/unpin/{cids[0]}")

    def listed(**query: object) -> list[str]:
        rows = api.get("/data/pinList", params=query).json()["rows"]  # type: ignore[arg-type]
        return [row["ipfs_pin_hash"] for row in rows]

    assert listed() == cids[:-11:-1]
    assert listed(pageLimit=100, status="pinned") == cids[:0:-1]
    assert listed(status="unpinned") == cids[:1]
    assert listed(pageLimit=4, pageOffset=12) == cids[2::-1]
    assert listed(**{"metadata[name]": "name 12"}) == [cids[11]]
    assert listed(cid=cids[3]) == listed(cid=str(Cid.parse(cids[3]).to_v1())) == [cids[3]]
    assert listed(cid="rubbish") == []
    assert listed(hashContains=cids[4][10:]) == [cids[4]]
    row = api.get("/data/pinList", params={"cid": cids[14]}).json()["rows"][0]
    assert set(row) >= {
        "id",
        "user_id",
        "size",
        "date_pinned",
        "date_unpinned",
        "regions",
        "mime_type",
        "number_of_files",
    }
    assert listed(pinSizeMin=row["size"]) == [cids[14]]
    assert listed(pinStart=row["date_pinned"])[0] == cids[14]
    assert listed(pinEnd="2001-01-01") == []
    counted = api.get("/data/pinList", params={"includeCount": "true", "status": "pinned", "pageLimit": 1}).json()
    assert (counted["count"], len(counted["rows"])) == (14, 1)
    gone = api.get("/data/pinList", params={"status": "unpinned"}).json()["rows"][0]
    assert datetime.fromisoformat(gone["date_unpinned"]) >= datetime.fromisoformat(gone["date_pinned"])


@pytest.mark.parametrize(
    "query", ["pageLimit=0", "pageLimit=1001", "pageLimit=x", "pageOffset=-1", "status=some", "pinStart=yesterday"]
)
def test_a_listing_that_makes_no_sense_is_refused(api: httpx.Client, query: str) -> None:
    answer = api.get(f"/data/pinList?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.json()["error"]


def test_totals_count_what_is_pinned_now(api: httpx.Client) -> None:
    cid = pin_json(api, "one")
    pin_json(api, "three")
    size = api.get("/data/userPinnedDataTotal").json()["pin_size_total"]
    api.delete(f"/pinning/unpin/{cid}")
    totals = api.get("/data/userPinnedDataTotal").json()
    assert totals["pin_count"] == 1
    assert 0 < totals["pin_size_total"] == totals["pin_size_with_replications_total"] < size


def test_other_paths_and_methods_are_told_apart(api: httpx.Client) -> None:
    assert api.get("/v3/files").status_code == 404
    wrong = api.get("/pinning/pinJSONToIPFS")
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "POST")
    assert api.get("/").text.startswith("This is a pinui node")
    assert api.get("/favicon.ico").status_code == 404


def test_requests_above_the_limit_are_told_when_to_come_back(tmp_path) -> None:
    node = Node(tmp_path / "limited", rate_limit=3)
    node.start()
    try:
        with client(node) as api:
            for left in (2, 1, 0):
                answer = api.get("/data/testAuthentication")
                assert answer.status_code == 200
                assert answer.headers["X-RateLimit-Limit"] == "3"
                assert answer.headers["X-RateLimit-Remaining"] == str(left)
            refused = api.get("/data/testAuthentication")
            assert refused.status_code == 429
            assert 1 <= int(refused.headers["Retry-After"]) <= 60
            assert int(refused.headers["X-RateLimit-Reset"]) > 0
            assert refused.json()["error"]["reason"] == "RATE_LIMITED"
            assert api.get("/ipfs/bafkqaaa").status_code == 200, "reading is not limited"
    finally:
        node.stop()


def test_every_request_is_logged_without_its_query(api: httpx.Client, log: list[RequestLine]) -> None:
    api.get("/data/pinList?hashContains=secret")
    api.get(f"/ipfs/{OTHER}")
    assert [(line.method, line.path, line.status) for line in log] == [
        ("GET", "/data/pinList", 200),
        ("GET", f"/ipfs/{OTHER}", 404),
    ]


def test_a_log_that_fails_does_not_change_the_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: RequestLine) -> None:
        raise ZeroDivisionError

    node = Node(tmp_path, on_request=fail)
    node.start()
    with client(node) as api:
        assert api.get("/data/testAuthentication").status_code == 200
        assert api.get("/ipfs/x").status_code == 400
    node.stop()
    assert "GET /data/testAuthentication could not be reported" in caplog.text
