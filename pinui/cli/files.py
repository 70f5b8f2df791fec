"""`pinui upload` and `pinui download`: files and folders."""

from __future__ import annotations

import asyncio
import io
import os
import shlex
import sys
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinui.cli.errors import UsageError, VerbError
from pinui.cli.running import run
from pinui.cli.stdin import read_cid, stdin_pieces
from pinui.workspace.errors import AlreadyExists, WorkspaceError
from pinui.workspace.scratch import create_private, scratch_folder
from pinui.workspace.sentences import sentence_for
from pinui.workspace.text import clean
from pinui.workspace.transfers import Transfer

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator
    from typing import BinaryIO

    from pinui.cli.console import Console
    from pinui.sdk.models import LeftOut, Verification
    from pinui.workspace import Workspace

__all__ = ["download", "files_in", "say_left_out", "upload"]

READABLE = 16 * 1024 * 1024
INSTEAD = "Use -o FILE, or a pipe."
QUEUED = 8  # enough to keep every slot of the queue busy


def upload(options: Namespace, console: Console) -> int:
    """Upload every path, several at once, and go on after a failure."""
    if options.name is not None and len(options.paths) > 1:
        raise UsageError("--name is for one path.")
    if options.name is not None and options.recursive and Path(options.paths[0]).is_dir():
        raise UsageError("--name is for one file, and with -r each file in a folder goes up by itself.")
    if options.paths.count("-") > 1:
        raise UsageError("There is only one stdin.")
    # Read here, on the main thread, where ctrl+c ends a read that waits for a slow pipe.
    with scratch_folder() as folder:
        piped = _spool_stdin(folder, options.name) if "-" in options.paths else None
        done, failed = run(options, console, lambda workspace: _upload_all(workspace, options, console, piped))
    if failed and done + failed > 1:
        console.say(f"pinui: {failed} of {done + failed} failed.")
    return 1 if failed else 0


async def _upload_all(
    workspace: Workspace, options: Namespace, console: Console, piped: Path | None
) -> tuple[int, int]:
    await workspace.connect()  # a profile that does not work is reported once, not for each file
    done = failed = 0
    pending: deque[tuple[str, Transfer]] = deque()
    bars = console.bars()
    stop = workspace.subscribe(lambda: bars.show(workspace.transfers.all))

    async def finish_one() -> bool:
        path, transfer = pending.popleft()
        await workspace.transfers.wait(transfer)
        return _report(console, path, transfer)

    try:
        async for path in _paths(options, console):
            if isinstance(path, VerbError):
                console.fail(str(path))
                failed += 1
                continue
            source = piped if path == "-" and piped is not None else Path(path)
            transfer = workspace.transfers.upload(
                source, name=options.name, hidden=options.hidden, follow_links=options.follow_links
            )
            pending.append((path, transfer))
            if len(pending) >= QUEUED:
                succeeded = await finish_one()
                done, failed = done + succeeded, failed + (not succeeded)
                workspace.transfers.clear_ended()
        while pending:
            succeeded = await finish_one()
            done, failed = done + succeeded, failed + (not succeeded)
    finally:
        stop()
        console.end_bars()
    return done, failed


def _report(console: Console, path: str, transfer: Transfer) -> bool:
    if transfer.state != "done" or transfer.entry is None:
        console.report(transfer.failure or VerbError("It was cancelled."), about=path)
        return False
    if console.as_json:
        console.out_json({**transfer.entry.to_json(), "path": path})
    else:
        console.row(transfer.entry.cid, path)
    if transfer.left_out is not None:
        say_left_out(console, path, transfer.left_out)
    return True


async def _paths(options: Namespace, console: Console) -> AsyncIterator[str | VerbError]:
    """The paths to upload, as typed; a folder counts as one, or with -r as its files."""
    for path in options.paths:
        if path == "-":
            yield path
        elif not await asyncio.to_thread(os.path.lexists, path):
            yield VerbError(f"{path or 'An empty name'}: there is no such file.")
        elif options.recursive and await asyncio.to_thread(os.path.isdir, path):
            for found in await files_in(path, options, console):
                yield found
        else:
            yield path


async def files_in(path: str, options: Namespace, console: Console) -> list[str | VerbError]:
    """The files of a folder, for -r; a folder in it that can't be read is a failure among them."""
    from pinui.sdk.errors import PinuiError
    from pinui.sdk.writing.sources import contents_of

    closed: list[OSError] = []
    how = {"hidden": options.hidden, "follow_links": options.follow_links}
    try:
        contents = await contents_of(Path(path), **how, on_error=closed.append)
    except (OSError, PinuiError) as error:
        return [VerbError(sentence_for(error)[0])]
    say_left_out(console, path, replace(contents.left_out, empty_folders=0))  # folders themselves don't go up
    if not contents.files and not closed:
        console.say(f"{path} holds no files to upload.")
    return [
        *(str(file.path) for file in contents.files),
        *(VerbError(f"{error.filename}: {error.strerror}.") for error in closed),
    ]


def say_left_out(console: Console, path: str, left_out: LeftOut) -> None:
    """Count on stderr the entries of a folder that don't go up."""
    if kept_out := replace(left_out, empty_folders=0):
        options = ((left_out.hidden, "--hidden"), (left_out.links, "--follow-links"))
        take = " and ".join(option for number, option in options if number)
        console.say(f"{path}: left out {kept_out}; {take} would include them.")
    if left_out.empty_folders:
        empty = replace(left_out, hidden=0, links=0)
        console.say(f"{path}: left out {empty}: the service can't keep a folder without files.")


def _spool_stdin(folder: Path, name: str | None) -> Path:
    from pinui.sdk.names import safe_name

    if sys.stdin.isatty():
        sys.stderr.write("Type the content to upload, then ctrl+d on a line of its own.\n")
    path = folder / safe_name(name or "stdin", "stdin")
    with open(create_private(path), "wb") as file:
        for piece in stdin_pieces():
            file.write(piece)
    return path


def download(options: Namespace, console: Console) -> int:
    """Write the content of a CID to a file, or to stdout."""
    address = read_cid(options.cid)
    if options.output == "-":
        return _download_to_stdout(options, console, address)
    to = Path(options.output) if options.output else Path()
    if to.exists() and not to.is_file() and not to.is_dir():  # /dev/null, a named pipe: nothing to replace by a file
        with to.open("wb") as into:
            _pour(options, console, address, into)
        return 0
    _check_folder(options.output or "")

    async def work(workspace: Workspace) -> Transfer:
        title = await workspace.name_for(address)
        return await _download(workspace, console, address, to, overwrite=options.force, title=title)

    try:
        transfer = run(options, console, work)
    except AlreadyExists as error:
        hint = "Add --force to overwrite it, or choose another name with -o." if error.is_file else error.hint
        raise VerbError(str(error), hint=hint) from None
    path = transfer.path or to
    if console.as_json:
        from pinui.sdk.address import Address

        size = path.stat().st_size if path.is_file() else None
        told = {
            "cid": str(Address.parse(address)),
            "path": str(path),
            "size": size,
            "verification": transfer.verification,
        }
        console.out_json({key: value for key, value in told.items() if value is not None})
    else:
        console.out(str(path))
    console.hint_unverifiable(transfer.verification)
    return 0


def _check_folder(output: str) -> None:
    """Refuse a place that is in no folder, or that is written as a folder and is none."""
    folder = Path(output) if output.endswith(("/", os.sep)) else Path(output).parent
    if not folder.is_dir():
        raise VerbError(f"{folder} is no folder.", hint=f"Make it first: mkdir -p {shlex.quote(str(folder))}")


def _download_to_stdout(options: Namespace, console: Console, address: str) -> int:
    """As it arrives, for a pipe; whole and cleaned, for a person's terminal."""
    if not console.data_on_terminal:
        _pour(options, console, address, console.data)
        return 0
    shown = _ForTerminal()
    _pour(options, console, address, shown)
    try:
        sys.stdout.write(clean(shown.getvalue().decode("utf-8")))
    except UnicodeDecodeError:
        raise VerbError("These are bytes that a terminal cannot show.", hint=INSTEAD) from None
    return 0


class _ForTerminal(io.BytesIO):
    """Collects content that a person can read on a terminal."""

    def write(self, data: Any, /) -> int:
        if self.tell() + len(memoryview(data)) > READABLE:
            raise VerbError("This is too long for a terminal.", hint=INSTEAD)
        return super().write(data)


def _pour(options: Namespace, console: Console, address: str, into: BinaryIO) -> None:
    progressed = console.bars().watch(address)
    verdicts: list[Verification | None] = []
    run(
        options,
        console,
        lambda workspace: workspace.pour(address, into, on_progress=progressed, on_verdict=verdicts.append),
    )
    console.hint_unverifiable(verdicts[-1] if verdicts else None)


async def _download(workspace: Workspace, console: Console, address: str, to: Path, **how: Any) -> Transfer:
    await workspace.connect()
    bars = console.bars()
    stop = workspace.subscribe(lambda: bars.show(workspace.transfers.all))
    try:
        transfer = workspace.transfers.download(address, to, **how)
        await workspace.transfers.wait(transfer)
    finally:
        stop()
        console.end_bars()
    if transfer.failure is not None:
        raise transfer.failure
    if transfer.path is None or transfer.state != "done":
        raise WorkspaceError("The download was cancelled.")
    return transfer
