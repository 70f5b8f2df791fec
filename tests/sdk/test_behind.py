"""Writing and hashing one piece behind what arrives: nothing gets lost, swapped or hushed up on the way."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import io
import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.ipfs.cid import RAW, SHA2_256, Cid
from pinui.sdk import checking, sinks
from pinui.sdk.behind import MOST, ONE_HOP, Behind
from pinui.sdk.checking import CheckingSink
from pinui.sdk.http import Head
from pinui.sdk.sinks import FileSink
from tests.sdk.conftest import MakeClient, some_turns
from tests.sdk.test_transfers import CID, serving
from tests.servers import serve

HEAD = Head(200, {"etag": '"e"'}, "http://127.0.0.1/ipfs/x")


async def test_work_is_done_in_order_a_few_pieces_behind() -> None:
    release = threading.Event()
    done: list[int] = []

    def work(number: int) -> None:
        release.wait()
        done.append(number)

    behind = Behind()
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
    behind = Behind()
    behind.start(int, "x")
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            await behind.settle()
    assert caplog.text == ""


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
        patch.setattr(checking, "ONE_HOP", 24)
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
    write_all = file._write_all  # pyright: ignore[reportPrivateUsage]
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


class FullDisk(io.FileIO):
    """Takes one hop's worth, and no more."""

    def write(self, data: Any, /) -> int:
        if self.tell() >= ONE_HOP:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.parametrize("hops", [1.5, 2, 3.5])
async def test_a_disk_that_is_full_is_told_and_leaves_nothing(
    make_client: MakeClient, tmp_path: Path, hops: float, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    def full_disk(descriptor: int, *_mode: object, **_options: object) -> FullDisk:
        return FullDisk(descriptor, "r+b")

    monkeypatch.setattr(sinks, "open", full_disk, raising=False)
    async with serve(serving(os.urandom(int(hops * ONE_HOP)))) as (url, _seen):
        with pytest.raises(OSError, match="No space left") as caught:
            await make_client(url).download(CID, to=tmp_path / "out")
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []
    assert caplog.text == ""


async def test_a_download_that_is_cancelled_while_the_disk_is_at_work_leaves_nothing(
    make_client: MakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work, release = threading.Event(), threading.Event()

    class SlowDisk(io.FileIO):
        def write(self, data: Any, /) -> int:
            at_work.set()
            release.wait()
            return super().write(data)

    monkeypatch.setattr(
        sinks, "open", lambda descriptor, *_mode, **_options: SlowDisk(descriptor, "r+b"), raising=False
    )
    async with serve(serving(os.urandom(4 * ONE_HOP))) as (url, _seen):
        task = asyncio.create_task(make_client(url).download(CID, to=tmp_path / "out"))
        await asyncio.to_thread(at_work.wait)
        task.cancel()
        asyncio.get_running_loop().call_later(0, release.set)
        with pytest.raises(asyncio.CancelledError):
            await task
    assert list(tmp_path.iterdir()) == []
