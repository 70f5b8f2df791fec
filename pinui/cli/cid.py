"""`pinui cid`: the CIDs that files would get, without sending them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING

from pinui.cli.errors import UsageError, VerbError
from pinui.cli.files import files_in, folder_rules, say_left_out
from pinui.workspace.paths import Paths
from pinui.workspace.profiles import Profiles

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Generator, Iterable, Iterator

    from pinui.cli.console import Console
    from pinui.sdk.models import LeftOut

__all__ = ["cid"]

# Files that are started before their turn to be printed: enough to keep every thread at work.
AHEAD = 64
REDRAW_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class _Found:
    size: int
    cids: dict[str, str]
    """By the name of the way to cut files."""
    left_out: LeftOut | None


@dataclass(slots=True)
class _Job:
    """The work on one path: a file, a folder or stdin."""

    path: str
    found: SimpleQueue[_Found | Exception] = field(default_factory=SimpleQueue[_Found | Exception])
    """Its one result. A ctrl+c while a `Future` is waited for can leave its lock closed, and its thread would hang."""
    progress: tuple[int, int] = (0, 0)


def cid(options: Namespace, console: Console) -> int:
    """Print the CID that each path would get, for each common way to cut files into blocks. Nothing is sent."""
    from pinui.sdk.errors import PinuiError

    if options.paths.count("-") > 1:
        raise UsageError("There is only one stdin.")
    failed = 0
    with closing(_started_ahead(_paths(options, console), options)) as jobs:
        for job in jobs:
            try:
                found = _result(job, console)
            except (OSError, PinuiError, VerbError) as error:
                console.report(error, about=job.path)
                failed += 1
                continue
            if found.left_out is not None:
                say_left_out(console, job.path, found.left_out)
            if console.as_json:
                console.out_json({"path": job.path, "size": found.size, "cids": found.cids})
            else:
                for profile, text in found.cids.items():
                    console.row(text, job.path, profile)
    return 1 if failed else 0


def _paths(options: Namespace, console: Console) -> Iterator[str | VerbError]:
    for path in options.paths:
        if options.recursive and path != "-" and Path(path).is_dir():
            yield from asyncio.run(files_in(path, options, console))
        else:
            yield path


def _started_ahead(paths: Iterable[str | VerbError], options: Namespace) -> Generator[_Job]:
    """A job for each path, in order. Threads work on the next ones meanwhile: hashing takes a core each."""
    empty_folders = Profiles(Paths.find().config, chosen=options.profile).current.traits.keeps_empty_folders
    is_over = Event()

    def work(job: _Job) -> None:
        try:
            job.found.put(_find(job, is_over, options, empty_folders=empty_folders))
        except Exception as error:  # noqa: BLE001  # the waiting caller gets it
            job.found.put(error)

    started = deque[_Job]()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        try:
            for path in paths:
                started.append(job := _Job(str(path)))
                if isinstance(path, VerbError):
                    job.found.put(path)
                elif path == "-":  # on this thread: ctrl+c would not end one that waits for a silent pipe
                    work(job)
                else:
                    threads.submit(work, job)
                if len(started) > AHEAD:
                    yield started.popleft()
            while started:
                yield started.popleft()
        finally:
            is_over.set()
            threads.shutdown(wait=False, cancel_futures=True)


def _find(job: _Job, is_over: Event, options: Namespace, *, empty_folders: bool) -> _Found:
    """The CIDs of a path, which is read once; any thread."""
    from pinui.ipfs.errors import ContentAddressError
    from pinui.ipfs.importer import PROFILES
    from pinui.sdk.errors import PinuiError
    from pinui.sdk.writing.prediction import predict_source
    from pinui.sdk.writing.sources import open_source

    def note(done: int, total: int) -> None:
        if is_over.is_set():
            raise VerbError("Interrupted.")
        job.progress = done, total

    file = sys.stdin.buffer if job.path == "-" else Path(job.path)
    source = open_source(file, folder_rules(options), empty_folders=empty_folders)
    try:
        cids = predict_source(source, PROFILES, note)
        return _Found(source.size, {name: str(predicted) for name, predicted in cids.items()}, source.left_out)
    except ContentAddressError as error:
        reason = str(error)
    finally:
        source.close()
    raise PinuiError(f"The CID can't be computed without an upload: {reason}", hint="An upload returns it.")


def _result(job: _Job, console: Console) -> _Found:
    """The result of a job, with a bar while there is none."""
    try:
        found = job.found.get_nowait()
    except Empty:
        found = _watch(job, console)
    if isinstance(found, Exception):
        raise found
    return found


def _watch(job: _Job, console: Console) -> _Found | Exception:
    progressed = console.bars().watch(job.path)
    try:
        while True:
            try:
                return job.found.get(timeout=REDRAW_SECONDS)
            except Empty:
                progressed(*job.progress)
    finally:
        console.end_bars()
