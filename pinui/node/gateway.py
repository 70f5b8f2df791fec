"""The gateway: `/ipfs/CID/path` as files and folder pages, as single blocks and as CARs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from urllib.parse import unquote

from aiohttp import web

from pinui.ipfs.car import encode_header, encode_section_head
from pinui.ipfs.cid import IDENTITY, Cid
from pinui.ipfs.errors import ContentAddressError, MalformedContent, MissingBlock, UnsupportedContent
from pinui.ipfs.exporter import list_folder, load, read_file, resolve, resolve_blocks, walk_blocks, walk_range
from pinui.ipfs.ipld import CBOR, DAG_CBOR, DAG_JSON, decode_value, has_values
from pinui.ipfs.multihash import Bytes
from pinui.ipfs.unixfs import JSON, FilePiece, Symlink
from pinui.node.conditions import (
    Format,
    NotAcceptable,
    Unsatisfiable,
    Wanted,
    byte_range,
    disposition,
    is_known,
    wanted,
)
from pinui.node.errors import ApiError
from pinui.node.guard import policy, safe_headers
from pinui.node.listing import describe, folder_page, value_page
from pinui.node.media import SNIFFED, content_type
from pinui.node.sending import Outgoing
from pinui.node.store import BlockReader, PinStore
from pinui.node.workers import BLOCK, Workers

__all__ = ["CORS", "SENT", "Gateway", "GatewayError"]

FOR_EVER = "public, max-age=29030400, immutable"
BLOCKS = 32
"""Blocks in memory at once, on their way to clients."""
PAGES = 3
"""Pages of folders at once, each made as a whole: one of 20,000 entries takes about 15 MB."""
CORS = web.RequestKey("cors", dict[str, str])
"""Headers that let a page of another origin read an answer; empty for most."""
SENT = web.RequestKey("sent", int)
"""The status of a complete answer."""


@dataclass(frozen=True, slots=True)
class Codec:
    """A kind of block that holds a value, and the formats that it may be asked for in."""

    name: Format
    formats: tuple[Format, ...]


CODECS = {
    DAG_CBOR: Codec("dag-cbor", ("plain", "dag-cbor", "cbor")),
    DAG_JSON: Codec("dag-json", ("plain", "dag-json", "json")),
    CBOR: Codec("cbor", ("plain", "cbor")),
    JSON: Codec("json", ("plain", "json")),
}


class GatewayError(Exception):
    """An answer other than success: a sentence in plain text."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = headers or {}
        self.sentence = sentence


@dataclass(slots=True)
class Target:
    """The content that a request asks for."""

    asked: str
    """The path of the request as it was sent, escaped."""
    roots: tuple[Cid, ...]
    """The CID at each step of the path, the first and the last included."""
    path: tuple[str, ...]
    blocks: BlockReader

    @property
    def root(self) -> Cid:
        """The CID at the beginning of the path."""
        return self.roots[0]

    @property
    def cid(self) -> Cid:
        """The CID at its end."""
        return self.roots[-1]


class Gateway:
    """Answers GET and HEAD below /ipfs/."""

    def __init__(self, store: PinStore, workers: Workers) -> None:
        self._store = store
        self._workers = workers
        self._outgoing = Outgoing(workers, BLOCKS)
        self._pages = Outgoing(workers, PAGES)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to one request, or `GatewayError`."""
        if request.method not in ("GET", "HEAD"):
            raise ApiError.of(405, "METHOD_NOT_ALLOWED", "Use GET here.", {"Allow": "GET, HEAD"})
        segments = [unquote(part) for part in request.rel_url.raw_path.removeprefix("/ipfs/").split("/")]
        try:
            root = Cid.parse(segments[0])
        except MalformedContent:
            raise GatewayError(400, f"{segments[0][:100]!r} is not a CID.") from None
        path = tuple(part for part in segments[1:] if part)
        if not path and request.headers.get("Service-Worker") == "script":
            # A worker from here could answer for every other CID.
            raise GatewayError(400, "A service worker may not be registered for all of /ipfs/.")
        with self._store.reading() as blocks:
            try:
                asked = wanted(request.query, request.headers.get("Accept", ""))
                roots = await self._workers.run(_steps, root, path, blocks)
                if roots is not None:
                    return await self._serve(request, Target(request.rel_url.raw_path, roots, path, blocks), asked)
                if asked.format == "car":
                    return await self._absence(request, root, path, blocks)
                raise GatewayError(404, f"There is no {'/'.join(path)!r} in {root}.")
            except Unsatisfiable as error:
                raise GatewayError(400, str(error)) from error
            except NotAcceptable as error:
                raise GatewayError(406, str(error)) from error
            except MissingBlock as error:
                status = 412 if "only-if-cached" in request.headers.get("Cache-Control", "") else 404
                raise GatewayError(status, str(error)) from error
            except UnsupportedContent as error:
                raise GatewayError(501, f"{error}.") from error
            except ContentAddressError as error:
                raise GatewayError(500, f"{error}.") from error

    async def _serve(self, request: web.BaseRequest, target: Target, asked: Wanted) -> web.StreamResponse:
        if asked.format == "raw":
            return await self._raw(request, target)
        if asked.format == "car":
            return await self._car(request, target, asked)
        codec = CODECS.get(target.cid.codec)
        if asked.format not in ("plain", "json", "cbor") if codec is None else asked.format not in codec.formats:
            raise GatewayError(406, f"{target.cid} is no {asked.format}, and this gateway converts nothing.")
        if codec is not None:
            return await self._value(request, target, codec, asked.format)
        piece = await self._workers.run(load, target.cid, target.blocks)
        if isinstance(piece, FilePiece):
            return await self._file(request, target, target.cid, piece.size)
        if isinstance(piece, Symlink):
            link, headers = piece.target.encode(), _headers(target, "text/plain; charset=utf-8")
            return await self._stream(request, headers, iter([link]), len(link))
        return await self._folder(request, target)

    async def _raw(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        headers = _headers(target, "application/vnd.ipld.raw", ".raw")
        headers["Content-Disposition"] = disposition(_name(request) or f"{target.cid}.bin", download=True)
        return await self._block(request, target, headers)

    async def _block(self, request: web.BaseRequest, target: Target, headers: dict[str, str]) -> web.StreamResponse:
        headers["Accept-Ranges"] = "bytes"
        async with self._outgoing.room():
            data = await self._workers.run(target.blocks, target.cid)
            span = self._span(request, headers, len(data))
            part = data[slice(*span)] if span else data
            return await _send(self._outgoing, request, headers, part, 206 if span else 200)

    async def _value(self, request: web.BaseRequest, target: Target, codec: Codec, asked: Format) -> web.StreamResponse:
        """A block that holds a value: a page for a browser, else the block as it is."""
        if asked == "plain" and has_values(target.cid) and "text/html" in request.headers.get("Accept", ""):
            cid, blocks = target.cid, target.blocks
            return await self._page(
                request, target, "DagIndex", lambda: value_page(cid, decode_value(cid, blocks(cid)))
            )
        kind = asked if asked != "plain" else codec.name
        plain = kind.removeprefix("dag-")
        media = f"application/{plain}" if kind == plain else f"application/vnd.ipld.{kind}"
        headers = _headers(target, media, f".{kind}")
        download = plain == "cbor" or request.query.get("download") == "true"
        headers["Content-Disposition"] = disposition(_name(request) or f"{target.cid}.{plain}", download)
        return await self._block(request, target, headers)

    async def _page(
        self, request: web.BaseRequest, target: Target, mark: str, draw: Callable[[], str]
    ) -> web.StreamResponse:
        """A page of our own about some content. A client that knows the content by its CID needs none."""
        headers = _headers(target, "text/html; charset=utf-8")
        headers |= safe_headers("default-src 'none'; style-src 'unsafe-inline'")
        del headers["Cache-Control"]  # the page may change with the program
        if is_known(request.headers.get("If-None-Match"), headers["ETag"]):
            return _known(headers)
        async with self._pages.room():
            page = (await self._workers.run(draw)).encode(errors="replace")
            # Gateways mark a page that they made themselves: readers ask for the content instead.
            headers["ETag"] = f'"{mark}-{hashlib.sha256(page).hexdigest()[:16]}_CID-{target.cid}"'
            return await _send(self._pages, request, headers, page)

    async def _car(self, request: web.BaseRequest, target: Target, asked: Wanted) -> web.StreamResponse:
        marks = f"{target.root}/{'/'.join(target.path)}?{asked}"
        headers = _headers(
            target,
            f"application/vnd.ipld.car; version=1; order=dfs; dups={'y' if asked.repeats else 'n'}",
            f".car.{hashlib.sha256(marks.encode()).hexdigest()[:16]}",
        )
        headers["Content-Disposition"] = disposition(_name(request) or f"{target.cid}.car", download=True)
        headers["Accept-Ranges"] = "none"
        return await self._stream(request, headers, _sections(target, asked), None)

    async def _absence(
        self, request: web.BaseRequest, root: Cid, path: tuple[str, ...], blocks: BlockReader
    ) -> web.StreamResponse:
        """A CAR of the blocks that prove that a path leads nowhere.

        The status is 404: the conformance suite wants 200 only from gateways that send before they know the path.
        """
        headers = {"Content-Type": "application/vnd.ipld.car; version=1; order=dfs; dups=n", "Accept-Ranges": "none"}
        headers["Content-Disposition"] = disposition(f"{root}.car", download=True)
        response = _response(headers | safe_headers() | request[CORS], None, 404)
        proof = chain([encode_header([root])], _archived(_on_the_way(root, path, blocks), repeats=False))
        await self._outgoing.send(request, response, proof if request.method == "GET" else iter(()))
        return await _ended(request, response)

    async def _folder(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        if not request.rel_url.raw_path.endswith("/"):
            # Links on the page are relative to it.
            query = f"?{request.rel_url.raw_query_string}" if request.rel_url.raw_query_string else ""
            raise web.HTTPMovedPermanently(f"{request.rel_url.raw_path}/{query}")
        index = await self._workers.run(resolve, target.cid, ("index.html",), target.blocks)
        if index is not None:
            piece = await self._workers.run(load, index, target.blocks)
            if isinstance(piece, FilePiece):
                return await self._file(request, target, index, piece.size, "index.html")

        def draw() -> str:
            entries = sorted(list_folder(target.cid, target.blocks), key=lambda entry: entry.name or "")
            rows = describe(entries, target.blocks)
            pin = self._store.pin_of(target.root)
            return folder_page(target.root, target.path, target.cid, pin.name if pin else None, rows)

        return await self._page(request, target, "DirIndex", draw)

    async def _file(
        self, request: web.BaseRequest, target: Target, file: Cid, size: int, name: str | None = None
    ) -> web.StreamResponse:
        name = _name(request) or name or (target.path[-1] if target.path else None)

        def look() -> tuple[bytes, str | None]:
            """The beginning of the file, and the name of its pin as a default name."""
            beginning = b"".join(read_file(file, target.blocks, 0, SNIFFED))
            pin = self._store.pin_of(file) if name is None else None
            return beginning, pin.name if pin is not None and pin.mime_type != "application/json" else name

        beginning, name = await self._workers.run(look)
        headers = _headers(target, content_type(name, beginning))
        download = request.query.get("download") == "true"
        if download or "filename" in request.query:
            headers["Content-Disposition"] = disposition(name, download)
        headers["Accept-Ranges"] = "bytes"
        span = self._span(request, headers, size)
        start, stop = span or (0, size)
        content = read_file(file, target.blocks, start, stop)
        return await self._stream(request, headers, content, stop - start, 206 if span else 200)

    def _span(self, request: web.BaseRequest, headers: dict[str, str], size: int) -> tuple[int, int] | None:
        condition = request.headers.get("If-Range")
        if condition is not None and condition != headers["ETag"]:
            return None
        try:
            span = byte_range(request.headers.get("Range"), size)
        except Unsatisfiable as error:
            raise GatewayError(416, str(error), {"Content-Range": f"bytes */{size}"}) from error
        if span is not None:
            headers["Content-Range"] = f"bytes {span[0]}-{span[1] - 1}/{size}"
        return span

    async def _stream(
        self,
        request: web.BaseRequest,
        headers: dict[str, str],
        content: Iterator[Bytes],
        size: int | None,
        status: int = 200,
    ) -> web.StreamResponse:
        """Content that is read while it is sent."""
        if is_known(request.headers.get("If-None-Match"), headers["ETag"]):
            return _known(headers)
        response = _response(headers | request[CORS], size, status)
        try:
            await self._outgoing.send(request, response, content if request.method == "GET" else iter(()))
        except (ContentAddressError, OSError) as error:
            if not response.prepared:
                raise
            # The beginning has been sent: to break off is the only way left to say that something is wrong.
            raise ConnectionAbortedError from error
        return await _ended(request, response)


async def _send(
    outgoing: Outgoing, request: web.BaseRequest, headers: dict[str, str], content: bytes, status: int = 200
) -> web.StreamResponse:
    """Content that is in memory already, with room for it."""
    if is_known(request.headers.get("If-None-Match"), headers["ETag"]):
        return _known(headers)
    response = _response(headers | request[CORS], len(content), status)
    await outgoing.send_batch(request, response, iter([content] if request.method == "GET" else []), BLOCK)
    return await _ended(request, response)


def _response(headers: dict[str, str], size: int | None, status: int) -> web.StreamResponse:
    response = web.StreamResponse(status=status, headers=headers)
    response.content_length = size
    return response


async def _ended(request: web.BaseRequest, response: web.StreamResponse) -> web.StreamResponse:
    request[SENT] = response.status  # a client that has every byte may go before the formalities are over
    await response.write_eof()
    return response


def _steps(root: Cid, path: tuple[str, ...], blocks: BlockReader) -> tuple[Cid, ...] | None:
    """The CID at each step of a path, or None if it leads nowhere."""
    steps = [root]
    names: list[str] = []
    for number, name in enumerate(path):
        names.append(name)
        if has_values(steps[-1]) and not _leads_on(steps[-1], names, blocks) and number + 1 < len(path):
            continue  # a value inside of the block: the next name leads further into it
        found = resolve(steps[-1], names, blocks)
        if found is None:
            return None
        steps.append(found)
        names = []
    return tuple(steps)


def _leads_on(cid: Cid, names: list[str], blocks: BlockReader) -> bool:
    """Whether a path inside of a block ends at a link, or nowhere."""
    try:
        resolve(cid, names, blocks)
    except UnsupportedContent:
        return False
    return True


def _name(request: web.BaseRequest) -> str | None:
    """The file name that the client asks for."""
    return request.query.get("filename") or None


def _headers(target: Target, kind: str, suffix: str = "") -> dict[str, str]:
    return {
        "Content-Type": kind,
        "ETag": f'"{target.cid}{suffix}"',
        "Cache-Control": FOR_EVER,
        **safe_headers(policy(kind)),
        "X-Ipfs-Path": target.asked,
        "X-Ipfs-Roots": ",".join(str(cid) for cid in target.roots),
    }


def _known(headers: dict[str, str]) -> web.Response:
    """The answer to a client that has this already."""
    kept = ("ETag", "Cache-Control", "X-Ipfs-Path", "X-Ipfs-Roots", *safe_headers())
    return web.Response(status=304, headers={name: headers[name] for name in kept if name in headers})


def _sections(target: Target, asked: Wanted) -> Iterator[Bytes]:
    """A CAR: the blocks on the way to the path, then those of its content."""
    yield encode_header([target.cid])
    piece = load(target.cid, target.blocks) if asked.is_part else None
    if isinstance(piece, FilePiece):
        below = walk_range(target.cid, target.blocks, *asked.span(piece.size))
    else:
        below = walk_blocks(target.cid, target.blocks, asked.scope)
    yield from _archived(chain(_on_the_way(target.root, target.path, target.blocks), below), repeats=asked.repeats)


def _on_the_way(root: Cid, path: tuple[str, ...], blocks: BlockReader) -> Iterator[tuple[Cid, Bytes]]:
    """The blocks that lead to a path, without the one at its end."""
    *way, _ = resolve_blocks(root, path, blocks)
    return ((cid, blocks(cid)) for cid in way if cid is not None and cid.hash_code != IDENTITY)


def _archived(blocks: Iterator[tuple[Cid, Bytes]], *, repeats: bool) -> Iterator[Bytes]:
    """The sections of a CAR, none held while the client takes its time."""
    seen: set[bytes] = set()
    for cid, *data in blocks:
        if not repeats:
            if cid.digest in seen:
                continue
            seen.add(cid.digest)
        yield encode_section_head(cid, len(data[0]))
        yield data.pop()
