"""Uploads as a stream: a multipart body goes in piece by piece, blocks go to the pin's CAR as they are ready."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from python_multipart.multipart import parse_options_header

from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.exporter import read_file
from pinui.ipfs.folders import FolderBuilder
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, Importer, NewBlock
from pinui.ipfs.multihash import Bytes
from pinui.node.cars import ForeignCar
from pinui.node.draft import DraftCar
from pinui.node.errors import ApiError
from pinui.node.form import BrokenForm, FormReader, PartHead
from pinui.node.index import Pin
from pinui.node.media import SNIFFED, by_name, sniff
from pinui.node.store import NewPin, PinStore
from pinui.node.trees import describe_tree
from pinui.node.wire import INVALID, Options, options_field

__all__ = ["PROFILES", "MultipartUpload", "boundary_of", "describe_car", "new_pin", "store_json", "unpack"]

MAX_FILES = 20_000
MAX_FIELDS = 32
MAX_FIELD = 1024 * 1024
MORE_THAN_ONE = "More than one file and/or directory was provided for pinning."
PROFILES = (KUBO_V0, KUBO_V1)


def store_json(store: PinStore, text: str, options: Options) -> tuple[Pin, bool]:
    """Pin a JSON document, which is stored as this text."""
    with store.draft(options.cid_version) as draft:
        importer = Importer(PROFILES[options.cid_version])
        draft.add(importer.feed(text.encode()))
        file = _finish_file(draft, importer)
        return store.commit(draft, new_pin(file.cid, file.tree_size, 1, options, "application/json"))


def new_pin(cid: Cid, size: int, files: int, options: Options, mime_type: str, name: str = "") -> NewPin:
    """A pin with the options of a request; `name` is for one that names none."""
    return NewPin(cid, size, files, options.name or name or None, options.keyvalues, mime_type, options.group)


def unpack(car: ForeignCar, pieces: Iterable[Bytes]) -> Iterator[Bytes]:
    """Feed a CAR to its end, piece by piece; one that can't be pinned is an `ApiError`."""
    try:
        for piece in pieces:
            car.feed(piece)
            yield piece
        yield from car.settle()
    except ContentAddressError as error:
        raise ApiError(400, f"The CAR can't be pinned: {error}.") from error


def describe_car(car: ForeignCar, options: Options, name: str) -> NewPin:
    """The facts about a complete CAR."""
    facts = describe_tree(car.root, car.draft.read)
    return new_pin(car.root, facts.size, facts.files, options, facts.mime_type, name)


@dataclass(frozen=True, slots=True)
class _File:
    """A file with its blocks in the draft."""

    path: str
    cid: Cid
    tree_size: int


def _finish_file(draft: DraftCar, importer: Importer, path: str = "") -> _File:
    blocks, cid, size = importer.finish()
    draft.add(blocks)
    return _File(path, cid, size)


class MultipartUpload:
    """One upload. Feed the body, then `finish` or `discard`; every call may block: use a worker thread."""

    def __init__(
        self,
        store: PinStore,
        boundary: bytes,
        read_options: Callable[[Mapping[str, str]], Options] = options_field,
        largest: int | None = None,
    ) -> None:
        """`read_options` reads the fields of the form; `largest` is how many bytes its files may have."""
        self._store = store
        self._read_options = read_options
        self._left = largest
        self._fields: dict[str, str] = {}
        self._files: list[_File] = []
        self._draft: DraftCar | None = None
        self._spooled: DraftCar | None = None
        self._car: ForeignCar | None = None
        self._importer: Importer | None = None
        self._ready: list[NewBlock] = []
        self._mime_type: str | None = None
        self._beginning = b""
        self._name = self._path = ""
        self._text = bytearray()
        self._form = FormReader(boundary, self._on_head, self._on_data, self._on_end)

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the body."""
        try:
            self._form.feed(data)
        except BrokenForm as error:
            raise ApiError(400, INVALID) from error

    def feed_all(self, pieces: Sequence[bytes]) -> None:
        """Take the next pieces of the body, and write their blocks."""
        for piece in pieces:
            self.feed(piece)
        blocks, self._ready = self._ready, []
        if blocks:
            self._target().add(blocks)

    @property
    def fields(self) -> Mapping[str, str]:
        """The fields of the form so far."""
        return self._fields

    def settle(self) -> Iterator[Bytes]:
        """The body is whole. If its options came behind the files and ask for the other version of CIDs, everything
        is written once more: piece by piece, so that this can be given up. `finish` does what is left of it."""
        self.feed_all(())
        if not self._form.is_whole:
            raise ApiError(400, INVALID)
        version = self._read_options(self._fields).cid_version
        if not self._files or self._draft is None:
            raise ApiError(400, "No file was provided for pinning.")
        if self._read_options(self._fields).car:
            yield from self._unpack()
            return
        if version == self._draft.cid_version:
            return
        spooled = self._spooled = self._draft
        draft = self._draft = self._store.draft(version)
        for number, file in enumerate(self._files):
            importer = Importer(PROFILES[version])
            for piece in read_file(file.cid, spooled.read):
                draft.add(importer.feed(piece))
                yield piece
            self._files[number] = _finish_file(draft, importer, file.path)
        spooled.discard()

    def _unpack(self) -> Iterator[Bytes]:
        """The upload is a CAR: take its blocks instead of the file that it is. Fields may come behind it."""
        if self._car is not None or self._draft is None:
            return
        if len(self._files) > 1:
            raise ApiError(400, "One CAR is taken at a time.")
        self._car = ForeignCar(self._store.draft)
        yield from unpack(self._car, read_file(self._files[0].cid, self._draft.read))
        self._draft.discard()

    def finish(self, check: Callable[[NewPin], None] = lambda _: None) -> tuple[Pin, bool]:
        """The body is whole: make it a pin, unless `check` raises."""
        for _ in self.settle():
            pass
        options = self._read_options(self._fields)
        if self._car is not None:
            self._draft = self._car.draft
            pin = describe_car(self._car, options, self._files[0].path)
            check(pin)
            return self._store.commit(self._draft, pin)
        try:
            is_single = len(self._files) == 1 and "/" not in self._files[0].path
            pin = self._single(options) if is_single and not options.wrap else self._folder(options, is_single)
        except ContentAddressError as error:
            raise ApiError(400, f"The folder can't be pinned: {error}.") from error
        check(pin)
        return self._store.commit(self._target(), pin)

    def discard(self) -> None:
        """Leave nothing behind but the pin, if there is one."""
        if self._car is not None:
            self._car.discard()
        for draft in (self._draft, self._spooled):
            if draft is not None:
                draft.discard()

    def _single(self, options: Options) -> NewPin:
        file = self._files[0]
        kind = by_name(file.path) or self._mime_type or sniff(self._beginning)
        return new_pin(file.cid, file.tree_size, 1, options, kind, file.path)

    def _folder(self, options: Options, is_single: bool) -> NewPin:
        """One folder of all files; `is_single` is for a file that gets a folder of its own."""
        roots = {file.path.partition("/")[0] for file in self._files}
        if not is_single and (len(roots) > 1 or not all("/" in file.path for file in self._files)):
            raise ApiError(400, MORE_THAN_ONE)
        builder = FolderBuilder(options.cid_version)
        for file in self._files:
            builder.add(file.path if is_single else file.path.partition("/")[2], file.cid, file.tree_size)
        blocks, cid, size = builder.finish()
        self._target().add(blocks)
        return new_pin(cid, size, len(self._files), options, "directory", roots.pop())

    def _target(self) -> DraftCar:
        if self._draft is None:
            self._draft = self._store.draft(self._read_options(self._fields).cid_version)
        return self._draft

    def _on_head(self, head: PartHead) -> None:
        self._name, self._text = head.name.decode(errors="replace"), bytearray()
        if self._name != "file":
            if len(self._fields) >= MAX_FIELDS:
                raise ApiError(413, f"At most {MAX_FIELDS} fields can go with the files.")
            return
        if len(self._files) >= MAX_FILES:
            raise ApiError(413, f"At most {MAX_FILES} files can be pinned at once.")
        try:
            self._path = _unescape((head.filename or b"").decode())
        except UnicodeDecodeError as error:
            raise ApiError(400, "A file's name is not UTF-8.") from error
        self._beginning = b""
        kind = head.media_type.decode("latin-1")
        self._mime_type = kind if "/" in kind and kind != "application/octet-stream" else None
        self._importer = Importer(PROFILES[self._target().cid_version])

    def _on_data(self, data: memoryview) -> None:
        if self._importer is None:
            if len(self._text) + len(data) > MAX_FIELD:
                raise ApiError(413, f"The field {self._name!r} is too large.")
            self._text += data
            return
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise ApiError(413, "The upload exceeds the maximum upload size.")
        if len(self._beginning) < SNIFFED:
            self._beginning += data[: SNIFFED - len(self._beginning)]
        self._ready += self._importer.feed(data)

    def _on_end(self) -> None:
        if self._importer is None:
            self._fields[self._name] = self._text.decode(errors="replace")
            return
        blocks, cid, size = self._importer.finish()
        self._ready += blocks
        self._importer = None
        self._files.append(_File(self._path, cid, size))


def _unescape(filename: str) -> str:
    """Browsers and libraries that follow them write these three signs so; others send them as they are."""
    return filename.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")


def boundary_of(content_type: str) -> bytes:
    """The text between the parts of a form."""
    # A header may hold any bytes, but the parser takes only latin-1; no boundary has anything else.
    kind, parameters = parse_options_header(content_type.encode("latin-1", "replace").decode("latin-1"))
    boundary = parameters.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 0 < len(boundary) <= 200:
        raise ApiError(400, "The upload must be multipart/form-data with a boundary.")
    return boundary
