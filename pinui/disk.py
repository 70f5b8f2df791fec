"""Files that appear when they are complete, folders for their owner alone, and locks between processes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = [
    "NewFile",
    "OwnerLock",
    "lock_folder",
    "lock_now",
    "private_folder",
    "replacing",
    "sync_folder",
    "temporary_beside",
    "write_private",
]

try:
    import fcntl
except ImportError:  # Windows, which has no such locks
    fcntl = None


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter; an existing one keeps its mode."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)


def temporary_beside(final: Path) -> Path:
    """A free name in the same folder, so that the rename never crosses file systems."""
    from secrets import token_hex  # only writing needs it

    stem = os.fsencode(final.name)[:200].decode(errors="ignore")  # cut as file systems count; it only has to be new
    return final.with_name(f".{stem}.{token_hex(4)}.part")


class NewFile:
    """A file under a temporary name beside `path`, open for reading and writing, that replaces `path` in the end.

    If it may not replace a file, an existing one is a `FileExistsError` in the end, also one that came meanwhile. The
    user's umask applies to `mode`. `temporary` is the name to use; with `goes_on`, of a file that is there.
    """

    def __init__(
        self,
        path: Path,
        *,
        mode: int = 0o666,
        buffering: int = -1,
        temporary: Path | None = None,
        goes_on: bool = False,
        may_replace: bool = True,
    ) -> None:
        self.path = path
        self.may_replace = may_replace
        self.temporary = temporary or temporary_beside(path)
        how = getattr(os, "O_NOFOLLOW", 0) if goes_on else os.O_CREAT | os.O_EXCL
        descriptor = os.open(self.temporary, os.O_RDWR | how | getattr(os, "O_BINARY", 0), mode)
        self.file: BinaryIO = open(descriptor, "r+b", buffering=buffering)  # noqa: SIM115 – closed by one of the ends

    def sync(self) -> None:
        """Write everything to the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())

    def take_place(self) -> None:
        """Close the synced file and give it its name."""
        self.file.close()
        if self.may_replace:
            self.temporary.replace(self.path)
        else:
            _rename_to_new(self.temporary, self.path)

    def commit(self) -> None:
        """Sync the file, give it its name, and make that last."""
        self.sync()
        self.take_place()
        with suppress(OSError):
            sync_folder(self.path.parent)

    def leave(self) -> None:
        """Close the temporary file and keep it, so that a later writer can go on with it."""
        with suppress(OSError):  # closing writes the rest of the buffer, and the disk may be full
            self.file.close()

    def discard(self) -> None:
        """Remove the temporary file; `path` has not changed."""
        self.leave()
        self.temporary.unlink(missing_ok=True)


def _rename_to_new(old: Path, new: Path) -> None:
    """Rename a file; `FileExistsError` if the new name is taken."""
    if os.name == "nt":  # where a rename replaces nothing
        old.rename(new)
        return
    try:
        new.hardlink_to(old)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: a file that comes between these two lines is replaced
        if os.path.lexists(new):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new)) from None
        old.rename(new)
    else:
        old.unlink()


@contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Generator[BinaryIO]:
    """A new file, open for writing, that replaces `path` at the end; after an error nothing has changed."""
    new = NewFile(path, mode=mode)
    try:
        yield new.file
        new.commit()
    except BaseException:
        new.discard()
        raise


def write_private(path: Path, text: str) -> None:
    """Replace a file as a whole; only its owner can read it."""
    target = path.resolve()  # a link (people keep settings in a repository) stays a link
    private_folder(target.parent)
    with replacing(target, mode=0o600) as file:
        file.write(text.encode())


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last; Windows has no such thing, and does so itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock_now(descriptor: int) -> None:
    """Lock an open file or folder until it is closed; `BlockingIOError` if another process or thread has it."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class OwnerLock:
    """A file that is locked as long as its owner lives: other processes can tell whether it does."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        try:
            lock_now(descriptor)
        except BaseException:
            os.close(descriptor)
            raise

    @classmethod
    def hold(cls, path: Path) -> OwnerLock:
        """Make the file of a new owner. No other process finds it before it is locked."""
        new = path.with_name(f"{path.name}.new")
        lock = cls(path, os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        new.rename(path)
        return lock

    @classmethod
    def of_dead_owner(cls, path: Path) -> OwnerLock:
        """Take the lock of an owner that died without a release; `BlockingIOError` if it lives."""
        return cls(path, os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)))

    def close(self) -> None:
        """Unlock the file, which stays."""
        os.close(self._descriptor)

    def release(self) -> None:
        """Unlock and remove the file."""
        if os.name == "nt":  # an open file can't be removed there, which serves as the lock
            self.close()
        with suppress(OSError):
            self._path.unlink()
        if os.name != "nt":
            self.close()


@contextmanager
def lock_folder(folder: Path, wait: Callable[[Callable[[], None]], None] | None = None) -> Generator[None]:
    """Keep other processes and threads out of a folder, as long as they lock it, too.

    `wait` repeats an attempt until it raises no BlockingIOError. Without it, the wait has no end; and on network disks
    that lock no folders, the last writer wins.
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if wait is not None:
            wait(lambda: lock_now(descriptor))
        else:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
