"""Trees of blocks that the tests build themselves: files, folders, symbolic links and shards.

A tree is written as Python: bytes are a file, a dict is a folder, text is the target of a symbolic link, `Sharded` is a
folder spread over several blocks, and `Other` is a block that Kubo's `add` doesn't write.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pinui.ipfs.car import CarReader, encode_header, encode_section_head
from pinui.ipfs.cid import RAW, SHA2_256, Cid
from pinui.ipfs.dagpb import Link, decode_node, encode_node
from pinui.ipfs.errors import MissingBlock
from pinui.ipfs.exporter import resolve, resolve_blocks, walk_blocks
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, Importer, ImportProfile
from pinui.ipfs.multihash import SHA2_512, dag_pb_cid, verify_block
from pinui.ipfs.murmur3 import murmur3_x64_64
from pinui.ipfs.varint import encode_varint

__all__ = ["TREES", "Content", "Other", "Sharded", "Store", "Tree", "archive", "archive_of", "plant", "sharded"]


DAG_CBOR = 0x71


class Store(dict[bytes, bytes]):
    """Blocks by multihash, callable as a lookup."""

    def __call__(self, cid: Cid) -> bytes:
        try:
            return self[cid.multihash]
        except KeyError:
            raise MissingBlock(f"block {cid} is missing") from None

    @classmethod
    def from_car(cls, data: bytes, piece: int = 1000) -> tuple[Store, tuple[Cid, ...], int]:
        """Read an archive in pieces and verify each block: blocks, roots, count."""
        reader, store, count = CarReader(), cls(), 0
        for start in range(0, len(data), piece):
            for block in reader.feed(data[start : start + piece]):
                verify_block(block.cid, block.data)
                store[block.cid.multihash] = bytes(block.data)
                count += 1
        reader.finish()
        assert reader.roots is not None
        return store, reader.roots, count


class Sharded(dict[str, "Content"]):
    """A folder spread over several blocks."""


@dataclass(frozen=True)
class Other:
    """Any block, with its CID."""

    cid: Cid
    data: bytes


Content = bytes | str | Other | dict[str, "Content"]


@dataclass(frozen=True)
class Tree:
    """Blocks below one root."""

    store: Store
    root: Cid

    @classmethod
    def from_car(cls, data: bytes) -> Tree:
        store, [root], _ = Store.from_car(data)
        return cls(store, root)

    def cid(self, *path: str) -> Cid:
        found = resolve(self.root, path, self.store)
        assert found is not None
        return found

    def way(self, *path: str) -> list[Cid]:
        """The blocks on the way to a path, the last one included."""
        return [cid for cid in resolve_blocks(self.root, path, self.store) if cid is not None]

    def below(self, *path: str) -> list[Cid]:
        """The blocks of the content at a path, after the first."""
        return [cid for cid, _ in walk_blocks(self.cid(*path), self.store)][1:]


Blocks = dict[Cid, bytes]


def plant(content: Content, profile: ImportProfile = KUBO_V1) -> tuple[Blocks, Cid]:
    """The blocks of some content, children first, as Kubo would cut it; and the root."""
    blocks: Blocks = {}
    return blocks, _grow(content, profile, blocks).cid


def archive(blocks: Blocks, root: Cid) -> bytes:
    """A CAR of these blocks."""
    sections = (encode_section_head(cid, len(data)) + data for cid, data in blocks.items())
    return encode_header([root]) + b"".join(sections)


def _grow(content: Content, profile: ImportProfile, blocks: Blocks) -> Link:
    """Add the blocks of some content. The link to it has no name yet."""
    version = profile.cid_version
    match content:
        case Other(cid, data):
            blocks[cid] = data
            return Link(cid, None, len(data))
        case bytes():
            importer = Importer(profile)
            made = importer.feed(content)
            rest, cid, size = importer.finish()
            blocks |= {block.cid: b"".join(block.parts) for block in (*made, *rest)}
            return Link(cid, None, size)
        case str():
            target = content.encode()
            return _node([], b"\x08\x04\x12" + encode_varint(len(target)) + target, version, blocks)
        case dict():
            links = {name: _grow(inner, profile, blocks) for name, inner in content.items()}
            if isinstance(content, Sharded):
                return sharded(links, blocks, version=version)
            ordered = sorted(links, key=str.encode)
            return _node([replace(links[name], name=name) for name in ordered], b"\x08\x01", version, blocks)


def sharded(entries: Mapping[str, Link], blocks: Blocks, bits: int = 8, version: int = 1, level: int = 0) -> Link:
    """A sharded folder by its definition: names that share a slot go one level down."""
    slots: dict[int, dict[str, Link]] = {}
    for name, link in entries.items():
        digits = int.from_bytes(murmur3_x64_64(name.encode()), "big")
        slots.setdefault(digits >> (64 - bits * (level + 1)) & (2**bits - 1), {})[name] = link
    width = len(f"{2**bits - 1:X}")
    links: list[Link] = []
    for slot, inside in sorted(slots.items()):
        [name, *others] = inside
        below = sharded(inside, blocks, bits, version, level + 1) if others else inside[name]
        links.append(replace(below, name=f"{slot:0{width}X}{'' if others else name}"))
    taken = sum(1 << slot for slot in slots)
    field = taken.to_bytes((taken.bit_length() + 7) // 8, "big")
    head = b"\x08\x05\x12" + encode_varint(len(field)) + field
    return _node(links, head + b"\x28\x22\x30" + encode_varint(2**bits), version, blocks)


def _node(links: list[Link], message: bytes, version: int, blocks: Blocks) -> Link:
    block = encode_node(links, message)
    cid = dag_pb_cid((block,), version)
    blocks[cid] = block
    return Link(cid, None, len(block) + sum(link.size or 0 for link in links))


# -- trees that tests ask for by name -------------------------------------------------------------------------------

ASCII = b"thirty-one bytes of plain text\n"
HELLO = b"hello world\n"
MULTIBLOCK = " ".join(map(str, range(300))).encode()[:1026]
SMALL_CHUNKS = replace(KUBO_V1, chunk_size=256)
FILES: dict[str, Content] = {"ascii.txt": ASCII, "hello.txt": HELLO, "multiblock.txt": MULTIBLOCK}
OTHER_HASH = Other(Cid(1, RAW, SHA2_512, hashlib.sha512(HELLO).digest()), HELLO)
DOCUMENT = b"\xa1\x61a\x01"
NO_FILE = Other(Cid(1, DAG_CBOR, SHA2_256, hashlib.sha256(DOCUMENT).digest()), DOCUMENT)

# Each with the CID that Kubo 0.41 gives it, by `add` or, for the last three, by `dag put`.
TREES: dict[str, tuple[Content, ImportProfile, str]] = {
    "nested": (
        {"root2": {"root3": {"root4": {"index.html": b"hello\n"}}}},
        KUBO_V1,
        "bafybeib3ffl2teiqdncv3mkz4r23b5ctrwkzrrhctdbne6iboayxuxk5ui",
    ),
    "a folder": (
        {"dir": {"ascii.txt": ASCII}},
        KUBO_V1,
        "bafybeietptg7gzi64bormos2xdcxpvppsupxsbiffe3ajfhhk7wgwgak2y",
    ),
    "files": (
        FILES | {"ascii-copy.txt": ASCII},
        SMALL_CHUNKS,
        "bafybeiff5ib4sjgkdr6la3jromzaytmoxk6v34cs3oisdhy43j4sjroxrm",
    ),
    "two files": (
        {"subdir": {"ascii.txt": ASCII, "hello.txt": HELLO}},
        KUBO_V1,
        "bafybeifxibhtkgtl6jkfkto2yxs3xaihcabizhnxm4o64o5hkbx7yqkrh4",
    ),
    "mixed files": (
        {"subdir": FILES},
        SMALL_CHUNKS,
        "bafybeidijwn6oc42zwi3eu723gldxxoxswz72eme7hsi4tjzvmw4z3qv54",
    ),
    "sharded": (
        Sharded({f"{number}.txt": MULTIBLOCK for number in range(1, 701)}),
        SMALL_CHUNKS,
        "bafybeift6zb2ihb4dlra2ozksce4wnnccepwx5o3654xkwsgakacwvvgya",
    ),
    "in three parts": (
        (MULTIBLOCK * 3)[:3072],
        replace(KUBO_V0, chunk_size=1024),
        "QmbzmXwTgNVyuKDTVYHbVqcKqryDdfY5qvu9SCMr853tmM",
    ),
    "an odd name": (
        {"Portugal%2C+España=Peninsula Ibérica.txt": HELLO},
        KUBO_V1,
        "bafybeihveao3sgv6tct5seqw7bpa6eok4zahfbdjzbp7qrwfuriqskd5ze",
    ),
    "a symbolic link": (
        {"foo": b"content\n", "bar": "foo"},
        KUBO_V0,
        "QmWvY6FaqFMS89YAQ9NAPjVP4WZKA1qbHbicc9HeSKQTgt",
    ),
    "another hash": (
        {"a": HELLO, "b": OTHER_HASH},
        KUBO_V1,
        "bafybeihgazvsbrgxphto2virrl2t4dkitf444jvgqkezxllzsisdkxndri",
    ),
    "a name that leads outside": (
        {"../foo": HELLO, "bar": HELLO},
        KUBO_V1,
        "bafybeihz5kngolvr5q3lce3klju4kkr7j6hyen27pf7rw73ptwhykvcb6i",
    ),
    "no file": (
        {"document": NO_FILE},
        KUBO_V1,
        "bafybeihrmuuv4cfy5ujjd4tm36h4l7v3xgskzgraws4y5unr7gn3kelwt4",
    ),
}


def archive_of(name: str) -> bytes:
    """The CAR of a tree; an incomplete one lacks the second of its three parts."""
    content, profile, _ = TREES[name.removesuffix(INCOMPLETE)]
    blocks, root = plant(content, profile)
    if name.endswith(INCOMPLETE):
        del blocks[decode_node(blocks[root]).links[1].cid]
    return archive(blocks, root)


INCOMPLETE = ", incomplete"
