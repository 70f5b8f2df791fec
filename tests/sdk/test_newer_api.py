"""The hosted service's newer API: which keys lead to it, its uploads, and what it answers that others don't."""

from __future__ import annotations

import asyncio
import base64
import io
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx
from aiohttp import web

from pinui import (
    Client,
    ClientConfig,
    IntegrityError,
    NetworkError,
    PinProvider,
    ProviderError,
    Resume,
    SourceChanged,
    Totals,
    Unsupported,
)
from pinui.ipfs.cid import Cid
from pinui.ipfs.importer import KUBO_V1, CidPredictor
from pinui.node import Node
from pinui.sdk.providers import newer_api
from tests.sdk.conftest import TOKEN, FakeClock, MakeClient
from tests.servers import serve, settings_of
from tests.unit.trees import archive_of

HELLO = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
NO_SCOPES = httpx.Response(403, json={"error": {"reason": "NO_SCOPES_FOUND", "details": "This key lacks scopes"}})
NOT_AUTHORIZED = httpx.Response(401, json={"error": {"code": 401, "message": "Not Authorized"}})
PINNED = httpx.Response(200, json={"IpfsHash": HELLO, "PinSize": 11, "Timestamp": "2026-01-01T00:00:00Z"})


def uploaded(**fields: Any) -> httpx.Response:
    file = {"id": "1", "cid": HELLO, "network": "public", "mime_type": "text/plain", "number_of_files": 1}
    return httpx.Response(200, json={"data": {**file, **fields}})


@dataclass
class Hosted:
    """The hosted service, as far as a test scripts it: an answer for the host and path of a request."""

    answers: dict[str, httpx.Response | Callable[[httpx.Request], httpx.Response]]
    seen: list[str] = field(default_factory=list[str])
    dialects: list[str] = field(default_factory=list[str])
    notices: list[str] = field(default_factory=list[str])

    async def handle(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        place = f"{request.method} {request.url.host.partition('.')[0]}{request.url.path}"
        self.seen.append(place)
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"
        answer = self.answers[place]
        made = answer if isinstance(answer, httpx.Response) else answer(request)
        return httpx.Response(made.status_code, headers=made.headers, content=made.content)

    def client(self, **settings: Any) -> Client:
        config = ClientConfig(
            **{
                "provider_token": TOKEN,
                "transport": httpx.MockTransport(self.handle),
                "on_dialect": self.dialects.append,
                "on_notice": self.notices.append,
                "retries": 0,
                **settings,
            }
        )
        return Client(PinProvider(config))


OLDER = "POST api/pinning/pinFileToIPFS"
NEWER = "POST uploads/v3/files"


# Which API a key knows


async def test_a_key_that_the_older_api_refuses_goes_to_the_newer_one_from_then_on() -> None:
    hosted = Hosted({OLDER: NO_SCOPES, NEWER: uploaded()})
    async with hosted.client() as client:
        assert (await client.upload(b"hello world")).cid == HELLO
        await client.upload(b"hello world")
    assert hosted.seen == [OLDER, NEWER, NEWER], "nothing was sent only to find out"
    assert hosted.dialects == ["pinata-v3"]


async def test_a_key_that_the_older_api_knows_stays_there() -> None:
    hosted = Hosted({OLDER: PINNED})
    async with hosted.client() as client:
        await client.upload(b"hello world")
        await client.upload(b"hello world")
    assert (hosted.seen, hosted.dialects) == ([OLDER, OLDER], ["pinata"])


async def test_a_remembered_api_is_asked_first_and_left_when_it_refuses_the_key() -> None:
    hosted = Hosted({OLDER: PINNED, NEWER: uploaded()})
    async with hosted.client(known_dialect="pinata-v3") as client:
        await client.upload(b"hello world")
    assert (hosted.seen, hosted.dialects) == ([NEWER], []), "no news"
    hosted = Hosted({OLDER: PINNED, NEWER: NOT_AUTHORIZED})
    async with hosted.client(known_dialect="pinata-v3") as client:
        await client.upload(b"hello world")
    assert (hosted.seen, hosted.dialects) == ([NEWER, OLDER], ["pinata"])


async def test_a_key_that_neither_knows_is_told_so() -> None:
    hosted = Hosted({OLDER: NO_SCOPES, NEWER: NOT_AUTHORIZED})
    async with hosted.client() as client:
        with pytest.raises(ProviderError, match="lacks scopes") as caught:
            await client.upload(b"hello world")
    assert "neither" in (caught.value.hint or "")
    assert hosted.dialects == []


@pytest.mark.parametrize(
    ("dialect", "answers", "status"), [("pinata", {OLDER: NO_SCOPES}, 403), ("pinata-v3", {NEWER: NOT_AUTHORIZED}, 401)]
)
async def test_a_dialect_that_was_chosen_is_not_left(dialect: str, answers: dict[str, Any], status: int) -> None:
    hosted = Hosted(answers)
    async with hosted.client(dialect=dialect) as client:
        with pytest.raises(ProviderError) as caught:
            await client.upload(b"hello world")
    assert caught.value.status == status
    assert len(hosted.seen) == 1


async def test_a_listing_finds_out_too() -> None:
    files = httpx.Response(200, json={"data": {"files": [{"id": "1", "cid": HELLO}], "next_page_token": ""}})
    hosted = Hosted({"GET api/data/pinList": NO_SCOPES, "GET api/v3/files/public": files})
    async with hosted.client() as client:
        assert [pin.cid async for pin in client.pins()] == [HELLO]
    assert hosted.dialects == ["pinata-v3"]


async def test_the_connection_test_is_the_same_in_every_dialect() -> None:
    hosted = Hosted({"GET api/data/testAuthentication": httpx.Response(200, json={"message": "Congratulations!"})})
    for dialect in ("pinata", "pinata-v3", None):
        async with hosted.client(dialect=dialect) as client:
            assert await client.test_connection()
    assert hosted.dialects == []


@pytest.mark.parametrize(
    ("details", "words"),
    [("Account blocked due to plan usage limit", "over the limit of its plan"), ("Account blocked", "has blocked")],
)
async def test_an_account_that_may_not_write_is_told_in_plain_words(details: str, words: str) -> None:
    refusal = httpx.Response(403, json={"error": {"reason": "FORBIDDEN", "details": details}})
    hosted = Hosted({OLDER: refusal})
    async with hosted.client() as client:
        with pytest.raises(ProviderError, match=details) as caught:
            await client.upload(b"x")
    assert words in (caught.value.hint or "")


async def test_a_key_that_may_read_and_not_write_is_told_so() -> None:
    refusal = httpx.Response(403, json={"error": {"code": 403, "message": "Not Authorized"}})
    hosted = Hosted({OLDER: NO_SCOPES, NEWER: refusal})
    async with hosted.client() as client:
        with pytest.raises(ProviderError, match="Not Authorized") as caught:
            await client.upload(b"x")
    assert "may not do this" in (caught.value.hint or "")


# Uploads


async def test_uploads_say_that_they_are_public_and_carry_bytes_as_they_are() -> None:
    bodies: list[bytes] = []

    def take(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        return uploaded()

    hosted = Hosted({NEWER: take})
    async with hosted.client(dialect="pinata-v3", verify="off") as client:
        await client.store({"b": 1.0, "a": "é"})
    [body] = bodies
    assert re.search(rb'name="network"\r\n\r\npublic\r\n', body)
    assert re.search(rb'name="cid_version"\r\n\r\nv1\r\n', body)
    assert re.search(rb'name="name"\r\n\r\nclient-\d+\r\n', body)
    assert '{"b":1,"a":"é"}'.encode() in body


async def test_a_reply_that_is_not_public_is_told(tmp_path: Path) -> None:
    (tmp_path / "some.car").write_bytes(archive_of("files"))
    hosted = Hosted({NEWER: uploaded(network="private", is_duplicate=True)})
    async with hosted.client(dialect="pinata-v3") as client:
        await client.upload(b"hello world")
        await client.store("hello")
        await client.import_car(tmp_path / "some.car")
    assert ["private" in notice for notice in hosted.notices] == [True] * 3


async def test_a_file_whose_cid_is_pending_gets_the_one_that_its_bytes_have() -> None:
    hosted = Hosted({NEWER: uploaded(cid="pending")})
    async with hosted.client(dialect="pinata-v3") as client:
        assert (await client.upload(b"hello world")).cid == HELLO


async def test_a_folder_that_became_something_else_is_taken_back_and_goes_the_older_way(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    hosted = Hosted({NEWER: uploaded(), "DELETE api/v3/files/public/1": httpx.Response(200), OLDER: PINNED})
    async with hosted.client(dialect="pinata-v3", verify="off") as client:
        assert (await client.upload(tmp_path)).cid == HELLO
    assert hosted.seen == [NEWER, "DELETE api/v3/files/public/1", OLDER]


async def test_a_folder_round_trips(tmp_path: Path) -> None:
    (tmp_path / "album" / "sub").mkdir(parents=True)
    (tmp_path / "album" / "a b.txt").write_text("one")
    (tmp_path / "album" / "sub" / "ü.txt").write_text("two")
    settings: Any = {"dialect": "pinata-v3", "verify": "require"}
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node, **settings)) as client:
        record = await client.upload(tmp_path / "album")
        assert (await client.download(f"{record.cid}/sub/ü.txt")).data == b"two"
        [pin] = [pin async for pin in client.pins()]
        assert (pin.cid, pin.name) == (record.cid, "album")


# The account


async def test_the_account_is_listed_renamed_pinned_and_counted(tmp_path: Path) -> None:
    async with Node(tmp_path) as node, await Client.init(**settings_of(node, dialect="pinata-v3")) as client:
        records = [await client.upload(bytes([n])) for n in range(3)]
        assert [pin.cid async for pin in client.pins()] == [record.cid for record in reversed(records)]
        await client.rename(records[1].cid, "Other name")
        [named] = [pin async for pin in client.pins(name="other")]
        assert (named.cid, named.size, named.status) == (records[1].cid, 1, "pinned")
        assert named.created is not None
        assert (await client.pin(records[0].cid)).status == "pinned"
        totals = await client.totals()
        assert (totals.pins, totals.size) == (3, 3)
        with pytest.raises(ProviderError, match="not pinned"):
            await client.rename(HELLO, "x")


async def test_every_page_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer_api, "PAGE", 2)
    async with Node(tmp_path) as node, await Client.init(**settings_of(node, dialect="pinata-v3")) as client:
        cids = [(await client.store(n)).cid for n in range(5)]
        assert [pin.cid async for pin in client.pins()] == cids[::-1]


async def test_unpinning_deletes_every_file_with_that_content_in_both_spellings() -> None:
    v1 = Cid.parse("QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH").to_v1()
    held = {str(v1): ["1", "2"], str(v1.to_v0()): ["3"]}

    def listing(request: httpx.Request) -> httpx.Response:
        cid = request.url.params["cid"]
        files = [{"id": id_, "cid": cid} for id_ in held[cid]]
        return httpx.Response(200, json={"data": {"files": files, "next_page_token": ""}})

    gone = httpx.Response(200, json={"data": None})
    deletes = {f"DELETE api/v3/files/public/{id_}": gone for id_ in "123"}
    hosted = Hosted({"GET api/v3/files/public": listing, **deletes})
    async with hosted.client(dialect="pinata-v3") as client:
        assert await client.revoke(str(v1))
    assert [place for place in hosted.seen if place.startswith("DELETE")] == list(deletes)


async def test_totals_are_counted_from_the_list_if_the_key_may_not_ask_the_older_api() -> None:
    def page(request: httpx.Request) -> httpx.Response:
        token = request.url.params.get("pageToken", "")
        file = {"id": f"x{token}", "cid": HELLO, "size": 11}
        return httpx.Response(200, json={"data": {"files": [file], "next_page_token": "" if token else "2"}})

    hosted = Hosted({"GET api/data/userPinnedDataTotal": NO_SCOPES, "GET api/v3/files/public": page})
    async with hosted.client(dialect="pinata-v3") as client:
        assert await client.totals() == Totals(2, 22)


# Uploads in pieces

DATA = bytes(range(256)) * 4000


def cid_of(data: bytes) -> str:
    predictor = CidPredictor(KUBO_V1)
    predictor.feed(data)
    return str(predictor.finish())


@dataclass
class PieceServer:
    """Takes uploads in pieces, and breaks connections where a test says so."""

    breaks_at: list[int] = field(default_factory=list[int])
    """Offsets behind which a connection breaks, once each."""
    forgets_at: int | None = None
    location: str = ""
    network: str = "public"
    taken: bytearray = field(default_factory=bytearray)
    begun: int = 0
    methods: list[str] = field(default_factory=list[str])
    metadata: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.methods.append(request.method)
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"
        if request.method == "GET":
            is_here = request.path.endswith(f"/{self.network}") and request.query["cid"] == cid_of(DATA)
            return web.json_response({"data": {"files": [{"id": "1"}] if is_here else []}})
        if request.method == "POST":
            self.begun += 1
            self.taken.clear()
            self.metadata = request.headers["Upload-Metadata"]
            assert request.headers["Upload-Length"] == str(len(DATA))
            return web.Response(status=201, headers={"Location": self.location or f"/v3/files/x/{self.begun}"})
        if self.forgets_at is not None and len(self.taken) >= self.forgets_at:
            self.forgets_at = None
            return web.Response(status=404)
        if request.method == "PATCH":
            if request.headers["Upload-Offset"] != str(len(self.taken)):
                return web.Response(status=409)
            async for chunk in request.content.iter_any():
                self.taken += chunk
                if self.breaks_at and len(self.taken) >= self.breaks_at[0]:
                    self.breaks_at.pop(0)
                    assert request.transport is not None
                    request.transport.abort()
                    return web.Response()
        headers = {"Upload-Offset": str(len(self.taken))}
        if len(self.taken) == len(DATA):
            headers["upload-cid"] = cid_of(bytes(self.taken))
        return web.Response(status=204 if request.method == "PATCH" else 200, headers=headers)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer_api, "LARGEST_FORM", 1000)
    monkeypatch.setattr(newer_api, "PIECE", 300_000)


@pytest.fixture
def large(tmp_path: Path, small_pieces: None) -> Path:
    path = tmp_path / "large.bin"
    path.write_bytes(DATA)
    return path


async def test_a_large_file_goes_up_in_pieces_and_is_verified(make_client: MakeClient, large: Path) -> None:
    server = PieceServer()
    progress: list[int] = []
    async with serve(server.handle) as (url, _):
        client = make_client(url, dialect="pinata-v3", verify="require")
        record = await client.upload(large, on_progress=lambda done, _total: progress.append(done))
    assert (record.cid, record.size, record.verification) == (cid_of(DATA), len(DATA), "verified")
    assert server.methods == ["POST", "PATCH", "PATCH", "PATCH", "PATCH", "GET"]
    assert (progress[-1], progress) == (len(DATA), sorted(progress))
    fields = dict(pair.split(" ") for pair in server.metadata.split(","))
    assert base64.b64decode(fields["network"]) == b"public"
    assert base64.b64decode(fields["filename"]) == b"large.bin"


async def test_a_broken_connection_goes_on_at_the_offset_that_the_server_has(
    make_client: MakeClient, clock: FakeClock, large: Path
) -> None:
    server = PieceServer(breaks_at=[100_000, 450_000, 900_000])
    async with serve(server.handle) as (url, _):
        client = make_client(url, dialect="pinata-v3", verify="require")
        record = await client.upload(large)
    assert record.verification == "verified"
    assert server.begun == 1
    assert server.methods.count("HEAD") >= 3
    assert len(clock.slept) >= 3


async def test_an_upload_that_the_server_has_forgotten_begins_again_and_says_so(
    make_client: MakeClient, large: Path
) -> None:
    server = PieceServer(forgets_at=600_000)
    notices: list[str] = []
    async with serve(server.handle) as (url, _):
        client = make_client(url, dialect="pinata-v3", verify="require", on_notice=notices.append)
        record = await client.upload(large)
    assert (record.verification, server.begun) == ("verified", 2)
    assert "begins again" in notices[0]


async def test_content_that_went_up_in_pieces_and_is_private_is_told(make_client: MakeClient, large: Path) -> None:
    notices: list[str] = []
    for network in ("public", "private", "neither"):
        server = PieceServer(network=network)
        async with serve(server.handle) as (url, _):
            await make_client(url, dialect="pinata-v3", on_notice=notices.append).upload(large)
        assert len(notices) == (0 if network == "public" else 1)
    assert "private" in notices[0]


async def test_an_upload_of_an_ended_process_goes_on_with_its_handle(make_client: MakeClient, large: Path) -> None:
    handles: list[str] = []
    server = PieceServer(breaks_at=[650_000])
    async with serve(server.handle) as (url, _):
        first = make_client(url, dialect="pinata-v3", retries=0)
        with pytest.raises(NetworkError):
            await first.upload(large, resume=Resume(keep=handles.append))
        second, [handle] = make_client(url, dialect="pinata-v3", verify="require"), handles
        record = await second.upload(large, resume=Resume(keep=handles.append, handle=handle))
        assert (record.verification, server.begun, handles) == ("verified", 1, [handle])
        server.methods.clear()
        record = await second.upload(large, resume=Resume(keep=handles.append, handle=handle))
    assert (record.cid, record.verification) == (cid_of(DATA), "verified")
    assert server.methods == ["HEAD", "GET"], "nothing is sent twice"


async def test_a_handle_that_is_of_no_use_begins_again_and_says_so(make_client: MakeClient, large: Path) -> None:
    async with serve(PieceServer().handle) as (other, seen):
        for is_foreign in (False, True):
            server, handles, notices = PieceServer(forgets_at=None if is_foreign else 0), list[str](), list[str]()
            async with serve(server.handle) as (url, _):
                client = make_client(url, dialect="pinata-v3", verify="require", on_notice=notices.append)
                old = f"{other if is_foreign else url}/v3/files/x/old"
                record = await client.upload(large, resume=Resume(keep=handles.append, handle=old))
            assert (record.verification, server.begun) == ("verified", 1)
            assert "begins again" in notices[0]
            assert handles == [f"{url}/v3/files/x/1"]
        assert seen == []


async def test_an_upload_goes_on_after_client_and_node_were_restarted(tmp_path: Path, large: Path) -> None:
    handles: list[str] = []
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node, dialect="pinata-v3")) as client:

        def stop(done: int, _total: int | None) -> None:
            if done > 700_000:
                uploading.cancel()

        uploading = asyncio.create_task(client.upload(large, on_progress=stop, resume=Resume(keep=handles.append)))
        with pytest.raises(asyncio.CancelledError):
            await uploading
    sent: list[int] = []
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node, dialect="pinata-v3")) as client:
        record = await client.upload(
            large,
            on_progress=lambda done, _total: sent.append(done),
            resume=Resume(keep=handles.append, handle=handles[0]),
        )
        assert record.verification == "verified"
        assert (await client.download(record.cid)).data == DATA
    assert (len(handles), min(sent) > 262_144) == (1, True)


async def test_a_server_that_never_gets_further_is_given_up(make_client: MakeClient, large: Path) -> None:
    server = PieceServer(breaks_at=[1] * 50)
    async with serve(server.handle) as (url, _):
        client = make_client(url, dialect="pinata-v3", retries=0)
        with pytest.raises(NetworkError):
            await client.upload(large)


async def test_an_upload_address_of_somebody_else_gets_neither_token_nor_bytes(
    make_client: MakeClient, large: Path
) -> None:
    async with serve(PieceServer().handle) as (other, seen):
        server = PieceServer(location=f"{other}/v3/files/x/1")
        async with serve(server.handle) as (url, _):
            client = make_client(url, dialect="pinata-v3")
            with pytest.raises(ProviderError, match="another service"):
                await client.upload(large)
        assert seen == []


async def test_a_file_that_changes_between_two_pieces_is_an_error(make_client: MakeClient, large: Path) -> None:
    server = PieceServer()

    def change(done: int, _total: int | None) -> None:
        if done == 600_000:
            large.write_bytes(b"x" * len(DATA))

    async with serve(server.handle) as (url, _):
        client = make_client(url, dialect="pinata-v3")
        with pytest.raises(SourceChanged, match="changed while it was uploaded"):
            await client.upload(large, on_progress=change)


async def test_an_open_file_goes_up_in_pieces_too(make_client: MakeClient, tmp_path: Path, small_pieces: None) -> None:
    async with Node(tmp_path) as node, await Client.init(**settings_of(node, dialect="pinata-v3")) as client:
        record = await client.upload(io.BytesIO(DATA))
        assert record.verification == "verified"
        assert (await client.download(record.cid)).data == DATA
        assert [pin.cid async for pin in client.pins()] == [record.cid]


# Archives


async def test_content_that_is_exported_is_imported_elsewhere(tmp_path: Path) -> None:
    async with Node(tmp_path / "one") as one, await Client.init(**settings_of(one)) as client:
        record = await client.upload(DATA)
        threads: set[int] = set()
        await client.export_car(
            record.cid, tmp_path / "data.car", on_progress=lambda *_: threads.add(threading.get_ident())
        )
        assert threads == {threading.get_ident()}, "progress is told on the loop, whose callers may use it"
        with pytest.raises(FileExistsError):
            await client.export_car(record.cid, tmp_path / "data.car", overwrite=False)
        late = tmp_path / "late.car"

        def another_writes(_done: int, _total: int | None) -> None:
            late.write_bytes(b"mine")

        with pytest.raises(FileExistsError):
            await client.export_car(record.cid, late, overwrite=False, on_progress=another_writes)
        assert late.read_bytes() == b"mine"
    async with Node(tmp_path / "two") as two, await Client.init(**settings_of(two)) as client:
        [imported] = await client.import_car(tmp_path / "data.car")
        assert (imported.cid, imported.verification) == (record.cid, "verified")
        assert (await client.download(record.cid)).data == DATA


async def test_a_service_without_the_newer_api_takes_no_archives(make_client: MakeClient, tmp_path: Path) -> None:
    async def nothing(_request: web.Request) -> web.Response:
        return web.Response(status=404)

    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        record = await client.upload(b"hello world")
        await client.export_car(record.cid, tmp_path / "x.car")
    async with serve(nothing) as (url, _):
        with pytest.raises(Unsupported, match="takes no CARs"):
            await make_client(url).import_car(tmp_path / "x.car")


async def test_a_gateway_that_gives_single_blocks_alone_is_enough_to_export(
    make_client: MakeClient, tmp_path: Path
) -> None:
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        record = await client.upload(DATA)

        async def blocks_only(request: web.Request) -> web.Response:
            if request.query.get("format") != "raw":
                return web.Response(status=400)
            async with httpx.AsyncClient(trust_env=False) as asking:
                answer = await asking.get(f"{node.api_url}{request.path_qs}", timeout=60)
            return web.Response(body=answer.content, content_type="application/vnd.ipld.raw")

        async with serve(blocks_only) as (url, _):
            path = await make_client(url).export_car(record.cid, tmp_path / "x.car")
        [again] = await client.import_car(path)
    assert again.cid == record.cid


async def test_a_gateway_that_lies_exports_nothing(make_client: MakeClient, tmp_path: Path) -> None:
    async def lies(request: web.Request) -> web.Response:
        kind = request.query.get("format", "")
        return web.Response(body=b"lies", content_type=f"application/vnd.ipld.{kind}")

    async with serve(lies) as (url, _):
        with pytest.raises(IntegrityError, match="not what"):
            await make_client(url).export_car(HELLO, tmp_path / "x.car")
    assert list(tmp_path.iterdir()) == []


async def test_content_whose_hash_is_not_supported_says_so(make_client: MakeClient) -> None:
    async def content(_request: web.Request) -> web.Response:
        return web.Response(body=b"x")

    blake3 = str(Cid(1, 0x55, 0x1E, bytes(32)))
    async with serve(content) as (url, _):
        with pytest.raises(IntegrityError, match="its hash, blake3, is not supported here"):
            await make_client(url, verify="require").download(blake3)


@respx.mock
@pytest.mark.parametrize(
    ("answer", "takes"),
    [
        (httpx.Response(200, json={"data": {"files": []}}), True),
        (httpx.Response(200, text="<html>A page for every path</html>"), False),
        (httpx.Response(404, json={"error": "no such route"}), False),
        (httpx.Response(401, json={"error": "a key of the older API"}), False),
    ],
)
async def test_whether_archives_are_taken_is_asked_without_sending_one(answer: httpx.Response, takes: bool) -> None:
    respx.get("https://pin.example/v3/files/public").mock(return_value=answer)
    async with await Client.init(provider_token="a-long-token-0123", pin_api_url="https://pin.example") as client:
        assert await client.takes_archives() is takes
