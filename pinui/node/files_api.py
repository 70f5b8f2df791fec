"""The hosted service's newer API, `/v3/…`: files, groups, pins by CID and signed URLs, on the pins of the older one."""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from aiohttp import web

from pinui.ipfs.jsontext import NotJSON, parse
from pinui.node.body import pump, read_whole
from pinui.node.by_cid import PinsByCid
from pinui.node.errors import ApiError
from pinui.node.grants import Grant, check_grant, check_type, signed_query
from pinui.node.index import (
    Group,
    Index,
    Pin,
    PinQuery,
    insert_group,
    remove_group,
    update_group,
)
from pinui.node.keyvalues import Condition
from pinui.node.store import PinStore
from pinui.node.tus import Terms, TusUpload, TusUploads, read_metadata
from pinui.node.uploads import MultipartUpload, boundary_of
from pinui.node.wire import (
    INVALID,
    Job,
    Options,
    Update,
    check_filters,
    is_ascending,
    json_fields,
    read_cid,
    read_number,
    read_options,
    spellings,
    text_field,
    when,
)
from pinui.node.workers import Workers

__all__ = ["FilesApi"]

MAX_BODY = 1_000_000
MAX_PAGE = 1000
PAGE = 10
PUBLIC_ONLY = "This node keeps public files alone: send network=public. Without it, the service means private."
LIST_FILTERS = {"name", "group", "cid", "mimeType", "cidPending", "limit", "order", "pageToken"}
JOB_FILTERS = {"cid", "status", "limit", "pageToken", "order", "sort", "includesCount"}
GROUP_FILTERS = {"name", "limit", "pageToken", "isPublic"}
TUS = {"Tus-Resumable": "1.0.0", "Cache-Control": "no-store"}


class FilesApi:
    """Answers requests below /v3/ that may be answered: see `admits`."""

    def __init__(self, store: PinStore, workers: Workers, by_cid: PinsByCid, tus: TusUploads, token: str) -> None:
        self._store = store
        self._workers = workers
        self._by_cid = by_cid
        self._token = token
        self._tus = tus

    async def admits(self, request: web.BaseRequest) -> bool:
        """Whether a request needs no token: it uploads to a signed URL. `ApiError` for a signature that is wrong."""
        match _segments(request):
            case ["files"]:
                return request.method == "POST" and check_grant(request.query, self._token) is not None
            case ["files", id_, secret] if request.method in ("PATCH", "HEAD"):
                upload = await self._tus.find(id_, secret)
                return upload is not None and upload.terms.is_open
            case _:
                return False

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to one request, or `ApiError`."""
        match (request.method, *_segments(request)):
            case ("POST", "files") if "Upload-Length" in request.headers:
                return await self._begin_tus(request)
            case ("POST", "files"):
                return await self._upload(request)
            case ("POST", "files", "sign"):
                asked = json_fields(await read_whole(request, MAX_BODY))
                query = signed_query(asked, self._token)
                await self._check_fields({name: str(value) for name, value in asked.items() if value is not None})
                return _data(f"{_base(request)}/v3/files?{query}")
            case ("PATCH" | "HEAD", "files", id_, secret) if network_free(id_):
                return await self._continue_tus(request, id_, secret)
            case (_, "files" | "groups", network, *_) if network != "public":
                raise ApiError(
                    403 if network == "private" else 404, PUBLIC_ONLY if network == "private" else _no(request)
                )
            case ("POST", "files", _, "pin_by_cid"):
                return await self._pin_by_cid(request)
            case ("GET", "files", _, "pin_by_cid"):
                return await self._jobs(request)
            case ("DELETE", "files", _, "pin_by_cid", id_):
                if not await self._by_cid.forget(id_):
                    raise ApiError(404, f"No request has the id {id_[:100]!r}.")
                return _data(None)
            case (_, "files", _, "swap" | "signature", _):
                raise ApiError(501, "This node swaps no content and keeps no signatures.")
            case ("GET", "files", _):
                return await self._list(request)
            case ("GET" | "PUT" | "DELETE", "files", _, id_):
                return await self._file(request, id_)
            case ("POST", "groups", _):
                return await self._make_group(request)
            case ("GET", "groups", _):
                return await self._groups(request)
            case ("GET" | "PUT" | "DELETE", "groups", _, id_):
                return await self._group(request, id_)
            case ("PUT" | "DELETE", "groups", _, id_, "ids", file_id):
                return await self._move(id_ if request.method == "PUT" else None, id_, file_id)
            case _:
                raise ApiError(404, _no(request))

    # Uploads

    async def _upload(self, request: web.BaseRequest) -> web.Response:
        grant = check_grant(request.query, self._token) or NO_GRANT
        boundary = boundary_of(request.headers.get("Content-Type", ""))
        await self._workers.run(self._store.check_room, request.content_length or 0)
        upload = MultipartUpload(
            self._store, boundary, lambda fields: upload_options({**fields, **grant.fields}), largest=grant.largest
        )
        try:
            await pump(request, self._workers, upload)
            await self._check_fields({**upload.fields, **grant.fields})
            await self._workers.exhaust(upload.settle())
            pin, duplicate = await self._workers.run(upload.finish, lambda new: check_type(new, grant.mime_types))
        finally:
            await self._workers.run(upload.discard)
        return _data({**file_body(pin), "is_duplicate": duplicate})

    async def _begin_tus(self, request: web.BaseRequest) -> web.Response:
        grant = check_grant(request.query, self._token) or NO_GRANT
        metadata = read_metadata(request.headers.get("Upload-Metadata", ""))
        fields = {"name": metadata.get("filename", ""), **metadata, **grant.fields}
        if version := request.query.get("X-Upload-Option-Cid-Version"):
            fields.setdefault("cid_version", version)
        await self._check_fields(fields)
        length = read_number(request.headers, "Upload-Length", None, 0, 2**53)
        if length is None:
            raise ApiError(400, "Upload-Length must be a number of bytes.")
        if grant.largest is not None and length > grant.largest:
            raise ApiError(413, "Upload-Length exceeds maximum upload size")
        await self._workers.run(self._store.check_room, length)
        filetype = metadata.get("filetype") or None
        terms = Terms(length, upload_options(fields), filetype, grant.mime_types, is_open=grant is not NO_GRANT)
        upload = await self._tus.begin(terms)
        location = f"{_base(request)}/v3/files/{upload.id}/{terms.secret}"
        return web.Response(status=201, headers={**TUS, "Location": location, "Upload-Offset": "0"})

    async def _continue_tus(self, request: web.BaseRequest, id_: str, secret: str) -> web.Response:
        upload = await self._tus.find(id_, secret)
        if upload is None:
            raise ApiError(404, "This node knows no such upload: it forgets them after a day. Begin again.", TUS)
        if request.method == "PATCH":
            await self._tus.receive(upload, request)
        else:
            await self._tus.settle(upload)
        return web.Response(status=204 if request.method == "PATCH" else 200, headers=_tus_headers(upload))

    async def _check_fields(self, fields: Mapping[str, str]) -> None:
        """Refuse what this node can't do, before it is done otherwise."""
        if fields.get("network") != "public":
            raise ApiError(400, PUBLIC_ONLY)
        for name, why in UNSUPPORTED.items():
            if fields.get(name, "").lower() not in ("", "false"):
                raise ApiError(400, why)
        await self._workers.run(self._store.check_group, _group_of(fields))

    # Files

    async def _list(self, request: web.BaseRequest) -> web.Response:
        query = file_query(request.query)
        # One more than requested shows whether there is another page.
        more = replace(query, limit=query.limit + 1)
        pins = await self._workers.run(self._store.ask, lambda index: index.list(more))
        if request.query.get("cidPending", "").lower() == "true":
            pins = []  # every file here has its CID
        files = [file_body(pin) for pin in pins[: query.limit]]
        return _data({"files": files, "next_page_token": _next(files, has_more=len(pins) > query.limit)})

    async def _file(self, request: web.BaseRequest, id_: str) -> web.Response:
        id_ = self._tus.pin_id(id_)
        if request.method == "PUT":
            pin = await self._workers.run(self._store.update, id_, update_of(await read_whole(request, MAX_BODY)).apply)
        else:
            pin = await self._workers.run(self._store.ask, lambda index: index.with_id(id_))
        if pin is None:
            raise _no_file(id_)
        if request.method == "DELETE":
            await self._workers.run(self._store.unpin, pin.cid)
            return _data(None)
        return _data(file_body(pin))

    # Pins by CID

    async def _pin_by_cid(self, request: web.BaseRequest) -> web.Response:
        fields = json_fields(await read_whole(request, MAX_BODY))
        cid = read_cid(fields.get("cid"))
        options = replace(read_options(fields, None), group=text_field(fields.get("group_id")))
        await self._workers.run(self._store.check_group, options.group)
        return _data(job_body(await self._by_cid.pin(cid, options)))

    async def _jobs(self, request: web.BaseRequest) -> web.Response:
        asked = request.query
        check_filters(asked, JOB_FILTERS)
        jobs = await self._by_cid.jobs(asked.get("status", ""), spellings(asked.get("cid", "")))
        if not is_ascending(asked.get("order") or asked.get("sort") or "DESC"):
            jobs.reverse()
        after = _token(asked.get("pageToken"))
        start = next((number + 1 for number, job in enumerate(jobs) if job.id == after), 0)
        end = start + (read_number(asked, "limit", PAGE, 1, 250) or PAGE)
        shown = [job_body(job) for job in jobs[start:end]]
        return _data({"jobs": shown, "next_page_token": _next(shown, has_more=len(jobs) > end)})

    # Groups

    async def _make_group(self, request: web.BaseRequest) -> web.Response:
        fields = json_fields(await read_whole(request, MAX_BODY))
        now = time.time_ns() // 1_000_000
        group = Group(str(uuid.uuid4()), _group_name(fields), fields.get("is_public") is not False, now)
        await self._workers.run(self._store.change, lambda connection: insert_group(connection, group))
        return _data(group_body(group))

    async def _groups(self, request: web.BaseRequest) -> web.Response:
        asked = request.query
        check_filters(asked, GROUP_FILTERS)
        limit = read_number(asked, "limit", PAGE, 1, MAX_PAGE) or PAGE
        after, name, kind = _token(asked.get("pageToken")), asked.get("name", ""), asked.get("isPublic", "").lower()
        if kind not in ("", "true", "false"):
            raise ApiError(400, "isPublic must be true or false.")

        def page(index: Index) -> list[Group]:
            return index.groups(name, limit + 1, after, is_public=kind == "true" if kind else None)

        groups = await self._workers.run(self._store.ask, page)
        shown = [group_body(group) for group in groups[:limit]]
        return _data({"groups": shown, "next_page_token": _next(shown, has_more=len(groups) > limit)})

    async def _group(self, request: web.BaseRequest, id_: str) -> web.Response:
        if request.method == "DELETE":
            if not await self._workers.run(self._store.change, lambda connection: remove_group(connection, id_)):
                raise _no_group(id_)
            return _data(None)
        group = await self._workers.run(self._store.ask, lambda index: index.group(id_))
        if group is None:
            raise _no_group(id_)
        if request.method == "PUT":
            fields = json_fields(await read_whole(request, MAX_BODY))
            is_public = fields.get("is_public", group.is_public)
            name = _group_name(fields) if "name" in fields else group.name
            group = changed = replace(group, name=name, is_public=bool(is_public))
            await self._workers.run(self._store.change, lambda connection: update_group(connection, changed))
        return _data(group_body(group))

    async def _move(self, to: str | None, group: str, file_id: str) -> web.Response:
        """Add a file to a group, or remove it."""
        await self._workers.run(self._store.check_group, group)
        moved = await self._workers.run(
            self._store.update, self._tus.pin_id(file_id), lambda pin: replace(pin, group=to)
        )
        if moved is None:
            raise _no_file(file_id)
        return _data(None)


NO_GRANT = Grant({}, None, ())
UNSUPPORTED = {
    "streamable": "This node makes no streams of videos: leave streamable out.",
    "expires_at": "This node deletes no files by itself: leave expires_at out.",
}


def network_free(segment: str) -> bool:
    """Whether a segment names an upload, not a network."""
    return segment not in ("public", "private")


def upload_options(fields: Mapping[str, str]) -> Options:
    """The options of an upload, from the fields of its form or its metadata."""
    version = fields.get("cid_version", "").lower().removeprefix("v") or "1"
    try:
        keyvalues = parse(fields["keyvalues"]) if fields.get("keyvalues", "").strip() else None
    except NotJSON as error:
        raise ApiError(400, "keyvalues must be JSON.") from error
    if isinstance(keyvalues, dict) and isinstance(nested := cast("dict[str, Any]", keyvalues).get("keyvalues"), dict):
        keyvalues = cast("dict[str, Any]", nested)  # as the service's guides write them
    name = fields.get("name") or None
    options = read_options({"name": name, "keyvalues": keyvalues}, {"cidVersion": version})
    # As the service does: a name ends before its first slash.
    cut = options.name and options.name.partition("/")[0]
    is_car = fields.get("car", "").lower() == "true"
    return replace(options, name=cut or None, group=_group_of(fields), car=is_car)


def _group_of(fields: Mapping[str, str]) -> str | None:
    """The group of an upload; the service's guides call it otherwise than its SDK."""
    return fields.get("group_id") or fields.get("group") or None


def update_of(body: bytes) -> Update:
    """The change that a request asks for."""
    fields = json_fields(body)
    if fields.get("expires_at") is not None:
        raise ApiError(400, UNSUPPORTED["expires_at"])
    options = read_options(fields, None)
    return Update(options.name, options.keyvalues)


def file_query(asked: Mapping[str, str]) -> PinQuery:
    """The query of a listing."""
    conditions: list[Condition] = []
    for name, value in asked.items():
        key = next((name[len(form) : -1] for form in ("keyvalues[", "metadata[") if name.startswith(form)), None)
        if key is not None:
            conditions.append(Condition(key, "eq", value))
        elif name not in LIST_FILTERS:
            raise ApiError(400, f"This node can't filter by {name[:100]!r}.")
    group = asked.get("group")
    return PinQuery(
        status="pinned",
        limit=read_number(asked, "limit", PAGE, 1, MAX_PAGE) or PAGE,
        cids=spellings(asked.get("cid", "")),
        name=asked.get("name") or None,
        mime_type=asked.get("mimeType") or None,
        group="" if group == "null" else group or None,
        keyvalues=tuple(conditions),
        after=_token(asked.get("pageToken")),
        ascending=is_ascending(asked.get("order") or "DESC"),
    )


def file_body(pin: Pin) -> dict[str, Any]:
    """A file in this API's form."""
    return {
        "id": pin.id,
        "user_id": "local",
        "name": pin.name,
        "cid": pin.cid,
        "created_at": when(pin.pinned_at),
        "size": pin.size,
        "number_of_files": pin.files,
        "mime_type": pin.mime_type,
        "group_id": pin.group,
        "keyvalues": pin.keyvalues or {},
        "vectorized": False,
        "network": "public",
    }


def job_body(asked: Pin | Job) -> dict[str, Any]:
    """A request to pin by CID; one that is done at once says so."""
    pinned = isinstance(asked, Pin)
    options = asked if pinned else asked.options
    return {
        "id": asked.id,
        "cid": str(asked.cid),
        "date_queued": when(asked.pinned_at if pinned else asked.queued_at),
        "name": options.name,
        "status": "pinned" if pinned else asked.status,
        "keyvalues": options.keyvalues or {},
        "host_nodes": [],
        "group_id": options.group,
    }


def group_body(group: Group) -> dict[str, Any]:
    """A group in this API's form."""
    return {"id": group.id, "name": group.name, "is_public": group.is_public, "created_at": when(group.created_at)}


def _segments(request: web.BaseRequest) -> list[str]:
    return request.rel_url.path.removeprefix("/v3/").strip("/").split("/")


def _base(request: web.BaseRequest) -> str:
    """The node's address, as this client knows it."""
    return f"http://{request.headers['Host']}"


def _data(data: Any) -> web.Response:
    return web.json_response({"data": data})


def _tus_headers(upload: TusUpload) -> dict[str, str]:
    cid = {} if upload.pin is None else {"Upload-Cid": upload.pin.cid}
    return {**TUS, "Upload-Offset": str(upload.offset), "Upload-Length": str(upload.terms.length), **cid}


def _next(shown: list[dict[str, Any]], *, has_more: bool) -> str:
    return base64.urlsafe_b64encode(cast(str, shown[-1]["id"]).encode()).decode() if has_more else ""


def _token(text: str | None) -> str | None:
    """The id behind which a page begins."""
    try:
        return base64.urlsafe_b64decode(text).decode() if text else None
    except ValueError as error:  # no base64, no text, or a letter beyond ASCII
        raise ApiError(400, "pageToken must be the next_page_token of the page before.") from error


def _group_name(fields: Mapping[str, Any]) -> str:
    name = text_field(fields.get("name"))
    if not name:
        raise ApiError(400, INVALID)
    return name


def _no(request: web.BaseRequest) -> str:
    return f"This node has no {request.method} {request.rel_url.raw_path}."


def _no_file(id_: str) -> ApiError:
    return ApiError(404, f"No file has the id {id_[:100]!r}.")


def _no_group(id_: str) -> ApiError:
    return ApiError(404, f"No group has the id {id_[:100]!r}.")
