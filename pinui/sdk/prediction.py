"""Which CID an upload must get: built while its bytes go out, compared with what the provider answers."""

from __future__ import annotations

from pinui.ipfs.check import ONE_BLOCK, compare_prediction
from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.folders import FolderBuilder
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, Importer, ImportProfile
from pinui.sdk.models import Verification
from pinui.sdk.sources import PIECE, Part, UploadSource

__all__ = ["PinnedCid", "UploadPrediction", "predict_source", "predict_text", "profile_for"]


class PinnedCid(str):
    """The CID that a provider answered, with what is known about it."""

    __slots__ = ("json_size", "verification")
    verification: Verification | None
    json_size: int | None
    """How many characters of JSON were stored; None for files."""

    @classmethod
    def of(cls, cid: str, verification: Verification | None) -> PinnedCid:
        """The text with its verdict."""
        pinned = cls(cid)
        pinned.verification = verification
        pinned.json_size = None
        return pinned


def profile_for(cid_version: int | None) -> ImportProfile:
    """How the service cuts files when it is asked for this version."""
    return KUBO_V1 if cid_version == 1 else KUBO_V0


class UploadPrediction:
    """Watches the files of an upload go by. Not for two threads at once; hashing is meant for a thread of its own."""

    def __init__(self, source: UploadSource, profile: ImportProfile) -> None:
        self._source = source
        self._profile = profile
        self.begin()

    def begin(self) -> None:
        """The upload starts, or starts anew."""
        self._files: list[tuple[str, Cid, int]] = []
        self._importer = Importer(self._profile)
        self._small: bytes | None = b"" if self._source.size <= ONE_BLOCK and not self._source.is_folder else None

    def feed(self, piece: bytes) -> None:
        """The next bytes of the current file."""
        self._importer.feed(piece)
        if self._small is not None:
            self._small += piece

    def end_of(self, part: Part) -> None:
        """The current file is over."""
        _blocks, cid, size = self._importer.finish()
        self._files.append((part.name, cid, size))
        self._importer = Importer(self._profile)

    def cid(self) -> Cid | None:
        """The CID of everything; None before all was seen, and for folders that are split over several blocks."""
        if len(self._files) < len(self._source.parts):
            return None
        if not self._source.is_folder:
            return self._files[0][1]
        builder = FolderBuilder(self._profile.cid_version)
        try:
            for name, cid, size in self._files:
                builder.add(name.partition("/")[2], cid, size)
            return builder.finish()[1]
        except ContentAddressError:
            return None

    def verdict(self, answer: str) -> Verification:
        """What the provider's answer says about these bytes."""
        predicted = self.cid()
        if predicted is None:
            return "unverifiable"
        return compare_prediction(answer, predicted, self._small)


def predict_text(text: str, profile: ImportProfile) -> tuple[Cid, bytes | None]:
    """The CID of a JSON document's text, and its bytes if they fit one block."""
    data = text.encode()
    importer = Importer(profile)
    importer.feed(data)
    return importer.finish()[1], data if len(data) <= ONE_BLOCK else None


def predict_source(source: UploadSource, profile: ImportProfile) -> Cid | None:
    """The CID that a file or folder would get, without sending it. Reads it all: call it in a thread."""
    prediction = UploadPrediction(source, profile)
    for part in source.parts:
        file = part.open()
        try:
            while piece := file.read(PIECE):
                prediction.feed(piece)
        finally:
            file.close()
        prediction.end_of(part)
    return prediction.cid()
