"""CARs to import: taken as they are where services can take them, else written again."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest

from pinui.ipfs.car import CarReader, encode_header, encode_section_head
from pinui.ipfs.cid import RAW, SHA2_256, Cid
from pinui.sdk.errors import ContentError
from pinui.sdk.writing.archives import open_archives
from tests.unit.trees import Tree, archive_of

V2 = bytes.fromhex("0aa16776657273696f6e02")


def section(cid: Cid, data: bytes) -> bytes:
    return encode_section_head(cid, len(data)) + data


def raw(data: bytes) -> tuple[Cid, bytes]:
    return Cid(1, RAW, SHA2_256, hashlib.sha256(data).digest()), data


def version_2(archive: bytes) -> bytes:
    return V2 + bytes(16) + struct.pack("<QQQ", 51, len(archive), 0) + archive


def blocks(path: Path) -> list[Cid]:
    reader = CarReader()
    found = [block.cid for block in reader.feed(path.read_bytes())]
    reader.finish()
    return found


def test_an_archive_of_one_tree_is_taken_as_it_is(tmp_path: Path) -> None:
    (path := tmp_path / "x.car").write_bytes(archive_of("mixed files"))
    (scratch := tmp_path / "scratch").mkdir()
    [archive] = open_archives(path, scratch)
    assert (archive.path, archive.root, archive.is_folder) == (path, Tree.from_car(path.read_bytes()).root, True)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("kind", ["version 2", "a foreign block", "two roots"])
def test_other_archives_are_written_again_with_one_root_and_its_blocks_alone(tmp_path: Path, kind: str) -> None:
    one, two = raw(b"one"), raw(b"two")
    content = {
        "version 2": version_2(encode_header([one[0]]) + section(*one)),
        "a foreign block": encode_header([one[0]]) + section(*two) + section(*one),
        "two roots": encode_header([one[0], two[0], one[0]]) + section(*two) + section(*one),
    }[kind]
    (path := tmp_path / "x.car").write_bytes(content)
    (scratch := tmp_path / "scratch").mkdir()
    archives = open_archives(path, scratch)
    assert [blocks(archive.path) for archive in archives] == [[one[0]]] + [[two[0]]] * (kind == "two roots")
    assert [archive.path.parent for archive in archives] == [scratch] * len(archives)


def test_a_missing_block_and_a_wrong_one_are_told(tmp_path: Path) -> None:
    one, two = raw(b"one"), raw(b"two")
    for content, words in (
        (encode_header([one[0]]) + section(*two), "missing"),
        (encode_header([one[0]]) + section(one[0], b"two"), "can't be imported"),
        (encode_header([]), "names no root"),
    ):
        (path := tmp_path / "x.car").write_bytes(content)
        with pytest.raises(ContentError, match=words):
            open_archives(path, tmp_path)
