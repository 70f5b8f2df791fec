"""The seam between `PinProvider` and the APIs that it can speak, and the parts that these share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from pinui.ipfs.cid import Cid
from pinui.sdk.models import Dialect, Pin, Pinned, Resume, Totals, Verification
from pinui.sdk.transport.http import OnProgress
from pinui.sdk.writing.sources import UploadSource

__all__ = ["PinningApi", "is_listed", "judged"]


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
        self, *, name: str | None = None, cid: str | None = None, resume: Resume | None = None
    ) -> AsyncGenerator[Pin]: ...
    async def totals(self) -> Totals: ...
    async def pin(self, cid: str, name: str | None) -> Pin: ...
    async def rename(self, cid: str, name: str) -> None: ...


async def is_listed(api: PinningApi, cid: Cid) -> bool:
    """Whether the account has a pin of that content."""
    async with aclosing(api.pins(cid=str(cid))) as found:
        return await anext(found, None) is not None


def judged(cid: str, size: int, verification: Verification, predicted: Cid | None) -> Pinned:
    """A pin with the verdict on its CID."""
    return Pinned(cid, size, verification, str(predicted) if verification == "mismatch" else None)
