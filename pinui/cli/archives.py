"""`pinui export` and `pinui import`: content as CAR files."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from pinui.cli.errors import UsageError, VerbError
from pinui.cli.running import run
from pinui.cli.stdin import read_cid, spool_stdin
from pinui.workspace.errors import AlreadyExists, WorkspaceError
from pinui.workspace.scratch import scratch_folder

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.workspace import Workspace

__all__ = ["export", "import_car"]


def export(options: Namespace, console: Console) -> int:
    """Write the blocks of a CID to a CAR file, or to stdout."""
    from pinui.sdk.address import Address

    cid = str(Address.parse_root(read_cid(options.cid)))
    to = Path(options.output or f"{cid}.car")
    to_stdout = options.output == "-"
    if to_stdout and console.data_on_terminal:
        raise VerbError("An archive is bytes that a terminal cannot show.", hint="Use -o FILE, or a pipe.")
    if to_stdout or (
        to.exists() and not to.is_file() and not to.is_dir()
    ):  # a named pipe, /dev/null: nothing to replace
        with scratch_folder() as folder, nullcontext(console.data) if to_stdout else to.open("wb") as into:
            archive = _export(options, console, cid, folder / "archive.car")
            with archive.open("rb") as whole:  # nothing is sent before all of it is verified
                shutil.copyfileobj(whole, into)
        return 0
    if to.is_dir():
        to /= f"{cid}.car"
    if not to.parent.is_dir():
        raise VerbError(f"{to.parent} is no folder.", hint="Make it first.")
    path = _export(options, console, cid, to)
    if console.as_json:
        console.out_json({"cid": cid, "path": str(path), "size": path.stat().st_size})
    else:
        console.out(str(path))
    return 0


def _export(options: Namespace, console: Console, cid: str, to: Path) -> Path:
    progressed = console.bars().watch(cid)

    async def work(workspace: Workspace) -> Path:
        return await workspace.export(cid, to, overwrite=options.force, on_progress=progressed)

    try:
        return run(options, console, work)
    except AlreadyExists as error:
        raise VerbError(str(error), hint="Add --force to overwrite it, or choose another name with -o.") from None
    finally:
        console.end_bars()


def import_car(options: Namespace, console: Console) -> int:
    """Pin the content of each file, and go on after a failure."""
    if options.name is not None and len(options.files) > 1:
        raise UsageError("--name is for one file.")
    if options.files.count("-") > 1:
        raise UsageError("There is only one stdin.")
    with scratch_folder() as folder:
        piped = spool_stdin(folder / "stdin", "the archive") if "-" in options.files else None
        return 1 if run(options, console, lambda workspace: _import_all(workspace, options, console, piped)) else 0


async def _import_all(workspace: Workspace, options: Namespace, console: Console, piped: Path | None) -> int:
    """The number of files that failed."""
    from pinui.sdk.errors import PinuiError

    await workspace.connect()  # a profile that does not work is said once, not for each file
    failed = 0
    for file in options.files:
        progressed = console.bars().watch(file)
        try:
            path = piped if piped and file == "-" else Path(file)
            entries = await workspace.import_car(path, name=options.name, on_progress=progressed)
        except (OSError, PinuiError, WorkspaceError) as error:
            console.report(error, about=file)
            failed += 1
            continue
        finally:
            console.end_bars()
        for entry in entries:
            console.result({**entry.to_json(), "path": file}, entry.cid, file)
    return failed
