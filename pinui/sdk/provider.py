"""The seam between `Client` and whatever stores the content."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Protocol, overload, runtime_checkable

from pinui.sdk.http import OnProgress
from pinui.sdk.models import Blob
from pinui.sdk.sources import Uploadable

__all__ = ["StorageProvider"]


@runtime_checkable
class StorageProvider(Protocol):
    """JSON and files by CID, unpinning, and a test of the credentials. Failures are raised, as `PinuiError`.

    A provider that holds connections has an `aclose()`, which `Client` calls.
    """

    async def put_json(self, data: Any) -> str:
        """Pin a JSON document; returns its CID."""
        ...

    async def get_json(self, cid: str) -> Any:
        """Read a JSON document. `cid` is canonical, and may be followed by a path."""
        ...

    async def put_file(self, file: Uploadable, *, on_progress: OnProgress | None = None) -> str:
        """Pin a file, or a folder; returns its CID."""
        ...

    @overload
    async def get_file(self, cid: str, *, to: None = None, on_progress: OnProgress | None = None) -> Blob: ...
    @overload
    async def get_file(self, cid: str, *, to: str | PathLike[str], on_progress: OnProgress | None = None) -> Path: ...
    async def get_file(
        self, cid: str, *, to: str | PathLike[str] | None = None, on_progress: OnProgress | None = None
    ) -> Blob | Path:
        """Read a file into memory, or to a path."""
        ...

    async def unpin(self, cid: str) -> bool:
        """Remove the pin; True, or an error."""
        ...

    async def test_authentication(self) -> bool:
        """Ask whether the credentials are accepted; True, or an error."""
        ...
