"""The pinning API: uploads, pinning by CID, names, unpinning, listing, totals and the authentication test."""

from __future__ import annotations

import errno
import os
import shutil
from urllib.parse import unquote

from aiohttp import web

from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import ContentAddressError, MissingBlock
from pinui.node.body import pump, read_whole
from pinui.node.errors import ApiError
from pinui.node.index import Index, Pin
from pinui.node.store import NewPin, PinStore
from pinui.node.trees import copy_tree, describe_tree
from pinui.node.uploads import MultipartUpload, boundary_of, store_json
from pinui.node.wire import (
    Options,
    job_body,
    json_request,
    list_body,
    list_query,
    pin_body,
    pin_by_hash_request,
    read_cid,
    update_request,
)
from pinui.node.workers import Workers

__all__ = ["PinningApi"]

MAX_JSON = 10_000_000
MAX_METADATA = 1_000_000
WELCOME = "Congratulations! You are communicating with the Pinata API!"


class PinningApi:
    """Answers requests whose token has been checked."""

    def __init__(self, store: PinStore, workers: Workers) -> None:
        self._store = store
        self._workers = workers
        self._routes = {
            "/pinning/pinJSONToIPFS": ("POST", self._pin_json),
            "/pinning/pinFileToIPFS": ("POST", self._pin_file),
            "/pinning/pinByHash": ("POST", self._pin_by_hash),
            "/pinning/hashMetadata": ("PUT", self._update),
            "/data/testAuthentication": ("GET", self._test_authentication),
            "/data/pinList": ("GET", self._list),
            "/data/userPinnedDataTotal": ("GET", self._totals),
        }

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to one request, or `ApiError`."""
        path = request.rel_url.raw_path.rstrip("/")
        if path.startswith("/pinning/unpin/"):
            method, handler = "DELETE", self._unpin
        elif path in self._routes:
            method, handler = self._routes[path]
        else:
            raise ApiError.of(404, "OBJECT_NOT_FOUND", f"This node has no {path or '/'}.")
        if request.method != method:
            raise ApiError.of(405, "METHOD_NOT_ALLOWED", f"Use {method} here.", {"Allow": method})
        return await handler(request)

    async def _test_authentication(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002  as all
        return web.json_response({"message": WELCOME})

    async def _pin_json(self, request: web.BaseRequest) -> web.Response:
        body = await read_whole(request, MAX_JSON)

        def pin() -> tuple[Pin, bool]:
            text, options = json_request(body)
            return store_json(self._store, text, options)

        return web.json_response(pin_body(*await self._workers.run(pin)))

    async def _pin_file(self, request: web.BaseRequest) -> web.Response:
        boundary = boundary_of(request.headers.get("Content-Type", ""))
        await self._workers.run(self._check_room, request.content_length or 0)
        upload = MultipartUpload(self._store, boundary)
        try:
            await pump(request, self._workers, upload)
            await self._workers.exhaust(upload.settle())
            pin, duplicate = await self._workers.run(upload.finish)
        finally:
            await self._workers.run(upload.discard)
        return web.json_response(pin_body(pin, duplicate))

    async def _pin_by_hash(self, request: web.BaseRequest) -> web.Response:
        body = await read_whole(request, MAX_METADATA)
        cid, options = await self._workers.run(pin_by_hash_request, body)
        pin = await self._workers.run(self._store.pin_of, cid)
        if pin is None:
            pin = await self._pin_part(cid, options)
        return web.json_response(job_body(pin))

    async def _pin_part(self, cid: Cid, options: Options) -> Pin:
        """Pin content that other pins contain: the node has no network to look for it."""
        draft = await self._workers.run(self._store.draft, cid.version)
        try:
            with self._store.reading() as blocks:
                await self._workers.exhaust(copy_tree(cid, blocks, draft))
                facts = await self._workers.run(describe_tree, cid, blocks)
            new = NewPin(cid, facts.size, facts.files, options.name, options.keyvalues, facts.mime_type)
            pin, _ = await self._workers.run(self._store.commit, draft, new)
        except MissingBlock as error:
            sentence = f"This node can pin by CID what its pins contain, and {cid} is not among that."
            raise ApiError.of(404, "OBJECT_NOT_FOUND", sentence) from error
        except ContentAddressError as error:
            raise ApiError.of(500, "DAMAGED_CONTENT", f"{cid} can't be pinned: {error}.") from error
        finally:
            await self._workers.run(draft.discard)
        return pin

    async def _update(self, request: web.BaseRequest) -> web.Response:
        update = await self._workers.run(update_request, await read_whole(request, MAX_METADATA))
        if not await self._workers.run(self._store.update, update.cid, update.apply):
            raise _not_pinned(str(update.cid))
        return web.Response(text="OK")

    def _check_room(self, size: int) -> None:
        """Better now than after gigabytes."""
        if size > shutil.disk_usage(self._store.folder).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def _unpin(self, request: web.BaseRequest) -> web.Response:
        text = unquote(request.rel_url.raw_path.removeprefix("/pinning/unpin/")).strip("/")
        if not await self._workers.run(self._unpin_either, read_cid(text)):
            raise _not_pinned(text)
        return web.Response(text="OK")

    def _unpin_either(self, cid: Cid) -> bool:
        return any(self._store.unpin(str(spelling)) for spelling in cid.spellings())

    async def _list(self, request: web.BaseRequest) -> web.Response:
        query, with_count = list_query(request.query)
        pins = await self._workers.run(self._store.ask, lambda index: index.list(query))
        count = await self._workers.run(self._store.ask, lambda index: index.count(query)) if with_count else None
        return web.json_response(list_body(pins, count))

    async def _totals(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002  as all
        count, size = await self._workers.run(self._store.ask, Index.totals)
        return web.json_response({"pin_count": count, "pin_size_total": size, "pin_size_with_replications_total": size})


def _not_pinned(cid: str) -> ApiError:
    return ApiError.of(400, "CURRENT_USER_HAS_NOT_PINNED_CID", f"The current user has not pinned the cid: {cid}")
