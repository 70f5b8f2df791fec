"""Verified reading: what comes out was proven, and nothing that was changed on the way gets through."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinui.ipfs.car import encode_header, encode_section_head
from pinui.ipfs.cid import DAG_PB, IDENTITY, RAW, SHA2_256, Cid
from pinui.ipfs.dagpb import Link, decode_node, encode_node
from pinui.ipfs.errors import (
    ContentAddressError,
    MalformedContent,
    MissingBlock,
    UnsupportedContent,
    WrongHash,
)
from pinui.ipfs.exporter import list_folder, read_file, resolve, resolve_blocks, walk_blocks
from pinui.ipfs.folders import FolderBuilder
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, Importer, ImportProfile, NewBlock
from pinui.ipfs.multihash import BLAKE2B_256, SHA2_512, Bytes, dag_pb_cid, verify_block
from pinui.ipfs.unixfs import EMPTY_FOLDER, file_with_children
from pinui.ipfs.verifier import (
    CarVerifier,
    FileBytes,
    FileEnd,
    FileStart,
    FolderEntry,
    FolderStart,
    SymlinkFound,
)
from tests.unit.trees import HELLO, Store, Tree, archive_of

TINY = ImportProfile("tiny", 1, 16, raw_leaves=False, links=3)
DATA = random.Random(5).randbytes(300)


def put(store: Store, blocks: Iterable[NewBlock]) -> None:
    for block in blocks:
        store[block.cid.multihash] = b"".join(block.parts)


def imported(data: bytes, profile: ImportProfile = TINY) -> tuple[Store, Cid]:
    store, importer = Store(), Importer(profile)
    put(store, importer.feed(data))
    rest, root, _ = importer.finish()
    put(store, rest)
    return store, root


def car(blocks: Iterable[tuple[Cid, Bytes]]) -> bytes:
    parts = [encode_header([])]
    for cid, data in blocks:
        parts += [encode_section_head(cid, len(data)), bytes(data)]
    return b"".join(parts)


def run(verifier: CarVerifier, data: bytes, piece: int = 50) -> tuple[dict[str, bytes | str | None], list[FolderEntry]]:
    """What a caller would have on disk: path → bytes, or target of a link, or None for a folder."""
    tree: dict[str, bytes | str | None] = {}
    listing: list[FolderEntry] = []
    content: list[bytes] = []
    size = 0

    def take(events: Iterable[object]) -> None:
        nonlocal size
        for event in events:
            match event:
                case FileStart(size=size):
                    content.clear()
                case FileBytes(data=data):
                    content.append(bytes(data))
                case FileEnd(path=path):
                    tree["/".join(path)] = b"".join(content)
                    assert len(b"".join(content)) == size
                case FolderStart(path=path):
                    tree["/".join(path)] = None
                case SymlinkFound(path=path, target=target):
                    tree["/".join(path)] = target
                case FolderEntry():
                    listing.append(event)

    for start in range(0, len(data), piece):
        take(verifier.feed(data[start : start + piece]))
    take(verifier.finish())
    assert verifier.wanted is None
    return tree, listing


@settings(max_examples=40)
@given(st.binary(max_size=300), st.integers(1, 400), st.sampled_from([TINY, KUBO_V0, KUBO_V1]))
def test_a_file_comes_out_whole(data: bytes, piece: int, profile: ImportProfile) -> None:
    store, root = imported(data, profile)
    assert run(CarVerifier(root), car(walk_blocks(root, store)), piece) == ({"": data}, [])


def test_a_file_is_one_entity_with_all_its_blocks() -> None:
    store, root = imported(DATA)
    assert list(walk_blocks(root, store, "entity")) == list(walk_blocks(root, store))


def test_nothing_is_handed_on_before_it_is_proven() -> None:
    store, root = imported(DATA)
    blocks = list(walk_blocks(root, store))
    for index, (cid, data) in enumerate(blocks):
        changed = bytearray(data)
        changed[len(changed) // 2] ^= 1
        broken = [*blocks[:index], (cid, bytes(changed)), *blocks[index + 1 :]]
        out = bytearray()
        with pytest.raises(WrongHash):
            for event in CarVerifier(root).feed(car(broken)):
                if isinstance(event, FileBytes):
                    out += event.data
        assert DATA.startswith(out)


def test_blocks_that_are_missing_repeated_swapped_or_foreign_are_refused() -> None:
    store, root = imported(DATA)
    blocks = list(walk_blocks(root, store))
    other, other_root = imported(b"foreign")
    foreign = next(iter(walk_blocks(other_root, other)))
    for index in range(len(blocks)):
        for broken in (
            blocks[:index] + blocks[index + 1 :],
            blocks[: index + 1] + blocks[index:],
            [*blocks[:index], foreign, *blocks[index:]],
            blocks[:index],
        ):
            with pytest.raises(ContentAddressError):
                run(CarVerifier(root), car(broken))
    with pytest.raises(MalformedContent, match="where another one is due"):
        run(CarVerifier(root), car([*blocks, foreign]))
    with pytest.raises(MissingBlock, match="is missing from the server's answer"):
        run(CarVerifier(root), car(blocks[:-1]))


def test_a_stream_that_is_cut_is_a_failure_wherever_it_is_cut() -> None:
    store, root = imported(DATA)
    whole = car(walk_blocks(root, store))
    for length in range(0, len(whole), 5):
        with pytest.raises(ContentAddressError):
            run(CarVerifier(root), whole[:length])


def folder() -> tuple[Store, Cid]:
    store, builder = Store(), FolderBuilder(1)
    for path in ("a.txt", "sub/b.txt", "sub/deep/c.txt", "empty"):
        inner, cid = imported(DATA * (path != "empty"))
        store.update(inner)
        builder.add(path, cid, 1)
    made, root, _ = builder.finish()
    put(store, made)
    return store, root


def test_a_folder_comes_out_as_a_tree() -> None:
    store, root = folder()
    tree, _ = run(CarVerifier(root), car(walk_blocks(root, store)))
    assert tree == {
        "": None,
        "a.txt": DATA,
        "empty": b"",
        "sub": None,
        "sub/b.txt": DATA,
        "sub/deep": None,
        "sub/deep/c.txt": DATA,
    }


def test_one_thing_in_a_folder_is_proven_from_the_folder_down() -> None:
    store, root = folder()
    path = ("sub", "deep", "c.txt")
    *way, last = resolve_blocks(root, path, store)
    assert last is not None
    blocks = [(cid, store(cid)) for cid in way if cid is not None] + list(walk_blocks(last, store))
    assert run(CarVerifier(root, path), car(blocks)) == ({"": DATA}, [])
    with pytest.raises(MissingBlock, match="there is no 'other' in"):
        run(CarVerifier(root, ("other",)), car(blocks))
    with pytest.raises(MissingBlock, match="there is no 'x' in"):
        run(CarVerifier(last, ("x",)), car(walk_blocks(last, store)))
    assert resolve(last, ["x"], store) is None


def test_a_listing_needs_the_folder_alone() -> None:
    store, root = folder()
    tree, listing = run(CarVerifier(root, deep=False), car(walk_blocks(root, store, "entity")))
    assert tree == {"": None}
    assert [entry.name for entry in listing] == ["a.txt", "empty", "sub"]


def test_a_server_that_sends_each_block_once_is_understood_when_it_says_so() -> None:
    store, root = imported(bytes(300))
    blocks = list(walk_blocks(root, store))
    once = list(dict(blocks).items())
    assert len(once) < len(blocks)
    assert run(CarVerifier(root, repeats=False), car(once)) == ({"": bytes(300)}, [])
    assert run(CarVerifier(root, repeats=False), car(blocks)) == ({"": bytes(300)}, [])
    with pytest.raises(ContentAddressError):
        run(CarVerifier(root), car(once))


def test_a_cid_that_carries_its_content_needs_no_block() -> None:
    inline = Cid(1, RAW, IDENTITY, b"inline")
    assert run(CarVerifier(inline), car([])) == ({"": b"inline"}, [])
    assert run(CarVerifier(inline), car([(inline, b"inline")])) == ({"": b"inline"}, [])
    store = Store()
    block = encode_node([Link(inline, "", 6)], file_with_children([6]))
    root = dag_pb_cid((block,), 1)
    store[root.multihash] = block
    assert run(CarVerifier(root), car(walk_blocks(root, store))) == ({"": b"inline"}, [])
    assert b"".join(read_file(root, store)) == b"inline"
    with pytest.raises(UnsupportedContent, match="not supported"):
        run(CarVerifier(Cid(1, RAW, IDENTITY, bytes(129))), car([]))


def rooted(block: bytes) -> tuple[Cid, bytes]:
    return dag_pb_cid((block,), 1), block


def test_a_name_that_stands_twice_in_a_folder_is_refused() -> None:
    link = Link(Cid(1, RAW, IDENTITY, b"x"), "x", 1)
    cid, block = rooted(encode_node([link, link], EMPTY_FOLDER))
    with pytest.raises(MalformedContent, match="there twice"):
        run(CarVerifier(cid), car([(cid, block)]))


def test_a_part_of_another_size_or_kind_than_promised_is_refused() -> None:
    leaf = Cid(1, RAW, IDENTITY, b"four")
    for child, size in ((leaf, 5), (Cid(1, DAG_PB, IDENTITY, encode_node([], EMPTY_FOLDER)), 4)):
        cid, block = rooted(encode_node([Link(child, "", 4)], file_with_children([size])))
        with pytest.raises(MalformedContent, match="not what the file's root says"):
            run(CarVerifier(cid), car([(cid, block)]))
        with pytest.raises(ContentAddressError):
            b"".join(read_file(cid, Store({cid.multihash: block})))


def chain(block: bytes, wrap: int, folders: bool) -> tuple[Store, Cid]:
    """A thing nested `wrap` times in nodes that hold nothing else."""
    cid, block = rooted(block)
    store = Store({cid.multihash: block})
    for _ in range(wrap):
        data = EMPTY_FOLDER if folders else file_with_children([0])
        cid, block = rooted(encode_node([Link(cid, "n" if folders else "", 0)], data))
        store[cid.multihash] = block
    return store, cid


def test_nesting_has_an_end() -> None:
    file = encode_node([], file_with_children([]))
    for folders, wrap in ((False, 100), (True, 300)):
        store, root = chain(file, wrap, folders)
        with pytest.raises(UnsupportedContent, match="nested too deeply"):
            run(CarVerifier(root), car((cid, store(cid)) for cid, _ in walk_all(root, store)))
        if folders:
            with pytest.raises(UnsupportedContent, match="nested too deeply"):
                list(walk_blocks(root, store))


def walk_all(root: Cid, store: Store) -> list[tuple[Cid, bytes]]:
    found = [(root, store(root))]
    while links := decode_node(found[-1][1]).links:
        found.append((links[0].cid, store(links[0].cid)))
    return found


def test_a_file_nested_beyond_reason_is_not_read() -> None:
    leaf = b"\x08\x02\x12\x01x\x18\x01"
    cid, block = rooted(encode_node([], leaf))
    store = Store({cid.multihash: block})
    for _ in range(100):
        cid, block = rooted(encode_node([Link(cid, "", 1)], file_with_children([1])))
        store[cid.multihash] = block
    with pytest.raises(UnsupportedContent, match="nested too deeply"):
        b"".join(read_file(cid, store))


def test_more_links_than_can_wait_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinui.ipfs.verifier.MAX_PENDING", 2)
    store, root = imported(DATA)
    with pytest.raises(UnsupportedContent, match="too wide"):
        run(CarVerifier(root), car(walk_blocks(root, store)))


def test_a_sharded_folder_comes_out_listed_and_by_path() -> None:
    tree = Tree.from_car(archive_of("sharded"))
    root, store = tree.root, tree.store
    entries = {entry.name or "": entry.cid for entry in list_folder(root, store)}
    found, listing = run(CarVerifier(root, deep=False), car(walk_blocks(root, store, "entity")), 5000)
    assert found == {"": None}
    assert {entry.name for entry in listing} == entries.keys()
    name = "470.txt"
    *way, last = resolve_blocks(root, [name], store)
    assert last is not None
    assert last == entries[name]
    blocks = [(cid, store(cid)) for cid in way if cid is not None] + list(walk_blocks(last, store))
    assert run(CarVerifier(root, (name,)), car(blocks))[0] == {"": b"".join(read_file(last, store))}


def test_trees_of_every_kind_are_verified_or_refused() -> None:
    def verify(name: str) -> dict[str, bytes | str | None]:
        tree = Tree.from_car(archive_of(name))
        return run(CarVerifier(tree.root), car(walk_blocks(tree.root, tree.store)))[0]

    assert verify("a symbolic link") == {"": None, "bar": "foo", "foo": b"content\n"}
    assert verify("another hash") == {"": None, "a": HELLO, "b": HELLO}
    files = verify("files")
    assert files["ascii.txt"] == files["ascii-copy.txt"]
    assert "../foo" in verify("a name that leads outside")  # a writer of files refuses such a name
    with pytest.raises(MissingBlock):
        verify("in three parts, incomplete")
    with pytest.raises(UnsupportedContent):
        verify("no file")


def shard(*links: Link, fanout: bytes = b"\x80\x02") -> tuple[Cid, bytes]:
    return rooted(encode_node(links, b"\x08\x05\x28\x22\x30" + fanout))


def test_damaged_shards_are_refused() -> None:
    leaf = Cid(1, RAW, IDENTITY, b"x")
    cid, block = shard(Link(leaf, "00", 1))
    with pytest.raises(MalformedContent, match="sharded folder is damaged"):
        run(CarVerifier(cid), car([(cid, block)]))
    with pytest.raises(UnsupportedContent, match="not a folder"):
        list(list_folder(cid, Store({cid.multihash: block})))


def test_a_chain_of_shards_has_an_end() -> None:
    store = Store()
    cid, block = shard()
    store[cid.multihash] = block
    # The slot of a name repeats in its hash nowhere: give every slot the same child.
    for _ in range(80):
        cid, block = shard(*(Link(cid, f"{slot:02X}", 1) for slot in range(256)))
        store[cid.multihash] = block
    with pytest.raises(MalformedContent, match="nested too deeply"):
        resolve(cid, ["name"], store)
    with pytest.raises(UnsupportedContent, match="nested too deeply"):
        list(list_folder(cid, store))


@pytest.mark.parametrize(
    ("code", "digest"),
    [
        (SHA2_512, hashlib.sha512(b"hello").hexdigest()),
        (BLAKE2B_256, "324dcf027dd4a30a932c441f365a25e86b173defa4b8e58948253471b81b72cf"),
        (SHA2_256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
        (SHA2_256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c"),
        (IDENTITY, b"hello".hex()),
    ],
)
def test_trusted_hashes_are_checked(code: int, digest: str) -> None:
    cid = Cid(1, RAW, code, bytes.fromhex(digest))
    verify_block(cid, b"hello")
    with pytest.raises(WrongHash):
        verify_block(cid, b"hellO")


@pytest.mark.parametrize(("code", "length"), [(0x11, 20), (0xD5, 16), (SHA2_256, 19), (SHA2_256, 33)])
def test_other_hashes_and_lengths_are_not_trusted(code: int, length: int) -> None:
    with pytest.raises(UnsupportedContent, match="not supported"):
        verify_block(Cid(1, RAW, code, bytes(length)), b"hello")


def test_a_block_of_more_than_2_mib_is_refused() -> None:
    with pytest.raises(UnsupportedContent, match="larger than 2 MiB"):
        verify_block(Cid(1, RAW, SHA2_256, bytes(32)), bytes(2 * 1024 * 1024 + 1))


def test_blocks_may_come_one_by_one_as_they_are_wanted() -> None:
    store, root = imported(DATA)
    verifier = CarVerifier(root)
    list(verifier.feed(encode_header([root])))
    data = b""
    places: list[tuple[str, ...] | int | None] = []
    while (cid := verifier.wanted) is not None:
        places.append(verifier.wanted_place)
        data += b"".join(
            event.data for event in verifier.feed_block(store[cid.multihash]) if isinstance(event, FileBytes)
        )
    assert data == DATA
    assert places[0] == (), "the content itself, then parts by their sizes"
    assert sum(place for place in places if isinstance(place, int)) >= len(DATA)
    assert verifier.wanted_place is None
    assert list(verifier.finish()) == []
    with pytest.raises(AssertionError):
        list(verifier.feed_block(b""))
    with pytest.raises(WrongHash):
        list(CarVerifier(root).feed_block(b"other"))
