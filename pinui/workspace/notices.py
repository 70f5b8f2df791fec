"""What the embedded node has to tell a person: that it waits for another process, or that it repaired its index."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["on_notice"]


def on_notice(tell: Callable[[str], None]) -> Callable[[], None]:
    """Have each warning of the node told, in the event loop that runs now; the result ends that."""
    log, handler = logging.getLogger("pinui.node"), _Notices(tell)
    log.addHandler(handler)
    return lambda: log.removeHandler(handler)


class _Notices(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:  # a request that failed: whoever asked hears of it in the answer
            return
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._tell, record.getMessage())
