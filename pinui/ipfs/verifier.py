"""Verified reading of a CAR stream: every block is checked before a byte of it is passed on.

The archive must come parents first (`order=dfs`), as `walk_blocks` writes it. Then nothing has to be kept:
memory does not grow with the content. The archive's own claims (its roots) are not used; all trust comes from
the CID asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pinui.ipfs.car import Block, CarReader
from pinui.ipfs.cid import IDENTITY, Cid
from pinui.ipfs.dagpb import Link
from pinui.ipfs.errors import ForgottenBlock, MalformedContent, MissingBlock, UnsupportedContent
from pinui.ipfs.limits import MAX_FILE_DEPTH, MAX_FOLDER_DEPTH, MAX_PENDING
from pinui.ipfs.multihash import Bytes, verify_block
from pinui.ipfs.shards import Place, find_entry, split_shard
from pinui.ipfs.unixfs import FilePiece, Folder, Piece, Shard, read_block

__all__ = [
    "CarVerifier",
    "Event",
    "FileBytes",
    "FileEnd",
    "FileStart",
    "FolderEntry",
    "FolderStart",
    "SymlinkFound",
]

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileStart:
    """A file begins; its bytes follow. `path` is empty for the thing that was asked for itself."""

    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class FileBytes:
    """The next bytes of the file that began last; a view that lives as long as the piece that was fed."""

    data: memoryview


@dataclass(frozen=True, slots=True)
class FileEnd:
    """The file is whole and right."""

    path: Path


@dataclass(frozen=True, slots=True)
class FolderStart:
    """The start of a folder; its entries follow, each with a path that starts with this one."""

    path: Path
    declared: int = 0
    """The size of everything below it, as its block says; nothing proves that before all of it has come."""


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One line of a folder's listing (only when `deep=False`); the name is as remote as any text."""

    name: str
    cid: Cid
    size: int | None


@dataclass(frozen=True, slots=True)
class SymlinkFound:
    """A symbolic link; whether to make one is the caller's choice."""

    path: Path
    target: str


Event = FileStart | FileBytes | FileEnd | FolderStart | FolderEntry | SymlinkFound


@dataclass(frozen=True, slots=True)
class _OnTheWay:
    """A block that is wanted only because the path leads through it."""

    cid: Cid
    rest: Path
    level: int = 0


@dataclass(frozen=True, slots=True)
class _Thing:
    """A file, folder or link that is wanted itself."""

    cid: Cid
    path: Path


@dataclass(frozen=True, slots=True)
class _Part:
    """A further block of the file that began."""

    cid: Cid
    size: int
    depth: int


@dataclass(frozen=True, slots=True)
class _ShardPart:
    """A further block of a sharded folder."""

    cid: Cid
    path: Path
    place: Place


_Want = _OnTheWay | _Thing | _Part | _ShardPart
_Slot = tuple[str | None, Link, Place | None]
"""A line of a folder's block: the name (None for a further shard), the link, and in a sharded folder its place."""


class CarVerifier:
    """Verifies a CAR: feed its bytes, take proven events. After a `ContentAddressError`, discard all earlier events.

    `path` is the requested path below `root`. `deep=False` is for answers to `dag-scope=entity`: of a folder,
    only its listing. `repeats=False` is for a server that may send a block only the first time, as all do that don't
    say `dups=y`: blocks are then kept, up to `REMEMBERED` bytes in all, each counted with its overhead.
    A few blocks that link to each other many times may give any number of events: take some, look, take more; or say
    `unfolds=False` where only the proof is wanted: a tree whose blocks are still kept is then walked once.
    Names are as the blocks have them: a caller that writes files checks them with `is_safe_name`.
    """

    REMEMBERED = 16 * 1024 * 1024
    KEEPING = 256

    def __init__(
        self,
        root: Cid,
        path: Sequence[str] = (),
        *,
        deep: bool = True,
        repeats: bool = True,
        unfolds: bool = True,
    ) -> None:
        self._reader = CarReader()
        self._deep = deep
        self._keeps = not repeats
        self._room = self.REMEMBERED
        self._seen: dict[tuple[int, bytes], bytes] = {}
        self._unfolds = unfolds
        self._walked: set[tuple[Cid, int | None]] = set()
        self._forgets = False
        self._pending: list[_Want | FileEnd] = [_OnTheWay(root, tuple(path)) if path else _Thing(root, ())]

    def feed_block(self, data: Bytes) -> Iterator[Event]:
        """Take the block `wanted`, for a server that gives blocks one by one. Consume it whole."""
        cid = self.wanted
        if cid is None:
            raise AssertionError("no block is wanted")
        yield from self.take(Block(cid, data))

    @property
    def wanted(self) -> Cid | None:
        """The block that has to come next; None when everything has come."""
        want = next((want for want in reversed(self._pending) if not isinstance(want, FileEnd)), None)
        return None if want is None else want.cid

    @property
    def wanted_place(self) -> Path | int | None:
        """The place of that block: the path of a new thing, or the bytes of the file that began which are below it."""
        want = next((want for want in reversed(self._pending) if not isinstance(want, FileEnd)), None)
        match want:
            case _Thing(path=path):
                return path
            case _Part(size=size):
                return size
            case _:
                return None

    def feed(self, data: Bytes) -> Iterator[Event]:
        """Take the next bytes. Consume it whole before the next call."""
        for block in self._reader.feed(data):
            yield from self.take(block)

    def finish(self) -> Iterator[Event]:
        """Say that no more bytes come: the last events, or an error if something is missing."""
        self._reader.finish()
        yield from self._go_on_alone()
        want = self._next_want()
        if want is not None:
            self._miss(want)
            raise MissingBlock(f"block {want.cid} is missing from the server's answer")

    def _next_want(self) -> _Want | None:
        want = self._pending[-1] if self._pending else None
        return None if isinstance(want, FileEnd) else want

    def take(self, block: Block) -> Iterator[Event]:
        """Take the next block. Consume it whole before the next call."""
        yield from self._go_on_alone()
        want = self._next_want()
        if want is None or _key(want.cid) != _key(block.cid):
            # Some servers send the block of a CID that needs none, or one again that they need not repeat.
            if block.cid.hash_code == IDENTITY or _key(block.cid) in self._seen:
                return
            self._miss(want)
            raise MalformedContent(f"the server sent block {block.cid} where another one is due")
        verify_block(want.cid, block.data)
        self._remember(block)
        self._pending.pop()
        yield from self._use(want, block.data)
        yield from self._go_on_alone()

    def _miss(self, want: _Want | None) -> None:
        if want is not None and self._forgets:
            raise ForgottenBlock(f"block {want.cid} is missing here, or came once, long before")

    def _go_on_alone(self) -> Iterator[Event]:
        """Events that need no new block: ends of files, CIDs that carry their content, and earlier blocks."""
        while self._pending:
            want = self._pending[-1]
            if isinstance(want, FileEnd):
                yield want
                self._pending.pop()
            elif self._walked and self._tree(want) in self._walked:
                self._pending.pop()
            elif want.cid.hash_code == IDENTITY:
                verify_block(want.cid, want.cid.digest)
                self._pending.pop()
                yield from self._use(want, want.cid.digest)
            elif (data := self._seen.get(_key(want.cid))) is not None:
                self._pending.pop()
                yield from self._use(want, data)
            else:
                return

    def _remember(self, block: Block) -> None:
        cost = len(block.data) + self.KEEPING
        if self._keeps and cost <= self._room:
            self._room -= cost
            self._seen[_key(block.cid)] = bytes(block.data)
        else:
            self._forgets = self._keeps

    def _use(self, want: _Want, data: Bytes) -> Iterator[Event]:
        piece = read_block(want.cid, data)
        match want:
            case _OnTheWay():
                self._follow(want, piece)
            case _Thing(path=path):
                yield from self._begin(piece, path)
            case _Part(size=size, depth=depth):
                yield from self._go_on_file(piece, size, depth)
            case _:
                if not isinstance(piece, Shard) or not piece.links:
                    raise MalformedContent("a sharded folder is damaged")
                yield from self._open(_slots(piece, want.place), want.path)
        if self._keeps and _key(want.cid) in self._seen and (tree := self._tree(want)) is not None:
            self._walked.add(tree)

    def _tree(self, want: _Want) -> tuple[Cid, int | None] | None:
        """The name of a tree that is walked once; None for one that is unfolded as often as it is linked.

        Empty parts of files are never unfolded: a tree of them would be walked for ever.
        """
        if isinstance(want, _Part) and not (want.size and self._unfolds):
            return want.cid, want.size
        return (want.cid, None) if isinstance(want, _Thing) and not self._unfolds else None

    def _follow(self, want: _OnTheWay, piece: Piece) -> None:
        name, *rest = want.rest
        found = find_entry(piece, name, want.level)
        if found is None:
            raise MissingBlock(f"there is no {name!r} in {want.cid}")
        is_entry, link = found
        if not is_entry:
            self._push([_OnTheWay(link.cid, want.rest, want.level + 1)])
        elif rest:
            self._push([_OnTheWay(link.cid, tuple(rest))])
        else:
            self._push([_Thing(link.cid, ())])

    def _begin(self, piece: Piece, path: Path) -> Iterator[Event]:
        match piece:
            case FilePiece():
                yield FileStart(path, piece.size)
                self._pending.append(FileEnd(path))
                yield from self._go_on_file(piece, piece.size, 0)
            case Folder(entries=entries):
                yield FolderStart(path, _declared(entries))
                yield from self._open([(link.name or "", link, None) for link in entries], path)
            case Shard(links=links):
                yield FolderStart(path, _declared(links))
                yield from self._open(_slots(piece, Place()), path)
            case _:
                yield SymlinkFound(path, piece.target)

    def _go_on_file(self, piece: Piece, size: int, depth: int) -> Iterator[Event]:
        if not isinstance(piece, FilePiece) or piece.size != size:
            raise MalformedContent("a part of a file is not what the file's root says")
        if depth > MAX_FILE_DEPTH:
            raise UnsupportedContent("a file is nested too deeply")
        if len(piece.data):
            yield FileBytes(piece.data)
        self._push([_Part(cid, part, depth + 1) for cid, part in piece.children])

    def _open(self, entries: Iterable[_Slot], path: Path) -> Iterator[Event]:
        if len(path) > MAX_FOLDER_DEPTH:
            raise UnsupportedContent("folders are nested too deeply")
        wanted: list[_Want] = []
        names: set[str] = set()
        for name, link, place in entries:
            if name is None:
                wanted.append(_ShardPart(link.cid, path, place or Place()))
            elif place is not None and not place.is_home_of(name):
                raise MalformedContent(f"an entry named {name!r} is in the wrong place of its sharded folder")
            elif not self._deep:
                yield FolderEntry(name, link.cid, link.size)
            elif name in names:
                raise MalformedContent(f"an entry named {name!r} is there twice")
            else:
                names.add(name)
                wanted.append(_Thing(link.cid, (*path, name)))
        self._push(wanted)

    def _push(self, wanted: Sequence[_Want]) -> None:
        if len(self._pending) + len(wanted) > MAX_PENDING:
            raise UnsupportedContent("a tree is too wide")
        self._pending.extend(reversed(wanted))


def _declared(links: Iterable[Link]) -> int:
    return sum(link.size or 0 for link in links)


def _slots(shard: Shard, place: Place) -> Iterator[_Slot]:
    taken: set[Place] = set()
    for name, link in split_shard(shard):
        slot = place.below(shard, link)
        if slot in taken:
            raise MalformedContent("a slot of a sharded folder is taken twice")
        taken.add(slot)
        yield name, link, slot


def _key(cid: Cid) -> tuple[int, bytes]:
    return cid.hash_code, cid.digest
