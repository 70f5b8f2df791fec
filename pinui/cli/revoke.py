"""`pinui revoke`: take pins away, after a question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pinui.cli.errors import UsageError
from pinui.cli.running import run
from pinui.cli.stdin import read_cids

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.workspace import Workspace

__all__ = ["revoke"]


def revoke(options: Namespace, console: Console) -> int:
    """Revoke every CID; one that fails does not stop the rest."""
    from_stdin = "-" in options.cids
    cids = read_cids(options.cids)
    if not options.yes:
        if from_stdin or not sys.stdin.isatty():
            raise UsageError("stdin is no terminal, so nobody can confirm this.", hint="Add --yes if you are sure.")
        what = cids[0] if len(cids) == 1 else f"{len(cids)} CIDs"
        console.say("The service lets go of it; copies elsewhere may live on.")
        if not console.confirm(f"Revoke {what}?"):
            console.say("Nothing was revoked.")
            return 1
    failed = run(options, console, lambda workspace: _revoke_all(workspace, console, cids))
    if failed and len(cids) > 1:
        console.say(f"pinui: {failed} of {len(cids)} could not be revoked.")
    return 1 if failed else 0


async def _revoke_all(workspace: Workspace, console: Console, cids: list[str]) -> int:
    from pinui.sdk.errors import PinuiError

    await workspace.connect()
    failed = 0
    for cid in cids:
        try:
            result = await workspace.revoke(cid)
        except PinuiError as error:
            console.report(error, about=cid)
            failed += 1
            continue
        if console.as_json:
            console.out_json({"cid": result.cid, "wasPinned": result.was_pinned})
        elif result.was_pinned:
            console.out(result.cid)
        if not result.was_pinned:
            console.say(f"{result.cid} is not pinned at {workspace.profile.name} (any more).")
    return failed
