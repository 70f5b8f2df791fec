"""`pinui revoke`: unpin content, after a question."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from pinui.cli.account import checked_filter
from pinui.cli.errors import UsageError
from pinui.cli.running import run
from pinui.cli.stdin import read_cids
from pinui.figures import count, plural, size, total_size
from pinui.sdk.errors import Unsupported
from pinui.workspace.revoking import report
from pinui.workspace.rows import Query
from pinui.workspace.text import clean_line, encodable

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.workspace import Entry, Workspace

__all__ = ["revoke"]

MOST_NAMED = 20
LAST_ANSWER = 5.0
"""Seconds to wait for the answer of the last request after ctrl+c."""


def revoke(options: Namespace, console: Console) -> int:
    """Revoke every CID; one that fails does not stop the rest."""
    if bool(options.cids) == bool(options.filter.strip()):
        raise UsageError("Say what to revoke: CIDs, or --filter TEXT.")
    from_stdin = "-" in options.cids
    cids = read_cids(options.cids) if options.cids else _found(options, console)
    if options.dry_run or not cids:
        return _tell_would(console, cids)
    if not options.yes:
        if from_stdin or not sys.stdin.isatty():
            raise UsageError(
                "Revoking has to be confirmed, and stdin is no terminal.", hint="Add --yes if you are sure."
            )
        what = cids[0] if len(cids) == 1 else f"{count(len(cids))} CIDs"
        console.say("The service stops keeping it; copies elsewhere may remain.")
        if not console.confirm(f"Revoke {what}?"):
            console.say("Nothing was revoked.")
            return 1
    failed = run(options, console, lambda workspace: _revoke_all(workspace, console, cids))
    if failed and len(cids) > 1:
        console.say(f"pinui: {failed} of {len(cids)} could not be revoked.")
    return 1 if failed else 0


def _found(options: Namespace, console: Console) -> list[str]:
    """The pins that a filter finds in the account and in the history, listed on stderr."""
    checked_filter(options.filter)
    text = encodable(options.filter)

    async def find(workspace: Workspace) -> list[Entry]:
        with suppress(Unsupported):  # a service that lists nothing: the history knows its pins
            await workspace.sync(full=True)  # names may have changed at the service
        query = Query(text=text, of="pins", profile=workspace.profile.name, pinned=True)
        return await workspace.history.entries(await workspace.history.ids(query))

    found = run(options, console, find)
    named = len(found) if options.dry_run else MOST_NAMED
    for entry in found[:named]:
        console.say(f"  {clean_line(entry.title)}  {size(entry.bytes)}")
    if len(found) > named:
        console.say(f"  … and {count(len(found) - named)} more")
    if found:
        total = total_size([entry.bytes for entry in found], in_all=len(found) > 1)
        console.say(f"{plural(len(found), 'pin')}, {total}.")
    return [entry.cid for entry in found]


def _tell_would(console: Console, cids: list[str]) -> int:
    if not cids:
        console.say("No pin matches; nothing was revoked.")
    for cid in cids:
        if console.as_json:
            console.out_json({"cid": cid})
        else:
            console.out(cid)
    return 0


async def _revoke_all(workspace: Workspace, console: Console, cids: list[str]) -> int:
    from pinui.sdk.errors import PinuiError

    await workspace.connect()
    bars = console.bars()
    revoked = gone = failed = 0
    many = len(cids) > MOST_NAMED

    async def revoke_one(cid: str) -> None:
        nonlocal revoked, gone, failed
        try:
            result = await workspace.revoke(cid)
        except PinuiError as error:
            console.report(error, about=cid)
            failed += 1
            return
        revoked, gone = revoked + result.was_pinned, gone + (not result.was_pinned)
        if console.as_json:
            console.out_json({"cid": result.cid, "wasPinned": result.was_pinned})
        elif result.was_pinned:
            console.out(result.cid)
        if not result.was_pinned and not many:
            console.say(f"{result.cid} is not pinned at {workspace.profile.name} (any more).")

    for cid in cids:
        if many:
            bars.note(f"Revoking: {count(revoked + gone + failed)} of {count(len(cids))}.")
        working = asyncio.ensure_future(revoke_one(cid))
        try:
            await asyncio.shield(working)
        except asyncio.CancelledError:
            await asyncio.wait([working], timeout=LAST_ANSWER)  # so that the report counts it
            working.cancel()
            bars.note("")
            left = len(cids) - revoked - gone - failed
            console.say(f"Stopped: {report(revoked, gone, left=left)} The same command goes on.")
            raise
    bars.note("")
    if len(cids) > 1:
        console.say(report(revoked, gone))
    return failed
