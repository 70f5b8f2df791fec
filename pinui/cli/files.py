"""`pinui upload` and `pinui download`: files and folders."""

from __future__ import annotations

import asyncio
import io
import os
import shlex
import sys
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinui.cli.errors import UsageError, VerbError
from pinui.cli.running import run, transfer_bars
from pinui.cli.stdin import read_cid, spool_stdin
from pinui.figures import be, plural
from pinui.sdk.errors import PinuiError
from pinui.sdk.models import LeftOut
from pinui.sdk.writing.folder_rules import FolderRules
from pinui.workspace.errors import AlreadyExists, WorkspaceError
from pinui.workspace.scratch import scratch_folder
from pinui.workspace.sentences import sentence_for
from pinui.workspace.text import clean
from pinui.workspace.transfers.queue import absolute, download_options, upload_options
from pinui.workspace.transfers.rows import ItemState

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from typing import BinaryIO

    from pinui.cli.console import Console
    from pinui.sdk.models import Verification
    from pinui.workspace import Workspace
    from pinui.workspace.transfers import Transfer
    from pinui.workspace.transfers.rows import Item, Request

__all__ = [
    "TRIES_AGAIN",
    "download",
    "files_in",
    "finish",
    "finish_download",
    "folder_rules",
    "refuse_running",
    "say_adopted",
    "say_left_out",
    "upload",
]

READABLE = 16 * 1024 * 1024
INSTEAD = "Use -o FILE, or a pipe."
TRIES_AGAIN = "`pinui transfers resume` tries again."


def upload(options: Namespace, console: Console) -> int:
    """Upload every path, several at once, and go on after a failure."""
    if options.name is not None and len(options.paths) > 1:
        raise UsageError("--name is for one path.")
    if options.name is not None and options.recursive and Path(options.paths[0]).is_dir():
        raise UsageError("--name is for one file, and with -r each file in a folder goes up by itself.")
    if options.paths.count("-") > 1:
        raise UsageError("There is only one stdin.")
    from pinui.sdk.names import safe_name

    with scratch_folder() as folder:
        name = safe_name(options.name or "stdin", "stdin")
        piped = spool_stdin(folder / name, "the content to upload") if "-" in options.paths else None
        done, failed = run(options, console, lambda workspace: _upload_all(workspace, options, console, piped))
    if failed and done + failed > 1:
        console.say(f"pinui: {failed} of {done + failed} failed.")
    return 1 if failed else 0


async def _upload_all(
    workspace: Workspace, options: Namespace, console: Console, piped: Path | None
) -> tuple[int, int]:
    paths = [path for path in options.paths if await _is_there(path, console)]
    missing = len(options.paths) - len(paths)
    if not paths:
        return 0, missing
    await workspace.connect()  # a profile that does not work is reported once, not for each file
    workspace.uploading.piped = piped
    transfer = await begin_upload(workspace, console, paths, options)
    done, failed = await finish(workspace, console, transfer)
    return done, failed + missing


async def _is_there(path: str, console: Console) -> bool:
    if path == "-" or await asyncio.to_thread(os.path.lexists, path):
        return True
    console.fail(f"{path or 'An empty name'}: there is no such file.")
    return False


async def begin_upload(workspace: Workspace, console: Console, paths: list[str], options: Namespace) -> Transfer:
    """Begin with a new request for these paths, or go on with the same one of an earlier run."""
    transfers = workspace.transfers
    what = upload_options(paths, name=options.name, rules=folder_rules(options), each=options.recursive)
    spelled = _spelling(paths)
    known = None if "-" in paths else await transfers.find("upload", what)
    if known is not None:
        say_adopted(console, known)
        transfer = transfers.adopt(known, listed_again=True)
    else:
        title = options.name or (Path(what["paths"][0]).name if len(paths) == 1 else f"{len(paths)} paths")
        transfer = transfers.start(transfers.new("upload", title, what))

    def say_listed(folder: str, files: int, left_out: LeftOut) -> None:
        say_left_out(console, spelled(folder), replace(left_out, empty_folders=0))  # folders themselves don't go up
        if not files:
            console.say(f"{spelled(folder)} holds no files to upload.")

    transfer.spelled, transfer.on_listed = spelled, say_listed
    return transfer


def say_adopted(console: Console, known: Request) -> None:
    """Refuse work that another process does; say that an earlier request goes on."""
    refuse_running(known)
    tally = known.tally
    so_far = f": {tally.done:,} of {tally.items:,} {be(tally.done)} done" if tally.items > 1 else ""
    console.say(f"Going on with transfer {known.id}, which was not finished{so_far}.")


def refuse_running(known: Request) -> None:
    """Refuse work that another process does."""
    if known.is_running:
        raise VerbError(
            "Another pinui process does this already.", hint="`pinui transfers` shows it; wait for it, or end it."
        )


async def finish(workspace: Workspace, console: Console, transfer: Transfer) -> tuple[int, int]:
    """Run a transfer to its end, and print its results: the numbers of items that are done and that failed."""
    done = failed = held = 0
    try:
        with transfer_bars(workspace, console):
            async with aclosing(workspace.transfers.results(transfer)) as results:
                async for item in results:
                    succeeded = await _report(workspace, console, transfer, item)
                    done, failed, held = done + succeeded, failed + (not succeeded), held + item.was_held
            await workspace.transfers.wait(transfer)
    except asyncio.CancelledError:
        _say_left(console, transfer)
        if transfer.options.get("paths") == ["-"]:
            await workspace.transfers.forget(transfer)
        raise
    if held:
        words = "The account holds it" if transfer.items == 1 else f"The account holds {held:,} of {transfer.items:,}"
        console.say(f"{words} already: not sent again.")
    if transfer.failure is not None and not failed:  # no item's own failure
        raise transfer.failure
    if transfer.unfinished:
        was = "was" if transfer.unfinished == 1 else "were"
        console.say(f"{transfer.unfinished:,} of {plural(transfer.items, 'file')} {was} not tried.")
    if failed and transfer.can_go_on:
        console.say(TRIES_AGAIN)
    return done, failed


def _say_left(console: Console, transfer: Transfer) -> None:
    """After ctrl+c: how the rest is done."""
    left = transfer.items - transfer.finished
    of = (
        f"{left:,} of {transfer.items:,} files {be(left)} left"
        if transfer.items > 1
        else "The transfer is not finished"
    )
    if "-" in transfer.options.get("paths", ()):
        console.say(f"{of}. Content from stdin can't be resumed: pipe it in again.")
    elif left or not transfer.is_listed:
        console.say(f"{of}. `pinui transfers resume`, or the same command again, goes on.")


async def _report(workspace: Workspace, console: Console, transfer: Transfer, item: Item) -> bool:
    path = transfer.spelled(item.source)
    if item.state is not ItemState.DONE or item.cid is None:
        console.report(item.failure or VerbError(item.error or "It was cancelled."), about=path)
        return False
    if console.as_json:
        rows = [item.row] if item.row else await workspace.history.entries([item.entry] if item.entry else [])
        console.out_json({**(rows[0].to_json() if rows else {"cid": item.cid}), "path": path})
    else:
        console.row(item.cid, path)
    if item.left_out is not None:
        say_left_out(console, path, item.left_out)
    return True


def _spelling(paths: list[str]) -> Callable[[str], str]:
    """A function that spells a path as it was typed."""
    typed = {absolute(path): path for path in paths if path != "-"}

    def spelled(place: str) -> str:
        if place in typed:
            return typed[place]
        for folder in Path(place).parents:
            if str(folder) in typed:
                return str(Path(typed[str(folder)]) / Path(place).relative_to(folder))
        return place

    return spelled


async def files_in(path: str, options: Namespace, console: Console) -> list[str | VerbError]:
    """The files of a folder, for -r; a folder in it that can't be read is a failure among them."""
    from pinui.sdk.writing.sources import contents_of

    closed: list[OSError] = []
    try:
        contents = await contents_of(Path(path), folder_rules(options), on_error=closed.append)
    except (OSError, PinuiError) as error:
        return [VerbError(sentence_for(error)[0])]
    say_left_out(console, path, replace(contents.left_out, empty_folders=0))  # folders themselves don't go up
    if not contents.files and not closed:
        console.say(f"{path} holds no files to upload.")
    return [
        *(str(file.path) for file in contents.files),
        *(VerbError(f"{error.filename}: {error.strerror}.") for error in closed),
    ]


def folder_rules(options: Namespace) -> FolderRules:
    """The rules for folders that the command line gives."""
    return FolderRules(options.hidden, options.follow_links, options.exclude)


def say_left_out(console: Console, path: str, left_out: LeftOut) -> None:
    """Count on stderr the entries of a folder that don't go up."""
    if left_out.excluded:
        console.say(f"{path}: left out {LeftOut(excluded=left_out.excluded)}, by --exclude or .ipfsignore.")
    if kept_out := replace(left_out, empty_folders=0, excluded=0):
        options = ((left_out.hidden, "--hidden"), (left_out.links, "--follow-links"))
        take = " and ".join(option for number, option in options if number)
        them = "it" if left_out.hidden + left_out.links == 1 else "them"
        console.say(f"{path}: left out {kept_out}{f'; {take} would include {them}' if take else ''}.")
    if left_out.empty_folders:
        empty = LeftOut(empty_folders=left_out.empty_folders)
        console.say(f"{path}: left out {empty}: the service can't keep a folder without files.")


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

    try:
        transfer = run(
            options, console, lambda workspace: _download(workspace, console, address, to, overwrite=options.force)
        )
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


async def _download(workspace: Workspace, console: Console, address: str, to: Path, *, overwrite: bool) -> Transfer:
    await workspace.connect()
    transfers = workspace.transfers
    what = download_options(address, to, overwrite=overwrite)
    known = await transfers.find("download", what)
    if known is not None:
        say_adopted(console, known)
        transfer = transfers.adopt(known, listed_again=False)
    else:
        transfer = transfers.start(transfers.new("download", await workspace.name_for(address), what))
    place = absolute(to)
    transfer.spelled = lambda text: str(to) if text == place else str(to / Path(text).relative_to(place))
    await finish_download(workspace, console, transfer, is_new=known is None)
    return transfer


async def finish_download(workspace: Workspace, console: Console, transfer: Transfer, *, is_new: bool = False) -> None:
    """Run a download to its end, or raise its failure."""
    try:
        with transfer_bars(workspace, console):
            await workspace.transfers.wait(transfer)
    except asyncio.CancelledError:
        _say_left(console, transfer)
        raise
    if is_new and isinstance(transfer.failure, AlreadyExists):  # nothing was begun
        await workspace.transfers.forget(transfer)
    if transfer.failure is not None:
        if isinstance(transfer.failure, PinuiError | WorkspaceError) and transfer.can_go_on:
            transfer.failure.hint = " ".join(filter(None, (transfer.failure.hint, TRIES_AGAIN)))
        raise transfer.failure
    if transfer.path is None or transfer.state != "done":
        raise WorkspaceError("The download was cancelled.")
