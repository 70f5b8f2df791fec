"""The public conformance suite for gateways: its cases for what is promised here.

They run on archives that the tests build, and where the suite's own archives are beside the project, on those as well.
Not for the node: names that change (/ipns/), subdomains and tar archives. Values (dag-cbor, dag-json) are in test_cars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest

from pinui.ipfs.car import CarReader
from pinui.ipfs.cid import Cid
from pinui.ipfs.dagpb import decode_node
from pinui.ipfs.errors import MissingBlock
from pinui.ipfs.exporter import list_folder, walk_blocks
from pinui.ipfs.verifier import CarVerifier
from pinui.node import Node
from pinui.node.index import Pin, insert_pin
from pinui.node.store import PinStore
from tests.node.conftest import client
from tests.unit.trees import Tree, archive_of
from tests.unit.vectors import VECTORS

CACHE = "nested"
FILES = "files"
TWO_FILES = "two files"
MIXED = "mixed files"
SHARDED = "sharded"
INCOMPLETE = "in three parts, incomplete"
BLOCK = "a folder"
ODD_NAME = "an odd name"
LINKED = "a symbolic link"
# Trees of ours, and the suite's archives of the same shape.
PUBLIC = {
    CACHE: "gateway-cache-fixtures",
    FILES: "path_gateway_unixfs-dir-with-files",
    TWO_FILES: "trustless_gateway_car-subdir-with-two-single-block-files",
    MIXED: "trustless_gateway_car-subdir-with-mixed-block-files",
    SHARDED: "trustless_gateway_car-single-layer-hamt-with-multi-block-files",
    INCOMPLETE: "trustless_gateway_car-file-3k-and-3-blocks-missing-block",
    BLOCK: "gateway-raw-block",
    ODD_NAME: "path_gateway_unixfs-dir-with-percent-encoded-filename",
    LINKED: "path_gateway_unixfs-symlink",
}
IMMUTABLE = "public, max-age=29030400, immutable"

Archives = Callable[[str], bytes]
Trees = Callable[[str], Tree]


def public_archive_of(name: str) -> bytes:
    return (VECTORS / "car" / f"gwc--{PUBLIC[name]}.car").read_bytes()


SOURCES = {"ours": archive_of} | ({"public": public_archive_of} if VECTORS.is_dir() else {})


@pytest.fixture(scope="module", params=SOURCES)
def archives(request: pytest.FixtureRequest) -> Archives:
    return SOURCES[request.param]


@pytest.fixture(scope="module")
def tree(archives: Archives) -> Trees:
    return lambda name: Tree.from_car(archives(name))


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, archives: Archives) -> Iterator[httpx.Client]:
    """A node that holds the archives; one lacks a block on purpose, so no API would take it."""
    folder = tmp_path_factory.mktemp("node")
    store = PinStore(folder)
    for number, name in enumerate(PUBLIC):
        adopt(store, f"{number}.car", archives(name))
    store.close()
    node = Node(folder)
    node.start()
    with client(node, with_token=False) as http:
        yield http
    node.stop()


def adopt(store: PinStore, name: str, archive: bytes) -> None:
    """Make an archive a pin as it is."""
    reader, places = CarReader(), {}
    for block in reader.feed(archive):
        places[block.cid.digest] = (reader.position - len(block.data), len(block.data))
    reader.finish()
    (store.folder / "pins" / name).write_bytes(archive)
    assert reader.roots
    [root] = reader.roots
    pin = Pin(name, str(root), 0, 1, None, None, None, 0, None, name)
    store.change(lambda connection: insert_pin(connection, pin, places))


def blocks(answer: httpx.Response, status: int = 200) -> list[Cid]:
    """What a CAR holds, in order, and that its headers are as they must be."""
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("application/vnd.ipld.car")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Accept-Ranges"] == "none"
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    reader = CarReader()
    found = [block.cid for block in reader.feed(answer.content)]
    reader.finish()
    return found


def test_folders_and_files_say_where_they_are_and_how_long_they_last(gateway: httpx.Client, tree: Trees) -> None:
    fixture = tree(CACHE)
    folder = f"/ipfs/{fixture.root}/root2/root3/"
    page = gateway.get(folder)
    assert page.headers["X-Ipfs-Path"] == folder
    assert page.headers["X-Ipfs-Roots"] == ",".join(map(str, fixture.way("root2", "root3")))
    assert page.headers["ETag"].startswith('"DirIndex-')
    assert page.headers["ETag"].endswith(f'_CID-{fixture.cid("root2", "root3")}"')
    assert "Cache-Control" not in page.headers
    for path, names in ((f"{folder}root4/", ()), (f"{folder}root4/index.html", ("index.html",))):
        answer = gateway.get(path)
        names = ("root2", "root3", "root4", *names)
        assert answer.headers["Cache-Control"] == IMMUTABLE
        assert answer.headers["X-Ipfs-Path"] == path
        assert answer.headers["X-Ipfs-Roots"] == ",".join(map(str, fixture.way(*names)))
        assert answer.headers["ETag"] == f'"{fixture.cid(*names)}"'
        for known in (
            answer.headers["ETag"],
            f'"a", "b", {answer.headers["ETag"]}',
            f"W/{answer.headers['ETag']}",
            "*",
        ):
            assert gateway.get(path, headers={"If-None-Match": known}).status_code == 304
    for known in (page.headers["ETag"], f"W/{page.headers['ETag']}", f'W/"{fixture.cid("root2", "root3")}"'):
        assert gateway.get(folder, headers={"If-None-Match": known}).status_code == 304
    raw = gateway.get(f"{folder}root4/?format=raw")
    assert raw.content == fixture.store(fixture.cid("root2", "root3", "root4"))
    assert raw.headers["Cache-Control"] == IMMUTABLE


def test_ranges_of_files_are_served_even_if_other_parts_are_missing(gateway: httpx.Client, tree: Trees) -> None:
    fixture = tree(FILES)
    path, data = f"/ipfs/{fixture.root}/ascii.txt", fixture.store(fixture.cid("ascii.txt"))
    assert gateway.get(path).headers["Accept-Ranges"] == "bytes"
    for asked, start, stop in (("6-16", 6, 17), ("-3", 28, 31), ("6-16,0-4", 6, 17)):
        answer = gateway.get(path, headers={"Range": f"bytes={asked}"})
        assert (answer.status_code, answer.content) == (206, data[start:stop])
        assert answer.headers["Content-Range"] == f"bytes {start}-{stop - 1}/31"
    for asked in ("997-1000", "2200-2201"):
        answer = gateway.get(f"/ipfs/{tree(INCOMPLETE).root}", headers={"Range": f"bytes={asked}"})
        assert (answer.status_code, answer.headers["Content-Range"]) == (206, f"bytes {asked}/3072")


def test_odd_names_links_and_missing_names_are_told_apart(gateway: httpx.Client, tree: Trees) -> None:
    percent, linked = tree(ODD_NAME), tree(LINKED)
    [name] = [entry.name or "" for entry in list_folder(percent.root, percent.store)]
    escaped = "Portugal%252C+España=Peninsula%20Ibérica.txt"
    assert gateway.get(f"/ipfs/{percent.root}/{escaped}").content == percent.store(percent.cid(name))
    page = gateway.get(f"/ipfs/{linked.root}/").text
    assert ">foo<" in page
    assert ">bar<" in page
    assert gateway.get(f"/ipfs/{linked.root}/bar").text == "foo"
    assert gateway.get(f"/ipfs/{linked.root}/i-do-not-exist").status_code == 404


def test_blocks_come_raw_by_parameter_or_header(gateway: httpx.Client, tree: Trees) -> None:
    fixture = tree(BLOCK)
    accept = {"Accept": "application/vnd.ipld.raw"}
    for answer in (
        gateway.get(f"/ipfs/{fixture.cid('dir')}?format=raw"),
        gateway.get(f"/ipfs/{fixture.cid('dir')}", headers=accept),
        gateway.get(f"/ipfs/{fixture.cid('dir')}?format=raw", headers={"Accept": "application/vnd.ipld.car"}),
    ):
        assert answer.headers["Content-Type"] == "application/vnd.ipld.raw"
        assert answer.content == fixture.store(fixture.cid("dir"))
    other = gateway.get(f"/ipfs/{fixture.cid('dir')}?format=car", headers=accept)
    assert blocks(other) == [fixture.cid("dir"), fixture.cid("dir", "ascii.txt")]
    cid = fixture.cid("dir", "ascii.txt")
    file = gateway.get(f"/ipfs/{cid}?filename=foobar.bin", headers=accept)
    assert file.headers["Content-Disposition"].startswith('attachment; filename="foobar.bin"')
    assert file.headers["Content-Length"] == str(len(fixture.store(cid)))
    assert (file.headers["X-Ipfs-Path"], file.headers["X-Ipfs-Roots"]) == (f"/ipfs/{cid}", str(cid))
    assert (file.headers["Cache-Control"], file.headers["X-Content-Type-Options"]) == (IMMUTABLE, "nosniff")
    for asked in ("6-16", "6-16,0-4"):
        part = gateway.get(f"/ipfs/{cid}", headers=accept | {"Range": f"bytes={asked}"})
        assert (part.status_code, part.content) == (206, fixture.store(cid)[6:17])


def test_a_car_holds_the_way_and_what_the_scope_asks_for(gateway: httpx.Client, tree: Trees) -> None:
    two, mixed, sharded = tree(TWO_FILES), tree(MIXED), tree(SHARDED)
    shards = [cid for cid, _ in walk_blocks(sharded.root, sharded.store, "entity")]
    multi = ("subdir", "multiblock.txt")
    for fixture, path, query, expected in (
        (two, ("subdir", "ascii.txt"), "", two.way("subdir", "ascii.txt")),
        (sharded, ("685.txt",), "", sharded.way("685.txt") + sharded.below("685.txt")),
        (two, ("subdir",), "&dag-scope=block", two.way("subdir")),
        (two, ("subdir", "ascii.txt"), "&dag-scope=block", two.way("subdir", "ascii.txt")),
        (sharded, ("1.txt",), "&dag-scope=block", sharded.way("1.txt")),
        (two, (), "&dag-scope=entity", [two.root]),
        (sharded, (), "&dag-scope=entity", shards),
        (sharded, (), "&dag-scope=entity&entity-bytes=0:*", shards),
        (mixed, ("subdir", "ascii.txt"), "&dag-scope=entity", mixed.way("subdir", "ascii.txt")),
        (mixed, multi, "&dag-scope=entity", mixed.way(*multi) + mixed.below(*multi)),
        (mixed, multi, "&dag-scope=entity&entity-bytes=0:*", mixed.way(*multi) + mixed.below(*multi)),
        (mixed, ("subdir",), "&dag-scope=all", mixed.way("subdir") + mixed.below("subdir")),
        (mixed, multi, "&dag-scope=all", mixed.way(*multi) + mixed.below(*multi)),
    ):
        place = "/".join((str(fixture.root), *path))
        assert blocks(gateway.get(f"/ipfs/{place}?format=car{query}")) == expected, (path, query)
        by_header = gateway.get(f"/ipfs/{place}?{query}", headers={"Accept": "application/vnd.ipld.car"})
        assert blocks(by_header) == expected, (path, query)


def test_a_car_of_a_path_that_leads_nowhere_is_404_and_holds_the_proof(gateway: httpx.Client, tree: Trees) -> None:
    two, sharded = tree(TWO_FILES), tree(SHARDED)
    for fixture, path, proof in (
        (two, "subdir/i-do-not-exist", two.way("subdir")),
        (two, "i-do-not-exist/at/all", [two.root]),
        (two, "subdir/ascii.txt/not-a-folder", two.way("subdir", "ascii.txt")),
        (sharded, "i-do-not-exist", None),
    ):
        place = f"/ipfs/{fixture.root}/{path}?format=car"
        answer = gateway.get(place, headers={"If-None-Match": "*"})
        found = blocks(answer, status=404)
        assert found == (proof or found)
        with pytest.raises(MissingBlock, match="there is no"):
            list(CarVerifier(fixture.root, tuple(path.split("/"))).feed(answer.content))
        assert (gateway.head(place).status_code, gateway.head(place).content) == (404, b"")
        plain = gateway.get(f"/ipfs/{fixture.root}/{path}")
        assert (plain.status_code, plain.headers["Content-Type"]) == (404, "text/plain; charset=utf-8")


@pytest.mark.parametrize(
    ("span", "parts"),
    [
        ("512:*", slice(2, None)),
        ("512:1023", slice(2, 4)),
        ("512:-256", slice(2, 4)),
        ("-5:*", slice(3, None)),
        ("-9999:*", slice(0, None)),
        ("-9999:-3", slice(0, 4)),
        ("0:0", slice(0, 1)),
    ],
)
def test_a_car_of_some_bytes_holds_no_more_than_these_need(
    gateway: httpx.Client, tree: Trees, span: str, parts: slice
) -> None:
    fixture, path = tree(MIXED), ("subdir", "multiblock.txt")
    answer = gateway.get(f"/ipfs/{fixture.cid(*path)}?format=car&dag-scope=entity&entity-bytes={span}")
    assert blocks(answer) == [fixture.cid(*path), *fixture.below(*path)[parts]]


def test_a_car_of_some_bytes_needs_no_others(gateway: httpx.Client, tree: Trees) -> None:
    fixture = tree(INCOMPLETE)
    first, _, third = decode_node(fixture.store(fixture.root)).links
    for span, leaf in (("0:1000", first.cid), ("2200:*", third.cid)):
        answer = gateway.get(f"/ipfs/{fixture.root}?format=car&dag-scope=entity&entity-bytes={span}")
        assert blocks(answer) == [fixture.root, leaf]


def test_order_and_duplicates_are_as_asked_for(gateway: httpx.Client, tree: Trees) -> None:
    fixture = tree(FILES)
    every = [cid for cid, _ in walk_blocks(fixture.root, fixture.store)]
    once = list(dict.fromkeys(every))
    assert len(once) < len(every)
    kind = "application/vnd.ipld.car; version=1"
    for query, accept, expected, said in (
        ("", f"{kind}; order=dfs; dups=y", every, "order=dfs; dups=y"),
        ("", f"{kind}; order=dfs; dups=n", once, "order=dfs; dups=n"),
        ("", f"{kind}; order=unk", every, "order=dfs"),
        ("?format=car", f"{kind}; order=dfs; dups=n", once, "order=dfs; dups=n"),
        ("?format=car&car-order=dfs", f"{kind}; order=unk", every, "order=dfs"),
        ("?format=car&car-dups=y", f"{kind}; dups=n", every, "dups=y"),
    ):
        answer = gateway.get(f"/ipfs/{fixture.root}{query}", headers={"Accept": accept})
        assert said in answer.headers["Content-Type"]
        assert blocks(answer) == expected
    identity = gateway.get("/ipfs/bafkqaf3imvwgy3zaneqgc3janfxgy2lomvscay3jmqfa", headers={"Accept": f"{kind}; dups=y"})
    assert blocks(identity) == []
