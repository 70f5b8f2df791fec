"""Uploads of files and folders: streamed, with the CIDs that Kubo gives."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import aleph_cid
import httpx
import pytest

from pinui.ipfs.cid import Cid
from pinui.node import Node
from pinui.node.store import PinStore
from pinui.node.uploads import MultipartUpload
from tests.memory import peak_kib
from tests.node.test_command import first_object, running
from tests.unit.trees import Store

OPTIONS_1 = ("pinataOptions", (None, '{"cidVersion": 1}'))


def upload(api: httpx.Client, parts: list) -> dict:
    answer = api.post("/pinning/pinFileToIPFS", files=parts)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("size", [0, 1, 262144, 262145, 1_000_000, 5_000_000])
@pytest.mark.parametrize("options_first", [True, False])
def test_files_get_kubos_cids_wherever_the_options_stand(api: httpx.Client, size: int, options_first: bool) -> None:
    data = random.Random(size).randbytes(size)
    file = ("file", ("data.bin", data))
    assert upload(api, [file])["IpfsHash"] == aleph_cid.compute_cid(data)
    other = aleph_cid.CidHasher.for_ipfs_v1_raw_leaves()
    other.update(data)
    cid = upload(api, [OPTIONS_1, file] if options_first else [file, OPTIONS_1])["IpfsHash"]
    assert cid == other.finalize()
    assert api.get(f"/ipfs/{cid}").content == data


def test_a_pin_is_a_car_that_other_readers_accept(api: httpx.Client, node: Node) -> None:
    data = random.Random(1).randbytes(600_000)
    cid = upload(api, [("file", ("x", data))])["IpfsHash"]
    [path] = (node.data_dir / "pins").iterdir()
    assert aleph_cid.read_carv1_root(str(path)) == cid
    store, roots, _ = Store.from_car(path.read_bytes(), 100_000)
    assert roots == (Cid.parse(cid),)
    assert len(store) == 4
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("version", [0, 1])
def test_a_folder_is_its_files_below_the_shared_root(api: httpx.Client, tmp_path: Path, version: int) -> None:
    files = {"a.txt": b"a", "sub/b.txt": b"bb", "sub/deep/c.txt": b"", "ü.bin": bytes(300_000), 'q"u;o%te.txt': b"q"}
    for name, data in files.items():
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    parts = [("file", (f"root/{name}", data)) for name, data in files.items()]
    pinned = upload(api, [*parts, ("pinataOptions", (None, f'{{"cidVersion": {version}}}'))])
    assert pinned["IpfsHash"] == aleph_cid.hash_folder(str(tmp_path / "folder"), cid_version=version)
    assert pinned["NumberOfFiles"] == 5
    assert pinned["Name"] == "root"
    assert api.get(f"/ipfs/{pinned['IpfsHash']}/sub/b.txt").text == "bb"
    assert api.get(f"/ipfs/{pinned['IpfsHash']}/%C3%BC.bin").content == bytes(300_000)


@pytest.mark.parametrize("names", [["a", "b"], ["d/a", "e/b"], ["d/a", "b"]])
def test_files_without_a_shared_root_are_refused(api: httpx.Client, names: list[str]) -> None:
    answer = api.post("/pinning/pinFileToIPFS", files=[("file", (name, b"x")) for name in names])
    assert answer.status_code == 400
    assert answer.json() == {"error": "More than one file and/or directory was provided for pinning."}


@pytest.mark.parametrize("names", [["d/../a"], ["d//a"], ["d/a", "d/a"], ["d/a", "d/a/b"], ["d/" + "x" * 300]])
def test_folders_that_no_disk_could_hold_are_refused(api: httpx.Client, names: list[str]) -> None:
    answer = api.post("/pinning/pinFileToIPFS", files=[("file", (name, b"x")) for name in names])
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("The folder can't be pinned: ")


def test_names_and_keyvalues_come_from_the_metadata_or_the_file(api: httpx.Client) -> None:
    assert upload(api, [("file", ("cat.png", b"1"))])["Name"] == "cat.png"
    meta = ("pinataMetadata", (None, '{"name": "mine", "keyvalues": {"a": 1}}'))
    named = upload(api, [("file", ("cat.png", b"2")), meta])
    assert (named["Name"], named["Keyvalues"], named["MimeType"]) == ("mine", {"a": 1}, "image/png")


BOUNDARY = {"Content-Type": "multipart/form-data; boundary=b"}
FILE = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\ncontent'


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({}, b""),
        ({"Content-Type": "multipart/form-data"}, b""),
        ({"Content-Type": "text/plain; boundary=b"}, b""),
        (BOUNDARY, b""),
        (BOUNDARY, b"rubbish"),
        (BOUNDARY, FILE),
        (BOUNDARY, FILE + b"\r\n--b\r\n"),
        (BOUNDARY, b"--b--\r\n"),
        (BOUNDARY, b'--b\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--b--\r\n'),
        (
            BOUNDARY,
            b'--b\r\nContent-Disposition: form-data; name="pinataOptions"\r\n\r\n{\r\n' + FILE + b"\r\n--b--\r\n",
        ),
        (BOUNDARY, FILE.replace(b'"x"', b'"\xff"') + b"\r\n--b--\r\n"),
        (BOUNDARY, b"--b\r\n" + b"A: b\r\n" * 1000 + b"\r\nx\r\n--b--\r\n"),
    ],
)
def test_forms_that_are_broken_or_hold_no_file_are_refused(
    api: httpx.Client, node: Node, headers: dict[str, str], body: bytes
) -> None:
    answer = api.post("/pinning/pinFileToIPFS", headers=headers, content=body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]
    assert len(list((node.data_dir / "drafts").iterdir())) == 1, "only the lock is left"
    assert api.get("/data/userPinnedDataTotal").json()["pin_count"] == 0


def test_a_field_or_a_form_that_is_too_large_is_refused(api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [("pinataMetadata", (None, "x" * 2_000_000)), ("file", ("x", b""))]
    assert api.post("/pinning/pinFileToIPFS", files=parts).status_code == 413
    monkeypatch.setattr("pinui.node.uploads.MAX_FILES", 3)
    monkeypatch.setattr("pinui.node.uploads.MAX_FIELDS", 3)
    files = [("file", (f"d/{n}", b"")) for n in range(4)]
    fields = [(f"field{n}", (None, "")) for n in range(4)]
    upload(api, [*fields[:3], *files[:3]])
    for parts, sentence in (
        ([*fields[:3], *files], "At most 3 files can be pinned at once."),
        ([*fields, *files[:3]], "At most 3 fields can go with the files."),
    ):
        answer = api.post("/pinning/pinFileToIPFS", files=parts)
        assert (answer.status_code, answer.json()["error"]) == (413, sentence)


def test_a_type_is_read_from_the_beginning_however_it_is_cut(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    form = MultipartUpload(store, b"b")
    for sign in FILE.replace(b"content", b"\x89PNG\r\n\x1a\n" + bytes(20)) + b"\r\n--b--\r\n":
        form.feed_all([bytes([sign])])
    assert form.finish()[0].mime_type == "image/png"
    store.close()


def test_an_upload_that_breaks_off_leaves_nothing(api: httpx.Client, node: Node) -> None:
    def broken() -> Iterator[bytes]:
        yield FILE
        yield bytes(3_000_000)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        api.post("/pinning/pinFileToIPFS", headers=BOUNDARY, content=broken())
    assert api.get("/data/testAuthentication").status_code == 200
    node.stop()
    assert not list((node.data_dir / "drafts").iterdir())
    assert not list((node.data_dir / "pins").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("options_first", [True, False])
def test_a_large_upload_costs_little_memory(tmp_path: Path, options_first: bool) -> None:
    """In a process of its own: a peak that other tests left would hide this one."""
    piece = os.urandom(1 << 20)
    size = 1 << 30
    options = b'--b\r\nContent-Disposition: form-data; name="pinataOptions"\r\n\r\n{"cidVersion": 1}\r\n'

    def body() -> Iterator[bytes]:
        yield options + FILE if options_first else FILE
        for number in range(size >> 20):
            yield number.to_bytes(8, "big") + piece[8:]  # no two blocks are alike
        yield b"\r\n" + (b"" if options_first else options) + b"--b--\r\n"

    with running("--json", "node", "--data", str(tmp_path)) as process:
        facts = first_object(process)
        headers = {"Authorization": f"Bearer {facts['token']}"}
        with httpx.Client(base_url=facts["api_url"], headers=headers, timeout=300, trust_env=False) as api:
            upload(api, [("file", ("small", piece))])
            before = peak_kib(process.pid)
            answer = api.post("/pinning/pinFileToIPFS", headers=BOUNDARY, content=body())
            assert answer.status_code == 200
            with api.stream("GET", f"/ipfs/{answer.json()['IpfsHash']}") as reply:
                assert sum(len(part) for part in reply.iter_raw()) == size + len(b"content")
            assert peak_kib(process.pid) - before < 64 * 1024
