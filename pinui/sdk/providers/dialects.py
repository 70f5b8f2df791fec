"""The seam between `PinProvider` and the APIs that it can speak, and the parts that these share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol

from pinui.ipfs.cid import Cid
from pinui.sdk.errors import PinuiError
from pinui.sdk.models import Dialect, Pin, Pinned, Resume, Totals
from pinui.sdk.transport.http import OnProgress
from pinui.sdk.writing.sources import UploadSource

__all__ = ["CHEAP_TO_REPEAT", "PinningApi", "has_arrived"]

# A lost reply to something this small is simply asked for again; pinning it twice is pinning it once.
CHEAP_TO_REPEAT = 1024 * 1024


class PinningApi(Protocol):
    """One API of a pinning service. CIDs are canonical."""

    @property
    def dialect(self) -> Dialect: ...

    async def put_text(self, text: str) -> Pinned: ...
    async def put_file(
        self, source: UploadSource, on_progress: OnProgress | None, resume: Resume | None = None
    ) -> Pinned: ...
    async def unpin(self, cid: str) -> None: ...
    def pins(
        self, *, name: str | None = None, cid: str | None = None, until: int | None = None
    ) -> AsyncGenerator[Pin]: ...
    async def totals(self) -> Totals: ...
    async def pin(self, cid: str, name: str | None) -> Pin: ...
    async def rename(self, cid: str, name: str) -> None: ...


async def has_arrived(api: PinningApi, predict: Callable[[], Cid | None]) -> bool:
    """Whether the service has the content of a lost reply. If that can't be decided, sending again is harmless."""
    cid = await asyncio.to_thread(predict)
    if cid is None:
        return False
    try:
        async with aclosing(api.pins(cid=str(cid))) as found:
            return await anext(found, None) is not None
    except PinuiError:
        return False
