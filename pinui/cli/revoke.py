"""`pinui revoke`: unpin content, after a question. Several pins are a transfer, which a later process can finish."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pinui.cli.errors import UsageError, VerbError
from pinui.cli.files import TRIES_AGAIN, say_adopted
from pinui.cli.running import run, transfer_bars
from pinui.cli.stdin import checked_filter, read_cids
from pinui.figures import count, plural, size, total_size
from pinui.sdk.errors import Unsupported
from pinui.workspace.revoking import report, report_of, revoke_options, revoke_title
from pinui.workspace.rows import Query
from pinui.workspace.text import clean_line, encodable
from pinui.workspace.transfers.rows import ItemState, NewItem

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.workspace import Entry, Workspace
    from pinui.workspace.transfers import Transfer

__all__ = ["finish_revoke", "revoke"]

MOST_NAMED = 20


def revoke(options: Namespace, console: Console) -> int:
    """Revoke every CID; one that fails does not stop the rest."""
    if bool(options.cids) == bool(options.filter.strip()):
        raise UsageError("Say what to revoke: CIDs, or --filter TEXT.")
    from_stdin = "-" in options.cids
    pins = [NewItem(cid) for cid in read_cids(options.cids)] if options.cids else _found(options, console)
    if options.dry_run or not pins:
        return _tell_would(console, pins)
    if not options.yes:
        if from_stdin or not sys.stdin.isatty():
            raise UsageError(
                "Revoking has to be confirmed, and stdin is no terminal.", hint="Add --yes if you are sure."
            )
        what = pins[0].source if len(pins) == 1 else f"{count(len(pins))} CIDs"
        console.say("The service stops keeping it; copies elsewhere may remain.")
        if not console.confirm(f"Revoke {what}?"):
            console.say("Nothing was revoked.")
            return 1
    if len(pins) == 1 and not options.filter:
        return run(options, console, lambda workspace: _revoke_one(workspace, console, pins[0].source))
    return run(options, console, lambda workspace: _revoke_many(workspace, console, pins, options.filter))


def _found(options: Namespace, console: Console) -> list[NewItem]:
    """The pins that a filter finds in the account and in the history, listed on stderr."""
    checked_filter(options.filter)
    text = encodable(options.filter)

    async def find(workspace: Workspace) -> tuple[list[Entry], list[NewItem]]:
        with suppress(Unsupported):  # a service that lists nothing: the history knows its pins
            await workspace.sync(full=True)  # names may have changed at the service
        query = Query(text=text, of="pins", profile=workspace.profile.name, pinned=True)
        found = await workspace.history.entries(await workspace.history.ids(query))
        return found, [] if options.dry_run else await _without_answers(workspace, options.filter)

    found, lost = run(options, console, find)
    named = len(found) if options.dry_run else MOST_NAMED
    for entry in found[:named]:
        console.say(f"  {clean_line(entry.title)}  {size(entry.bytes)}")
    if len(found) > named:
        console.say(f"  … and {count(len(found) - named)} more")
    if found:
        total = total_size([entry.bytes for entry in found], in_all=len(found) > 1)
        console.say(f"{plural(len(found), 'pin')}, {total}.")
    if lost:
        console.say(f"{plural(len(lost), 'more pin')} of an earlier run, gone without an answer.")
    return [NewItem(entry.cid, shown=entry.title) for entry in found] + lost


async def _without_answers(workspace: Workspace, text: str) -> list[NewItem]:
    """The pins that an earlier run of the same command asked to revoke, and that are gone: its answers were lost."""
    transfers = workspace.transfers
    known = await transfers.find("revoke", revoke_options((), text))
    if known is None:
        return []
    pinned = set(await workspace.pinned_cids())
    items = await transfers.ledger.items(await transfers.ledger.ids(known.id))
    return [
        NewItem(item.source, shown=item.shown, seen=item.seen)
        for item in items
        if item.started_at is not None and item.state is not ItemState.DONE and item.source not in pinned
    ]


def _tell_would(console: Console, pins: list[NewItem]) -> int:
    if not pins:
        console.say("No pin matches; nothing was revoked.")
    for pin in pins:
        console.result({"cid": pin.source}, pin.source)
    return 0


async def _revoke_one(workspace: Workspace, console: Console, cid: str) -> int:
    await workspace.connect()
    result = await workspace.revoke(cid)
    _tell(console, result.cid, workspace.profile.name, was_pinned=result.was_pinned)
    return 0


async def _revoke_many(workspace: Workspace, console: Console, pins: list[NewItem], text: str) -> int:
    """Begin with a new request for these pins, or go on with the same one of an earlier run."""
    await workspace.connect()
    transfers, request = workspace.transfers, revoke_options([pin.source for pin in pins], text)
    known = await transfers.find("revoke", request)
    if known is None:
        transfer = transfers.begin("revoke", revoke_title(len(pins)), request, pins)
    else:
        say_adopted(console, known)
        pinned = set(await workspace.pinned_cids())
        # Somebody may have pinned again what was revoked: then it is another pin than the one that is done.
        again = [replace(pin, seen=f"pinned {time.time()}") if pin.source in pinned else pin for pin in pins]
        transfer = transfers.adopt(known, listed_again=True, items=again)
    return 0 if await finish_revoke(workspace, console, transfer) else 1


async def finish_revoke(workspace: Workspace, console: Console, transfer: Transfer) -> bool:
    """Run a transfer to its end, and print its results. False if a pin could not be revoked."""
    revoked = gone = failed = 0
    profile = transfer.profile or ""
    try:
        with transfer_bars(workspace, console):
            async with aclosing(workspace.transfers.results(transfer)) as results:
                async for item in results:
                    if item.state is not ItemState.DONE:
                        why = VerbError(item.error or "It was not revoked.")
                        console.report(item.failure or why, about=item.source)
                        failed += 1
                        continue
                    revoked, gone = revoked + (not item.was_held), gone + item.was_held
                    _tell(console, item.source, profile, was_pinned=not item.was_held, many=transfer.items)
            await workspace.transfers.wait(transfer)
    except asyncio.CancelledError:
        await workspace.transfers.cancel_all()  # so that the report counts the last answers
        words = await report_of(transfer, workspace.transfers.ledger)
        console.say(f"Stopped: {words} `pinui transfers resume`, or the same command again, goes on.")
        raise
    if transfer.failure is not None and not failed:  # no pin's own failure
        raise transfer.failure
    console.say(report(revoked, gone, left=transfer.unfinished))
    if failed:
        console.say(f"pinui: {count(failed)} of {count(transfer.items)} could not be revoked.")
    if transfer.can_go_on:
        console.say(TRIES_AGAIN)
    return transfer.state == "done"


def _tell(console: Console, cid: str, profile: str, *, was_pinned: bool, many: int = 1) -> None:
    if console.as_json:
        console.out_json({"cid": cid, "wasPinned": was_pinned})
    elif was_pinned:
        console.out(cid)
    if not was_pinned and many <= MOST_NAMED:
        console.say(f"{cid} is not pinned at {profile} (any more).")
