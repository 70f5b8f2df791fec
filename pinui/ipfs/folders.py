"""Folders from the files in them, as Kubo writes them: in one block, sorted by name, or spread over many by hash."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pinui.ipfs.cid import Cid
from pinui.ipfs.dagpb import Link, encode_node
from pinui.ipfs.errors import MalformedContent, UnsupportedContent
from pinui.ipfs.importer import NewBlock
from pinui.ipfs.limits import MAX_FOLDER_BLOCK, MAX_FOLDER_DEPTH
from pinui.ipfs.multihash import dag_pb_cid
from pinui.ipfs.shards import hash_of, slot_of
from pinui.ipfs.unixfs import EMPTY_FOLDER, shard_data

__all__ = ["FolderBuilder", "is_safe_name", "make_folder", "portable_name"]

MAX_NAME_BYTES = 255

# Windows takes these for devices in every folder, with any ending.
DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\..*)?", re.IGNORECASE | re.DOTALL)

LEADS_ELSEWHERE = re.compile(r"[\\:]|[. ]\Z")
REFUSED_BY_WINDOWS = re.compile(r'[\\:<>"|?*\x01-\x1f]|[. ]\Z')


def is_safe_name(name: str) -> bool:
    """Whether a file of that name is created in its own folder on Linux, macOS and Windows.

    Windows reads a back-slash and a colon as parts of a path, and drops dots and blanks at the end of a name.
    """
    return bool(name) and not re.search(r"[/\\:\0]|[. ]\Z", name) and not DEVICE.fullmatch(name)


def portable_name(name: str, *, windows: bool = False) -> str | None:
    """A name, escaped as in a URL if it is not safe; None for one that no entry has.

    Two escaped names are never the same. `windows` escapes the signs, too, that Windows alone refuses.
    """
    if name in ("", ".", "..") or re.search(r"[/\0]", name):
        return None
    unsafe = REFUSED_BY_WINDOWS if windows else LEADS_ELSEWHERE
    if not unsafe.search(name) and not DEVICE.fullmatch(name):
        return name
    escaped = unsafe.sub(_escape, name.replace("%", "%25"))
    return re.sub(r"\A.", _escape, escaped) if DEVICE.fullmatch(escaped) else escaped


def _escape(sign: re.Match[str]) -> str:
    return f"%{ord(sign[0]):02X}"


def make_folder(entries: dict[str, Link], cid_version: int, *, measured: bool = False) -> list[NewBlock]:
    """The blocks of a folder, children before parents. A small one has one block, by the rule of `measured`."""
    named = sorted(entries.items(), key=lambda entry: entry[0].encode())
    links = [link if link.name == name else Link(link.cid, name, link.size) for name, link in named]
    flat = _block(links, EMPTY_FOLDER, cid_version)
    weight = sum(len((link.name or "").encode()) + len(bytes(link.cid)) for link in links)
    if (flat.size if measured else weight) <= MAX_FOLDER_BLOCK:
        return [flat]
    made: list[NewBlock] = []
    _make_shard([(hash_of(link.name or ""), link) for link in links], 0, cid_version, made)
    return made


def _make_shard(entries: list[tuple[int, Link]], level: int, cid_version: int, made: list[NewBlock]) -> NewBlock:
    """One block of a sharded folder: names alone in their slot are entries, others share a shard one level down."""
    slots: dict[int, list[tuple[int, Link]]] = {}
    for digest, link in entries:
        slots.setdefault(slot_of(digest, level), []).append((digest, link))
    links: list[Link] = []
    for slot, inside in sorted(slots.items()):
        if len(inside) == 1:
            link = inside[0][1]
            links.append(Link(link.cid, f"{slot:02X}{link.name}", link.size))
        else:
            shard = _make_shard(inside, level + 1, cid_version, made)
            links.append(Link(shard.cid, f"{slot:02X}", shard.tree_size))
    made.append(_block(links, shard_data(slots), cid_version))
    return made[-1]


def _block(links: list[Link], data: bytes, cid_version: int) -> NewBlock:
    block = encode_node(links, data)
    total = len(block) + sum(link.size or 0 for link in links)
    return NewBlock(dag_pb_cid((block,), cid_version), (block,), len(block), 0, total)


@dataclass(slots=True)
class _Draft:
    entries: dict[str, Link] = field(default_factory=dict[str, Link])
    folders: dict[str, _Draft] = field(default_factory=dict[str, "_Draft"])


class FolderBuilder:
    """A tree of folders from paths like `sub/file.txt`: add them in any order, then take the blocks."""

    def __init__(self, cid_version: int, *, measured: bool = False) -> None:
        self._version = cid_version
        self._measured = measured
        self._root = _Draft()
        self._drafts: dict[str, _Draft] = {}
        """By path, those that files were added to: most files are beside the one before."""

    def add(self, path: str, cid: Cid, size: int) -> None:
        """Put a file (or any imported tree) at `path`, below the root."""
        parent, slash, name = path.rpartition("/")
        draft = self._drafts.get(parent + slash)
        if draft is None:
            draft = self._drafts[parent + slash] = self._folder(parent.split("/") if slash else [])
        self._check(name)
        if name in draft.entries or name in draft.folders:
            raise MalformedContent(f"{path!r} is there twice")
        draft.entries[name] = Link(cid, name, size)

    def add_folder(self, path: str) -> None:
        """Put a folder at `path`, empty unless files are added to it; the root is there in any case."""
        self._folder(path.split("/") if path else [])

    def _folder(self, names: list[str]) -> _Draft:
        if len(names) > MAX_FOLDER_DEPTH:
            raise UnsupportedContent("folders are nested too deeply")
        draft = self._root
        for name in names:
            self._check(name)
            if name in draft.entries:
                raise MalformedContent(f"{name!r} is both a file and a folder")
            draft = draft.folders.setdefault(name, _Draft())
        return draft

    def finish(self) -> tuple[list[NewBlock], Cid, int]:
        """The folders' blocks, children before parents; the root's CID; the size of the whole tree."""
        made: list[NewBlock] = []
        root = self._make(self._root, made)
        return made, root.cid, root.tree_size

    def _make(self, draft: _Draft, made: list[NewBlock]) -> NewBlock:
        entries = dict(draft.entries)
        for name, folder in draft.folders.items():
            block = self._make(folder, made)
            entries[name] = Link(block.cid, name, block.tree_size)
        made += make_folder(entries, self._version, measured=self._measured)
        return made[-1]

    def _check(self, name: str) -> None:
        if name in ("", ".", "..") or "\0" in name:
            raise MalformedContent(f"{name!r} can't be the name of a file")
        try:
            length = len(name.encode())
        except UnicodeEncodeError:
            raise MalformedContent(f"the file name {name!r} is no Unicode text") from None
        if length > MAX_NAME_BYTES:
            raise MalformedContent("a file's name is longer than 255 bytes")
