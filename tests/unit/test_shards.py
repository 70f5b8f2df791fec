"""Folders spread over many blocks: listed, searched by name, and proven by path."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinui.ipfs.cid import IDENTITY, RAW, Cid
from pinui.ipfs.dagpb import Link, decode_node, encode_node
from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.exporter import list_folder, load, resolve, resolve_blocks, walk_blocks
from pinui.ipfs.multihash import dag_pb_cid
from pinui.ipfs.unixfs import Shard
from pinui.ipfs.verifier import CarVerifier
from tests.unit.test_verifier import car, run
from tests.unit.trees import Store, sharded


def shards_of(names: set[str], store: Store, bits: int = 3) -> Cid:
    """A sharded folder in which each file holds its own name."""
    blocks: dict[Cid, bytes] = {}
    root = sharded({name: Link(content_of(name), None, 1) for name in names}, blocks, bits)
    store |= {cid.multihash: block for cid, block in blocks.items()}
    return root.cid


def content_of(name: str) -> Cid:
    return Cid(1, RAW, IDENTITY, name.encode())


safe = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10)


@settings(max_examples=25)
@given(st.sets(safe, min_size=1, max_size=40), st.sampled_from([3, 8]))
def test_every_name_is_found_listed_and_proven(names: set[str], bits: int) -> None:
    store = Store()
    root = shards_of(names, store, bits)
    assert {entry.name for entry in list_folder(root, store)} == names
    tree, _ = run(CarVerifier(root), car(walk_blocks(root, store)))
    assert tree == {"": None} | {name: name.encode() for name in names}
    tree, listing = run(CarVerifier(root, deep=False), car(walk_blocks(root, store, "entity")))
    assert {entry.name for entry in listing} == names
    for name in names:
        *way, last = resolve_blocks(root, [name], store)
        assert last == content_of(name)
        assert all(isinstance(load(cid, store), Shard) for cid in way if cid is not None)
        blocks = [(cid, store(cid)) for cid in way if cid is not None]
        assert run(CarVerifier(root, (name,)), car(blocks))[0] == {"": name.encode()}


def test_a_name_that_is_not_there_is_not_found() -> None:
    store = Store()
    root = shards_of({"a", "b", "c"}, store, bits=8)
    assert resolve(root, ["x"], store) is None


def test_a_path_goes_on_below_a_sharded_folder() -> None:
    store = Store()
    inner = shards_of({"a", "b"}, store)
    block = encode_node([Link(inner, "inner", 1)], b"\x08\x01")
    root = dag_pb_cid((block,), 1)
    store[root.multihash] = block
    *way, last = resolve_blocks(root, ["inner", "a"], store)
    assert last == content_of("a")
    blocks = [(cid, store(cid)) for cid in way if cid is not None]
    assert run(CarVerifier(root, ("inner", "a")), car(blocks))[0] == {"": b"a"}


def test_a_symbolic_link_is_told_with_its_target() -> None:
    link = Cid(1, 0x70, IDENTITY, encode_node([], b"\x08\x04\x12\x03foo"))
    block = encode_node([Link(link, "bar", 1)], b"\x08\x01")
    root = dag_pb_cid((block,), 1)
    assert run(CarVerifier(root), car([(root, block)]))[0] == {"": None, "bar": "foo"}


def test_a_link_without_a_cid_is_refused() -> None:
    with pytest.raises(MalformedContent, match="no CID"):
        decode_node(b"\x12\x02\x18\x00")
