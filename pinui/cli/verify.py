"""`pinui verify`: read content back and check it against its CID."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinui.cli.errors import UsageError
from pinui.cli.running import run
from pinui.cli.stdin import read_cids
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.text import clean_line

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.workspace import Workspace

__all__ = ["verify"]


def verify(options: Namespace, console: Console) -> int:
    """Read every CID back and print the verdict."""
    if options.all == bool(options.cids):
        raise UsageError("Name the CIDs to check.", hint="CIDs, - for one a line on stdin, or --all.")
    cids = [] if options.all else read_cids(options.cids, whole=False)
    failed, checked = run(options, console, lambda workspace: _verify_all(workspace, console, cids))
    if checked > 1:
        console.say(f"{checked} checked, {failed} failed.")
    elif not checked:
        console.say("Nothing is pinned here yet.")
    return 1 if failed else 0


async def _verify_all(workspace: Workspace, console: Console, cids: list[str]) -> tuple[int, int]:
    from pinui.sdk.errors import IntegrityError, PinuiError

    await workspace.connect()
    failed = 0
    wanted = cids or await workspace.pinned_cids()
    for one in wanted:
        verdict: str | None = "mismatch"
        try:
            verdict = await workspace.verify(one, on_progress=console.bars().watch(one))
        except (OSError, PinuiError, WorkspaceError) as error:
            console.report(error, about=clean_line(one))
            failed += 1
            if not isinstance(error, IntegrityError):  # unreadable content has no verdict
                continue
        if console.as_json:
            console.out_json({"cid": one, "verification": verdict})
        else:
            console.row(verdict or "not checked", one)
    return failed, len(wanted)
