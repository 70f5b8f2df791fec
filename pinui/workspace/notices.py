"""Notices for a person: the node waits for another process or repaired its index, an upload began again."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["give_notice", "on_notice"]

log = logging.getLogger("pinui.notices")
log.addHandler(logging.NullHandler())


def give_notice(sentence: str) -> None:
    """Tell a sentence to the listeners of `on_notice`."""
    log.warning("%s", sentence)


def on_notice(tell: Callable[[str], None]) -> Callable[[], None]:
    """Call a function with each notice and node warning, in the running event loop; the result ends that."""
    logs, handler = (logging.getLogger("pinui.node"), log), _Notices(tell)
    for one in logs:
        one.addHandler(handler)

    def stop() -> None:
        for one in logs:
            one.removeHandler(handler)

    return stop


class _Notices(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:  # a failed request: its answer reports it
            return
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._tell, record.getMessage())
