"""The mirror: the pins of the account at the service, copied into the history's file page by page."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinui.workspace.rows import now_ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from pinui.sdk.client import Client
    from pinui.sdk.models import Pin
    from pinui.workspace.history import History
    from pinui.workspace.history.account import Run
    from pinui.workspace.rows import AccountState
    from pinui.workspace.service import Service

__all__ = ["Mirror", "Progress"]

PAGE = 1000
MOST = 2 * PAGE
"""Pins to write at once: lists wait while they are being committed."""
SHOWN_AFTER = 500
"""Milliseconds after which a page that has come is written, so that it shows."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run."""

    profile: str
    read: int
    total: int | None
    """The number of the account's pins, if the service tells it."""


class Mirror:
    """Reads the account of a service. One run at a time; an interrupted one goes on where it was."""

    def __init__(self, history: History, changed: Callable[[], None]) -> None:
        self.progress: Progress | None = None
        self._history = history
        self._changed = changed
        self._running = asyncio.Lock()

    async def run(self, service: Service, *, full: bool = False) -> AccountState:
        """Read what is new, and everything from time to time; `full` reads everything now.

        `Unsupported` says that this service can't list its pins.
        """
        async with self._running:
            with service.held():
                opened = await service.open()
                profile, identity = service.profile.name, await asyncio.to_thread(opened.account)
                try:
                    await service.call(self._mirror(opened.client, profile, identity, full=full))
                finally:
                    self.progress = None
                    self._changed()
                return await self._history.account_state(profile)

    async def _mirror(self, client: Client, profile: str, identity: str, *, full: bool) -> None:
        history = self._history
        pins = await _count(client)  # first: a token that the service refuses must not clear what is known
        run = await history.begin_run(profile, identity, now_ms(), full=full)
        was_interrupted = run.position is not None
        await self._read(client, run, pins)
        await self._finish(run, pins)
        state = await history.account_state(profile)
        # New pins may have arrived while a run was interrupted; a different count means that pins vanished.
        is_short = not run.is_full and pins is not None and pins != state.pins + state.uncounted
        if was_interrupted or is_short:
            run = await history.begin_run(profile, identity, now_ms(), full=is_short)
            await self._read(client, run, pins)
            await self._finish(run, await _count(client))

    async def _read(self, client: Client, run: Run, total: int | None) -> None:
        from pinui.sdk.models import Resume

        stop_before = None if run.is_full else run.newest
        read, page = 0, list["Pin"]()
        asked_at = now_ms()
        self._tell(run, read, total)
        position = run.position

        def keep(place: str) -> None:
            nonlocal position
            position = place

        async with aclosing(client.pins(resume=Resume(keep=keep, handle=position))) as listing:
            async for pin in listing:
                if stop_before is not None and pin.created is not None and pin.created < stop_before:
                    break
                page.append(pin)
                # A quick service fills several pages while one is written.
                if len(page) >= PAGE and (len(page) >= MOST or now_ms() - asked_at > SHOWN_AFTER):
                    await self._history.merge_pins(run, page, asked_at, position)
                    read, page, asked_at = read + len(page), [], now_ms()
                    self._tell(run, read, total)
        if page:
            await self._history.merge_pins(run, page, asked_at, position)

    async def _finish(self, run: Run, pins: int | None) -> None:
        known = await self._history.account_state(run.profile)
        place = -1 if run.is_full and (known.pins or known.here) else None
        while place is not None:  # in pieces: between them, lists are read
            place = await self._history.drop_vanished(run, place)
        await self._history.finish_run(run, now_ms(), pins=pins)

    def _tell(self, run: Run, read: int, total: int | None) -> None:
        self.progress = Progress(run.profile, read, total)
        self._changed()


async def _count(client: Client) -> int | None:
    from pinui.sdk.errors import Unsupported

    with suppress(Unsupported):
        return (await client.totals()).pins
    return None
