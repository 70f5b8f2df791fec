"""The pinning API: uploads, pinning by CID, names, unpinning, listing, totals and the authentication test."""

from __future__ import annotations

from urllib.parse import unquote

from aiohttp import web

from pinui.ipfs.cid import Cid
from pinui.node.body import pump, read_whole
from pinui.node.by_cid import PinsByCid
from pinui.node.errors import ApiError
from pinui.node.index import Index, Pin
from pinui.node.store import PinStore
from pinui.node.uploads import MultipartUpload, boundary_of, store_json
from pinui.node.wire import (
    job_body,
    jobs_body,
    jobs_query,
    json_request,
    list_body,
    list_query,
    options_field,
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
    """Answers requests with a checked token."""

    def __init__(self, store: PinStore, workers: Workers, by_cid: PinsByCid) -> None:
        self._store = store
        self._workers = workers
        self._by_cid = by_cid
        self._routes = {
            "/pinning/pinJSONToIPFS": ("POST", self._pin_json),
            "/pinning/pinFileToIPFS": ("POST", self._pin_file),
            "/pinning/pinByHash": ("POST", self._pin_by_hash),
            "/pinning/pinJobs": ("GET", self._jobs),
            "/pinning/hashMetadata": ("PUT", self._update),
            "/data/testAuthentication": ("GET", self._test_authentication),
            "/data/pinList": ("GET", self._list),
            "/data/userPinnedDataTotal": ("GET", self._totals),
        }

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to one request, or `ApiError`."""
        # A client in use writes two slashes where the path begins.
        path = "/" + request.rel_url.raw_path.removeprefix("/v3").strip("/")
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
            self._store.check_group(options.group)
            return store_json(self._store, text, options)

        return web.json_response(pin_body(*await self._workers.run(pin)))

    async def _pin_file(self, request: web.BaseRequest) -> web.Response:
        boundary = boundary_of(request.headers.get("Content-Type", ""))
        await self._workers.run(self._store.check_room, request.content_length or 0)
        upload = MultipartUpload(self._store, boundary)
        try:
            await pump(request, self._workers, upload)
            await self._workers.run(self._store.check_group, options_field(upload.fields).group)
            await self._workers.exhaust(upload.settle())
            pin, duplicate = await self._workers.run(upload.finish)
        finally:
            await self._workers.run(upload.discard)
        return web.json_response(pin_body(pin, duplicate))

    async def _pin_by_hash(self, request: web.BaseRequest) -> web.Response:
        body = await read_whole(request, MAX_METADATA)
        cid, options = await self._workers.run(pin_by_hash_request, body)
        await self._workers.run(self._store.check_group, options.group)
        return web.json_response(job_body(await self._by_cid.pin(cid, options)))

    async def _jobs(self, request: web.BaseRequest) -> web.Response:
        query = jobs_query(request.query)
        return web.json_response(jobs_body(await self._by_cid.jobs(query.status, query.cids), query))

    async def _update(self, request: web.BaseRequest) -> web.Response:
        cid, update = await self._workers.run(update_request, await read_whole(request, MAX_METADATA))
        if await self._workers.run(self._store.update, cid, update.apply) is None:
            raise _not_pinned(str(cid))
        return web.Response(text="OK")

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
