"""Rows of the history as JSON, under the names that exports use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinui.workspace import Entry

__all__ = ["entry_object"]


def entry_object(entry: Entry, **more: Any) -> dict[str, Any]:
    """A row of the history for a script."""
    fields: dict[str, Any] = {
        "cid": entry.cid,
        "timestamp": entry.timestamp,
        "size": entry.size,
        **more,
        "kind": entry.kind,
        "direction": entry.direction,
        "profile": entry.profile,
        "name": entry.name,
        "note": entry.note,
        "recipientId": entry.recipient,
        "verification": entry.verification,
        "revokedAt": entry.revoked_at,
    }
    return {key: value for key, value in fields.items() if value is not None}
