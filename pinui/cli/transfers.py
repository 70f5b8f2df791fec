"""`pinui transfers`: list, finish and forget transfers that are not finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinui.cli.errors import VerbError
from pinui.cli.files import finish, finish_download
from pinui.cli.running import run
from pinui.figures import plural, size

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from pinui.cli.console import Console
    from pinui.workspace import Workspace
    from pinui.workspace.transfers import Transfer
    from pinui.workspace.transfers.rows import Request

__all__ = ["transfers"]


def transfers(options: Namespace, console: Console) -> int:
    """List unfinished transfers, go on with them, or forget them."""
    if options.part == "resume":
        return run(options, console, lambda workspace: _resume(workspace, console, options.ids))
    if options.part == "forget":
        return run(options, console, lambda workspace: _forget(workspace, console, options.ids))
    return run(options, console, lambda workspace: _list(workspace, console))


async def _list(workspace: Workspace, console: Console) -> int:
    requests = await workspace.transfers.ledger.requests()
    for request in requests:
        if console.as_json:
            console.out_json(_as_json(request))
        else:
            console.row(
                str(request.id), _state(request), request.kind, request.profile, _progress(request), request.title
            )
            if request.error:
                console.say(f"{request.id}: {request.error}")
    if not requests:
        console.hint("No transfers are left.")
    return 0


async def _resume(workspace: Workspace, console: Console, ids: Sequence[int]) -> int:
    chosen = await _chosen(workspace, ids)
    failed = False
    for request in chosen:
        if request.is_running:
            console.say(f"Transfer {request.id} is running in another pinui process.")
            failed = True
    rows = {row.number: row for row in await workspace.transfers.look()}
    begun = [rows[request.id] for request in chosen if request.id in rows and request.can_go_on]
    for transfer in begun:
        workspace.transfers.resume(transfer)
        failed |= not await _finish(workspace, console, transfer)
    left = [one for one in await workspace.transfers.ledger.requests() if not one.can_go_on and not one.is_running]
    failed |= any(one.id in {request.id for request in chosen} for one in left)
    if left:
        them = "it" if len(left) == 1 else "them"
        console.say(f"{plural(len(left), 'transfer')} failed for good: `pinui transfers` shows {them}.")
    if not chosen:
        console.hint("No transfers are left.")
    return 1 if failed else 0


async def _finish(workspace: Workspace, console: Console, transfer: Transfer) -> bool:
    """Run one transfer to its end; its failures are reported."""
    try:
        if transfer.kind == "download":
            await finish_download(workspace, console, transfer)
            path = str(transfer.path)
            console.out_json({"cid": transfer.cid, "path": path}) if console.as_json else console.out(path)
            return True
        if transfer.kind == "copy":
            from pinui.cli.copying import finish_copy, sum_up

            counted = await finish_copy(workspace, console, transfer)
            sum_up(console, counted, transfer.profile or "")
            return not (counted["failed"] or counted["left out"])
        if transfer.kind == "revoke":
            from pinui.cli.revoke import finish_revoke

            return await finish_revoke(workspace, console, transfer)
        if transfer.kind == "mirror":
            await workspace.transfers.wait(transfer)
            if transfer.failure is not None:
                console.report(transfer.failure, about=transfer.title)
            return transfer.state == "done"
        _done, failed = await finish(workspace, console, transfer)
    except Exception as error:  # noqa: BLE001 – the others go on
        console.report(error, about=transfer.title)
        return False
    return not failed


async def _forget(workspace: Workspace, console: Console, ids: Sequence[int]) -> int:
    chosen = await _chosen(workspace, ids)
    running = [request for request in chosen if request.is_running]
    rows = {row.number: row for row in await workspace.transfers.look()}
    forgotten = [request for request in chosen if request.id in rows]
    for request in forgotten:
        await workspace.transfers.forget(rows[request.id])
    for request in running:
        console.say(f"Transfer {request.id} is running in another pinui process, and stays.")
    console.say(f"{plural(len(forgotten), 'transfer')} forgotten.")
    return 1 if running and ids else 0


async def _chosen(workspace: Workspace, ids: Sequence[int]) -> list[Request]:
    requests = {request.id: request for request in await workspace.transfers.ledger.requests()}
    for id_ in ids:
        if id_ not in requests:
            raise VerbError(f"There is no transfer {id_}.", hint="`pinui transfers` lists them.")
    return [requests[id_] for id_ in ids] if ids else list(requests.values())


def _state(request: Request) -> str:
    return "running" if request.is_running else request.state


def _progress(request: Request) -> str:
    tally = request.tally
    if not request.is_listed and not tally.items:
        return "not begun"
    if tally.kept:
        return f"{size(tally.kept)} of {size(tally.size)}" if tally.size else f"{size(tally.kept)} kept"
    words = (
        f"{tally.done:,} of {plural(tally.items, 'file')}"
        if request.kind == "upload"
        else f"{tally.done:,} of {tally.items:,}"
    )
    failed = tally.failed + tally.broken_off
    return f"{words}, {failed:,} failed" if failed else words


def _as_json(request: Request) -> dict[str, object]:
    tally, options = request.tally, request.options
    return {
        "id": request.id,
        "kind": request.kind,
        "state": _state(request),
        "profile": request.profile,
        "title": request.title,
        "items": tally.items,
        "done": tally.done,
        "failed": tally.failed + tally.broken_off,
        "size": tally.size,
        **({"kept": tally.kept} if tally.kept else {}),
        "createdAt": request.created_at,
        **({"error": request.error} if request.error else {}),
        **{name: options[name] for name in ("paths", "address", "to") if name in options},
    }
