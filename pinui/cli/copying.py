"""`pinui copy`: pins from one service to another."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING

from pinui.cli.account import checked_pin_filter
from pinui.cli.errors import UsageError
from pinui.cli.files import TRIES_AGAIN, refuse_running
from pinui.cli.running import run, transfer_bars
from pinui.cli.stdin import read_cids
from pinui.figures import count, plural, total_size
from pinui.workspace.sentences import finished
from pinui.workspace.text import clean_line, encodable
from pinui.workspace.transfers.rows import ItemState

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection

    from pinui.cli.console import Console
    from pinui.workspace import Workspace
    from pinui.workspace.copying import Plan
    from pinui.workspace.transfers import Transfer
    from pinui.workspace.transfers.rows import Item

__all__ = ["copy", "finish_copy", "sum_up"]


def copy(options: Namespace, console: Console) -> int:
    """Tell the plan, then copy. 1 if anything was not copied."""
    if [bool(options.cids), bool(options.filter.strip()), options.all].count(True) != 1:
        raise UsageError("Say what to copy with --all, --filter TEXT, or CIDs: give one of them.")
    cids = read_cids(options.cids) if options.cids else []
    checked_pin_filter(options.filter)
    text = encodable(options.filter)

    async def work(workspace: Workspace) -> int:
        from pinui.workspace.copies import copy_options
        from pinui.workspace.copying import Copying

        to = workspace.service_of(options.to)
        copying = Copying(workspace, workspace.service_of(options.source), to)
        console.hint(f"Asking {options.source} and {options.to} …")
        request = copy_options(options.source, cids=cids, text=text)
        plan = await copying.plan(await copying.wanted(request))
        _tell_plan(console, plan)
        if options.dry_run:
            _print_plan(console, plan)
            return 1 if plan.of("left out") else 0
        counted = await _run(workspace, console, plan, request)
        return 1 if counted["failed"] or counted["left out"] else 0

    return run(options, console, work)


def _tell_plan(console: Console, plan: Plan) -> None:
    going = plan.going
    console.say(f"{count(len(going))} of {plural(len(plan.items), 'pin')} to copy from {plan.source} to {plan.to}.")
    for items, words in (
        (plan.of("archive"), "by archive, same CID"),
        (plan.of("cid"), f"by CID, {plan.to} fetches the content itself"),
        (plan.of("upload"), "read and added again, same CID"),
    ):
        if items:
            console.say(f"  {count(len(items)):>7}  {words}, {total_size([item.size for item in items])}")
    if there := plan.of("there"):
        console.say(f"  {count(len(there)):>7}  there already")
    for why, number in plan.reasons.items():
        console.say(f"  {count(number):>7}  left out: {why}")
    if going:
        console.say(f"Names are kept; dates are not. Nothing is removed from {plan.source}.")


def _print_plan(console: Console, plan: Plan) -> None:
    for item in plan.items:
        told = {"cid": item.cid, "name": item.name, "size": item.size, "way": item.way, "error": item.why}
        bytes_ = "" if item.size is None else str(item.size)
        console.result(told, item.cid, item.way, bytes_, item.name or "", item.why or "")


async def _run(workspace: Workspace, console: Console, plan: Plan, request: dict[str, object]) -> Counter[str]:
    """Copy, and report each result: the numbers of them."""
    from pinui.workspace.copies import copy_title, new_items

    counted: Counter[str] = Counter()
    for way in ("there", "left out"):
        for item in plan.of(way):
            counted[way] += 1
            _report(console, item.cid, item.name, way, item.why)
    if plan.going:
        transfers, to = workspace.transfers, workspace.service_of(plan.to)
        known = await transfers.ledger.find("copy", plan.to, request)
        if known is not None:
            refuse_running(known)
            transfer = transfers.adopt(known, listed_again=True)
        else:
            transfer = transfers.begin("copy", copy_title(plan), request, new_items(plan), at=to)
        counted += await finish_copy(workspace, console, transfer, {item.cid for item in plan.of("there")})
    sum_up(console, counted, plan.to)
    return counted


def sum_up(console: Console, counted: Counter[str], to: str) -> None:
    """Report the numbers of pins that were copied and that were not."""
    parts = [f"{count(counted['copied'])} copied"]
    for state, words in (
        ("there", "there already"),
        ("asked", f"still being fetched by {to}"),
        ("left out", "left out"),
        ("failed", "failed"),
        ("left", "left"),
    ):
        parts += [f"{count(counted[state])} {words}"] if counted[state] else []
    console.say(f"{', '.join(parts)}.")


async def finish_copy(
    workspace: Workspace, console: Console, transfer: Transfer, told: Collection[str] = ()
) -> Counter[str]:
    """Run a copy to its end, and report each result but those of CIDs that were told before: the numbers of them."""
    from pinui.sdk.errors import NetworkError

    counted: Counter[str] = Counter()
    seen: set[int] = set()
    unreachable: set[str | None] = set()
    try:
        with transfer_bars(workspace, console):
            async with aclosing(workspace.transfers.results(transfer)) as results:
                async for item in results:
                    seen.add(item.id)
                    if item.source not in told:
                        counted[_tell(console, item, unreachable)] += 1
                        if isinstance(item.failure, NetworkError):
                            unreachable.add(item.error)
            await workspace.transfers.wait(transfer)
    except asyncio.CancelledError:
        left = transfer.items - transfer.finished
        console.say(f"{plural(left, 'pin')} left. `pinui transfers resume`, or the same command again, goes on.")
        raise
    for item in await _failed_before(workspace, transfer, seen):
        counted[_tell(console, item)] += 1
    if transfer.failure is not None and not counted["failed"] and not counted["left out"]:
        raise transfer.failure
    counted["left"] += transfer.unfinished
    if transfer.can_go_on:
        console.say(TRIES_AGAIN)
    return counted


async def _failed_before(workspace: Workspace, transfer: Transfer, seen: Collection[int]) -> list[Item]:
    """The pins that an earlier process could not copy, and that are not tried again."""
    ledger = workspace.transfers.ledger
    ids = [] if transfer.number is None else [id_ for id_ in await ledger.ids(transfer.number) if id_ not in seen]
    return [item for item in await ledger.items(ids) if item.state is ItemState.FAILED]


def _tell(console: Console, item: Item, unreachable: Collection[str | None] = ()) -> str:
    """Report the result for one pin: its state in a word or two. A service that can't be reached is told once."""
    from pinui.workspace.copying import WouldChange

    name = None if item.shown == item.source else item.shown
    if item.state is ItemState.DONE:
        state = "there" if item.was_held else "asked" if item.resume == "asked" else "copied"
        _report(console, item.source, name, state, None)
        return state
    if item.error in unreachable:
        _report(console, item.source, name, "left", None)
        return "left"
    state = "left out" if isinstance(item.failure, WouldChange) else "failed"
    _report(console, item.source, name, state, item.error, item.hint)
    return state


def _report(
    console: Console, cid: str, name: str | None, state: str, error: str | None, hint: str | None = None
) -> None:
    """A row for each pin, and a sentence for each that was not copied."""
    console.result({"cid": cid, "name": name, "state": state, "error": error}, cid, state, name or "")
    if error is not None:
        words = f"left out, {error[:1].lower()}{error[1:]}" if state == "left out" else error
        console.fail(f"{clean_line(name or cid)}: {finished(words)}", hint)
