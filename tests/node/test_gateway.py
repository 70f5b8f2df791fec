"""The gateway: files, ranges, conditions, folder pages, blocks and CARs."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from urllib.parse import quote

import httpx
import pytest

from pinui.ipfs.cid import Cid
from pinui.ipfs.verifier import CarVerifier, FileBytes, FolderEntry
from pinui.node import Node
from tests.unit.trees import Store

DATA = random.Random(3).randbytes(700_000)
Pin = Callable[..., str]


@pytest.fixture
def pin(api: httpx.Client) -> Pin:
    def pin(*files: tuple[str, bytes], version: int = 0) -> str:
        parts: list = [("pinataOptions", (None, f'{{"cidVersion": {version}}}')), *(("file", file) for file in files)]
        return api.post("/pinning/pinFileToIPFS", files=parts).json()["IpfsHash"]

    return pin


def test_a_file_comes_with_its_facts(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(("data.bin", DATA))
    answer = anyone.get(f"/ipfs/{cid}")
    assert answer.content == DATA
    assert answer.headers["ETag"] == f'"{cid}"'
    assert answer.headers["Content-Length"] == str(len(DATA))
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["X-Ipfs-Path"] == f"/ipfs/{cid}"
    assert "Access-Control-Allow-Origin" not in answer.headers
    head = anyone.head(f"/ipfs/{cid}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(DATA))


def test_either_spelling_of_a_cid_is_served(pin: Pin, anyone: httpx.Client) -> None:
    cid = Cid.parse(pin(("data.bin", DATA)))
    assert anyone.get(f"/ipfs/{cid.to_v1()}").content == DATA


def test_a_pins_name_is_known_under_either_spelling_of_its_cid(pin: Pin, anyone: httpx.Client) -> None:
    for spelling in Cid.parse(pin(("style.css", b"p {}"))).spellings():
        assert anyone.get(f"/ipfs/{spelling}").headers["Content-Type"] == "text/css; charset=utf-8"
    for spelling in Cid.parse(pin(("my folder/x", b""))).spellings():
        assert "my folder" in anyone.get(f"/ipfs/{spelling}/").text


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=100-199", 100, 200),
        ("bytes=262143-262144", 262143, 262145),
        ("bytes=699999-", 699999, 700000),
        ("bytes=-5", 699995, 700000),
        ("bytes=-9999999", 0, 700000),
        ("bytes=500000-9999999", 500000, 700000),
        ("bytes=6-16, 0-4", 6, 17),
    ],
)
def test_a_range_is_that_part_of_the_file(pin: Pin, anyone: httpx.Client, asked: str, start: int, stop: int) -> None:
    answer = anyone.get(f"/ipfs/{pin(('data.bin', DATA))}", headers={"Range": asked})
    assert answer.status_code == 206
    assert answer.headers["Content-Range"] == f"bytes {start}-{stop - 1}/700000"
    assert answer.content == DATA[start:stop]


@pytest.mark.parametrize("asked", ["bytes=700000-", "bytes=-0", "bytes=800000-900000"])
def test_a_range_outside_the_file_is_told(pin: Pin, anyone: httpx.Client, asked: str) -> None:
    answer = anyone.get(f"/ipfs/{pin(('data.bin', DATA))}", headers={"Range": asked})
    assert (answer.status_code, answer.headers["Content-Range"]) == (416, "bytes */700000")


@pytest.mark.parametrize("asked", ["bytes=", "lines=1-2", "bytes=9-1", "bytes=a-b"])
def test_what_is_no_range_gets_the_whole_file(pin: Pin, anyone: httpx.Client, asked: str) -> None:
    answer = anyone.get(f"/ipfs/{pin(('data.bin', DATA))}", headers={"Range": asked})
    assert (answer.status_code, answer.content) == (200, DATA)


@pytest.mark.parametrize("query", ["", "?format=car"])
def test_a_file_that_has_lost_a_block_breaks_off_instead_of_ending_short(
    node: Node, pin: Pin, api: httpx.Client, query: str
) -> None:
    cid = pin(("data.bin", random.Random(4).randbytes(6_000_000)))
    with closing(sqlite3.connect(node.data_dir / "index.db", isolation_level=None)) as index:
        index.execute("DELETE FROM blocks WHERE offset = (SELECT max(offset) FROM blocks WHERE length > 200000)")
    with pytest.raises(httpx.RemoteProtocolError):
        api.get(f"/ipfs/{cid}{query}")
    assert api.get("/data/testAuthentication").status_code == 200


def test_conditions_are_honoured(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(("data.bin", DATA))
    for tag in (f'"{cid}"', f'"x", W/"{cid}"', "*"):
        answer = anyone.get(f"/ipfs/{cid}", headers={"If-None-Match": tag})
        assert (answer.status_code, answer.content) == (304, b"")
    part = {"Range": "bytes=0-9"}
    assert anyone.get(f"/ipfs/{cid}", headers=part | {"If-Range": f'"{cid}"'}).status_code == 206
    assert anyone.get(f"/ipfs/{cid}", headers=part | {"If-Range": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("page.html", b"<p>", "text/html; charset=utf-8"),
        ("data.json", b"{}", "application/json"),
        ("notes.md", b"# x", "text/markdown; charset=utf-8"),
        ("unknown", b"\x89PNG\r\n\x1a\n....", "image/png"),
        ("unknown", b'{"a": 1}', "application/json"),
        ("unknown", "grüße".encode(), "text/plain; charset=utf-8"),
        ("unknown", b"\x00\x01", "application/octet-stream"),
        ("unknown", b"<svg xmlns=''>", "image/svg+xml"),
        ("a.tar.gz", b"\x1f\x8b\x08", "application/gzip"),
    ],
)
def test_the_content_type_follows_name_or_content(
    pin: Pin, anyone: httpx.Client, name: str, data: bytes, kind: str
) -> None:
    assert anyone.get(f"/ipfs/{pin((name, data))}").headers["Content-Type"] == kind


def test_a_name_can_be_given_and_a_download_asked_for(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(("unknown", b"text"))
    answer = anyone.get(f"/ipfs/{cid}", params={"filename": 'grün "x".css'})
    assert answer.headers["Content-Type"] == "text/css; charset=utf-8"
    assert answer.headers["Content-Disposition"] == (
        "inline; filename=\"gr_n _x_.css\"; filename*=UTF-8''gr%C3%BCn%20%22x%22.css"
    )
    download = anyone.get(f"/ipfs/{cid}", params={"download": "true", "filename": "a.txt"})
    assert download.headers["Content-Disposition"].startswith('attachment; filename="a.txt"')
    assert anyone.get(f"/ipfs/{cid}").headers.get("Content-Disposition") is None


FOLDER = (("r/a.txt", b"a"), ("r/sub/b.txt", b"bb"), ("r/<b>&'.txt", b"c"), ("r/sub/big.bin", DATA))


def test_a_folder_is_a_page_of_links(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(*FOLDER, version=1)
    assert anyone.get(f"/ipfs/{cid}?a=b").headers["Location"] == f"/ipfs/{cid}/?a=b"
    page = anyone.get(f"/ipfs/{cid}/")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "<title>r</title>" in page.text
    assert '<a href="./a.txt">a.txt</a></td><td class="size">1 B</td>' in page.text
    assert page.text.index('<a href="./sub/">sub/</a>') < page.text.index("a.txt"), "folders come first"
    assert 'href="./%3Cb%3E%26%27.txt">&lt;b&gt;&amp;&#x27;.txt' in page.text
    assert anyone.get(f"/ipfs/{cid}/%3Cb%3E%26%27.txt").content == b"c"
    inner = anyone.get(f"/ipfs/{cid}/sub", follow_redirects=True)
    assert inner.headers["X-Ipfs-Roots"].startswith(f"{cid},bafy")
    assert 'href="./b.txt"' in inner.text
    assert "700 kB" in inner.text


def test_a_folder_with_an_index_shows_that(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(("site/index.html", b"<h1>Hello"), ("site/x/index.html/y", b""))
    page = anyone.get(f"/ipfs/{cid}", follow_redirects=True)
    assert (page.text, page.headers["Content-Type"]) == ("<h1>Hello", "text/html; charset=utf-8")
    # What the page is called and whether it is known already is said of the folder that was asked for.
    assert page.headers["X-Ipfs-Path"] == f"/ipfs/{cid}/"
    assert (page.headers["X-Ipfs-Roots"], page.headers["ETag"]) == (cid, f'"{cid}"')
    assert anyone.get(f"/ipfs/{cid}/", headers={"If-None-Match": f'"{cid}"'}).status_code == 304
    assert "index.html" in anyone.get(f"/ipfs/{cid}/x/").text


def test_a_folder_page_is_asked_for_again_as_it_may_look_different(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(*FOLDER)
    page = anyone.get(f"/ipfs/{cid}/sub/")
    assert page.headers["X-Ipfs-Path"] == f"/ipfs/{cid}/sub/"
    assert "Cache-Control" not in page.headers
    again = anyone.get(f"/ipfs/{cid}/sub/", headers={"If-None-Match": page.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["Portugal%2C+España=Peninsula Ibérica.txt", "a?b#c", "100%", "雪 🌨.txt"])
def test_any_name_can_be_asked_for(pin: Pin, anyone: httpx.Client, name: str) -> None:
    cid = pin((f"r/{name}", b"here"), ("r/other", b""))
    assert anyone.get(f"/ipfs/{cid}/{quote(name, safe='')}").text == "here"


def test_what_is_asked_for_only_if_it_is_here_and_is_not_is_a_412(pin: Pin, anyone: httpx.Client) -> None:
    local = {"Cache-Control": "only-if-cached"}
    assert anyone.head(f"/ipfs/{pin(('a', b'a'))}", headers=local).status_code == 200
    missing = "/ipfs/QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
    assert [anyone.request(method, missing, headers=local).status_code for method in ("GET", "HEAD")] == [412, 412]


def test_no_page_can_make_itself_the_keeper_of_every_other(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(("r/worker.js", b"//"))
    worker = {"Service-Worker": "script"}
    assert anyone.get(f"/ipfs/{cid}/worker.js", headers=worker).status_code == 200
    single = pin(("worker.js", b"// all of /ipfs/ would be its"))
    assert anyone.get(f"/ipfs/{single}", headers=worker).status_code == 400


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/ipfs/QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH", 404, "This node does not have QmbFMke1"),
        ("/ipfs/rubbish", 400, "'rubbish' is not a CID."),
        ("/ipfs/", 400, "is not a CID."),
        ("/ipfs/bafkqaaa/x", 404, "There is no 'x' in bafkqaaa."),
        ("/ipfs/bafkqaaa?format=tar", 406, "'tar' is not served"),
        ("/ipfs/bafkqaaa?format=car&dag-scope=x", 400, "dag-scope must be"),
        ("/ipfs/bafkqaaa?format=car&entity-bytes=x", 400, "entity-bytes must be"),
        ("/ipfs/bafkqaaa?format=car&car-version=2", 400, "Only version 1"),
        ("/ipfs/baf4aaaa", 501, "neither a file nor a folder"),
    ],
)
def test_what_can_not_be_served_is_a_sentence(anyone: httpx.Client, path: str, status: int, sentence: str) -> None:
    answer = anyone.get(path)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert sentence in answer.text


def test_only_reading_methods_are_answered(anyone: httpx.Client) -> None:
    assert anyone.post("/ipfs/bafkqaaa").status_code == 405


def test_a_block_is_served_raw(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(("data.bin", DATA))
    by_query = anyone.get(f"/ipfs/{cid}?format=raw")
    by_header = anyone.get(f"/ipfs/{cid}", headers={"Accept": "application/vnd.ipld.raw"})
    assert by_query.headers["Content-Type"] == by_header.headers["Content-Type"] == "application/vnd.ipld.raw"
    assert by_query.content == by_header.content
    assert by_query.headers["ETag"] == f'"{cid}.raw"'
    from pinui.ipfs.multihash import verify_block

    verify_block(Cid.parse(cid), by_query.content)
    part = anyone.get(f"/ipfs/{cid}?format=raw", headers={"Range": "bytes=6-16"})
    assert (part.status_code, part.headers["Content-Range"]) == (206, f"bytes 6-16/{len(by_query.content)}")
    assert part.content == by_query.content[6:17]


def test_the_probe_of_trustless_clients_is_answered(anyone: httpx.Client) -> None:
    answer = anyone.get("/ipfs/bafkqaaa?format=raw")
    assert (answer.status_code, answer.content) == (200, b"")


CAR_TYPE = "application/vnd.ipld.car; version=1; order=dfs; dups=y"


def test_a_car_proves_a_file(pin: Pin, anyone: httpx.Client) -> None:
    for data in (DATA, bytes(1_000_000), b""):
        cid = pin(("data.bin", data))
        answer = anyone.get(f"/ipfs/{cid}", headers={"Accept": CAR_TYPE})
        assert answer.headers["Content-Type"] == CAR_TYPE
        verifier = CarVerifier(Cid.parse(cid))
        events = [*verifier.feed(answer.content), *verifier.finish()]
        assert b"".join(event.data for event in events if isinstance(event, FileBytes)) == data


def test_a_car_repeats_blocks_unless_asked_not_to(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(("zeros", bytes(2_000_000)))
    less = {"Accept": CAR_TYPE.replace("dups=y", "dups=n")}
    once = anyone.get(f"/ipfs/{cid}", headers=less)
    assert once.content == anyone.get(f"/ipfs/{cid}?format=car", headers=less).content
    again = anyone.get(f"/ipfs/{cid}?format=car")
    assert once.headers["Content-Type"].endswith("dups=n")
    assert len(once.content) < len(again.content)
    verifier = CarVerifier(Cid.parse(cid), repeats=False)
    events = [*verifier.feed(once.content), *verifier.finish()]
    assert b"".join(event.data for event in events if isinstance(event, FileBytes)) == bytes(2_000_000)


def test_a_car_of_a_path_begins_at_the_root(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(*FOLDER)
    answer = anyone.get(f"/ipfs/{cid}/sub/b.txt?format=car")
    verifier = CarVerifier(Cid.parse(cid), ("sub", "b.txt"))
    events = [*verifier.feed(answer.content), *verifier.finish()]
    assert [bytes(event.data) for event in events if isinstance(event, FileBytes)] == [b"bb"]


def test_the_scope_decides_how_much_a_car_holds(pin: Pin, anyone: httpx.Client) -> None:
    cid = pin(*FOLDER)

    def blocks(query: str) -> int:
        return Store.from_car(anyone.get(f"/ipfs/{cid}{query}").content, 65536)[2]

    assert blocks("?format=car&dag-scope=block") == 1
    assert blocks("?format=car&dag-scope=entity") == 1
    assert blocks("?format=car") == 9
    assert blocks("/sub/big.bin?format=car&dag-scope=block") == 3
    assert blocks("/sub/big.bin?format=car&dag-scope=entity") == 6
    listing = anyone.get(f"/ipfs/{cid}?format=car&dag-scope=entity").content
    verifier = CarVerifier(Cid.parse(cid), deep=False)
    entries = [event for event in verifier.feed(listing) if isinstance(event, FolderEntry)]
    assert [entry.name for entry in entries] == ["<b>&'.txt", "a.txt", "sub"]


@pytest.mark.parametrize(
    ("span", "leaves"), [("0:*", 3), ("0:0", 1), ("262143:262144", 2), ("-1:*", 1), ("300000:-200000", 1)]
)
def test_a_car_can_hold_a_part_of_a_file(pin: Pin, anyone: httpx.Client, span: str, leaves: int) -> None:
    cid = pin(("data.bin", DATA), version=1)
    content = anyone.get(f"/ipfs/{cid}?format=car&dag-scope=entity&entity-bytes={span}").content
    assert Store.from_car(content, 65536)[2] == 1 + leaves
