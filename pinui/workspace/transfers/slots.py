"""Slots: how many items run at once, shared fairly between kinds of work, and between the requests of a kind."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

__all__ = ["Slots"]


class Slots:
    """A free slot goes to the next kind in turn, and there to the next request in turn."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._free = number
        self._waiting: dict[str, dict[int, deque[asyncio.Future[None]]]] = {}

    @asynccontextmanager
    async def one(self, kind: str, request: int) -> AsyncGenerator[None]:
        """Have a slot for the length of a `with` block."""
        await self._take(kind, request)
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def now(self) -> Generator[None]:
        """Have a slot at once, for short work that somebody waits for: the next slot that is given back is its."""
        self._free -= 1
        try:
            yield
        finally:
            self._give()

    async def _take(self, kind: str, request: int) -> None:
        if self._free > 0 and not self._waiting:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(kind, {}).setdefault(request, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given in the same moment
                self._give()
            raise

    def _give(self) -> None:
        while self._waiting and self._free >= 0:
            kind = next(iter(self._waiting))
            requests = self._waiting.pop(kind)
            request = next(iter(requests))
            turns = requests.pop(request)
            turn = turns.popleft()
            # Kinds and requests with more turns go to the end of the line.
            if turns:
                requests[request] = turns
            if requests:
                self._waiting[kind] = requests
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
