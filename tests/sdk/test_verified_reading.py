"""What gateways send is checked against the CID: honest content passes, nothing else does."""

from __future__ import annotations

import asyncio
import io
import os
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pinui import Client, ContentError, IntegrityError, NetworkError, ProviderError, Timeouts
from pinui.ipfs.cid import IDENTITY, RAW, SHA2_256, Cid
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, PROFILES, UNIXFS_2025, ImportProfile
from pinui.ipfs.multihash import BLAKE2B_256, SHA2_512
from pinui.ipfs.verifier import CarVerifier
from pinui.sdk.reading.proof_sinks import CarSink
from pinui.sdk.reading.sinks import FileSink, MemorySink
from pinui.sdk.transport.http import Head
from tests.sdk.conftest import FakeClock, MakeClient, Setup, some_turns
from tests.sdk.gateways import Change, Content, FakeGateway, Listing, cut, flip, folder_of, honest
from tests.sdk.gateways import pour as pour_into
from tests.servers import serve

SMALL = b'{"hello":"world"}'
LARGE = random.Random(5).randbytes(600_000)
# Nobody's default: such a tree can't be guessed, only proven block by block.
ODD = ImportProfile("odd", 0, 10_000, raw_leaves=False, links=5)

Verdicts = list[str | None]


async def read_all(client: Client, cid: str, folder: Path, verdicts: Verdicts) -> bytes:
    """Read in both ways, which must agree; the verdicts of both are noted."""
    blob = await client.download(cid)
    verdicts.append(blob.verification)
    path = await client.download(cid, to=folder / "out", on_verdict=verdicts.append)
    assert path.read_bytes() == blob.data
    path.unlink()
    return blob.data


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
@pytest.mark.parametrize("data", [b"", SMALL, LARGE], ids=["empty", "small", "large"])
async def test_honest_content_is_verified_without_another_request(
    reading: Setup, tmp_path: Path, profile: ImportProfile, data: bytes
) -> None:
    gateway = FakeGateway(cut(data, profile))
    client = await reading(gateway)
    verdicts: Verdicts = []
    assert await read_all(client, gateway.content.cid, tmp_path, verdicts) == data
    assert verdicts == ["verified", "verified"]
    assert gateway.asked == ["plain", "plain"]


async def test_a_version_1_name_for_a_version_0_tree_is_verified_too(reading: Setup, tmp_path: Path) -> None:
    content = cut(LARGE, KUBO_V0)
    content.root = content.root.to_v1()
    verdicts: Verdicts = []
    client = await reading(FakeGateway(content))
    assert await read_all(client, content.cid, tmp_path, verdicts) == LARGE
    assert verdicts == ["verified", "verified"]


async def test_json_and_messages_tell_their_verdict(reading: Setup) -> None:
    gateway = FakeGateway(cut(b'{"recipientId":"a","payload":"b","timestamp":1}', KUBO_V0))
    client = await reading(gateway)
    verdicts: Verdicts = []
    await client.retrieve(gateway.content.cid, on_verdict=verdicts.append)
    await client.receive(gateway.content.cid, on_verdict=verdicts.append)
    assert verdicts == ["verified", "verified"]


@pytest.mark.parametrize("data", [b"", b"tiny", bytes(100)], ids=len)
async def test_a_cid_that_carries_its_content_is_verified(reading: Setup, tmp_path: Path, data: bytes) -> None:
    cid = Cid(1, RAW, IDENTITY, data)
    verdicts: Verdicts = []
    assert await read_all(await reading(FakeGateway(Content(cid, data))), str(cid), tmp_path, verdicts) == data
    assert verdicts == ["verified", "verified"]
    with pytest.raises(IntegrityError):
        await (await reading(FakeGateway(Content(cid, data + b"x")))).download(str(cid))


async def test_an_unknown_cut_is_unverifiable_and_no_error(reading: Setup, tmp_path: Path) -> None:
    gateway = FakeGateway(cut(LARGE, ODD))
    client = await reading(gateway)
    verdicts: Verdicts = []
    assert await read_all(client, gateway.content.cid, tmp_path, verdicts) == LARGE
    assert verdicts == ["unverifiable", "unverifiable"]
    assert gateway.asked == ["plain", "car", "raw", "plain"], "what a gateway can't do is asked for once"


async def test_what_one_client_found_out_of_a_gateway_the_others_know(make_client: MakeClient) -> None:
    gateway = FakeGateway(cut(LARGE, ODD))
    async with serve(gateway) as (url, _seen):
        for _ in range(2):
            assert (await make_client(url, verify="try").download(gateway.content.cid)).verification == "unverifiable"
    assert gateway.asked == ["plain", "car", "raw", "plain"]


async def test_an_unknown_cut_is_an_error_where_proof_is_required(reading: Setup, tmp_path: Path) -> None:
    gateway = FakeGateway(cut(LARGE, ODD))
    client = await reading(gateway, verify="require")
    with pytest.raises(IntegrityError, match="could not be verified") as caught:
        await client.download(gateway.content.cid, to=tmp_path / "out")
    assert caught.value.verification == "unverifiable"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("way", ["car", "raw"])
async def test_an_unknown_cut_is_proven_by_a_trustless_gateway(reading: Setup, tmp_path: Path, way: str) -> None:
    gateway = replace(FakeGateway(cut(LARGE, ODD)), **{way: honest})
    client = await reading(gateway, verify="require")
    verdicts: Verdicts = []
    assert await read_all(client, gateway.content.cid, tmp_path, verdicts) == LARGE
    assert verdicts == ["verified", "verified"]


async def test_verification_can_be_switched_off(reading: Setup, tmp_path: Path) -> None:
    gateway = FakeGateway(cut(SMALL, KUBO_V0), plain=flip(3))
    client = await reading(gateway, verify="off")
    verdicts: Verdicts = []
    assert await read_all(client, gateway.content.cid, tmp_path, verdicts) != SMALL
    assert verdicts == [None, None]


EDGES = [0, 1, 262_143, 262_144, 262_145, 524_287, 524_288, -2, -1]


async def assert_caught(client: Client, cid: str, folder: Path) -> None:
    with pytest.raises(IntegrityError):
        await client.download(cid, to=folder / "out")
    with pytest.raises(IntegrityError):
        await client.download(cid)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("profile", [KUBO_V0, KUBO_V1], ids=["v0", "v1"])
@pytest.mark.parametrize("position", [0, 1, 8, -2, -1])
async def test_a_flipped_bit_in_small_content_is_proof(
    reading: Setup, tmp_path: Path, profile: ImportProfile, position: int
) -> None:
    gateway = FakeGateway(cut(SMALL, profile), plain=flip(position))
    await assert_caught(await reading(gateway), gateway.content.cid, tmp_path)
    with pytest.raises(IntegrityError):
        await (await reading(gateway)).retrieve(gateway.content.cid)


@pytest.mark.parametrize("position", EDGES)
async def test_a_flipped_bit_in_a_raw_block_is_proof(reading: Setup, tmp_path: Path, position: int) -> None:
    content = cut(LARGE[:524_290], UNIXFS_2025)
    assert content.root.codec == RAW
    await assert_caught(await reading(FakeGateway(content, plain=flip(position))), content.cid, tmp_path)


@pytest.mark.parametrize("way", ["car", "raw"])
@pytest.mark.parametrize("position", [*EDGES, 300, 262_400])
async def test_a_flipped_bit_in_any_answer_is_caught(reading: Setup, tmp_path: Path, way: str, position: int) -> None:
    """The gateway flips a bit in what it serves plainly and, at the same place or the nearest, in its blocks."""

    def near(body: bytes) -> bytes:
        return flip(max(-len(body), min(position, len(body) - 1)))(body)

    for profile in (KUBO_V0, KUBO_V1):
        gateway = replace(FakeGateway(cut(LARGE, profile), plain=near), **{way: near})
        await assert_caught(await reading(gateway), gateway.content.cid, tmp_path)


@pytest.mark.slow
async def test_no_single_bit_of_an_archive_changes_what_is_read(reading: Setup) -> None:
    """A few bits mean nothing, such as those of a block's codec, which its reader knows from the parent."""
    content = cut(LARGE[:80], replace(ODD, cid_version=1))
    gateway = FakeGateway(content, plain=lambda body: body[:-1])
    client = await reading(gateway)
    caught = 0
    for position in range(len(content.car([])), len(content.car())):
        for bit in range(8):
            gateway.car = flip(position, bit)
            try:
                assert (await client.download(content.cid)).data == content.plain
            except IntegrityError:
                caught += 1
    assert caught > 8 * len(content.plain)


async def test_a_flipped_length_in_an_archive_leaves_room_for_an_honest_gateway(reading: Setup, tmp_path: Path) -> None:
    content = cut(LARGE, replace(ODD, cid_version=1))
    root, block = content.sections()[0]
    length_of_digest = content.car().index(bytes(root) + block) + 3
    liar = FakeGateway(content, car=flip(length_of_digest, 6))
    with pytest.raises(IntegrityError):
        await (await reading(liar)).download(content.cid, to=tmp_path / "out")
    client = await reading(liar, FakeGateway(content, car=honest))
    assert (await client.download(content.cid, to=tmp_path / "out")).read_bytes() == LARGE


def dropped(sections: list[tuple[Cid, bytes]]) -> list[tuple[Cid, bytes]]:
    return sections[:3] + sections[4:]


def repeated(sections: list[tuple[Cid, bytes]]) -> list[tuple[Cid, bytes]]:
    return [*sections[:3], sections[2], *sections[3:]]


def reordered(sections: list[tuple[Cid, bytes]]) -> list[tuple[Cid, bytes]]:
    return [*sections[:2], sections[3], sections[2], *sections[4:]]


def swapped(sections: list[tuple[Cid, bytes]]) -> list[tuple[Cid, bytes]]:
    (first, one), (second, two) = sections[2:4]
    return [*sections[:2], (first, two), (second, one), *sections[4:]]


def cut_short(sections: list[tuple[Cid, bytes]]) -> list[tuple[Cid, bytes]]:
    return sections[:-1]


def empty(sections: list[tuple[Cid, bytes]]) -> list[tuple[Cid, bytes]]:
    return []


def other_root(sections: list[tuple[Cid, bytes]]) -> list[tuple[Cid, bytes]]:
    return cut(b"something else", KUBO_V0).sections()


def unknown_hash(sections: list[tuple[Cid, bytes]]) -> list[tuple[Cid, bytes]]:
    cid, block = sections[0]
    return [(Cid(1, cid.codec, 0x1E, cid.digest), block), *sections[1:]]


def oversized(sections: list[tuple[Cid, bytes]]) -> list[tuple[Cid, bytes]]:
    return [(sections[0][0], bytes(3 * 1024 * 1024)), *sections[1:]]


@pytest.mark.parametrize(
    "trick",
    [dropped, repeated, reordered, swapped, cut_short, empty, other_root, unknown_hash, oversized],
    ids=lambda trick: trick.__name__,
)
async def test_no_trick_with_blocks_goes_through(reading: Setup, tmp_path: Path, trick: Any) -> None:
    content = cut(LARGE, ODD)
    gateway = FakeGateway(content, plain=flip(5), car=lambda _car: content.car(trick(content.sections())))
    await assert_caught(await reading(gateway), content.cid, tmp_path)


async def test_blocks_left_over_from_a_broken_attempt_are_not_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread may still be at work on them when the line breaks and the next attempt begins."""
    content = cut(LARGE[:1000], ODD)
    memory = MemorySink(2000)
    sink = CarSink(content.root, (), memory, None)
    head = Head(200, {"content-type": CarSink.MEDIA_TYPE}, "")
    is_free, feed = threading.Event(), CarVerifier.feed

    def slow(verifier: CarVerifier, data: bytes) -> Any:
        is_free.wait()
        return feed(verifier, data)

    monkeypatch.setattr(CarVerifier, "feed", slow)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    await sink.begin(head, 0)
    await sink.write(content.car()[:200])
    await sink.write(content.car()[200:])
    broken = asyncio.create_task(sink.finish())
    await some_turns()
    broken.cancel()
    await sink.begin(head, 0)
    await sink.write(content.car())
    is_free.set()
    await sink.finish()
    assert memory.data == LARGE[:1000]


async def test_an_archive_that_ends_in_the_middle_is_no_content(reading: Setup, tmp_path: Path) -> None:
    content = cut(LARGE, ODD)
    for length in (0, 1, 30, 60, 10_000, len(content.car()) - 1):
        gateway = FakeGateway(content, plain=flip(5), car=lambda car, length=length: car[:length])
        await assert_caught(await reading(gateway), content.cid, tmp_path)


SWAPPED: list[Change | None] = [flip(0), lambda _body: b'{"hello":"mallory"}', None]


@pytest.mark.parametrize("lie", SWAPPED, ids=["flip", "swap", "missing"])
async def test_an_honest_second_gateway_is_used(reading: Setup, tmp_path: Path, lie: Change | None) -> None:
    content = cut(SMALL, KUBO_V0)
    client = await reading(FakeGateway(content, plain=lie), FakeGateway(content))
    verdicts: Verdicts = []
    assert await read_all(client, content.cid, tmp_path, verdicts) == SMALL
    assert verdicts == ["verified", "verified"]
    assert await client.retrieve(content.cid) == {"hello": "world"}


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503, 504])
async def test_the_next_gateway_is_asked_at_once(reading: Setup, clock: FakeClock, status: int) -> None:
    content = cut(SMALL, KUBO_V0)
    client = await reading(FakeGateway(content, status=status), FakeGateway(content))
    assert await client.retrieve(content.cid) == {"hello": "world"}
    assert clock.slept == []


async def test_the_next_gateway_is_asked_when_one_is_silent_or_gone(reading: Setup, clock: FakeClock) -> None:
    content = cut(SMALL, KUBO_V0)

    class Silent(FakeGateway):
        async def __call__(self, request: Any) -> Any:
            await asyncio.Event().wait()

    client = await reading(Silent(content), FakeGateway(content), timeout=Timeouts(idle=1.0))
    assert await client.retrieve(content.cid) == {"hello": "world"}


@pytest.mark.parametrize("status", [302, 400, 403, 404, 406, 410, 418, 429, 451, 500, 503])
async def test_whatever_a_gateway_answers_the_next_one_is_asked(reading: Setup, status: int) -> None:
    content = cut(SMALL, KUBO_V0)
    client = await reading(FakeGateway(content, status=status), FakeGateway(content))
    assert await client.retrieve(content.cid) == {"hello": "world"}


async def test_when_all_fail_a_proven_lie_is_what_is_told(reading: Setup) -> None:
    content = cut(SMALL, KUBO_V0)
    client = await reading(
        FakeGateway(content, status=404), FakeGateway(content, plain=flip(1)), FakeGateway(content, status=404)
    )
    with pytest.raises(IntegrityError, match="don't match"):
        await client.retrieve(content.cid)
    client = await reading(FakeGateway(content, status=404), FakeGateway(content, status=404))
    with pytest.raises(ProviderError) as caught:
        await client.retrieve(content.cid)
    assert caught.value.status == 404


@pytest.mark.parametrize("first", [None, 500, 403])
async def test_what_was_just_pinned_is_waited_for(reading: Setup, clock: FakeClock, first: int | None) -> None:
    content = cut(SMALL, KUBO_V0)
    gateway = FakeGateway(content, status=404)
    gateways = [gateway] if first is None else [FakeGateway(content, status=first), gateway]

    async def service(request: web.Request) -> web.Response:
        pinned = web.json_response({"IpfsHash": content.cid})
        return pinned if request.method == "POST" else await gateways[0](request)

    def passes(_seconds: float) -> None:
        if len(clock.slept) == 3:
            gateway.status = 200

    client = await reading(service, *gateways[1:])
    with pytest.raises(ProviderError):
        await client.retrieve(content.cid)
    assert clock.slept == []
    clock.on_sleep = passes
    await client.store({"hello": "world"})
    assert await client.retrieve(content.cid) == {"hello": "world"}
    assert clock.slept == [0.5, 1.0, 2.0]


FILES = {"a.txt": b"one", "sub/b.bin": LARGE, "sub/deep/c.json": b"{}", "empty": b"", "sub/again.txt": b"one"}


async def test_a_folder_is_downloaded_whole_and_checked(reading: Setup, tmp_path: Path) -> None:
    gateway = FakeGateway(folder_of(FILES, KUBO_V0), car=honest)
    client = await reading(gateway)
    verdicts: Verdicts = []
    path = await client.download(gateway.content.cid, to=tmp_path / "album", on_verdict=verdicts.append)
    assert path == tmp_path / "album"
    found = {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    assert found == FILES
    assert verdicts == ["verified"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["album"]
    (tmp_path / "into").mkdir()
    assert await client.download(gateway.content.cid, to=tmp_path / "into") == tmp_path / "into" / gateway.content.cid
    with pytest.raises(FileExistsError, match="in the way"):
        await client.download(gateway.content.cid, to=tmp_path / "into")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has file names that are no Unicode")
@pytest.mark.parametrize("name", [b"caf\xe9.bin", "写".encode() * 85], ids=["no Unicode", "as long as can be"])
async def test_a_download_may_have_any_name_that_the_disk_takes(reading: Setup, tmp_path: Path, name: bytes) -> None:
    for content in (cut(SMALL, KUBO_V0), folder_of(FILES, KUBO_V0)):
        place = tmp_path / content.cid
        place.mkdir()
        client = await reading(FakeGateway(content, car=honest))
        path = await client.download(content.cid, to=place / os.fsdecode(name))
        assert [path] == list(place.iterdir())


async def test_a_folder_is_no_file(reading: Setup) -> None:
    gateway = FakeGateway(folder_of(FILES, KUBO_V0), car=honest)
    client = await reading(gateway)
    for call in (client.download, client.retrieve):
        with pytest.raises(ContentError, match="folder"):
            await call(gateway.content.cid)


async def test_a_damaged_folder_leaves_nothing(reading: Setup, tmp_path: Path) -> None:
    content = folder_of(FILES, KUBO_V1)
    gateway = FakeGateway(content, car=flip(-100))
    with pytest.raises(IntegrityError):
        await (await reading(gateway)).download(content.cid, to=tmp_path / "album")
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_without_blocks_is_a_clear_error(reading: Setup, tmp_path: Path) -> None:
    gateway = FakeGateway(folder_of(FILES, KUBO_V0))
    with pytest.raises(IntegrityError) as caught:
        await (await reading(gateway)).download(gateway.content.cid, to=tmp_path / "album")
    assert "folder" in str(caught.value.hint)
    assert list(tmp_path.iterdir()) == []


async def test_a_gateway_that_is_gone_is_a_network_error(make_client: MakeClient) -> None:
    async with serve(FakeGateway(cut(SMALL, KUBO_V0))) as (url, _seen):
        pass
    with pytest.raises(NetworkError):
        await make_client(url, verify="try").retrieve(cut(SMALL, KUBO_V0).cid)


async def pour(client: Client, cid: str) -> tuple[bytes, Verdicts]:
    into, verdicts = io.BytesIO(), Verdicts()
    try:
        verdicts.append(await pour_into(client, cid, into))
    except IntegrityError:
        verdicts.append("mismatch")
    return into.getvalue(), verdicts


@pytest.mark.parametrize("data", [b"", SMALL, LARGE], ids=["empty", "small", "large"])
async def test_into_a_pipe_goes_what_was_proven(reading: Setup, data: bytes) -> None:
    for gateway in (FakeGateway(cut(data, KUBO_V0), car=honest), FakeGateway(cut(data, KUBO_V0))):
        assert await pour(await reading(gateway), gateway.content.cid) == (data, ["verified"])


async def test_into_a_pipe_goes_no_byte_of_a_block_that_is_wrong(reading: Setup) -> None:
    gateway = FakeGateway(cut(LARGE, KUBO_V0), car=flip(-1))
    written, verdicts = await pour(await reading(gateway), gateway.content.cid)
    assert verdicts == ["mismatch"]
    assert LARGE.startswith(written)


async def test_of_small_content_nothing_goes_into_a_pipe_before_it_is_checked(reading: Setup) -> None:
    gateway = FakeGateway(cut(SMALL, KUBO_V0), plain=flip(2))
    assert await pour(await reading(gateway), gateway.content.cid) == (b"", ["mismatch"])
    honest_one = FakeGateway(gateway.content)
    assert await pour(await reading(gateway, honest_one), gateway.content.cid) == (SMALL, ["verified"])


async def test_a_pipe_that_got_a_part_gets_the_rest_or_an_error(make_client: MakeClient) -> None:
    from tests.servers import read_head, reply, serve_raw

    content = cut(LARGE, KUBO_V0)

    def server(etag: str, asked: list[bytes]) -> Any:
        async def handler(reader: Any, writer: Any) -> None:
            head = await read_head(reader)
            asked.append(head)
            if b"format=" in head:
                writer.write(reply("400 Bad Request", b"no formats", "Connection: close"))
            elif b"range: bytes=" in head.lower():
                start = int(head.lower().split(b"range: bytes=")[1].split(b"-")[0])
                span = f"Content-Range: bytes {start}-{len(LARGE) - 1}/{len(LARGE)}"
                writer.write(reply("206 Partial Content", LARGE[start:], span, f"ETag: {etag}"))
            else:
                writer.write(reply("200 OK", LARGE[:500_000], f"ETag: {etag}", length=len(LARGE)))
            await writer.drain()

        return handler

    asked: list[bytes] = []
    async with serve_raw(server('"strong"', asked)) as url:
        assert await pour(make_client(url, verify="try"), content.cid) == (LARGE, ["verified"])
    async with serve_raw(server('W/"weak"', asked)) as url:
        with pytest.raises(NetworkError, match="broke"):
            await pour(make_client(url, verify="try"), content.cid)


class Faltering(FakeGateway):
    """Gives a few blocks, then refuses; or refuses archives with any status."""

    blocks_left = 0
    car_status = 400

    async def __call__(self, request: Any) -> Any:
        form = request.query.get("format")
        if form == "car":
            self.asked.append("car")
            return web.Response(status=self.car_status, text="no")
        if form == "raw":
            self.blocks_left -= 1
            if self.blocks_left < 0:
                return web.Response(status=400, text="no more")
        return await super().__call__(request)


@pytest.mark.parametrize("blocks", [0, 1, 2, 3])
async def test_a_proof_that_breaks_off_takes_nothing_away(reading: Setup, tmp_path: Path, blocks: int) -> None:
    gateway = Faltering(cut(LARGE, ODD), raw=honest)
    gateway.blocks_left = blocks
    verdicts: Verdicts = []
    assert await read_all(await reading(gateway), gateway.content.cid, tmp_path, verdicts) == LARGE
    assert verdicts == ["unverifiable", "unverifiable"]


@pytest.mark.parametrize("status", [400, 403, 404, 429, 500, 503])
async def test_a_refused_archive_fails_no_read(reading: Setup, tmp_path: Path, status: int) -> None:
    gateway = Faltering(cut(LARGE, ODD))
    gateway.car_status = status
    verdicts: Verdicts = []
    client = await reading(gateway)
    assert await read_all(client, gateway.content.cid, tmp_path, verdicts) == LARGE
    assert verdicts == ["unverifiable", "unverifiable"]
    assert (await client.download(f"{gateway.content.cid}/a/b")).verification == "unverifiable"


@pytest.mark.parametrize(
    "cid",
    [
        Cid(1, 0x70, BLAKE2B_256, bytes(32)),
        Cid(1, 0x70, SHA2_512, bytes(64)),
        Cid(1, 0x0129, SHA2_256, bytes(32)),
        Cid(1, 0x71, SHA2_256, bytes(32)),
        Cid(1, RAW, 0x1E, bytes(32)),
        Cid(1, RAW, SHA2_256, b""),
        Cid(1, 0x70, SHA2_256, bytes(8)),
    ],
    ids=["blake2b tree", "sha512 tree", "dag-json", "dag-cbor", "raw blake3", "no digest", "a short digest"],
)
async def test_what_cannot_be_checked_here_is_no_lie(reading: Setup, tmp_path: Path, cid: Cid) -> None:
    for gateway in (FakeGateway(Content(cid, b"honest")), Faltering(Content(cid, b"honest"))):
        verdicts: Verdicts = []
        assert await read_all(await reading(gateway), str(cid), tmp_path, verdicts) == b"honest"
        assert verdicts == ["unverifiable", "unverifiable"]


async def test_a_file_is_not_read_again_for_a_hash_that_cannot_be_checked(
    reading: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replay(*_: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(FileSink, "replay", replay)
    cid = Cid(1, 0x70, SHA2_512, bytes(64))
    client = await reading(FakeGateway(Content(cid, LARGE)))
    assert (await client.download(str(cid), to=tmp_path / "out")).read_bytes() == LARGE


@pytest.mark.parametrize("verify", ["try", "require", "off"])
async def test_a_page_about_a_folder_is_never_taken_for_content(reading: Setup, tmp_path: Path, verify: str) -> None:
    content = folder_of(FILES, KUBO_V0)
    client = await reading(Listing(content), verify=verify)
    with pytest.raises(ContentError, match="gives no archive"):
        await client.download(content.cid, to=tmp_path / "album")
    for call in (client.download, client.retrieve):
        with pytest.raises(ContentError, match="is a folder"):
            await call(content.cid)
    assert list(tmp_path.iterdir()) == []
    client = await reading(Listing(content, car=honest), verify=verify)
    assert (await client.download(content.cid, to=tmp_path / "album")).is_dir()


async def test_pinatas_own_word_for_missing_is_understood(reading: Setup) -> None:
    content = cut(SMALL, KUBO_V0)

    class Lagging(FakeGateway):
        async def __call__(self, request: Any) -> Any:
            return web.Response(
                status=403, text="The owner of this gateway does not have this content pinned - ERR_ID:00006"
            )

    assert await (await reading(Lagging(content), FakeGateway(content))).retrieve(content.cid) == {"hello": "world"}
