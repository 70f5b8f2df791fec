"""The hosted service's newer API on the node: uploads, files, groups, pins by CID and signed URLs."""

from __future__ import annotations

import base64
import io
import sqlite3
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from pinui.ipfs.importer import KUBO_V0, KUBO_V1, CidPredictor
from pinui.node import Node
from tests.node.conftest import client

HELLO = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
FOLDER = [("file", ("album/a.txt", b"a")), ("file", ("album/sub/b.txt", b"b"))]


def upload(
    api: httpx.Client, data: bytes = b"hello world", filename: str = "hello.txt", **fields: str
) -> dict[str, Any]:
    answer = api.post("/v3/files", files={"file": (filename, data)}, data={"network": "public", **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def listed(api: httpx.Client, **query: str) -> list[str]:
    answer = api.get("/v3/files/public", params=query)
    assert answer.status_code == 200, answer.text
    return [file["cid"] for file in answer.json()["data"]["files"]]


def message(answer: httpx.Response, status: int) -> str:
    """The sentence of a refusal."""
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, status), answer.text
    return error["message"]


def cid_of(data: bytes) -> str:
    predictor = CidPredictor(KUBO_V1)
    predictor.feed(data)
    return str(predictor.finish())


# Uploads


def test_an_upload_answers_the_services_record(api: httpx.Client) -> None:
    file = upload(api, keyvalues='{"kind": "greeting"}')
    assert file.pop("created_at").endswith("Z")
    assert file.pop("id")
    assert file == {
        "user_id": "local",
        "name": "hello.txt",
        "cid": HELLO,
        "size": 11,
        "number_of_files": 1,
        "mime_type": "text/plain",
        "group_id": None,
        "keyvalues": {"kind": "greeting"},
        "vectorized": False,
        "network": "public",
        "is_duplicate": False,
    }
    assert api.get(f"/ipfs/{HELLO}").text == "hello world"


def test_the_words_of_the_services_guides_are_understood_too(api: httpx.Client) -> None:
    group = api.post("/v3/groups/public", json={"name": "g"}).json()["data"]["id"]
    file = upload(api, group=group, keyvalues='{"keyvalues": {"a": "b"}}')
    assert (file["group_id"], file["keyvalues"]) == (group, {"a": "b"})
    assert "No group" in message(api.post("/v3/files", files=FOLDER, data={"network": "public", "group": "none"}), 404)


def test_the_same_bytes_give_the_older_record(api: httpx.Client) -> None:
    first = upload(api, name="first")
    second = upload(api, name="second")
    assert (second["id"], second["name"], second["is_duplicate"]) == (first["id"], "first", True)


@pytest.mark.parametrize(("version", "profile"), [("v0", KUBO_V0), ("0", KUBO_V0), ("v1", KUBO_V1), ("1", KUBO_V1)])
def test_the_version_of_the_cid_can_be_chosen(api: httpx.Client, version: str, profile: Any) -> None:
    predictor = CidPredictor(profile)
    predictor.feed(b"x" * 600_000)
    assert upload(api, b"x" * 600_000, cid_version=version)["cid"] == str(predictor.finish())


def test_many_files_with_one_root_are_a_folder(api: httpx.Client) -> None:
    answer = api.post("/v3/files", files=FOLDER, data={"network": "public"}).json()["data"]
    assert (answer["mime_type"], answer["number_of_files"], answer["name"]) == ("directory", 2, "album")
    assert api.get(f"/ipfs/{answer['cid']}/sub/b.txt").text == "b"


def test_a_name_ends_at_its_first_slash(api: httpx.Client) -> None:
    assert upload(api, name="reports/2026")["name"] == "reports"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "network=public"),
        ({"network": "private"}, "network=public"),
        ({"network": "public", "streamable": "true"}, "streamable"),
        ({"network": "public", "expires_at": "1900000000"}, "expires_at"),
        ({"network": "public", "keyvalues": "{"}, "keyvalues"),
    ],
)
def test_what_it_cannot_do_is_refused_with_a_sentence(api: httpx.Client, fields: dict[str, str], words: str) -> None:
    assert words in message(api.post("/v3/files", files={"file": ("a", b"a")}, data=fields), 400)
    assert listed(api) == []


def test_without_the_token_nothing_is_answered(anyone: httpx.Client) -> None:
    assert message(anyone.get("/v3/files/public"), 401)
    assert message(anyone.post("/v3/files", files={"file": ("a", b"a")}, data={"network": "public"}), 401)
    assert message(anyone.post("/v3/files/sign", json={"date": 1, "expires": 1}), 401)


# Files


def test_both_apis_show_one_set_of_pins(api: httpx.Client) -> None:
    newer = upload(api, name="newer")
    older = api.post("/pinning/pinJSONToIPFS", json={"pinContent": 1, "pinMetadata": {"name": "older"}}).json()
    assert listed(api) == [older["IpfsHash"], newer["cid"]]
    rows = api.get("/data/pinList").json()["rows"]
    assert [row["id"] for row in rows] == [older["ID"], newer["id"]]
    assert api.get(f"/v3/files/public/{older['ID']}").json()["data"]["name"] == "older"
    assert api.delete(f"/v3/files/public/{older['ID']}").json() == {"data": None}
    assert api.delete(f"/pinning/unpin/{newer['cid']}").status_code == 200
    assert listed(api) == []


def test_files_are_filtered_by_everything_that_the_service_filters_by(api: httpx.Client) -> None:
    red = upload(api, b"1", "Red.txt", keyvalues='{"colour": "red", "size": "L"}')["cid"]
    blue = upload(api, b"2", "blue.png", keyvalues='{"colour": "blue"}')["cid"]
    old = upload(api, b"3" * 600_000, "old", cid_version="v0")["cid"]
    assert listed(api, name="red") == [red]
    assert listed(api, mimeType="image/png") == [blue]
    assert listed(api, cid=old) == [old]
    assert listed(api, **{"keyvalues[colour]": "red"}) == [red]
    assert listed(api, **{"metadata[colour]": "blue"}) == [blue]
    assert listed(api, **{"keyvalues[colour]": "red", "keyvalues[size]": "S"}) == []
    assert listed(api, order="ASC") == [red, blue, old]
    assert listed(api, cidPending="true") == []
    assert "colour" in message(api.get("/v3/files/public", params={"colour": "red"}), 400)


@pytest.mark.parametrize("order", ["ASC", "DESC"])
def test_pages_hold_every_file_once_while_others_come_and_go(api: httpx.Client, order: str) -> None:
    cids = [upload(api, bytes([n]))["cid"] for n in range(7)]
    seen: list[str] = []
    token = ""
    while True:
        page = api.get("/v3/files/public", params={"limit": 2, "order": order, "pageToken": token}).json()["data"]
        seen += [file["cid"] for file in page["files"]]
        api.delete(f"/v3/files/public/{page['files'][-1]['id']}")
        token = page["next_page_token"]
        if not token:
            break
    assert seen == (cids if order == "ASC" else cids[::-1])


def test_a_file_gets_another_name_and_other_keyvalues(api: httpx.Client) -> None:
    file = upload(api, keyvalues='{"a": "1", "b": "2"}')
    place = f"/v3/files/public/{file['id']}"
    changed = api.put(place, json={"name": "other", "keyvalues": {"a": None, "c": "3"}}).json()["data"]
    assert (changed["name"], changed["keyvalues"]) == ("other", {"b": "2", "c": "3"})
    assert api.get(place).json()["data"] == changed
    assert "expires_at" in message(api.put(place, json={"expires_at": 1900000000}), 400)


def test_ids_that_nobody_has_are_404(api: httpx.Client) -> None:
    for method in ("GET", "DELETE"):
        assert "id" in message(api.request(method, "/v3/files/public/none"), 404)
        assert "id" in message(api.request(method, "/v3/groups/public/none"), 404)
    assert message(api.put("/v3/files/public/none", json={"name": "x"}), 404)
    assert message(api.get("/v3/nothing"), 404)
    assert "public" in message(api.get("/v3/files/private"), 403)


# Groups


def test_groups_are_made_listed_renamed_and_removed(api: httpx.Client) -> None:
    made = api.post("/v3/groups/public", json={"name": "Holiday"}).json()["data"]
    other = api.post("/v3/groups/public", json={"name": "Work", "is_public": False}).json()["data"]
    assert (made["name"], made["is_public"], other["is_public"]) == ("Holiday", True, False)

    def names(**query: str) -> list[str]:
        return [group["name"] for group in api.get("/v3/groups/public", params=query).json()["data"]["groups"]]

    assert names() == ["Work", "Holiday"]
    assert names(name="holi") == ["Holiday"]
    page = api.get("/v3/groups/public", params={"limit": 1}).json()["data"]
    assert names(pageToken=page["next_page_token"]) == ["Holiday"]
    renamed = api.put(f"/v3/groups/public/{made['id']}", json={"name": "Summer"}).json()["data"]
    assert renamed == {**made, "name": "Summer"} == api.get(f"/v3/groups/public/{made['id']}").json()["data"]
    assert api.delete(f"/v3/groups/public/{other['id']}").json() == {"data": None}
    assert names() == ["Summer"]


def test_groups_are_filtered_by_whether_they_are_public(api: httpx.Client) -> None:
    for name in ("public", "closed"):
        api.post("/v3/groups/public", json={"name": name, "is_public": name == "public"})
    for asked, names in (("true", ["public"]), ("false", ["closed"]), ("", ["closed", "public"])):
        groups = api.get("/v3/groups/public", params={"isPublic": asked}).json()["data"]["groups"]
        assert [group["name"] for group in groups] == names
    assert "isPublic" in message(api.get("/v3/groups/public", params={"isPublic": "x"}), 400)


def test_files_go_into_a_group_and_out_of_it(api: httpx.Client) -> None:
    group = api.post("/v3/groups/public", json={"name": "g"}).json()["data"]["id"]
    inside = upload(api, b"1", group_id=group)
    outside = upload(api, b"2")
    assert inside["group_id"] == group
    assert (listed(api, group=group), listed(api, group="null")) == ([inside["cid"]], [outside["cid"]])
    assert api.put(f"/v3/groups/public/{group}/ids/{outside['id']}").status_code == 200
    assert api.delete(f"/v3/groups/public/{group}/ids/{inside['id']}").status_code == 200
    assert (listed(api, group=group), listed(api, group="null")) == ([outside["cid"]], [inside["cid"]])
    api.delete(f"/v3/groups/public/{group}")
    assert len(listed(api, group="null")) == 2, "its files stay"
    assert "group" in message(
        api.post("/v3/files", files={"file": b"x"}, data={"network": "public", "group_id": group}), 404
    )


def test_an_index_of_before_groups_goes_on(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        cid = upload(api, name="kept")["cid"]
    node.stop()
    with sqlite3.connect(tmp_path / "index.db") as index:
        index.executescript(
            "DROP TABLE jobs; DROP TABLE groups; ALTER TABLE pins DROP COLUMN group_id; PRAGMA user_version = 1"
        )
    index.close()
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        assert api.get("/v3/files/public").json()["data"]["files"][0]["name"] == "kept"
        group = api.post("/v3/groups/public", json={"name": "g"}).json()["data"]["id"]
        assert upload(api, b"new", group_id=group)["group_id"] == group
        assert listed(api, group="null") == [cid]
    node.stop()


# Pins by CID


def test_a_part_of_a_pin_is_pinned_by_its_cid(api: httpx.Client) -> None:
    api.post("/v3/files", files=[("file", ("d/hello.txt", b"hello world"))], data={"network": "public"})
    job = api.post("/v3/files/public/pin_by_cid", json={"cid": HELLO, "name": "mine"}).json()["data"]
    assert (job["cid"], job["name"], job["status"]) == (HELLO, "mine", "pinned")
    assert HELLO in listed(api)
    assert api.get("/v3/files/public/pin_by_cid").json()["data"] == {"jobs": [], "next_page_token": ""}


def test_content_that_nobody_has_is_refused(api: httpx.Client) -> None:
    assert "--fetch-from" in message(api.post("/v3/files/public/pin_by_cid", json={"cid": HELLO}), 404)
    assert "CID" in message(api.post("/v3/files/public/pin_by_cid", json={"cid": "nope"}), 400)


def wait_for_queue(api: httpx.Client, status: str = "") -> list[dict[str, Any]]:
    """The queue, once nothing is being retrieved any more."""
    while True:
        jobs = api.get("/v3/files/public/pin_by_cid", params={"limit": 250}).json()["data"]["jobs"]
        if all(job["status"] != "retrieving" for job in jobs):
            return jobs


@pytest.fixture
def elsewhere(tmp_path: Path):
    node = Node(tmp_path / "elsewhere")
    node.start()
    yield node
    node.stop()


@pytest.fixture
def fetching(tmp_path: Path, elsewhere: Node):
    """A client of a node that fetches from another one."""
    node = Node(tmp_path / "fetching", fetch_from=["http://127.0.0.1:9/ipfs", elsewhere.gateway_url])
    node.start()
    with client(node) as api:
        yield api
    node.stop()


def test_content_of_a_gateway_is_fetched_and_verified(fetching: httpx.Client, elsewhere: Node) -> None:
    with client(elsewhere) as there:
        cid = there.post("/v3/files", files=FOLDER, data={"network": "public"}).json()["data"]["cid"]
    job = fetching.post("/v3/files/public/pin_by_cid", json={"cid": cid, "name": "theirs"}).json()["data"]
    assert (job["cid"], job["status"], job["name"]) == (cid, "retrieving", "theirs")
    assert wait_for_queue(fetching) == []
    [file] = fetching.get("/v3/files/public").json()["data"]["files"]
    assert (file["cid"], file["name"], file["number_of_files"]) == (cid, "theirs", 2)
    assert fetching.get(f"/ipfs/{cid}/sub/b.txt").text == "b"


def test_a_request_that_no_gateway_can_serve_expires_and_can_be_deleted(fetching: httpx.Client) -> None:
    fetching.post("/v3/files/public/pin_by_cid", json={"cid": HELLO})
    [job] = wait_for_queue(fetching)
    assert job["status"] == "expired"
    for order in ({"sort": "DSC"}, {"sort": "ASC"}, {"order": "DESC"}):  # DSC is what the service's SDK says
        assert fetching.get("/v3/files/public/pin_by_cid", params=order).json()["data"]["jobs"] == [job]
    assert listed(fetching) == []
    assert fetching.delete(f"/v3/files/public/pin_by_cid/{job['id']}").json() == {"data": None}
    assert wait_for_queue(fetching) == []
    assert message(fetching.delete(f"/v3/files/public/pin_by_cid/{job['id']}"), 404)


# Signed URLs


def sign(api: httpx.Client, **asked: Any) -> str:
    body = {"date": int(time.time()), "expires": 60, "network": "public", **asked}
    answer = api.post("/v3/files/sign", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def test_a_signed_url_takes_one_upload_without_the_token(api: httpx.Client, anyone: httpx.Client) -> None:
    group = api.post("/v3/groups/public", json={"name": "g"}).json()["data"]["id"]
    url = sign(api, filename="theirs.txt", group_id=group, keyvalues={"by": "guest"})
    answer = anyone.post(url, files={"file": ("own.txt", b"hello world")}, headers={"Authorization": "Bearer"})
    file = answer.json()["data"]
    assert (file["cid"], file["name"]) == (HELLO, "theirs.txt")
    assert (file["group_id"], file["keyvalues"]) == (group, {"by": "guest"})


def test_a_signed_url_keeps_to_its_limits(api: httpx.Client, anyone: httpx.Client) -> None:
    def refusal(url: str, status: int, **parts: Any) -> str:
        parts = parts or {"files": {"file": ("a.txt", b"hello world")}}
        return message(anyone.post(url, **parts), status)

    assert "maximum" in refusal(sign(api, max_file_size=10), 413)
    pictures = sign(api, allow_mime_types=["image/*"])
    assert "text/plain" in refusal(pictures, 400)
    assert "directory" in refusal(sign(api, allow_mime_types=["*/*"]), 400, files=FOLDER)
    assert anyone.post(sign(api, allow_mime_types=["directory"]), files=FOLDER).status_code == 200
    assert anyone.post(pictures, files={"file": ("a.png", b"\x89PNG\r\n\x1a\n")}).status_code == 200
    assert "expired" in refusal(sign(api, date=1), 401)
    assert "wrong" in refusal(pictures[:-1] + ("0" if pictures[-1] != "0" else "1"), 401)
    assert "date" in message(api.post("/v3/files/sign", json={"expires": 60}), 400)
    for asked, words, status in (
        ({"network": "private"}, "network=public", 400),
        ({"network": "public", "streamable": True}, "streamable", 400),
        ({"network": "public", "group_id": "none"}, "No group", 404),
    ):
        assert words in message(api.post("/v3/files/sign", json={"date": 1, "expires": 60, **asked}), status)


# Uploads in pieces


def metadata(**fields: str) -> str:
    fields = {"filename": "large", "filetype": "application/x-thing", "network": "public", **fields}
    return ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in fields.items())


def begin(api: httpx.Client, length: int, url: str = "/v3/files", **fields: str) -> httpx.Response:
    return api.post(url, headers={"Upload-Length": str(length), "Upload-Metadata": metadata(**fields)})


def patch(api: httpx.Client, url: str, offset: int, data: Any) -> httpx.Response:
    headers = {"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
    return api.patch(url, headers=headers, content=data)


DATA = bytes(range(256)) * 8000


def test_an_upload_in_pieces_becomes_one_file(api: httpx.Client) -> None:
    begun = begin(api, len(DATA), keyvalues='{"a": "b"}')
    assert begun.status_code == 201
    place = begun.headers["Location"]
    first = patch(api, place, 0, DATA[:1_000_000])
    assert (first.status_code, first.headers["Upload-Offset"]) == (204, "1000000")
    assert "upload-cid" not in first.headers
    assert api.head(place).headers["Upload-Offset"] == "1000000"
    last = patch(api, place, 1_000_000, DATA[1_000_000:])
    assert (last.status_code, last.headers["upload-cid"]) == (204, cid_of(DATA))
    [file] = api.get("/v3/files/public", params={"cid": last.headers["upload-cid"]}).json()["data"]["files"]
    assert (file["name"], file["mime_type"], file["keyvalues"]) == ("large", "application/x-thing", {"a": "b"})
    assert api.get(f"/ipfs/{file['cid']}").content == DATA
    by_upload = place.split("/")[-2]
    assert api.get(f"/v3/files/public/{by_upload}").json()["data"] == file, "as the service's command asks for it"


def test_a_last_piece_whose_answer_was_lost_can_be_asked_for(api: httpx.Client) -> None:
    place = begin(api, 5).headers["Location"]
    patch(api, place, 0, b"hello")
    again = api.head(place)
    assert (again.headers["Upload-Offset"], again.headers["upload-cid"]) == ("5", cid_of(b"hello"))


def test_an_upload_goes_on_where_a_connection_broke(node: Node, api: httpx.Client) -> None:
    place = begin(api, len(DATA)).headers["Location"]

    def breaks_off():
        yield DATA[:1_500_000]
        raise OSError("the cable")

    with pytest.raises(OSError, match="the cable"), client(node) as other:
        patch(other, place, 0, breaks_off())
    arrived = 0
    while not arrived:
        arrived = int(api.head(place).headers["Upload-Offset"])
    assert 0 < arrived <= 1_500_000
    answer = patch(api, place, arrived, DATA[arrived:])
    if answer.status_code == 409:  # the rest of the broken piece arrived meanwhile
        arrived = int(answer.headers["Upload-Offset"])
        answer = patch(api, place, arrived, DATA[arrived:])
    assert answer.headers["upload-cid"] == cid_of(DATA)


def test_pieces_that_don_t_fit_are_refused(api: httpx.Client) -> None:
    place = begin(api, 10).headers["Location"]
    wrong = patch(api, place, 3, b"abc")
    assert (wrong.headers["Upload-Offset"], "0" in message(wrong, 409)) == ("0", True)
    assert "10" in message(patch(api, place, 0, b"x" * 11), 413)
    assert "Content-Type" in message(api.patch(place, headers={"Upload-Offset": "0"}, content=b"x"), 415)
    assert "Begin again" in message(patch(api, f"{place}x", 0, b"x"), 404)
    assert "network=public" in message(begin(api, 10, network="private"), 400)
    assert "deletes no files by itself" in message(begin(api, 10, expires_at="1900000000"), 400)
    assert "public files alone" in message(api.post("/v3/files/private/download_link", json={}), 403)
    assert "public files alone" in message(api.post("/v3/files/sign", json={"url": "x", "method": "GET"}), 400)


def test_pieces_go_to_a_signed_url_without_the_token(api: httpx.Client, anyone: httpx.Client) -> None:
    url = sign(api, max_file_size=100)
    assert "maximum" in message(begin(anyone, 101, url), 413)
    place = begin(anyone, 5, url).headers["Location"]
    assert patch(anyone, place, 0, b"hello").headers["upload-cid"] == cid_of(b"hello")
    own = begin(api, 5).headers["Location"]
    assert message(patch(anyone, own, 0, b"hello"), 401)


def test_the_version_of_an_upload_in_pieces_comes_with_its_address(api: httpx.Client) -> None:
    place = begin(api, 5, "/v3/files?X-Upload-Option-Cid-Version=v0").headers["Location"]
    assert patch(api, place, 0, io.BytesIO(b"hello")).headers["upload-cid"].startswith("Qm")


def test_the_sdk_tests_its_key_below_the_same_address(api: httpx.Client, anyone: httpx.Client) -> None:
    assert "Congratulations" in api.get("/v3/data/testAuthentication").json()["message"]
    assert api.get("/v3/data/userPinnedDataTotal").json()["pin_count"] == 0
    assert anyone.get("/v3/data/testAuthentication").status_code == 401
