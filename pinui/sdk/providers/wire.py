"""The pinning API's wire, as pure functions: bodies out, answers in."""

from __future__ import annotations

import re
from typing import Any, cast

from pinui.ipfs.jsontext import NotJSON, parse, stringify
from pinui.sdk.errors import PinuiError, ProviderError
from pinui.sdk.models import Dialect, Totals

__all__ = [
    "answer_list",
    "answer_object",
    "not_understood",
    "one_word",
    "options_field",
    "pin_json_body",
    "read_authentication",
    "read_pinned_cid",
    "read_totals",
    "whole_number",
]

# Not every CID that parses: people's mocks answer QmTest. But one word, which can't steer a terminal or end a line.
WORD = re.compile(r"[A-Za-z0-9]{1,512}")
DIGITS = re.compile(r"[0-9]{1,18}")


def pin_json_body(text: str, *, name: str, dialect: Dialect, cid_version: int | None) -> bytes:
    """The body of pinJSONToIPFS. The document's text goes in as it is, so that it is written once."""
    prefix = dialect
    options = "" if cid_version is None else f',"{prefix}Options":{stringify({"cidVersion": cid_version})}'
    metadata = stringify({"name": name})
    return f'{{"{prefix}Content":{text},"{prefix}Metadata":{metadata}{options}}}'.encode()


def options_field(dialect: Dialect, cid_version: int) -> tuple[str, str]:
    """Name and text of the form field that carries an upload's options."""
    return f"{dialect}Options", stringify({"cidVersion": cid_version})


def read_pinned_cid(status: int, body: bytes) -> str:
    """The CID that a pin call answered."""
    cid = answer_object(body).get("IpfsHash")
    if not isinstance(cid, str) or not cid:
        raise not_understood(status, "it names no IpfsHash")
    if one_word(cid) is None:
        raise not_understood(status, "its IpfsHash is no CID")
    return cid


def one_word(value: object) -> str | None:
    """A CID as a service writes it; None for anything that could be a line or a command of its own."""
    return value if isinstance(value, str) and WORD.fullmatch(value) else None


def read_authentication(status: int, body: bytes) -> bool:
    """True for a success message; anything else is an error."""
    if isinstance(answer_object(body).get("message"), str):
        return True
    raise not_understood(status, "it carries no message")


def read_totals(status: int, body: bytes) -> Totals:
    """The answer of `userPinnedDataTotal`."""
    answer = answer_object(body)
    pins, size = whole_number(answer.get("pin_count")), whole_number(answer.get("pin_size_total"))
    if pins is None or size is None:
        raise not_understood(status, "it carries no totals")
    return Totals(pins, size)


def whole_number(value: object) -> int | None:
    """A count or a size, which services write as a number or as text; None for anything that is none."""
    if isinstance(value, str) and DIGITS.fullmatch(value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def answer_object(body: bytes) -> dict[str, Any]:
    """The JSON object that was answered; empty for anything else."""
    try:
        answer = parse(body)
    except NotJSON:
        return {}
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}


def answer_list(body: bytes) -> list[dict[str, Any]]:
    """The objects of the JSON array that was answered; empty for anything else."""
    try:
        answer = parse(body)
    except NotJSON:
        return []
    found = cast("list[Any]", answer) if isinstance(answer, list) else []
    return [cast("dict[str, Any]", one) for one in found if isinstance(one, dict)]


def not_understood(status: int, why: str) -> PinuiError:
    """The error for a success with an unreadable body."""
    return ProviderError(
        f"The provider's answer was not understood: {why}",
        status=status,
        hint="Is the API's URL that of a pinning service? A login page of the network can answer like this, too.",
    )
