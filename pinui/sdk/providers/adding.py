"""Uploads to a daemon that cuts files into blocks as requested: Kubo, and IPFS Cluster, which adds in Kubo's way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pinui.ipfs.cid import Cid
from pinui.ipfs.jsontext import utf16_length
from pinui.sdk.models import Blob, ClientConfig, Pinned
from pinui.sdk.providers import wire
from pinui.sdk.providers.api import CHEAP_TO_REPEAT, Api, Line, LineSink
from pinui.sdk.reading.content import GatewayContent
from pinui.sdk.reading.gateways import Gateway
from pinui.sdk.stored_json import text_of
from pinui.sdk.transport.http import OnProgress
from pinui.sdk.transport.transport import Clock
from pinui.sdk.writing.multipart import Multipart, unixfs_head
from pinui.sdk.writing.prediction import UploadPrediction, profile_for
from pinui.sdk.writing.sources import Uploadable, UploadSource, look_at

__all__ = ["AddCall", "AddingProvider"]


@dataclass(frozen=True, slots=True)
class AddCall:
    """A daemon's `add`."""

    path: str
    name_option: str
    """Which option names the pin. Without one, adding takes away the name that a pin of the same content has."""
    cid_field: str
    """Which field has the CID, in the lines that are answered: one for each file and folder, the root last."""
    is_pinned: Callable[[Cid], Awaitable[bool]]
    """Whether the daemon has what a lost reply was about."""
    options: Mapping[str, str | int | None] = field(default_factory=dict[str, "str | int | None"])
    longest_name: int = 255
    """Bytes in a pin's name."""

    def name(self, text: str) -> str:
        """A name of a length that the daemon takes."""
        return text.encode("utf-8", "replace")[: self.longest_name].decode(errors="ignore")


class AddingProvider(GatewayContent):
    """The half of a provider that adds: JSON, files and folders with their empty folders."""

    keeps_empty_folders = True

    def __init__(self, config: ClientConfig, api: Api, call: AddCall, gateways: list[Gateway], clock: Clock) -> None:
        self._api = api
        self._clock = clock
        self._call = call
        self._profile = profile = profile_for(config.cid_version)
        # A daemon may be set to something else, so nothing that decides over a CID is left out.
        self._options = {
            "cid-version": profile.cid_version,
            "raw-leaves": "true" if profile.raw_leaves else "false",
            "chunker": f"size-{profile.chunk_size}",
            "hash": "sha2-256",
            "max-file-links": profile.links,
            **call.options,
        }
        self._verifies = config.verify != "off"
        self.requires_proof = config.verify == "require"
        """Whether an unproven write is an error; `Client` raises it, with the record."""
        super().__init__(config, api.transport, clock, gateways)

    async def put_json(self, data: Any) -> Pinned:
        """Pin a JSON document."""
        return await self.put_text(await text_of(data))

    async def put_text(self, text: str) -> Pinned:
        """Pin a JSON document, given as the text that `JSON.stringify` writes."""
        source = await look_at(Blob(text.encode()))
        pinned = await self._add(source, f"client-{int(self._clock.now() * 1000)}")
        return replace(pinned, size=utf16_length(text))

    async def put_file(self, file: Uploadable, *, on_progress: OnProgress | None = None) -> Pinned:
        """Pin a file, or a folder as one directory with its empty folders."""
        source = await look_at(file, empty_folders=True)
        try:
            return await self._add(source, source.name, on_progress)
        finally:
            if source is not file:  # the caller that opened a source closes it
                source.close()

    async def _add(self, source: UploadSource, name: str, on_progress: OnProgress | None = None) -> Pinned:
        """Upload, and compare the CID that comes back with the one that the bytes have."""
        call, wants_prediction = self._call, self._verifies or source.size > CHEAP_TO_REPEAT
        prediction = UploadPrediction(source, self._profile) if wants_prediction else None
        body = Multipart(source.parts, (), on_progress, prediction, unixfs_head)
        query = {**self._options, call.name_option: call.name(name)}
        request = self._api.upload(call.path, query, body, body.content_type)

        sink = _AddedSink(call.cid_field)
        predict: Callable[[], Cid | None] = prediction.cid if prediction is not None else lambda: None
        answer = await self._api.send(request, sink, source.size, predict, call.is_pinned)
        if isinstance(answer, Cid):
            sink.cids = [str(answer)]
        else:
            await sink.finish()
            if not sink.cids:
                raise wire.not_understood(answer.status, "it names no CID")
        root = sink.cids[-1]
        self._reader.remember_pinned(root)
        verdict = prediction.exact_verdict(sink.cids) if prediction is not None and self._verifies else None
        return Pinned(root, source.size, verdict)


class _AddedSink(LineSink):
    """Collects the CIDs that the daemon answers. They arrive during the upload."""

    def __init__(self, cid_field: str) -> None:
        super().__init__(self._collect)
        self._field = cid_field
        self.cids: list[str] = []

    def start_over(self) -> None:
        self.cids.clear()

    async def _collect(self, lines: list[Line]) -> None:
        self.cids += [cid for line in lines if (cid := wire.one_word(line.get(self._field))) is not None]
