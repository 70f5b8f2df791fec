"""Mirroring as a kind of transfer: written down while it runs, so that a later process goes on with it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from pinui.workspace.errors import WorkspaceError
from pinui.workspace.transfers.rows import NewItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pinui.workspace.mirror import Mirror
    from pinui.workspace.rows import AccountState
    from pinui.workspace.service import Service
    from pinui.workspace.transfers import Progress, Transfer
    from pinui.workspace.transfers.ledger import Ledger
    from pinui.workspace.transfers.rows import Item
    from pinui.workspace.transfers.slots import Slots

__all__ = ["Mirroring"]

KIND, TITLE = "mirror", "the account's pins"


class Mirroring:
    """Reads the account of a service. Only a run that was interrupted stays in the ledger."""

    def __init__(self, mirror: Mirror, ledger: Ledger, slots: Slots) -> None:
        self._mirror = mirror
        self._ledger = ledger
        self._slots = slots

    async def items(self, transfer: Transfer, service: Service) -> AsyncIterator[Sequence[NewItem]]:
        """One item: the account."""
        del transfer
        yield [NewItem(service.profile.name, shown=TITLE)]

    async def run(self, transfer: Transfer, service: Service, item: Item, progress: Progress) -> None:
        """Go on where an earlier process was."""
        del transfer, item, progress
        await self._mirror.run(service)

    async def sync(self, service: Service, *, full: bool) -> AccountState:
        """Read the account now: somebody waits for it, so it stands in no line behind transfers."""
        number = await self._begin(service.profile.name)
        try:
            with self._slots.now():
                state = await self._mirror.run(service, full=full)
        except asyncio.CancelledError:
            if number is not None:
                await self._ledger.let_go(number, "unfinished")
            raise
        except BaseException:
            await self._end(number)
            raise
        await self._end(number)
        return state

    async def _begin(self, profile: str) -> int | None:
        """Write it down, or take over an interrupted one; None if another process mirrors this account."""
        with suppress(WorkspaceError):  # a ledger that can't be written stops no reading
            known = await self._ledger.find(KIND, profile, {})
            if known is None:
                return await self._ledger.add(KIND, profile, TITLE, {}, [NewItem(profile, shown=TITLE)])
            return known.id if await self._ledger.claim(known.id) else None
        return None

    async def _end(self, number: int | None) -> None:
        """Finished runs leave no row; one that failed is asked for again anyway, and goes on where it was."""
        if number is not None:
            with suppress(WorkspaceError):
                await self._ledger.forget([number])
