"""A few blocks that link to each other many times: they unfold no further than somebody takes what they hold."""

from __future__ import annotations

from itertools import islice

import pytest

from pinui.ipfs.cid import Cid
from pinui.ipfs.dagpb import Link, encode_node
from pinui.ipfs.errors import ForgottenBlock, MalformedContent
from pinui.ipfs.multihash import dag_pb_cid, raw_cid
from pinui.ipfs.shards import Place, hash_of, slot_of
from pinui.ipfs.unixfs import Shard, file_with_children
from pinui.ipfs.verifier import CarVerifier, FileBytes, FileStart
from tests.unit.test_verifier import car, run, shard

Section = tuple[Cid, bytes]


def unfolding(leaf: bytes, fan: int, levels: int) -> list[Section]:
    """A file of `fan ** levels` leaves, all the same: so many links on each level, to one block below."""
    cid, size = raw_cid((leaf,)), len(leaf)
    sections = [(cid, leaf)]
    for _ in range(levels):
        block = encode_node([Link(cid, "", size)] * fan, file_with_children([size] * fan))
        cid, size = dag_pb_cid((block,), 1), size * fan
        sections.append((cid, block))
    return sections[::-1]


def test_a_tree_of_nothings_is_walked_once() -> None:
    sections = unfolding(b"", 1000, 4)
    tree, _ = run(CarVerifier(sections[0][0], repeats=False), car(sections), piece=100_000)
    assert tree == {"": b""}


def test_a_part_that_claims_to_hold_nothing_is_looked_at() -> None:
    """Once as a nothing, and once as what it is."""
    [(empty, nothing)] = unfolding(b"", 1, 0)
    [(full, something)] = unfolding(b"x", 1, 0)
    block = encode_node([Link(empty, "", 0), Link(full, "", 1), Link(full, "", 0)], file_with_children([0, 1, 0]))
    root = dag_pb_cid((block,), 1)
    with pytest.raises(MalformedContent, match="not what the file's root says"):
        run(CarVerifier(root, repeats=False), car([(root, block), (empty, nothing), (full, something)]))


def test_who_only_wants_the_proof_walks_each_tree_once() -> None:
    sections = unfolding(b"x", 1000, 4)
    verifier = CarVerifier(sections[0][0], repeats=False, unfolds=False)
    assert sum(isinstance(event, FileBytes) for event in verifier.feed(car(sections))) == 1
    assert list(verifier.finish()) == []


def test_a_part_of_another_size_is_looked_at_although_it_was_walked() -> None:
    leaf = raw_cid((b"x",))
    block = encode_node([Link(leaf, "", 1), Link(leaf, "", 2)], file_with_children([1, 2]))
    root = dag_pb_cid((block,), 1)
    with pytest.raises(MalformedContent, match="not what the file's root says"):
        run(CarVerifier(root, repeats=False, unfolds=False), car([(root, block), (leaf, b"x")]))


def test_who_takes_some_of_it_gets_some_of_it() -> None:
    sections = unfolding(b"x", 1000, 4)
    verifier = CarVerifier(sections[0][0], repeats=False)
    some = list(islice(verifier.feed(car(sections)), 1000))
    assert some[0] == FileStart((), 1000**4)
    assert all(isinstance(event, FileBytes) for event in some[1:])


def test_a_shard_that_is_linked_from_many_places_is_refused() -> None:
    leaf = raw_cid((b"x",))
    cid, block = shard(Link(leaf, "00name", 1))
    sections = [(cid, block)]
    for _ in range(3):
        cid, block = shard(*(Link(cid, f"{slot:02X}", 1) for slot in range(256)))
        sections.append((cid, block))
    for deep in (True, False):
        verifier = CarVerifier(cid, deep=deep, repeats=False)
        with pytest.raises(MalformedContent, match="in the wrong place of its sharded folder"):
            list(verifier.feed(car(sections[::-1])))


def test_an_empty_shard_below_another_is_refused() -> None:
    inner, nothing = shard()
    cid, block = shard(Link(inner, "00", 1))
    with pytest.raises(MalformedContent, match="damaged"):
        run(CarVerifier(cid), car([(cid, block), (inner, nothing)]))


@pytest.mark.parametrize("deep", [True, False])
def test_a_slot_holds_one_thing(deep: bool) -> None:
    slot = f"{slot_of(hash_of('name'), 0):02X}"
    entry = Link(raw_cid((b"x",)), f"{slot}name", 1)
    for twice in ([entry, entry], [entry, Link(entry.cid, slot, 1)]):
        cid, block = shard(*twice)
        with pytest.raises(MalformedContent, match="taken twice"):
            run(CarVerifier(cid, deep=deep), car([(cid, block)]))


@pytest.mark.parametrize("name", ["ZZ", "-1", "+A", " A", "0a", "A\n", "٠٠"])
def test_a_slot_is_a_number_in_one_spelling(name: str) -> None:
    link = Link(raw_cid((b"x",)), name, 1)
    with pytest.raises(MalformedContent):
        Place().below(Shard((link,), 256), link)


def test_a_block_that_came_long_before_is_no_proof_of_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CarVerifier, "REMEMBERED", 1000)
    leaves = [(raw_cid((leaf,)), leaf) for leaf in (bytes(500), b"1" * 500, b"2" * 500)]
    order = [*leaves, leaves[0], leaves[2]]
    block = encode_node([Link(cid, "", 500) for cid, _ in order], file_with_children([500] * 5))
    root = dag_pb_cid((block,), 1)
    once = [(root, block), *leaves]
    with pytest.raises(ForgottenBlock, match="long before"):
        run(CarVerifier(root, repeats=False), car(once))
    stranger = (raw_cid((b"?",)), b"?")
    with pytest.raises(ForgottenBlock, match="long before"):
        run(CarVerifier(root, repeats=False), car([*once, stranger]))
    assert run(CarVerifier(root), car([(root, block), *order]))[0] == {"": b"".join(data for _, data in order)}
