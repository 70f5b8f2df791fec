"""`pinui cid` and `pinui verify`: what bytes are called, and whether a service gives what it should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PINUI, Run

UNKNOWN = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG"


def test_a_cid_told_beforehand_is_the_one_that_an_upload_gets(call: Run, here: Path) -> None:
    (here / "notes" / "deep").mkdir(parents=True)
    (here / "notes" / "deep" / "a.txt").write_text("one")
    (here / "big.bin").write_bytes(os.urandom(1_500_000))
    told = [line.split("\t") for line in call("cid", "big.bin", "notes").out.splitlines()]
    assert len(told) == 6
    assert {path for _, path, _ in told} == {"big.bin", "notes"}
    uploaded = {line.split("\t")[0] for line in call("upload", "big.bin", "notes").out.splitlines()}
    assert {told[0][0], told[3][0]} == uploaded
    piped = json.loads(call("cid", "-", "--json", stdin=(here / "big.bin").read_bytes()).line)
    assert piped["size"] == 1_500_000
    assert list(piped["cids"].values()) == [cid for cid, path, _ in told if path == "big.bin"]


def test_files_are_told_in_order_however_long_each_takes(call: Run, here: Path) -> None:
    (here / "many").mkdir()
    for number in range(100):
        (here / "many" / f"{number:02}").write_bytes(bytes(2_000_000 if number % 20 == 0 else number))
    told = [line.split("\t") for line in call("cid", "-r", "many", "missing").out.splitlines()]
    assert [path for _, path, _ in told] == [f"many/{number:02}" for number in range(100) for _profile in range(3)]
    alone = [line.split("\t")[0] for line in call("cid", "many/20", "many/21").out.splitlines()]
    assert [cid for cid, path, _ in told if path in ("many/20", "many/21")] == alone


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has file names that are no Unicode")
def test_a_folder_whose_cid_cannot_be_told_is_a_sentence(call: Run, here: Path) -> None:
    (here / "photos").mkdir()
    Path(os.fsdecode(os.fsencode(here / "photos") + b"/caf\xe9.txt")).write_text("hi")
    ran = call("cid", "photos")
    assert (ran.code, ran.out) == (1, "")
    assert "photos: The CID can't be computed without an upload: the file name" in ran.err
    assert "no Unicode text" in ran.err


def test_what_lies_below_a_cid_is_checked_too(call: Run, here: Path) -> None:
    (here / "notes").mkdir()
    (here / "notes" / "a.txt").write_text("one")
    cid = call("upload", "notes").line.split("\t")[0]
    assert call("verify", f"{cid}/a.txt").out == f"verified\t{cid}/a.txt\n"


def test_a_path_that_is_missing_does_not_stop_the_others(call: Run, here: Path) -> None:
    (here / "a").write_text("a")
    ran = call("cid", "missing", "a")
    assert ran.code == 1
    assert "missing" in ran.err
    assert len(ran.out.splitlines()) == 3


def test_what_is_pinned_is_read_back_and_found_right(call: Run) -> None:
    first, second = call("store", "1").line, call("store", "[2]").line
    ran = call("verify", "--all")
    assert ran.code == 0
    assert ran.out.splitlines() == [f"verified\t{second}", f"verified\t{first}"]
    assert json.loads(call("verify", first, "--json").line) == {"cid": first, "verification": "verified"}
    missing = call("verify", UNKNOWN, first)
    assert missing.out == f"unreadable\t{UNKNOWN}\nverified\t{first}\n"
    told = json.loads(call("verify", UNKNOWN, "--json").out)
    assert (told["verification"], UNKNOWN in told["error"]) == (None, True)
    assert missing.code == 1
    assert UNKNOWN in missing.err


@pytest.mark.skipif(os.name == "nt", reason="needs a limit on the size of files")
def test_content_is_checked_on_a_disk_too_small_for_it(call: Run, environment: dict[str, str], here: Path) -> None:
    (here / "large").mkdir()
    (here / "large" / "a.bin").write_bytes(os.urandom(3_000_000))
    up = call("upload", "large/a.bin", "large").out.splitlines()
    (file, folder), small = (line.split("\t")[0] for line in up), call("store", "1").line
    # A limit on the size of files refuses a write as a full disk does.
    script = f"ulimit -f 2000; exec {PINUI} verify {file} {folder} {small}"
    limited = environment | {"PYTHONDONTWRITEBYTECODE": "1"}  # it would be cut off as well
    ran = subprocess.run(["sh", "-c", script], env=limited, cwd=here, capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines() == [f"verified\t{cid}" for cid in (file, folder, small)]
    assert (ran.returncode, ran.stderr) == (0, "3 checked, 0 failed.\n")


def test_bytes_that_were_changed_are_found_out_and_noted(call: Run, own_home: Path) -> None:
    cid = call("store", '"a text that stands in its block as it is"').line
    (pin,) = (own_home / "node" / "pins").glob("*.car")
    pin.write_bytes(pin.read_bytes().replace(b"a text that", b"a test that"))
    ran = call("verify", cid)
    assert (ran.code, ran.out) == (1, f"mismatch\t{cid}\n")
    assert json.loads(call("verify", cid, "--json").out) == {"cid": cid, "verification": "mismatch"}
    assert cid in ran.err
    assert "not what its CID says" in ran.err
    assert json.loads(call("history", "--json").line)["verification"] == "mismatch"
    assert call("download", cid, "-o", "-").out == ""


def test_verify_wants_cids_or_all(call: Run) -> None:
    assert call("verify").code == 2
    assert call("verify", "--all", UNKNOWN).code == 2
    assert call("verify", "--all").err == "Nothing is pinned here yet.\n"
