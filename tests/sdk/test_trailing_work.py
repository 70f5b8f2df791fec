"""Writing and hashing one piece behind what arrives: nothing gets lost, swapped or hushed up on the way."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import io
import os
import re
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui import disk as disk_module
from pinui.ipfs.cid import RAW, SHA2_256, Cid
from pinui.sdk.reading import proof_sinks, sinks
from pinui.sdk.reading.proof_sinks import CheckingSink
from pinui.sdk.reading.sinks import FileSink
from pinui.sdk.trailing_work import MOST, ONE_HOP, TrailingWork
from pinui.sdk.transport.http import Head
from tests.sdk.conftest import Leap, MakeClient, some_turns
from tests.sdk.test_transfers import CID, serving
from tests.servers import read_head, reply, serve, serve_raw

HEAD = Head(200, {"etag": '"e"'}, "http://127.0.0.1/ipfs/x")


async def test_work_is_done_in_order_a_few_pieces_behind() -> None:
    release = threading.Event()
    done: list[int] = []

    def work(number: int) -> None:
        release.wait()
        done.append(number)

    behind = TrailingWork()
    for number in range(MOST):
        await asyncio.wait_for(behind.room(), 60)
        behind.start(work, number)
    waiting = asyncio.create_task(behind.room())
    await some_turns()
    assert not waiting.done()
    waiting.cancel()  # who stops waiting does not stop the work
    release.set()
    await behind.room()
    behind.start(work, MOST)
    await behind.settle()
    assert done == [*range(MOST + 1)]
    await behind.settle()


async def test_what_went_wrong_is_raised_each_time(caplog: pytest.LogCaptureFixture) -> None:
    behind = TrailingWork()
    behind.start(int, "x")
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            await behind.settle()
    assert caplog.text == ""


async def test_where_no_thread_is_left_nobody_waits_for_ever() -> None:
    """As in a thread that goes on while the program ends."""
    pool = ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(pool)
    pool.shutdown()
    behind = TrailingWork()
    behind.start(int)
    with pytest.raises(RuntimeError, match="shutdown"):
        await behind.settle()


@dataclass(frozen=True)
class Step:
    chunk: bytes
    then: Literal["more", "break, go on", "break, begin anew"]


STEPS = st.lists(
    st.builds(Step, st.binary(max_size=30), st.sampled_from(["more", "more", "break, go on", "break, begin anew"])),
    max_size=30,
)


@given(STEPS)
def test_whatever_breaks_off_the_file_is_what_arrived_and_so_is_its_hash(steps: list[Step]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(sinks, "ONE_HOP", 16)
        patch.setattr(proof_sinks, "ONE_HOP", 24)
        asyncio.run(arrive(steps, Path(folder, "out")))


async def arrive(steps: list[Step], to: Path) -> None:
    expected = bytearray()
    start = max((number for number, step in enumerate(steps, 1) if step.then == "break, begin anew"), default=0)
    whole = b"".join(step.chunk for step in steps[start:])
    file = FileSink(to, "out")
    sink = CheckingSink(file, Cid(1, RAW, SHA2_256, hashlib.sha256(whole).digest()))
    await sink.begin(HEAD, 0)
    for step in steps:
        await sink.write(step.chunk)
        expected += step.chunk
        if step.then == "break, go on":
            resume = sink.resume_from()
            assert resume == ((len(expected), '"e"') if expected else None)
            await sink.begin(HEAD, len(expected))
        elif step.then == "break, begin anew":
            expected.clear()
            file.restart()
            await sink.begin(HEAD, 0)
    assert await sink.finding() == "verified"
    assert (await file.commit()).read_bytes() == bytes(expected) == whole


async def test_an_attempt_begins_when_the_disk_is_done_with_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "ONE_HOP", 4)
    release = threading.Event()
    file = FileSink(tmp_path / "out", "out")
    write_all = file._write_all
    monkeypatch.setattr(file, "_write_all", lambda pieces: (release.wait(), write_all(pieces)))
    await file.begin(HEAD, 0)
    await file.write(b"void")
    again = asyncio.create_task(file.begin(HEAD, 0))
    await some_turns()
    assert not again.done()
    release.set()
    await again
    await file.write(b"right")
    assert (await file.commit()).read_bytes() == b"right"


Write = Callable[[io.FileIO, Any], int]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[Write], None]:
    """`disk(write)`: downloads go to files that are written like this."""

    def becomes(write: Write) -> None:
        kind = type("Disk", (io.FileIO,), {"write": write})
        monkeypatch.setattr(disk_module, "open", lambda descriptor, *_, **__: kind(descriptor, "r+b"), raising=False)

    return becomes


def failing_with(number: int) -> Write:
    """Takes one hop's worth, and no more."""

    def write(file: io.FileIO, data: Any) -> int:
        if file.tell() >= ONE_HOP:
            raise OSError(number, os.strerror(number))
        return io.FileIO.write(file, data)

    return write


@pytest.mark.parametrize("hops", [1.5, 2, 3.5])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ETIMEDOUT])
async def test_a_disk_that_fails_is_told_once_and_leaves_nothing(
    make_client: MakeClient, tmp_path: Path, disk: Callable[[Write], None], caplog: pytest.LogCaptureFixture,
    number: int, hops: float,
) -> None:  # fmt: skip
    disk(failing_with(number))
    async with serve(serving(os.urandom(int(hops * ONE_HOP)))) as (url, seen):
        with pytest.raises(OSError, match=os.strerror(number)) as caught:
            await make_client(url).download(CID, to=tmp_path / "out")
        assert len(seen) == 1, "the gateway has done nothing wrong"
    assert caught.value.errno == number
    assert list(tmp_path.iterdir()) == []
    assert caplog.text == ""


async def test_a_deadline_of_the_callers_own_is_not_the_gateways_silence(make_client: MakeClient) -> None:
    def on_progress(*_step: object) -> None:
        raise TimeoutError("enough")

    async with serve(serving(b"content")) as (url, seen):
        with pytest.raises(TimeoutError, match="enough"):
            await make_client(url).download(CID, on_progress=on_progress)
        assert len(seen) == 1


async def test_a_slow_disk_is_not_the_gateways_silence_when_a_download_goes_on(
    make_client: MakeClient, tmp_path: Path, disk: Callable[[Write], None], leap: Leap,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The rest arrives while what came before still waits to be written."""
    body = os.urandom(2 * ONE_HOP)
    asked: list[int] = []
    waits, release = asyncio.Event(), threading.Event()
    settle = TrailingWork.settle

    async def settle_visibly(behind: TrailingWork) -> None:
        if len(asked) == 2:
            waits.set()
        await settle(behind)

    def write(file: io.FileIO, data: Any) -> int:
        release.wait()
        return io.FileIO.write(file, data)

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wanted = re.search(r"range: bytes=(\d+)-", (await read_head(reader)).decode().lower())
        start = int(wanted[1]) if wanted else 0
        asked.append(start)
        if not wanted:
            writer.write(reply("200 OK", body[: ONE_HOP + 100_000], 'ETag: "e"', length=len(body)))
        else:
            content_range = f"Content-Range: bytes {start}-{len(body) - 1}/{len(body)}"
            writer.write(reply("206 Partial Content", body[start:], content_range, 'ETag: "e"'))
        await writer.drain()

    monkeypatch.setattr(TrailingWork, "settle", settle_visibly)
    disk(write)
    async with serve_raw(handler) as url:
        task = asyncio.create_task(make_client(url, retries=1).download(CID, to=tmp_path / "out"))
        await waits.wait()
        leap(3600)
        await some_turns()
        release.set()
        assert (await task).read_bytes() == body
    assert len(asked) == 2


async def test_a_download_that_is_cancelled_waits_for_one_piece_and_leaves_nothing(
    make_client: MakeClient, tmp_path: Path, disk: Callable[[Write], None]
) -> None:
    at_work, release = threading.Event(), threading.Event()
    written: list[int] = []

    def write(file: io.FileIO, data: Any) -> int:
        at_work.set()
        release.wait()
        written.append(len(data))
        return io.FileIO.write(file, data)

    disk(write)
    async with serve(serving(os.urandom(8 * ONE_HOP))) as (url, _seen):
        full = asyncio.Event()
        download = make_client(url).download(
            CID, to=tmp_path / "out", on_progress=lambda done, _total: full.set() if done > 3 * ONE_HOP else None
        )
        task = asyncio.create_task(download)
        await asyncio.to_thread(at_work.wait)
        await full.wait()
        task.cancel()
        await some_turns()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(written) == 1
    assert list(tmp_path.iterdir()) == []


async def test_many_transfers_share_few_threads(make_client: MakeClient, tmp_path: Path) -> None:
    before = threading.active_count()
    most = 0

    def on_progress(*_step: object) -> None:
        nonlocal most
        most = max(most, threading.active_count())

    async with serve(serving(os.urandom(2 * ONE_HOP))) as (url, _seen):
        client = make_client(url, verify="try")
        downloads = [client.download(CID, to=tmp_path / str(i), on_progress=on_progress) for i in range(30)]
        results = await asyncio.gather(*downloads, return_exceptions=True)
    assert {type(result) for result in results} == {type(tmp_path)}
    assert most - before <= (os.cpu_count() or 1) + 4, "those of the default pool"
