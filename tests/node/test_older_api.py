"""The older API beyond its basics, as applications use it: keys, bare JSON, filters, options, jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pinui.node import Node
from tests.node.conftest import client

HELLO = "QmTp2hEo8eXRp6wg7jXv1BLCMh5a4F3B7buAUZNZUu772j"


def pin(api: httpx.Client, content: Any, **keyvalues: Any) -> str:
    body = {"pinataContent": content, "pinataMetadata": {"keyvalues": keyvalues}}
    return api.post("/pinning/pinJSONToIPFS", json=body).json()["IpfsHash"]


def sentence(answer: httpx.Response, status: int = 400) -> str:
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    return error if isinstance(error, str) else error["details"]


# Keys


def test_a_key_and_a_secret_are_as_good_as_a_bearer_token(node: Node, anyone: httpx.Client) -> None:
    good = {"pinata_api_key": "any", "pinata_secret_api_key": node.token}
    assert anyone.get("/data/testAuthentication", headers=good).status_code == 200
    for wrong in (
        {"pinata_api_key": "any", "pinata_secret_api_key": "wrong"},
        {"pinata_secret_api_key": node.token},
        {"pinata_api_key": node.token},
        {**good, "Authorization": "Bearer wrong"},
    ):
        assert anyone.get("/data/testAuthentication", headers=wrong).status_code == 401


# JSON without a frame


@pytest.mark.parametrize("content", [{"name": "NFT", "attributes": [1.0]}, [1, 2], {"pinataOther": 1}])
def test_a_bare_document_is_what_is_stored(node: Node, api: httpx.Client, content: Any) -> None:
    cid = api.post("/pinning/pinJSONToIPFS", json=content).json()["IpfsHash"]
    assert api.get(f"/ipfs/{cid}").json() == content


def test_options_without_content_are_no_document(api: httpx.Client) -> None:
    assert sentence(api.post("/pinning/pinJSONToIPFS", json={"pinataMetadata": {"name": "x"}}))


# Filters


@pytest.fixture
def account(api: httpx.Client) -> dict[str, str]:
    """Pins by a name that their keyvalues tell."""
    return {
        "red": pin(api, "red", colour="Red", size=3, flag=True),
        "blue": pin(api, "blue", colour="blue", size=5),
        "none": pin(api, "none"),
        "light": pin(api, "light", colour="light blue", size=10.5),
    }


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"colour": {"value": "blue", "op": "eq"}}, "blue"),
        ({"colour": {"value": "blue", "op": "ne"}}, "red light"),
        ({"size": {"value": 5, "op": "gt"}}, "light"),
        ({"size": {"value": 5, "op": "gte"}}, "blue light"),
        ({"size": {"value": 5, "op": "lt"}}, "red"),
        ({"size": {"value": 5, "op": "lte"}}, "red blue"),
        ({"size": {"value": 4, "secondValue": 11, "op": "between"}}, "blue light"),
        ({"size": {"value": 4, "secondValue": 6, "op": "notBetween"}}, "red light"),
        ({"colour": {"value": "%blue", "op": "like"}}, "blue light"),
        ({"colour": {"value": "r_d", "op": "like"}}, ""),
        ({"colour": {"value": "r_d", "op": "iLike"}}, "red"),
        ({"colour": {"value": "%blue", "op": "notLike"}}, "red"),
        ({"colour": {"value": "%BLUE", "op": "notILike"}}, "red"),
        ({"colour": {"value": "^l.*e$", "op": "regexp"}}, "light"),
        ({"colour": {"value": "^RED", "op": "iRegexp"}}, "red"),
        ({"flag": {"value": "true", "op": "eq"}}, "red"),
        ({"colour": {"value": "%e%", "op": "like"}, "size": {"value": 4, "op": "gt"}}, "blue light"),
    ],
)
def test_keyvalues_are_filtered_with_every_operator(
    api: httpx.Client, account: dict[str, str], asked: dict[str, Any], found: str
) -> None:
    answer = api.get("/data/pinList", params={"metadata[keyvalues]": json.dumps(asked), "includeCount": "true"})
    names = {cid: name for name, cid in account.items()}
    assert {names[row["ipfs_pin_hash"]] for row in answer.json()["rows"]} == set(found.split())
    assert answer.json()["count"] == len(found.split())


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"metadata[keyvalues]": '{"a": {"value": 1, "op": "near"}}'}, "near"),
        ({"metadata[keyvalues]": '{"a": {"value": 1, "op": "between"}}'}, "secondValue"),
        ({"metadata[keyvalues]": '{"a": {"value": "(", "op": "regexp"}}'}, "regular expression"),
        ({"metadata[keyvalues]": '{"a": 1}'}, "op"),
        ({"metadata[keyvalues]": "{"}, "JSON"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_filter_that_makes_no_sense_is_an_error_with_a_sentence(
    api: httpx.Client, query: dict[str, str], words: str
) -> None:
    assert words in sentence(api.get("/data/pinList", params=query))


def test_a_group_filters_and_is_told(api: httpx.Client) -> None:
    group = api.post("/v3/groups/public", json={"name": "g"}).json()["data"]["id"]
    options = {"groupId": group}
    body = {"pinataContent": 1, "pinataOptions": options}
    inside = api.post("/pinning/pinJSONToIPFS", json=body).json()
    assert inside["GroupId"] == group
    form = {"pinataOptions": json.dumps(options)}
    file = api.post("/pinning/pinFileToIPFS", files={"file": ("a", b"a")}, data=form).json()
    pin(api, "outside")
    rows = api.get("/data/pinList", params={"groupId": group}).json()["rows"]
    assert [row["ipfs_pin_hash"] for row in rows] == [file["IpfsHash"], inside["IpfsHash"]]
    body["pinataOptions"] = {"groupId": "none"}
    assert "group" in sentence(api.post("/pinning/pinJSONToIPFS", json=body), 404)


# Options


def test_a_single_file_is_wrapped_in_a_folder_on_request(api: httpx.Client) -> None:
    form = {"pinataOptions": '{"wrapWithDirectory": true}'}
    answer = api.post("/pinning/pinFileToIPFS", files={"file": ("a.txt", b"hello")}, data=form).json()
    assert (answer["MimeType"], answer["NumberOfFiles"]) == ("directory", 1)
    assert api.get(f"/ipfs/{answer['IpfsHash']}/a.txt").text == "hello"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"customPinPolicy": {"regions": []}}, "one copy"),
        ({"colour": "red"}, "colour"),
        ({"wrapWithDirectory": "yes"}, "wrapWithDirectory"),
    ],
)
def test_an_option_that_the_node_does_not_have_is_an_error(api: httpx.Client, options: Any, words: str) -> None:
    assert words in sentence(api.post("/pinning/pinJSONToIPFS", json={"pinataContent": 1, "pinataOptions": options}))


# Jobs


@pytest.fixture
def fetching(tmp_path: Path, node: Node) -> Iterator[httpx.Client]:
    """A client of a node that fetches from the other one."""
    other = Node(tmp_path / "fetching", fetch_from=[node.gateway_url])
    other.start()
    with client(other) as api:
        yield api
    other.stop()


def test_content_of_a_gateway_is_pinned_by_its_hash_and_jobs_tell_how_far_it_is(
    api: httpx.Client, fetching: httpx.Client
) -> None:
    cid = pin(api, "theirs")
    body = {"hashToPin": cid, "pinataMetadata": {"name": "mine"}, "pinataOptions": {"hostNodes": ["/ip4/1.2.3.4"]}}
    job = fetching.post("/pinning/pinByHash", json=body).json()
    assert (job["ipfsHash"], job["status"], job["name"]) == (cid, "retrieving", "mine")
    while fetching.get("/pinning/pinJobs").json()["count"]:
        pass
    [row] = fetching.get("/data/pinList").json()["rows"]
    assert (row["ipfs_pin_hash"], row["metadata"]["name"]) == (cid, "mine")


def test_jobs_are_listed_oldest_or_newest_first(fetching: httpx.Client) -> None:
    cids = [HELLO, "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"]  # nobody has these
    for cid in cids:
        fetching.post("/pinning/pinByHash", json={"hashToPin": cid})
    for order, expected in (("", cids), ("ASC", cids), ("DSC", cids[::-1]), ("DESC", cids[::-1])):
        rows = fetching.get("/pinning/pinJobs", params={"sort": order}).json()["rows"]
        assert [row["ipfs_pin_hash"] for row in rows] == expected
    assert fetching.get("/pinning/pinJobs", params={"sort": "up"}).status_code == 400


def test_a_job_that_failed_is_listed(fetching: httpx.Client) -> None:
    fetching.post("/pinning/pinByHash", json={"hashToPin": HELLO})
    jobs: dict[str, Any] = {"rows": []}
    while not jobs["rows"]:
        jobs = fetching.get("/pinning/pinJobs", params={"status": "expired", "ipfs_pin_hash": HELLO}).json()
    [row] = jobs["rows"]
    assert (row["ipfs_pin_hash"], row["status"], jobs["count"]) == (HELLO, "expired", 1)
    assert fetching.get("/pinning/pinJobs", params={"status": "retrieving"}).json() == {"count": 0, "rows": []}
    assert "status" in sentence(fetching.get("/pinning/pinJobs", params={"state": "x"}))


# Paths


def test_two_slashes_where_the_path_begins_are_one(node: Node, api: httpx.Client) -> None:
    assert api.get(f"{node.api_url}//data/testAuthentication").status_code == 200
    assert api.get(f"{node.api_url}//data/nothing").status_code == 404


@pytest.mark.parametrize("path", ["/ipfs", "/ipns", "/ipns/example.com", "/ipns/example.com/a"])
def test_names_and_the_bare_gateway_are_not_found(anyone: httpx.Client, path: str) -> None:
    answer = anyone.get(path)
    assert answer.status_code == 404
    assert answer.text.endswith(".\n")
