"""Copying pins from one service to another: first a plan, then the work. The CID of each pin stays as it is.

Content goes by archive where the destination imports CARs; by CID where its daemon can fetch from the source's; else it
is read, verified, and uploaded with the settings that give the same CID, which is predicted before anything is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pinui.ipfs.cid import DAG_PB, RAW, SHA2_256, Cid
from pinui.ipfs.dagpb import decode_node
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.importer import KUBO_V0
from pinui.ipfs.unixfs import FilePiece, Symlink, read_block
from pinui.sdk.errors import ContentError, NetworkTimeout, PinuiError, ProviderError, Unsupported
from pinui.sdk.models import Pin
from pinui.sdk.names import safe_name
from pinui.sdk.stored_json import text_of
from pinui.sdk.urls import is_loopback
from pinui.sdk.writing.folder_rules import EVERYTHING
from pinui.sdk.writing.prediction import predict_source, profile_for
from pinui.sdk.writing.sources import open_source
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.filters import parse_filter
from pinui.workspace.open_client import OpenClient
from pinui.workspace.rows import Entry, now_ms
from pinui.workspace.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pinui.sdk.client import Client
    from pinui.workspace.service import Home, Service
    from pinui.workspace.transfers import Progress

__all__ = ["Copying", "Item", "Plan", "Way", "WouldChange"]

LOOKS_AT_ONCE = 8
FEW = 20
"""Up to so many CIDs, the destination is asked for each; beyond, it lists its pins."""
MOST_LOOKS = 5000
"""Up to so many pins, a size that the source doesn't tell is read from the first block."""
CONNECT_SECONDS = 15
FETCH_SECONDS = 60
"""The time in which a service has to fetch content by CID; then it goes on by itself."""
FIRST_LOOK, LAST_LOOK = 0.1, 2.0
LAYOUT = "it was cut into blocks in another way than the service does"
FOLDERS = "the service keeps folders in another way, for example without empty ones"

T = TypeVar("T")
R = TypeVar("R")
Way = Literal["archive", "cid", "upload", "there", "left out"]


@dataclass(frozen=True, slots=True)
class Item:
    """One pin of a plan."""

    cid: str
    name: str | None
    size: int | None
    """Bytes of all blocks; None if nobody tells."""
    way: Way
    why: str | None = None
    """The reason to leave it out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The pins to copy, oldest first, and the way of each."""

    source: str
    to: str
    items: tuple[Item, ...]

    def of(self, way: Way) -> list[Item]:
        """The pins that go this way."""
        return [item for item in self.items if item.way == way]

    @property
    def reasons(self) -> dict[str, int]:
        """The reasons to leave pins out, and the number of pins for each."""
        return dict(Counter(item.why or "" for item in self.of("left out")))

    @property
    def going(self) -> list[Item]:
        """The pins that will be copied."""
        return [item for item in self.items if item.way in ("archive", "cid", "upload")]


class WouldChange(WorkspaceError):
    """The destination would give the content another CID. Nothing was sent."""


class Copying:
    """Copies pins from one service to another. Nothing is removed at the source.

    With `repairs`, a pin that the destination lists is replaced: its content is lost or damaged.
    """

    def __init__(self, home: Home, source: Service, to: Service, *, repairs: bool = False) -> None:
        if source.profile.name == to.profile.name:
            raise WorkspaceError("The two services are the same one.", hint="Choose two profiles.")
        self._home = home
        self._source = source
        self._to = to
        self._repairs = repairs
        self._origins: tuple[str, ...] = ()
        self._way: tuple[Way, str | None] | None = None

    async def wanted(self, options: dict[str, Any]) -> list[Pin]:
        """The pins that a request for copies means."""
        return await (self.pins_of(options["cids"]) if options["cids"] else self.all_pins(options["filter"]))

    async def all_pins(self, text: str = "") -> list[Pin]:
        """The pins of the source that match a filter, newest first."""
        wanted, now = parse_filter(text), time.time()
        with self._source.held() as source:
            client = await source.client()
            async with aclosing(client.pins()) as listing:
                return [pin async for pin in listing if wanted.matches(pin.cid, pin.name, pin.size, pin.created, now)]

    async def pins_of(self, cids: Iterable[str]) -> list[Pin]:
        """The pins of these CIDs, with their names at the source; content that it only serves has none."""
        with self._source.held() as source:
            client = await source.client()

            async def find(cid: str) -> Pin:
                pin = await client.find(cid)
                return Pin(cid=cid) if pin is None else replace(pin, cid=cid)

            return await _each(list(cids), find)

    async def plan(self, pins: Sequence[Pin]) -> Plan:
        """Find out the way of each of these pins, which are in the source's order, newest first."""
        with self._source.held() as source, self._to.held() as to:
            reader, writer = await source.open_to_read(), await to.client()
            there = set[tuple[int, bytes]]() if self._repairs else await _there(writer, pins)
            self._way = way, why = await self._usual_way(reader, writer)

            async def look(pin: Pin) -> Item:
                item = Item(pin.cid, pin.name, pin.size, way, why)
                if _key(pin.cid) in there:
                    return replace(item, way="there", why=None)
                is_told = item.size is not None or len(pins) > MOST_LOOKS
                if way == "left out" or (way != "upload" and is_told):
                    return item
                return await _look_at_root(reader, item)

            unique = {_key(pin.cid): pin for pin in reversed(pins)}
            return Plan(source.profile.name, to.profile.name, tuple(await _each(list(unique.values()), look)))

    async def prepare(self) -> None:
        """Find out how content goes between these services, once."""
        if self._way is None:
            with self._source.held() as source, self._to.held() as to:
                self._way = await self._usual_way(await source.open_to_read(), await to.client())

    async def copy(self, pin: Item, progress: Progress) -> Literal["copied", "asked"]:
        """Copy one pin. An exception says why it is not copied; `WouldChange` that its CID would not stay."""
        await self.prepare()
        if pin.way == "left out":
            raise WorkspaceError(f"It can't be copied: {pin.why}.")
        with self._source.held(), self._to.held():
            await self._home.history.check()
            state = await self._move(pin, progress)
            if state == "copied":
                await self.record(pin)
        return state

    async def record(self, pin: Item) -> None:
        """Write a copy into the history, with what is known here of its content."""
        history, profile, now = self._home.history, self._to.profile.name, now_ms()
        if await history.latest(pin.cid, profile) is not None:  # a repair, or a pin that was revoked
            await history.add_pin(profile, Pin(cid=pin.cid, name=pin.name, size=pin.size), now)
            return
        known, text = await history.latest(pin.cid), None
        if known is not None and known.kind != "file":
            record = await history.record(known.id)
            text = None if record is None or record.data is None else await text_of(record.data)
        size = pin.size if known is None or known.bytes is None else known.size
        row = Entry(
            0,
            pin.cid,
            now,
            size or 0,
            "file" if text is None else "json",
            "sent",
            profile,
            name=pin.name if known is None else known.name,
            excerpt=text,
            verification="verified",
            is_folder=known is not None and known.is_folder,
            bytes=None if size is None else 0,
        )
        await history.add(row, text)

    async def is_there(self, cid: str) -> bool:
        """Whether the destination keeps some content, or is about to."""
        with self._to.held() as to:
            return await _keeps(await to.client(), cid)

    @property
    def way(self) -> Way:
        """The usual way between these services, once it is found out."""
        return self._way[0] if self._way is not None else "archive"

    async def _usual_way(self, reader: Client, writer: Client) -> tuple[Way, str | None]:
        """The way that most pins go between these two services, or why none can."""
        self._origins = await reader.origins()
        if not self._to.profile.traits.takes_uploads:
            if self._origins or _is_public(self._source):
                return "cid", None
            name = self._source.profile.name
            return "left out", f"the service fetches content by its CID, and {name} is not on the IPFS network"
        if await self._is_connected(reader, writer):
            return "cid", None
        return ("archive" if await writer.takes_archives() else "upload"), None

    async def _is_connected(self, reader: Client, writer: Client) -> bool:
        """Whether the daemons of both services can fetch from each other."""
        theirs = await writer.origins()
        if not self._origins or not theirs:
            return False
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await writer.connect_to(self._origins) or await reader.connect_to(theirs)
        except TimeoutError:
            return False

    async def _move(self, item: Item, progress: Progress) -> Literal["copied", "asked"]:
        """Copy one pin. If one way fails, the next one is tried, if it keeps the CID."""
        reader, writer = await self._source.open_to_read(), await self._to.client()
        takes_uploads = self._to.profile.traits.takes_uploads
        if item.way == "cid" and not (takes_uploads and self._repairs):
            try:
                return await self._ask(writer, item)
            except (NetworkTimeout, ProviderError):
                if not takes_uploads:
                    raise
        if item.way != "upload":
            with scratch_folder() as folder:
                path = folder / item.cid  # a service may name content without a name like its file
                try:
                    await reader.export_car(item.cid, path, on_progress=progress)
                    name = await self._make_room(writer, item)
                    sending = writer.import_car(path, name=name or "", exported=item.cid)
                    await self._to.call(sending)
                except (Unsupported, ContentError):
                    pass  # no blocks from this gateway, or no archives for this service
                else:
                    return "copied"
        await self._upload(reader, writer, item, progress)
        return "copied"

    async def _make_room(self, writer: Client, item: Item) -> str | None:
        """The name for the copy. For a repair, the damaged pin goes first: a service keeps a pin that it has."""
        damaged = await writer.find(item.cid) if self._repairs else None
        if damaged is None:
            return item.name
        await writer.revoke(item.cid)
        return damaged.name or item.name

    async def _ask(self, writer: Client, item: Item) -> Literal["copied", "asked"]:
        """Have the destination fetch content by its CID, and watch it for a while."""
        pin = await self._to.call(writer.pin(item.cid, name=item.name, origins=self._origins))
        end, pause = time.monotonic() + FETCH_SECONDS, FIRST_LOOK
        while pin.status in ("queued", "pinning") and time.monotonic() < end:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LAST_LOOK)
            pin = await writer.find(item.cid) or pin
        if pin.status == "failed":
            raise ProviderError(
                "The service could not fetch it", status=200, hint="A daemon that has it must be online."
            )
        return "copied" if pin.status == "pinned" else "asked"

    async def _upload(self, reader: Client, writer: Client, item: Item, progress: Progress) -> None:
        """Read the content, predict the CID that the destination would give it, and send it if that is the same."""
        version = 1 if Cid.parse(item.cid).version == 1 else 0
        with scratch_folder() as folder:
            path = folder / safe_name(item.name or "", item.cid)
            verdicts: list[str | None] = []
            await reader.download(item.cid, to=path, on_progress=progress, on_verdict=verdicts.append)
            if verdicts != ["verified"]:
                raise ContentError("The gateway's copy could not be verified", hint="Use a trustless gateway.")
            predicted = await asyncio.to_thread(_predict, path, version)
            if predicted != item.cid:
                is_folder = await asyncio.to_thread(path.is_dir)
                raise WouldChange(f"It would become {predicted}: {FOLDERS if is_folder else LAYOUT}.")
            credentials = self._home.credentials.of_each_profile()
            opened = await OpenClient.of(self._to.profile, self._home.paths, credentials, cid_version=version)
            try:
                name = await self._make_room(writer, item)
                await self._to.call(opened.client.upload(path, hidden=True, exclude=None))
                if name is not None and name != path.name:
                    await opened.client.rename(item.cid, name)
            finally:
                await opened.aclose()


async def _there(writer: Client, pins: Sequence[Pin]) -> set[tuple[int, bytes]]:
    """The contents that the destination keeps, or is about to."""
    if len(pins) > FEW:
        async with aclosing(writer.pins()) as listing:
            return {_key(pin.cid) async for pin in listing if pin.status != "failed"}

    kept = await _each(list(pins), lambda pin: _keeps(writer, pin.cid))
    return {_key(pin.cid) for pin, is_kept in zip(pins, kept, strict=True) if is_kept}


async def _keeps(writer: Client, cid: str) -> bool:
    known = await writer.find(cid)
    return known is not None and known.status != "failed"


def _key(cid: str) -> tuple[int, bytes]:
    """The same for both versions of a CID."""
    parsed = Cid.parse(cid)
    return parsed.codec, parsed.multihash


async def _look_at_root(reader: Client, item: Item) -> Item:
    """The size of some content, and where it has to be uploaded whether its CID can be kept, from its first block."""
    try:
        block = await reader.block(item.cid)
        cid = Cid.parse(item.cid)
        size = len(block)
        if cid.codec == DAG_PB:
            size += sum(link.size or 0 for link in decode_node(block).links)
    except (PinuiError, ContentAddressError):
        return item  # the copy itself will say why
    item = replace(item, size=size if item.size is None else item.size)
    why = _trouble_with_layout(cid, block) if item.way == "upload" else None
    return item if why is None else replace(item, way="left out", why=f"its CID would change, as {why}")


def _trouble_with_layout(cid: Cid, block: bytes) -> str | None:
    """Why an upload can't give this CID, as far as the first block tells; None if it may."""
    if cid.hash_code != SHA2_256 or cid.codec not in (RAW, DAG_PB):
        return "the service makes no such CIDs from files"
    chunk = KUBO_V0.chunk_size
    if cid.codec == RAW:
        return LAYOUT if len(block) > chunk else None
    piece = read_block(cid, block)
    if isinstance(piece, Symlink):
        return "it is a link"
    if not isinstance(piece, FilePiece):
        return None  # a folder: only reading it tells
    has_raw_leaves = any(child.codec == RAW for child, _size in piece.children)
    if not piece.children:
        return LAYOUT if cid.version == 1 or len(piece.data) > chunk else None
    first, span = piece.children[0][1], chunk
    while span < first:
        span *= KUBO_V0.links
    is_even = all(size == span for _child, size in piece.children[:-1])
    is_leaf_row = span == chunk
    fits = is_even and (not is_leaf_row or has_raw_leaves == (cid.version == 1)) and len(piece.children) > 1
    return None if fits and len(piece.children) <= KUBO_V0.links else LAYOUT


def _predict(path: Path, version: int) -> str:
    """The CID that an upload gets. Touches the disk."""
    profile = profile_for(version)
    return str(predict_source(open_source(path, EVERYTHING), [profile])[profile.name])


def _is_public(service: Service) -> bool:
    """Whether a hosted service gives its content to the IPFS network."""
    profile = service.profile
    is_here = is_loopback(urlsplit(profile.api_url or "").hostname)
    return profile.traits.is_account and profile.preset != "local" and not is_here


async def _each(items: Sequence[T], work: Callable[[T], Awaitable[R]]) -> list[R]:
    """The results for each item, in their order, a few at a time."""
    results: dict[int, R] = {}
    waiting: Iterator[tuple[int, T]] = iter(enumerate(items))

    async def go_on() -> None:
        for number, item in waiting:
            results[number] = await work(item)

    await asyncio.gather(*(go_on() for _ in range(LOOKS_AT_ONCE)))
    return [results[number] for number in range(len(items))]
