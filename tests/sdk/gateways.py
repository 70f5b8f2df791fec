"""Gateways for tests of verification: made from blocks, honest or not, trustless or not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from aiohttp import web

from pinui import Client, Verification
from pinui.ipfs.car import encode_header, encode_section_head
from pinui.ipfs.cid import Cid
from pinui.ipfs.exporter import walk_blocks
from pinui.ipfs.folders import FolderBuilder
from pinui.ipfs.importer import Importer, ImportProfile

EMPTY = Cid.parse("bafkqaaa")
Change = Callable[[bytes], bytes]


@dataclass
class Content:
    """Some content cut into blocks."""

    root: Cid
    plain: bytes
    blocks: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    is_folder: bool = False

    @property
    def cid(self) -> str:
        return str(self.root)

    def sections(self) -> list[tuple[Cid, bytes]]:
        """Every block in the order a reader needs them."""
        return [(cid, bytes(block)) for cid, block in walk_blocks(self.root, self.lookup)]

    def lookup(self, cid: Cid) -> bytes:
        return self.blocks[cid.multihash]

    def car(self, sections: list[tuple[Cid, bytes]] | None = None) -> bytes:
        parts = [encode_header([self.root])]
        for cid, block in self.sections() if sections is None else sections:
            parts += [encode_section_head(cid, len(block)), block]
        return b"".join(parts)


def cut(data: bytes, profile: ImportProfile) -> Content:
    """A file, cut as the profile says."""
    importer = Importer(profile)
    made = importer.feed(data)
    rest, root, _ = importer.finish()
    return Content(root, data, {block.cid.multihash: b"".join(block.parts) for block in (*made, *rest)})


def folder_of(files: dict[str, bytes], profile: ImportProfile) -> Content:
    """A folder of files."""
    builder = FolderBuilder(profile.cid_version)
    blocks: dict[bytes, bytes] = {}
    for name, data in files.items():
        importer = Importer(profile)
        made = importer.feed(data)
        rest, root, total = importer.finish()
        blocks |= {block.cid.multihash: b"".join(block.parts) for block in (*made, *rest)}
        builder.add(name, root, total)
    made, root, _ = builder.finish()
    blocks |= {block.cid.multihash: b"".join(block.parts) for block in made}
    return Content(root, b"<html>a listing</html>", blocks, is_folder=True)


@dataclass
class FakeGateway:
    """A handler for `tests.servers.serve`. Each kind of answer can be changed, or left out with None."""

    content: Content
    plain: Change | None = lambda body: body
    car: Change | None = None
    raw: Change | None = None
    status: int = 200
    car_type: str = "application/vnd.ipld.car; version=1; order=dfs; dups=y"
    asked: list[str] = field(default_factory=list[str])

    async def __call__(self, request: web.Request) -> web.Response:
        form = request.query.get("format", "plain")
        self.asked.append(form)
        if self.status != 200:
            return web.Response(status=self.status, text="not today")
        cid = Cid.parse(request.path.split("/")[2])
        if form == "raw" and cid == EMPTY:
            gives_blocks = self.car is not None or self.raw is not None
            return web.Response(content_type="application/vnd.ipld.raw" if gives_blocks else "text/plain")
        if form == "car" and self.car is not None:
            return web.Response(body=self.car(self.content.car()), headers={"Content-Type": self.car_type})
        if form == "raw" and self.raw is not None:
            block = self.content.blocks.get(cid.multihash)
            if block is None:
                return web.Response(status=404, text="no such block")
            return web.Response(body=self.raw(block), content_type="application/vnd.ipld.raw")
        if self.plain is None:
            return web.Response(status=404, text="nothing here")
        # Like a gateway that knows no formats: the plain file, whatever was asked for.
        return web.Response(body=self.plain(self.content.plain), content_type="application/octet-stream")


def flip(position: int, bit: int = 0) -> Change:
    """Turn over one bit; a negative position counts from the end."""

    def change(body: bytes) -> bytes:
        changed = bytearray(body)
        changed[position] ^= 1 << bit
        return bytes(changed)

    return change


def honest(body: bytes) -> bytes:
    return body


async def pour(client: Client, cid: str, into: BinaryIO) -> Verification | None:
    """Write a stream into an open file, and give its verdict."""
    async with client.stream(cid) as stream:
        async for piece in stream:
            await asyncio.to_thread(into.write, piece)
        return stream.verification


class Listing(FakeGateway):
    """Marks the pages that it makes for folders, as real gateways do."""

    async def __call__(self, request: Any) -> Any:
        response = await super().__call__(request)
        if request.query.get("format", "plain") == "plain":
            response.headers["ETag"] = '"DirIndex-abc"'
        return response
