"""Uploads in pieces (TUS 1.0): one that breaks off goes on where it stopped, also after a restart of the node.

uploads/ID.json   the terms of an upload; locked while a process receives it
uploads/ID.car    its draft, in which equal blocks are repeated: the leaves in order are the bytes
uploads/ID.old    the draft of an earlier run, while it is read again
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import os
import re
import secrets
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from aiohttp import web

from pinui.disk import lock_now, private_folder, write_private
from pinui.ipfs.car import CarReader
from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.exporter import read_file
from pinui.ipfs.importer import Importer
from pinui.ipfs.multihash import Bytes, verify_block
from pinui.ipfs.unixfs import FilePiece, read_block
from pinui.node.body import BATCH, accept_body, pieces
from pinui.node.cars import ForeignCar
from pinui.node.draft import DraftCar
from pinui.node.errors import ApiError
from pinui.node.grants import check_type
from pinui.node.index import Pin
from pinui.node.media import SNIFFED, by_name, sniff
from pinui.node.store import NewPin, PinStore
from pinui.node.uploads import PROFILES, describe_car, new_pin, unpack
from pinui.node.wire import Options
from pinui.node.workers import Workers

__all__ = ["Terms", "TusUpload", "TusUploads", "read_metadata"]

MOST_UPLOADS = 64
"""Uploads at once; of more, the one that has been idle for longest is forgotten, a finished one first."""
KEPT = 24 * 60 * 60
"""Seconds that an upload is kept after its last piece."""
UPLOAD_ID = re.compile(r"[0-9a-f-]{36}")
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


@dataclass(frozen=True, slots=True)
class Terms:
    """The facts about an upload that are kept beside its bytes, for the next start of the node."""

    length: int
    options: Options
    mime_type: str | None
    mime_types: tuple[str, ...]
    """The types that its signed URL allows; none for all."""
    is_open: bool
    """Whether it needs no token, because it started with a signed URL."""
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    cid: str | None = None
    """Its result."""

    @classmethod
    def read(cls, path: Path) -> Terms:
        """The terms in a file; `ValueError` if they are damaged."""
        try:
            fields: dict[str, Any] = json.loads(path.read_bytes())
            fields |= {"options": Options(**fields["options"]), "mime_types": tuple(fields["mime_types"])}
            return cls(**fields)
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged") from error

    def write(self, path: Path) -> None:
        """Keep the terms."""
        write_private(path, json.dumps(asdict(self)))


@dataclass(slots=True)
class TusUpload:
    """One upload: the bytes that have arrived are hashed and in a draft."""

    path: Path
    """The file of its terms; the draft is beside it."""
    terms: Terms
    draft: DraftCar
    importer: Importer
    guard: int | None
    """A descriptor that keeps other processes from the upload; None once it is closed."""
    offset: int = 0
    beginning: bytes = b""
    used_at: float = field(default_factory=time.monotonic)
    pin: Pin | None = None
    """Its result."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    request: web.BaseRequest | None = None
    """The request that sends right now."""

    @property
    def id(self) -> str:
        """The name of the upload in its address."""
        return self.path.stem

    @property
    def is_whole(self) -> bool:
        """Whether every byte has arrived."""
        return self.offset == self.terms.length

    def take(self, batch: Sequence[Bytes]) -> None:
        """The next bytes. May block."""
        for piece in batch:
            self.beginning += piece[: max(0, SNIFFED - len(self.beginning))]
            self.draft.add(self.importer.feed(piece))
            self.offset += len(piece)

    def take_again(self, old: Path) -> None:
        """The bytes in a draft of an earlier run, as far as its blocks are whole. May block."""
        reader = CarReader()
        with suppress(ContentAddressError), old.open("rb") as file:
            while piece := file.read(BATCH):
                for block in reader.feed(piece):
                    verify_block(block.cid, block.data)
                    part = read_block(block.cid, block.data)
                    if isinstance(part, FilePiece) and not part.children:
                        self.take([part.data])

    def finish(self, store: PinStore) -> None:
        """Everything has arrived: make it a pin. May block."""
        blocks, cid, size = self.importer.finish()
        self.draft.add(blocks)
        options = self.terms.options
        if options.car:
            self._finish_car(store, cid)
        else:
            kind = by_name(options.name or "") or self.terms.mime_type or sniff(self.beginning)
            self._commit(store, self.draft, new_pin(cid, size, 1, options, kind))
        self.draft.discard()

    def _finish_car(self, store: PinStore, file: Cid) -> None:
        car = ForeignCar(store.draft)
        try:
            for _ in unpack(car, read_file(file, self.draft.read)):
                pass
            self._commit(store, car.draft, describe_car(car, self.terms.options, ""))
        finally:
            car.discard()

    def _commit(self, store: PinStore, draft: DraftCar, new: NewPin) -> None:
        check_type(new, self.terms.mime_types)
        self.pin, _ = store.commit(draft, new)
        replace(self.terms, cid=self.pin.cid).write(self.path)

    def close(self) -> None:
        """Leave the upload to the next request, or to the next start of the node."""
        self.draft.close()
        guard, self.guard = self.guard, None
        if guard is not None:
            os.close(guard)

    def remove(self) -> None:
        """Leave nothing behind. May block."""
        self.close()
        _remove(self.path)


class TusUploads:
    """The running uploads in pieces, and those that ended not long ago. They outlive the node."""

    def __init__(self, store: PinStore, workers: Workers) -> None:
        self._store = store
        self._workers = workers
        self._folder = store.folder / "uploads"
        self._uploads: dict[str, TusUpload] = {}
        self._loading = asyncio.Lock()
        private_folder(self._folder)
        self._sweep()

    async def begin(self, terms: Terms) -> TusUpload:
        """A new upload."""
        while len(self._uploads) >= MOST_UPLOADS:
            idle = [upload for upload in self._uploads.values() if not upload.lock.locked()]
            if not idle:
                raise ApiError.of(503, "NODE_BUSY", f"{MOST_UPLOADS} uploads are running.", {"Retry-After": "5"})
            await self._forget(min(idle, key=lambda upload: (upload.pin is None, upload.used_at)))
        return await self._workers.run(self._make, terms)

    def _make(self, terms: Terms) -> TusUpload:
        self._sweep()
        path = self._folder / f"{uuid.uuid4()}.json"
        terms.write(path)
        # Here and not in the caller, who may be cancelled meanwhile.
        upload = self._uploads[path.stem] = _open(path, terms)
        return upload

    async def find(self, id_: str, secret: str) -> TusUpload | None:
        """The upload that an address names, from an earlier run of the node, too."""
        upload = self._uploads.get(id_)
        if upload is None:
            async with self._loading:
                upload = self._uploads.get(id_) or await self._workers.run(self._load, id_, secret)
        if upload is None or not secrets.compare_digest(upload.terms.secret, secret):
            return None
        return upload

    def _load(self, id_: str, secret: str) -> TusUpload | None:
        path = self._folder / f"{id_}.json"
        try:
            terms = Terms.read(path) if UPLOAD_ID.fullmatch(id_) else None
        except (OSError, ValueError):
            return None
        if terms is None or not secrets.compare_digest(terms.secret, secret):
            return None
        cid = terms.cid
        pin = self._store.ask(lambda index: index.pinned(cid)) if cid else None
        if cid and pin is None:
            return None  # unpinned meanwhile
        old = path.with_suffix(".old")
        upload = _open(path, terms, old)
        try:
            if pin is not None:
                upload.pin, upload.offset = pin, terms.length
                upload.draft.discard()
            elif old.exists():
                upload.take_again(old)
            old.unlink(missing_ok=True)
        except BaseException:
            upload.close()
            raise
        self._uploads[id_] = upload
        return upload

    def close(self) -> None:
        """Leave all uploads to the next start; no thread may be writing any more."""
        for upload in self._uploads.values():
            upload.close()

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
            except OSError:
                self._set_aside(upload)  # a full disk: some hashed bytes are not in the draft
                raise
            finally:
                upload.request = None
        await self.settle(upload)

    async def settle(self, upload: TusUpload) -> None:
        """Make an upload a pin if every byte has arrived, and if that has not been done."""
        if not upload.is_whole or upload.pin is not None:
            return
        async with upload.lock:
            try:
                if upload.pin is None:
                    await self._workers.run(upload.finish, self._store)
            except Exception as error:
                if isinstance(error, ApiError) and error.status == 400:
                    await self._forget(upload)  # the content is refused
                else:
                    self._set_aside(upload)
                raise

    def _check_offset(self, upload: TusUpload, headers: Mapping[str, str], length: int) -> None:
        if headers.get("Upload-Offset", "") != str(upload.offset):
            raise ApiError(409, f"The next piece begins at {upload.offset}.", {"Upload-Offset": str(upload.offset)})
        if upload.offset + length > upload.terms.length:
            raise ApiError(413, f"The upload was to have {upload.terms.length} bytes, and this piece goes beyond them.")

    async def _read(self, upload: TusUpload, request: web.BaseRequest) -> None:
        await accept_body(request)
        batch: list[bytes] = []
        size = 0
        try:
            async for piece in pieces(request):
                size += len(piece)
                if upload.offset + size > upload.terms.length:
                    raise ApiError(413, f"The upload was to have {upload.terms.length} bytes, and more came.")
                batch.append(piece)
                if size >= BATCH:
                    full, batch, size = batch, [], 0
                    await self._workers.run(upload.take, full)
        finally:
            if batch:
                await self._workers.run(upload.take, batch)

    def _set_aside(self, upload: TusUpload) -> None:
        """The next request reads again what is on the disk."""
        self._uploads.pop(upload.id, None)
        upload.close()

    async def _forget(self, upload: TusUpload) -> None:
        self._uploads.pop(upload.id, None)
        await self._workers.run(upload.remove)

    def _sweep(self) -> None:
        """Remove abandoned uploads. The locked ones belong to other processes that still run."""
        for path in self._folder.glob("*.json"):
            try:
                newest = max(file.stat().st_mtime for file in _files(path) if file.exists())
                if path.stem not in self._uploads and newest < time.time() - KEPT:
                    os.close(_lock(path))
                    _remove(path)
            except (OSError, ApiError):
                continue  # gone just now, or in use


def _open(path: Path, terms: Terms, old: Path | None = None) -> TusUpload:
    """An upload, locked, with a new draft; a draft of an earlier run goes to `old`."""
    guard = _lock(path)
    try:
        draft = path.with_suffix(".car")
        # A crash while a draft is read again leaves both: the old one alone is whole.
        if old is not None and draft.exists() and not old.exists():
            draft.rename(old)
        draft.unlink(missing_ok=True)
        version = terms.options.cid_version
        return TusUpload(path, terms, DraftCar(draft, version, repeats=True), Importer(PROFILES[version]), guard)
    except BaseException:
        os.close(guard)
        raise


def _lock(path: Path) -> int:
    guard = os.open(path, os.O_RDWR)
    try:
        lock_now(guard)
    except BlockingIOError as error:
        os.close(guard)
        raise ApiError(423, "Another process receives this upload: ask there, or once it has ended.") from error
    return guard


def _files(path: Path) -> tuple[Path, ...]:
    return path.with_suffix(".car"), path.with_suffix(".old"), path


def _remove(path: Path) -> None:
    """Remove the files of an upload, its terms last: files without terms are never looked at."""
    for file in _files(path):
        with suppress(OSError):
            file.unlink()
