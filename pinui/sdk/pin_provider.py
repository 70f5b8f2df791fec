"""The provider that speaks the pinning HTTP API for writes and reads through an IPFS gateway."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, overload

from pinui.ipfs.check import compare_prediction
from pinui.ipfs.cid import Cid
from pinui.ipfs.importer import ImportProfile
from pinui.ipfs.jsontext import NotJSON, is_small, parse, stringify, utf16_length
from pinui.ipfs.verifier import FolderEntry
from pinui.sdk import wire
from pinui.sdk.address import Address
from pinui.sdk.behind import QUICK_TO_HASH
from pinui.sdk.errors import ContentError, PinuiError, ProviderError, SerializationError
from pinui.sdk.folders import FolderCounter, FolderWriter
from pinui.sdk.http import Breakdown, Head, OnProgress, Rejection, Request, SecretHeader
from pinui.sdk.models import Blob, ClientConfig, OnVerdict, Timeouts, Verification
from pinui.sdk.multipart import Multipart
from pinui.sdk.names import name_of_reply, safe_name
from pinui.sdk.prediction import PinnedCid, UploadPrediction, predict_text, profile_for
from pinui.sdk.ranges import whole_size
from pinui.sdk.reading import GatewayReader
from pinui.sdk.secret import Secret
from pinui.sdk.sinks import CountingSink, FileSink, MemorySink, PipeSink
from pinui.sdk.sources import Uploadable, look_at
from pinui.sdk.transport import Clock, Transport

__all__ = ["Peek", "PinProvider", "json_text", "text_of"]

# An answer of the API is a few hundred bytes; a page of a listing some hundred thousand.
LARGEST_ANSWER = 4 * 1024 * 1024
# A lost reply to something this small is simply asked for again; pinning it twice is pinning it once.
CHEAP_TO_REPEAT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Peek:
    """The beginning of some content."""

    data: bytes
    type: str
    total: int | None
    """The size of the whole, where the gateway told it."""
    entries: tuple[FolderEntry, ...] | None = None
    """What a folder holds, for a CID that names one."""

    @property
    def truncated(self) -> bool:
        """Whether there is more."""
        return self.total is None or self.total > len(self.data)


class PinProvider:
    """A `StorageProvider` on the pinning API and a gateway."""

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        self.config = config
        self._clock = clock or Clock()
        self._api = config.pin_api_url or ""
        self._token = SecretHeader("Authorization", Secret(config.provider_token), self._api, scheme="Bearer")
        self._transport = Transport(
            Timeouts.of(config.timeout),
            retries=config.retries,
            allow_insecure=config.allow_insecure,
            on_wait=config.on_wait,
            clock=self._clock,
            transport=config.transport,
        )
        self._verifies = config.verify != "off"
        self.requires_proof = config.verify == "require"
        """Whether a write whose answer is in doubt is an error; `Client` raises it, with the record."""
        self._reader = GatewayReader(config, self._transport, self._clock)

    async def put_json(self, data: Any) -> PinnedCid:
        """Pin a JSON document; returns the CID that the provider answered."""
        text = await text_of(data)
        body = wire.pin_json_body(
            text,
            name=f"client-{int(self._clock.now() * 1000)}",
            dialect=self.config.wire_dialect,
            cid_version=self.config.cid_version,
        )
        request = Request(
            "POST",
            f"{self._api}/pinning/pinJSONToIPFS",
            {"Content-Type": "application/json"},
            body,
            self._token,
            is_api_call=True,
        )
        profile = profile_for(self.config.cid_version)
        cid = await self._pin(request, len(body), lambda: predict_text(text, profile)[0])
        pinned = self._pinned(cid, await self._verdict_on_text(cid, text, profile))
        pinned.json_size = utf16_length(text)
        return pinned

    async def put_file(self, file: Uploadable, *, on_progress: OnProgress | None = None) -> PinnedCid:
        """Pin a file, or a folder as one directory; returns the CID that the provider answered."""
        source = await look_at(file)
        version = self.config.cid_version
        fields = [] if version is None else [wire.options_field(self.config.wire_dialect, version)]
        wants_prediction = self._verifies or source.size > CHEAP_TO_REPEAT
        prediction = UploadPrediction(source, profile_for(version)) if wants_prediction else None
        body = Multipart(source.parts, fields, on_progress, prediction)
        request = Request(
            "POST",
            f"{self._api}/pinning/pinFileToIPFS",
            {"Content-Type": body.content_type},
            body,
            self._token,
            is_api_call=True,
            transfer=True,
        )
        try:
            cid = await self._pin(request, source.size, prediction.cid if prediction is not None else lambda: None)
        finally:
            source.close()
        return self._pinned(cid, prediction.verdict(cid) if prediction is not None and self._verifies else None)

    async def _pin(self, request: Request, size: int, predict: Callable[[], Cid | None]) -> str:
        """The CID that the provider answered; or, where the answer was lost, the one it turned out to have."""
        # A large body is sent again only after the provider was asked whether the first one arrived.
        is_done = (lambda: self._is_pinned(predict)) if size > CHEAP_TO_REPEAT else None
        sink = MemorySink(LARGEST_ANSWER)
        outcome = await self._transport.perform(request, sink, is_done=is_done)
        if outcome.already_done:
            return str(await asyncio.to_thread(predict))
        if isinstance(outcome.result, Head):
            return wire.read_pinned_cid(outcome.result.status, sink.data)
        raise self._error(outcome.result)

    async def _is_pinned(self, predict: Callable[[], Cid | None]) -> bool:
        """Whether the provider has what a lost reply was about. Where it can't be told, sending again is harmless."""
        cid = await asyncio.to_thread(predict)
        if cid is None:
            return False
        query = f"status=pinned&pageLimit=10&hashContains={cid}"
        request = Request("GET", f"{self._api}/data/pinList?{query}", credential=self._token, is_api_call=True)
        try:
            _status, answer = await self._call(request)
        except PinuiError:
            return False
        return wire.lists_cid(answer, cid)

    async def get_json(self, cid: str, *, on_verdict: OnVerdict | None = None) -> Any:
        """Read a JSON document. `on_verdict` hears whether the bytes were proven to be what the CID names."""
        address = Address.parse(cid)
        sink = MemorySink(
            self.config.max_json_bytes, what="The document", hint="Download it as a file, or raise max_json_bytes."
        )
        result = await self._reader.read(address, sink)
        if on_verdict is not None:
            on_verdict(result.verification)
        data = sink.data
        try:
            return parse(data) if len(data) < QUICK_TO_HASH else await asyncio.to_thread(parse, data)
        except NotJSON as error:
            reason = error.reason
        raise ContentError(f"{address} is not JSON: {reason}", hint="If it is a file, download it.")

    @overload
    async def get_file(
        self, cid: str, *, to: None = None, on_progress: OnProgress | None = None, on_verdict: OnVerdict | None = None
    ) -> Blob: ...
    @overload
    async def get_file(
        self,
        cid: str,
        *,
        to: str | PathLike[str],
        on_progress: OnProgress | None = None,
        on_verdict: OnVerdict | None = None,
    ) -> Path: ...
    async def get_file(
        self,
        cid: str,
        *,
        to: str | PathLike[str] | None = None,
        on_progress: OnProgress | None = None,
        on_verdict: OnVerdict | None = None,
    ) -> Blob | Path:
        """Read a file into memory; or, with `to`, to a path (into a folder: under its own name), all or nothing.

        A CID that names a folder becomes a folder at `to`.
        """
        address = Address.parse(cid)
        name = safe_name(address.name, address.cid)
        if to is None:
            hint = "Use download(cid, to=…), which needs no memory, or raise max_blob_bytes."
            sink = MemorySink(self.config.max_blob_bytes, what="The file", hint=hint, on_progress=on_progress)
            result = await self._reader.read(address, sink, transfer=True)
            head = result.head
            if on_verdict is not None:
                on_verdict(result.verification)
            return Blob(sink.data, head.headers.get("content-type", ""), name_of_reply(head, name), result.verification)
        path = Path(os.fsdecode(to))
        file = FileSink(path, name, on_progress)
        folder = FolderWriter(path, name, on_progress)
        try:
            result = await self._reader.read(address, file, transfer=True, folder=folder)
            if on_verdict is not None:
                on_verdict(result.verification)
            return await (asyncio.to_thread(folder.commit) if result.is_folder else file.commit())
        finally:
            # Shielded: a second cancel doesn't keep the temporary file from being removed.
            await asyncio.shield(asyncio.to_thread(_discard, file, folder))

    async def pour(
        self,
        cid: str,
        into: BinaryIO,
        *,
        on_progress: OnProgress | None = None,
        on_verdict: OnVerdict | None = None,
    ) -> None:
        """Read a file into an open one, such as a pipe, as it arrives.

        Where the gateway gives blocks, each is proven before a byte of it is written. Elsewhere the verdict comes at
        the end: an `IntegrityError` then says that what was written is worth nothing.
        """
        address = Address.parse(cid)
        sink = PipeSink(into, on_progress)
        result = await self._reader.read(address, sink, transfer=True, blocks_first=True)
        await sink.finish()
        if on_verdict is not None:
            on_verdict(result.verification)

    async def verify(self, cid: str, *, on_progress: OnProgress | None = None) -> Verification | None:
        """Read a file or a folder only to check it; nothing is kept or written. A proven mismatch is an error."""
        address = Address.parse(cid)
        folder = FolderCounter(on_progress)
        result = await self._reader.read(
            address, CountingSink(on_progress), transfer=True, folder=folder, blocks_first=True
        )
        return result.verification

    async def peek(self, cid: str, limit: int) -> Peek:
        """The first bytes of some content, its type and size, or a folder's listing: enough to show what it is."""
        address = Address.parse(cid)
        sink = MemorySink(limit, cut=True)
        try:
            head = await self._reader.peek(address, sink, limit)
        except ProviderError as error:
            if error.status != 416:
                raise
            return Peek(b"", "", 0)  # of nothing there is no first byte
        peek = Peek(sink.data, head.headers.get("content-type", ""), whole_size(head))
        if not head.is_listing and (not peek.truncated or head.media_type != "text/html"):
            return peek
        # A listing that a gateway made for a browser, or a page that could be one: ask for the folder itself.
        listing = await self._reader.list_folder(address)
        if listing is None:
            return peek
        return replace(peek, entries=tuple(sorted(listing, key=lambda entry: entry.name)))  # large ones come by hash

    async def unpin(self, cid: str) -> bool:
        """Remove the pin. What was not pinned is a `ProviderError`, unless our own lost try may have removed it."""
        address = Address.parse_root(cid)
        request = Request(
            "DELETE", f"{self._api}/pinning/unpin/{address.cid}", credential=self._token, is_api_call=True
        )
        outcome = await self._transport.perform(request, MemorySink(LARGEST_ANSWER))
        if not isinstance(outcome.result, Head):
            error = self._error(outcome.result)
            if not (outcome.maybe_done and isinstance(error, ProviderError) and wire.is_not_pinned(error)):
                raise error
        self._reader.forget_pinned(address.cid)
        return True

    async def test_authentication(self) -> bool:
        """Ask the API whether it accepts the token. It says nothing of what the token may do."""
        request = Request("GET", f"{self._api}/data/testAuthentication", credential=self._token, is_api_call=True)
        # Who tests wants to hear how things stand now, not after patience: one more try, for a mere hiccup.
        status, answer = await self._call(request, retries=min(self.config.retries, 1))
        return wire.read_authentication(status, answer)

    async def account_totals(self) -> wire.AccountTotals:
        """How much the account holds."""
        request = Request("GET", f"{self._api}/data/userPinnedDataTotal", credential=self._token, is_api_call=True)
        status, answer = await self._call(request)
        return wire.read_totals(status, answer)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    async def _call(self, request: Request, *, retries: int | None = None) -> tuple[int, bytes]:
        """One call of the API: status and body, or an error."""
        sink = MemorySink(LARGEST_ANSWER)
        outcome = await self._transport.perform(request, sink, retries=retries)
        if isinstance(outcome.result, Head):
            return outcome.result.status, sink.data
        raise self._error(outcome.result)

    async def _verdict_on_text(self, cid: str, text: str, profile: ImportProfile) -> Verification | None:
        if not self._verifies:
            return None
        predicted = (
            predict_text(text, profile)
            if len(text) < QUICK_TO_HASH
            else await asyncio.to_thread(predict_text, text, profile)
        )
        return compare_prediction(cid, *predicted)

    def _pinned(self, cid: str, verification: Verification | None) -> PinnedCid:
        self._reader.remember_pinned(cid)
        return PinnedCid.of(cid, verification)

    def _error(self, result: Rejection | Breakdown) -> PinuiError:
        if isinstance(result, Breakdown):
            return wire.network_error(result)
        return wire.provider_error(result, now=self._clock.now(), has_token=bool(self._token.secret))


def _discard(file: FileSink, folder: FolderWriter) -> None:
    file.discard()
    folder.discard()


async def text_of(data: Any) -> str:
    """`json_text`, in a thread where it would hold up the loop."""
    return json_text(data) if is_small(data) else await asyncio.to_thread(json_text, data)


def json_text(data: Any) -> str:
    """The text that `data` is stored as; `SerializationError` names what would be lost."""
    try:
        return stringify(data)
    except NotJSON as error:
        reason, path = error.reason, error.path
    raise SerializationError(f"{path}: {reason}", path=path)
