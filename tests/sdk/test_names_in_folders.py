"""A folder that comes down stays where it was put: no name and no link in it leads elsewhere, on any system."""

from __future__ import annotations

import asyncio
import errno
import ntpath
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui import ContentError
from pinui.ipfs.cid import IDENTITY, RAW, Cid
from pinui.ipfs.dagpb import Link, encode_node
from pinui.ipfs.folders import is_safe_name, portable_name
from pinui.ipfs.importer import KUBO_V0
from pinui.ipfs.multihash import dag_pb_cid
from pinui.ipfs.unixfs import EMPTY_FOLDER
from pinui.ipfs.verifier import Event, FileEnd, FileStart, FolderStart, SymlinkFound
from pinui.sdk.reading.folder_writer import FolderWriter
from tests.sdk.conftest import Setup
from tests.sdk.gateways import Content, FakeGateway, folder_of, honest

LEADS_ELSEWHERE = [
    *("", ".", "..", "a/b", "/etc", "a\0b"),
    *("a\\b", "\\\\host\\share", "C:evil.exe", "C:", "file.txt:stream", ".. ", "...", "a.", "a ", ". ."),
    *("CON", "con", "Nul.txt", "aux .tar.gz", "COM1", "com0.log", "LPT9", "COM¹", "LPT³.x", "CONIN$", "con.d"),
]
STAYS = ["a", ".hidden", "..a", "a..b", "console", "com", "COM10", "aux-x", "what?.txt", "ü", "a b", "~"]


@pytest.mark.parametrize("name", LEADS_ELSEWHERE)
def test_a_name_that_leads_elsewhere_on_some_system_is_not_safe(name: str) -> None:
    assert not is_safe_name(name)


@pytest.mark.parametrize("name", STAYS)
def test_a_name_that_stays_on_every_system_is_safe(name: str) -> None:
    assert is_safe_name(name)


def folder_with(name: str) -> Content:
    """A folder with one entry, of any name that a block can hold."""
    block = encode_node([Link(Cid(1, RAW, IDENTITY, b"x"), name, 1)], EMPTY_FOLDER)
    root = dag_pb_cid((block,), 1)
    return Content(root, b"", {root.multihash: block}, is_folder=True)


@pytest.mark.parametrize("name", [name for name in LEADS_ELSEWHERE if portable_name(name) is not None])
async def test_an_entry_with_an_unsafe_name_is_saved_under_an_escaped_one_and_told(
    reading: Setup, tmp_path: Path, name: str
) -> None:
    content, notices = folder_with(name), list[str]()
    client = await reading(FakeGateway(content, car=honest), on_notice=notices.append)
    folder = await client.download(content.cid, to=tmp_path / "out")
    [saved] = folder.iterdir()
    assert (unquote(saved.name), saved.read_bytes()) == (name, b"x")
    assert is_safe_name(saved.name)
    assert notices == [f"“{name}” is saved as “{saved.name}”: not every system takes its name."]


async def test_escaped_names_collide_with_no_others_and_hold_below_folders(tmp_path: Path) -> None:
    for names in (["12:30", "12%3A30", "12%253A30x"], ["12%3A30", "12:30", "x"]):
        writer = FolderWriter(tmp_path / "".join(names).replace(":", ""), "x")
        await writer.take([FolderStart(())])
        for name in names:
            await writer.take([FolderStart((name,)), *file(name, "a:b"), *file(name, name)])
        root = await asyncio.to_thread(writer.commit)
        assert len(list(root.iterdir())) == 3
        assert all((folder / "a%3Ab").exists() and len(list(folder.iterdir())) == 2 for folder in root.iterdir())
        assert writer.renamed["12:30", "a:b"] == "a%3Ab"


def test_windows_has_further_signs_escaped() -> None:
    assert portable_name('what?<"1">.txt', windows=True) == "what%3F%3C%221%22%3E.txt"
    assert portable_name("what?.txt") == "what?.txt"


pieces = st.sampled_from([":", "%3A", "%253A", "con", "%63on", ".", "%2E", " ", "?", "\\", "1"])


@given(st.lists(st.lists(pieces, min_size=1, max_size=3).map("".join), unique=True), st.booleans())
def test_no_two_unsafe_names_become_the_same(names: list[str], windows: bool) -> None:
    escaped = [portable_name(name, windows=windows) for name in names if not is_safe_name(name)]
    made = [name for name in escaped if name is not None]
    assert len(set(made)) == len(made)
    assert all(map(is_safe_name, made))


@pytest.mark.parametrize("name", ["../x", "..", "", "a\0b"])
async def test_an_entry_that_cannot_be_saved_safely_is_named_and_nothing_is_written(
    reading: Setup, tmp_path: Path, name: str
) -> None:
    content = folder_with(name)
    client = await reading(FakeGateway(content, car=honest))
    with pytest.raises(ContentError) as caught:
        await client.download(content.cid, to=tmp_path / "out")
    assert f"“{name}”" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


async def test_a_name_that_the_disk_has_already_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    """As for `A` and `a` on a disk that ignores case: here it is the same name, which the blocks would not hold."""
    writer = FolderWriter(tmp_path / "out", "x")
    try:
        with pytest.raises(ContentError, match="takes “sub/a” for the name of another entry"):
            await writer.take([FolderStart(()), FolderStart(("sub",)), *file("sub", "a"), *file("sub", "a")])
    finally:
        writer.discard()
    assert list(tmp_path.iterdir()) == []


async def test_names_that_differ_in_case_are_two_where_the_disk_says_so(reading: Setup, tmp_path: Path) -> None:
    content = folder_of({"Makefile": b"1", "makefile": b"2"}, KUBO_V0)
    client = await reading(FakeGateway(content, car=honest))
    (tmp_path / "x").touch()
    if (tmp_path / "X").exists():
        with pytest.raises(ContentError, match="makefile"):
            await client.download(content.cid, to=tmp_path / "out")
    else:
        await client.download(content.cid, to=tmp_path / "out")
        assert (tmp_path / "out" / "makefile").read_bytes() == b"2"


def file(*path: str) -> list[Event]:
    return [FileStart(path, 0), FileEnd(path)]


# Links

PIECES = [
    *("/", "//", "///", ".", "..", "../", "./", "a", "b", "a/b", "L0", "L1", "L2", "a/L3", "file"),
    *("\\", "..\\", "C:", "c:/", "\\\\?\\", ".. ", "...", "~", "", " ", "CON", "file:s", "etc/passwd"),
]
PLACES = [("L0",), ("L1",), ("L2",), ("a", "L3"), ("a", "b", "L4")]
targets = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def leads_inside(link: Path, root: Path) -> bool:
    """As this system follows it, and as Windows would read it."""
    target = str(link.readlink())
    home = ntpath.join("C:\\", "out")
    place = ntpath.join(home, *link.parent.relative_to(root).parts, target.replace("/", "\\"))
    on_windows = ntpath.normpath(place).casefold()
    return _ends_inside(link, root) and (on_windows + "\\").startswith(home.casefold() + "\\")


def _ends_inside(link: Path, root: Path) -> bool:
    try:
        link.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return True  # it leads nowhere, and what realpath says of it is no path
    return Path(os.path.realpath(link)).is_relative_to(root)


@given(st.lists(st.tuples(st.sampled_from(PLACES), targets), max_size=5, unique_by=lambda made: made[0]))
def test_no_link_leaves_the_folder_however_it_is_spelled(links: list[tuple[tuple[str, ...], str]]) -> None:
    async def write(root: Path) -> Path:
        writer = FolderWriter(root, "x")
        try:
            await writer.take([FolderStart(()), FolderStart(("a",)), FolderStart(("a", "b")), *file("file")])
            for path, target in links:
                with suppress(ContentError):
                    await writer.take([SymlinkFound(path, target)])
            return await asyncio.to_thread(writer.commit)
        finally:
            writer.discard()

    with tempfile.TemporaryDirectory() as folder:
        root = asyncio.run(write(Path(folder).resolve() / "out"))
        for path, _target in links:
            link = root.joinpath(*path)
            assert not link.is_symlink() or leads_inside(link, root), link.readlink()


@pytest.mark.parametrize("target", ["//etc/passwd", "///etc/passwd", "C:/x", "c:x", ".. /x", "a/.. /x", "CON", "f:s"])
async def test_an_absolute_link_is_refused_in_every_spelling(tmp_path: Path, target: str) -> None:
    writer = FolderWriter(tmp_path / "out", "x")
    try:
        with pytest.raises(ContentError, match="lead out of it: “L”"):
            await writer.take([FolderStart(()), SymlinkFound(("L",), target)])
    finally:
        writer.discard()
    assert list(tmp_path.iterdir()) == []
