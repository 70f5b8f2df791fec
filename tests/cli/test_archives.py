"""`export` and `import`: content as CAR files, verified on both ways."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pinui.ipfs.car import CarReader, encode_header, encode_section_head
from pinui.ipfs.cid import RAW, SHA2_256, Cid
from pinui.ipfs.ipld import DAG_CBOR
from tests.cli.conftest import Run

BLAKE3 = 0x1E


def block(codec: int, data: bytes, hash_code: int = SHA2_256) -> tuple[Cid, bytes]:
    return Cid(1, codec, hash_code, hashlib.sha256(data).digest()), data


def car(*blocks: tuple[Cid, bytes], roots: list[Cid]) -> bytes:
    return encode_header(roots) + b"".join(encode_section_head(cid, len(data)) + data for cid, data in blocks)


def folder(here: Path) -> Path:
    (here / "album" / "sub").mkdir(parents=True)
    (here / "album" / "a.txt").write_text("one")
    (here / "album" / "sub" / "large.bin").write_bytes(bytes(range(256)) * 3000)
    return here / "album"


def test_content_goes_from_one_home_to_another_in_a_file(call: Run, here: Path, tmp_path: Path) -> None:
    cid = call("upload", str(folder(here))).out.split("\t")[0]
    exported = call("export", cid, "-o", "album.car")
    assert (exported.code, exported.out) == (0, "album.car\n")
    reader = CarReader()
    blocks = list(reader.feed((here / "album.car").read_bytes()))
    assert ([str(root) for root in reader.roots or ()], len(blocks)) == ([cid], 6), "each block once"
    assert call("export", cid, "-o", "album.car").code == 1, "nothing is overwritten"
    other = {"PINUI_HOME": str(tmp_path / "other")}
    imported = call("import", "album.car", **other)
    assert imported.line == f"{cid}\talbum.car"
    assert call("download", f"{cid}/sub/large.bin", "-o", "back.bin", **other).code == 0
    assert (here / "back.bin").read_bytes() == bytes(range(256)) * 3000
    [row] = [json.loads(line) for line in call("--json", "history", **other).out.splitlines()]
    assert (row["cid"], row["name"], row["folder"]) == (cid, "album", True)


def test_an_archive_goes_through_a_pipe(call: Run, here: Path, tmp_path: Path) -> None:
    cid = call("upload", str(folder(here))).out.split("\t")[0]
    call("export", cid, "-o", "album.car")
    archive = (here / "album.car").read_bytes()
    piped = call("export", cid, "-o", "-")
    assert (piped.code, piped.out.encode("utf-8", "surrogateescape")) == (0, archive)
    pipe = here / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as reader:
        arrived = reader.submit(pipe.read_bytes)
        assert (call("export", cid, "-o", "pipe").code, arrived.result()) == (0, archive)
    assert pipe.is_fifo()
    other = {"PINUI_HOME": str(tmp_path / "other")}
    assert call("import", "-", "--name", "album", stdin=archive, **other).line == f"{cid}\t-"
    assert call("verify", cid, **other).code == 0
    assert call("import", "-", "-", **other).code == 2


def test_each_root_becomes_a_pin_whatever_its_codec(call: Run, here: Path) -> None:
    leaf, value = block(RAW, b"a leaf"), block(DAG_CBOR, b"\xa1\x61a\x01")
    (here / "two.car").write_bytes(car(leaf, value, roots=[leaf[0], value[0]]))
    imported = call("import", "two.car", "--name", "both")
    assert imported.out.splitlines() == [f"{leaf[0]}\ttwo.car", f"{value[0]}\ttwo.car"]
    assert call("export", str(value[0])).line == f"{value[0]}.car"
    assert (here / f"{value[0]}.car").read_bytes() == car(value, roots=[value[0]])


def test_a_file_that_can_not_be_imported_says_why_and_nothing_is_stored(call: Run, here: Path) -> None:
    leaf = block(RAW, b"a leaf")
    for name, archive, words in (
        ("damaged.car", car((leaf[0], b"other"), roots=[leaf[0]]), "not what its CID says"),
        ("missing.car", car(roots=[leaf[0]]), "missing"),
        ("blake3.car", car(block(RAW, b"x", BLAKE3), roots=[block(RAW, b"x", BLAKE3)[0]]), "blake3"),
        ("text.car", b"no archive", "can't be imported"),
    ):
        (here / name).write_bytes(archive)
        refused = call("import", name)
        assert (refused.code, refused.out, words in refused.err) == (1, "", True), refused.err
    assert "no-such.car" in call("import", "no-such.car").err
    assert call("history").out == ""


def test_what_is_nowhere_can_not_be_exported_and_leaves_no_file(call: Run, here: Path) -> None:
    exported = call("export", str(block(RAW, b"nobody has this")[0]), "-o", "x.car")
    assert (exported.code, exported.out) == (1, "")
    assert list(here.iterdir()) == []
