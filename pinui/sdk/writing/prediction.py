"""Prediction of an upload's CID: computed while the bytes go out, compared with the provider's answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.folders import FolderBuilder
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, Importer, ImportProfile
from pinui.ipfs.plain_bytes import ONE_BLOCK, compare_prediction
from pinui.sdk.models import Verification
from pinui.sdk.writing.sources import PIECE, Part, UploadSource

__all__ = ["SeenFiles", "UploadPrediction", "predict_source", "predict_text", "profile_for"]


def profile_for(cid_version: int | None) -> ImportProfile:
    """The service's way of cutting files for this CID version."""
    return KUBO_V1 if cid_version == 1 else KUBO_V0


class SeenFiles:
    """The files of an upload as they went by once. Not for two threads at once; hashing is meant for one of its own."""

    def __init__(self, source: UploadSource, profile: ImportProfile) -> None:
        self._source = source
        self._profile = profile
        self._files: list[tuple[str, Cid, int]] = []
        self._folders: list[str] = []
        self._importer = Importer(profile)
        self._root: Cid | None = None
        self.small: bytes | None = b"" if source.size <= ONE_BLOCK and not source.is_folder else None
        """All bytes, where one block holds them."""

    def feed(self, piece: bytes) -> None:
        """The next bytes of the current file."""
        self._importer.feed(piece)
        if self.small is not None:
            self.small += piece

    def end_of(self, part: Part) -> None:
        """End the current file."""
        if part.is_folder:
            self._folders.append(part.name)
            return
        _blocks, cid, size = self._importer.finish()
        self._files.append((part.name, cid, size))
        self._importer = Importer(self._profile)

    def cid(self) -> Cid | None:
        """The CID of everything, or None before all was seen; `ContentAddressError` says why a folder has none here."""
        if len(self._files) + len(self._folders) < len(self._source.parts):
            return None
        if self._root is None:
            self._root = self._folder_cid() if self._source.is_folder else self._files[0][1]
        return self._root

    def _folder_cid(self) -> Cid:
        builder = FolderBuilder(self._profile.cid_version, measured=self._profile.measures_folders)
        for name, cid, size in self._files:
            builder.add(name.partition("/")[2], cid, size)
        for name in self._folders:
            builder.add_folder(name.partition("/")[2])
        return builder.finish()[1]

    def agrees_on_files(self, answered: Iterable[str]) -> bool:
        """Whether each file's CID is among those that a service answered."""
        return not Counter(str(cid) for _name, cid, _size in self._files) - Counter(answered)


class UploadPrediction:
    """The CID that an upload must get, from the bytes of its last attempt."""

    def __init__(self, source: UploadSource, profile: ImportProfile) -> None:
        self._source = source
        self._profile = profile
        self._seen = self.begin()

    def begin(self) -> SeenFiles:
        """Start, or start again. A thread that still works for a broken attempt keeps the files of that attempt."""
        self._seen = SeenFiles(self._source, self._profile)
        return self._seen

    def cid(self) -> Cid | None:
        """The CID of the whole upload; None before its end, and for folders whose CID can't be predicted."""
        try:
            return self._seen.cid()
        except ContentAddressError:
            return None

    def exact_verdict(self, answered: Sequence[str]) -> Verification:
        """The verdict on the answer of a service that cuts files as requested: all its CIDs, the root last.

        Only folders are left to its settings: large ones may be spread over blocks in another way.
        """
        if str(self.cid()) == answered[-1]:
            return "verified"
        agrees = self._source.is_folder and self._seen.agrees_on_files(answered)
        return "unverifiable" if agrees else "mismatch"

    def verdict(self, answer: str) -> Verification:
        """The verdict on the provider's answer."""
        predicted = self.cid()
        if predicted is None:
            return "unverifiable"
        return compare_prediction(answer, predicted, self._seen.small)


def predict_source(
    source: UploadSource, profiles: Iterable[ImportProfile], on_progress: Callable[[int, int], None] | None = None
) -> dict[str, Cid]:
    """The CIDs of a file or a folder, by the name of the profile; it is read once, on the calling thread.

    `ContentAddressError` says why a folder has none here.
    """
    seen = {profile.name: SeenFiles(source, profile) for profile in profiles}
    done = 0
    for part in source.parts:
        with part.open() as file:
            while piece := file.read(min(PIECE, part.size + 1)):
                for files in seen.values():
                    files.feed(piece)
                done += len(piece)
                if on_progress is not None:
                    on_progress(done, source.size)
        for files in seen.values():
            files.end_of(part)
    return {name: cid for name, files in seen.items() if (cid := files.cid()) is not None}


def predict_text(text: str, profile: ImportProfile) -> tuple[Cid, bytes | None]:
    """The CID of a JSON document's text, and its bytes if they fit one block."""
    data = text.encode()
    importer = Importer(profile)
    importer.feed(data)
    return importer.finish()[1], data if len(data) <= ONE_BLOCK else None
