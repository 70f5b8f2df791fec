"""The table of `make bench`: pinui beside its peers, as ratios, and how its cost grows.

Each pair is measured in turns, so that whatever else the machine does falls on both. A ratio is the median of the
turns, its spread the least and the most of them. The table goes to README.md, and with all its numbers to figures.json.
"""

from __future__ import annotations

import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import pytest

from pinui.ipfs.importer import KUBO_V0
from pinui.sdk.stored_json import json_text
from pinui.sdk.writing.prediction import predict_text
from tests.bench.bench_tui import ONE_WIDGET, first_frame
from tests.bench.measure import null_server
from tests.bench.peer import DOCUMENT
from tests.memory import peak_kib
from tests.real.kubo import Kubo, find_kubo

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
FIGURES = Path(__file__).with_name("figures.json")
PEERS = ROOT / "build" / "peers" / "bin" / "python"
MARKS = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)
MIB = 1 << 20
LARGE, MIDDLE = 512, 256
HASHED_FILES, HASHED_MIB = 64, 16
LANES, STORES = 64, 1280
SMALL_FILES = 8000
WORK = (1, 10, 100)
# The environment of the developers has click, which pinui doesn't need. httpx would load it, and rich for it: 50 ms.
AS_INSTALLED = "import sys; sys.modules['click'] = None; from pinui.cli import main; sys.exit(main())"
HUGE = 1024
MOST_MEMORY = 48


@dataclass(frozen=True, slots=True)
class Sample:
    """The cost of one turn."""

    seconds: float
    cpu: float | None = None
    """CPU seconds; None where only a person's wait counts."""


Turn = Callable[[], Sample]


@dataclass(frozen=True, slots=True)
class Row:
    """A comparison with one peer, and its limit."""

    what: str
    peer: str
    limit: float
    is_rate: bool = False
    """The more, the better: how much of the peer's rate; otherwise how many times its time."""
    ours: list[Sample] = field(default_factory=list[Sample])
    theirs: list[Sample] = field(default_factory=list[Sample])

    def measure(self, ours: Turn, theirs: Turn, turns: int) -> Row:
        """One turn of each to warm up the disk's cache, and then turns in alternating order."""
        ours(), theirs()
        for number in range(turns):
            for turn, samples in ((ours, self.ours), (theirs, self.theirs))[:: 1 if number % 2 else -1]:
                os.sync()  # nobody pays for writing out what the one before left in the system's memory
                samples.append(turn())
        print(f"  {self.line}", flush=True)
        return self

    @property
    def ratios(self) -> list[float]:
        times = [one.seconds / other.seconds for one, other in zip(self.ours, self.theirs, strict=True)]
        return [1 / each for each in times] if self.is_rate else times

    @property
    def cpu(self) -> float | None:
        """CPU time as a multiple of the peer's."""
        pairs = zip(self.ours, self.theirs, strict=True)
        times = [one.cpu / other.cpu for one, other in pairs if one.cpu and other.cpu]
        return median(times) if times else None

    @property
    def line(self) -> str:
        ratios, cpu = self.ratios, self.cpu
        limit = f"{'≥' if self.is_rate else '≤'} {self.limit}"
        spread = f"{min(ratios):.2f} – {max(ratios):.2f}"
        cells = (self.what, self.peer, f"{median(ratios):.2f} ×", spread, limit, "" if cpu is None else f"{cpu:.2f} ×")
        return f"| {' | '.join(cells)} |"


HEADINGS = """\
| | beside | ratio | spread | wanted | CPU |
|---|---|---|---|---|---|"""


def run(command: Sequence[str | Path], **named: object) -> Sample:
    """A program that prints its own measurement."""
    ran = subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, **named)  # type: ignore[call-overload]
    return Sample(**json.loads(ran.stdout))


def ours(*arguments: str | Path) -> Sample:
    return run([sys.executable, "-m", "tests.bench.ours", *arguments])


def peer(*arguments: str | Path) -> Sample:
    return run([PEERS, Path(__file__).with_name("peer.py"), *arguments])


def timed(command: Sequence[str | Path], environment: dict[str, str] | None = None) -> Sample:
    """A program as a whole, with the programs that it starts."""
    before, start = os.times(), time.perf_counter()
    subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL, env=environment)
    seconds, after = time.perf_counter() - start, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Sample(seconds, spent)


def cpu_of(pid: int) -> float:
    """CPU seconds of a running program."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def with_server(pid: int, turn: Turn) -> Sample:
    """A turn, with the CPU seconds of a server that works for it."""
    before = cpu_of(pid)
    sample = turn()
    return Sample(sample.seconds, (sample.cpu or 0.0) + cpu_of(pid) - before)


def write_random(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        while size > 0:
            file.write(os.urandom(min(size, MIB)))
            size -= MIB
    return path


def small_files(folder: Path, count: int) -> Path:
    """New files of about 1 kB in folders of a hundred: content that is there already would be added faster.

    Folders differ in size, as folders do: one of a size that the history knows is read first, in case it is held.
    """
    data = random.Random(os.urandom(8))
    for number in range(count):
        path = folder / f"{number // 100:02}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.randbytes(data.randint(500, 1500)))
    return folder


@dataclass(frozen=True, slots=True)
class NodeProcess:
    pid: int
    api: str
    gateway: str
    token: str


@contextmanager
def program(*command: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, and the first line that it prints."""
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@contextmanager
def node_process(folder: Path) -> Iterator[NodeProcess]:
    with program(sys.executable, "-m", "pinui", "--json", "node", "--data", folder) as (process, line):
        told = json.loads(line)
        yield NodeProcess(process.pid, told["api_url"], told["gateway_url"], told["token"])


def uploads(folder: Path) -> Iterator[Row]:
    source = write_random(folder / "large", LARGE * MIB)
    with node_process(folder / "node") as node:
        answer = folder / "answer"
        curl = ["curl", "-sSf", "-o", answer, "-H", f"Authorization: Bearer {node.token}"]

        def send() -> Sample:
            with source.open("r+b") as file:  # what is pinned already would not be synced again
                file.write(os.urandom(MIB))
            upload = [*curl, "-F", f"file=@{source}", f"{node.api}/pinning/pinFileToIPFS"]
            sample = with_server(node.pid, lambda: timed(upload))
            # The peer removes its copy, too. After a turn that left its file behind, the next one took 1.7 s instead
            # of 0.95 s, whoever had it (perhaps because it wrote to memory that was never used before).
            cid = json.loads(answer.read_bytes())["IpfsHash"]
            timed([*curl, "-X", "DELETE", f"{node.api}/pinning/unpin/{cid}"])
            return sample

        yield Row(f"the node takes {LARGE} MiB from curl", "hash, write and sync in one thread", 0.8).measure(
            send,
            lambda: peer("hash_and_write", source, folder / "copy"),
            5,
        )
        os.truncate(source, MIDDLE * MIB)
        yield Row(f"upload of {MIDDLE} MiB to the node, CID predicted", "plain httpx", 1.15).measure(
            lambda: ours("upload", node.api, node.token, source),
            lambda: peer("upload", node.api, node.token, source),
            5,
        )
    with null_server() as url:
        yield Row("the same to a server that does nothing", "plain httpx", 1.15).measure(
            lambda: ours("upload", url, "t", source), lambda: peer("upload", url, "t", source), 5
        )


def downloads(folder: Path) -> Iterator[Row]:
    with node_process(folder / "node") as node:

        def read(verify: str, cid: str) -> Sample:
            target = folder / "out"
            target.unlink(missing_ok=True)
            return ours("download", node.api, node.gateway, node.token, verify, cid, target)

        cid = pin(node, write_random(folder / "source", MIDDLE * MIB))
        yield Row(f"download of {MIDDLE} MiB, verified", "unverified", 1.25).measure(
            lambda: read("try", cid), lambda: read("off", cid), 7
        )


def pin(node: NodeProcess, path: Path) -> str:
    environment = os.environ | {
        "PINUI_API_URL": node.api,
        "PINUI_GATEWAY_URL": node.gateway,
        "PINUI_TOKEN": node.token,
    }
    command = [sys.executable, "-m", "pinui", "upload", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.split()[0]


def stores(_folder: Path) -> Iterator[Row]:
    cid, _ = predict_text(json_text(DOCUMENT), KUBO_V0)
    with program(sys.executable, "-m", "tests.bench.slow_server", str(cid)) as (_, url):
        count = str(STORES)
        for name, work, limit in (("bare aiohttp", "stores", 0.6), ("pinatapy", "stores_in_threads", 1.0)):
            what = f"{LANES} stores at a time, 20 ms away (rate)"
            yield Row(what, name, limit, is_rate=True).measure(
                lambda: ours("stores", url, str(LANES), count),
                lambda work=work: peer(work, url, str(LANES), count),
                5,
            )


def cids(folder: Path) -> Iterator[Row]:
    hashed = folder / "hashed"
    hashed.mkdir()
    for number in range(HASHED_FILES):
        write_random(hashed / f"{number:02}", HASHED_MIB * MIB)
    what = f"3 CIDs each of {HASHED_FILES} files of {HASHED_MIB} MiB (rate)"
    yield Row(what, "sha-256, 3 times, one thread", 1.6, is_rate=True).measure(
        lambda: timed([sys.executable, "-m", "pinui", "cid", "-r", hashed]), lambda: peer("hash_files", hashed, "3"), 3
    )


def frames(_folder: Path) -> Iterator[Row]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    yield Row("first frame of the workbench", "a one-widget Textual app", 1.5).measure(
        lambda: Sample(first_frame([sys.executable, "-m", "pinui"], environment)),
        lambda: Sample(first_frame([str(PEERS), "-c", ONE_WIDGET], environment)),
        7,
    )


def folders(folder: Path) -> Iterator[Row]:
    try:
        kubo = find_kubo()
    except pytest.skip.Exception as missing:
        print(f"  {missing}")
        return
    turn = iter(range(1000))

    def files() -> Path:
        return small_files(folder / f"small-{next(turn)}", SMALL_FILES)

    # Each has a daemon of its own. Its CPU time is most of the work, and not known here.
    own, other = Kubo(kubo, folder / "kubo-own"), Kubo(kubo, folder / "kubo-other")
    with own.serving("--offline"), other.serving("--offline"):
        environment = os.environ | {"IPFS_PATH": other.environment["IPFS_PATH"]}
        pinui = [sys.executable, "-c", AS_INSTALLED]
        profile = [*pinui, "profile", "add", "kubo", "--provider", "kubo"]
        subprocess.run(profile, input=b"\n", check=True, capture_output=True, env=environment)
        for name, upload in (("Kubo", ["--profile", "kubo", "upload"]), ("its own node", ["upload"])):
            what = f"pinui upload of {SMALL_FILES:,} files of 1 kB to {name}"
            yield Row(what, "ipfs add -r", 1.0).measure(
                lambda upload=upload: Sample(timed([*pinui, *upload, files()], environment).seconds),
                lambda: Sample(timed([kubo, "add", "-Q", "-r", files()], {**own.environment}).seconds),
                3,
            )


@dataclass(frozen=True, slots=True)
class Growth:
    """The time for 1, 10 and 100 times the work."""

    what: str
    seconds: tuple[float, ...]

    @property
    def line(self) -> str:
        first = self.seconds[0]
        cells = (self.what, f"{first * 1000:,.0f} ms", *(f"{each / first:,.1f} ×" for each in self.seconds[1:]))
        return f"| {' | '.join(cells)} |"


GROWTH_HEADINGS = """\
| work | once | 10 times as much | 100 times as much |
|---|---|---|---|"""


def growths(folder: Path) -> Iterator[Growth]:
    def growth(what: str, work: Callable[[int], Turn]) -> Growth:
        grown = Growth(what, tuple(median(turn().seconds for _ in range(3)) for turn in map(work, WORK)))
        print(f"  {grown.line}", flush=True)
        return grown

    cid, _ = predict_text(json_text(DOCUMENT), KUBO_V0)
    with (
        node_process(folder / "grown") as node,
        program(sys.executable, "-m", "tests.bench.slow_server", str(cid)) as (_, url),
    ):

        def upload(times: int) -> Turn:
            path = write_random(folder / f"up-{times}", times * 4 * MIB)
            return lambda: ours("upload", node.api, node.token, path)

        def download(times: int) -> Turn:
            found = pin(node, folder / f"up-{times}")
            target = folder / "back"
            return lambda: ours("download", node.api, node.gateway, node.token, "try", found, target)

        def store(times: int) -> Turn:
            return lambda: ours("stores", url, str(LANES), str(times * LANES))

        def upload_folder(times: int) -> Turn:
            path = small_files(folder / f"folder-{times}", times * 80)
            return lambda: ours("upload", node.api, node.token, path)

        yield growth("upload of 4 MiB to the node", upload)
        yield growth("verified download of 4 MiB", download)
        yield growth(f"{LANES} stores, {LANES} at a time, 20 ms away", store)
        yield growth("upload of a folder of 80 small files", upload_folder)


@dataclass(frozen=True, slots=True)
class Memory:
    """The peak memory that a large file costs over small ones, in KiB."""

    what: str
    client: int
    node: int

    @property
    def line(self) -> str:
        return f"| {self.what} | {self.client / 1024:.0f} MiB | {self.node / 1024:.0f} MiB | < {MOST_MEMORY} MiB |"


MEMORY_HEADINGS = """\
| memory | client | node | wanted |
|---|---|---|---|"""


def memories(folder: Path) -> Iterator[Memory]:
    source = write_random(folder / "huge", HUGE * MIB)
    cid = ""
    for work in ("upload", "upload in pieces", "verified download"):
        with node_process(folder / "node") as node:
            small = write_random(folder / "small", MIB)
            pin(node, small)
            before = peak_kib(node.pid)
            about = [work, cid or source, folder / "back"]
            command = [sys.executable, "-m", "tests.bench.ours", "memory", node.api, node.gateway, node.token, *about]
            ran = subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE)
            told = json.loads(ran.stdout)
            found = Memory(f"{work} of {HUGE} MiB", told["kib"], peak_kib(node.pid) - before)
        cid = told["cid"] if work == "upload in pieces" else ""
        print(f"  {found.line}", flush=True)
        yield found


def machine() -> str:
    """The machine, in a line."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    system = f"{platform.system()} {platform.release().partition('-')[0]}, Python {platform.python_version()}"
    return f"{next(names, platform.machine())}, {os.cpu_count()} cores, {system}, {datetime.now(UTC):%d %B %Y}"


def write(rows: Sequence[Row], grown: Sequence[Growth], memory: Sequence[Memory], note: str) -> None:
    """The tables, into README.md and figures.json."""
    parts = [HEADINGS, *(row.line for row in rows), "", GROWTH_HEADINGS, *(one.line for one in grown), ""]
    parts += [MEMORY_HEADINGS, *(one.line for one in memory), "", note, ""]
    text = README.read_text()
    README.write_text(MARKS.sub(lambda marks: marks[1] + "\n".join(parts) + marks[2], text))
    figures = {
        "machine": machine(),
        "rows": [
            {
                "what": row.what,
                "beside": row.peer,
                "wanted": row.limit,
                "is_rate": row.is_rate,
                "ratio": median(row.ratios),
                "cpu_ratio": row.cpu,
                "ours": [[one.seconds, one.cpu] for one in row.ours],
                "theirs": [[one.seconds, one.cpu] for one in row.theirs],
            }
            for row in rows
        ],
        "growth": [{"what": one.what, "work": WORK, "seconds": one.seconds} for one in grown],
        "memory_kib": [{"what": one.what, "client": one.client, "node": one.node} for one in memory],
    }
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")


def main() -> None:
    """Measure everything, print the tables and store them."""
    if shutil.which("curl") is None or not PEERS.exists():
        sys.exit("curl and the peers are needed: `make bench` installs the peers")
    start, load = time.perf_counter(), os.getloadavg()[0]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as home, ExitStack() as folders_to_remove:
        os.environ |= {"PINUI_HOME": f"{home}/pinui", "HOME": home}
        print(HEADINGS)
        for measure in (uploads, downloads, stores, cids, frames, folders):
            folder = folders_to_remove.enter_context(tempfile.TemporaryDirectory())
            rows += measure(Path(folder))
        grown = list(growths(Path(folders_to_remove.enter_context(tempfile.TemporaryDirectory()))))
        memory = list(memories(Path(folders_to_remove.enter_context(tempfile.TemporaryDirectory()))))
    minutes = (time.perf_counter() - start) / 60
    note = f"{machine()}; load average {load:.1f} at the start. Measured in {minutes:.0f} minutes."
    print(note)
    write(rows, grown, memory, note)


if __name__ == "__main__":
    main()
