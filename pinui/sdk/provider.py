"""The seam between `Client` and a storage service: one Protocol that every provider has, and small ones for the rest.

A provider offers more by implementing further Protocols. `Client` checks for these in one place, and raises
`Unsupported` for an operation that a service lacks.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from os import PathLike
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, overload, runtime_checkable

from pinui.sdk.models import Blob, GatewayStatus, Peek, PeerStatus, Pin, Pinned, Resume, Totals, Verification
from pinui.sdk.transport.http import OnProgress
from pinui.sdk.writing.sources import Uploadable, UploadSource

__all__ = [
    "ChecksGateways",
    "Closable",
    "Connects",
    "ContentStream",
    "CountsPins",
    "DemandsProof",
    "ExportsCars",
    "FindsPins",
    "ImportsCars",
    "KeepsEmptyFolders",
    "ListsPins",
    "Peeks",
    "PinsByCid",
    "PinsFromOrigins",
    "Read",
    "ReadsBlocks",
    "ReadsWithVerdict",
    "RenamesPins",
    "ResumesLists",
    "ResumesUploads",
    "StorageProvider",
    "StoresText",
    "Streams",
    "TellsOrigins",
    "TellsPeers",
    "Verifies",
]

T = TypeVar("T", covariant=True)


@runtime_checkable
class StorageProvider(Protocol):
    """JSON and files by CID, unpinning, and a test of the credentials. Failures are raised, as `PinuiError`.

    >>> isinstance(client.provider, StorageProvider)
    True
    """

    async def put_json(self, data: Any) -> Pinned | str:
        """Pin a JSON document. A bare CID is enough of an answer for a simple provider."""
        ...

    async def get_json(self, cid: str) -> Any:
        """Read a JSON document. `cid` is canonical, and may be followed by a path."""
        ...

    async def put_file(self, file: Uploadable, *, on_progress: OnProgress | None = None) -> Pinned | str:
        """Pin a file, or a folder."""
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


StorageProvider.__module__ = "pinui"  # as people import it


@runtime_checkable
class Closable(Protocol):
    """A provider that holds connections."""

    async def aclose(self) -> None:
        """Close all connections."""
        ...


@runtime_checkable
class DemandsProof(Protocol):
    """A provider that may require proof of its writes."""

    @property
    def requires_proof(self) -> bool:
        """Whether a write without proof is an error."""
        ...


@runtime_checkable
class KeepsEmptyFolders(Protocol):
    """A provider that may take folders without files."""

    @property
    def keeps_empty_folders(self) -> bool:
        """Whether it takes them."""
        ...


@runtime_checkable
class StoresText(Protocol):
    """A provider that takes JSON as text, so that a document is written once."""

    async def put_text(self, text: str) -> Pinned:
        """Pin a JSON document, given as the text that `JSON.stringify` writes."""
        ...


@runtime_checkable
class ResumesUploads(Protocol):
    """A provider that may go on with an upload of an earlier process."""

    async def put_file_resumably(
        self, file: Uploadable, resume: Resume, *, on_progress: OnProgress | None = None
    ) -> Pinned:
        """Pin a file, or a folder; with a handle, the rest of it."""
        ...


class Read(NamedTuple, Generic[T]):
    """A value that was read, and the verdict on its bytes; None if nothing was checked."""

    value: T
    verification: Verification | None


@runtime_checkable
class ReadsWithVerdict(Protocol):
    """Reading with a verdict on the bytes."""

    async def read_json(self, cid: str) -> Read[Any]:
        """Read a JSON document."""
        ...

    async def read_blob(self, cid: str, *, on_progress: OnProgress | None = None) -> Read[Blob]:
        """Read a file into memory."""
        ...

    async def read_to(
        self,
        cid: str,
        to: Path,
        *,
        overwrite: bool = True,
        on_progress: OnProgress | None = None,
        resume: Resume | None = None,
    ) -> Read[Path]:
        """Read a file or a folder to a path."""
        ...


class ContentStream(Protocol):
    """Content on its way. Iterating gives its bytes; an error at the end says that they are not what the CID names.

    >>> async with client.stream(cid) as stream:
    ...     print(stream.size, [piece async for piece in stream])
    5 [b'hello']
    """

    @property
    def type(self) -> str:
        """The media type; empty if unknown."""
        ...

    @property
    def size(self) -> int | None:
        """The total size, if the gateway told it."""
        ...

    @property
    def name(self) -> str:
        """A name that is safe to give to a file."""
        ...

    @property
    def verification(self) -> Verification | None:
        """The verdict on the bytes; None before the end, and if nothing was checked."""
        ...

    def __aiter__(self) -> AsyncIterator[bytes]: ...


ContentStream.__module__ = "pinui"  # as people import it


@runtime_checkable
class Streams(Protocol):
    """Reading piece by piece."""

    def stream(self, cid: str) -> AbstractAsyncContextManager[ContentStream]:
        """Content as it arrives."""
        ...


@runtime_checkable
class Peeks(Protocol):
    """A provider that gives the beginning of content, for previews."""

    async def peek(self, cid: str, limit: int) -> Peek:
        """The first bytes of some content, or what a folder holds."""
        ...


@runtime_checkable
class Verifies(Protocol):
    """Checking content without keeping it."""

    async def verify(self, cid: str, *, on_progress: OnProgress | None = None) -> Verification | None:
        """Read everything and check it; `IntegrityError` on proof of the contrary."""
        ...


@runtime_checkable
class ChecksGateways(Protocol):
    """Asking each gateway by itself."""

    async def check_gateways(self, cid: str) -> tuple[GatewayStatus, ...]:
        """Whether each gateway serves some content, checked with its first block."""
        ...


@runtime_checkable
class ListsPins(Protocol):
    """A provider that lists the pins of the account."""

    def pins(self, *, name: str | None = None, cid: str | None = None) -> AsyncGenerator[Pin]:
        """The pins of the account, newest first if the service has dates."""
        ...


@runtime_checkable
class FindsPins(Protocol):
    """Pins that a list of pins leaves out, since they are requests."""

    async def find(self, cid: str) -> Pin | None:
        """The newest request for a CID in any state."""
        ...


@runtime_checkable
class ResumesLists(Protocol):
    """A provider that may go on with a list of an earlier process."""

    def pins_resumably(self, resume: Resume, *, name: str | None = None, cid: str | None = None) -> AsyncGenerator[Pin]:
        """The pins of the account; with a handle, those behind the last page that was read to its end."""
        ...


@runtime_checkable
class ExportsCars(Protocol):
    """Archives of stored content."""

    async def export_car(
        self, cid: str, to: Path, *, overwrite: bool = True, on_progress: OnProgress | None = None
    ) -> None:
        """Write every block below a CID to a CAR file, verified, all or nothing."""
        ...


@runtime_checkable
class ImportsCars(Protocol):
    """A provider that may store CAR archives."""

    async def takes_cars(self) -> bool:
        """Whether this account can import CARs: some services have an API without them."""
        ...

    async def import_car(self, root: str, archive: UploadSource, *, on_progress: OnProgress | None = None) -> Pinned:
        """Pin the content of a CAR with this one root. The archive's name becomes the pin's."""
        ...


@runtime_checkable
class ReadsBlocks(Protocol):
    """A provider that reads single blocks."""

    async def read_block(self, cid: str) -> bytes:
        """One block, verified."""
        ...


@runtime_checkable
class CountsPins(Protocol):
    """Totals of an account."""

    async def totals(self) -> Totals:
        """The size of the account."""
        ...


@runtime_checkable
class PinsByCid(Protocol):
    """Pinning content that is stored elsewhere."""

    async def pin(self, cid: str, *, name: str | None = None) -> Pin:
        """Ask the service to fetch and keep it."""
        ...


@runtime_checkable
class PinsFromOrigins(Protocol):
    """Pinning content whose servers are known."""

    async def pin_from(self, cid: str, origins: Sequence[str], *, name: str | None = None) -> Pin:
        """Ask the service to fetch content from these multiaddrs, and keep it."""
        ...


@runtime_checkable
class TellsOrigins(Protocol):
    """Daemons on the IPFS network."""

    async def origins(self) -> tuple[str, ...]:
        """The multiaddrs at which other daemons can fetch the content of this service; empty if it is offline."""
        ...


@runtime_checkable
class Connects(Protocol):
    """A daemon that connects to others on request."""

    async def connect_to(self, origins: Sequence[str]) -> bool:
        """Whether it is connected to one of these multiaddrs now, or is one of them."""
        ...


@runtime_checkable
class TellsPeers(Protocol):
    """Pins that several peers keep."""

    async def status(self, cid: str) -> tuple[PeerStatus, ...]:
        """The peers that keep a pin, or will, and its state at each; empty if it isn't pinned."""
        ...

    async def copies(self, cids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """On how many peers each of these pins is, and on how many it should be."""
        ...


@runtime_checkable
class RenamesPins(Protocol):
    """Names at the service."""

    async def rename(self, cid: str, name: str) -> None:
        """Give a pin another name."""
        ...
