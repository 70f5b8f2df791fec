"""Revoking many pins: a kind of transfer, what could be stored again afterwards, and the report at the end."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pinui.figures import count, plural
from pinui.workspace.transfers.rows import ItemState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from pinui.workspace.models import RevokeResult
    from pinui.workspace.rows import Entry
    from pinui.workspace.service import Service
    from pinui.workspace.transfers.ledger import Ledger
    from pinui.workspace.transfers.rows import Item, NewItem
    from pinui.workspace.transfers.transfer import Progress, Transfer

__all__ = ["Revoking", "can_be_stored_again", "report", "report_of", "revoke_options", "revoke_title"]

READ_AT_ONCE = 500
LAST_ANSWER = 3.0
"""Seconds to wait for the answers to requests that are on their way when a transfer is paused or cancelled."""
NAMED = 3
"""The failures that a report names."""


class Operations(Protocol):
    """The operation that this kind needs; `Workspace` has it."""

    async def revoke(self, cid: str, *, at: Service | None = None) -> RevokeResult: ...


class Revoking:
    """Revokes the CIDs that its request was given. A pin that the service no longer has counts as done."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    async def items(self, transfer: Transfer, service: Service) -> AsyncIterator[Sequence[NewItem]]:
        """Nothing: the pins that a person has agreed to are written down with the request, and no others are added."""
        del transfer, service
        yield ()

    async def run(self, transfer: Transfer, service: Service, item: Item, progress: Progress) -> None:
        """Revoke one pin; `was_held` means that it was gone already, and not by an earlier request of this transfer."""
        del transfer, progress
        was_begun = item.started_at is not None

        async def revoke() -> None:
            result = await self._operations.revoke(item.source, at=service)
            item.cid, item.was_held = result.cid, not result.was_pinned and not was_begun
            item.state = ItemState.DONE

        revoking = asyncio.ensure_future(revoke())
        try:
            await asyncio.shield(revoking)
        except asyncio.CancelledError:
            with suppress(Exception):  # without an answer the item waits, and is tried again
                await asyncio.wait_for(revoking, LAST_ANSWER)
            raise


def revoke_options(cids: Iterable[str], text: str = "") -> dict[str, Any]:
    """The options of a request: a filter, or these CIDs. They are the same for the same work."""
    if text:
        return {"filter": text}
    return {"cids": hashlib.sha256("\n".join(sorted(cids)).encode()).hexdigest()}  # there may be very many


def revoke_title(pins: int) -> str:
    """The title in a list of transfers."""
    return f"revoke {plural(pins, 'pin')}"


def can_be_stored_again(entries: Iterable[Entry]) -> int:
    """The number of pins whose content is on this machine: in the history, or in the file it came from."""
    return sum(
        entry.recorded and (entry.kind != "file" or (entry.source is not None and Path(entry.source).exists()))
        for entry in entries
    )


def report(revoked: int, gone: int, failed: Sequence[str] = (), left: int = 0) -> str:
    """`323 revoked, 2 were gone already.` `failed` are names, of which the first ones are told."""
    facts = [f"{count(revoked)} revoked"]
    if gone:
        facts.append(f"{count(gone)} {'was' if gone == 1 else 'were'} gone already")
    if left:
        facts.append(f"{count(left)} left")
    words = f"{', '.join(facts)}."
    if failed:
        more = f" and {count(len(failed) - NAMED)} more" if len(failed) > NAMED else ""
        words += f" Not revoked: {', '.join(failed[:NAMED])}{more}."
    return words


async def report_of(transfer: Transfer, ledger: Ledger) -> str:
    """The report of a transfer, earlier processes included."""
    revoked, gone, failed = 0, 0, list[str]()
    ids = await ledger.ids(transfer.number or 0)
    for start in range(0, len(ids), READ_AT_ONCE):
        for item in await ledger.items(ids[start : start + READ_AT_ONCE]):
            if item.state is ItemState.DONE:
                revoked, gone = revoked + (not item.was_held), gone + item.was_held
            elif item.state in (ItemState.FAILED, ItemState.BROKEN_OFF):
                failed.append(f"{item.shown} ({(item.error or '').rstrip('.')})")
    return report(revoked, gone, failed, left=len(ids) - revoked - gone - len(failed))
