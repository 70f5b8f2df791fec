"""Sinks that check the bytes on their way: plain bytes against a CID, and CARs block by block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Protocol

from pinui.ipfs.car import CarReader, encode_header
from pinui.ipfs.cid import RAW, Cid
from pinui.ipfs.errors import ContentAddressError, ForgottenBlock
from pinui.ipfs.limits import MAX_BLOCK
from pinui.ipfs.plain_bytes import ONE_BLOCK, ContentCheck, Finding, can_rebuild, likely_profiles
from pinui.ipfs.verifier import CarVerifier, Event, FileBytes, FileStart, FolderEntry, FolderStart, SymlinkFound
from pinui.sdk.errors import ContentError, IntegrityError
from pinui.sdk.names import media_type_of
from pinui.sdk.reading.folder_writer import FolderSink
from pinui.sdk.reading.kept_blocks import KeptBlocks
from pinui.sdk.trailing_work import ONE_HOP, QUICK_TO_HASH, TrailingWork
from pinui.sdk.transport.http import Head, Sink

__all__ = ["FOLDER_HINT", "CarSink", "CheckingSink", "NotProven", "NotTrustless", "ReadSink"]

# The part of an archive that is checked at once.
CAR_BATCH = 1024 * 1024
# The events that are handed on at once: a few blocks that link to each other may unfold without end.
MOST_EVENTS = 10_000
MOST_BYTES = 4 * CAR_BATCH


class ReadSink(Sink, Protocol):
    """A sink whose content can be read again and discarded."""

    @property
    def can_restart(self) -> bool:
        """Whether the content can still be discarded; always, but for pipes."""
        ...

    @property
    def keeps(self) -> bool:
        """Whether the content is kept; otherwise it is only checked, and can't be read again."""
        ...

    def restart(self) -> None:
        """Discard everything received."""
        ...

    async def replay(self, feed: Callable[[bytes], None]) -> None:
        """Pass everything received to `feed`, in pieces and in a thread."""
        ...


class NotTrustless(Exception):
    """The gateway answered something else than the requested blocks."""


class NotProven(Exception):
    """The gateway's archive shows neither that the content is right nor that it is wrong."""


class CheckingSink:
    """Hashes the bytes that it hands on, while more arrive. Bytes that are not kept are hashed in every likely way."""

    def __init__(self, inner: ReadSink, cid: Cid) -> None:
        self._inner = inner
        self._cid = cid
        self._checks = self._new_checks()
        self._batch: list[bytes] = []
        self._batched = 0
        self._size = 0
        self._hashing = TrailingWork()
        self._is_listing = False

    @property
    def full(self) -> bool:
        # A generated listing of a folder is no content, which has to be read in another way.
        return self._inner.full or self._is_listing

    def resume_from(self) -> tuple[int, str] | None:
        return self._inner.resume_from()

    async def begin(self, head: Head, offset: int) -> None:
        if offset == 0:
            self._hashing = TrailingWork()  # the one of an attempt that is void goes with the check that it works for
            self._checks = self._new_checks()
            self._batch.clear()
            self._batched = self._size = 0
        self._is_listing = head.is_listing
        await self._inner.begin(head, offset)
        if offset != self._size:  # an earlier process left the first bytes
            checks = self._checks = self._new_checks()
            await self._inner.replay(lambda piece: self._hash(checks, (piece,)))
            self._size = offset

    async def write(self, chunk: bytes) -> None:
        # Counted here and in the inner sink before anything is awaited: a download that is cut off and goes on later
        # has both at the same place.
        self._batch.append(chunk)
        self._batched += len(chunk)
        self._size += len(chunk)
        await self._inner.write(chunk)
        if self._batched >= ONE_HOP:
            await self._hash_batch()

    async def finding(self) -> Finding:
        """The finding on the bytes, after every likely way of cutting them was tried."""
        await self._hash_batch()
        await self._hashing.settle()
        findings: list[Finding] = [check.finding() for check in self._checks]
        finding: Finding = "verified" if "verified" in findings else findings[0]
        if finding != "unknown" or not can_rebuild(self._cid) or not (self._inner.keeps and self._inner.can_restart):
            return finding
        for profile in likely_profiles(self._cid)[1:]:
            check = ContentCheck(self._cid, profile)
            await self._inner.replay(check.feed)
            if check.finding() == "verified":
                return "verified"
        return "unknown"

    @property
    def fits_one_block(self) -> bool:
        """Whether the content is so small that there is only one way to cut it."""
        return self._size <= ONE_BLOCK

    async def _hash_batch(self) -> None:
        await self._hashing.room()
        batch = self._batch
        self._batch, self._batched = [], 0
        if self._size <= QUICK_TO_HASH:
            self._hash(self._checks, batch)
        else:
            self._hashing.start(self._hash, self._checks, batch)

    def _new_checks(self) -> list[ContentCheck]:
        if can_rebuild(self._cid) and not self._inner.keeps:
            return [ContentCheck(self._cid, profile) for profile in likely_profiles(self._cid)]
        return [ContentCheck(self._cid)]

    @staticmethod
    def _hash(checks: Iterable[ContentCheck], batch: Iterable[bytes]) -> None:
        for check in checks:
            for chunk in batch:
                check.feed(chunk)


class CarSink:
    """Takes a CAR, checks every block, and passes on the file or folder in the blocks."""

    MEDIA_TYPE = "application/vnd.ipld.car"

    def __init__(
        self,
        root: Cid,
        path: tuple[str, ...],
        inner: ReadSink | None,
        folder: FolderSink | None,
        *,
        told: Head | None = None,
        deep: bool = True,
    ) -> None:
        self.root = root
        self._path = path
        self._inner = inner
        self._folder = folder
        self._deep = deep
        self._unfolds = inner is None or inner.keeps
        self._verifier = CarVerifier(root, path, deep=deep)
        self._batch: list[bytes] = []
        self._batched = 0
        self._is_file = False
        self.is_folder = False
        self._blocks = KeptBlocks()
        self._below: CarReader | None = None
        """For the archive of a part, where blocks come one by one."""
        self._by_blocks = False
        self._is_behind = False
        """Whether everything that an earlier attempt left has been used."""
        self.has_touched_the_content = False
        """Whether what the inner sink held before is gone."""
        self.listing: list[FolderEntry] = []
        self.content = Head(200, _about(told, path), "")
        """The head for the content itself; `told` is the head of a plain answer."""

    @property
    def full(self) -> bool:
        # A caller that wants a listing has no use for a file, and one that wants the beginning has none for the rest.
        return self._is_file and (not self._deep or (self._inner is not None and self._inner.full))

    def resume_from(self) -> None:
        return None

    async def begin(self, head: Head, offset: int) -> None:  # noqa: ARG002  # never continued: see resume_from
        claims = head.headers.get("content-type", "")
        if head.media_type != self.MEDIA_TYPE or "order=unk" in claims:
            raise NotTrustless
        keeps = self._folder is not None and self._folder.keeps
        if self._batch and keeps:
            await self.end_archive()  # which broke off
        if self._by_blocks:
            self._below = CarReader()
        elif self.is_folder and keeps:
            raise NotProven  # block by block, the files that have come need not come again
        else:
            await self._restart(repeats="dups=y" in claims)

    async def write(self, chunk: bytes) -> None:
        self._batch.append(chunk)
        self._batched += len(chunk)
        if self._batched >= CAR_BATCH or not self._deep:
            await self._check_batch()

    async def finish(self) -> None:
        """Note the end of the archive; a missing block is an error."""
        await self._check_batch()
        if not self.full:
            await self._take(CarVerifier.finish)

    # For gateways that give single blocks only.

    async def begin_blocks(self) -> None:
        """Blocks follow one by one, as `wanted` asks for them."""
        await self._restart(repeats=False)
        self._by_blocks = True
        list(self._verifier.feed(encode_header([self.root])))

    @property
    def wanted(self) -> Cid | None:
        """The block that has to come next."""
        return self._verifier.wanted

    async def write_block(self, data: bytes) -> None:
        """The block that was wanted."""
        await self._take(lambda verifier: verifier.feed_block(data))

    async def kept_block(self) -> bytes | None:
        """The block that is wanted, if it can be made from a file that an earlier attempt left."""
        folder, cid = self._folder, self.wanted
        if folder is None or cid is None or not folder.has_kept:
            return None
        return await asyncio.to_thread(self._kept_block, folder, cid)

    def _kept_block(self, folder: FolderSink, cid: Cid) -> bytes | None:
        place = self._verifier.wanted_place
        if isinstance(place, tuple):
            path = folder.kept_entry(place)
            return None if path is None else self._blocks.of_file(cid, path)
        data = folder.kept_bytes(place) if place is not None and place <= MAX_BLOCK else None
        return self._blocks.of_part(cid, data)

    async def wants_archive(self) -> bool:
        """Whether an earlier attempt left nothing of the part below the wanted block: an archive of it is of use."""
        folder, cid, place = self._folder, self.wanted, self._verifier.wanted_place
        if not self.is_folder or folder is None or not folder.keeps or cid is None or cid.codec == RAW:
            return False
        if isinstance(place, int):
            return not await asyncio.to_thread(folder.kept_bytes, 1)
        if place is not None:
            # Entries come in one order: behind the first that was not left, none was.
            self._is_behind = self._is_behind or not await asyncio.to_thread(folder.kept_entry, place)
        return self._is_behind

    async def end_archive(self) -> None:
        """Note the end of an archive that others follow, complete or not."""
        with suppress(NotProven):
            await self._check_batch()
        self._below = None

    async def _restart(self, *, repeats: bool) -> None:
        self._verifier = CarVerifier(self.root, self._path, deep=self._deep, repeats=repeats, unfolds=self._unfolds)
        self._batch, self._batched = [], 0
        self._is_file = self.is_folder = self._is_behind = False
        self.listing.clear()
        self.has_touched_the_content = True
        if self._inner is not None:
            self._inner.restart()
        if self._folder is not None:
            await asyncio.to_thread(self._folder.restart)

    async def _check_batch(self) -> None:
        batch, below = self._batch, self._below
        self._batch, self._batched = [], 0
        if below is None:
            await self._take(lambda verifier: (event for chunk in batch for event in verifier.feed(chunk)))
        else:
            await self._take(
                lambda verifier: (
                    event for chunk in batch for block in below.feed(chunk) for event in verifier.take(block)
                )
            )

    async def _take(self, work: Callable[[CarVerifier], Iterator[Event]]) -> None:
        """Check something in a thread and hand on proven events, some at a time, until the caller has enough."""
        events = work(self._verifier)  # a thread still at work for a broken attempt has the verifier of that one
        is_over = False
        while not is_over and not self.full:
            try:
                some, is_over = await asyncio.to_thread(_some, events)
            except ForgottenBlock:
                raise NotProven from None
            except ContentAddressError as error:
                raise as_integrity_error(error) from None
            await self._hand_on(some)

    async def _hand_on(self, events: list[Event]) -> None:
        if self.is_folder and self._folder is not None:
            await self._folder.take(events)
            return
        for number, event in enumerate(events):
            match event:
                case FileStart(path=(), size=size):
                    self._is_file = True
                    if self._inner is not None:
                        self.content = Head(200, {**self.content.headers, "content-length": str(size)}, "")
                        await self._inner.begin(self.content, 0)
                case FileBytes(data=data) if self._inner is not None:
                    await self._inner.write(bytes(data))
                case FolderStart():
                    self.is_folder = True
                    if self._deep:
                        if self._folder is None:
                            raise ContentError("This is a folder, not a file", hint=FOLDER_HINT)
                        await self._folder.take(events[number:])
                        return
                case FolderEntry():
                    self.listing.append(event)
                case SymlinkFound():
                    raise ContentError("This is a symbolic link, not a file")
                case _:
                    pass


def _some(events: Iterator[Event]) -> tuple[list[Event], bool]:
    """The next events, and whether they were the last."""
    some: list[Event] = []
    size = 0
    for event in events:
        some.append(event)
        size += len(event.data) if isinstance(event, FileBytes) else 0
        if size >= MOST_BYTES or len(some) >= MOST_EVENTS:
            return some, False
    return some, True


def _about(told: Head | None, path: tuple[str, ...]) -> dict[str, str]:
    """Type and name of some content: from a plain answer, or guessed from its name."""
    if told is not None:
        return {name: told.headers[name] for name in ("content-type", "content-disposition") if name in told.headers}
    return {"content-type": media_type_of(path[-1])} if path else {}


FOLDER_HINT = "Download it to a path, or name a file in it: CID/name."


def as_integrity_error(error: ContentAddressError) -> IntegrityError:
    """An error of the blocks, as the SDK's error."""
    return IntegrityError(
        f"The gateway's answer failed the check against the CID: {error}",
        hint="Nothing of it was kept. Another gateway may be honest.",
    )
