"""Signed upload URLs: an address that allows one upload without the token, for a while."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, cast
from urllib.parse import urlencode

from pinui.node.errors import ApiError
from pinui.node.store import NewPin

__all__ = ["Grant", "check_grant", "check_type", "signed_query"]

PAYLOAD, SIGNATURE = "X-Grant", "X-Signature"


@dataclass(frozen=True, slots=True)
class Grant:
    """The permissions of a signed URL."""

    fields: dict[str, str]
    """Fields of the form that it fixes."""
    largest: int | None
    mime_types: tuple[str, ...]


def check_type(new: NewPin, allowed: Sequence[str]) -> None:
    """Refuse content of a type that is not among those allowed; none means all. Only the word `directory` itself
    allows folders."""
    kind = new.mime_type or ""
    is_allowed = kind in allowed or (kind != "directory" and any(fnmatchcase(kind, pattern) for pattern in allowed))
    if allowed and not is_allowed:
        raise ApiError(400, f"Presigned URL does not grant permissions to upload detected MIME type: {kind}")


def signed_query(asked: Mapping[str, Any], token: str) -> str:
    """The query of the signed URL that a request to `/v3/files/sign` asks for."""
    if "url" in asked:
        raise ApiError(400, "This node has public files alone, which need no signed URL to be read.")
    for name in ("date", "expires"):
        if not _is_whole(asked.get(name)):
            raise ApiError(400, f"{name} must be a number of seconds.")
    largest, types = asked.get("max_file_size"), asked.get("allow_mime_types")
    if largest is not None and not _is_whole(largest):
        raise ApiError(400, "max_file_size must be a number of bytes.")
    if types is not None and not (
        isinstance(types, list) and all(isinstance(kind, str) for kind in cast("list[Any]", types))
    ):
        raise ApiError(400, "allow_mime_types must be a list of types.")
    payload = base64.urlsafe_b64encode(json.dumps(dict(asked)).encode()).decode()
    return urlencode({PAYLOAD: payload, SIGNATURE: _sign(payload, token)})


def check_grant(query: Mapping[str, str], token: str) -> Grant | None:
    """The permissions in the query of an address; None if it is not signed. A wrong signature is refused."""
    if SIGNATURE not in query:
        return None
    payload = query.get(PAYLOAD, "")
    if not hmac.compare_digest(query[SIGNATURE].encode(), _sign(payload, token).encode()):
        raise ApiError.of(401, "INVALID_CREDENTIALS", "The signature of this URL is wrong.")
    try:
        asked: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload))
    except (ValueError, binascii.Error) as error:
        raise ApiError.of(401, "INVALID_CREDENTIALS", "The signature of this URL is wrong.") from error
    if time.time() > asked["date"] + asked["expires"]:
        raise ApiError.of(401, "INVALID_CREDENTIALS", "This signed URL has expired.")
    fields = {"network": str(asked.get("network") or "private")}
    for name, field in (("filename", "name"), ("group_id", "group_id")):
        if asked.get(name):
            fields[field] = str(asked[name])
    if asked.get("keyvalues"):
        fields["keyvalues"] = json.dumps(asked["keyvalues"])
    largest = asked.get("max_file_size")
    return Grant(fields, None if largest is None else int(largest), tuple(asked.get("allow_mime_types") or ()))


def _sign(payload: str, token: str) -> str:
    return hmac.new(token.encode(), f"upload:{payload}".encode(), hashlib.sha256).hexdigest()


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53
