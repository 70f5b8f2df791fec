"""Content that the account holds already: found by the CID that a file or folder must get, confirmed by the service."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.importer import PROFILES
from pinui.sdk.errors import PinuiError
from pinui.sdk.models import ClientRecord
from pinui.sdk.writing.prediction import predict_source
from pinui.sdk.writing.sources import open_source
from pinui.workspace.rows import Standing, now_ms

if TYPE_CHECKING:
    from pathlib import Path

    from pinui.sdk.client import Client
    from pinui.sdk.writing.folder_rules import FolderRules
    from pinui.workspace.history import History, HistoryFile

__all__ = ["find_held"]


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

    Only content that the history or the mirror knows is asked for; with `in_doubt`, any.
    """
    try:
        cids, size, is_folder = await asyncio.to_thread(_predict, path, rules)
    except (OSError, PinuiError, ContentAddressError):
        return None  # the upload itself says what is wrong
    if not in_doubt:
        cids = await history.do(lambda file: [cid for cid in cids if _is_known(file, profile, cid)])
    for cid in cids:
        if (held := await _held_as(client, cid)) is not None:
            return ClientRecord(cid=held, timestamp=now_ms(), size=size, verification="verified"), is_folder
    return None


def _is_known(history: HistoryFile, profile: str, cid: str) -> bool:
    row = history.pin_of(cid, profile)
    entries = [] if row is None else history.entries([row])
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


def _predict(path: Path, rules: FolderRules) -> tuple[list[str], int, bool]:
    """The CIDs that a file or folder may get, by the ways in which services cut files; its size."""
    cids: dict[str, None] = {}
    source = open_source(path, rules)
    sources = [source]
    if source.left_out is not None and source.left_out.empty_folders:  # some services keep those
        sources.append(open_source(path, rules, empty_folders=True))
    for one in sources:
        cids |= dict.fromkeys(str(cid) for cid in predict_source(one, PROFILES).values())
    return list(cids), source.size, source.is_folder
