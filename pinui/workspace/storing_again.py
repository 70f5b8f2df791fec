"""Storing revoked content again: a document from the history, a file from its path or from a gateway."""

from __future__ import annotations

import asyncio
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.importer import PROFILES
from pinui.sdk.errors import PinuiError
from pinui.sdk.stored_json import text_of
from pinui.sdk.writing.folder_rules import FolderRules
from pinui.sdk.writing.prediction import predict_source
from pinui.sdk.writing.sources import open_source
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.scratch import scratch_folder

if TYPE_CHECKING:
    from pinui.sdk.client import Client
    from pinui.sdk.models import ClientRecord, Verification
    from pinui.workspace.history import History
    from pinui.workspace.rows import Entry
    from pinui.workspace.service import Service

__all__ = ["same_content", "send_again"]


async def send_again(
    service: Service, client: Client, history: History, entry: Entry
) -> tuple[ClientRecord[Any], str | None]:
    """Send the content of a row once more. Returns the record, and the text of a document.

    `WorkspaceError` gives the reason if it can't be done; nothing is sent then.
    """
    if entry.kind == "file":
        return await _upload_again(service, client, entry), None
    record = await history.record(entry.id)
    if record is None or record.data is None:
        raise WorkspaceError("The history no longer has its text, so it can't be stored again.")
    text = await text_of(record.data)
    return await service.call(client.store(record.data)), text


async def _upload_again(service: Service, client: Client, entry: Entry) -> ClientRecord[None]:
    source = Path(entry.source) if entry.source else None
    if source is not None and (options := await asyncio.to_thread(_options_for, source, entry.cid)) is not None:
        hidden, follow_links = options
        return await service.call(client.upload(source, hidden=hidden, follow_links=follow_links))
    verdicts: list[Verification | None] = []
    with scratch_folder() as folder:
        try:
            client = await service.open_to_read()
            copy = await service.call(client.download(entry.cid, to=folder / "content", on_verdict=verdicts.append))
        except PinuiError as error:
            why = "its file has changed or gone" if source else "the path of its file is not known"
            raise WorkspaceError(
                f"It can't be stored again: {why}, and no gateway has it any more.", hint=str(error)
            ) from error
        if verdicts != ["verified"]:
            raise WorkspaceError("It can't be stored again: the gateway's copy could not be verified.")
        return await service.call(client.upload(copy, hidden=True, exclude=None))


def _options_for(path: Path, cid: str) -> tuple[bool, bool] | None:
    """The options that give a file or folder this CID: hidden names, followed links; None if no options do."""
    # Whether empty folders are kept depends on the service alone.
    for hidden, follow_links, empty in product((False, True), repeat=3):
        try:
            source = open_source(path, FolderRules(hidden, follow_links), empty_folders=empty)
            found = predict_source(source, PROFILES)
        except (OSError, PinuiError, ContentAddressError):
            continue
        if any(same_content(str(one), cid) for one in found.values()):
            return hidden, follow_links
        if not source.left_out:  # a file, or a folder without anything left out
            return None
    return None


def same_content(one: str, other: str) -> bool:
    """Whether two texts are one CID; their versions may differ."""
    try:
        return one == other or Cid.parse(one) in Cid.parse(other).spellings()
    except ContentAddressError:
        return False
