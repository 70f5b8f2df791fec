"""Copies between services as a kind of transfer: written down before they start, and finished by a later process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinui.sdk.errors import NetworkError
from pinui.workspace.transfers.rows import NewItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pinui.workspace.copying import Copying, Plan
    from pinui.workspace.service import Home, Service
    from pinui.workspace.transfers import Progress, Transfer
    from pinui.workspace.transfers.rows import Item

__all__ = ["Copies", "copy_options", "copy_title", "new_items"]

LISTED = 1000
"""Items that are written down together."""


class Copies:
    """Copies as a kind of transfer: at the destination's service, with the name of the source's profile."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: dict[int, Copying] = {}

    async def items(self, transfer: Transfer, service: Service) -> AsyncIterator[Sequence[NewItem]]:
        """The pins of a request that the destination doesn't keep yet."""
        copying = self._copying(transfer, service)
        items = new_items(await copying.plan(await copying.wanted(transfer.options)))
        for start in range(0, len(items), LISTED):
            yield items[start : start + LISTED]

    async def run(self, transfer: Transfer, service: Service, item: Item, progress: Progress) -> None:
        """Copy one pin, unless an earlier run has done it."""
        try:
            await self._copy(self._copying(transfer, service), item, progress)
        except NetworkError:
            self._known.pop(transfer.id, None)  # the next try asks the services again
            raise

    async def _copy(self, copying: Copying, item: Item, progress: Progress) -> None:
        await copying.prepare()
        item.cid = item.source
        from pinui.workspace.copying import Item as PlannedItem

        name = None if item.shown == item.source else item.shown
        planned = PlannedItem(item.source, name, item.size, copying.way)
        if item.started_at is not None and await copying.is_there(item.source):
            item.was_held = True
            await copying.record(planned)  # the reply of an earlier process was lost
            return
        state = await copying.copy(planned, progress)
        item.resume = state

    def _copying(self, transfer: Transfer, service: Service) -> Copying:
        from pinui.workspace.copying import Copying

        if transfer.id not in self._known:
            source = self._home.service_of(transfer.options["from"])
            self._known[transfer.id] = Copying(self._home, source, service)
        return self._known[transfer.id]


def copy_options(source: str, *, cids: Sequence[str] = (), text: str = "") -> dict[str, Any]:
    """The options of a copy: of these CIDs, or of all pins that match a filter. They are the same for the same work."""
    return {"from": source, "cids": list(cids), "filter": text}


def new_items(plan: Plan) -> list[NewItem]:
    """The pins of a plan that will be copied, for a transfer."""
    return [NewItem(item.cid, shown=item.name or item.cid, size=item.size) for item in plan.going]


def copy_title(plan: Plan) -> str:
    """The title of a copy in a list of transfers."""
    from pinui.figures import plural

    return f"{plural(len(plan.going), 'pin')}  {plan.source} → {plan.to}"
