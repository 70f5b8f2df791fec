"""The queue of transfers: a dead service is found once, other processes are noticed, and turns are fair."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pinui.node import Node
from pinui.sdk.secret import Secret
from pinui.sdk.transport import retry
from pinui.workspace import Profile, Query, Transfer, Workspace
from pinui.workspace.copies import copy_options
from pinui.workspace.copying import Copying
from pinui.workspace.transfers import ledger, queue
from pinui.workspace.transfers import transfer as transfer_rows
from pinui.workspace.transfers.ledger_file import LedgerFile
from pinui.workspace.transfers.rows import Item, NewItem
from pinui.workspace.transfers.slots import Slots
from tests.workspace.rows import cid


@pytest.fixture
async def workspace(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workspace]:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.0)
    async with await Workspace.open() as workspace:
        yield workspace


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.txt" for number in range(20)]
    for path in paths:
        path.write_text(path.name)
    return paths


async def use_service(workspace: Workspace, url: str, token: str = "t") -> None:
    profile = Profile("elsewhere", "custom", url)
    workspace.profiles.save(profile)
    await workspace.keep_token(profile, Secret(token))
    await workspace.switch("elsewhere")


async def until(workspace: Workspace, condition: Callable[[], bool]) -> None:
    """Wait for a change of the workspace."""
    reached = asyncio.Event()
    stop = workspace.subscribe(lambda: reached.set() if condition() else None)
    if not condition():
        await asyncio.wait_for(reached.wait(), 60)
    stop()


def count_uploads(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    upload, begun = workspace.upload, list[Path]()

    async def counted(source: Path, **options: Any) -> Any:
        begun.append(source)
        return await upload(source, **options)

    monkeypatch.setattr(workspace, "upload", counted)
    return begun


async def test_files_for_a_service_that_can_not_be_reached_are_not_all_tried(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    await use_service(workspace, "http://127.0.0.1:9")
    begun = count_uploads(workspace, monkeypatch)
    many, alone = workspace.transfers.upload_all(files), workspace.transfers.upload(files[0])
    await workspace.transfers.join()
    assert len(begun) <= 3, "those that ran at the same time"
    assert (many.state, alone.state) == ("failed", "failed")
    assert many.unfinished >= 17
    assert [one.can_go_on for one in await workspace.transfers.ledger.requests()] == [True, True]


async def test_a_patient_queue_waits_for_the_service_and_goes_on(
    workspace: Workspace, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Node(tmp_path / "node") as node:
        url, token, port = node.api_url, node.token, urlsplit(node.api_url).port or 0
    workspace.transfers.is_patient = True
    await use_service(workspace, url, token)
    begun = count_uploads(workspace, monkeypatch)
    transfer = workspace.transfers.upload_all(files)
    await until(workspace, lambda: transfer.waits_for is not None and not transfer.running)
    assert len(begun) <= 3
    assert (transfer.state, transfer.failed) == ("waiting", 0)
    assert 0 < workspace.pause_left <= 15
    async with Node(tmp_path / "node", port=port, token=token):
        workspace.transfers.go_on_with_all()
        assert workspace.pause_left == 0, "nobody waits any more"
        await workspace.transfers.join()
    assert transfer.state == "done", transfer.error
    assert await workspace.history.count(Query()) == 20


async def test_pins_that_are_copied_to_a_dead_service_are_not_all_tried(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, prepare = list[Copying](), Copying.prepare

    async def counted(copying: Copying) -> None:
        asked.append(copying)
        await prepare(copying)

    monkeypatch.setattr(Copying, "prepare", counted)
    await use_service(workspace, "http://127.0.0.1:9")
    cids = [cid(number) for number in range(20)]
    items = [NewItem(cid) for cid in cids]
    transfer = workspace.transfers.begin("copy", "20 pins", copy_options("local", cids=cids), items)
    await workspace.transfers.join()
    assert (transfer.state, len(asked) <= 3) == ("failed", True), transfer.error
    assert transfer.unfinished >= 17


def hold_uploads(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Hold uploads until the event is set."""
    upload, go_on = workspace.upload, asyncio.Event()

    async def held(source: Path, **options: Any) -> Any:
        await go_on.wait()
        return await upload(source, **options)

    monkeypatch.setattr(workspace, "upload", held)
    return go_on


async def leave(workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> Transfer:
    """A transfer that is paused, and so free for other processes."""
    with monkeypatch.context() as held:
        hold_uploads(workspace, held)
        transfer = workspace.transfers.upload_all(files)
        await until(workspace, lambda: bool(transfer.running))
        workspace.transfers.pause(transfer.id)
        await workspace.transfers.wait(transfer)
    return transfer


async def test_a_row_that_another_process_finished_or_forgot_is_removed(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    paused = await leave(workspace, files[:10], monkeypatch)
    other_row = await leave(workspace, files[10:], monkeypatch)
    await workspace.transfers.has_news()
    assert not await workspace.transfers.has_news(), "nobody else has changed anything"
    async with await Workspace.open() as other:
        finished, forgotten = await other.transfers.look()
        other.transfers.resume(finished)
        await other.transfers.wait(finished)
        assert finished.state == "done"
        assert await workspace.transfers.has_news()
        await workspace.transfers.look()
        assert workspace.transfers.all == [other_row]
        await other.transfers.forget(forgotten)
    await workspace.transfers.look()
    assert workspace.transfers.all == []
    assert paused.state == "paused"


async def test_going_on_with_a_transfer_that_another_process_forgot_says_so(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    transfer = await leave(workspace, files, monkeypatch)
    async with await Workspace.open() as other:
        await other.transfers.forget((await other.transfers.look())[0])
    workspace.transfers.resume(transfer)
    await workspace.transfers.join()
    assert (transfer.state, transfer.error) == (
        "failed",
        "Another pinui process has finished or forgotten this transfer.",
    )


async def test_the_rows_of_what_is_left_tell_how_far_another_process_came(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    transfer = await leave(workspace, files, monkeypatch)
    async with await Workspace.open() as other:
        row = (await other.transfers.look())[0]
        other.transfers.resume(row)
        await until(other, lambda: row.finished >= 5)
        other.transfers.pause(row.id)
        await other.transfers.wait(row)
    await workspace.transfers.look()
    assert (transfer.state, transfer.finished) == ("paused", row.finished)


async def test_a_transfer_whose_items_are_gone_is_not_done(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = hold_uploads(workspace, monkeypatch)
    transfer = workspace.transfers.upload_all(files)
    await until(workspace, lambda: len(transfer.running) == 3)
    with sqlite3.connect(workspace.paths.transfers) as ledger:
        ledger.execute("DELETE FROM items")
    go_on.set()
    await workspace.transfers.join()
    assert transfer.state == "failed"
    assert transfer.error == "Another pinui process has finished or forgotten this transfer."


def refuse(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, names: set[str]) -> None:
    """Let uploads of these names fail, as long as they are in the set."""
    upload = workspace.upload

    async def odd(source: Path, **options: Any) -> Any:
        if source.name in names:
            raise PermissionError(13, "Permission denied", str(source))
        return await upload(source, **options)

    monkeypatch.setattr(workspace, "upload", odd)


async def test_a_failed_transfer_has_the_same_state_in_every_list_before_and_after_a_restart(
    own_home: Path, files: list[Path]
) -> None:
    async with await Workspace.open() as workspace:
        missing = files[0].rename(files[0].with_name("away.txt"))
        transfer = workspace.transfers.upload(files[0])
        await workspace.transfers.join()
        assert (transfer.state, transfer.failed) == ("failed", 1)
        await workspace.transfers.look()
        assert workspace.transfers.all == [transfer]
    async with await Workspace.open() as workspace:
        [request] = await workspace.transfers.ledger.requests()
        [row] = await workspace.transfers.look()
        assert (request.state, row.state, row.error) == ("failed", "failed", transfer.error)
        missing.rename(files[0])
        workspace.transfers.resume(row)
        await workspace.transfers.join()
        assert row.state == "done"


async def test_a_file_that_failed_for_now_is_resumed_beside_one_that_failed_for_good(
    own_home: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = files[0].rename(files[0].with_name("away.txt"))
    async with await Workspace.open() as workspace:
        refuse(workspace, monkeypatch, {"1.txt"})
        transfer = workspace.transfers.upload_all(files[:3])
        await workspace.transfers.join()
        assert (transfer.failed, transfer.for_good, transfer.can_go_on) == (2, 1, True)
    missing.rename(files[0])
    async with await Workspace.open() as workspace:
        [request] = await workspace.transfers.ledger.requests()
        assert (request.state, request.can_go_on) == ("failed", True)
        [row] = await workspace.transfers.look()
        workspace.transfers.resume(row)
        await workspace.transfers.join()
        assert (row.state, row.finished, row.failed, row.can_go_on) == ("failed", 2, 1, False)
        [request] = await workspace.transfers.ledger.requests()
        assert (request.state, request.can_go_on) == ("failed", False)


async def test_one_file_of_a_transfer_is_tried_again(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = {"3.txt", "4.txt"}
    refuse(workspace, monkeypatch, closed)
    transfer = workspace.transfers.upload_all(files)
    await workspace.transfers.wait(transfer)
    assert (transfer.state, transfer.failed) == ("failed", 2)
    ledger, number = workspace.transfers.ledger, transfer.number or 0
    failed = {item.shown: item for item in await ledger.items((await ledger.ids(number, by_state=True))[:2])}
    closed.clear()
    await workspace.transfers.retry_item(transfer, failed["3.txt"])
    await workspace.transfers.wait(transfer)
    assert (transfer.state, transfer.failed, transfer.finished) == ("failed", 1, 19)
    await workspace.transfers.retry_item(transfer, failed["4.txt"])
    await workspace.transfers.wait(transfer)
    assert (transfer.state, transfer.finished) == ("done", 20)


async def test_one_file_is_tried_again_while_others_run(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, last = {"3.txt"}, asyncio.Event()
    refuse(workspace, monkeypatch, closed)
    upload = workspace.upload

    async def slow(source: Path, **options: Any) -> Any:
        if source.name == "19.txt":
            await last.wait()
        return await upload(source, **options)

    monkeypatch.setattr(workspace, "upload", slow)
    transfer = workspace.transfers.upload_all(files)
    await until(workspace, lambda: transfer.finished == 18 and transfer.failed == 1)
    ledger = workspace.transfers.ledger
    await ledger.marked()
    [failed] = await ledger.items((await ledger.ids(transfer.number or 0, by_state=True))[:1])
    closed.clear()
    await workspace.transfers.retry_item(transfer, failed)
    last.set()
    await workspace.transfers.wait(transfer)
    assert (transfer.state, transfer.finished) == ("done", 20)


async def test_as_many_files_go_at_once_as_the_settings_say(
    own_home: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own_home.mkdir()
    (own_home / "config.toml").write_text("[settings]\ntransfers_at_once = 5\n")
    async with await Workspace.open() as workspace:
        go_on = hold_uploads(workspace, monkeypatch)
        transfer = workspace.transfers.upload_all(files)
        await until(workspace, lambda: len(transfer.running) == 5)
        await asyncio.sleep(0)
        assert len(transfer.running) == 5
        go_on.set()
        await workspace.transfers.join()
        assert transfer.state == "done"


async def test_a_later_request_does_not_wait_for_all_files_of_an_earlier_one(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = count_uploads(workspace, monkeypatch)
    first = workspace.transfers.upload_all(files[:18])
    await until(workspace, lambda: first.is_listed)
    second = workspace.transfers.upload_all(files[18:])
    third = workspace.transfers.upload(files[17], name="again")
    await workspace.transfers.join()
    assert {one.state for one in (first, second, third)} == {"done"}
    order = [path.name for path in begun]
    assert order.index("18.txt") < 15 > order.index("19.txt"), order


async def test_turns_go_round_kinds_and_requests() -> None:
    slots, order = Slots(1), list[str]()

    async def work(kind: str, request: int) -> None:
        async with slots.one(kind, request):
            order.append(f"{kind} {request}")
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for kind, request in [("upload", 1)] * 4 + [("upload", 2)] * 2 + [("revoke", 3)] * 3:
            group.create_task(work(kind, request))
    assert order == [
        "upload 1",
        "upload 1",
        "revoke 3",
        "upload 2",
        "revoke 3",
        "upload 1",
        "revoke 3",
        "upload 2",
        "upload 1",
    ]


async def test_a_slot_that_is_taken_without_waiting_is_given_back_by_the_next_one() -> None:
    slots, running, most = Slots(2), 0, list[int]()

    async def work(request: int) -> None:
        nonlocal running
        async with slots.one("upload", request):
            running += 1
            most.append(running)
            await asyncio.sleep(0)
            running -= 1

    async with asyncio.TaskGroup() as group:
        for request in range(6):
            group.create_task(work(request))
        await asyncio.sleep(0)
        with slots.now():
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            most.clear()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert max(most) == 1
        most.clear()
    assert max(most) == 2


async def test_reading_the_account_takes_a_slot_from_transfers_and_waits_for_none(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    upload, hold = workspace.upload, asyncio.Event()

    async def slow(source: Path, **options: Any) -> Any:
        await hold.wait()
        return await upload(source, **options)

    monkeypatch.setattr(workspace, "upload", slow)
    transfer = workspace.transfers.upload_all(files)
    await until(workspace, lambda: len(transfer.running) == 3)
    await asyncio.wait_for(workspace.sync(), 60)
    run, numbers = workspace.mirror.run, list[int]()

    async def watched(service: Any, **how: Any) -> Any:
        hold.set()
        await until(workspace, lambda: transfer.finished >= 3)
        stop = workspace.subscribe(lambda: numbers.append(len(transfer.running)))
        await until(workspace, lambda: transfer.finished >= 12)
        stop()
        return await run(service, **how)

    monkeypatch.setattr(workspace.mirror, "run", watched)
    await workspace.sync()
    assert max(numbers) == 2, "the third slot is the account's"
    await workspace.transfers.join()
    assert transfer.state == "done"


async def test_a_service_that_asks_for_a_pause_leaves_no_rate_on_its_rows(
    own_home: Path, files: list[Path], tmp_path: Path
) -> None:
    async with Node(tmp_path / "node", rate_limit=6) as node, await Workspace.open() as workspace:
        await use_service(workspace, node.api_url, node.token)
        transfer = workspace.transfers.upload_all(files)
        await until(workspace, lambda: workspace.pause_left > 0)
        transfer.rate = transfer.rate or 1.0
        assert transfer.is_active
        workspace.transfers.stall("elsewhere")
        assert (transfer.rate, workspace.transfers.totals.rate) == (None, None)


async def test_files_that_are_done_soon_after_each_other_are_marked_together(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, marked = LedgerFile.write_items, list[int]()

    def counted(file: LedgerFile, items: list[Item]) -> None:
        marked.append(len(items))
        write(file, items)

    monkeypatch.setattr(ledger, "GATHERING", 600.0)
    monkeypatch.setattr(LedgerFile, "write_items", counted)
    transfer = workspace.transfers.upload_all(files)
    await workspace.transfers.wait(transfer)
    assert marked == [20], "each write waits for the disk"
    assert (await workspace.transfers.ledger.tally(transfer.number or 0)).done == 20


async def test_the_rate_of_a_transfer_that_stands_still_falls(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MEASURED", 0.0)
    monkeypatch.setattr(transfer_rows, "NOTICE_SECONDS", 0.0)
    monkeypatch.setattr(transfer_rows, "SETTLING", 0.0)
    monkeypatch.setattr(transfer_rows, "RATE_SECONDS", 0.01)

    async def stuck(source: Path, *, on_progress: Any, **options: Any) -> Any:
        on_progress(0, 10_000)
        on_progress(5_000, 10_000)
        await asyncio.Event().wait()

    monkeypatch.setattr(workspace, "upload", stuck)
    transfer = workspace.transfers.upload(files[0])
    await until(workspace, lambda: transfer.rate is not None)
    first = transfer.rate or 0
    await until(workspace, lambda: transfer.rate is not None and transfer.rate < first / 100)
    workspace.transfers.cancel(transfer.id)
    await workspace.transfers.wait(transfer)


@pytest.mark.parametrize(("handle", "kept"), [(None, 0), ("an offset at the service", 5_000)])
async def test_a_paused_upload_shows_the_bytes_that_going_on_need_not_send_again(
    workspace: Workspace, files: list[Path], monkeypatch: pytest.MonkeyPatch, handle: str | None, kept: int
) -> None:
    async def stuck(source: Path, *, on_progress: Any, resume: Any, **options: Any) -> Any:
        if handle is not None:
            resume.keep(handle)
        on_progress(5_000, 10_000)
        await asyncio.Event().wait()

    monkeypatch.setattr(workspace, "upload", stuck)
    transfer = workspace.transfers.upload(files[0])
    await until(workspace, lambda: transfer.done == 5_000)
    workspace.transfers.pause(transfer.id)
    await workspace.transfers.wait(transfer)
    assert (transfer.state, transfer.done) == ("paused", kept)


async def test_the_time_left_for_all_is_at_least_that_of_the_slowest(workspace: Workspace) -> None:
    quick = Transfer(1, "upload", "a", "running", done=900, total=1000, rate=100.0, remaining=1.0)
    slow = Transfer(2, "download", "b", "running", done=0, total=1000, rate=10.0, remaining=100.0)
    workspace.transfers.all += [quick, slow]
    assert workspace.transfers.totals.remaining == 100.0
    workspace.transfers.all.append(Transfer(3, "upload", "c", "waiting", total=110_000))
    assert workspace.transfers.totals.remaining == 1010.0


async def test_the_reason_of_a_failed_file_names_it_once(workspace: Workspace, files: list[Path]) -> None:
    transfer = workspace.transfers.upload_all(files)
    await until(workspace, lambda: transfer.is_listed)
    files[19].write_text("another text")
    await workspace.transfers.join()
    assert transfer.error == "1 of 20 failed. 19.txt: has changed since the transfer was asked for."


async def test_how_far_a_download_came_is_known_to_a_later_process(own_home: Path, tmp_path: Path) -> None:
    class Stuck(Workspace):
        async def download(self, address: str, to: Path, *, on_progress: Any = None, **how: Any) -> Path:
            on_progress(4_000, 10_000)
            await asyncio.Event().wait()
            return to

    async with await Stuck.open() as workspace:
        transfer = workspace.transfers.download(cid(1), tmp_path / "film.mov")
        await until(workspace, lambda: transfer.done == 4_000)
        workspace.transfers.pause(transfer.id)
        await workspace.transfers.wait(transfer)
    async with await Workspace.open() as workspace:
        [row] = await workspace.transfers.look()
        assert (row.state, row.done, row.total) == ("paused", 4_000, 10_000)
