"""The SDK's front door."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, cast, overload

from pinui.ipfs.jsontext import utf16_length
from pinui.sdk.address import Address
from pinui.sdk.errors import IntegrityError
from pinui.sdk.http import OnProgress
from pinui.sdk.models import (
    Blob,
    ClientConfig,
    ClientMessage,
    ClientRecord,
    ClientSettings,
    OnVerdict,
    StoreOptions,
    Verification,
)
from pinui.sdk.pin_provider import PinProvider, text_of
from pinui.sdk.provider import StorageProvider
from pinui.sdk.sources import Uploadable, look_at
from pinui.sdk.transport import Clock

__all__ = ["Client"]

T = TypeVar("T")


class Client:
    """Stores and reads JSON, files and messages by CID, through a `StorageProvider`.

        async with await Client.init(provider_token=jwt) as client:
            record = await client.store({"hello": "world"})
            value = await client.retrieve(record.cid)

    Nothing is encrypted: who knows a CID can read what it names. What goes wrong is a `PinuiError`: its message says
    what happened, its `hint` what to do. One client serves any number of operations at a time, on one event loop.
    """

    def __init__(self, provider: StorageProvider, *, clock: Clock | None = None) -> None:
        """A client on any provider; `Client.init` makes one on a pinning service."""
        self.provider = provider
        self._clock = clock or Clock()

    @staticmethod
    async def init(config: ClientConfig | None = None, **settings: Unpack[ClientSettings]) -> Client:
        """A client on a `PinProvider`, from a `ClientConfig` or from its fields. Sends nothing.

        Raises `ValueError` for settings that can't be meant.
        """
        if config is None:
            config = ClientConfig(**settings)
        elif settings or not isinstance(config, ClientConfig):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise TypeError("give either a ClientConfig or its fields: Client.init(provider_token=…)")
        return Client(PinProvider(config))

    async def store(self, data: T, options: StoreOptions | None = None) -> ClientRecord[T]:  # noqa: ARG002  # reserved
        """Pin a JSON document. `options` are reserved and have no effect.

        Raises `SerializationError`, before anything is sent, for what JSON can't carry without loss.
        """
        return self._record(*await self._put_json(data), data)

    async def retrieve(self, cid: str, *, on_verdict: OnVerdict | None = None) -> Any:
        """Read a JSON document by CID, or by a URL that contains `/ipfs/`.

        `on_verdict` hears whether the bytes were proven to be what the CID names. Raises `InvalidCID`, `ContentError`
        for what is no JSON, and `IntegrityError` for what is provably something else.
        """
        get_json = cast("Callable[..., Awaitable[Any]]", self.provider.get_json)
        return await get_json(str(Address.parse(cid)), **_given(on_verdict=on_verdict))

    async def upload(
        self,
        file: Uploadable,
        options: StoreOptions | None = None,  # noqa: ARG002  # reserved
        *,
        on_progress: OnProgress | None = None,
    ) -> ClientRecord[None]:
        """Pin a file: a path, bytes, an open binary file or a `Blob`.

        A folder's path pins one directory; folders in it that hold no file can't travel, and are left out. `options`
        are reserved and have no effect. `on_progress(done, total)` hears of each piece that goes out. Raises
        `SourceChanged` where the file changes on the way.
        """
        source = await look_at(file)
        try:
            cid = await self.provider.put_file(source, **_given(on_progress=on_progress))
        finally:
            source.close()
        return self._record(cid, source.size, None)

    @overload
    async def download(
        self, cid: str, *, to: None = None, on_progress: OnProgress | None = None, on_verdict: OnVerdict | None = None
    ) -> Blob: ...
    @overload
    async def download(
        self,
        cid: str,
        *,
        to: str | PathLike[str],
        on_progress: OnProgress | None = None,
        on_verdict: OnVerdict | None = None,
    ) -> Path: ...
    async def download(
        self,
        cid: str,
        *,
        to: str | PathLike[str] | None = None,
        on_progress: OnProgress | None = None,
        on_verdict: OnVerdict | None = None,
    ) -> Blob | Path:
        """Read a file: into memory; or, with `to`, streamed to a path that appears whole or not at all.

        Where `to` is a folder, it goes there under its own name; a folder's CID becomes a folder. `on_progress(done,
        total)` hears of each piece; `on_verdict` hears whether it was proven to be what the CID names.
        """
        get_file = cast("Callable[..., Awaitable[Blob | Path]]", self.provider.get_file)
        arguments = _given(to=to, on_progress=on_progress, on_verdict=on_verdict)
        return await get_file(str(Address.parse(cid)), **arguments)

    async def send(self, recipient_id: str, message: str) -> ClientRecord[ClientMessage]:
        """Store a message. It is public, and delivered to nobody: pass its CID on."""
        if not isinstance(recipient_id, str) or not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise TypeError("recipient and message must be text")
        sent = ClientMessage(recipient_id, message, self._milliseconds())
        return self._record(*await self._put_json(sent.to_json()), sent)

    async def receive(self, cid: str, *, on_verdict: OnVerdict | None = None) -> ClientMessage:
        """Read a message by the CID that `send` returned; `ContentError` for a document that is none."""
        return ClientMessage.from_json(await self.retrieve(cid, on_verdict=on_verdict))

    async def revoke(self, cid: str) -> bool:
        """Remove the provider's pin: True, or an error, also where nothing is pinned. Copies elsewhere may live on."""
        return await self.provider.unpin(str(Address.parse_root(cid)))

    async def test_connection(self) -> bool:
        """Ask the provider whether it accepts the credentials: True, or an error.

        It is a request like any other: no operation needs it first.
        """
        return await self.provider.test_authentication()

    async def aclose(self) -> None:
        """Close the provider's connections; `async with` does so by itself."""
        close = getattr(self.provider, "aclose", None)
        if close is not None:
            await close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _put_json(self, document: Any) -> tuple[str, int]:
        """The CID and the size; what can't be written as JSON is refused before anything is sent."""
        if isinstance(self.provider, PinProvider):  # it writes the text anyway, and tells its size
            pinned = await self.provider.put_json(document)
            return pinned, pinned.json_size or 0
        text = await text_of(document)
        return await self.provider.put_json(document), utf16_length(text)

    def _record(self, cid: str, size: int, data: T) -> ClientRecord[T]:
        verification: Verification | None = getattr(cid, "verification", None)
        record = ClientRecord(
            cid=str.__str__(cid), timestamp=self._milliseconds(), data=data, size=size, verification=verification
        )
        if getattr(self.provider, "requires_proof", False) and verification != "verified":
            raise IntegrityError(
                f"The provider answered {record.cid}, which "
                + ("is not the CID of what was sent" if verification == "mismatch" else "could not be verified"),
                verification="mismatch" if verification == "mismatch" else "unverifiable",
                record=record,
                hint="It is pinned all the same: revoke it, or use verify='try'.",
            )
        return record

    def _milliseconds(self) -> int:
        return int(self._clock.now() * 1000)


def _given(**arguments: Any) -> dict[str, Any]:
    """The arguments that were given: a simple provider needs to know none of the others."""
    return {name: value for name, value in arguments.items() if value is not None}
