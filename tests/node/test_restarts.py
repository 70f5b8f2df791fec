"""A node that is stopped or killed goes on with unfinished uploads and with its queue."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from pinui.ipfs.errors import MissingBlock
from pinui.ipfs.importer import KUBO_V1
from pinui.node import Node
from pinui.node.store import PinStore
from pinui.node.tus import KEPT, TusUpload, TusUploads
from pinui.node.workers import Workers
from tests.node.conftest import client
from tests.node.test_files_api import begin, cid_of, elsewhere, message, patch, sign, upload, wait_for_queue
from tests.node.test_full_disk import no_room

__all__ = ["elsewhere"]

CHUNK_SIZE = KUBO_V1.chunk_size
DATA = bytes(2 * CHUNK_SIZE) + os.urandom(2 * CHUNK_SIZE + 1000)  # the first two blocks are the same


def offset(api: httpx.Client, place: str) -> int:
    answer = api.head(place)
    assert answer.status_code == 200
    return int(answer.headers["Upload-Offset"])


def begun(folder: Path, data: bytes, sent: int, url: str = "/v3/files", **fields: str) -> str:
    """The path of an upload whose node has ended after some of its bytes."""
    node = Node(folder)
    node.start()
    with client(node) as api:
        place = begin(
            api, len(data), sign(api, allow_mime_types=["image/*"]) if url == "signed" else url, **fields
        ).headers["Location"]
        assert patch(api, place, 0, data[:sent]).status_code == 204
    node.stop()
    return httpx.URL(place).path


@pytest.mark.parametrize(("version", "sent"), [("v1", 3 * CHUNK_SIZE + 10), ("v0", 4 * CHUNK_SIZE), ("v1", 5)])
def test_an_upload_goes_on_after_a_restart(tmp_path: Path, version: str, sent: int) -> None:
    place = begun(tmp_path, DATA, sent, cid_version=version)
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        arrived = offset(api, place)
        assert arrived == sent // CHUNK_SIZE * CHUNK_SIZE  # a block that is not whole is sent again
        last = patch(api, place, arrived, DATA[arrived:])
        assert last.headers["Upload-Cid"] == upload(api, DATA, cid_version=version)["cid"]
        assert api.get(f"/ipfs/{last.headers['Upload-Cid']}").content == DATA
    node.stop()
    assert list((tmp_path / "uploads").glob("*.car")) == []


def test_a_finished_upload_is_known_after_a_restart(tmp_path: Path) -> None:
    place = begun(tmp_path, DATA, len(DATA))
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        answer = api.head(place)
        assert (answer.headers["Upload-Offset"], answer.headers["Upload-Cid"]) == (str(len(DATA)), cid_of(DATA))
        api.delete(f"/pinning/unpin/{cid_of(DATA)}")
    node.stop()
    node.start()
    with client(node) as api:
        assert api.head(place).status_code == 404
    node.stop()


def test_an_upload_to_a_signed_url_goes_on_without_the_token_and_keeps_its_terms(tmp_path: Path) -> None:
    place = begun(tmp_path, DATA, CHUNK_SIZE, "signed")
    node = Node(tmp_path)
    node.start()
    with client(node, with_token=False) as anyone:
        assert anyone.head(place[:-1]).status_code == 401
        assert anyone.head(f"{place.rpartition('/')[0]}/../x").status_code == 401
        assert offset(anyone, place) == CHUNK_SIZE
        refused = patch(anyone, place, CHUNK_SIZE, DATA[CHUNK_SIZE:])
        assert "MIME type" in message(refused, 400)
        assert anyone.head(place).status_code == 401
    node.stop()


def test_an_upload_survives_damage_to_its_end(tmp_path: Path) -> None:
    place = begun(tmp_path, DATA, 3 * CHUNK_SIZE)
    [draft] = (tmp_path / "uploads").glob("*.car")
    os.truncate(draft, draft.stat().st_size - 10)
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        assert offset(api, place) == 2 * CHUNK_SIZE
        assert patch(api, place, 2 * CHUNK_SIZE, DATA[2 * CHUNK_SIZE :]).headers["Upload-Cid"] == cid_of(DATA)
    node.stop()


def test_an_upload_that_only_lacked_its_end_is_finished_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("pinui.node.tus.TusUpload.finish", lambda *_: 1 / 0)
        node = Node(tmp_path)
        node.start()
        with client(node) as api:
            place = httpx.URL(begin(api, 4 * CHUNK_SIZE).headers["Location"]).path
            assert patch(api, place, 0, DATA[: 4 * CHUNK_SIZE]).status_code == 500
        node.stop()
    node.start()
    with client(node) as api:
        assert api.head(place).headers["Upload-Cid"] == cid_of(DATA[: 4 * CHUNK_SIZE])
        assert api.get(f"/ipfs/{cid_of(DATA[: 4 * CHUNK_SIZE])}").status_code == 200
    node.stop()


def test_an_upload_goes_on_after_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        place = begin(api, len(DATA)).headers["Location"]
        patch(api, place, 0, DATA[: 2 * CHUNK_SIZE])
        with monkeypatch.context() as full:
            full.setattr("pinui.node.draft.os.writev", no_room)
            assert patch(api, place, 2 * CHUNK_SIZE, DATA[2 * CHUNK_SIZE :]).status_code == 507
        assert offset(api, place) == 2 * CHUNK_SIZE
        assert patch(api, place, 2 * CHUNK_SIZE, DATA[2 * CHUNK_SIZE :]).headers["Upload-Cid"] == cid_of(DATA)
    node.stop()


async def test_a_client_that_goes_away_while_its_upload_is_read_again_can_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, _, id_, secret = begun(tmp_path, DATA, CHUNK_SIZE).split("/")
    reading, going_on = threading.Event(), threading.Event()
    take_again = TusUpload.take_again

    def slowly(upload: TusUpload, old: Path) -> None:
        reading.set()
        going_on.wait()
        take_again(upload, old)

    monkeypatch.setattr(TusUpload, "take_again", slowly)
    store, workers = PinStore(tmp_path), Workers()
    uploads = TusUploads(store, workers)
    first = asyncio.create_task(uploads.find(id_, secret))
    await asyncio.to_thread(reading.wait)
    first.cancel()
    going_on.set()
    with pytest.raises(asyncio.CancelledError):
        await first
    upload = await uploads.find(id_, secret)
    assert upload is not None
    assert upload.offset == CHUNK_SIZE
    workers.close()
    uploads.close()
    store.close()


def test_two_nodes_on_one_folder_leave_each_others_uploads_alone(tmp_path: Path) -> None:
    first, second = Node(tmp_path), Node(tmp_path)
    first.start()
    second.start()
    with client(first) as api, client(second) as other:
        place = httpx.URL(begin(api, len(DATA)).headers["Location"]).path
        patch(api, place, 0, DATA[:CHUNK_SIZE])
        assert other.head(place).status_code == 423
        assert offset(api, place) == CHUNK_SIZE
    first.stop()
    with client(second) as other:
        assert offset(other, place) == CHUNK_SIZE
    second.stop()


def test_uploads_that_nobody_goes_on_with_are_removed_after_a_day(tmp_path: Path) -> None:
    place = begun(tmp_path, DATA, CHUNK_SIZE)
    for file in (tmp_path / "uploads").iterdir():
        os.utime(file, (then := time.time() - KEPT - 60, then))
    node = Node(tmp_path)
    node.start()
    with client(node) as api:
        assert api.head(place).status_code == 404
    assert list((tmp_path / "uploads").iterdir()) == []
    node.stop()


@pytest.fixture
def silent():
    """The address of a gateway that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/ipfs"


def test_the_queue_goes_on_after_a_restart(tmp_path: Path, elsewhere: Node, silent: str) -> None:
    with client(elsewhere) as there:
        cid = upload(there)["cid"]
    stopped = Node(tmp_path / "node", fetch_from=[silent])
    stopped.start()
    with client(stopped) as api:
        asked = {"cid": cid, "name": "theirs", "keyvalues": {"a": "b"}}
        job = api.post("/v3/files/public/pin_by_cid", json=asked).json()["data"]
        assert api.post("/v3/files/public/pin_by_cid", json=asked).json()["data"] == job, "one request for one CID"
    stopped.stop()
    for gateways in ([], [silent], [elsewhere.gateway_url]):
        node = Node(tmp_path / "node", fetch_from=gateways)
        node.start()
        with client(node) as api:
            if gateways == [elsewhere.gateway_url]:
                assert wait_for_queue(api) == []
                [file] = api.get("/v3/files/public").json()["data"]["files"]
                assert (file["cid"], file["name"], file["keyvalues"]) == (cid, "theirs", {"a": "b"})
            else:
                assert api.get("/v3/files/public/pin_by_cid").json()["data"]["jobs"] == [job]
                assert api.get("/pinning/pinJobs").json()["rows"][0]["id"] == job["id"]
        node.stop()


def test_a_failed_request_stays_in_the_queue_after_a_restart_and_is_not_tried_again(
    tmp_path: Path, elsewhere: Node
) -> None:
    node = Node(tmp_path / "node", fetch_from=[elsewhere.gateway_url])
    node.start()
    with client(node) as api:
        api.post("/v3/files/public/pin_by_cid", json={"cid": cid_of(b"nowhere")})
        [failed] = wait_for_queue(api)
        assert failed["status"] == "expired"
    node.stop()
    with client(elsewhere) as there:
        upload(there, b"nowhere")
    node.start()
    with client(node) as api:
        assert wait_for_queue(api) == [failed]
        assert api.delete(f"/v3/files/public/pin_by_cid/{failed['id']}").json() == {"data": None}
        assert wait_for_queue(api) == []
    node.stop()


def test_two_nodes_on_one_folder_share_the_queue_and_fetch_once(tmp_path: Path, silent: str) -> None:
    first, second = (Node(tmp_path / "node", fetch_from=[silent]) for _ in range(2))
    first.start()
    second.start()
    with client(first) as one, client(second) as two:
        job = one.post("/v3/files/public/pin_by_cid", json={"cid": cid_of(b"x")}).json()["data"]
        assert two.post("/v3/files/public/pin_by_cid", json={"cid": cid_of(b"x")}).json()["data"] == job
        assert two.delete(f"/v3/files/public/pin_by_cid/{job['id']}").json() == {"data": None}
        assert one.get("/v3/files/public/pin_by_cid").json()["data"]["jobs"] == []
    first.stop()
    second.stop()


def test_a_request_that_was_deleted_elsewhere_does_not_come_back_when_it_fails(tmp_path: Path) -> None:
    deleted, over = threading.Event(), threading.Event()

    def refuse(listener: socket.socket) -> None:
        deleted.wait()
        while not over.is_set():
            with suppress(TimeoutError):
                listener.accept()[0].close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        refusing = threading.Thread(target=refuse, args=(listener,))
        refusing.start()
        first = Node(tmp_path / "node", fetch_from=[f"http://127.0.0.1:{listener.getsockname()[1]}"])
        second = Node(tmp_path / "node")
        first.start()
        second.start()
        with client(first) as one, client(second) as two:
            job = one.post("/v3/files/public/pin_by_cid", json={"cid": cid_of(b"x")}).json()["data"]
            two.delete(f"/v3/files/public/pin_by_cid/{job['id']}")
            deleted.set()
            one.post("/v3/files/public/pin_by_cid", json={"cid": cid_of(b"y")})
            assert [job["cid"] for job in wait_for_queue(one)] == [cid_of(b"y")]
        first.stop()
        second.stop()
        over.set()
        refusing.join()


def test_a_request_that_the_disk_has_no_room_for_says_so(
    tmp_path: Path, elsewhere: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(elsewhere) as there:
        cid = upload(there)["cid"]
    node = Node(tmp_path / "node", fetch_from=[elsewhere.gateway_url])
    node.start()
    with client(node) as api, monkeypatch.context() as full:
        monkeypatch.setattr("pinui.node.by_cid.PinsByCid._pin_part", missing)
        full.setattr("pinui.node.draft.os.writev", no_room)
        api.post("/v3/files/public/pin_by_cid", json={"cid": cid})
        assert [job["status"] for job in wait_for_queue(api)] == ["over_max_size"]
    node.stop()


async def missing(*_: object) -> None:
    raise MissingBlock("as if the node had looked")
