"""Work for threads, a few pieces behind its caller: while some are done, the next is gathered."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

__all__ = ["MOST", "ONE_HOP", "QUICK_TO_HASH", "TrailingWork"]

# Hashing this little takes less time than asking a thread to do it.
QUICK_TO_HASH = 64 * 1024
# The size of a piece, and the number of pieces that may wait. Small pieces cost hops, in which threads wait for
# each other; few of them leave one thread idle whenever the other is late. More of both gains nothing that a bench
# can see, and this is memory that each transfer holds.
ONE_HOP = 2 * 1024 * 1024
MOST = 3


class TrailingWork:
    """Does pieces of work one after the other, in a thread of the default pool that goes on while there is more."""

    def __init__(self) -> None:
        self._unfinished: deque[asyncio.Future[None]] = deque()
        self._waiting: deque[_Piece] = deque()
        self._lock = threading.Lock()
        self._has_thread = False

    async def room(self) -> None:
        """Wait until another piece may start. An earlier failure is raised, here and each time from now on."""
        await self._until_left(MOST - 1)

    def start(self, work: Callable[..., object], *arguments: object) -> None:
        """Take a piece, for which there is `room`."""
        piece = _Piece(work, arguments)
        done = asyncio.wrap_future(piece.done)
        done.add_done_callback(_look_at)
        self._unfinished.append(done)
        with self._lock:
            self._waiting.append(piece)
            if self._has_thread:
                return
            self._has_thread = True
        self._ask_for_thread(asyncio.get_running_loop())

    async def settle(self) -> None:
        """Wait until everything is done. A failure is raised, here and each time from now on."""
        await self._until_left(0)

    async def _until_left(self, count: int) -> None:
        while len(self._unfinished) > count:
            await asyncio.shield(self._unfinished[0])  # a cancelled caller does not stop the work
            self._unfinished.popleft()

    def _ask_for_thread(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_in_executor(None, self._work, loop)
        except RuntimeError as error:  # at shutdown, a waiting caller must not wait for ever
            with self._lock:
                waiting, self._waiting = self._waiting, deque()
                self._has_thread = False
            for piece in waiting:
                piece.done.set_exception(error)

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        """A few pieces; then others that wait for a thread get their turn."""
        for _ in range(MOST):
            with self._lock:
                if not self._waiting:
                    self._has_thread = False
                    return
                piece = self._waiting.popleft()
            piece.do()
        with suppress(RuntimeError):  # the loop is closed, and no caller waits
            loop.call_soon_threadsafe(self._ask_for_thread, loop)


@dataclass(frozen=True, slots=True)
class _Piece:
    work: Callable[..., object]
    arguments: tuple[object, ...]
    done: Future[None] = field(default_factory=Future[None])

    def do(self) -> None:
        try:
            self.work(*self.arguments)
        except BaseException as error:  # noqa: BLE001  the waiting caller gets it
            self.done.set_exception(error)
        else:
            self.done.set_result(None)


def _look_at(done: asyncio.Future[None]) -> None:
    """Drop the failure of abandoned work, which asyncio would write to the terminal."""
    if not done.cancelled():
        done.exception()
