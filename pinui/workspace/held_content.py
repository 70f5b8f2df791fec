"""Content that the account holds already: found by the CID that a file or folder must get, confirmed by the service."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.importer import PROFILES
from pinui.sdk.errors import PinuiError
from pinui.sdk.models import ClientRecord
from pinui.sdk.writing.prediction import predict_source
from pinui.sdk.writing.sources import open_source
from pinui.workspace.rows import Standing

if TYPE_CHECKING:
    from pathlib import Path

    from pinui.sdk.client import Client
    from pinui.sdk.writing.folder_rules import FolderRules
    from pinui.sdk.writing.sources import UploadSource
    from pinui.workspace.history import History

__all__ = ["find_held"]

# Bytes of the blocks around a file in a folder: its name, its link, and a folder of its own.
BLOCK_OF_FILE = 1024


async def find_held(
    client: Client,
    history: History,
    profile: str,
    path: Path,
    *,
    rules: FolderRules,
    in_doubt: bool,
) -> tuple[ClientRecord[Any], bool] | None:
    """A record of the content at a path, and whether it is a folder, if the account holds it; else None.

    Only content that the history or the mirror knows is asked for; with `in_doubt`, any. Content of a size that neither
    knows is not even read: its CID takes as long to compute as the file takes to read.
    """
    try:
        source = await asyncio.to_thread(open_source, path, rules)
        # Services count the blocks around the content, too. A service that counts repeated blocks once gives no useful
        # answer: the content is sent again, which changes nothing.
        most = source.size + source.size // 8 + BLOCK_OF_FILE * (len(source.parts) + 1)
        if not in_doubt and not await history.may_know(profile, source.size, most):
            return None
        cids = await asyncio.to_thread(_predict, source, path, rules)
    except (OSError, PinuiError, ContentAddressError):
        return None  # the upload itself says what is wrong
    for cid in cids:
        if (in_doubt or await _is_known(history, profile, cid)) and (held := await _held_as(client, cid)) is not None:
            now = time.time_ns() // 1_000_000
            return ClientRecord(cid=held, timestamp=now, size=source.size, verification="verified"), source.is_folder
    return None


async def _is_known(history: History, profile: str, cid: str) -> bool:
    row = await history.pin_of(cid, profile)
    entries = [] if row is None else await history.entries([row])
    return any(entry.standing not in (Standing.REVOKED, Standing.GONE) for entry in entries)


async def _held_as(client: Client, cid: str) -> str | None:
    """The CID under which the service holds some content; None if it doesn't, or doesn't tell."""
    try:
        async with aclosing(client.pins(cid=cid)) as pins:
            async for pin in pins:
                if pin.status == "pinned":
                    return pin.cid
    except PinuiError:  # it can't list pins, or this token may not: the content is sent
        pass
    return None


def _predict(source: UploadSource, path: Path, rules: FolderRules) -> list[str]:
    """The CIDs that a file or folder may get, by the ways in which services cut files."""
    cids: dict[str, None] = {}
    sources = [source]
    if source.left_out is not None and source.left_out.empty_folders:  # some services keep those
        sources.append(open_source(path, rules, empty_folders=True))
    for one in sources:
        cids |= dict.fromkeys(str(cid) for cid in predict_source(one, PROFILES).values())
    return list(cids)
