"""Folders in one block each, from the files in them: sorted by name, as Kubo writes them."""

from __future__ import annotations

from dataclasses import dataclass, field

from pinui.ipfs.cid import Cid
from pinui.ipfs.dagpb import Link, encode_node
from pinui.ipfs.errors import MalformedContent, UnsupportedContent
from pinui.ipfs.importer import NewBlock
from pinui.ipfs.limits import MAX_FOLDER_BLOCK, MAX_FOLDER_DEPTH
from pinui.ipfs.multihash import dag_pb_cid
from pinui.ipfs.unixfs import EMPTY_FOLDER

__all__ = ["FolderBuilder", "is_safe_name", "make_folder"]

MAX_NAME_BYTES = 255


def is_safe_name(name: str) -> bool:
    """Whether a folder's entry may become a file of that name without leaving the folder, on any OS."""
    return name not in ("", ".", "..") and not any(sign in name for sign in "/\\\0")


def make_folder(entries: dict[str, Link], cid_version: int) -> NewBlock:
    """The block of a folder. One that Kubo would split over several blocks is `UnsupportedContent`."""
    links = [
        Link(link.cid, name, link.size) for name, link in sorted(entries.items(), key=lambda entry: entry[0].encode())
    ]
    # Kubo decides by names and CIDs alone, and its CID for a larger folder is another one.
    weight = sum(len((link.name or "").encode()) + len(bytes(link.cid)) for link in links)
    if weight >= MAX_FOLDER_BLOCK:
        raise UnsupportedContent(f"a folder with {len(links)} entries is too large for one block: split it")
    block = encode_node(links, EMPTY_FOLDER)
    total = len(block) + sum(link.size or 0 for link in links)
    return NewBlock(dag_pb_cid((block,), cid_version), (block,), len(block), 0, total)


@dataclass(slots=True)
class _Draft:
    entries: dict[str, Link] = field(default_factory=dict[str, Link])
    folders: dict[str, _Draft] = field(default_factory=dict[str, "_Draft"])


class FolderBuilder:
    """A tree of folders from paths like `sub/file.txt`: add files in any order, then take the blocks."""

    def __init__(self, cid_version: int) -> None:
        self._version = cid_version
        self._root = _Draft()

    def add(self, path: str, cid: Cid, size: int) -> None:
        """Put a file (or any imported tree) at `path`, below the root."""
        *parents, name = path.split("/")
        if len(parents) > MAX_FOLDER_DEPTH:
            raise UnsupportedContent("folders are nested too deeply")
        draft = self._root
        for parent in parents:
            self._check(parent)
            if parent in draft.entries:
                raise MalformedContent(f"{parent!r} is both a file and a folder")
            draft = draft.folders.setdefault(parent, _Draft())
        self._check(name)
        if name in draft.entries or name in draft.folders:
            raise MalformedContent(f"{path!r} is there twice")
        draft.entries[name] = Link(cid, name, size)

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
        block = make_folder(entries, self._version)
        made.append(block)
        return block

    def _check(self, name: str) -> None:
        if not is_safe_name(name):
            raise MalformedContent(f"{name!r} can't be the name of a file")
        try:
            length = len(name.encode())
        except UnicodeEncodeError:
            raise MalformedContent(f"the file name {name!r} is no Unicode text") from None
        if length > MAX_NAME_BYTES:
            raise MalformedContent("a file's name is longer than 255 bytes")
