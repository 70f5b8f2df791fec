"""Text and archives from elsewhere, by the thousand: each is understood, or refused with an error of ours."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256

import pytest

from pinui import InvalidCID, SerializationError
from pinui.ipfs.cid import SHA2_256, Cid
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.exporter import list_folder, read_file, resolve
from pinui.ipfs.jsontext import NotJSON, parse
from pinui.ipfs.verifier import CarVerifier
from pinui.sdk.address import Address
from pinui.sdk.names import safe_name
from pinui.sdk.urls import check_base_url, loggable, redirect_target
from pinui.workspace.text import clean, clean_line
from tests.unit.test_address import TRICKY
from tests.unit.trees import TREES, Blocks, Sharded, Store, archive, plant

COUNT = 20_000
# A damaged tree may unfold without end: whoever reads it takes some, looks, and takes more.
ENOUGH = 2_000

JSON = ["{", "}", "[", "]", '"', ":", ",", "1", "-", "e999", "1.5", "null", "true", "\\u", "\\ud800", '"a"', " "]


def any_text(chance: random.Random) -> str:
    match chance.randrange(3):
        case 0:
            return "".join(chance.choices(TRICKY, k=chance.randrange(9)))
        case 1:
            return "".join(chance.choices(JSON, k=chance.randrange(20)))
        case _:
            return "".join(chr(chance.choice((chance.randrange(256), chance.randrange(0x110000)))) for _ in range(20))


READERS: list[Callable[[str], object]] = [
    Address.parse,
    Address.parse_root,
    Cid.parse,
    parse,
    clean,
    clean_line,
    loggable,
    lambda text: safe_name(text, "fallback"),
    lambda text: check_base_url(text, "gateway_url", allow_insecure=False),
    lambda text: redirect_target("https://gw.example/ipfs/x", text, keep_origin=False, allow_insecure=False),
]


@pytest.mark.parametrize("count", [COUNT // 20, pytest.param(COUNT, marks=pytest.mark.slow)])
def test_twenty_thousand_strings_raise_no_foreign_exception(count: int) -> None:
    chance = random.Random(count)
    for _ in range(count):
        text = any_text(chance)
        for read in READERS:
            with suppress(InvalidCID, ContentAddressError, NotJSON, SerializationError):
                try:
                    read(text)
                except ValueError as error:
                    # An address in the settings is refused as Python does it; the sentence is ours.
                    if type(error) is ValueError and "gateway_url" in str(error):
                        continue
                    raise


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, removed or put in."""
    changed = bytearray(data)
    for _ in range(chance.choice((0, 1, 1, 2, 8))):
        place = chance.randrange(len(changed) + 1)
        match chance.randrange(3):
            case 0:
                changed[place : place + 1] = chance.randbytes(chance.randrange(1, 4))
            case 1:
                del changed[place : place + chance.choice((1, 1, 40))]
            case _:
                changed[place:place] = chance.choice((b"\0", b"\xff" * 10, b"\x80\x80\x01", b"\x12\x00", b"\x0a\x7f"))
    return bytes(changed)


def any_archive(blocks: Blocks, root: Cid, chance: random.Random) -> tuple[bytes, Cid]:
    """A CAR with damage to its bytes; or one whose damaged block has the right CID, so that it is taken apart."""
    if chance.random() < 0.5:
        return damaged(archive(blocks, root), chance), root
    victim = chance.choice(list(blocks))
    data = damaged(blocks[victim], chance)
    cid = Cid(1, victim.codec, SHA2_256, sha256(data).digest())
    return archive({cid: data, **blocks}, cid), cid


def read_archive(data: bytes, root: Cid, chance: random.Random) -> None:
    """As a download reads it, and as a node does that has the blocks."""
    path = chance.choice(((), (), ("subdir",), ("1.txt",)))
    verifier = CarVerifier(root, path, deep=chance.random() < 0.5, repeats=chance.random() < 0.5)
    with suppress(ContentAddressError):
        for start in range(0, len(data), 700):
            for _, _ in zip(range(ENOUGH), verifier.feed(data[start : start + 700]), strict=False):
                pass
        for _, _ in zip(range(ENOUGH), verifier.finish(), strict=False):
            pass
    with suppress(ContentAddressError):
        store, _, _ = Store.from_car(data)
        for look in (read_file, list_folder):
            with suppress(ContentAddressError):
                for _, _ in zip(range(ENOUGH), look(root, store), strict=False):
                    pass
        resolve(root, ["subdir", "1.txt"], store)


@pytest.mark.parametrize("count", [COUNT // 20, pytest.param(COUNT, marks=pytest.mark.slow)])
def test_twenty_thousand_archives_raise_no_foreign_exception(count: int) -> None:
    chance = random.Random(count)
    _, profile, _ = TREES["sharded"]
    shards = Sharded({f"{number}.txt": b"x" for number in range(300)})
    trees = [plant(content, profile) for name, (content, profile, _) in TREES.items() if name != "sharded"]
    trees.append(plant(shards, profile))
    for number in range(count):
        blocks, root = trees[number % len(trees)]
        read_archive(*any_archive(blocks, root, chance), chance)
