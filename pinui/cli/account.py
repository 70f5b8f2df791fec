"""`pinui pins`, `sync`, `pin` and `rename`: the account at the service."""

from __future__ import annotations

import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from pinui.cli.errors import UsageError
from pinui.cli.running import run
from pinui.cli.stdin import checked_filter, read_cids, typed_text
from pinui.figures import be, count, iso_time, plural
from pinui.workspace.filters import Is, KindIs, On, To
from pinui.workspace.text import clean_line

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.sdk.models import Pin
    from pinui.workspace import Workspace
    from pinui.workspace.filters import Filter

__all__ = ["checked_pin_filter", "pin", "pins", "rename", "sync"]


def checked_pin_filter(text: str) -> Filter:
    """A filter for pins of a service, which knows less than the history."""
    wanted = checked_filter(text)
    for term in wanted.terms:
        match term:
            case KindIs() | To() | On("here" | "both" | "elsewhere"):
                is_known = False
            case Is(state):
                is_known = state == "pinned"
            case _:
                is_known = True
        if not is_known:
            raise UsageError(
                "The service can't tell kinds, recipients, verdicts, or what is known here.",
                hint="`pinui history` and `pinui revoke` can.",
            )
    return wanted


def pins(options: Namespace, console: Console) -> int:
    """List the service's current pins, as they arrive."""
    wanted = checked_pin_filter(options.filter)

    async def listed(workspace: Workspace) -> None:
        client, now = await workspace.connect(), time.time()
        async with aclosing(client.pins()) as listing:
            async for one in listing:
                if wanted.matches(one.cid, one.name, one.size, one.created, now):
                    _print(console, one)

    run(options, console, listed)
    return 0


def _print(console: Console, pin: Pin) -> None:
    told = {"cid": pin.cid, "name": pin.name, "size": pin.size}
    told |= {"created": pin.created, "status": pin.status, "id": pin.id}
    size = "" if pin.size is None else str(pin.size)
    date = "" if pin.created is None else iso_time(pin.created)
    console.result(told, pin.cid, size, date, pin.name or "")


def sync(options: Namespace, console: Console) -> int:
    """Mirror the account into the workspace."""

    async def mirrored(workspace: Workspace) -> None:
        bars = console.bars()

        def tell() -> None:
            progress = workspace.mirror.progress
            if progress is not None:
                of = f" of {count(progress.total)}" if progress.total is not None else ""
                bars.note(f"Reading the account: {count(progress.read)}{of} pins.")

        stop = workspace.subscribe(tell)
        try:
            state = await workspace.sync(full=options.full)
        finally:
            stop()
            bars.note("")
        made = f", {count(state.elsewhere)} of them made elsewhere" if state.elsewhere else ""
        console.done(
            {"pins": state.pins, "size": None if state.unsized else state.size, "elsewhere": state.elsewhere},
            f"{plural(state.pins, 'pin')} of {workspace.profile.name} {be(state.pins)} known here now{made}.",
        )

    run(options, console, mirrored)
    return 0


def pin(options: Namespace, console: Console) -> int:
    """Ask the service to keep each CID; one that fails does not stop the rest."""
    cids = read_cids(options.cids)
    name = None if options.name is None else typed_text(options.name, "name")
    if name is not None and len(cids) > 1:
        raise UsageError("--name is for one CID.")

    async def asked(workspace: Workspace) -> int:
        from pinui.sdk.errors import PinuiError

        failed = 0
        await workspace.connect()
        for cid in cids:
            try:
                made = await workspace.pin(cid, name=name)
            except PinuiError as error:
                console.report(error, about=cid)
                failed += 1
                continue
            console.result({"cid": made.cid, "name": made.name, "status": made.status}, made.cid, made.status)
            failed += made.status == "failed"
        return failed

    return 1 if run(options, console, asked) else 0


def rename(options: Namespace, console: Console) -> int:
    """Give a pin another name at the service."""
    [cid], name = read_cids([options.cid]), typed_text(options.name, "name")
    if not name.strip():
        raise UsageError("The name is empty.", hint="A pin keeps its name until it gets another one.")
    run(options, console, lambda workspace: workspace.rename_at_service(cid, name))
    console.done({"cid": cid, "name": name}, f"Renamed to {clean_line(name)} at the service.")
    return 0
