"""The SDK's front door."""

from __future__ import annotations

import asyncio
import errno
import os
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar, Unpack, cast, overload

from pinui.ipfs.jsontext import utf16_length
from pinui.sdk.address import Address
from pinui.sdk.errors import IntegrityError, Unsupported
from pinui.sdk.models import (
    Blob,
    ClientConfig,
    ClientMessage,
    ClientRecord,
    ClientSettings,
    GatewayStatus,
    LeftOut,
    OnVerdict,
    Peek,
    PeerStatus,
    Pin,
    Pinned,
    Resume,
    StoreOptions,
    Totals,
    Verification,
    hide_secrets,
)
from pinui.sdk.provider import (
    ChecksGateways,
    Closable,
    Connects,
    ContentStream,
    CountsPins,
    DemandsProof,
    ExportsCars,
    FindsPins,
    ImportsCars,
    KeepsEmptyFolders,
    ListsPins,
    Peeks,
    PinsByCid,
    PinsFromOrigins,
    Read,
    ReadsBlocks,
    ReadsWithVerdict,
    RenamesPins,
    ResumesLists,
    ResumesUploads,
    StorageProvider,
    StoresText,
    Streams,
    TellsOrigins,
    TellsPeers,
    Verifies,
)
from pinui.sdk.providers.pinning import PinProvider
from pinui.sdk.stored_json import message_from, text_of
from pinui.sdk.transport.http import OnProgress
from pinui.sdk.transport.transport import Clock
from pinui.sdk.writing.archives import open_archives
from pinui.sdk.writing.folder_rules import FolderRules
from pinui.sdk.writing.sources import Uploadable, look_at

__all__ = ["Client"]

T = TypeVar("T")


class _Watched(TypedDict, total=False):
    on_progress: OnProgress


class Client:
    """Stores and reads JSON, files and messages by CID, through a `StorageProvider`.

    >>> async with await Client.init(**settings) as client:  # provider_token=…
    ...     record = await client.store({"hello": "world"})
    ...     print(record.cid, await client.retrieve(record.cid))
    QmNrEidQrAbxx3FzxNt9E6qjEDZrtvzxUVh47BXm55Zuen {'hello': 'world'}

    Nothing is encrypted: anyone with the CID can read the content. Failures are `PinuiError`s: the message says
    what happened, `hint` says what to do. One client serves any number of operations at a time, on one event loop.
    """

    def __init__(self, provider: StorageProvider, *, clock: Clock | None = None) -> None:
        """A client on any provider; `Client.init` makes one on a pinning service."""
        self.provider = provider
        self._clock = clock or Clock()

    @classmethod
    async def init(cls, config: ClientConfig | None = None, **settings: Unpack[ClientSettings]) -> Self:
        """A client on the service that a `ClientConfig`, or its fields, describe. Sends nothing.

        Raises `ValueError` for settings that make no sense.

        >>> client = await Client.init(provider="kubo")  # the daemon on this machine
        >>> await client.aclose()
        """
        hide_secrets(cast("dict[str, Any]", settings))
        if config is None:
            config = ClientConfig(**settings)
        elif settings or not isinstance(config, ClientConfig):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise TypeError("give either a ClientConfig or its fields: Client.init(provider_token=…)")
        return cls(_provider_for(config))

    # Documents and messages

    async def store(self, data: T, options: StoreOptions | None = None) -> ClientRecord[T]:  # noqa: ARG002  # reserved
        """Pin a JSON document. `options` are reserved and have no effect.

        Raises `SerializationError`, before anything is sent, for values that JSON can't carry without loss.

        >>> record = await client.store({"hello": "world"})
        >>> record.cid, record.size
        ('QmNrEidQrAbxx3FzxNt9E6qjEDZrtvzxUVh47BXm55Zuen', 17)
        """
        return self._record(await self._put_json(data), data)

    async def retrieve(self, cid: str, *, on_verdict: OnVerdict | None = None) -> Any:
        """Read a JSON document by CID, or by a URL that contains `/ipfs/`.

        `on_verdict` gets the verdict on the bytes. Raises `InvalidCID`, `ContentError` for content that is not JSON,
        and `IntegrityError` for bytes that provably don't match the CID.

        >>> record = await client.store([1, 2])
        >>> await client.retrieve(f"https://gateway.example/ipfs/{record.cid}")
        [1, 2]
        """
        address = str(Address.parse(cid))
        if not isinstance(self.provider, ReadsWithVerdict):
            return _told(Read(await self.provider.get_json(address), None), on_verdict)
        return _told(await self.provider.read_json(address), on_verdict)

    async def send(self, recipient_id: str, message: str) -> ClientRecord[ClientMessage]:
        """Store a message. It is public and is not delivered: share the CID yourself.

        >>> record = await client.send("alice", "hello")
        >>> record.data.payload
        'hello'
        """
        if not isinstance(recipient_id, str) or not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise TypeError("recipient and message must be text")
        sent = ClientMessage(recipient_id, message, self._milliseconds())
        return self._record(await self._put_json(sent.to_json()), sent)

    async def receive(self, cid: str, *, on_verdict: OnVerdict | None = None) -> ClientMessage:
        """Read a message by the CID that `send` returned; `ContentError` for any other document.

        >>> record = await client.send("alice", "hello")
        >>> (await client.receive(record.cid)).recipient_id
        'alice'
        """
        return message_from(await self.retrieve(cid, on_verdict=on_verdict))

    # Files

    async def upload(
        self,
        file: Uploadable,
        options: StoreOptions | None = None,  # noqa: ARG002  # reserved
        *,
        hidden: bool = False,
        follow_links: bool = False,
        exclude: Sequence[str] | None = (),
        on_progress: OnProgress | None = None,
        resume: Resume | None = None,
    ) -> ClientRecord[None]:
        """Pin a file: a path, bytes, an open binary file or a `Blob`.

        A folder's path pins one directory. Hidden names and links in the folder are left out; `hidden` takes hidden
        names, `follow_links` takes the targets of links. Patterns in `exclude` and in the folder's `.ipfsignore` leave
        out names by the rules of a `.gitignore`; with None, that file has no effect. Empty folders are kept where the
        service can take them. The record's `left_out` counts everything that was left out. `options` are reserved and
        have no effect. `on_progress(done, total)` is called for each piece that goes out. `resume` goes on with an
        upload of an earlier process, where the service can. Raises `SourceChanged` if the file changes on the way.

        >>> record = await client.upload(b"hello")
        >>> record.size, record.verification
        (5, 'verified')
        """
        keeps_empty = isinstance(self.provider, KeepsEmptyFolders) and self.provider.keeps_empty_folders
        rules = FolderRules(hidden, follow_links, exclude)
        source = await look_at(file, rules, empty_folders=keeps_empty)
        try:
            # A simple provider may know nothing of progress.
            watched = _Watched() if on_progress is None else _Watched(on_progress=on_progress)
            if resume is not None and isinstance(self.provider, ResumesUploads):
                pinned = await self.provider.put_file_resumably(source, resume, **watched)
            else:
                pinned = await self.provider.put_file(source, **watched)
        finally:
            source.close()
        pinned = pinned if isinstance(pinned, Pinned) else Pinned(pinned, source.size)
        return self._record(pinned, None, source.left_out)

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
        overwrite: bool = True,
        on_progress: OnProgress | None = None,
        on_verdict: OnVerdict | None = None,
        resume: Resume | None = None,
    ) -> Path: ...
    async def download(
        self,
        cid: str,
        *,
        to: str | PathLike[str] | None = None,
        overwrite: bool = True,
        on_progress: OnProgress | None = None,
        on_verdict: OnVerdict | None = None,
        resume: Resume | None = None,
    ) -> Blob | Path:
        """Read a file: into memory; or, with `to`, streamed to a path that appears when it is complete.

        Where `to` is a folder, the content goes into it under its own name; a folder's CID becomes a folder. An
        existing file is replaced by a file, unless `overwrite` is False; an existing folder never is, and a folder
        replaces nothing. `FileExistsError` names the file in the way. `on_progress(done, total)` is called for each
        piece; `on_verdict` gets the verdict on the content. With `resume`, the bytes of a download that breaks off are
        kept beside `to`, and another process can go on with them.

        >>> (await client.download(cid)).data
        b'hello'
        >>> path = await client.download(cid, to=folder / "hello.txt")
        >>> path.read_text()
        'hello'
        """
        address, provider = str(Address.parse(cid)), self.provider
        if isinstance(provider, ReadsWithVerdict):
            if to is None:
                return _told(await provider.read_blob(address, on_progress=on_progress), on_verdict)
            path = Path(fspath(to))
            read = await provider.read_to(address, path, overwrite=overwrite, on_progress=on_progress, resume=resume)
            return _told(read, on_verdict)
        if not overwrite:
            raise _unsupported("tell whether a file is in the way")
        watched = _Watched() if on_progress is None else _Watched(on_progress=on_progress)
        read = provider.get_file(address, **watched) if to is None else provider.get_file(address, to=to, **watched)
        return _told(Read(await read, None), on_verdict)

    @asynccontextmanager
    async def stream(self, cid: str) -> AsyncGenerator[ContentStream]:
        """Content as it arrives, in constant memory.

        >>> async with client.stream(cid) as stream:
        ...     async for piece in stream:
        ...         print(piece)
        b'hello'

        If the gateway serves blocks, each is verified before a byte of it is passed on. Otherwise the verdict comes at
        the end, as an `IntegrityError` if the bytes don't match the CID.
        """
        if not isinstance(self.provider, Streams):
            raise _unsupported("stream content")
        async with self.provider.stream(str(Address.parse(cid))) as stream:
            yield stream

    async def peek(self, cid: str, *, limit: int = 262_144) -> Peek:
        """The first bytes of some content, its type and size, or what a folder holds. A beginning is not verified.

        >>> (await client.peek(cid, limit=2)).data
        b'he'
        """
        if not isinstance(self.provider, Peeks):
            raise _unsupported("show a preview")
        return await self.provider.peek(str(Address.parse(cid)), limit)

    async def verify(self, cid: str, *, on_progress: OnProgress | None = None) -> Verification | None:
        """Read all of some content and check it, keeping nothing: `verified` or `unverifiable`.

        Raises `IntegrityError` on proof of the contrary. None with `verify="off"`.

        >>> await client.verify(cid)
        'verified'
        """
        if not isinstance(self.provider, Verifies):
            raise _unsupported("verify content")
        return await self.provider.verify(str(Address.parse(cid)), on_progress=on_progress)

    async def block(self, cid: str) -> bytes:
        """The block that a CID names, verified.

        >>> len(await client.block(cid))  # the file, and the few bytes around it
        13
        """
        if not isinstance(self.provider, ReadsBlocks):
            raise _unsupported("read blocks")
        return await self.provider.read_block(str(Address.parse_root(cid)))

    async def check_gateways(self, cid: str) -> tuple[GatewayStatus, ...]:
        """Whether each configured gateway serves some content: its first block is read and verified.

        >>> [gateway.state for gateway in await client.check_gateways(cid)]
        ['serves']
        """
        if not isinstance(self.provider, ChecksGateways):
            raise _unsupported("tell which gateways serve content")
        return await self.provider.check_gateways(str(Address.parse_root(cid)))

    # Archives

    async def export_car(
        self, cid: str, to: str | PathLike[str], *, overwrite: bool = True, on_progress: OnProgress | None = None
    ) -> Path:
        """Write all blocks of some content to a CAR file, each verified; the file appears whole or not at all.

        >>> path = await client.export_car(cid, folder / "hello.car")
        >>> path.name
        'hello.car'
        """
        if not isinstance(self.provider, ExportsCars):
            raise _unsupported("export archives")
        path = Path(fspath(to))
        if not overwrite and await asyncio.to_thread(path.exists):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        root = str(Address.parse_root(cid))
        await self.provider.export_car(root, path, overwrite=overwrite, on_progress=on_progress)
        return path

    async def takes_archives(self) -> bool:
        """Whether the service imports CAR files.

        >>> await client.takes_archives()
        True
        """
        return isinstance(self.provider, ImportsCars) and await self.provider.takes_cars()

    async def import_car(
        self,
        file: str | PathLike[str],
        *,
        name: str | None = None,
        exported: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> list[ClientRecord[None]]:
        """Pin the content of a CAR file, of each of its roots. Every block is verified before anything is sent.

        `name` is the name at the service; by default the file's. `exported` is the CID of an archive that
        `export_car` has just written and verified, so that it isn't verified again.

        >>> archive = await client.export_car(cid, folder / "hello.car")
        >>> [record.cid == cid for record in await client.import_car(archive)]
        [True]
        """
        if not isinstance(self.provider, ImportsCars):
            raise _unsupported("import archives")
        name = Path(fspath(file)).name if name is None else name
        if exported is not None:
            source = replace(await look_at(Path(fspath(file))), name=name)
            root = str(Address.parse_root(exported))
            return [self._record(await self.provider.import_car(root, source, on_progress=on_progress), None)]
        records: list[ClientRecord[None]] = []
        with tempfile.TemporaryDirectory(prefix="pinui-") as scratch:
            for archive in await asyncio.to_thread(open_archives, Path(fspath(file)), Path(scratch)):
                source = replace(await look_at(archive.path), name=name)
                pinned = await self.provider.import_car(str(archive.root), source, on_progress=on_progress)
                records.append(self._record(pinned, None, LeftOut() if archive.is_folder else None))
        return records

    # The account

    async def pins(
        self, *, name: str | None = None, cid: str | None = None, resume: Resume | None = None
    ) -> AsyncGenerator[Pin]:
        """The pins of the account, newest first if the service has dates; without queued requests.

        `name` keeps pins whose name contains it, `cid` those of that content. `resume` hands out a text
        for each page that was read to its end, and goes on behind it; a service without pages begins again.

        >>> async for pin in client.pins():
        ...     print(pin.cid == cid, pin.status)
        True pinned
        """
        if not isinstance(self.provider, ListsPins):
            raise _unsupported("list pins")
        wanted = None if cid is None else str(Address.parse_root(cid))
        if resume is not None and isinstance(self.provider, ResumesLists):
            pins = self.provider.pins_resumably(resume, name=name, cid=wanted)
        else:
            pins = self.provider.pins(name=name, cid=wanted)
        async with aclosing(pins) as listing:
            async for pin in listing:
                yield pin

    async def find(self, cid: str) -> Pin | None:
        """The pin of a CID, also one that the service is still fetching or gave up; None if there is none.

        >>> (await client.find(cid)).status
        'pinned'
        """
        if isinstance(self.provider, FindsPins):
            return await self.provider.find(str(Address.parse_root(cid)))
        async with aclosing(self.pins(cid=cid)) as found:
            return await anext(found, None)

    async def totals(self) -> Totals:
        """The number and the total size of the account's pins.

        >>> (await client.totals()).pins
        1
        """
        if not isinstance(self.provider, CountsPins):
            raise _unsupported("count pins")
        return await self.provider.totals()

    async def pin(self, cid: str, *, name: str | None = None, origins: Sequence[str] = ()) -> Pin:
        """Ask the service to keep content that is stored elsewhere; the pin's `status` tells its progress.

        `origins` are multiaddrs of daemons that have it, where the service takes those.

        >>> (await client.pin(cid, name="greeting")).status
        'pinned'
        """
        if origins and isinstance(self.provider, PinsFromOrigins):
            return await self.provider.pin_from(str(Address.parse_root(cid)), origins, name=name)
        if not isinstance(self.provider, PinsByCid):
            raise _unsupported("pin by CID")
        return await self.provider.pin(str(Address.parse_root(cid)), name=name)

    async def origins(self) -> tuple[str, ...]:
        """The multiaddrs at which daemons can fetch the content of this service; empty if there are none.

        >>> await client.origins()
        ()
        """
        return await self.provider.origins() if isinstance(self.provider, TellsOrigins) else ()

    async def connect_to(self, origins: Sequence[str]) -> bool:
        """Whether the service's daemon is connected to one of these multiaddrs now. False for other services.

        >>> await client.connect_to(["/ip4/127.0.0.1/tcp/4001"])
        False
        """
        return isinstance(self.provider, Connects) and await self.provider.connect_to(origins)

    async def rename(self, cid: str, name: str) -> None:
        """Give a pin another name at the service.

        >>> await client.rename(cid, "greeting")
        >>> (await client.find(cid)).name
        'greeting'
        """
        if not isinstance(self.provider, RenamesPins):
            raise _unsupported("rename a pin")
        await self.provider.rename(str(Address.parse_root(cid)), name)

    async def status(self, cid: str) -> tuple[PeerStatus, ...]:
        """The peers of a cluster that keep a pin, or will, and its state at each; empty if it isn't pinned.

        >>> await client.status(cid)  # at a service that is no cluster
        Traceback (most recent call last):
        pinui.Unsupported: This service can't tell where a pin is kept
        """
        if not isinstance(self.provider, TellsPeers):
            raise _unsupported("tell where a pin is kept")
        return await self.provider.status(str(Address.parse_root(cid)))

    async def copies(self, cids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """On how many peers of a cluster each of these pins is, and on how many it should be; in one request.

        >>> await client.copies([cid])  # at a service that is no cluster
        Traceback (most recent call last):
        pinui.Unsupported: This service can't tell where a pin is kept
        """
        if not isinstance(self.provider, TellsPeers):
            raise _unsupported("tell where a pin is kept")
        return await self.provider.copies([Address.parse_root(cid).cid for cid in cids])

    async def revoke(self, cid: str) -> bool:
        """Remove the provider's pin: True, or an error, also where nothing is pinned. Copies elsewhere may live on.

        >>> await client.revoke(cid)
        True
        """
        return await self.provider.unpin(str(Address.parse_root(cid)))

    async def test_connection(self) -> bool:
        """Ask the provider whether it accepts the credentials: True, or an error.

        It is a request like any other: no operation needs it first.

        >>> await client.test_connection()
        True
        """
        return await self.provider.test_authentication()

    async def aclose(self) -> None:
        """Close the provider's connections; `async with` does so by itself.

        >>> await client.aclose()
        """
        if isinstance(self.provider, Closable):
            await self.provider.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _put_json(self, document: Any) -> Pinned:
        """A value that can't be written as JSON is refused before anything is sent."""
        text = await text_of(document)
        if isinstance(self.provider, StoresText):
            return await self.provider.put_text(text)
        pinned = await self.provider.put_json(document)
        return pinned if isinstance(pinned, Pinned) else Pinned(pinned, utf16_length(text))

    def _record(self, pinned: Pinned, data: T, left_out: LeftOut | None = None) -> ClientRecord[T]:
        verification = pinned.verification
        record = ClientRecord(
            cid=pinned.cid,
            timestamp=self._milliseconds(),
            data=data,
            size=pinned.size,
            verification=verification,
            expected=pinned.expected,
            left_out=left_out,
        )
        if verification == "verified":
            return record
        if isinstance(self.provider, DemandsProof) and self.provider.requires_proof:
            raise IntegrityError(
                f"The provider answered {record.cid}, which "
                + ("is not the CID of the sent bytes" if verification == "mismatch" else "could not be verified"),
                verification="mismatch" if verification == "mismatch" else "unverifiable",
                record=record,
                hint="It is pinned nevertheless: revoke it, or use verify='try'.",
            )
        return record

    def _milliseconds(self) -> int:
        return int(self._clock.now() * 1000)


def _provider_for(config: ClientConfig) -> StorageProvider:
    """The provider that a configuration names. Each costs its import when it is first asked for."""
    match config.provider:
        case "kubo":
            from pinui.sdk.providers.kubo import KuboProvider

            return KuboProvider(config)
        case "cluster":
            from pinui.sdk.providers.cluster import ClusterProvider

            return ClusterProvider(config)
        case "psa":
            from pinui.sdk.providers.psa import PsaProvider

            return PsaProvider(config)
        case "pinning" | "provider_b" | "provider_c":
            return PinProvider(config)


def _told(read: Read[T], on_verdict: OnVerdict | None) -> T:
    if on_verdict is not None:
        on_verdict(read.verification)
    return read.value


def _unsupported(what: str) -> Unsupported:
    return Unsupported(f"This service can't {what}")


Client.__module__ = "pinui"
