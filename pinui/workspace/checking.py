"""Reading content back only to check it: nothing is kept, and where it can be helped nothing is written."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinui.sdk.client import Client
    from pinui.sdk.models import Verification
    from pinui.workspace.transfers import Progress

__all__ = ["check_content"]


async def check_content(client: Client, address: str, *, on_progress: Progress | None = None) -> Verification | None:
    """Whether the bytes are what the address names; a proven mismatch is an `IntegrityError`."""
    from pinui.sdk.errors import ContentError, IntegrityError, NetworkError

    verdicts: list[Verification | None] = []
    provider: Any = client.provider
    nowhere = _Nowhere()
    try:
        await provider.pour(address, nowhere, on_progress=on_progress, on_verdict=verdicts.append)
    except (ContentError, IntegrityError):
        pass  # a folder; or a gateway after whose bytes no other could be asked
    except NetworkError:
        if not nowhere.passed:
            raise
    else:
        if verdicts[-1:] != ["unverifiable"]:
            return verdicts[-1] if verdicts else None
    # What has passed by can't be looked at once more, or begun anew. On a disk it can.
    with await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="pinui-") as folder:
        await client.download(address, to=Path(folder, "content"), on_progress=on_progress, on_verdict=verdicts.append)
    return verdicts[-1] if verdicts else None


class _Nowhere:
    """Takes everything and keeps nothing."""

    passed = 0

    def write(self, data: Any, /) -> int:
        size = len(memoryview(data))
        self.passed += size
        return size

    def flush(self) -> None:
        pass
