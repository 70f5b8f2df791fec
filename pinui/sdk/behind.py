"""Work for a thread, a few pieces behind its caller: while some are done, the next is gathered."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["MOST", "ONE_HOP", "QUICK_TO_HASH", "Behind"]

# Hashing this little takes less time than asking a thread to do it.
QUICK_TO_HASH = 64 * 1024
# How much of a stream makes a piece, and how many pieces may wait. Small pieces cost hops, in which threads wait for
# each other; few of them leave one thread idle whenever the other is late. More of both gains nothing that a bench
# can see, and this is memory that each transfer holds.
ONE_HOP = 2 * 1024 * 1024
MOST = 3


class Behind:
    """Does pieces of work in order, in a thread of its own: the default pool may be full of an application's work."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None  # ends by itself when nobody holds it any more
        self._under_way: deque[asyncio.Future[object]] = deque()

    async def room(self) -> None:
        """Wait until another piece may be started. What went wrong is raised, here and each time from now on."""
        await self._until_left(MOST - 1)

    def start(self, work: Callable[..., object], *arguments: object) -> None:
        """Take a piece, for which there is `room`."""
        self._thread = self._thread or ThreadPoolExecutor(1, "pinui-behind")
        future = asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        future.add_done_callback(_look_at)
        self._under_way.append(future)

    async def settle(self) -> None:
        """Wait until everything is done. What went wrong is raised, here and each time from now on."""
        await self._until_left(0)

    async def _until_left(self, count: int) -> None:
        while len(self._under_way) > count:
            await asyncio.shield(self._under_way[0])  # who stops waiting does not stop the work
            self._under_way.popleft()


def _look_at(work: asyncio.Future[object]) -> None:
    """The failure of work that nobody waits for any more is no news; asyncio would write about it to the terminal."""
    if not work.cancelled():
        work.exception()
