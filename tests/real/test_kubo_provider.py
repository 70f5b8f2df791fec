"""`provider="kubo"` on a real daemon: what is added, listed, read and refused there."""

from __future__ import annotations

import asyncio
import io
import random
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from pinui import (
    Blob,
    Client,
    ClientConfig,
    KuboProvider,
    LeftOut,
    NetworkError,
    NetworkTimeout,
    Pin,
    PinuiError,
    ProviderError,
    Resume,
    Timeouts,
)
from pinui.ipfs.importer import UNIXFS_2025
from pinui.node import Node
from pinui.sdk.secret import masked
from pinui.sdk.transport.refusals import is_not_pinned
from pinui.sdk.transport.transport import Clock
from tests.real.daemon import Daemon
from tests.real.kubo import Kubo, KuboServer
from tests.real.proxy import proxy_to
from tests.servers import settings_of

pytestmark = pytest.mark.real

CHUNK = 256 * 1024
ABSENT = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"


async def no_wait(_seconds: float) -> None:
    """Time that takes none."""


def on(kubo: KuboServer, **settings: Any) -> Client:
    config = ClientConfig(
        **{"provider": "kubo", "pin_api_url": kubo.rpc_url, "gateway_url": kubo.gateway_url, **settings}
    )
    return Client(KuboProvider(config, clock=Clock(sleep=no_wait)))


@pytest.fixture
async def client(kubo_daemon: KuboServer) -> AsyncIterator[Client]:
    async with on(kubo_daemon) as client:
        yield client


@pytest.fixture(params=["gateway", "rpc"])
async def reader(request: pytest.FixtureRequest, kubo_daemon: KuboServer) -> AsyncIterator[Client]:
    """A client that reads in either way."""
    settings = {} if request.param == "gateway" else {"gateway_url": None}
    async with on(kubo_daemon, **settings) as client:
        yield client


def fill(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


# Adding


def added(server: KuboServer, path: Path, *, version: int = 0, hidden: bool = False) -> str:
    """The CID that `ipfs add` gives, which stores nothing here."""
    options = [f"--cid-version={version}", *(["-H"] if hidden else [])]
    return server.kubo("add", "-Q", "-r", "-n", *options, str(path)).decode().strip()


SIZES = (0, 1, 1000, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 174 * CHUNK + 1)


@pytest.mark.parametrize("version", [0, 1])
async def test_files_of_every_size_get_the_cid_that_ipfs_add_gives(
    kubo_daemon: KuboServer, tmp_path: Path, version: int
) -> None:
    async with on(kubo_daemon, cid_version=version) as client:
        for size in SIZES:
            (tmp_path / "file").write_bytes(random.Random(size).randbytes(size))
            record = await client.upload(tmp_path / "file")
            assert record.verification == "verified"
            assert record.cid == added(kubo_daemon, tmp_path / "file", version=version)


ODD_NAMES = ("a.txt", "B", "ä", "z\u0308", "日本語", "🌨 snow", "%41 +&=?#.txt", "-n", 'a"b', "a\\b", "a\nb", "sub/x")


@pytest.mark.parametrize("version", [0, 1])
async def test_folders_get_the_cid_that_ipfs_add_gives_with_their_empty_folders(
    kubo_daemon: KuboServer, tmp_path: Path, version: int
) -> None:
    folder = fill(tmp_path / "tree", {name: name.encode() * 30_000 for name in ODD_NAMES})
    for empty in ("empty", "sub/deep/er", "sub/x.d", "with/only/.hidden"):
        (folder / empty).mkdir(parents=True)
    async with on(kubo_daemon, cid_version=version) as client:
        record = await client.upload(folder)
        assert record.verification == "verified"
        assert record.left_out == LeftOut(hidden=1)
        assert record.cid == added(kubo_daemon, folder, version=version)
        taken = await client.upload(folder, hidden=True)
        assert taken.cid == added(kubo_daemon, folder, hidden=True, version=version)


async def test_a_folder_that_is_spread_over_blocks_is_verified(
    client: Client, kubo_daemon: KuboServer, tmp_path: Path
) -> None:
    folder = fill(tmp_path / "tree", {f"{number:0100}": b"%d" % number for number in range(2100)})
    record = await client.upload(folder)
    assert record.verification == "verified"
    assert record.cid == added(kubo_daemon, folder)


async def test_an_empty_folder_is_a_folder(client: Client, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    record = await client.upload(tmp_path / "empty")
    assert record.cid == "QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn"
    assert (await client.download(record.cid, to=tmp_path / "out")).is_dir()


async def test_a_folder_of_which_everything_stays_out_is_refused(client: Client, tmp_path: Path) -> None:
    fill(tmp_path / "tree", {".secret": b"x"})
    with pytest.raises(PinuiError, match="holds no files to upload"):
        await client.upload(tmp_path / "tree")


async def test_a_daemon_that_imports_in_another_way_is_told_how(kubo: Kubo, tmp_path: Path) -> None:
    kubo.use(UNIXFS_2025)
    with kubo.serving("--offline") as server:
        async with on(server) as client:
            data = random.Random(1).randbytes(3 * CHUNK)
            record = await client.upload(data)
            folder = fill(tmp_path / "tree", {"a": data, "sub/b": b"b"})
            assert (record.verification, record.cid[:2]) == ("verified", "Qm")
            assert (await client.upload(folder)).verification == "verified"
            # Where folders begin to be spread over blocks is the daemon's own choice.
            large = fill(tmp_path / "large", {f"{number:0100}": b"" for number in range(1900)})
            assert (await client.upload(large)).verification == "unverifiable"


@pytest.mark.parametrize("kind", ["application/x-directory", "application/symlink", "multipart/form-data", "no type"])
async def test_the_type_of_a_file_means_nothing_to_the_daemon(client: Client, kind: str) -> None:
    for name in ("x", "..", "a%2Fb", 'a"b'):
        record = await client.upload(Blob(b"plain bytes", type=kind, name=name))
        assert record.verification == "verified"
        assert (await client.download(record.cid)).data == b"plain bytes"


async def test_progress_goes_to_the_end_and_sources_may_be_pipes(client: Client) -> None:
    heard: list[tuple[int, int | None]] = []
    await client.upload(io.BytesIO(b"x" * 3_000_000), on_progress=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (3_000_000, 3_000_000)
    assert len(heard) > 2


@pytest.mark.parametrize("size", [1000, 1_100_000], ids=["small", "large"])
async def test_a_body_that_was_cut_on_the_way_is_no_success(kubo_daemon: KuboServer, size: int) -> None:
    async with proxy_to(kubo_daemon.rpc_url) as proxy, on(kubo_daemon, pin_api_url=proxy.url) as client:
        proxy.cuts_body_of = "/add"
        with pytest.raises(ProviderError, match="multipart"):
            await client.upload(random.Random(size).randbytes(size))


async def test_the_reply_to_a_large_upload_that_was_lost_is_not_a_second_upload(kubo_daemon: KuboServer) -> None:
    async with proxy_to(kubo_daemon.rpc_url) as proxy, on(kubo_daemon, pin_api_url=proxy.url) as client:
        proxy.loses_reply_to = "/add"
        record = await client.upload(random.Random(5).randbytes(2_000_000))
        assert record.verification == "verified"
        assert [line.split()[1].partition("?")[0] for line in proxy.seen] == ["/api/v0/add", "/api/v0/pin/ls"]
        proxy.loses_reply_to = "/add"
        assert (await client.store({"small": 1})).verification == "verified"
        assert sum("/add" in line for line in proxy.seen) == 3


MEASURE = """
import asyncio, sys
from pathlib import Path
from pinui import Client
from tests.memory import peak_kib
async def main(url, path):
    async with await Client.init(provider="kubo", pin_api_url=url) as client:
        await client.upload(b"x" * 3_000_000)
        before = peak_kib()
        record = await client.upload(Path(path))
        print(record.verification, peak_kib() - before)
asyncio.run(main(*sys.argv[1:]))
"""


async def test_memory_does_not_grow_with_the_file(kubo_daemon: KuboServer, tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-c", MEASURE, kubo_daemon.rpc_url, str(tmp_path / "big")],
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    verdict, grown = output.split()
    assert verdict == b"verified"
    assert int(grown) < 48 * 1024, f"300 MiB cost {int(grown)} KiB"


# Pins


async def one(client: Client, cid: str) -> Pin:
    (pin,) = [pin async for pin in client.pins(cid=cid)]
    return pin


async def test_pins_have_the_names_of_their_files(client: Client, tmp_path: Path) -> None:
    (tmp_path / "a name.txt").write_text("named")
    file = await client.upload(tmp_path / "a name.txt")
    document = await client.store({"some": "document"})
    assert (await one(client, file.cid)).name == "a name.txt"
    assert ((await one(client, document.cid)).name or "").startswith("client-")
    assert [pin.cid async for pin in client.pins(name="NAME.t")] == [file.cid]
    assert {file.cid, document.cid} <= {pin.cid async for pin in client.pins()}
    assert [pin async for pin in client.pins(cid=ABSENT)] == []


async def test_a_pin_is_renamed_and_what_is_not_pinned_is_not(client: Client) -> None:
    record = await client.store({"to": "rename"})
    await client.rename(record.cid, "another “name”\n")
    assert (await one(client, record.cid)).name == "another “name”\n"
    await client.rename(record.cid, "é" * 200)
    assert (await one(client, record.cid)).name == "é" * 127
    await client.revoke(record.cid)
    with pytest.raises(ProviderError) as caught:
        await client.rename(record.cid, "x")
    assert is_not_pinned(caught.value)
    assert [pin async for pin in client.pins(cid=record.cid)] == []


async def test_pinning_by_cid_keeps_the_name_that_is_there(client: Client) -> None:
    record = await client.upload(Blob(b"to pin", name="first"))
    assert (await client.pin(record.cid)).name == "first"
    pin = await client.pin(record.cid, name="second")
    assert (pin.name, pin.status) == ("second", "pinned")
    assert (await one(client, record.cid)).name == "second"


async def test_content_of_another_daemon_is_fetched_and_pinned(
    client: Client, kubo: Kubo, kubo_daemon: KuboServer
) -> None:
    kubo.configure(Routing_Type="none")
    with kubo.serving() as other:
        async with on(other) as theirs:
            record = await theirs.upload(random.Random(9).randbytes(1_000_000))
        address = kubo("id", "-f", "<addrs>").decode().split()[0]
        connect = f"{kubo_daemon.rpc_url}/api/v0/swarm/connect"
        httpx.post(connect, params={"arg": address}, trust_env=False).raise_for_status()
        assert (await client.pin(record.cid, name="fetched")).status == "pinned"
    assert (await client.download(record.cid)).size == 1_000_000


async def test_content_that_nobody_has_is_not_waited_for_without_end(kubo_daemon: KuboServer) -> None:
    async with on(kubo_daemon, timeout=Timeouts(idle=1.0)) as client:
        with pytest.raises(NetworkTimeout, match=f"no peer that has {ABSENT}"):
            await client.pin(ABSENT)


async def test_what_is_not_pinned_is_not_revoked_and_a_lost_reply_is_success(kubo_daemon: KuboServer) -> None:
    async with proxy_to(kubo_daemon.rpc_url) as proxy, on(kubo_daemon, pin_api_url=proxy.url) as client:
        record = await client.store({"revoke": "twice"})
        proxy.loses_reply_to = "/pin/rm"
        assert await client.revoke(record.cid) is True
        with pytest.raises(ProviderError) as caught:
            await client.revoke(record.cid)
        assert is_not_pinned(caught.value)
        assert sum("/pin/rm" in line for line in proxy.seen) == 3, "a refusal is not asked for again"


async def test_totals_are_the_daemons(client: Client) -> None:
    before = await client.totals()
    await client.upload(random.Random(11).randbytes(500_000))
    after = await client.totals()
    assert after.pins == before.pins + 1
    assert after.size is not None
    assert before.size is not None
    assert after.size - before.size >= 500_000


@pytest.mark.slow
async def test_a_listing_that_a_shutdown_cuts_short_is_an_error(kubo: Kubo, tmp_path: Path) -> None:
    folder = fill(tmp_path / "tree", {f"{number}": b"%d" % number for number in range(3000)})
    cids = kubo("add", "-r", "-q", "--pin=false", str(folder)).decode().split()
    for start in range(0, len(cids), 500):
        kubo("pin", "add", "--name", "n" * 250, *cids[start : start + 500])
    with kubo.serving("--offline") as server:
        async with on(server) as client:
            count = 0
            with pytest.raises(PinuiError):
                async for _ in client.pins():
                    count += 1
                    if count == 1:
                        Daemon.stop(server.daemon)


# Reading


async def test_files_folders_and_paths_are_read_and_proven(reader: Client, tmp_path: Path) -> None:
    data = random.Random(2).randbytes(5 * CHUNK + 7)
    files = {"a.bin": data, "sub/b c.json": b'{"two": 2}', "same.bin": data, "none": b""}
    folder = fill(tmp_path / "tree", files)
    (folder / "empty").mkdir()
    root = (await reader.upload(folder)).cid
    assert await reader.retrieve(f"{root}/sub/b c.json") == {"two": 2}
    assert (await reader.download(f"{root}/a.bin")).data == data
    verdicts: list[str | None] = []
    out = await reader.download(root, to=tmp_path / "out", on_verdict=verdicts.append)
    assert {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()} == files
    assert (out / "empty").is_dir()
    assert verdicts == ["verified"]
    assert await reader.verify(root) == "verified"
    async with reader.stream(f"{root}/a.bin") as stream:
        assert stream.size == len(data)
        assert b"".join([piece async for piece in stream]) == data
    with pytest.raises(PinuiError):
        await reader.download(f"{root}/not there")


async def test_previews_show_a_beginning_or_what_a_folder_holds(reader: Client, tmp_path: Path) -> None:
    data = random.Random(3).randbytes(5 * CHUNK)
    root = (await reader.upload(fill(tmp_path / "tree", {"big.bin": data, "sub/x": b"x"}))).cid
    peek = await reader.peek(f"{root}/big.bin", limit=1000)
    assert (peek.data, peek.total, peek.entries) == (data[:1000], len(data), None)
    entries = (await reader.peek(root)).entries
    assert entries is not None
    assert [entry.name for entry in entries] == ["big.bin", "sub"]
    assert (await reader.peek((await reader.upload(b"")).cid)).data == b""


async def test_a_gateway_that_is_none_of_the_daemons_is_no_obstacle(kubo_daemon: KuboServer) -> None:
    async with on(kubo_daemon, gateway_url="http://127.0.0.1:1/ipfs") as client:
        record = await client.store({"read": "by RPC"})
        assert await client.retrieve(record.cid) == {"read": "by RPC"}


async def test_content_that_nobody_has_is_said_to_be_missing(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinui.sdk.reading.gateways.RPC_PATIENCE", 1)
    with pytest.raises(ProviderError) as caught:
        await reader.download(ABSENT)
    assert "in time" in (caught.value.hint or "")


# Credentials, and no daemon

AUTHORIZATIONS = {
    "one": {"AuthSecret": "bearer:a-long-token-0123", "AllowedPaths": ["/api/v0"]},
    "two": {"AuthSecret": "basic:ann:pass word: é", "AllowedPaths": ["/api/v0/pin/ls"]},
}


async def test_credentials_are_bearer_tokens_or_a_name_and_a_password(kubo: Kubo) -> None:
    kubo.configure(API_Authorizations=AUTHORIZATIONS)
    with kubo.serving("--offline") as server:
        for token in ("a-long-token-0123", "bearer:a-long-token-0123"):
            async with on(server, provider_token=token, gateway_url=None) as client:
                assert await client.test_connection()
                record = await client.store({"by": "bearer"})
                assert await client.retrieve(record.cid) == {"by": "bearer"}
        for token in ("ann:pass word: é", "basic:ann:pass word: é"):
            async with on(server, provider_token=token) as client:
                assert await client.test_connection()
                assert (await one(client, record.cid)).name
                with pytest.raises(ProviderError) as caught:
                    await client.revoke(record.cid)
                assert caught.value.status == 403
            assert "pass word" not in masked(f"got {token}, or pass word: é alone")
        for token in ("", "wrong", "ann:wrong"):
            async with on(server, provider_token=token) as client:
                for call in (client.test_connection(), client.store(1), client.upload(b"x" * 3_000_000)):
                    with pytest.raises(ProviderError) as caught:
                        await call
                    assert caught.value.status == 403
                    assert "API.Authorizations" in (caught.value.hint or "")


async def test_a_daemon_that_is_not_running_is_told_with_how_to_start_it() -> None:
    async with await Client.init(provider="kubo", pin_api_url="http://127.0.0.1:1", retries=0) as client:
        for call in (client.test_connection(), client.store(1), client.revoke(ABSENT), client.totals()):
            with pytest.raises(NetworkError, match=r"Kubo is not running at http://127\.0\.0\.1:1$") as caught:
                await call
            assert "`ipfs daemon`" in (caught.value.hint or "")
        with pytest.raises(NetworkError) as caught:
            await client.retrieve(ABSENT)
        assert "`ipfs daemon`" in (caught.value.hint or "")


async def test_another_server_is_not_taken_for_kubo(kubo_daemon: KuboServer) -> None:
    wrong = kubo_daemon.gateway_url.removesuffix("/ipfs")
    async with on(kubo_daemon, pin_api_url=wrong, retries=0) as client:
        with pytest.raises(ProviderError) as caught:
            await client.test_connection()
        assert "Kubo's RPC" in (caught.value.hint or "")


class DiesBeforeItPins(httpx.AsyncHTTPTransport):
    """A process that is killed after the blocks have arrived."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/pin/add"):
            raise httpx.ConnectError("killed")
        return await super().handle_async_request(request)


async def test_no_pin_of_a_car_is_there_without_its_name(
    client: Client, kubo_daemon: KuboServer, tmp_path: Path
) -> None:
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as other:
        record = await other.upload(Blob(b"named or not there", name="a.txt"))
        archive = await other.export_car(record.cid, tmp_path / "a.car")
    async with on(kubo_daemon, transport=DiesBeforeItPins()) as killed:
        with pytest.raises(NetworkError):
            await killed.import_car(archive, name="a.txt")
    assert await client.find(record.cid) is None
    await client.import_car(archive, name="a.txt")
    pin = await client.find(record.cid)
    assert (pin and pin.name) == "a.txt"


async def test_a_car_without_all_its_blocks_is_refused_at_once(client: Client, tmp_path: Path) -> None:
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as other:
        record = await other.upload(random.Random(9).randbytes(3 * CHUNK))
        archive = await other.export_car(record.cid, tmp_path / "whole.car")
    cut = tmp_path / "cut.car"
    cut.write_bytes(archive.read_bytes()[: -CHUNK - 60])
    with pytest.raises(PinuiError):
        await client.import_car(cut, exported=record.cid)
    assert await client.find(record.cid) is None


async def test_content_moves_to_the_daemon_and_back_as_a_car_file(
    client: Client, reader: Client, tmp_path: Path
) -> None:
    folder = fill(tmp_path / "album", {"a.txt": b"car one", "sub/b.bin": random.Random(5).randbytes(3 * CHUNK)})
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as other:
        record = await other.upload(folder)
        archive = await other.export_car(record.cid, tmp_path / "album.car")
        [imported] = await client.import_car(archive)
        assert (imported.cid, imported.verification) == (record.cid, "verified")
        assert [pin.cid async for pin in client.pins(cid=record.cid)] == [record.cid]
        await other.revoke(record.cid)
        [back] = await other.import_car(await reader.export_car(record.cid, tmp_path / "back.car"))
        assert (await other.download(f"{back.cid}/a.txt")).data == b"car one"


async def test_a_folder_that_was_left_goes_on_at_the_daemon_and_at_its_gateway(reader: Client, tmp_path: Path) -> None:
    sizes = {"a": 70_000, "b/c": 900_000, "b/d": 10, "b/e": 60_000_000, "f": 300_000}
    source = fill(tmp_path / "album", {name: random.Random(name).randbytes(size) for name, size in sizes.items()})
    record = await reader.upload(source)
    to, handles = tmp_path / "out" / "album", list[str]()
    to.parent.mkdir()

    def stop_after(size: int) -> Callable[[int, int | None], None]:
        def note(done: int, _total: int | None) -> None:
            if done >= size:
                getting.cancel()

        return note

    for size in (500_000, 20_000_000, 50_000_000):
        resume = Resume(keep=handles.append, handle=handles[-1] if handles else None)
        getting = asyncio.ensure_future(reader.download(record.cid, to=to, on_progress=stop_after(size), resume=resume))
        with pytest.raises(asyncio.CancelledError):
            await getting
        assert not to.exists()
    told: list[int] = []
    await reader.download(
        record.cid,
        to=to,
        on_progress=lambda done, _total: told.append(done),
        resume=Resume(keep=handles.append, handle=handles[-1]),
    )
    assert told[0] > 45_000_000, "the bytes that were there before are not read again"
    assert [path.name for path in to.parent.iterdir()] == ["album"]
    for path in source.rglob("*"):
        assert path.is_dir() or (to / path.relative_to(source)).read_bytes() == path.read_bytes()
