"""CARs of others: every block is verified, and everything below the root must be there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pinui.ipfs.car import CarReader
from pinui.ipfs.cid import IDENTITY, Cid
from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.exporter import walk_blocks
from pinui.ipfs.importer import NewBlock
from pinui.ipfs.multihash import Bytes, verify_block
from pinui.node.draft import DraftCar

__all__ = ["ForeignCar"]


class ForeignCar:
    """A CAR that arrives in pieces and becomes a draft. Every call may block; `ContentAddressError` refuses it."""

    def __init__(self, make_draft: Callable[[Cid], DraftCar], root: Cid | None = None) -> None:
        """`root` is the one that was asked for; None for the one that the CAR names."""
        self._make_draft = make_draft
        self._root = root
        self._reader = CarReader()
        self._draft: DraftCar | None = None

    @property
    def root(self) -> Cid:
        """The root. A CAR with several roots is refused: its owner has to split it."""
        if self._root is not None:
            return self._root
        match self._reader.roots or ():
            case (root,):
                return root
            case roots:
                raise MalformedContent(f"it has {len(roots)} roots, and one is taken at a time")

    @property
    def draft(self) -> DraftCar:
        if self._draft is None:
            self._draft = self._make_draft(self.root)
        return self._draft

    def feed(self, piece: Bytes) -> None:
        """The next bytes."""
        for block in self._reader.feed(piece):
            verify_block(block.cid, block.data)
            if block.cid.hash_code != IDENTITY:
                self.draft.add([NewBlock(block.cid, (block.data,), len(block.data), 0, 0)])

    def settle(self) -> Iterator[Bytes]:
        """The CAR has ended: look for everything below its root, piece by piece."""
        self._reader.finish()
        for _, data in walk_blocks(self.root, self.draft.read, repeats=False):
            yield data

    def discard(self) -> None:
        """Leave nothing behind, unless the draft has become a pin."""
        if self._draft is not None:
            self._draft.discard()
