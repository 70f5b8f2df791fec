"""Transfers that finish: whatever ends the process, what is left is known, and every file goes up once."""

from __future__ import annotations

import asyncio
import random
import re
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from pinui.node import Node
from pinui.workspace import Profile, Profiles
from pinui.workspace.history import HistoryFile
from pinui.workspace.revoking import revoke_options
from pinui.workspace.rows import Query
from pinui.workspace.transfers.ledger_file import LedgerFile
from pinui.workspace.transfers.queue import upload_options
from pinui.workspace.transfers.rows import NewItem
from tests.cli.conftest import PINUI, Ran, Run
from tests.servers import serve

Process = asyncio.subprocess.Process


class Witness:
    """A service on a real node that remembers what it was sent, and kills the sender when the test says so."""

    def __init__(self, node: Node, environment: dict[str, str], folder: Path) -> None:
        self.stored: Counter[str] = Counter()
        self.asked = 0
        self.kill_after: int | None = None
        """The number of requests until the kill."""
        self.moment = ""
        """`before` it is stored, `after` it is stored, or with the `reply`."""
        self.environment = environment
        self.folder = folder
        self._node = node
        self.signal = signal.SIGKILL
        self._process: Process | None = None

    async def answer(self, request: web.Request) -> web.StreamResponse:
        sender, body = self._process, await request.read()
        self.asked += 1
        kill, moment = self.asked == self.kill_after, self.moment
        if kill and moment == "before":
            self._end(sender)
        headers = {key: request.headers[key] for key in ("Authorization", "Content-Type") if key in request.headers}
        async with (
            ClientSession() as session,
            session.request(
                request.method, f"{self._node.api_url}{request.path_qs}", data=body, headers=headers
            ) as reply,
        ):
            answer = web.Response(body=await reply.read(), status=reply.status, content_type=reply.content_type)
        if request.path.endswith("pinFileToIPFS"):
            name = re.search(rb'filename="([^"]*)"', body)
            self.stored[name[1].decode() if name else "?"] += 1
        if kill and moment == "reply":
            asyncio.get_running_loop().call_soon(self._end, sender)
        elif kill and moment == "after":
            self._end(sender)
        return answer

    async def run(self, *arguments: str, kill_after: int | None = None, moment: str = "", stdin: bytes = b"") -> Ran:
        """Run `pinui`; with `kill_after`, until that many requests have come."""
        self.asked, self.kill_after, self.moment = 0, kill_after, moment
        pipe = asyncio.subprocess.PIPE
        self._process = process = await asyncio.create_subprocess_exec(
            PINUI, *arguments, env=self.environment, cwd=self.folder, stdin=pipe, stdout=pipe, stderr=pipe
        )
        out, err = await process.communicate(stdin)
        assert b"Traceback" not in err, err.decode()
        return Ran(process.returncode or 0, out.decode(), err.decode())

    def _end(self, sender: Process | None) -> None:
        if sender is not None and sender.returncode is None:
            sender.send_signal(self.signal)


@pytest.fixture
async def witness(tmp_path: Path, here: Path, environment: dict[str, str]) -> AsyncIterator[Witness]:
    async with Node(tmp_path / "node") as node:
        witness = Witness(node, environment, here)
        async with serve(witness.answer) as (url, _):
            environment |= {"PINUI_API_URL": url, "PINUI_GATEWAY_URL": node.gateway_url, "PINUI_TOKEN": node.token}
            yield witness


def make_files(folder: Path, number: int) -> Path:
    """Files of many sizes."""
    folder.mkdir(parents=True)
    for count in range(number):
        (folder / f"f{count}.bin").write_bytes(random.Random(count).randbytes(10 + count * 37))
    return folder


async def kill_loop(witness: Witness, home: Path, files: int, kills: int, seed: int) -> None:
    """Upload a folder in spite of kills, and check that every file went up once."""
    make_files(witness.folder / "photos", files)
    chance = random.Random(seed)
    for count in range(kills):
        command = ("transfers", "resume") if count and chance.random() < 0.5 else ("upload", "-r", "photos")
        moment = chance.choice(["before", "after", "reply"])
        ran = await witness.run(*command, kill_after=chance.randrange(1, max(2, files // kills)), moment=moment)
        assert ran.code == -signal.SIGKILL, (count, command, ran)
    last = await witness.run("upload", "-r", "photos")
    assert last.code == 0, last.err
    assert sorted(line.split("\t")[1] for line in last.out.splitlines()) == sorted(
        f"photos/f{number}.bin" for number in range(files)
    )
    assert witness.stored == Counter({f"f{number}.bin": 1 for number in range(files)}), "each was sent once"
    with HistoryFile(home / "history.db") as history:
        rows = history.page(Query(), limit=2 * files)
    assert Counter(row.name for row in rows) == Counter({f"f{number}.bin": 1 for number in range(files)})
    assert (await witness.run("transfers")).out == ""


async def test_a_folder_that_is_killed_three_times_goes_up_once(witness: Witness, own_home: Path) -> None:
    await kill_loop(witness, own_home, files=24, kills=3, seed=1)


@pytest.mark.slow
async def test_a_thousand_files_that_are_killed_fifty_times_go_up_once(witness: Witness, own_home: Path) -> None:
    await kill_loop(witness, own_home, files=1000, kills=50, seed=2)


async def test_ctrl_c_leaves_a_transfer_that_can_be_resumed_and_says_so(witness: Witness) -> None:
    make_files(witness.folder / "photos", 30)
    witness.signal = signal.SIGINT
    ended = await witness.run("upload", "-r", "photos", kill_after=5, moment="before")
    assert ended.code == 130
    assert re.search(
        r"\d+ of 30 files are left. `pinui transfers resume`, or the same command again, goes on", ended.err
    )
    listed = await witness.run("transfers")
    assert re.fullmatch(r"1\tunfinished\tupload\tenvironment\t\d+ of 30 files\tphotos\n", listed.out)
    resumed = await witness.run("transfers", "resume")
    assert resumed.code == 0, resumed.err
    assert len(resumed.out.splitlines()) == 30
    assert set(witness.stored.values()) == {1}
    assert (await witness.run("transfers")).out == ""


@pytest.mark.slow
async def test_a_source_that_changed_meanwhile_fails_for_good_and_the_same_command_takes_it_as_it_is(
    witness: Witness,
) -> None:
    photos = make_files(witness.folder / "photos", 20)
    await witness.run("upload", "-r", "photos", kill_after=3, moment="before")
    (photos / "f19.bin").write_bytes(b"another content")
    resumed = await witness.run("transfers", "resume")
    assert resumed.code == 1
    assert "f19.bin has changed since the transfer was asked for" in resumed.err
    assert len(resumed.out.splitlines()) == 19
    assert "f19.bin" not in witness.stored
    failed = await witness.run("transfers")
    assert failed.out == "1\tfailed\tupload\tenvironment\t19 of 20 files, 1 failed\tphotos\n"
    again = await witness.run("transfers", "resume")
    assert (again.code, again.out) == (1, ""), "what failed for good is not tried again"
    assert (await witness.run("upload", "-r", "photos")).code == 0
    assert witness.stored["f19.bin"] == 1
    assert (await witness.run("transfers")).out == ""


@pytest.mark.slow
async def test_files_that_came_and_went_meanwhile_count_when_the_command_is_given_again(witness: Witness) -> None:
    photos = make_files(witness.folder / "photos", 12)
    await witness.run("upload", "-r", "photos", kill_after=2, moment="before")
    (photos / "f11.bin").unlink()
    (photos / "new.bin").write_bytes(b"new")
    again = await witness.run("upload", "-r", "photos")
    assert again.code == 0, again.err
    names = {line.split("\t")[1] for line in again.out.splitlines()}
    assert names == {f"photos/f{number}.bin" for number in range(11)} | {"photos/new.bin"}


async def test_a_transfer_that_another_process_runs_is_neither_done_twice_nor_forgotten(witness: Witness) -> None:
    make_files(witness.folder / "photos", 10)
    began, go_on = asyncio.Event(), asyncio.Event()
    answer = witness.answer

    async def slow(request: web.Request) -> web.StreamResponse:
        began.set()
        await go_on.wait()
        return await answer(request)

    async with serve(slow) as (url, _):
        environment, witness.environment = witness.environment, witness.environment | {"PINUI_API_URL": url}
        first = asyncio.create_task(witness.run("upload", "-r", "photos"))
        await asyncio.wait_for(began.wait(), 60)
        second = await witness.run("upload", "-r", "photos")
        assert second.code == 1
        assert "Another pinui process does this already." in second.err
        assert (await witness.run("transfers", "forget", "1")).code == 1
        assert (await witness.run("transfers", "resume")).code == 1
        assert "\trunning\t" in (await witness.run("transfers")).out
        go_on.set()
        assert (await first).code == 0
        witness.environment = environment
    assert set(witness.stored.values()) == {1}


async def test_forgetting_drops_what_is_left(witness: Witness) -> None:
    make_files(witness.folder / "photos", 10)
    await witness.run("upload", "-r", "photos", kill_after=2, moment="before")
    assert (await witness.run("transfers", "forget", "7")).code == 1, "there is no such transfer"
    assert (await witness.run("transfers", "forget", "1")).err == "1 transfer forgotten.\n"
    assert (await witness.run("transfers")).out == ""
    assert (await witness.run("transfers", "resume")).code == 0


@pytest.mark.slow
async def test_content_that_the_account_holds_is_recorded_and_not_sent(witness: Witness) -> None:
    (witness.folder / "a.txt").write_text("the same")
    (witness.folder / "b.txt").write_text("the same")
    first = await witness.run("upload", "a.txt")
    second = await witness.run("upload", "b.txt")
    assert second.out == first.out.replace("a.txt", "b.txt")
    assert second.err == "The account holds it already: not sent again.\n"
    assert witness.stored == {"a.txt": 1}
    history = await witness.run("history")
    assert len(history.out.splitlines()) == 2


@pytest.mark.slow
async def test_a_service_that_can_not_be_reached_leaves_the_transfer_to_resume(witness: Witness) -> None:
    (witness.folder / "a.txt").write_text("later")
    environment = witness.environment
    witness.environment = environment | {"PINUI_API_URL": "http://127.0.0.1:9"}
    ended = await witness.run("upload", "a.txt")
    assert ended.code == 1
    assert "`pinui transfers resume` tries again." in ended.err
    witness.environment = environment
    resumed = await witness.run("transfers", "resume")
    assert resumed.code == 0, resumed.err
    assert witness.stored == {"a.txt": 1}


@pytest.mark.slow
async def test_a_download_that_was_killed_is_finished_by_a_later_process(witness: Witness) -> None:
    content = random.Random(7).randbytes(500_000)
    (witness.folder / "a.bin").write_bytes(content)
    cid = (await witness.run("upload", "a.bin")).out.split("\t")[0]
    gateway = witness.environment["PINUI_API_URL"] + "/ipfs"
    witness.environment["PINUI_GATEWAY_URL"] = gateway
    killed = await witness.run("download", cid, "-o", "copy.bin", kill_after=1, moment="before")
    assert killed.code == -signal.SIGKILL
    assert not (witness.folder / "copy.bin").exists()
    assert re.match(r"2\tunfinished\tdownload\tenvironment\t0 of 1\t", (await witness.run("transfers")).out)
    resumed = await witness.run("transfers", "resume")
    assert resumed.code == 0, resumed.err
    assert resumed.out == f"{witness.folder / 'copy.bin'}\n"
    assert (witness.folder / "copy.bin").read_bytes() == content
    assert (await witness.run("transfers")).out == ""


@pytest.mark.slow
async def test_a_destination_that_has_gone_is_told(witness: Witness) -> None:
    (witness.folder / "a.txt").write_text("content")
    cid = (await witness.run("upload", "a.txt")).out.split("\t")[0]
    witness.environment["PINUI_GATEWAY_URL"] = witness.environment["PINUI_API_URL"] + "/ipfs"
    (witness.folder / "there").mkdir()
    await witness.run("download", cid, "-o", "there/copy.txt", kill_after=1, moment="before")
    (witness.folder / "there").rmdir()
    resumed = await witness.run("transfers", "resume")
    assert resumed.code == 1
    assert f"The folder {witness.folder / 'there'} is not there." in resumed.err
    listed = await witness.run("transfers")
    assert f"2: The folder {witness.folder / 'there'} is not there.\n" in listed.err
    (witness.folder / "there").mkdir()
    again = await witness.run("transfers", "resume")
    assert again.code == 0, again.err
    assert (witness.folder / "there" / "copy.txt").read_text() == "content"


@pytest.mark.slow
async def test_sources_that_are_gone_go_up_once_they_are_back(witness: Witness) -> None:
    drive = witness.folder / "drive"
    make_files(drive / "photos", 8)
    await witness.run("upload", "-r", "drive/photos", kill_after=2, moment="before")
    drive.rename(witness.folder / "unplugged")
    without = await witness.run("transfers", "resume")
    assert without.code == 1
    assert "No such file" in without.err
    (witness.folder / "unplugged").rename(drive)
    resumed = await witness.run("transfers", "resume")
    assert resumed.code == 0, resumed.err
    assert len(resumed.out.splitlines()) == 8
    assert set(witness.stored.values()) == {1}
    assert (await witness.run("transfers")).out == ""


@pytest.mark.slow
async def test_a_folder_that_is_gone_before_it_was_listed_is_listed_once_it_is_back(
    witness: Witness, own_home: Path
) -> None:
    photos = make_files(witness.folder / "photos", 3)
    ledger = LedgerFile(own_home / "transfers.db")
    ledger.add("upload", "environment", "photos", upload_options([str(photos)], each=True))
    ledger.close()
    photos.rename(witness.folder / "unplugged")
    assert (await witness.run("transfers", "resume")).code == 1
    (witness.folder / "unplugged").rename(photos)
    resumed = await witness.run("transfers", "resume")
    assert resumed.code == 0, resumed.err
    assert len(witness.stored) == 3


@pytest.mark.slow
async def test_resuming_fails_as_long_as_a_file_is_missing(witness: Witness) -> None:
    photos = make_files(witness.folder / "photos", 8)
    await witness.run("upload", "-r", "photos", kill_after=2, moment="before")
    (photos / "f7.bin").unlink()
    assert (await witness.run("transfers", "resume")).code == 1
    assert (await witness.run("transfers", "resume")).code == 1
    listed = await witness.run("transfers", "--json")
    assert '"state": "failed"' in listed.out
    assert "No such file" in listed.out
    assert (await witness.run("transfers", "forget")).code == 0
    assert (await witness.run("transfers", "resume")).code == 0


async def test_everything_that_was_left_is_finished_by_one_command(witness: Witness) -> None:
    for name in ("first", "second", "third"):
        (witness.folder / f"{name}.txt").write_text(name)
        await witness.run("upload", f"{name}.txt", kill_after=1, moment="before")
    assert len((await witness.run("transfers")).out.splitlines()) == 3
    resumed = await witness.run("transfers", "resume")
    assert resumed.code == 0, resumed.err
    names = [Path(line.split("\t")[1]).name for line in resumed.out.splitlines()]
    assert names == ["first.txt", "second.txt", "third.txt"]
    assert (await witness.run("transfers")).out == ""


@pytest.mark.slow
async def test_pins_that_were_still_to_be_revoked_are_revoked_by_a_later_process(
    witness: Witness, own_home: Path
) -> None:
    cids: list[str] = []
    for name in ("a", "b", "c"):
        (witness.folder / name).write_text(name)
        cids.append((await witness.run("upload", name)).out.split("\t")[0])
    ledger = LedgerFile(own_home / "transfers.db")
    ledger.add("revoke", "environment", "3 pins", {}, [NewItem(cid) for cid in cids])
    ledger.close()
    resumed = await witness.run("transfers", "resume")
    assert (resumed.code, resumed.err) == (0, "3 revoked.\n")
    assert (await witness.run("pins")).out == ""


async def some_pins(witness: Witness, number: int) -> list[str]:
    make_files(witness.folder / "photos", number)
    return [line.split("\t")[0] for line in (await witness.run("upload", "-r", "photos")).out.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["filter", "stdin"])
async def test_a_revoke_of_many_pins_that_was_killed_is_finished_by_a_later_process(witness: Witness, how: str) -> None:
    cids = await some_pins(witness, 12)
    given, stdin = {
        "filter": (["--filter", ".bin"], b""),
        "stdin": (["-"], "\n".join(cids).encode()),
    }[how]
    command = ("revoke", *given, "--yes")
    killed = await witness.run(*command, kill_after=7, moment="after", stdin=stdin)
    assert killed.code == -signal.SIGKILL
    listed = await witness.run("transfers")
    assert "revoke" in listed.out
    assert "revoke 12 pins" in listed.out
    last = await witness.run("transfers", "resume") if how == "stdin" else await witness.run(*command, stdin=stdin)
    assert last.code == 0, last.err
    told = [int(number) for number in re.findall(r"(\d+) (?:revoked|was gone|were gone)", last.err)]
    assert sum(told) == 12, "a pin whose answer was lost counts, although the filter no longer finds it"
    assert ("Going on with transfer" in last.err) == (how != "stdin")
    assert (await witness.run("pins")).out == ""
    assert (await witness.run("transfers")).out == ""


@pytest.mark.parametrize("left", [pytest.param(0, marks=pytest.mark.slow), 1])
async def test_the_same_filter_again_finishes_a_revoke_whose_last_answers_were_lost(
    witness: Witness, own_home: Path, left: int
) -> None:
    cids = await some_pins(witness, 3)
    ledger = LedgerFile(own_home / "transfers.db")
    request = ledger.add(
        "revoke", "environment", "revoke 3 pins", revoke_options((), ".bin"), [NewItem(cid) for cid in cids]
    )
    ledger.take(request, 3)
    ledger.close()
    await witness.run("revoke", *cids[left:], "--yes")
    last = await witness.run("revoke", "--filter", ".bin", "--yes")
    assert last.code == 0, last.err
    assert f"Going on with transfer {request}" in last.err
    assert "3 revoked." in last.err
    assert (await witness.run("pins")).out == ""
    assert (await witness.run("transfers")).out == ""


@pytest.mark.slow
async def test_ctrl_c_in_a_revoke_of_many_pins_says_how_to_go_on(witness: Witness) -> None:
    cids = await some_pins(witness, 12)
    witness.signal = signal.SIGINT
    ended = await witness.run("revoke", *cids, "--yes", kill_after=4, moment="before")
    assert ended.code == 130
    assert re.search(r"Stopped: \d+ revoked, (?:\d+ w\w+ gone already, )?\d+ left\.", ended.err), ended.err
    assert "`pinui transfers resume`, or the same command again, goes on." in ended.err
    assert (await witness.run("transfers", "resume")).code == 0
    assert (await witness.run("pins")).out == ""


@pytest.mark.slow
async def test_a_pin_that_was_made_again_is_revoked_by_the_same_command(witness: Witness) -> None:
    cids = await some_pins(witness, 6)
    await witness.run("revoke", *cids, "--yes", kill_after=5, moment="after")
    await witness.run("upload", "-r", "photos")
    again = await witness.run("revoke", *cids, "--yes")
    assert again.code == 0, again.err
    assert (await witness.run("pins")).out == ""


@pytest.mark.slow
async def test_ctrl_c_while_stdin_goes_up_says_that_it_can_not_be_resumed(witness: Witness) -> None:
    witness.signal = signal.SIGINT
    ended = await witness.run("upload", "-", kill_after=1, moment="before", stdin=b"from a pipe")
    assert ended.code == 130
    assert "Content from stdin can't be resumed: pipe it in again." in ended.err
    assert (await witness.run("transfers")).out == ""


def test_a_download_that_can_not_be_written_down_promises_no_second_try(run: Run, own_home: Path) -> None:
    run("upload", "-", stdin="makes the ledger")
    with sqlite3.connect(own_home / "transfers.db") as ledger:
        ledger.execute("CREATE TRIGGER full BEFORE INSERT ON requests BEGIN SELECT RAISE(ABORT, 'full'); END")
    ran = run("download", "QmZULkCELmmk5XNfCgTnCyFgAVxBRBXyDHGGMVoLFLiXEN", "-o", "a.txt")
    assert ran.code == 1
    assert "transfers.db" in ran.err
    assert "tries again" not in ran.err


def test_content_of_stdin_is_not_resumed(run: Run) -> None:
    first = run("upload", "-", stdin="from a pipe")
    assert first.code == 0
    assert run("transfers").out == ""


async def test_removing_a_profile_asks_about_what_is_left_there(witness: Witness, own_home: Path) -> None:
    make_files(witness.folder / "photos", 10)
    url = witness.environment.pop("PINUI_API_URL")
    gateway = witness.environment.pop("PINUI_GATEWAY_URL")
    Profiles(own_home / "config.toml").save(Profile("work", "custom", url, gateway))
    await witness.run("--profile", "work", "upload", "-r", "photos", kill_after=2, moment="before")
    refused = await witness.run("profile", "remove", "work")
    assert refused.code == 1
    assert "1 transfer is not finished at “work”." in refused.err
    assert "work" in (await witness.run("profile", "list")).out
    assert (await witness.run("profile", "remove", "work", "--yes")).code == 0
    assert (await witness.run("transfers")).out == ""
