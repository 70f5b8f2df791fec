"""Uploading and downloading, as kinds of work that can be repeated: an item that is done already counts as done."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pinui.sdk.errors import PinuiError, SourceChanged
from pinui.sdk.writing.folder_rules import USUAL, FolderRules
from pinui.workspace.errors import AlreadyExists, NotThere, WorkspaceError, WrongCID
from pinui.workspace.transfers.rows import NewItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pinui.sdk.models import LeftOut, OnVerdict, Resume, Verification
    from pinui.sdk.writing.sources import FileStatus, FolderContents
    from pinui.workspace.rows import Entry
    from pinui.workspace.service import Service
    from pinui.workspace.transfers.rows import Item
    from pinui.workspace.transfers.transfer import Progress, Transfer

__all__ = ["Downloading", "Uploading"]

LISTED = 1000
"""Items that are written down together."""
# Bytes of the blocks around a file in a folder, which services count, too: its name, its link, a folder of its own.
BLOCKS_OF_FILE = 1024


class Operations(Protocol):
    """The operations that these kinds need; `Workspace` has them."""

    async def upload(
        self,
        source: Path,
        *,
        name: str | None = None,
        rules: FolderRules = USUAL,
        contents: FolderContents | None = None,
        on_progress: Progress | None = None,
        on_left_out: Callable[[LeftOut], None] | None = None,
        resume: Resume | None = None,
        at: Service | None = None,
    ) -> Entry: ...

    async def download(
        self,
        address: str,
        to: Path,
        *,
        overwrite: bool = False,
        on_progress: Progress | None = None,
        on_verdict: OnVerdict | None = None,
        resume: Resume | None = None,
        at: Service | None = None,
    ) -> Path: ...

    async def name_for(self, address: str) -> str: ...

    async def uploaded_since(self, source: Path, since: int, at: Service) -> Entry | None: ...

    async def held_already(
        self, source: Path, sizes: tuple[int, int], *, name: str | None, rules: FolderRules, in_doubt: bool, at: Service
    ) -> Entry | None: ...


@dataclass(frozen=True, slots=True)
class UploadOptions:
    """The options of an upload; the ledger keeps them as JSON."""

    paths: Sequence[str]
    name: str | None
    rules: FolderRules
    each: bool

    @classmethod
    def of(cls, transfer: Transfer) -> UploadOptions:
        """Read the options of a request."""
        options = transfer.options
        return cls(options["paths"], options["name"], FolderRules(**options["rules"]), options["each"])


class Uploading:
    """Uploads: of paths, each file or folder a pin; or of each file in a folder."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self.piped: Path | None = None
        """The file that the content of stdin was written to, in this process."""

    async def items(self, transfer: Transfer, service: Service) -> AsyncIterator[Sequence[NewItem]]:
        """The paths of the request, or the files in them."""
        del service
        options = UploadOptions.of(transfer)
        batch: list[NewItem] = []
        for path in options.paths:
            if options.each and await asyncio.to_thread(os.path.isdir, path):
                yield batch
                batch = []
                async for items in _files_in(path, options, transfer):
                    yield items
            else:
                if options.each:  # a folder, perhaps: its files are listed once it is there
                    await asyncio.to_thread(os.lstat, path)
                batch.append(await asyncio.to_thread(_alone, path, options, self.piped))
                if len(batch) >= LISTED:
                    yield batch
                    batch = []
        yield batch

    async def run(self, transfer: Transfer, service: Service, item: Item, progress: Progress) -> None:
        """Upload one file or folder, unless it has been done or the account holds it already."""
        options, operations = UploadOptions.of(transfer), self._operations
        path = Path(transfer.spelled(item.source))
        if item.source == "-":
            if self.piped is None:
                raise WorkspaceError("Content from stdin can't be resumed.", hint="Pipe it in again.")
            path = self.piped
        size, seen, contents = await asyncio.to_thread(_look_at, path, options)
        if item.seen not in (None, seen):
            raise SourceChanged(f"{path} has changed since the transfer was asked for")
        item.size, item.seen = size, seen
        entry = None
        if item.started_at is not None:
            entry = await operations.uploaded_since(path, item.started_at, service)
        if entry is None:
            in_doubt = item.started_at is not None
            files = 1 if contents is None else len(contents.files)
            sizes = size, size + size // 8 + BLOCKS_OF_FILE * (files + 1)
            entry = await operations.held_already(
                path, sizes, name=options.name, rules=options.rules, in_doubt=in_doubt, at=service
            )
            item.was_held = entry is not None
        if entry is None:

            def note(left_out: LeftOut) -> None:
                item.left_out = left_out
                if transfer.items == 1:
                    transfer.title = f"{transfer.title.rstrip('/')}/"

            try:
                entry = await operations.upload(
                    path,
                    name=options.name,
                    rules=options.rules,
                    contents=contents,
                    on_progress=progress,
                    on_left_out=note,
                    resume=_resume(transfer, item),
                    at=service,
                )
            except WrongCID as error:
                item.cid, item.entry, item.row = error.entry.cid, error.entry.id, error.entry
                raise
        item.cid, item.entry, item.row, item.verification = entry.cid, entry.id, entry, entry.verification


class Downloading:
    """Downloads of an address to a path. The file appears there when it is complete."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    async def items(self, transfer: Transfer, service: Service) -> AsyncIterator[Sequence[NewItem]]:
        """One item, whose destination is a file, or a new folder."""
        del service
        address, to = transfer.options["address"], Path(transfer.options["to"])
        if await asyncio.to_thread(to.is_dir):
            to = to / await self._operations.name_for(address)
        from pinui.sdk.reading.partial import new_handle

        yield [NewItem(address, shown=transfer.title, destination=str(to), resume=new_handle(to))]

    async def run(self, transfer: Transfer, service: Service, item: Item, progress: Progress) -> None:
        """Download it."""
        to = Path(transfer.spelled(item.destination or transfer.options["to"]))
        if await asyncio.to_thread(to.is_dir):
            hint = "Choose another name, or move it away."
            raise AlreadyExists(f"The folder {to} is in the way.", hint=hint, is_file=False)
        if not await asyncio.to_thread(to.parent.is_dir):
            raise NotThere(f"The folder {to.parent} is not there.", hint="Mount its drive or make it.")

        def note(verdict: Verification | None) -> None:
            item.verification = verdict

        transfer.path = await self._operations.download(
            item.source,
            to,
            overwrite=transfer.options["overwrite"],
            on_progress=progress,
            on_verdict=note,
            resume=_resume(transfer, item),
            at=service,
        )


def _resume(transfer: Transfer, item: Item) -> Resume:
    """Go on where an earlier process was, and write down where this one is."""
    from pinui.sdk.models import Resume

    def keep(handle: str) -> None:
        item.resume = handle
        transfer.mark(item)

    return Resume(keep=keep, handle=item.resume)


async def _files_in(path: str, options: UploadOptions, transfer: Transfer) -> AsyncIterator[Sequence[NewItem]]:
    """The files of a folder, while they are found: there may be many."""
    from pinui.sdk.writing.sources import FolderWalk

    closed: list[OSError] = []
    walk = FolderWalk(Path(path), options.rules, on_error=closed.append)
    found = (NewItem(file.place, shown=file.name, size=file.size, seen=_identity(file.status)) for file in walk)
    try:
        while items := await asyncio.to_thread(lambda: list(islice(found, LISTED))):
            yield items
    except PinuiError:
        yield [NewItem(path)]  # its run fails in the same way
        return
    if transfer.on_listed is not None:
        transfer.on_listed(path, walk.files + len(closed), walk.left_out)
    yield [NewItem(str(error.filename)) for error in closed]


def _alone(path: str, options: UploadOptions, piped: Path | None) -> NewItem:
    """A path that goes up as one pin."""
    shown = Path(path).name or path
    place = piped if path == "-" and piped is not None else Path(path)
    try:
        size, seen, _contents = _look_at(place, options)
    except (OSError, PinuiError):
        return NewItem(path, shown=shown)  # the upload itself says what is wrong
    return NewItem(path, shown=shown, size=size, seen=seen)


def _look_at(path: Path, options: UploadOptions) -> tuple[int, str, FolderContents | None]:
    """The size of a file or folder, a text that is another one after any change to it, and what is in a folder."""
    from pinui.sdk.writing.sources import look_into

    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        return status.st_size, _identity(status), None
    contents = look_into(path, options.rules)
    if options.each:  # its files could not be listed, for a reason that is gone
        raise WorkspaceError(f"{path} could not be read before.", hint="Give the command again.")
    digest = hashlib.sha256()
    for file in contents.files:
        digest.update(f"{file.name}\0{_identity(file.status)}\0".encode("utf-8", "surrogatepass"))
    for name in contents.empty:
        digest.update(f"{name}/\0".encode("utf-8", "surrogatepass"))
    return contents.size, f"folder {digest.hexdigest()}", contents


def _identity(status: os.stat_result | FileStatus) -> str:
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"  # no device: its number may change at a reboot
