"""`pinui copy`: pins from one node to another, with their CIDs and names."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from pinui import ContentError, PinProvider, Unsupported
from pinui.ipfs.car import encode_header, encode_section_head
from pinui.ipfs.importer import UNIXFS_2025, Importer
from pinui.node import Node
from pinui.workspace import Workspace, copying
from pinui.workspace.copies import copy_options, copy_title, new_items
from pinui.workspace.copying import Copying
from tests.cli.conftest import Ran, Run

CANARY = "canary-token-that-nobody-may-see"
MIB = 1024 * 1024
Pins = Callable[[], dict[str, str]]


def lose(car: Path) -> None:
    car.unlink()


def damage(car: Path) -> None:
    data = bytearray(car.read_bytes())
    data[-3] ^= 1
    car.write_bytes(data)


@pytest.fixture
def work(call: Run, tmp_path: Path) -> Iterator[Node]:
    """A second service, with the profile `work`."""
    node = Node(tmp_path / "work", token=CANARY)
    node.start()
    urls = ("--api-url", node.api_url, "--gateway-url", node.gateway_url)
    assert call("profile", "add", "work", *urls, stdin=f"{CANARY}\n").code == 0
    yield node
    node.stop()


@pytest.fixture
def copy(call: Run, work: Node) -> Run:
    """Copy from the node on this machine to `work`."""

    def run(*arguments: str, stdin: str = "", **variables: str) -> Ran:
        variables = {"PINUI_TOKEN_WORK": CANARY, "PINUI_TOKEN": "not for any of these"} | variables
        return call("copy", "--from", "local", "--to", "work", *arguments, stdin=stdin, **variables)

    return run


@pytest.fixture
def pins(call: Run) -> Pins:
    """The pins of `work`: CIDs, and their names."""

    def run() -> dict[str, str]:
        rows = call("--profile", "work", "--json", "pins", PINUI_TOKEN_WORK=CANARY).out.splitlines()
        return {row["cid"]: row["name"] for row in map(json.loads, rows)}

    return run


def fill(folder: Path) -> Path:
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "large.bin").write_bytes(random.Random(1).randbytes(600_000))
    (folder / ".hidden").write_text("seen")
    return folder


def archive(path: Path, data: bytes) -> str:
    """A CAR of a file that was cut into large pieces, as newer programs do. Its CID."""
    importer = Importer(UNIXFS_2025)
    blocks = importer.feed(data)
    last, root, _size = importer.finish()
    with path.open("wb") as file:
        file.write(encode_header([root]))
        for block in [*blocks, *last]:
            content = b"".join(block.parts)
            file.write(encode_section_head(block.cid, len(content)) + content)
    return str(root)


def car_of(home: Path, cid: str) -> Path:
    """The file that holds the content of a pin."""
    [car] = [path for path in home.rglob("*.car") if cid in path.name]
    return car


def test_everything_goes_once_with_its_cid_and_name(call: Run, copy: Run, pins: Pins, here: Path) -> None:
    folder = call("upload", "--hidden", str(fill(here / "album"))).out.split("\t")[0]
    stored = call("store", '{"a":1}').line
    (here / "odd.car").write_bytes(b"")
    odd = archive(here / "odd.car", random.Random(2).randbytes(3 * MIB))
    assert call("import", "odd.car").line.startswith(odd)

    told = copy("--all", "--dry-run")
    assert told.code == 0
    assert "3 of 3 pins to copy from local to work." in told.err
    assert "3  by archive, same CID, 3.7 MB" in told.err
    assert {line.split("\t")[0] for line in told.out.splitlines()} == {folder, stored, odd}
    assert pins() == {}, "nothing was sent"

    copied = copy("--all")
    assert copied.code == 0
    assert {line.split("\t")[1] for line in copied.out.splitlines()} == {"copied"}
    assert "3 copied." in copied.err
    assert set(pins()) == {folder, stored, odd}
    assert (pins()[folder], pins()[odd]) == ("album", "odd")
    assert call("verify", folder, odd, "--profile", "work", PINUI_TOKEN_WORK=CANARY).code == 0

    rows = map(json.loads, call("--json", "history").out.splitlines())
    copies = {row["cid"]: (row["kind"], row.get("name")) for row in rows if row["profile"] == "work"}
    assert copies == {folder: ("file", "album"), stored: ("json", None), odd: ("file", "odd")}

    again = copy(folder, stored)
    assert (again.code, [line.split("\t")[1] for line in again.out.splitlines()]) == (0, ["there", "there"])
    assert "0 copied, 2 there already." in again.err
    assert set(call("pins").out.split()) >= {folder, stored}, "nothing is removed"
    assert CANARY not in copied.out + copied.err


def test_a_filter_and_lines_on_stdin_choose_what_is_copied(call: Run, copy: Run, pins: Pins) -> None:
    first = call("store", '{"a":1}').line
    second = call("store", '{"a":2}').line
    call("rename", first, "draft")
    assert copy("--filter", "draft").out.split("\t")[0] == first
    assert copy("-", stdin=f"{second}\tand more\n").code == 0
    assert set(pins()) == {first, second}


def test_content_without_a_name_gets_none_but_its_cid(call: Run, copy: Run, pins: Pins, here: Path) -> None:
    call("upload", str(fill(here / "album")))
    inner = call("cid", str(here / "album" / "sub" / "large.bin")).out.split("\t")[0]
    copied = copy(inner)
    assert (copied.code, copied.out) == (0, f"{inner}\tcopied\t\n")
    assert "Names are kept; dates are not." in copied.err
    assert pins() == {inner: inner}


def test_the_newer_api_takes_archives_as_well(call: Run, work: Node, here: Path) -> None:
    urls = ("--api-url", work.api_url, "--gateway-url", work.gateway_url, "--dialect", "pinata-v3")
    assert call("profile", "add", "newer", *urls, stdin=f"{CANARY}\n").code == 0
    cid = call("upload", str(fill(here / "album"))).out.split("\t")[0]
    there = call("copy", "--from", "local", "--to", "newer", cid, PINUI_TOKEN_NEWER=CANARY)
    assert (there.code, there.out) == (0, f"{cid}\tcopied\talbum\n")
    call("revoke", cid, "--yes")
    back = call("copy", "--from", "newer", "--to", "local", cid, PINUI_TOKEN_NEWER=CANARY)
    assert (back.code, back.out) == (0, f"{cid}\tcopied\talbum\n")
    assert call("verify", cid).code == 0


async def no_cars(*_arguments: object, **_more: object) -> None:
    raise Unsupported("This service takes no CARs")


async def takes_none(_provider: PinProvider) -> bool:
    return False


def test_a_service_without_archives_gets_what_keeps_its_cid_and_nothing_else(
    call: Run, copy: Run, pins: Pins, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = call("upload", str(fill(here / "album"))).out.split("\t")[0]
    document = call("store", '{"a":1}').line
    odd = archive(here / "odd.car", random.Random(2).randbytes(3 * MIB))
    call("import", "odd.car")
    (here / "newer").mkdir()
    (here / "newer" / "x").write_text("x")
    monkeypatch.setattr(PinProvider, "takes_cars", takes_none)
    monkeypatch.setattr(PinProvider, "import_car", no_cars)
    planned = copy("--all", "--dry-run")
    assert planned.code == 1
    assert "2  read and added again, same CID" in planned.err
    assert "1  left out: its CID would change, as it was cut into blocks in another way than" in planned.err
    copied = copy("--all")
    assert copied.code == 1
    assert "2 copied, 1 left out." in copied.err
    assert "another way than the service" in copied.err
    assert set(pins()) == {folder, document}
    assert pins()[folder] == "album"
    assert odd not in pins()


def test_a_folder_that_would_change_is_left_out_with_its_own_reason(
    call: Run, copy: Run, pins: Pins, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("upload", str(fill(here / "album")))
    monkeypatch.setattr(PinProvider, "takes_cars", takes_none)
    monkeypatch.setattr(copying, "_predict", lambda _path, _version: "QmOther")
    copied = copy("--all")
    assert (copied.code, pins()) == (1, {})
    reason = "the service keeps folders in another way, for example without empty ones."
    assert f"pinui: album: left out, it would become QmOther: {reason}\n" in copied.err


async def no_blocks(*_arguments: object, **_more: object) -> None:
    raise ContentError("The gateway gives no blocks")


def test_content_of_a_gateway_without_blocks_is_read_and_added_again(
    call: Run, copy: Run, pins: Pins, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "letter.txt").write_text("Dear reader")
    cid = call("upload", str(here / "letter.txt")).out.split("\t")[0]
    monkeypatch.setattr(PinProvider, "export_car", no_blocks)
    assert copy(cid).out == f"{cid}\tcopied\tletter.txt\n"
    assert pins() == {cid: "letter.txt"}


async def break_off(source: str = "local") -> None:
    """Begin to copy everything, and end after the first pin."""
    async with await Workspace.open() as workspace:
        to = workspace.service_of("work")
        copying, options = Copying(workspace, workspace.service_of(source), to), copy_options(source)
        plan = await copying.plan(await copying.wanted(options))
        begun = workspace.transfers.begin("copy", copy_title(plan), options, new_items(plan), at=to)
        async with aclosing(workspace.transfers.results(begun)) as results:
            await anext(results)


def test_the_same_command_goes_on_with_a_copy_that_was_broken_off(
    call: Run, copy: Run, pins: Pins, monkeypatch: pytest.MonkeyPatch
) -> None:
    cids = {call("store", f'{{"number":{number}}}').line for number in range(12)}
    monkeypatch.setenv("PINUI_TOKEN_WORK", CANARY)
    asyncio.run(break_off())
    [left] = call("transfers").out.splitlines()
    assert left.split("\t")[2:4] == ["copy", "work"]
    assert 0 < len(pins()) < 12
    copied = copy("--all")
    assert copied.code == 0
    assert sorted(line.split("\t")[0] for line in copied.out.splitlines()) == sorted(cids), "each is told once"
    assert set(pins()) == cids
    assert call("transfers").out == ""


@pytest.mark.slow
def test_resuming_a_copy_ends_with_a_report_of_earlier_failures_too(
    call: Run, work: Node, pins: Pins, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cids = [call("store", f'{{"number":{number}}}').line for number in range(12)]
    monkeypatch.setenv("PINUI_TOKEN_WORK", CANARY)
    asyncio.run(break_off())
    lost = next(cid for cid in cids if cid not in pins())
    lose(car_of(own_home, lost))
    work.stop()
    assert "1 failed" in call("transfers", "resume", PINUI_TOKEN_WORK=CANARY).err
    with_work = Node(tmp_path / "work", token=CANARY)
    with_work.start()
    resumed = call("transfers", "resume", PINUI_TOKEN_WORK=CANARY)
    with_work.stop()
    assert resumed.code == 1
    assert " copied, " in resumed.err
    assert "1 failed." in resumed.err, resumed.err
    assert f"does not have {lost}" in resumed.err
    told = dict(line.split("\t")[:2] for line in resumed.out.splitlines())
    assert (told.pop(lost), set(told.values()) <= {"copied", "there"}, len(told)) == ("failed", True, 11)


@pytest.mark.parametrize("gone", [pytest.param("source", marks=pytest.mark.slow), "work"])
def test_a_service_that_is_gone_fails_once_and_the_rest_can_be_resumed(
    call: Run, work: Node, pins: Pins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    services = {"work": work, "source": Node(tmp_path / "source", token=CANARY)}
    services["source"].start()
    urls = ("--api-url", services["source"].api_url, "--gateway-url", services["source"].gateway_url)
    assert call("profile", "add", "source", *urls, stdin=f"{CANARY}\n").code == 0
    for name in ("WORK", "SOURCE"):
        monkeypatch.setenv(f"PINUI_TOKEN_{name}", CANARY)
    tokens = {"PINUI_TOKEN_WORK": CANARY, "PINUI_TOKEN_SOURCE": CANARY}
    cids = {call("--profile", "source", "store", f"[{number}]", **tokens).line for number in range(12)}
    asyncio.run(break_off("source"))
    services[gone].stop()
    failed = call("transfers", "resume", **tokens)
    assert failed.code == 1
    assert failed.err.count("could not be reached") == 1, failed.err
    assert re.search(r"1 failed, [1-9]\d* left\.", failed.err), failed.err
    assert "transfers resume" in failed.err
    again = Node(tmp_path / gone, token=CANARY)
    again.start()
    assert again.api_url == services[gone].api_url
    assert call("transfers", "resume", **tokens).code == 0
    assert set(pins()) == cids
    assert call("transfers").out == ""
    services["work" if gone == "source" else "source"].stop()
    again.stop()


def test_what_the_source_has_lost_fails_and_the_rest_is_copied(
    call: Run, copy: Run, pins: Pins, own_home: Path
) -> None:
    first = call("store", '{"a":1}').line
    second = call("store", '{"a":2}').line
    lose(car_of(own_home, first))
    copied = copy(first, second)
    assert copied.code == 1
    assert "1 copied, 1 failed." in copied.err
    assert set(pins()) == {second}
    assert dict(line.split("\t")[:2] for line in copied.out.splitlines()) == {first: "failed", second: "copied"}


@pytest.mark.parametrize("harm", [lose, pytest.param(damage, marks=pytest.mark.slow)])
def test_what_one_service_has_lost_is_copied_back_from_another(
    call: Run, copy: Run, own_home: Path, here: Path, harm: Callable[[Path], None]
) -> None:
    album = call("upload", str(fill(here / "album"))).out.split("\t")[0]
    kept = call("store", '{"a":1}').line
    nowhere = call("store", '{"a":2}').line
    assert copy(album, kept).code == 0
    harm(car_of(own_home, album))
    lose(car_of(own_home, nowhere))
    repaired = call("verify", "--all", "--repair-from", "work", PINUI_TOKEN_WORK=CANARY)
    assert repaired.code == 1
    told = dict(line.split("\t")[::-1] for line in repaired.out.splitlines())
    assert told == {album: "repaired", kept: "verified", nowhere: "unreadable"}
    assert f"{nowhere} could not be copied from work" in repaired.err
    assert "3 checked, 1 repaired, 1 failed." in repaired.err
    assert call("verify", album).code == 0
    assert album in call("pins").out


@pytest.mark.slow
def test_a_service_to_repair_from_that_is_gone_is_asked_once(call: Run, copy: Run, work: Node, own_home: Path) -> None:
    for number in range(3):
        lose(car_of(own_home, call("store", f"[{number}]").line))
    work.stop()
    failed = call("verify", "--all", "--repair-from", "work", PINUI_TOKEN_WORK=CANARY)
    assert (failed.code, failed.err.count("could not be copied from work")) == (1, 1)
    assert "3 checked, 3 failed." in failed.err


@pytest.mark.slow
def test_a_destination_that_is_gone_is_told_once(call: Run, copy: Run, work: Node) -> None:
    cid = call("store", '{"a":1}').line
    work.stop()
    gone = copy(cid)
    assert (gone.code, gone.out) == (1, "")
    assert gone.err.count("pinui:") == 1


def test_wrong_usage_is_told_before_anything_is_asked(call: Run, copy: Run) -> None:
    assert copy().code == 2
    both = copy("--all", "--filter", "x")
    assert (both.code, "--all, --filter TEXT, or CIDs: give one of them" in both.err) == (2, True)
    assert call("copy", "--from", "local", "--all").code == 2
    same = call("copy", "--from", "local", "--to", "local", "--all")
    assert (same.code, "the same one" in same.err) == (1, True)
    assert "no profile “nobody”" in call("copy", "--from", "local", "--to", "nobody", "--all").err
