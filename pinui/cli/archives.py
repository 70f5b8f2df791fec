"""`pinui export` and `pinui import`: content as CAR files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pinui.cli.errors import UsageError, VerbError
from pinui.cli.running import run
from pinui.cli.stdin import read_cid
from pinui.workspace.errors import AlreadyExists, WorkspaceError

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.workspace import Workspace

__all__ = ["export", "import_car"]


def export(options: Namespace, console: Console) -> int:
    """Write the blocks of a CID to a CAR file."""
    from pinui.sdk.address import Address

    cid = str(Address.parse_root(read_cid(options.cid)))
    to = Path(options.output or f"{cid}.car")
    if to.is_dir():
        to /= f"{cid}.car"
    if not to.parent.is_dir():
        raise VerbError(f"{to.parent} is no folder.", hint="Make it first.")
    progressed = console.bars().watch(cid)

    async def work(workspace: Workspace) -> Path:
        return await workspace.export(cid, to, overwrite=options.force, on_progress=progressed)

    try:
        path = run(options, console, work)
    except AlreadyExists as error:
        raise VerbError(str(error), hint="Add --force to overwrite it, or choose another name with -o.") from None
    finally:
        console.end_bars()
    if console.as_json:
        console.out_json({"cid": cid, "path": str(path), "size": path.stat().st_size})
    else:
        console.out(str(path))
    return 0


def import_car(options: Namespace, console: Console) -> int:
    """Pin the content of each file, and go on after a failure."""
    if options.name is not None and len(options.files) > 1:
        raise UsageError("--name is for one file.")
    return 1 if run(options, console, lambda workspace: _import_all(workspace, options, console)) else 0


async def _import_all(workspace: Workspace, options: Namespace, console: Console) -> int:
    """The number of files that failed."""
    from pinui.sdk.errors import PinuiError

    await workspace.connect()  # a profile that does not work is said once, not for each file
    failed = 0
    for file in options.files:
        progressed = console.bars().watch(file)
        try:
            entries = await workspace.import_car(Path(file), name=options.name, on_progress=progressed)
        except (OSError, PinuiError, WorkspaceError) as error:
            console.report(error, about=file)
            failed += 1
            continue
        finally:
            console.end_bars()
        for entry in entries:
            if console.as_json:
                console.out_json({**entry.to_json(), "path": file})
            else:
                console.row(entry.cid, file)
    return failed
