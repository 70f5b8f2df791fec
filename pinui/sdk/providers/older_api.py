"""The pinning API of the contract, which is the hosted service's older one: `pinJSONToIPFS`, `pinList` and the like."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from functools import partial

from pinui.ipfs.cid import Cid
from pinui.ipfs.jsontext import utf16_length
from pinui.ipfs.plain_bytes import compare_prediction
from pinui.sdk.models import ClientConfig, Dialect, Pin, Pinned, Resume, Totals
from pinui.sdk.providers import wire
from pinui.sdk.providers.api import CHEAP_TO_REPEAT, LARGEST_ANSWER, Api
from pinui.sdk.providers.dialects import is_listed, judged
from pinui.sdk.providers.pin_list import PinPages, read_job, read_page, resume_date
from pinui.sdk.reading.sinks import MemorySink
from pinui.sdk.trailing_work import QUICK_TO_HASH
from pinui.sdk.transport.http import OnProgress, Request
from pinui.sdk.transport.transport import Clock
from pinui.sdk.writing.multipart import Multipart
from pinui.sdk.writing.prediction import UploadPrediction, predict_text, profile_for
from pinui.sdk.writing.sources import UploadSource

__all__ = ["OlderApi"]


class OlderApi:
    """A `PinningApi` in one of the two dialects that differ in the names of fields."""

    def __init__(self, api: Api, config: ClientConfig, dialect: Dialect, clock: Clock) -> None:
        self.dialect: Dialect = dialect
        self._api = api
        self._clock = clock
        self._cid_version = config.cid_version
        self._verifies = config.verify != "off"

    async def put_text(self, text: str) -> Pinned:
        """Pin a JSON document. The service parses it and writes it again."""
        name = f"client-{int(self._clock.now() * 1000)}"
        body = wire.pin_json_body(text, name=name, dialect=self.dialect, cid_version=self._cid_version)
        request = self._api.request("POST", "pinning/pinJSONToIPFS")
        request = replace(request, headers={"Content-Type": "application/json"}, body=body)
        profile = profile_for(self._cid_version)
        cid = await self._pin(request, len(body), lambda: predict_text(text, profile)[0])
        size = utf16_length(text)
        if not self._verifies:
            return Pinned(cid, size)
        is_quick = len(text) < QUICK_TO_HASH
        predicted, small = (
            predict_text(text, profile) if is_quick else await asyncio.to_thread(predict_text, text, profile)
        )
        return judged(cid, size, compare_prediction(cid, predicted, small), predicted)

    async def put_file(
        self,
        source: UploadSource,
        on_progress: OnProgress | None,
        resume: Resume | None = None,  # noqa: ARG002  # this API takes a file in one piece
    ) -> Pinned:
        """Pin a file, or a folder as one directory."""
        version = self._cid_version
        fields = [] if version is None else [wire.options_field(self.dialect, version)]
        wants_prediction = self._verifies or source.size > CHEAP_TO_REPEAT
        prediction = UploadPrediction(source, profile_for(version)) if wants_prediction else None
        body = Multipart(source.parts, fields, on_progress, prediction)
        request = self._api.upload("pinning/pinFileToIPFS", {}, body, body.content_type)
        cid = await self._pin(request, source.size, prediction.cid if prediction is not None else lambda: None)
        if prediction is None or not self._verifies:
            return Pinned(cid, source.size)
        return judged(cid, source.size, prediction.verdict(cid), prediction.cid())

    async def _pin(self, request: Request, size: int, predict: Callable[[], Cid | None]) -> str:
        """The CID that the service answered; or, where the answer was lost, the one it turned out to have."""
        sink = MemorySink(LARGEST_ANSWER)
        answer = await self._api.send(request, sink, size, predict, partial(is_listed, self))
        return str(answer) if isinstance(answer, Cid) else wire.read_pinned_cid(answer.status, sink.data)

    async def unpin(self, cid: str) -> None:
        await self._api.is_removed(self._api.request("DELETE", f"pinning/unpin/{cid}"))

    async def pins(
        self, *, name: str | None = None, cid: str | None = None, resume: Resume | None = None
    ) -> AsyncGenerator[Pin]:
        """The pins of the account, newest first. A CID is looked for in both its versions."""
        for spelling in [None] if cid is None else Cid.parse(cid).spellings():
            pages = PinPages(name=name, cid=None if spelling is None else str(spelling), until=resume_date(resume))
            while not pages.is_over:
                page = await self._api.call(self._api.request("GET", f"data/pinList?{pages.query()}"))
                for pin in pages.take(read_page(*page)):
                    if spelling is None or pin.cid == str(spelling):  # the API looks for a part of the text
                        yield pin
                if resume is not None and pages.oldest is not None:
                    resume.keep(str(pages.oldest))

    async def totals(self) -> Totals:
        """The size of the account."""
        return wire.read_totals(*await self._api.call(self._api.request("GET", "data/userPinnedDataTotal")))

    async def pin(self, cid: str, name: str | None) -> Pin:
        """Ask the service to fetch and keep content that is stored elsewhere."""
        metadata = {} if name is None else {f"{self.dialect}Metadata": {"name": name}}
        request = self._api.request("POST", "pinning/pinByHash", document={"hashToPin": cid, **metadata})
        return read_job(*await self._api.call(request), cid)

    async def rename(self, cid: str, name: str) -> None:
        """Give a pin another name."""
        document = {"ipfsPinHash": cid, "name": name}
        await self._api.call(self._api.request("PUT", "pinning/hashMetadata", document=document))
