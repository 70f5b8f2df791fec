"""Uploads in pieces (TUS 1.0): one that breaks off goes on where it stopped, as long as the node runs."""

from __future__ import annotations

import asyncio
import base64
import binascii
import secrets
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from aiohttp import web

from pinui.ipfs.cid import Cid
from pinui.ipfs.exporter import read_file
from pinui.ipfs.importer import Importer
from pinui.node.body import BATCH, accept_body, pieces
from pinui.node.cars import ForeignCar
from pinui.node.draft import DraftCar
from pinui.node.errors import ApiError
from pinui.node.index import Pin
from pinui.node.media import SNIFFED, by_name, sniff
from pinui.node.store import NewPin, PinStore
from pinui.node.uploads import PROFILES, describe_car, unpack
from pinui.node.wire import Options
from pinui.node.workers import Workers

__all__ = ["TusUpload", "TusUploads", "read_metadata"]

MOST_UPLOADS = 64
"""Uploads at once; of more, the one that has been idle for longest is forgotten."""
OCTETS = "application/offset+octet-stream"


def read_metadata(header: str) -> dict[str, str]:
    """The header `Upload-Metadata`: names, each with a value in base64."""
    fields: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in header.split(","))):
        name, _, value = pair.partition(" ")
        try:
            raw = base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise ApiError(400, f"The value of {name[:100]!r} in Upload-Metadata is not base64.") from error
        try:
            fields[name] = raw.decode()
        except UnicodeDecodeError:
            fields[name] = raw.decode("latin-1")  # as JavaScript's btoa encodes text
    return fields


@dataclass(slots=True)
class TusUpload:
    """One upload: the bytes that have arrived are hashed and in a draft."""

    length: int
    options: Options
    check: Callable[[NewPin], None]
    is_open: bool
    """Whether it needs no token, because it started with a signed URL."""
    draft: DraftCar
    importer: Importer
    mime_type: str | None = None
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    offset: int = 0
    beginning: bytes = b""
    used_at: float = field(default_factory=time.monotonic)
    pin: Pin | None = None
    """Its result."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    request: web.BaseRequest | None = None
    """The request that sends right now."""

    def take(self, batch: Sequence[bytes]) -> None:
        """The next bytes. May block."""
        for piece in batch:
            self.beginning += piece[: max(0, SNIFFED - len(self.beginning))]
            self.draft.add(self.importer.feed(piece))
            self.offset += len(piece)

    def finish(self, store: PinStore) -> Pin:
        """Everything has arrived: make it a pin. May block."""
        blocks, cid, size = self.importer.finish()
        self.draft.add(blocks)
        if self.options.car:
            return self._finish_car(store, cid)
        kind = by_name(self.options.name or "") or self.mime_type or sniff(self.beginning)
        new = NewPin(cid, size, 1, self.options.name, self.options.keyvalues, kind, self.options.group)
        self.check(new)
        self.pin, _ = store.commit(self.draft, new)
        return self.pin

    def _finish_car(self, store: PinStore, file: Cid) -> Pin:
        car = ForeignCar(store.draft)
        try:
            for _ in unpack(car, read_file(file, self.draft.read)):
                pass
            new = describe_car(car, self.options, "")
            self.check(new)
            self.pin, _ = store.commit(car.draft, new)
        finally:
            car.discard()
            self.draft.discard()
        return self.pin


class TusUploads:
    """The running uploads in pieces, and those that ended not long ago."""

    def __init__(self, store: PinStore, workers: Workers) -> None:
        self._store = store
        self._workers = workers
        self._uploads: dict[str, TusUpload] = {}

    async def begin(
        self,
        length: int,
        options: Options,
        check: Callable[[NewPin], None],
        *,
        mime_type: str | None,
        is_open: bool,
    ) -> TusUpload:
        """A new upload; `check` may refuse what it turns out to be."""
        while len(self._uploads) >= MOST_UPLOADS:
            idle = [upload for upload in self._uploads.values() if not upload.lock.locked()]
            if not idle:
                raise ApiError.of(503, "NODE_BUSY", f"{MOST_UPLOADS} uploads are running.", {"Retry-After": "5"})
            await self._forget(min(idle, key=lambda upload: upload.used_at))
        draft = await self._workers.run(self._store.draft, options.cid_version)
        importer = Importer(PROFILES[options.cid_version])
        upload = TusUpload(length, options, check, is_open, draft, importer, mime_type)
        self._uploads[upload.id] = upload
        return upload

    def find(self, id_: str, secret: str) -> TusUpload | None:
        """The upload that an address names."""
        upload = self._uploads.get(id_)
        return upload if upload is not None and secrets.compare_digest(upload.secret, secret) else None

    def pin_id(self, id_: str) -> str:
        """The id of the pin that an upload became; other ids as they are."""
        upload = self._uploads.get(id_)
        return upload.pin.id if upload is not None and upload.pin is not None else id_

    async def receive(self, upload: TusUpload, request: web.BaseRequest) -> None:
        """The next piece of an upload. Bytes that arrived before a connection broke count."""
        if request.headers.get("Content-Type", "").partition(";")[0].strip() != OCTETS:
            raise ApiError(415, f"The Content-Type of a piece must be {OCTETS}.")
        # A client that comes back knows that its older connection is dead; the node may not know yet.
        if upload.request is not None and upload.request.transport is not None:
            upload.request.transport.abort()
        async with upload.lock:
            self._check_offset(upload, request.headers, request.content_length or 0)
            upload.request, upload.used_at = request, time.monotonic()
            try:
                await self._read(upload, request)
                if upload.offset == upload.length and upload.pin is None:
                    await self._workers.run(upload.finish, self._store)
            except ApiError as error:
                if upload.offset == upload.length and error.status == 400:
                    await self._forget(upload)  # whole, and refused
                raise
            except OSError:
                await self._forget(upload)  # a full disk: some hashed bytes are not in the draft
                raise
            finally:
                upload.request = None

    def _check_offset(self, upload: TusUpload, headers: Mapping[str, str], length: int) -> None:
        if headers.get("Upload-Offset", "") != str(upload.offset):
            raise ApiError(409, f"The next piece begins at {upload.offset}.", {"Upload-Offset": str(upload.offset)})
        if upload.offset + length > upload.length:
            raise ApiError(413, f"The upload was to have {upload.length} bytes, and this piece goes beyond them.")

    async def _read(self, upload: TusUpload, request: web.BaseRequest) -> None:
        await accept_body(request)
        batch: list[bytes] = []
        size = 0
        try:
            async for piece in pieces(request):
                size += len(piece)
                if upload.offset + size > upload.length:
                    raise ApiError(413, f"The upload was to have {upload.length} bytes, and more came.")
                batch.append(piece)
                if size >= BATCH:
                    full, batch, size = batch, [], 0
                    await self._workers.run(upload.take, full)
        finally:
            if batch:
                await self._workers.run(upload.take, batch)

    async def _forget(self, upload: TusUpload) -> None:
        self._uploads.pop(upload.id, None)
        await self._workers.run(upload.draft.discard)
