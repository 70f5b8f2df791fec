"""Importing: the CIDs that Kubo gives, whatever pieces the bytes arrive in."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import aleph_cid
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinui.ipfs.cid import Cid
from pinui.ipfs.dagpb import Link
from pinui.ipfs.errors import MalformedContent, UnsupportedContent
from pinui.ipfs.exporter import list_folder, load, read_file, resolve
from pinui.ipfs.folders import FolderBuilder, make_folder
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, UNIXFS_2025, CidPredictor, Importer, ImportProfile, NewBlock
from pinui.ipfs.multihash import verify_block
from pinui.ipfs.unixfs import FilePiece
from tests.unit.trees import Store

KNOWN = [
    (
        0,
        "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
        None,
    ),
    (
        1,
        "QmcHFYKzbGeJYtDtcHEjgpKas4wZm8M25hjRusVLjou6Kx",
        "bafkreiekgmp53zydf4z2ohq3fysx3aawny2i4ah4wf4rj5el3nl2drrqa4",
        None,
    ),
    (
        262144,
        "Qmbd9VNLTfpBW2arj1AkAJnVRYBq1WEY6Uu6wLEiemGipi",
        "bafkreih2bk74eu5axngebs6vftmmkcaqboysjjy726xzy5hksnqmfgw5fy",
        None,
    ),
    (
        262145,
        "QmdkAszdeWKht9nXSzPKGUYvUqpMfm325GuCn1pZnTa9ja",
        "bafybeidbbs6ocod3v27jtr4uhvc6n55y3gbrtur3bvjsnraudtbxkozi2y",
        "bafkreidaydhmrrbuvvmsyxws3vzxwt6dklv6b3gtdp5pvwtl5xaoba2kgm",
    ),
    (
        10485760,
        "QmSZsKipkWN16qbdjLEo5EHECCtLEGj8TNNaJ17SfuF6SH",
        "bafybeib74xcwycrnh4c5oujzjjgudttc4y2nk6worz7gyw6dkus4f66rmy",
        "bafybeiaqfryfwfo4thcj44zjsatc7eg757pfcagpfrithqvvijjz5ootlu",
    ),
]


def predict(data: bytes, profile: ImportProfile, piece: int = 1 << 20) -> str:
    predictor = CidPredictor(profile)
    for start in range(0, len(data), piece):
        predictor.feed(data[start : start + piece])
    assert predictor.size == len(data)
    return str(predictor.finish())


def collect(data: bytes, profile: ImportProfile, piece: int = 1 << 20) -> tuple[Store, Cid, int]:
    """Import, checking every block on the way."""
    importer, store = Importer(profile), Store()
    blocks = [block for start in range(0, len(data), piece) for block in importer.feed(data[start : start + piece])]
    rest, root, total = importer.finish()
    for block in blocks + rest:
        joined = b"".join(block.parts)
        assert len(joined) == block.size
        verify_block(block.cid, joined)
        store[block.cid.multihash] = joined
    return store, root, total


@pytest.mark.parametrize(("size", "v0", "v1", "v1_2025"), KNOWN)
def test_known_content_gets_its_known_cids(size: int, v0: str, v1: str, v1_2025: str | None) -> None:
    data = random.Random(size).randbytes(size)
    assert predict(data, KUBO_V0) == v0
    assert predict(data, KUBO_V1) == v1
    assert predict(data, UNIXFS_2025) == (v1_2025 or v1)


def test_hello_world_is_what_everybody_knows() -> None:
    assert predict(b"hello world", KUBO_V0) == "Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD"
    assert predict(b"hello world", UNIXFS_2025) == "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"


@settings(max_examples=12)
@given(st.integers(0, 1_500_000), st.integers(5_000, 700_000), st.integers(0, 2**32))
def test_an_independent_implementation_agrees(size: int, piece: int, seed: int) -> None:
    data = random.Random(seed).randbytes(size)
    assert predict(data, KUBO_V0, piece) == aleph_cid.compute_cid(data)
    other = aleph_cid.CidHasher.for_ipfs_v1_raw_leaves()
    other.update(data)
    assert predict(data, KUBO_V1, piece) == other.finalize()


def reference_root(data: bytes, chunk: int, width: int) -> list[int]:
    """The shape of the balanced tree by its definition, from the top: sizes of the root's children."""
    leaves = -(-len(data) // chunk)
    below = 1
    while below * width < leaves:
        below *= width
    return [min(below * chunk, len(data) - start) for start in range(0, len(data), below * chunk)]


@pytest.mark.parametrize(
    ("leaves", "links"),
    [(1, 5), (2, 5), (5, 5), (6, 5), (25, 5), (26, 5), (125, 5), (126, 5), (174, 174), (175, 174), (174**2 + 1, 174)],
)
def test_trees_are_balanced_at_every_edge(leaves: int, links: int) -> None:
    profile = ImportProfile("tiny", 1, 64, raw_leaves=True, links=links)
    data = random.Random(leaves).randbytes(leaves * 64)
    store, root, _ = collect(data, profile, piece=100_003)
    assert b"".join(read_file(root, store)) == data
    piece = root_piece(store, root)
    if leaves > 1:
        assert [size for _, size in piece.children] == reference_root(data, 64, links)
        depths = {leaf_depth(store, child) for child, _ in piece.children}
        assert len(depths) == 1


def root_piece(store: Store, cid: Cid) -> FilePiece:
    piece = load(cid, store)
    assert isinstance(piece, FilePiece)
    return piece


def leaf_depth(store: Store, cid: Cid) -> int:
    children = root_piece(store, cid).children
    return 1 + leaf_depth(store, children[-1][0]) if children else 0


@pytest.mark.slow
def test_a_file_of_more_than_174_squared_leaves_gets_kubos_cid() -> None:
    predictor, other = CidPredictor(KUBO_V0), aleph_cid.CidHasher.for_ipfs()
    piece = random.Random(0).randbytes(1 << 24)
    left = (174**2 + 1) * 262144
    while left:
        data = piece[: min(left, len(piece))]
        predictor.feed(data)
        other.update(data)
        left -= len(data)
    assert str(predictor.finish()) == other.finalize()


@settings(max_examples=40)
@given(st.binary(max_size=400), st.integers(1, 70), st.integers(0, 500), st.integers(0, 500))
def test_any_range_of_a_file_reads_as_a_slice_of_it(data: bytes, piece: int, start: int, stop: int) -> None:
    profile = ImportProfile("tiny", 1, 16, raw_leaves=True, links=3)
    store, root, _ = collect(data, profile, piece)
    assert b"".join(read_file(root, store, start, stop)) == data[start:stop]


def test_the_size_of_the_tree_is_that_of_its_blocks() -> None:
    store, _, total = collect(random.Random(1).randbytes(600_000), KUBO_V0)
    assert total == sum(len(block) for block in store.values())


names = st.text(st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..")
)


@settings(max_examples=30)
@given(
    st.recursive(
        st.binary(max_size=30),
        lambda inner: st.dictionaries(names, inner, min_size=1, max_size=4),
        max_leaves=8,
    ).filter(lambda tree: isinstance(tree, dict)),
    st.sampled_from([KUBO_V0, KUBO_V1]),
)
def test_folders_agree_with_an_independent_implementation(tree: dict[str, object], profile: ImportProfile) -> None:
    builder = FolderBuilder(profile.cid_version)
    with tempfile.TemporaryDirectory() as folder:

        def place(node: dict[str, object], path: str) -> None:
            for name, value in node.items():
                inner = f"{path}/{name}" if path else name
                if isinstance(value, dict):
                    (Path(folder) / inner).mkdir()
                    place(value, inner)
                    continue
                assert isinstance(value, bytes)
                (Path(folder) / inner).write_bytes(value)
                _, cid, size = collect(value, profile)
                builder.add(inner, cid, size)

        place(tree, "")
        assert str(builder.finish()[1]) == aleph_cid.hash_folder(folder, cid_version=profile.cid_version)


EMPTY = Cid.parse("bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku")


@pytest.mark.parametrize("path", ["", "a//b", "../a", "a/..", ".", "a\0", "x" * 256])
def test_names_that_no_folder_can_hold_are_refused(path: str) -> None:
    with pytest.raises(MalformedContent, match="name"):
        FolderBuilder(1).add(path, EMPTY, 0)


@pytest.mark.parametrize(("first", "second"), [("a", "a"), ("a", "a/b"), ("a/b", "a")])
def test_one_name_is_one_thing(first: str, second: str) -> None:
    builder = FolderBuilder(1)
    builder.add(first, EMPTY, 0)
    with pytest.raises(MalformedContent, match=r"twice|both a file and a folder"):
        builder.add(second, EMPTY, 0)


@pytest.mark.parametrize(
    ("profile", "count", "root"),
    [
        (KUBO_V0, 5957, "QmVCMA1e1B2djgfNbwTkbLNGsuV8diqXugFNZ4DL5VzHXV"),
        (KUBO_V0, 5958, "QmQE366G6oNGUiLr571MMQW3aoxxJwSmsHTp3vxoPQgRp1"),
        (KUBO_V1, 6500, "bafybeif3dh7zpl6pyefyfpki65y7y3psu4hw3vvuclvt4ie6y4zykattp4"),
        (KUBO_V1, 5500, "bafybeignx5mrvrrjgskrgre5heua3m4y6feiqlfa667imo5uwfgn5qnwqi"),
        (UNIXFS_2025, 5500, "bafybeidwuyrdsyz6fxdbkuvpxmklculxmaynsfgqlcqydeo5blmxdwelhu"),
    ],
)
def test_a_large_folder_is_spread_over_blocks_as_kubo_does_it(profile: ImportProfile, count: int, root: str) -> None:
    """What Kubo 0.41 gives so many files that hold their own names."""
    builder = FolderBuilder(profile.cid_version, measured=profile.measures_folders)
    files: dict[str, Cid] = {}
    for number in range(count):
        importer = Importer(profile)
        importer.feed(f"{number:010}".encode())
        _, cid, size = importer.finish()
        files[f"{number:010}"] = cid
        builder.add(f"{number:010}", cid, size)
    blocks, cid, _ = builder.finish()
    assert str(cid) == root
    store = {block.cid.multihash: b"".join(block.parts) for block in blocks}

    def lookup(cid: Cid) -> bytes:
        return store[cid.multihash]

    assert {link.name: link.cid for link in list_folder(cid, lookup)} == files
    assert resolve(cid, ["0000000042"], lookup) == files["0000000042"]


@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.parametrize("measured", [True, False])
def test_a_folder_of_exactly_the_limit_has_one_block(measured: bool, over: int) -> None:
    def folder(length: int) -> list[NewBlock]:
        names = [f"{number:0100}" for number in range(1700)] + ["x" * length]
        return make_folder({name: Link(EMPTY, None, 0) for name in names}, 1, measured=measured)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pinui.ipfs.folders.MAX_FOLDER_BLOCK", 10**9)
        flat = folder(10)[0].size if measured else sum([1700 * 100, 10, 1701 * len(bytes(EMPTY))])
        patch.setattr("pinui.ipfs.folders.MAX_FOLDER_BLOCK", flat)
        assert (len(folder(10 + over)) == 1) == (over == 0)


def test_names_that_share_all_of_their_hash_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinui.ipfs.folders.MAX_FOLDER_BLOCK", 0)
    monkeypatch.setattr("pinui.ipfs.folders.hash_of", lambda _name: 0)
    with pytest.raises(MalformedContent, match="nested too deeply"):
        make_folder({"a": Link(EMPTY, None, 0), "b": Link(EMPTY, None, 0)}, 1)


def test_folders_nested_beyond_reason_are_refused() -> None:
    with pytest.raises(UnsupportedContent, match="nested too deeply"):
        FolderBuilder(1).add("a/" * 200 + "b", EMPTY, 0)


def test_a_folder_may_be_empty() -> None:
    empty = FolderBuilder(1)
    empty.add_folder("")
    assert str(empty.finish()[1]) == "bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354"
    holding = FolderBuilder(1)
    holding.add_folder("a/b")
    assert holding.finish()[1] != empty.finish()[1]
