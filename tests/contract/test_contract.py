"""The contract, case by case, on every provider."""

from __future__ import annotations

import io
import random
import time
from pathlib import Path
from typing import Any

import pytest

from pinui import (
    Blob,
    Client,
    ClientMessage,
    ClientRecord,
    InvalidCID,
    PinuiError,
    ProviderError,
    SerializationError,
    StoreOptions,
    Unsupported,
)
from pinui.ipfs.cid import Cid
from pinui.sdk.provider import ReadsBlocks

LARGE = random.Random(3).randbytes(700_000)


def is_now(milliseconds: int) -> bool:
    return abs(time.time() * 1000 - milliseconds) < 60_000


@pytest.mark.parametrize(
    "value", [{"a": 1}, [], {}, "text", 0, -1.5, True, None, {"ü": ["😀", {"2": 1, "1": None}]}, [[[[]]]], "", 1e21]
)
async def test_what_is_stored_is_retrieved(client: Client, value: Any) -> None:
    record = await client.store(value)
    assert isinstance(record, ClientRecord)
    assert Cid.parse(record.cid)
    assert record.data is value
    assert is_now(record.timestamp)
    assert await client.retrieve(record.cid) == value


async def test_equal_documents_have_one_cid(client: Client) -> None:
    first = await client.store({"b": 1.0, "a": 2})
    assert (await client.store({"b": 1, "a": 2})).cid == first.cid
    assert (await client.store({"a": 2, "b": 1})).cid != first.cid


async def test_size_is_the_length_of_the_json_text(client: Client) -> None:
    assert (await client.store({"a": "é😀"})).size == len('{"a":"é😀"}') + 1
    assert (await client.store(1.0)).size == 1


async def test_options_have_no_effect(client: Client) -> None:
    plain = await client.store({"a": 1})
    assert (await client.store({"a": 1}, StoreOptions(encrypt=True, label="x"))).cid == plain.cid
    assert (await client.upload(b"x", StoreOptions(label="y"))).cid == (await client.upload(b"x")).cid


async def test_values_that_json_cannot_carry_are_refused(client: Client) -> None:
    circle: list[Any] = []
    circle.append(circle)
    for value in (circle, {"a": float("nan")}, {1: 2}, 2**60, object()):
        with pytest.raises(SerializationError):
            await client.store(value)


@pytest.mark.parametrize("data", [b"", b"x", b"hello world", LARGE], ids=["empty", "one", "small", "large"])
async def test_what_is_uploaded_is_downloaded(client: Client, tmp_path: Path, data: bytes) -> None:
    progress: list[tuple[int, int | None]] = []
    record = await client.upload(data, on_progress=lambda done, total: progress.append((done, total)))
    assert record.data is None
    assert record.size == len(data)
    assert not data or progress[-1] == (len(data), len(data))
    blob = await client.download(record.cid)
    assert isinstance(blob, Blob)
    assert (blob.data, blob.size) == (data, len(data))
    path = await client.download(record.cid, to=tmp_path / "out")
    assert path == tmp_path / "out"
    assert path.read_bytes() == data


async def test_the_form_of_the_source_does_not_matter(client: Client, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"same bytes")
    sources = [
        tmp_path / "a.bin",
        str(tmp_path / "a.bin"),
        b"same bytes",
        Blob(b"same bytes", name="b"),
        io.BytesIO(b"same bytes"),
    ]
    assert len({(await client.upload(source)).cid for source in sources}) == 1


async def test_a_message_is_stored_and_read_back(client: Client) -> None:
    record = await client.send("alice", "hello\n\x1b[2J 😀")
    message = record.data
    assert isinstance(message, ClientMessage)
    assert (message.recipient_id, message.payload) == ("alice", "hello\n\x1b[2J 😀")
    assert is_now(message.timestamp)
    assert await client.receive(record.cid) == message
    assert await client.retrieve(record.cid) == {
        "recipientId": "alice",
        "payload": "hello\n\x1b[2J 😀",
        "timestamp": message.timestamp,
    }


async def test_what_is_no_message_is_not_received(client: Client) -> None:
    record = await client.store({"hello": "world"})
    with pytest.raises(PinuiError, match="not a message"):
        await client.receive(record.cid)


async def test_what_is_no_json_is_not_retrieved(client: Client) -> None:
    record = await client.upload(b"\x00\x01")
    with pytest.raises(PinuiError, match="not JSON"):
        await client.retrieve(record.cid)


async def test_revoking_removes_the_pin_once(client: Client) -> None:
    record = await client.store({"to be": "revoked"})
    assert await client.revoke(f" https://gateway.example/ipfs/{record.cid}/?x=1 ") is True
    with pytest.raises(ProviderError):
        await client.revoke(record.cid)


async def test_every_form_of_address_is_read(client: Client) -> None:
    cid = (await client.store([1])).cid
    for text in (cid, f"  {cid} ", f"https://any.example/ipfs/{cid}", f"ipfs://{cid}", f"/ipfs/{cid}/", f"{cid}?x=1#y"):
        assert await client.retrieve(text) == [1]


@pytest.mark.parametrize("text", ["", " ", "nope", "https://example.com/", "ipfs://", "../.."])
async def test_what_is_no_cid_is_invalid(client: Client, text: str) -> None:
    for call in (client.retrieve, client.download, client.receive, client.revoke):
        with pytest.raises(InvalidCID) as caught:
            await call(text)
        assert str(caught.value) == "Invalid CID"


async def test_the_connection_test_is_true(client: Client) -> None:
    assert await client.test_connection() is True


async def test_content_that_is_not_there_is_an_error_of_ours(client: Client) -> None:
    with pytest.raises(PinuiError):
        await client.retrieve("bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy")


async def test_a_pin_is_found_and_its_first_block_is_served(client: Client) -> None:
    record = await client.upload(b"found again")
    if not isinstance(client.provider, ReadsBlocks):
        with pytest.raises(Unsupported):
            await client.block(record.cid)
        return
    pin = await client.find(record.cid)
    assert pin is not None
    assert pin.status != "failed"
    block = await client.block(record.cid)
    assert b"found again" in block
    assert {gateway.state for gateway in await client.check_gateways(record.cid)} <= {"serves"}
    await client.revoke(record.cid)
    assert await client.find(record.cid) is None
