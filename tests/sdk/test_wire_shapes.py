"""Each operation's request and answer, byte for byte, against a mocked hosted service."""

from __future__ import annotations

import asyncio
import io
import json
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx

from pinui import (
    Blob,
    Client,
    ClientConfig,
    ClientMessage,
    InvalidCID,
    NetworkError,
    PinProvider,
    PinuiError,
    ProviderError,
    SerializationError,
    StorageProvider,
    StoreOptions,
)
from tests.sdk.conftest import TOKEN, FakeClock

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
PINNED = {"IpfsHash": CID, "PinSize": 10, "Timestamp": "2026-01-01T00:00:00.000Z"}
API = "https://api.pinata.cloud"
GATEWAY = "https://gateway.pinata.cloud/ipfs"


@pytest.fixture
def service() -> Generator[respx.MockRouter]:
    with respx.mock(assert_all_called=False) as router:
        yield router


@pytest.fixture
def client(clock: FakeClock) -> Client:
    config = ClientConfig(provider="pinning", provider_token=TOKEN, retries=0, verify="off")
    return Client(PinProvider(config, clock=clock.as_clock()), clock=clock.as_clock())


async def test_init_takes_a_config_or_its_fields_and_sends_nothing(service: respx.MockRouter) -> None:
    for client in (
        await Client.init(ClientConfig(provider="pinning", provider_token=TOKEN)),
        await Client.init(provider="provider_b", provider_token=TOKEN),
    ):
        assert isinstance(client.provider, PinProvider)
        assert isinstance(client.provider, StorageProvider)
        assert TOKEN not in repr(client.provider.config)
    with pytest.raises(ValueError, match="provider must be one of"):
        nobody: Any = "nobody"
        await Client.init(provider=nobody)
    with pytest.raises(TypeError, match="either"):
        await Client.init(ClientConfig(), provider="pinning")
    for slip in ("a token alone", {"provider": "pinning"}):
        with pytest.raises(TypeError, match="a ClientConfig or its fields"):
            await Client.init(slip)  # type: ignore[arg-type]
    assert not service.calls


async def test_store_sends_the_content_and_a_generated_name(service: respx.MockRouter, client: Client) -> None:
    route = service.post(f"{API}/pinning/pinJSONToIPFS").respond(json=PINNED)
    data = {"b": 1.0, "2": "é", "a": [None]}
    record = await client.store(data, StoreOptions(encrypt=True, label="ignored"))
    request = route.calls.last.request
    assert request.content.decode() == (
        '{"pinataContent":{"2":"é","b":1,"a":[null]},"pinataMetadata":{"name":"client-1700000000000"}}'
    )
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["content-type"] == "application/json"
    assert (record.cid, record.timestamp, record.size) == (CID, 1_700_000_000_000, len('{"2":"é","b":1,"a":[null]}'))
    assert record.data is data


async def test_size_counts_as_javascript_does(service: respx.MockRouter, client: Client) -> None:
    service.post(f"{API}/pinning/pinJSONToIPFS").respond(json=PINNED)
    assert (await client.store("😀")).size == 4
    assert (await client.store("é")).size == 3


async def test_what_cannot_be_json_is_refused_before_anything_is_sent(
    service: respx.MockRouter, client: Client
) -> None:
    with pytest.raises(SerializationError, match=r"\$\.user\.id: an integer beyond 2\^53") as caught:
        await client.store({"user": {"id": 2**60}})
    assert caught.value.path == "$.user.id"
    with pytest.raises(SerializationError):
        await client.store({1, 2})
    assert not service.calls


async def test_send_stores_a_message_and_receive_reads_it(service: respx.MockRouter, client: Client) -> None:
    route = service.post(f"{API}/pinning/pinJSONToIPFS").respond(json=PINNED)
    record = await client.send("alice", "hello")
    stored = json.loads(route.calls.last.request.content)["pinataContent"]
    assert stored == {"recipientId": "alice", "payload": "hello", "timestamp": 1_700_000_000_000}
    assert record.data == ClientMessage("alice", "hello", 1_700_000_000_000)
    assert record.size == len('{"recipientId":"alice","payload":"hello","timestamp":1700000000000}')
    service.get(f"{GATEWAY}/{CID}").respond(json=stored)
    assert await client.receive(record.cid) == record.data
    with pytest.raises(TypeError, match="text"):
        await client.send("alice", 5)  # type: ignore[arg-type]


async def test_receive_refuses_what_is_no_message(service: respx.MockRouter, client: Client) -> None:
    service.get(f"{GATEWAY}/{CID}").respond(json={"hello": "world"})
    with pytest.raises(PinuiError, match="not a message"):
        await client.receive(CID)


@pytest.mark.parametrize("body", [b"\x89PNG", b"<html>", b"", b"{'a': 1}", b"NaN"])
async def test_retrieve_of_what_is_no_json_is_a_clear_error(
    service: respx.MockRouter, client: Client, body: bytes
) -> None:
    service.get(f"{GATEWAY}/{CID}").respond(content=body)
    with pytest.raises(PinuiError, match=f"{CID} is not JSON"):
        await client.retrieve(CID)


@pytest.mark.parametrize(
    "text", [CID, f" https://x.example/ipfs/{CID}/?a=1 ", f"ipfs://{CID}", f"{CID}#top", f"/ipfs/{CID}//"]
)
async def test_every_read_goes_to_the_canonical_address(service: respx.MockRouter, client: Client, text: str) -> None:
    route = service.get(f"{GATEWAY}/{CID}").respond(json=[1])
    unpin = service.delete(f"{API}/pinning/unpin/{CID}").respond(text="OK")
    assert await client.retrieve(text) == [1]
    assert (await client.download(text)).data == b"[1]"
    assert await client.revoke(text) is True
    assert (route.call_count, unpin.call_count) == (2, 1)


async def test_a_path_below_the_cid_is_read_and_never_revoked(service: respx.MockRouter, client: Client) -> None:
    route = service.get(f"{GATEWAY}/{CID}/a%20b.json").respond(json=1)
    assert await client.retrieve(f"{CID}/a b.json") == 1
    assert route.calls.last.request.url.raw_path == f"/ipfs/{CID}/a%20b.json".encode()
    with pytest.raises(InvalidCID, match="Invalid CID"):
        await client.revoke(f"{CID}/a b.json")


@pytest.mark.parametrize("text", ["", "  ", "nope", "http://evil.example/", "../../x"])
async def test_an_invalid_cid_sends_nothing(service: respx.MockRouter, client: Client, text: str) -> None:
    for call in (client.retrieve, client.download, client.receive, client.revoke):
        with pytest.raises(InvalidCID) as caught:
            await call(text)
        assert str(caught.value) == "Invalid CID"
    assert not service.calls


async def test_download_gives_a_blob_with_type_and_name(service: respx.MockRouter, client: Client) -> None:
    headers = {"content-type": "image/png", "content-disposition": 'inline; filename="cat.png"'}
    service.get(f"{GATEWAY}/{CID}").respond(content=b"\x89PNG", headers=headers)
    blob = await client.download(CID)
    assert (blob.data, blob.type, blob.size, blob.name) == (b"\x89PNG", "image/png", 4, "cat.png")


async def test_the_token_never_goes_to_the_gateway(service: respx.MockRouter, client: Client) -> None:
    route = service.get(f"{GATEWAY}/{CID}").respond(json=1)
    await client.retrieve(CID)
    assert "authorization" not in route.calls.last.request.headers
    assert route.calls.last.request.headers["accept-encoding"] == "identity"


async def test_a_gateway_key_goes_to_the_gateway_alone(service: respx.MockRouter, clock: FakeClock) -> None:
    config = ClientConfig(
        provider_token=TOKEN, gateway_key="gateway-key", gateway_url="https://me.mypinata.cloud/ipfs", verify="off"
    )
    client = Client(PinProvider(config))
    read = service.get(f"https://me.mypinata.cloud/ipfs/{CID}").respond(json=1)
    test = service.get(f"{API}/data/testAuthentication").respond(json={"message": "ok"})
    await client.retrieve(CID)
    await client.test_connection()
    assert read.calls.last.request.headers["x-pinata-gateway-token"] == "gateway-key"
    assert "x-pinata-gateway-token" not in test.calls.last.request.headers


async def test_test_connection_is_true_or_raises(service: respx.MockRouter, client: Client) -> None:
    route = service.get(f"{API}/data/testAuthentication")
    route.respond(json={"message": "Congratulations! You are communicating with the Pinata API!"})
    assert await client.test_connection() is True
    route.respond(401, json={"error": {"reason": "INVALID_CREDENTIALS", "details": "Invalid/expired credentials"}})
    with pytest.raises(ProviderError, match=r"^HTTP error 401$") as caught:
        await client.test_connection()
    assert caught.value.details == "Invalid/expired credentials"
    route.respond(403, json={"error": {"reason": "NO_SCOPES_FOUND", "details": "No scopes"}})
    with pytest.raises(ProviderError, match="No scopes") as caught:
        await client.test_connection()
    assert "scopes" in str(caught.value.hint)
    route.respond(200, html="<html>log in to the hotel</html>")
    with pytest.raises(ProviderError, match="not understood"):
        await client.test_connection()


async def test_no_other_operation_tests_the_connection_first(service: respx.MockRouter, client: Client) -> None:
    probe = service.get(f"{API}/data/testAuthentication").respond(json={"message": "ok"})
    service.post(f"{API}/pinning/pinJSONToIPFS").respond(json=PINNED)
    await client.store(1)
    assert not probe.called


async def test_revoking_what_is_not_pinned_is_a_provider_error(service: respx.MockRouter, client: Client) -> None:
    details = f"The current user has not pinned the cid: {CID}"
    body = {"error": {"reason": "CURRENT_USER_HAS_NOT_PINNED_CID", "details": details}}
    service.delete(f"{API}/pinning/unpin/{CID}").respond(400, json=body)
    with pytest.raises(ProviderError, match="has not pinned the cid") as caught:
        await client.revoke(CID)
    assert (caught.value.status, caught.value.reason) == (400, "CURRENT_USER_HAS_NOT_PINNED_CID")


async def test_a_pin_answer_without_a_cid_is_an_error(service: respx.MockRouter, client: Client) -> None:
    service.post(f"{API}/pinning/pinJSONToIPFS").respond(json={"ok": True})
    with pytest.raises(ProviderError, match="not understood"):
        await client.store(1)


async def test_the_other_dialect_and_a_cid_version(service: respx.MockRouter) -> None:
    config = ClientConfig(pin_api_url="https://pins.example", gateway_url="https://gw.example/ipfs", cid_version=1)
    client = Client(PinProvider(config))
    route = service.post("https://pins.example/pinning/pinJSONToIPFS").respond(json=PINNED)
    files = service.post("https://pins.example/pinning/pinFileToIPFS").respond(json=PINNED)
    await client.store([])
    sent = json.loads(route.calls.last.request.content)
    assert sent["pinContent"] == []
    assert sent["pinOptions"] == {"cidVersion": 1}
    assert sent["pinMetadata"]["name"].startswith("client-")
    await client.upload(b"x")
    assert b'name="pinOptions"\r\n\r\n{"cidVersion":1}\r\n' in await read(files.calls.last.request)


async def read(request: httpx.Request) -> bytes:
    return await request.aread()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda folder: folder / "cat.png", b"cat.png"),
        (lambda folder: str(folder / "cat.png"), b"cat.png"),
        (lambda folder: b"meow", b"client-file"),
        (lambda folder: bytearray(b"meow"), b"client-file"),
        (lambda folder: Blob(b"meow"), b"client-file"),
        (lambda folder: Blob(b"meow", "image/png", "named.png"), b"named.png"),
        (lambda folder: Blob(b"meow", name="album/named.png"), b"named.png"),
        (lambda folder: Blob(b"meow", name="album/"), b"client-file"),
        (lambda folder: io.BytesIO(b"meow"), b"client-file"),
        (lambda folder: (folder / "cat.png").open("rb"), b"cat.png"),
    ],
)
async def test_upload_takes_every_kind_of_file(
    service: respx.MockRouter, client: Client, tmp_path: Path, make: object, name: bytes
) -> None:
    (tmp_path / "cat.png").write_bytes(b"meow")
    route = service.post(f"{API}/pinning/pinFileToIPFS").respond(json=PINNED)
    source = make(tmp_path)  # type: ignore[operator]
    record = await client.upload(source, StoreOptions(label="ignored"))
    body = await read(route.calls.last.request)
    assert b'Content-Disposition: form-data; name="file"; filename="' + name + b'"\r\n' in body
    assert b"\r\n\r\nmeow\r\n--" in body
    assert b"Options" not in body
    assert b"Metadata" not in body
    assert int(route.calls.last.request.headers["content-length"]) == len(body)
    assert (record.cid, record.data, record.size) == (CID, None, 4)
    if hasattr(source, "close"):
        assert not source.closed, "a file that the caller opened is the caller's to close"
        source.close()


async def test_an_open_file_is_sent_from_where_it_stands(service: respx.MockRouter, client: Client) -> None:
    route = service.post(f"{API}/pinning/pinFileToIPFS").respond(json=PINNED)
    file = io.BytesIO(b"header-payload")
    file.seek(7)
    assert (await client.upload(file)).size == 7
    assert b"\r\n\r\npayload\r\n" in await read(route.calls.last.request)


async def test_a_pipe_is_uploaded_although_it_has_no_length(service: respx.MockRouter, client: Client) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    route = service.post(f"{API}/pinning/pinFileToIPFS").respond(json=PINNED)
    assert (await client.upload(Pipe(b"from a pipe"))).size == 11
    assert b"from a pipe" in await read(route.calls.last.request)


async def test_a_folder_goes_up_with_one_shared_root(service: respx.MockRouter, client: Client, tmp_path: Path) -> None:
    root = tmp_path / "album"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_bytes(b"1")
    (root / "sub" / 'b "quoted".txt').write_bytes(b"22")
    route = service.post(f"{API}/pinning/pinFileToIPFS").respond(json=PINNED)
    record = await client.upload(root)
    body = await read(route.calls.last.request)
    assert b'filename="album/a.txt"' in body
    assert b'filename="album/sub/b %22quoted%22.txt"' in body
    assert record.size == 3


async def test_what_cannot_be_uploaded_is_refused_before_anything_is_sent(
    service: respx.MockRouter, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PinuiError, match="holds no files"):
        await client.upload(tmp_path / "empty")
    (tmp_path / "empty" / "link").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(PinuiError, match="left out: 1 link"):
        await client.upload(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        await client.upload(tmp_path / "missing")
    (tmp_path / "mixed" / "closed").mkdir(parents=True)
    (tmp_path / "mixed" / "open.txt").write_bytes(b"x")
    scan = os.scandir

    def closed(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    with monkeypatch.context() as patch, pytest.raises(PermissionError, match="closed"):
        patch.setattr(os, "scandir", closed)  # whoever runs the tests as root may read every folder
        await client.upload(tmp_path / "mixed")
    with pytest.raises(PinuiError, match="not a regular file"):
        await client.upload("/dev/null")
    with tempfile.NamedTemporaryFile("w+") as named, tempfile.SpooledTemporaryFile(mode="w+") as spooled:
        for file in (io.StringIO("text"), named, spooled):
            with pytest.raises(TypeError, match="binary mode"):
                await client.upload(file)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not int"):
        await client.upload(5)  # type: ignore[arg-type]
    assert not service.calls


async def test_network_trouble_is_a_network_error_with_a_sentence(service: respx.MockRouter, client: Client) -> None:
    route = service.get(f"{API}/data/testAuthentication")
    for error, words in (
        (httpx.ConnectError("refused"), "api.pinata.cloud could not be reached"),
        (httpx.ConnectTimeout("slow"), "could not be reached in time"),
        (httpx.ReadTimeout("slow"), "did not answer in time"),
        (httpx.ReadError("reset"), "connection to api.pinata.cloud broke"),
        (httpx.RemoteProtocolError("garbage"), "no valid HTTP"),
        (httpx.ProxyError("proxy"), "proxy"),
        (httpx.UnsupportedProtocol("x"), "can't be spoken to"),
    ):
        route.side_effect = error
        with pytest.raises(NetworkError, match=words) as caught:
            await client.test_connection()
        assert caught.value.__context__ is None, "a foreign traceback could show the headers"


async def test_reading_needs_a_gateway(service: respx.MockRouter) -> None:
    client = await Client.init(pin_api_url="https://pins.example")
    with pytest.raises(PinuiError, match="No gateway"):
        await client.retrieve(CID)


async def test_totals_and_a_peek(service: respx.MockRouter, client: Client) -> None:
    service.get(f"{API}/data/userPinnedDataTotal").respond(json={"pin_count": 3, "pin_size_total": 99})
    totals = await client.totals()
    assert (totals.pins, totals.size) == (3, 99)
    route = service.get(f"{GATEWAY}/{CID}")
    route.respond(206, content=b"abcd", headers={"content-range": "bytes 0-3/100", "content-type": "text/plain"})
    peek = await client.peek(CID, limit=4)
    assert (peek.data, peek.type, peek.total, peek.truncated) == (b"abcd", "text/plain", 100, True)
    assert route.calls.last.request.headers["range"] == "bytes=0-3"
    route.respond(200, content=b"abcdefgh")
    assert (await client.peek(CID, limit=4)).data == b"abcd"
    route.respond(206, content=b"abcd", headers={"content-range": "bytes 0-3/*"})
    assert (await client.peek(CID, limit=4)).total is None
    route.respond(200, content=b"abc")
    assert not (await client.peek(CID, limit=4)).truncated


async def test_any_provider_will_do() -> None:
    class Shelf:
        def __init__(self) -> None:
            self.kept: dict[str, object] = {}

        async def put_json(self, data: object) -> str:
            self.kept[CID] = data
            return CID

        async def get_json(self, cid: str) -> object:
            return self.kept[cid]

        async def put_file(self, file: object) -> str:
            return CID

        async def get_file(self, cid: str) -> Blob:
            return Blob(b"x")

        async def unpin(self, cid: str) -> bool:
            return bool(self.kept.pop(cid, True))

        async def test_authentication(self) -> bool:
            return True

    async with Client(Shelf()) as client:  # type: ignore[arg-type]
        record = await client.store({"a": 1})
        assert await client.retrieve(record.cid) == {"a": 1}
        assert (await client.upload(b"abc")).size == 3
        assert (await client.download(CID)).data == b"x"
        assert await client.revoke(CID) is True
        assert await client.test_connection() is True


async def test_concurrent_use_is_fine(service: respx.MockRouter, client: Client) -> None:
    service.post(f"{API}/pinning/pinJSONToIPFS").respond(json=PINNED)
    records = await asyncio.gather(*(client.store(number) for number in range(50)))
    assert [record.data for record in records] == list(range(50))
