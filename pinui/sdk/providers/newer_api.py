"""The hosted service's newer API, `/v3/…`: files with ids, uploads as forms and in pieces, pins by CID."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal, cast
from urllib.parse import quote, urljoin

from pinui.ipfs.cid import Cid
from pinui.ipfs.jsontext import utf16_length
from pinui.sdk.errors import PinuiError, ProviderError
from pinui.sdk.models import Blob, ClientConfig, Dialect, Pin, Pinned, Resume, Totals
from pinui.sdk.providers import wire
from pinui.sdk.providers.api import CHEAP_TO_REPEAT, LARGEST_ANSWER, Api, Line, Query
from pinui.sdk.providers.dialects import is_listed, judged
from pinui.sdk.providers.older_api import OlderApi
from pinui.sdk.providers.pin_list import JOB_STATES, moment
from pinui.sdk.reading.sinks import MemorySink
from pinui.sdk.transport.http import Body, Breakdown, Head, OnProgress, Rejection, Request, SecretHeader
from pinui.sdk.transport.refusals import is_not_pinned, not_pinned
from pinui.sdk.transport.retry import wait_before_retry
from pinui.sdk.transport.transport import Clock
from pinui.sdk.urls import origin
from pinui.sdk.writing.multipart import Multipart
from pinui.sdk.writing.pieces import FileInPieces
from pinui.sdk.writing.prediction import UploadPrediction, profile_for
from pinui.sdk.writing.sources import UploadSource, look_at

__all__ = ["PENDING", "NewerApi"]

PUBLIC_API, PUBLIC_UPLOADS = "https://api.pinata.cloud", "https://uploads.pinata.cloud"
PAGE = 1000
PAGE_HANDLE = "page "
"""The beginning of a handle for a list: its page token follows."""
FORGOTTEN_PAGE = (400, 404, 410, 422)
LARGEST_FORM = 90 * 1024 * 1024
"""Above this, the service's own SDK sends a file in pieces; forms end at 100 MB."""
PIECE = 50 * 1024 * 1024
MOST_BEGINNINGS = 3
PENDING = "pending"
PATCH_HEADERS = {"Content-Type": "application/offset+octet-stream", "Tus-Resumable": "1.0.0"}
# The upload is not known any more.
FORGOTTEN = (404, 410)


class NewerApi:
    """A `PinningApi` on the newer API."""

    dialect: Dialect = "pinata-v3"

    def __init__(self, api: Api, config: ClientConfig, clock: Clock) -> None:
        self._api = api
        self._clock = clock
        self._version: Literal[0, 1] = 1 if config.cid_version is None else config.cid_version
        self._verifies = config.verify != "off"
        self._retries = config.retries
        self._on_notice = config.on_notice
        self._uploads = PUBLIC_UPLOADS if api.url == PUBLIC_API else api.url
        self._token = replace(api.credential, url=self._uploads)
        # Folders of a service that doesn't take them here go the older way.
        self._older = OlderApi(api, replace(config, cid_version=self._version), "pinata", clock)

    async def put_text(self, text: str) -> Pinned:
        """Pin a JSON document, byte by byte as it is."""
        name = f"client-{int(self._clock.now() * 1000)}"
        source = await look_at(Blob(text.encode(), "application/json", "data.json"))
        return replace(await self._upload(source, name, None, None), size=utf16_length(text))

    async def put_file(
        self, source: UploadSource, on_progress: OnProgress | None, resume: Resume | None = None
    ) -> Pinned:
        """Pin a file, or a folder as one directory."""
        return await self._upload(source, source.name, on_progress, resume)

    async def _upload(
        self, source: UploadSource, name: str, on_progress: OnProgress | None, resume: Resume | None
    ) -> Pinned:
        wants_prediction = self._verifies or source.size > CHEAP_TO_REPEAT
        prediction = UploadPrediction(source, profile_for(self._version)) if wants_prediction else None
        in_pieces = source.size > LARGEST_FORM and not source.is_folder
        if in_pieces:
            cid = await self._send_in_pieces(source, name, on_progress, prediction, resume)
        else:
            cid = await self._send_form(source, name, on_progress, prediction)
        if cid is None:
            return await self._older.put_file(source, on_progress)
        predicted = None if prediction is None else prediction.cid()
        if cid == PENDING:
            if predicted is None:
                raise wire.not_understood(200, "it names no CID yet")
            cid = str(predicted)
        if in_pieces:
            await self._look_at_network(cid)
        if prediction is None or not self._verifies:
            return Pinned(cid, source.size)
        return judged(cid, source.size, prediction.verdict(cid), predicted)

    # Uploads as forms

    async def _send_form(
        self, source: UploadSource, name: str, on_progress: OnProgress | None, prediction: UploadPrediction | None
    ) -> str | None:
        """The CID that the service answered; None if it took a folder for something else."""
        fields = [("network", "public"), ("name", name), ("cid_version", f"v{self._version}")]
        body = Multipart(source.parts, fields, on_progress, prediction)
        request = self._upload_request("POST", self._files_url, {"Content-Type": body.content_type}, body)
        predict: Callable[[], Cid | None] = prediction.cid if prediction is not None else lambda: None
        sink = MemorySink(LARGEST_ANSWER)
        try:
            answer = await self._api.send(request, sink, source.size, predict, partial(is_listed, self))
        except ProviderError as error:
            if source.is_folder and error.status == 400:
                return None
            raise
        if isinstance(answer, Cid):
            return str(answer)
        file = _data(answer.status, sink.data)
        is_folder = file.get("mime_type") == "directory" and file.get("number_of_files") == len(source.parts)
        if source.is_folder and not is_folder:
            await self._forget(file)
            return None
        return self._cid_in(answer.status, file)

    def _cid_in(self, status: int, file: Line) -> str:
        """The CID of a file that was stored; one that is not public is told."""
        self._tell_network(file)
        cid = wire.one_word(file.get("cid"))
        if cid is None:
            raise wire.not_understood(status, "it names no CID")
        return cid

    async def _forget(self, file: Line) -> None:
        """Unpin the folder, unless it was pinned before."""
        if isinstance(file.get("id"), str) and file.get("is_duplicate") is not True:
            await self._api.is_removed(self._api.request("DELETE", _path(file["id"])))

    def _tell_network(self, file: Line) -> None:
        if file.get("network") not in (None, "public"):
            self._notice(
                "The service has this content as a private file already, and keeps it private: "
                "gateways don't serve it. Delete that file there, and store it again."
            )

    def _notice(self, sentence: str) -> None:
        if self._on_notice is not None:
            self._on_notice(sentence)

    # Archives

    async def import_car(self, archive: UploadSource, on_progress: OnProgress | None) -> str:
        """Pin the content of a CAR: the CID of its root, as the service answers it."""
        fields = [("network", "public"), *([("name", archive.name)] if archive.name else []), ("car", "true")]
        body = Multipart(archive.parts, fields, on_progress)
        request = self._upload_request("POST", self._files_url, {"Content-Type": body.content_type}, body)
        status, answer = await self._api.call(request)
        return self._cid_in(status, _data(status, answer))

    # Uploads in pieces

    async def _send_in_pieces(
        self,
        source: UploadSource,
        name: str,
        on_progress: OnProgress | None,
        prediction: UploadPrediction | None,
        resume: Resume | None,
    ) -> str:
        [part] = source.parts
        file = FileInPieces(part, None if prediction is None else prediction.begin(), on_progress)
        place = None if resume is None else resume.handle
        try:
            for _ in range(MOST_BEGINNINGS):
                cid = None
                if place is None:
                    place = await self._begin(part.media_type, part.size, name)
                    if resume is not None:
                        resume.keep(place)
                    cid = await self._continue(place, file, part.size)
                elif head := await self._known(place, part.size):
                    cid = await self._continue(place, file, part.size, head)
                if cid is not None:
                    await file.finish()
                    return cid
                place = None
                self._notice(f"The service has forgotten the upload of {name}: it begins again.")
            raise ProviderError(
                "The service forgot the upload each time that it was continued", status=404, hint="Try again later."
            )
        finally:
            file.close()

    async def _known(self, place: str, size: int) -> Head | None:
        """The state of an upload of an earlier process; None if it is not known, or is one of another file."""
        head = await self._look_up(place) if self._is_ours(place) else None
        return head if head is not None and head.headers.get("upload-length", str(size)) == str(size) else None

    async def _look_at_network(self, cid: str) -> None:
        """Tell if content that went up in pieces is a private file: the answer to the last piece doesn't say so."""
        with suppress(PinuiError):  # the upload is done, whatever comes of this question
            for network in ("public", "private"):
                query = {"cid": cid, "limit": 1}
                status, body = await self._api.call(self._api.request("GET", f"v3/files/{network}", query))
                if _data(status, body).get("files"):
                    self._tell_network({"network": network})
                    return

    async def _begin(self, media_type: str, size: int, name: str) -> str:
        """The address of a new upload in pieces."""
        metadata = {
            "filename": name,
            "filetype": media_type,
            "network": "public",
            "cid_version": f"v{self._version}",
        }
        encoded = ",".join(f"{key} {base64.b64encode(_utf8(value)).decode()}" for key, value in metadata.items())
        headers = {"Upload-Length": str(size), "Upload-Metadata": encoded, "Tus-Resumable": "1.0.0"}
        url = f"{self._files_url}?X-Upload-Option-Cid-Version=v{self._version}"
        outcome = await self._api.transport.perform(
            self._upload_request("POST", url, headers), MemorySink(LARGEST_ANSWER)
        )
        head = self._api.head(outcome)
        place = urljoin(self._uploads + "/", head.headers.get("location", ""))
        if not head.headers.get("location") or not self._is_ours(place):
            raise wire.not_understood(head.status, "it names no address for the upload, or one of another service")
        return place

    def _is_ours(self, place: str) -> bool:
        """Whether an address belongs to the service."""
        return origin(place) in (origin(self._uploads), origin(self._api.url))

    async def _continue(self, place: str, file: FileInPieces, size: int, known: Head | None = None) -> str | None:
        """Send everything from where the service is. The CID; None if it has forgotten the upload."""
        offset = (_offset(known) or 0) if known is not None else 0
        cid = None if known is None else wire.one_word(known.headers.get("upload-cid"))
        tries = 0
        while offset < size:
            request = self._patch(place, offset, file.piece(offset, min(PIECE, size - offset)))
            result = (await self._api.transport.perform(request, MemorySink(LARGEST_ANSWER), retries=0)).result
            if isinstance(result, Head):
                offset, tries = _offset(result) or offset + cast(Body, request.body).length, 0
            else:
                if isinstance(result, Rejection) and result.status in FORGOTTEN:
                    return None
                await self._wait(result, tries)
                head = await self._look_up(place)
                if head is None:
                    return None
                before, result = offset, head
                offset = _offset(head) or 0
                tries = 0 if offset > before else tries + 1
            cid = wire.one_word(result.headers.get("upload-cid"))
        return cid or PENDING

    async def _wait(self, result: Rejection | Breakdown, tries: int) -> None:
        """Wait before the next question for the offset; raise if another try makes no sense."""
        wait = wait_before_retry(
            # A wrong offset is no refusal: the answer has the right one.
            replace(result, status=503) if isinstance(result, Rejection) and result.status in (409, 423) else result,
            attempt=tries,
            retries=self._retries,
            now=self._clock.now(),
            random=self._clock.random,
        )
        if wait is None:
            raise self._api.error(result)
        await self._api.transport.wait(wait)

    async def _look_up(self, place: str) -> Head | None:
        """The offset of an upload; None if the service has forgotten it."""
        request = self._upload_request("HEAD", place, {"Tus-Resumable": "1.0.0"})
        outcome = await self._api.transport.perform(request, MemorySink(LARGEST_ANSWER))
        if isinstance(outcome.result, Rejection) and outcome.result.status in FORGOTTEN:
            return None
        return self._api.head(outcome)

    def _patch(self, place: str, offset: int, body: Body) -> Request:
        return self._upload_request("PATCH", place, {**PATCH_HEADERS, "Upload-Offset": str(offset)}, body)

    @property
    def _files_url(self) -> str:
        return f"{self._uploads}/v3/files"

    def _upload_request(self, method: str, url: str, headers: dict[str, str], body: Body | None = None) -> Request:
        token: SecretHeader = self._token if self._token.belongs_to(url) else self._api.credential
        return Request(method, url, headers, body, token, is_api_call=True, transfer=body is not None)

    # The account

    async def unpin(self, cid: str) -> None:
        """Delete every file with this content, however its CID is spelled."""
        files = [pin async for pin in self.pins(cid=cid)]
        if not files:
            raise not_pinned(cid)
        for file in files:
            try:
                await self._api.is_removed(self._api.request("DELETE", _path(file.id or "")))
            except ProviderError as error:
                if not is_not_pinned(error):  # another caller was faster
                    raise

    async def pins(
        self, *, name: str | None = None, cid: str | None = None, resume: Resume | None = None
    ) -> AsyncGenerator[Pin]:
        """The public files of the account, newest first. A CID is looked for in both its versions."""
        known: set[str | None] = set()
        for spelling in [None] if cid is None else Cid.parse(cid).spellings():
            query: Query = {"name": name or None, "cid": None if spelling is None else str(spelling)}
            async for pin in self._list(query, resume):
                is_asked_for = spelling is None or pin.cid == str(spelling)
                if pin.id not in known and is_asked_for and (name or "").casefold() in (pin.name or "").casefold():
                    known |= {pin.id} if cid is not None else set()
                    yield pin

    async def _list(self, query: Query, resume: Resume | None) -> AsyncGenerator[Pin]:
        handle = "" if resume is None else resume.handle or ""
        files = following = None
        if handle.startswith(PAGE_HANDLE):
            # Nobody says how long a page token is good for: a page that is refused or empty proves nothing.
            try:
                files, following = await self._page(query, handle.removeprefix(PAGE_HANDLE))
            except ProviderError as error:
                if error.status not in FORGOTTEN_PAGE:
                    raise
        if not files:
            files, following = await self._page(query, None)
        while True:
            for file in files:
                pin = _read_file(file)
                if pin is not None:
                    yield pin
            if following is None:
                return
            if resume is not None:
                resume.keep(f"{PAGE_HANDLE}{following}")
            files, following = await self._page(query, following)

    async def _page(self, query: Query, token: str | None) -> tuple[list[Any], str | None]:
        """The files of a page, and the token of the next one."""
        asked = {**query, "limit": PAGE, "order": "DESC", "pageToken": token}
        status, body = await self._api.call(self._api.request("GET", "v3/files/public", asked))
        data = _data(status, body)
        files, following = data.get("files"), data.get("next_page_token")
        if not isinstance(files, list):
            raise wire.not_understood(status, "it holds no files")
        is_last = not isinstance(following, str) or following in ("", token)
        return cast("list[Any]", files), None if is_last else following

    async def totals(self) -> Totals:
        """The size of the account, from the older API; counted file by file if the key may not ask it.

        The newer API tells no totals.
        """
        try:
            return await self._older.totals()
        except ProviderError as error:
            if error.status not in (403, 404):
                raise
        pins, size = 0, 0
        async for pin in self.pins():
            pins, size = pins + 1, size + (pin.size or 0)
        return Totals(pins, size)

    async def pin(self, cid: str, name: str | None) -> Pin:
        """Ask the service to fetch and keep content that is stored elsewhere."""
        document = {"cid": cid} if name is None else {"cid": cid, "name": name}
        status, body = await self._api.call(self._api.request("POST", "v3/files/public/pin_by_cid", document=document))
        job = _data(status, body)
        if wire.one_word(job.get("cid")) is None:
            raise wire.not_understood(status, "it names no CID")
        state = JOB_STATES.get(str(job.get("status", "prechecking")), "failed")
        return Pin(cid=cid, name=_text(job.get("name")), status=state, id=_text(job.get("id")))

    async def rename(self, cid: str, name: str) -> None:
        """Give every file with this content another name."""
        files = [pin async for pin in self.pins(cid=cid)]
        if not files:
            raise not_pinned(cid)
        for file in files:
            await self._api.call(self._api.request("PUT", _path(file.id or ""), document={"name": name}))


def _data(status: int, body: bytes) -> Line:
    """The object in an answer's `data`."""
    data = wire.answer_object(body).get("data")
    if not isinstance(data, dict):
        raise wire.not_understood(status, "it holds no data")
    return cast("Line", data)


def _read_file(file: object) -> Pin | None:
    """A file of a listing; None for something else, and for one whose CID is not known yet."""
    fields = cast("Line", file) if isinstance(file, dict) else {}
    cid, id_ = wire.one_word(fields.get("cid")), _text(fields.get("id"))
    if cid in (None, PENDING) or id_ is None:
        return None
    return Pin(
        cid=cid,
        name=_text(fields.get("name")),
        size=wire.whole_number(fields.get("size")),
        created=moment(fields.get("created_at")),
        id=id_,
    )


def _offset(head: Head) -> int | None:
    return wire.whole_number(head.headers.get("upload-offset"))


def _path(id_: str) -> str:
    return f"v3/files/public/{quote(id_, safe='')}"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
