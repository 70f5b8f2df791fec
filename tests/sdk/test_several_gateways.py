"""Gateways in turn: none is waited for in vain, and none spoils the answer of another; what archives are good for."""

from __future__ import annotations

import asyncio
import io
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pinui import ContentError, IntegrityError, PinuiError
from pinui.ipfs.cid import SHA2_256, Cid
from pinui.ipfs.dagpb import encode_node
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, UNIXFS_2025, ImportProfile
from pinui.ipfs.multihash import dag_pb_cid
from pinui.ipfs.verifier import CarVerifier
from tests.sdk.conftest import FakeClock, MakeClient, Setup
from tests.sdk.gateways import Change, Content, FakeGateway, Listing, cut, flip, folder_of, honest, pour
from tests.servers import Handler, read_head, reply, serve, serve_raw

SMALL = b"hello"
LARGE = random.Random(5).randbytes(700_000)
ODD = ImportProfile("odd", 1, 10_000, raw_leaves=False, links=5)
FILES = {"a.txt": b"one", "sub/b.txt": b"two"}


async def busy(_request: web.Request) -> web.Response:
    return web.Response(status=429, headers={"Retry-After": "60"}, text="slow down")


async def test_no_way_of_reading_waits_for_a_busy_gateway_that_is_not_the_last(
    reading: Setup, clock: FakeClock
) -> None:
    file = cut(SMALL, KUBO_V1)
    client = await reading(busy, FakeGateway(file, car=honest))
    into = io.BytesIO()
    assert (await client.download(file.cid)).data == SMALL
    assert (await client.peek(file.cid, limit=100)).data == SMALL
    await pour(client, file.cid, into)
    assert into.getvalue() == SMALL
    folder = folder_of({"a.txt": SMALL}, KUBO_V1)
    client = await reading(busy, FakeGateway(folder, car=honest, plain=lambda _: SMALL))
    assert (await client.download(f"{folder.cid}/a.txt")).data == SMALL
    assert clock.slept == []


async def test_a_folder_comes_from_the_gateway_that_gives_archives(reading: Setup, tmp_path: Path) -> None:
    content = folder_of(FILES, KUBO_V1)
    client = await reading(Listing(content), Listing(content, car=honest))
    path = await client.download(content.cid, to=tmp_path / "album")
    assert (path / "sub" / "b.txt").read_bytes() == b"two"


async def test_a_login_page_in_between_is_not_remembered(make_client: MakeClient, tmp_path: Path) -> None:
    gateway = Listing(folder_of(FILES, KUBO_V1), car=honest)
    is_logged_in = False

    async def portal(request: web.Request) -> web.StreamResponse:
        if is_logged_in or "format" not in request.query:
            return await gateway(request)
        return web.Response(text="<html>Please log in</html>", content_type="text/html")

    async with serve(portal) as (url, _seen):
        client = make_client(url, verify="try")
        with pytest.raises(ContentError, match="gives no archive"):
            await client.download(gateway.content.cid, to=tmp_path / "album")
        is_logged_in = True
        assert (await client.download(gateway.content.cid, to=tmp_path / "album")).is_dir()


@pytest.mark.parametrize("probe", [404, 406, 503])
async def test_a_gateway_that_refuses_archives_is_believed_if_it_refuses_the_probe_in_the_same_way(
    make_client: MakeClient, probe: int
) -> None:
    content = cut(LARGE, ODD)
    asked: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        form = request.query.get("format", "plain")
        asked.append(form)
        if form == "plain":
            return web.Response(body=LARGE)
        return web.Response(status=probe if "bafkqaaa" in request.path else 406)

    async with serve(handler) as (url, _seen):
        for _ in range(2):
            assert (await make_client(url, verify="try").download(content.cid)).verification == "unverifiable"
    assert (asked.count("car") == 1) == (probe == 406)


@pytest.mark.parametrize("profile", [UNIXFS_2025, KUBO_V0], ids=["raw", "dag-pb"])
async def test_a_pipe_goes_on_at_the_next_gateway(make_client: MakeClient, profile: ImportProfile) -> None:
    content = cut(LARGE, profile)
    broken_off = asyncio.Event()

    async def first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if b"format=" in await read_head(reader):
            writer.write(reply("406 Not Acceptable", b"", "Connection: close"))
        else:
            writer.write(reply("200 OK", LARGE[:500_000], 'ETag: "same"', length=len(LARGE)))
        await writer.drain()

    async def second(request: web.Request) -> web.Response:
        if "format" in request.query:
            return web.Response(status=406)
        start = int(request.headers["Range"].removeprefix("bytes=").rstrip("-"))
        broken_off.set()
        span = f"bytes {start}-{len(LARGE) - 1}/{len(LARGE)}"
        return web.Response(status=206, body=LARGE[start:], headers={"ETag": '"same"', "Content-Range": span})

    into, verdicts = io.BytesIO(), list[str | None]()
    async with serve_raw(first) as one, serve(second) as (two, _seen):
        client = make_client(one, gateways=(f"{two}/ipfs",), verify="try")
        verdicts.append(await pour(client, content.cid, into))
    assert into.getvalue() == LARGE
    assert (verdicts, broken_off.is_set()) == (["verified"], True)


async def test_a_pipe_that_got_a_lie_gets_nothing_more(reading: Setup) -> None:
    content = cut(LARGE, UNIXFS_2025)
    second = FakeGateway(content)
    client = await reading(FakeGateway(content, plain=flip(5)), second)
    with pytest.raises(IntegrityError):
        await pour(client, content.cid, io.BytesIO())
    assert second.asked == []


async def test_a_gateway_whose_answer_is_thrown_away_names_no_file(reading: Setup, tmp_path: Path) -> None:
    content = cut(SMALL, KUBO_V1)

    async def liar(_request: web.Request) -> web.Response:
        return web.Response(body=b"lies!", headers={"Content-Disposition": 'attachment; filename="invoice.pdf.exe"'})

    client = await reading(liar, FakeGateway(content))
    assert await client.download(content.cid, to=tmp_path) == tmp_path / content.cid


async def test_a_name_given_with_the_plain_answer_stays_when_blocks_prove_it(reading: Setup, tmp_path: Path) -> None:
    class Naming(FakeGateway):
        async def __call__(self, request: Any) -> Any:
            response = await super().__call__(request)
            name = "cat.png" if "format" not in request.query else "cat.car"
            response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
            return response

    content = cut(LARGE, ODD)
    client = await reading(Naming(content, car=honest))
    assert (await client.download(content.cid, to=tmp_path)).name == "cat.png"
    blob = await client.download(content.cid)
    assert (blob.name, blob.type, blob.verification) == ("cat.png", "application/octet-stream", "verified")


class Archive(FakeGateway):
    """Answers a path below a folder with the archive of that path, named as gateways name archives."""

    async def __call__(self, request: Any) -> Any:
        response = await super().__call__(request)
        if request.query.get("format") == "car":
            response.headers["Content-Disposition"] = 'attachment; filename="archive.car"'
        return response


@pytest.mark.parametrize(("name", "kind"), [("photo.png", "image/png"), ("README", "application/octet-stream")])
async def test_what_lies_below_a_path_has_its_own_name_and_type(
    reading: Setup, tmp_path: Path, name: str, kind: str
) -> None:
    content = folder_of({name: b"bytes"}, KUBO_V1)
    client = await reading(Archive(content, car=honest))
    blob = await client.download(f"{content.cid}/{name}")
    assert (blob.data, blob.name, blob.type, blob.verification) == (b"bytes", name, kind, "verified")
    assert await client.download(f"{content.cid}/{name}", to=tmp_path) == tmp_path / name


@pytest.mark.parametrize("told", ["", "; version=1", "; version=1; order=dfs; dups=n", "; dups=y"])
async def test_an_archive_may_hold_each_block_once_unless_it_says_otherwise(
    reading: Setup, tmp_path: Path, told: str
) -> None:
    content = folder_of({"LICENSE": b"MIT", "sub/LICENSE": b"MIT", "sub/x.py": b"x"}, KUBO_V1)
    once = list(dict(content.sections()).items())
    assert len(once) < len(content.sections())
    gateway = FakeGateway(content, car=lambda _car: content.car(once), car_type=f"application/vnd.ipld.car{told}")
    download = (await reading(gateway)).download(content.cid, to=tmp_path / "out")
    if "dups=y" in told:
        with pytest.raises(IntegrityError):
            await download
    else:
        assert ((await download) / "sub" / "LICENSE").read_bytes() == b"MIT"


async def test_what_is_read_again_after_a_broken_proof_is_judged_again(reading: Setup, tmp_path: Path) -> None:
    content = cut(LARGE, ODD)
    plain_answers = [web.Response(body=LARGE), web.Response(body=b"<html>", headers={"ETag": '"DirIndex-1"'})]

    async def handler(request: web.Request) -> web.StreamResponse:
        if "format" not in request.query:
            return plain_answers.pop(0)
        if request.query["format"] == "raw":
            return web.Response(status=406)
        response = web.StreamResponse(headers={"Content-Type": "application/vnd.ipld.car", "Content-Length": "900000"})
        await response.prepare(request)
        await response.write(content.car()[:300_000])
        assert request.transport is not None
        request.transport.abort()
        return response

    with pytest.raises(ContentError, match="is a folder, not a file"):
        await (await reading(handler, retries=0)).download(content.cid)
    assert plain_answers == []


async def test_a_glance_at_a_page_does_not_fetch_all_of_it(reading: Setup) -> None:
    content = cut(b"<html>" + LARGE * 30, KUBO_V1)
    sent = 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        if "format" not in request.query:
            span = f"bytes 0-999/{len(content.plain)}"
            body = content.plain[:1000]
            return web.Response(status=206, body=body, content_type="text/html", headers={"Content-Range": span})
        response = web.StreamResponse(headers={"Content-Type": "application/vnd.ipld.car; dups=y"})
        await response.prepare(request)
        archive = content.car()
        for start in range(0, len(archive), 65536):
            await response.write(archive[start : start + 65536])
            sent += 65536
        return response

    peek = await (await reading(handler)).peek(content.cid, limit=1000)
    assert (len(peek.data), peek.entries) == (1000, None)
    assert sent < len(content.plain)


@pytest.mark.parametrize("profile", [KUBO_V0, ODD], ids=["usual", "odd"])
@pytest.mark.parametrize("lie", [flip(400_000), lambda body: bytes(len(body)), lambda body: body[:400_000]])
async def test_what_one_gateway_cannot_prove_another_is_asked_for(
    reading: Setup, tmp_path: Path, profile: ImportProfile, lie: Change
) -> None:
    """A large file that was swapped looks like one that was cut into blocks in an unknown way."""
    content = cut(LARGE, profile)
    verdicts: list[str | None] = []
    client = await reading(FakeGateway(content, plain=lie), FakeGateway(content, car=honest))
    path = await client.download(content.cid, to=tmp_path / "out", on_verdict=verdicts.append)
    assert path.read_bytes() == LARGE
    assert verdicts == ["verified"]


async def test_below_a_path_another_gateway_is_asked_for_proof(reading: Setup) -> None:
    content = folder_of({"a.txt": SMALL}, KUBO_V1)
    client = await reading(
        FakeGateway(content, plain=lambda _: b"swapped"), FakeGateway(content, car=honest, plain=lambda _: SMALL)
    )
    blob = await client.download(f"{content.cid}/a.txt")
    assert (blob.data, blob.verification) == (SMALL, "verified")


@pytest.mark.parametrize("second", ["plain", "away"])
async def test_what_nobody_can_prove_is_what_the_first_gateway_gave(
    reading: Setup, tmp_path: Path, second: str
) -> None:
    content = cut(LARGE, ODD)
    other = FakeGateway(content, plain=flip(0), status=200 if second == "plain" else 503)
    client = await reading(FakeGateway(content), other, retries=0)
    verdicts: list[str | None] = []
    path = await client.download(content.cid, to=tmp_path / "out", on_verdict=verdicts.append)
    assert path.read_bytes() == LARGE
    assert verdicts == ["unverifiable"]
    assert "plain" in other.asked


async def test_what_was_in_hand_is_not_lost_when_the_first_gateway_goes_away(reading: Setup, tmp_path: Path) -> None:
    content = cut(LARGE, ODD)

    class Once(FakeGateway):
        async def __call__(self, request: Any) -> Any:
            self.status = 404 if "plain" in self.asked else 200
            return await super().__call__(request)

    client = await reading(Once(content), FakeGateway(content), retries=0)
    assert (await client.download(content.cid, to=tmp_path / "out")).read_bytes() == LARGE


async def test_what_was_just_pinned_and_is_of_no_use_is_told_at_once(make_client: MakeClient, clock: FakeClock) -> None:
    content = cut(LARGE, KUBO_V0)

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            await request.read()
            return web.json_response({"IpfsHash": content.cid})
        return web.Response(body=LARGE)

    async with serve(handler) as (url, _seen), serve(FakeGateway(content, status=404)) as (other, _other):
        client = make_client(url, verify="try", gateways=[f"{other}/ipfs"], max_blob_bytes=1000)
        await client.upload(LARGE)
        with pytest.raises(ContentError, match="larger than 1,000 bytes"):
            await client.download(content.cid)
    assert clock.slept == []


async def test_a_symbolic_link_is_no_folder_to_look_into(reading: Setup) -> None:
    block = encode_node((), b"\x08\x04\x12\x01x")
    root = dag_pb_cid((block,), 1)
    content = Content(root, b"", {root.multihash: block}, is_folder=True)
    peek = await (await reading(Listing(content, car=honest))).peek(content.cid, limit=100)
    assert peek.entries is None


async def test_nobody_else_is_asked_to_prove_what_cannot_be_proven(reading: Setup) -> None:
    cbor = Content(Cid(1, 0x71, SHA2_256, bytes(32)), b"\xa0")
    second = FakeGateway(cbor)
    client = await reading(FakeGateway(cbor), second)
    assert (await client.download(cbor.cid)).verification == "unverifiable"
    assert second.asked == []


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    with suppress(ConnectionError):
        while True:
            await response.write(bytes(65536))
    return response


async def page(_request: web.Request) -> web.Response:
    return web.Response(body=b"<html>swapped</html>", content_type="text/html", headers={"ETag": '"DirIndex-abc"'})


@pytest.mark.parametrize("liar", [endless, page])
async def test_a_liar_of_any_kind_does_not_keep_the_next_one_from_being_asked(reading: Setup, liar: Handler) -> None:
    content = cut(b'{"a":1}', KUBO_V1)
    client = await reading(liar, FakeGateway(content), max_json_bytes=100_000, max_blob_bytes=100_000)
    assert await client.retrieve(content.cid) == {"a": 1}
    assert (await client.download(content.cid)).verification == "verified"


@pytest.mark.parametrize("status", [403, 404, 410, 429, 500, 504, 0])
async def test_a_gateway_that_has_no_archive_today_is_asked_for_blocks(
    make_client: MakeClient, tmp_path: Path, status: int
) -> None:
    file, folder = cut(LARGE, ODD), folder_of(FILES, KUBO_V1)
    for content in (file, folder):
        gateway = (Listing if content.is_folder else FakeGateway)(content, raw=honest)

        async def handler(request: web.Request, gateway: FakeGateway = gateway) -> web.StreamResponse:
            if request.query.get("format") != "car":
                return await gateway(request)
            if not status and request.transport is not None:
                request.transport.close()
            return web.Response(status=status or 200)

        async with serve(handler) as (url, _seen):
            verdicts: list[str | None] = []
            client = make_client(url, verify="try", retries=0)
            await client.download(content.cid, to=tmp_path / str(content.is_folder), on_verdict=verdicts.append)
            assert verdicts == ["verified"]


@pytest.mark.parametrize(
    ("status", "sentence"), [(403, "gives no archive"), (404, "gives no archive"), (429, "not now"), (503, "not now")]
)
async def test_a_folder_that_comes_in_no_way_is_told_in_plain_words(
    make_client: MakeClient, tmp_path: Path, status: int, sentence: str
) -> None:
    content = folder_of(FILES, KUBO_V1)

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text="not now") if "format" in request.query else await page(request)

    async with serve(handler) as (url, _seen):
        with pytest.raises(PinuiError, match=sentence):
            await make_client(url, verify="try", retries=0).download(content.cid, to=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "told", ["; version=1; order=unk; dups=n", "; version=1; order=dfs; dups=n"], ids=["in no order", "each block once"]
)
async def test_an_archive_that_proves_nothing_is_no_lie(
    reading: Setup, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CarVerifier, "REMEMBERED", 50_000)
    content = cut(LARGE + bytes(100_000), ODD)
    once = list(dict(content.sections()).items())
    if "unk" in told:
        once.reverse()
    gateway = FakeGateway(
        content, car=lambda _: content.car(once), raw=honest, car_type=f"application/vnd.ipld.car{told}"
    )
    assert (await (await reading(gateway)).download(content.cid)).verification == "verified"


async def test_what_a_gateway_gives_is_found_out_once_for_all_reads_at_once(make_client: MakeClient) -> None:
    content = cut(LARGE, ODD)
    gateway = FakeGateway(content)
    async with serve(gateway) as (url, _seen):
        client = make_client(url, verify="try")
        blobs = await asyncio.gather(*(client.download(content.cid) for _ in range(10)))
        assert {blob.verification for blob in blobs} == {"unverifiable"}
        assert gateway.asked.count("raw") == 1
        gateway.asked.clear()
        await make_client(url, verify="try").download(content.cid)
        assert gateway.asked == ["plain"]
