"""The reference implementation agrees: the same CIDs for the same bytes, and archives that go both ways."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from pinui import Client, ClientConfig
from pinui.ipfs.cid import Cid
from pinui.ipfs.exporter import list_folder, read_file, resolve
from pinui.ipfs.folders import FolderBuilder
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, PROFILES, UNIXFS_2025, Importer, ImportProfile
from pinui.ipfs.verifier import CarVerifier, FileBytes, FileEnd
from pinui.node import Node
from tests.real.kubo import Kubo
from tests.unit.trees import Store

pytestmark = pytest.mark.real

CHUNK = 256 * 1024
BY_VERSION = (KUBO_V0, KUBO_V1)
NAMES = (
    "a.txt",
    "B.txt",
    "b.txt",
    "ä",
    "z\u0308",
    "日本語.md",
    "🌨 snow",
    ".hidden",
    "%41 +&=?#.txt",
    "-n",
    "sub/x",
    "sub/y/z",
)


@pytest.fixture
def tree(tmp_path: Path) -> dict[str, bytes]:
    """Files with names of every kind, below `tmp_path/tree`."""
    files = {name: name.encode() * (number * 20_000) for number, name in enumerate(NAMES)}
    write(tmp_path / "tree", files)
    return files


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def imported(data: bytes, profile: ImportProfile) -> tuple[Cid, int]:
    importer = Importer(profile)
    importer.feed(data)
    _, cid, size = importer.finish()
    return cid, size


def pin(node: Node, files: Iterable[tuple[str, bytes]], version: int) -> str:
    parts: list = [("pinataOptions", (None, f'{{"cidVersion": {version}}}')), *(("file", file) for file in files)]
    headers = {"Authorization": f"Bearer {node.token}"}
    answer = httpx.post(
        f"{node.api_url}/pinning/pinFileToIPFS", files=parts, headers=headers, trust_env=False, timeout=60
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["IpfsHash"]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_files_have_the_same_cids_at_every_edge_of_a_chunk(kubo: Kubo, tmp_path: Path, profile: ImportProfile) -> None:
    options, chunk = kubo.use(profile), profile.chunk_size
    for size in (0, 1, 1000, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk - 1, 10_000_000):
        (tmp_path / "file").write_bytes(data := random.Random(size).randbytes(size))
        assert str(imported(data, profile)[0]) == kubo.add(tmp_path / "file", "--only-hash", *options), size


@pytest.mark.slow
@pytest.mark.parametrize(
    ("profile", "leaves"),
    [
        *((profile, leaves) for profile in BY_VERSION for leaves in (174, 175, 174**2, 174**2 + 1)),
        (UNIXFS_2025, 1024),
        (UNIXFS_2025, 1025),
    ],
)
def test_trees_are_full_before_the_next_level_begins(
    kubo: Kubo, tmp_path: Path, profile: ImportProfile, leaves: int
) -> None:
    (tmp_path / "file").write_bytes(data := random.Random(leaves).randbytes(64 * leaves))
    expected = kubo.add(tmp_path / "file", "--only-hash", "--chunker=size-64", *kubo.use(profile))
    assert str(imported(data, replace(profile, chunk_size=64))[0]) == expected


@pytest.mark.parametrize("version", [0, 1])
def test_folders_have_the_same_cids_whatever_the_names(
    kubo: Kubo, node: Node, tmp_path: Path, tree: dict[str, bytes], version: int
) -> None:
    expected = kubo.add(tmp_path / "tree", "--only-hash", *kubo.use(BY_VERSION[version]))
    assert pin(node, ((f"tree/{name}", data) for name, data in tree.items()), version) == expected


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_a_folder_is_spread_over_blocks_from_where_kubo_does_so(
    kubo: Kubo, tmp_path: Path, profile: ImportProfile
) -> None:
    """Exactly a quarter of a megabyte is one block, of names and CIDs or all in all; one byte more is not."""
    options = kubo.use(profile)
    cid, size = imported(b"", profile)
    entry = len(bytes(cid)) + (9 if profile.measures_folders else 0)  # with the tags and lengths of a link
    end = 4 if profile.measures_folders else 0
    room = CHUNK - end
    names = [f"{number:0100}" for number in range(room // (100 + entry) - 2)]
    rest = room - len(names) * (100 + entry) - 3 * entry
    names += ["x" * 90, "y" * 90, "z" * (rest - 180)]
    for more in ("", "z"):
        names[-1] += more
        folder = tmp_path / f"tree{more}"
        write(folder, dict.fromkeys(names, b""))
        builder = FolderBuilder(profile.cid_version, measured=profile.measures_folders)
        for name in names:
            builder.add(name, cid, size)
        blocks, root, _ = builder.finish()
        assert str(root) == kubo.add(folder, "--only-hash", *options)
        assert (len(blocks) > 1) == bool(more)


@pytest.mark.slow
@pytest.mark.parametrize("version", [0, 1])
def test_kubo_reads_a_folder_that_the_node_spread_over_blocks(
    kubo: Kubo, node: Node, tmp_path: Path, version: int
) -> None:
    files = {f"{number:0100}": f"{number}".encode() for number in range(2500)}
    write(tmp_path / "tree", files)
    root = pin(node, ((f"tree/{name}", content) for name, content in files.items()), version)
    assert root == kubo.add(tmp_path / "tree", "--only-hash", *kubo.use(BY_VERSION[version]))
    kubo("dag", "import", *(str(path) for path in (node.data_dir / "pins").iterdir()))
    kubo("get", root, "-o", str(tmp_path / "got"))
    assert {path.name: path.read_bytes() for path in (tmp_path / "got").iterdir()} == files


@pytest.mark.parametrize("version", [0, 1])
def test_kubo_imports_the_cars_of_the_data_folder(
    kubo: Kubo, node: Node, tmp_path: Path, tree: dict[str, bytes], version: int
) -> None:
    data = random.Random(version).randbytes(5 * CHUNK + 17)
    file = pin(node, [("file.bin", data + bytes(3 * CHUNK))], version)
    folder = pin(node, ((f"tree/{name}", content) for name, content in tree.items()), version)
    kubo("dag", "import", *(str(path) for path in (node.data_dir / "pins").iterdir()))
    assert kubo("cat", file) == data + bytes(3 * CHUNK)
    kubo("get", folder, "-o", str(tmp_path / "got"))
    assert {name: (tmp_path / "got" / name).read_bytes() for name in tree} == tree
    assert set(kubo("pin", "ls", "--type=recursive", "-q").decode().split()) >= {file, folder}
    served = tmp_path / "served.car"
    for query in ("?format=car", "?format=car&car-dups=n"):
        served.write_bytes(httpx.get(f"{node.gateway_url}/{folder}{query}", trust_env=False, timeout=60).content)
        assert (
            json.loads(kubo("dag", "import", "--enc=json", str(served)).splitlines()[0])["Root"]["Cid"]["/"] == folder
        )


def sharded(kubo: Kubo, folder: Path) -> tuple[str, dict[str, bytes]]:
    """A folder in Kubo's repository that is spread over several levels of blocks."""
    files = {f"file {number} ✓.txt": f"{number}\n".encode() * number for number in range(300)}
    write(folder, files)
    kubo("config", "Import.UnixFSHAMTDirectorySizeThreshold", "1KiB")
    return kubo.add(folder, "--cid-version=1"), files


def test_cars_that_kubo_wrote_are_read(kubo: Kubo, tmp_path: Path, tree: dict[str, bytes]) -> None:
    for profile in PROFILES:
        root = kubo.add(tmp_path / "tree", *kubo.use(profile))
        assert proven(root, kubo("dag", "export", root)) == tree
    root, files = sharded(kubo, tmp_path / "many")
    archive = kubo("dag", "export", root)
    assert proven(root, archive) == files
    store, roots, _ = Store.from_car(archive, 65536)
    assert [str(cid) for cid in roots] == [root]
    assert {entry.name for entry in list_folder(roots[0], store)} == set(files)
    for name, data in files.items():
        cid = resolve(roots[0], (name,), store)
        assert cid is not None
        assert b"".join(read_file(cid, store)) == data


def proven(root: str, archive: bytes) -> dict[str, bytes]:
    """The files in an archive of which Kubo wrote each block once."""
    verifier = CarVerifier(Cid.parse(root), repeats=False)
    files: dict[str, bytes] = {}
    content = b""
    for event in (*verifier.feed(archive), *verifier.finish()):
        if isinstance(event, FileBytes):
            content += event.data
        elif isinstance(event, FileEnd):
            files["/".join(event.path)], content = content, b""
    return files


def test_the_sdk_proves_what_kubos_gateway_sends(kubo: Kubo, tmp_path: Path) -> None:
    root, files = sharded(kubo, tmp_path / "many")
    (tmp_path / "big").write_bytes(data := random.Random(5).randbytes(30 * CHUNK) + bytes(20 * CHUNK))
    big = kubo.add(tmp_path / "big")
    with kubo.serving("--offline") as server:
        asyncio.run(download(server.gateway_url, {root: files, big: {"": data}}, tmp_path / "got"))


async def download(gateway: str, expected: dict[str, dict[str, bytes]], folder: Path) -> None:
    folder.mkdir()
    nowhere = "http://127.0.0.1:9"
    config = ClientConfig(provider_token="none", pin_api_url=nowhere, gateway_url=gateway, verify="require")
    async with await Client.init(config) as client:
        for cid, files in expected.items():
            assert await client.download(cid, to=folder / cid) == folder / cid
            for name, data in files.items():
                assert (folder / cid / name).read_bytes() == data
