"""A pin that is being written: a CAR under a temporary name, which becomes a pin or vanishes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

from pinui.ipfs.car import encode_header, encode_section_head
from pinui.ipfs.cid import DAG_PB, RAW, SHA2_256, Cid
from pinui.ipfs.errors import MissingBlock
from pinui.ipfs.importer import NewBlock
from pinui.ipfs.multihash import Bytes

__all__ = ["DraftCar"]

# Linux takes 1024 pieces a call; a block has three or a few more.
MOST_PIECES = 512
EARLY = 16 * 1024 * 1024
_PLACEHOLDERS = (Cid(0, DAG_PB, SHA2_256, bytes(32)), Cid(1, RAW, SHA2_256, bytes(32)))


class DraftCar:
    """Takes blocks as they are made and notes where each lies. Blocks are not repeated by default."""

    def __init__(self, path: Path, root: Cid | int, *, repeats: bool = False) -> None:
        """`root` is the root, or the version of one that will be known in the end.

        With `repeats`, a block is written as often as it is added.
        """
        self.path = path
        self._repeats = repeats
        root = _PLACEHOLDERS[root] if isinstance(root, int) else root
        self.cid_version = root.version
        self.places: dict[bytes, tuple[int, int]] = {}
        """Digest → offset and length. Digests of two hash functions are never the same."""
        self._fd: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        self._end = self._handed_on = 0
        try:
            self._write([encode_header([root])])
        except BaseException:  # no caller has it yet to discard it
            self.discard()
            raise

    def add(self, blocks: Iterable[NewBlock]) -> None:
        pieces: list[Bytes] = []
        end = self._end
        for block in blocks:
            digest = block.cid.digest
            if digest in self.places and not self._repeats:
                continue
            head = encode_section_head(block.cid, block.size)
            self.places[digest] = (end + len(head), block.size)
            end += len(head) + block.size
            pieces += (head, *block.parts)
        self._write(pieces)

    def read(self, cid: Cid) -> bytes:
        """A block that was added: a lookup for `read_file`."""
        place = self.places.get(cid.digest)
        if place is None or self._fd is None:
            raise MissingBlock(f"block {cid} is missing")
        offset, length = place
        os.lseek(self._fd, offset, os.SEEK_SET)
        return os.read(self._fd, length)

    def finish(self, root: Cid) -> None:
        """Name the root, sync and close: from here on the file is a whole CAR."""
        if self._fd is None:
            raise AssertionError("a draft is finished once")
        os.lseek(self._fd, 0, os.SEEK_SET)
        _write_all(self._fd, [encode_header([root])])
        os.fsync(self._fd)
        self.close()

    def discard(self) -> None:
        """Leave nothing behind; harmless once the draft has become a pin."""
        self.close()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def __enter__(self) -> DraftCar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    def close(self) -> None:
        """Close the file; what was written stays."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, pieces: Sequence[Bytes]) -> None:
        if self._fd is None:
            raise AssertionError("a draft that is finished takes no more")
        os.lseek(self._fd, self._end, os.SEEK_SET)
        for start in range(0, len(pieces), MOST_PIECES):
            self._end += _write_all(self._fd, pieces[start : start + MOST_PIECES])
        if self._end - self._handed_on >= EARLY:
            _hand_on(self._fd, self._handed_on, self._end - self._handed_on)
            self._handed_on = self._end


def _hand_on(fd: int, offset: int, length: int) -> None:
    """Have the system write some bytes to the disk now, and wait for nothing: the sync at the end has less to do."""
    if hasattr(os, "posix_fadvise"):  # of all its meanings, Linux takes this one for that
        os.posix_fadvise(fd, offset, length, os.POSIX_FADV_DONTNEED)


def _write_all(fd: int, pieces: Sequence[Bytes]) -> int:
    """Write every piece without joining them, where the OS can."""
    total = sum(len(piece) for piece in pieces)
    if not hasattr(os, "writev"):
        pieces = [b"".join(pieces)]
    written = os.writev(fd, pieces) if hasattr(os, "writev") else os.write(fd, pieces[0])
    if written == total:
        return total
    # A full disk takes as much as fits before it fails.
    rest = memoryview(b"".join(pieces))[written:]
    while len(rest):
        rest = rest[os.write(fd, rest) :]
    return total
