"""`pinui copy`: pins from one service to another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pinui.cli.account import checked_pin_filter
from pinui.cli.errors import UsageError
from pinui.cli.running import run
from pinui.cli.stdin import read_cids
from pinui.figures import count, plural, size
from pinui.workspace.text import clean_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from pinui.cli.console import Console
    from pinui.sdk.models import Pin
    from pinui.workspace import Workspace
    from pinui.workspace.copying import Copying, Outcome, Plan

__all__ = ["copy", "tell_outcome", "tell_plan"]

MOST_NAMED = 20


def copy(options: Namespace, console: Console) -> int:
    """Tell the plan, then copy. 1 if anything was not copied."""
    if [bool(options.cids), bool(options.filter.strip()), options.all].count(True) != 1:
        raise UsageError("Say what to copy: CIDs, --filter TEXT, or --all.")
    cids = read_cids(options.cids) if options.cids else []
    matches = _matcher(options.filter)

    async def work(workspace: Workspace) -> int:
        from pinui.workspace.copying import Copying

        copying = Copying(workspace, workspace.service_of(options.source), workspace.service_of(options.to))
        console.hint(f"Asking {options.source} and {options.to} …")
        pins = await copying.pins_of(cids) if cids else await copying.all_pins(matches)
        plan = await copying.plan(pins)
        tell_plan(console, plan)
        if options.dry_run:
            _print_plan(console, plan)
            return 1 if plan.of("left out") else 0
        return await _run(copying, plan, console)

    return run(options, console, work)


def _matcher(text: str) -> Callable[[Pin], bool]:
    wanted, now = checked_pin_filter(text), time.time()
    return lambda pin: wanted.matches(pin.cid, pin.name, pin.size, pin.created, now)


def tell_plan(console: Console, plan: Plan) -> None:
    """The plan in a few lines of narration."""
    going = plan.going
    console.say(f"{count(len(going))} of {plural(len(plan.items), 'pin')} to copy from {plan.source} to {plan.to}.")
    for items, words in (
        (plan.of("archive"), "by archive, same CID"),
        (plan.of("cid"), f"by CID, {plan.to} fetches the content itself"),
        (plan.of("upload"), "read and added again, same CID"),
    ):
        if items:
            sizes = [item.size for item in items]
            told = size(sum(one or 0 for one in sizes))
            more = " and more" if None in sizes else ""
            console.say(f"  {count(len(items)):>7}  {words}, {told}{more}")
    if there := plan.of("there"):
        console.say(f"  {count(len(there)):>7}  there already")
    if left_out := plan.of("left out"):
        console.say(f"  {count(len(left_out)):>7}  can't be copied with the same CID: left out")
    if going:
        console.say(f"Names are kept. Nothing is removed from {plan.source}.")


def _print_plan(console: Console, plan: Plan) -> None:
    for item in plan.items:
        if console.as_json:
            fields = {"cid": item.cid, "name": item.name, "size": item.size}
            console.out_json({**fields, "way": item.way, "error": item.why})
        else:
            bytes_ = "" if item.size is None else str(item.size)
            console.row(item.cid, item.way, bytes_, item.name or "", item.why or "")


async def _run(copying: Copying, plan: Plan, console: Console) -> int:
    progressed = console.bars().watch(f"{plan.source} → {plan.to}")
    try:
        counted = await copying.run(plan, lambda outcome: tell_outcome(console, outcome), progressed)
    finally:
        console.end_bars()
    parts = [f"{count(counted['copied'])} copied"]
    for state, words in (
        ("there", "there already"),
        ("asked", f"still being fetched by {plan.to}"),
        ("left out", "left out"),
        ("failed", "failed"),
    ):
        parts += [f"{count(counted[state])} {words}"] if counted[state] else []
    console.say(f"{', '.join(parts)}.")
    return 1 if counted["failed"] or counted["left out"] else 0


def tell_outcome(console: Console, outcome: Outcome) -> None:
    """A row for each pin, and a sentence for each that was not copied."""
    item = outcome.item
    if console.as_json:
        fields = {"cid": item.cid, "name": item.name, "state": outcome.state, "error": outcome.error}
        console.out_json(fields)
    else:
        console.row(item.cid, outcome.state, item.name or "")
    if outcome.state in ("failed", "left out"):
        words = "left out, " if outcome.state == "left out" else ""
        console.fail(f"{clean_line(item.name or item.cid)}: {words}{outcome.error}", outcome.hint)
