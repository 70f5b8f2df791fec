"""CAR archives: whole ones read in any pieces, damaged ones refused."""

from __future__ import annotations

import libipld
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinui.ipfs.car import CarReader, encode_header, encode_section_head
from pinui.ipfs.cid import DAG_PB, IDENTITY, RAW, SHA2_256, Cid
from pinui.ipfs.errors import ContentAddressError, MalformedContent, MissingBlock
from pinui.ipfs.exporter import list_folder, load, read_file, walk_blocks
from pinui.ipfs.multihash import raw_cid
from pinui.ipfs.unixfs import FilePiece, Shard, Symlink
from pinui.ipfs.varint import encode_varint
from tests.unit.trees import TREES, Content, Other, Store, Tree, archive_of

A, B = b"first", b"second block"
CIDS = [raw_cid((A,)), raw_cid((B,))]
CAR = encode_header(CIDS[:1]) + b"".join(
    encode_section_head(cid, len(data)) + data for cid, data in zip(CIDS, (A, B), strict=True)
)


def read(data: bytes, piece: int = 7) -> list[tuple[Cid, bytes]]:
    reader = CarReader()
    found = [
        (block.cid, bytes(block.data))
        for start in range(0, len(data), piece)
        for block in reader.feed(data[start : start + piece])
    ]
    reader.finish()
    return found


def as_version_2(payload: bytes, padding: int = 5, index: bytes = b"index") -> bytes:
    offset = 51 + padding
    head = bytes(16) + offset.to_bytes(8, "little") + len(payload).to_bytes(8, "little") + bytes(8)
    return bytes.fromhex("0aa16776657273696f6e02") + head + bytes(padding) + payload + index


@given(st.integers(1, 200))
def test_blocks_come_out_whatever_pieces_go_in(piece: int) -> None:
    assert read(CAR, piece) == list(zip(CIDS, (A, B), strict=True))
    assert read(as_version_2(CAR), piece) == list(zip(CIDS, (A, B), strict=True))


def test_an_archive_without_blocks_or_roots_is_one() -> None:
    assert read(encode_header([])) == []
    assert not list(CarReader().feed(b""))


@given(st.integers(0, len(CAR) - 1))
def test_an_archive_that_ends_early_is_not_whole(length: int) -> None:
    edges = (len(encode_header(CIDS[:1])), len(CAR) - len(encode_section_head(CIDS[1], len(B))) - len(B))
    if length in edges:
        assert len(read(CAR[:length])) == edges.index(length)
    else:
        with pytest.raises(MalformedContent, match="before it is whole"):
            read(CAR[:length])


def test_a_version_2_payload_that_ends_early_is_not_whole() -> None:
    whole = as_version_2(CAR, index=b"")
    for length in range(len(whole)):
        with pytest.raises(MalformedContent, match="before it is whole"):
            read(whole[:length])


def test_sections_may_not_leave_the_version_2_payload() -> None:
    with pytest.raises(MalformedContent, match="before it is whole"):
        read(as_version_2(CAR[:-1], index=b"more bytes than the block needs"))


@pytest.mark.parametrize("length", [0, 1, 20, 64, 65, 128, 240])
def test_a_root_may_have_a_digest_of_any_length(length: int) -> None:
    root = Cid(1, RAW, IDENTITY, bytes(length))
    reader = CarReader()
    header = encode_header([root, CIDS[0]])
    assert header.count(b"\xd8\x2a") == 2, "each is marked as a CID"
    assert not list(reader.feed(header))
    assert reader.roots == (root, CIDS[0])


@given(st.lists(st.sampled_from([*CIDS, CIDS[0].to_v1(), Cid(0, DAG_PB, SHA2_256, bytes(32))]), max_size=30))
def test_a_header_is_the_one_that_others_write(roots: list[Cid]) -> None:
    header: bytes = libipld.encode_dag_cbor({"roots": [bytes(root) for root in roots], "version": 1})
    assert encode_header(roots) == encode_varint(len(header)) + header
    reader = CarReader()
    list(reader.feed(encode_header(roots)))
    assert reader.roots == tuple(roots)


HEADER = encode_header([])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\xff\xff\xff\xff\x0f", "too large"),
        (HEADER + b"\x00", "empty section"),
        (HEADER + b"\xff\xff\xff\xff\x0f", "too large"),
        (HEADER + b"\xff\xff\xff\x7f", "too large"),
        (HEADER + b"\x80\x00", "shortest form"),
        (HEADER + b"\x02\x02\x55", "no CID"),
        (HEADER + b"\x06\x01\x55\x12\x20ab", "no CID"),
        (HEADER + b"\x06\x12\x20abcd", "no CID"),
        (b"\x02\xa0\x00", "header of the CAR is damaged"),
        (b"\x01\xa0", "header of the CAR is damaged"),
        (b"\x01\x80", "header of the CAR is damaged"),
        (b"\x11\xa2eroots\x80gversion\x03", "header of the CAR is damaged"),
        (b"\x12\xa2eroots\x81\x01gversion\x01", "header of the CAR is damaged"),
        (b"\x14\xa2eroots\x81\xd8\x2a\x40gversion\x01", "header of the CAR is damaged"),
        (b"\x15\xa2eroots\x81\xd8\x2a\x41\x01gversion\x01", "header of the CAR is damaged"),
        (b"\x12\xa3eroots\x80gversion\x01\x00", "header of the CAR is damaged"),
        (b"\x14\xa3eroots\x80gversion\x01ax\x00", "header of the CAR is damaged"),
        (b"\x12\xa2eroots\x80gversion\x01\x00", "header of the CAR is damaged"),
        (b"\x12\xa2eroots\x80gversion\x1a\x00", "header of the CAR is damaged"),
        (b"\xa0\x1f" + b"\x81" * 4000, "header of the CAR is damaged"),
        (as_version_2(b""), "points nowhere"),
    ],
)
def test_damaged_archives_are_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(ContentAddressError, match=sentence):
        read(data)


@settings(max_examples=300)
@given(st.binary(max_size=80))
def test_arbitrary_bytes_end_in_an_error_of_ours(data: bytes) -> None:
    with pytest.raises(ContentAddressError):
        read(data)


@pytest.mark.parametrize("name", TREES)
def test_an_archive_gives_back_the_tree_that_went_in(name: str) -> None:
    content, _, root = TREES[name]
    tree = Tree.from_car(archive_of(name))
    assert str(tree.root) == root
    assert read_back(tree.root, tree.store) == content


def read_back(cid: Cid, store: Store) -> Content:
    if cid.codec not in (RAW, DAG_PB) or cid.hash_code != SHA2_256:
        return Other(cid, store(cid))
    match load(cid, store):
        case Symlink(target):
            return target
        case FilePiece():
            return b"".join(read_file(cid, store))
        case _:
            return {entry.name or "": read_back(entry.cid, store) for entry in list_folder(cid, store)}


@pytest.mark.parametrize("name", ["files", "mixed files", "a symbolic link"])
def test_a_tree_is_walked_parents_first_and_whole(name: str) -> None:
    tree = Tree.from_car(archive_of(name))
    walked = [cid for cid, _ in walk_blocks(tree.root, tree.store)]
    assert walked[0] == tree.root
    assert {cid.multihash for cid in walked} == tree.store.keys()
    assert [cid for cid, _ in walk_blocks(tree.root, tree.store, "block")] == [tree.root]
    assert [cid for cid, _ in walk_blocks(tree.root, tree.store, "entity")] == [tree.root]


def test_the_listing_of_a_sharded_folder_needs_its_shards_alone() -> None:
    tree = Tree.from_car(archive_of("sharded"))
    shards = [cid for cid, _ in walk_blocks(tree.root, tree.store, "entity")]
    assert len(list(list_folder(tree.root, tree.store))) == 700 > len(shards) > 1
    assert all(isinstance(load(cid, tree.store), Shard) for cid in shards)


def test_a_missing_block_is_named() -> None:
    tree = Tree.from_car(archive_of("in three parts, incomplete"))
    with pytest.raises(MissingBlock, match="is missing"):
        b"".join(read_file(tree.root, tree.store))
