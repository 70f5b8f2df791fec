"""JSON documents as they are stored: the text of any value, and messages."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any, cast

from pinui.ipfs.jsontext import NotJSON, is_small, stringify
from pinui.sdk.errors import ContentError, SerializationError
from pinui.sdk.models import ClientMessage

__all__ = ["json_text", "message_from", "text_of"]


async def text_of(data: Any) -> str:
    """`json_text`, in a thread where it would hold up the loop."""
    return json_text(data) if is_small(data) else await asyncio.to_thread(json_text, data)


def json_text(data: Any) -> str:
    """The text that `data` is stored as; `SerializationError` names what would be lost."""
    try:
        return stringify(data)
    except NotJSON as error:
        reason, path = error.reason, error.path
    raise SerializationError(f"{path}: {reason}", path=path)


def message_from(document: object) -> ClientMessage:
    """The message in a stored document; `ContentError` names a missing part."""
    if not isinstance(document, Mapping):
        raise _no_message("it is not an object")
    fields = cast("Mapping[str, object]", document)
    recipient, payload, timestamp = (fields.get(name) for name in ("recipientId", "payload", "timestamp"))
    if not isinstance(recipient, str):
        raise _no_message("it has no recipientId")
    if not isinstance(payload, str):
        raise _no_message("it has no payload text")
    if isinstance(timestamp, float) and math.isfinite(timestamp):
        timestamp = int(timestamp)
    if isinstance(timestamp, bool) or not isinstance(timestamp, int):
        raise _no_message("it has no timestamp")
    return ClientMessage(recipient, payload, timestamp)


def _no_message(why: str) -> ContentError:
    return ContentError(f"This document is not a message: {why}", hint="Retrieve it: that reads any document.")
