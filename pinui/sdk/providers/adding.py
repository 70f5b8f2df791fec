"""Uploads to a daemon that cuts files into blocks as it is told to: Kubo, and IPFS Cluster, which adds as Kubo does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pinui.ipfs.cid import Cid
from pinui.ipfs.importer import ImportProfile
from pinui.sdk.errors import PinuiError
from pinui.sdk.models import Pinned
from pinui.sdk.providers import wire
from pinui.sdk.providers.api import Api, Line, LineSink
from pinui.sdk.transport.http import OnProgress, Request
from pinui.sdk.writing.multipart import Multipart, unixfs_head
from pinui.sdk.writing.prediction import UploadPrediction
from pinui.sdk.writing.sources import UploadSource

__all__ = ["add", "add_options"]

# A lost reply to something this small is simply asked for again; pinning it twice is pinning it once.
CHEAP_TO_REPEAT = 1024 * 1024


def add_options(profile: ImportProfile) -> dict[str, str | int]:
    """How files are cut, in the words of `add`. A daemon may be set to something else, so nothing is left out."""
    return {
        "cid-version": profile.cid_version,
        "raw-leaves": "true" if profile.raw_leaves else "false",
        "chunker": f"size-{profile.chunk_size}",
        "hash": "sha2-256",
    }


async def add(
    api: Api,
    source: UploadSource,
    profile: ImportProfile,
    request: Callable[[Multipart], Request],
    *,
    cid_field: str,
    is_pinned: Callable[[Cid], Awaitable[bool]],
    on_progress: OnProgress | None = None,
    verifies: bool = True,
) -> Pinned:
    """Upload a file or a folder, and compare the CID that comes back with the one that the bytes have.

    `cid_field` is the daemon's name for a CID in the lines that it answers, one for each file and folder, root last.
    """
    prediction = UploadPrediction(source, profile) if verifies or source.size > CHEAP_TO_REPEAT else None
    body = Multipart(source.parts, (), on_progress, prediction, unixfs_head)

    async def has_arrived() -> bool:
        cid = None if prediction is None else await asyncio.to_thread(prediction.cid)
        try:
            return cid is not None and await is_pinned(cid)
        except PinuiError:
            return False  # nobody knows; sending again is harmless

    sink = _AddedSink(cid_field)
    is_done = has_arrived if source.size > CHEAP_TO_REPEAT else None
    outcome = await api.transport.perform(request(body), sink, is_done=is_done)
    if outcome.already_done and prediction is not None:
        return Pinned(str(prediction.cid()), source.size, "verified" if verifies else None)
    status = api.head(outcome).status
    await sink.finish()
    if not sink.cids:
        raise wire.not_understood(status, "it names no CID")
    verdict = prediction.exact_verdict(sink.cids) if prediction is not None and verifies else None
    return Pinned(sink.cids[-1], source.size, verdict)


class _AddedSink(LineSink):
    """Collects the CIDs that the daemon answers. They come while the upload is still under way."""

    def __init__(self, cid_field: str) -> None:
        super().__init__(self._collect)
        self._field = cid_field
        self.cids: list[str] = []

    def start_over(self) -> None:
        self.cids.clear()

    async def _collect(self, lines: list[Line]) -> None:
        self.cids += [cid for line in lines if (cid := wire.one_word(line.get(self._field))) is not None]
