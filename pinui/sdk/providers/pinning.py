"""The provider that speaks the pinning HTTP API for writes and reads through an IPFS gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from pinui.ipfs.cid import Cid
from pinui.ipfs.jsontext import stringify, utf16_length
from pinui.ipfs.plain_bytes import compare_prediction
from pinui.sdk.address import Address
from pinui.sdk.errors import PinuiError, ProviderError
from pinui.sdk.models import ClientConfig, Pin, Pinned, Timeouts, Totals, Verification
from pinui.sdk.providers import wire
from pinui.sdk.providers.pin_list import PinPages, read_job, read_page
from pinui.sdk.reading.content import GatewayContent
from pinui.sdk.reading.sinks import MemorySink
from pinui.sdk.secret import Secret
from pinui.sdk.stored_json import text_of
from pinui.sdk.trailing_work import QUICK_TO_HASH
from pinui.sdk.transport.http import Breakdown, Head, OnProgress, Rejection, Request, SecretHeader
from pinui.sdk.transport.refusals import is_not_pinned, network_error, provider_error
from pinui.sdk.transport.transport import Clock, Transport
from pinui.sdk.writing.multipart import Multipart
from pinui.sdk.writing.prediction import UploadPrediction, predict_text, profile_for
from pinui.sdk.writing.sources import Uploadable, look_at

__all__ = ["PinProvider"]

# An answer of the API is a few hundred bytes; a page of a listing some hundred thousand.
LARGEST_ANSWER = 4 * 1024 * 1024
# A lost reply to something this small is simply asked for again; pinning it twice is pinning it once.
CHEAP_TO_REPEAT = 1024 * 1024


class PinProvider(GatewayContent):
    """A `StorageProvider` on the pinning API and a gateway."""

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
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
        super().__init__(config, self._transport, self._clock)

    async def put_json(self, data: Any) -> Pinned:
        """Pin a JSON document."""
        return await self.put_text(await text_of(data))

    async def put_text(self, text: str) -> Pinned:
        """Pin a JSON document, given as the text that `JSON.stringify` writes."""
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
        size = utf16_length(text)
        if not self._verifies:
            return self._pinned(cid, size)
        is_quick = len(text) < QUICK_TO_HASH
        predicted, small = (
            predict_text(text, profile) if is_quick else await asyncio.to_thread(predict_text, text, profile)
        )
        return self._pinned(cid, size, compare_prediction(cid, predicted, small), predicted)

    async def put_file(self, file: Uploadable, *, on_progress: OnProgress | None = None) -> Pinned:
        """Pin a file, or a folder as one directory."""
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
            if source is not file:  # a source is closed by whoever looked at it
                source.close()
        if prediction is None or not self._verifies:
            return self._pinned(cid, source.size)
        return self._pinned(cid, source.size, prediction.verdict(cid), prediction.cid())

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
        try:
            async with aclosing(self.pins(cid=str(cid))) as found:
                return await anext(found, None) is not None
        except PinuiError:
            return False

    async def unpin(self, cid: str) -> bool:
        """Remove the pin. What was not pinned is a `ProviderError`, unless our own lost try may have removed it."""
        address = Address.parse_root(cid)
        request = self._request("DELETE", f"pinning/unpin/{address.cid}")
        outcome = await self._transport.perform(request, MemorySink(LARGEST_ANSWER))
        if not isinstance(outcome.result, Head):
            error = self._error(outcome.result)
            if not (outcome.maybe_done and isinstance(error, ProviderError) and is_not_pinned(error)):
                raise error
        self._reader.forget_pinned(address.cid)
        return True

    async def test_authentication(self) -> bool:
        """Ask the API whether it accepts the token. It says nothing of what the token may do."""
        # A test is about now: one more try, for a hiccup.
        status, answer = await self._call(
            self._request("GET", "data/testAuthentication"), retries=min(self.config.retries, 1)
        )
        return wire.read_authentication(status, answer)

    async def pins(self, *, name: str | None = None, cid: str | None = None) -> AsyncGenerator[Pin]:
        """What the account holds, newest first. A CID is looked for in both its versions."""
        for spelling in [None] if cid is None else Cid.parse(cid).spellings():
            pages = PinPages(name=name, cid=None if spelling is None else str(spelling))
            while not pages.is_over:
                page = await self._call(self._request("GET", f"data/pinList?{pages.query()}"))
                for pin in pages.take(read_page(*page)):
                    if spelling is None or pin.cid == str(spelling):  # the API looks for a part of the text
                        yield pin

    async def totals(self) -> Totals:
        """How much the account holds."""
        return wire.read_totals(*await self._call(self._request("GET", "data/userPinnedDataTotal")))

    async def pin(self, cid: str, *, name: str | None = None) -> Pin:
        """Ask the service to fetch and keep content that somebody else stored."""
        address = Address.parse_root(cid)
        metadata = {} if name is None else {f"{self.config.wire_dialect}Metadata": {"name": name}}
        request = self._request("POST", "pinning/pinByHash", {"hashToPin": address.cid, **metadata})
        pin = read_job(*await self._call(request), address.cid)
        self._reader.remember_pinned(address.cid)
        return pin

    async def rename(self, cid: str, name: str) -> None:
        """Give a pin another name."""
        document = {"ipfsPinHash": Address.parse_root(cid).cid, "name": name}
        await self._call(self._request("PUT", "pinning/hashMetadata", document))

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    def _request(self, method: str, path: str, document: Any = None) -> Request:
        """A call of the API with a small JSON body, or none."""
        body = None if document is None else stringify(document).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        return Request(method, f"{self._api}/{path}", headers, body, self._token, is_api_call=True)

    async def _call(self, request: Request, *, retries: int | None = None) -> tuple[int, bytes]:
        """One call of the API: status and body, or an error."""
        sink = MemorySink(LARGEST_ANSWER)
        outcome = await self._transport.perform(request, sink, retries=retries)
        if isinstance(outcome.result, Head):
            return outcome.result.status, sink.data
        raise self._error(outcome.result)

    def _pinned(
        self, cid: str, size: int, verification: Verification | None = None, predicted: Cid | None = None
    ) -> Pinned:
        self._reader.remember_pinned(cid)
        return Pinned(cid, size, verification, str(predicted) if verification == "mismatch" else None)

    def _error(self, result: Rejection | Breakdown) -> PinuiError:
        if isinstance(result, Breakdown):
            return network_error(result)
        return provider_error(result, now=self._clock.now(), has_token=bool(self._token.secret))


PinProvider.__module__ = "pinui"
