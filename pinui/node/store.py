"""The data folder of a node: pins as CAR files and their index, safe through crashes.

    index.db          the pins and their blocks (SQLite)
    pins/CID.x.car    one pin, whole; `x` makes the name new each time
    drafts/           unfinished pins, and the lock of their owner
    uploads/          unfinished uploads in pieces, see `tus`
    token, port       settings for all processes that share the folder

A CAR is renamed into `pins` only inside the transaction that adds its row, and removed only after the one that
removes the row. So a CAR without a row is left over from a crash, and a row without a CAR has lost it to another
program: pinning the same content again brings it back. A damaged or missing index is rebuilt from the CARs, at the
start or when the damage shows; no process writes meanwhile, because each change locks the folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pinui.disk import lock_folder, sync_folder
from pinui.ipfs.cid import IDENTITY, Cid
from pinui.ipfs.dagpb import encode_node
from pinui.ipfs.errors import MissingBlock
from pinui.ipfs.multihash import dag_pb_cid
from pinui.ipfs.unixfs import EMPTY_FOLDER as UNIXFS_EMPTY_FOLDER
from pinui.node.draft import DraftCar
from pinui.node.errors import ApiError, is_damage
from pinui.node.index import Index, Pin, Place, cars_of, id_of, insert_pin, pin_of, pin_with_id, remove_pin, update_pin
from pinui.node.lock import FolderLock, Patience
from pinui.node.recovery import make_again, open_index

__all__ = ["BlockReader", "NewPin", "PinStore"]

INDEX = "index.db"
EMPTY_BLOCK = encode_node([], UNIXFS_EMPTY_FOLDER)
EMPTY_FOLDER = dag_pb_cid([EMPTY_BLOCK], 0)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NewPin:
    """The facts about a pin besides its blocks."""

    cid: Cid
    size: int
    files: int
    name: str | None = None
    keyvalues: dict[str, Any] | None = None
    mime_type: str | None = None
    group: str | None = None


class _Job:
    """A pin that waits for the next transaction."""

    def __init__(self, pin: Pin, draft: DraftCar, car: Path) -> None:
        self.pin = pin
        self.draft = draft
        self.car = car
        self.duplicate_of: Pin | None = None
        self.done = False
        self.error: BaseException | None = None


class PinStore:
    """The pins of a node. Every method may block on the disk: call it from a worker thread."""

    def __init__(self, folder: Path, patience: Patience | None = None) -> None:
        self.folder = folder
        self._patience = patience or Patience(folder)
        self._pins = folder / "pins"
        self._drafts = folder / "drafts"
        for needed in (folder, self._pins, self._drafts):
            needed.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._numbers = 0
        self._queue: list[_Job] = []
        self._queue_lock = threading.Lock()
        self._turn = threading.Lock()
        with lock_folder(folder, self._patience.until):
            self._lock = FolderLock(self._drafts)
            try:
                left = self._lock.left_over()
                self._index = open_index(folder / INDEX, self._pins, self._patience, suspect=bool(left))
                self._clean_up(left)
            except BaseException:
                self._lock.release()
                raise

    @property
    def owner(self) -> str:
        """The name of this process in the folder."""
        return self._lock.name

    def is_alive(self, owner: str) -> bool:
        """Whether the process with a name has the folder open."""
        return owner == self.owner or self._lock.is_alive(owner)

    def ask(self, question: Callable[[Index], T]) -> T:
        """Read from the index. A damaged or missing index is rebuilt first."""
        file = self._index.file
        try:
            return question(self._index)
        except Exception as error:
            if not is_damage(error):
                raise
        with lock_folder(self.folder, self._patience.until):
            if self._index.file == file:  # else another thread or process has made it by now
                make_again(self.folder / INDEX, self._pins, self._patience)
        return question(self._index)

    def change(self, change: Callable[[sqlite3.Connection], T], undo: Callable[[], None] = lambda: None) -> T:
        """Change the index in one transaction, with the folder locked. A damaged or missing index is rebuilt first.

        `undo` takes back what `change` did outside the index.
        """

        def try_it() -> T:
            try:
                with self._index.writing() as connection:
                    return change(connection)
            except BaseException:
                undo()
                raise

        with lock_folder(self.folder, self._patience.until):
            try:
                return try_it()
            except Exception as error:
                if not is_damage(error):
                    raise
            make_again(self.folder / INDEX, self._pins, self._patience)
            return try_it()

    def close(self) -> None:
        """Release the folder; drafts of this node are removed."""
        self._index.close()
        for draft in self._drafts.glob(f"{self._lock.name}-*"):
            draft.unlink(missing_ok=True)
        self._lock.release()

    def draft(self, root: Cid | int) -> DraftCar:
        """A new CAR to write blocks to; `root` is its root, or the version of one that will be known in the end."""
        with self._queue_lock:
            self._numbers += 1
            number = self._numbers
        return DraftCar(self._drafts / f"{self._lock.name}-{number}.car", root)

    def commit(self, draft: DraftCar, new: NewPin) -> tuple[Pin, bool]:
        """Make a draft a pin. If its CID is pinned already, that older pin comes back, and True."""
        now = time.time_ns() // 1_000_000
        car = f"{new.cid}.{secrets.token_hex(4)}.car"
        pin = Pin(
            id=id_of(car),
            cid=str(new.cid),
            size=new.size,
            files=new.files,
            name=new.name,
            keyvalues=new.keyvalues,
            mime_type=new.mime_type,
            pinned_at=now,
            unpinned_at=None,
            car=car,
            group=new.group,
        )
        older = self._kept(self.ask(lambda index: index.pinned(pin.cid)))
        if older is not None:
            return older, True
        draft.finish(new.cid)
        job = _Job(pin, draft, self._pins / car)
        with self._queue_lock:
            self._queue.append(job)
        # The thread whose turn it is writes for all waiting threads: many small uploads share one sync of the disk.
        with self._turn:
            if not job.done:
                with self._queue_lock:
                    jobs, self._queue = self._queue, []
                self._write(jobs)
        if job.error is not None:
            raise job.error
        return (job.duplicate_of, True) if job.duplicate_of else (job.pin, False)

    def _kept(self, pin: Pin | None) -> Pin | None:
        """A pin, if its CAR is there."""
        return pin if pin is not None and pin.car and (self._pins / pin.car).exists() else None

    def _write(self, jobs: list[_Job]) -> None:
        renamed: list[_Job] = []

        def add(connection: sqlite3.Connection) -> None:
            for job in jobs:
                job.duplicate_of = self._kept(pin_of(connection, job.pin.cid))
                if job.duplicate_of is None:
                    remove_pin(connection, job.pin.cid, job.pin.pinned_at)
                    insert_pin(connection, job.pin, job.draft.places)
                    job.draft.path.rename(job.car)
                    renamed.append(job)
            sync_folder(self._pins)

        def undo() -> None:
            while renamed:
                job = renamed.pop()
                job.car.rename(job.draft.path)

        try:
            self.change(add, undo)
        except BaseException as error:  # noqa: BLE001  each waiting thread raises it again
            for job in jobs:
                job.error = error
        for job in jobs:
            job.done = True

    def unpin(self, cid: str) -> bool:
        """Remove a pin; False if there is none."""
        now = time.time_ns() // 1_000_000
        with self._turn:
            pin = self.change(lambda connection: remove_pin(connection, cid, now))
        if pin is None:
            return False
        with contextlib.suppress(OSError):  # a file that can't be removed is only clutter
            (self._pins / (pin.car or "")).unlink(missing_ok=True)
        return True

    def update(self, which: Cid | str, update: Callable[[Pin], Pin]) -> Pin | None:
        """Change the name, the keyvalues or the group of a pin; None if there is none.

        `which` is its CID in any spelling, or its id.
        """

        def change(connection: sqlite3.Connection) -> Pin | None:
            if isinstance(which, str):
                pin = pin_with_id(connection, which)
            else:
                pin = next(filter(None, (pin_of(connection, str(spelling)) for spelling in which.spellings())), None)
            if pin is not None:
                pin = update(pin)
                update_pin(connection, pin)
            return pin

        with self._turn:
            return self.change(change)

    def pin_of(self, cid: Cid) -> Pin | None:
        """The pin of a CID in any spelling."""
        spellings = [str(spelling) for spelling in cid.spellings()]
        return self.ask(lambda index: next(filter(None, map(index.pinned, spellings)), None))

    def check_group(self, id_: str | None) -> None:
        """Refuse a group that is not there."""
        if id_ is not None and self.ask(lambda index: index.group(id_)) is None:
            raise ApiError.of(404, "OBJECT_NOT_FOUND", f"No group has the id {id_[:100]!r}.")

    def check_room(self, size: int) -> None:
        """Fail if the disk has no room for this many bytes: better now than after gigabytes."""
        if size > shutil.disk_usage(self.folder).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @contextmanager
    def reading(self) -> Generator[BlockReader]:
        """A lookup of blocks for one request."""
        reader = BlockReader(self, self._pins)
        try:
            yield reader
        finally:
            reader.close()

    def _clean_up(self, left: list[Path]) -> None:
        """Remove what crashed processes left: drafts, and CARs without a row.

        Only if one has crashed: the list of all pins is long, and every start would pay for it.
        """
        if not left:
            return
        with self._index.writing() as connection:
            known = cars_of(connection)
            for path in self._pins.iterdir():
                if path.name not in known:
                    path.unlink(missing_ok=True)
        for path in left:
            with contextlib.suppress(OSError):
                path.unlink()


class BlockReader:
    """Reads blocks from the CARs of all pins; keeps the files it used open until closed."""

    MOST_FILES = 16

    def __init__(self, store: PinStore, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._files: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, cid: Cid) -> bytes:
        """The bytes of a block; `MissingBlock` if no pin has it. Every gateway has the empty folder."""
        if cid.hash_code == IDENTITY:
            return cid.digest
        if cid.digest == EMPTY_FOLDER.digest:
            return EMPTY_BLOCK
        gone = ""
        for _ in range(2):
            place = self._find(cid, besides=gone)
            if place is None:
                break
            try:
                data = self._read(place)
            except FileNotFoundError:  # unpinned just now, or lost; another pin may have the block too
                gone = place.car
                continue
            if len(data) != place.length:
                raise MissingBlock(f"This node has lost a part of {cid}: its file is shorter than it was.")
            return data
        raise MissingBlock(f"This node does not have {cid}.")

    def _find(self, cid: Cid, *, besides: str) -> Place | None:
        return self._store.ask(lambda index: index.find(cid.digest, besides=besides))

    def _read(self, place: Place) -> bytes:
        with self._lock:
            fd = self._open(place.car)
            os.lseek(fd, place.offset, os.SEEK_SET)
            return os.read(fd, place.length)

    def _open(self, car: str) -> int:
        fd = self._files.get(car)
        if fd is None:
            if len(self._files) >= self.MOST_FILES:
                os.close(self._files.pop(next(iter(self._files))))
            fd = self._files[car] = os.open(self._folder / car, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        return fd

    def close(self) -> None:
        with self._lock:
            while self._files:
                os.close(self._files.popitem()[1])
