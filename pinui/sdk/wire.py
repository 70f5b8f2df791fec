"""The pinning API's wire, as pure functions: bodies out, answers and refusals in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from pinui.ipfs.jsontext import NotJSON, parse, stringify
from pinui.sdk.errors import NetworkError, NetworkTimeout, PinuiError, ProviderError, RateLimited
from pinui.sdk.http import Breakdown, Rejection
from pinui.sdk.models import Dialect, Totals
from pinui.sdk.retry import retry_after

__all__ = [
    "answer_object",
    "is_not_pinned",
    "network_error",
    "not_understood",
    "one_word",
    "options_field",
    "pin_json_body",
    "provider_error",
    "read_authentication",
    "read_pinned_cid",
    "read_totals",
    "whole_number",
]

# A proxy's page can be long; a sentence that someone wrote for a person is not.
LONGEST_PLAIN_TEXT = 300
LONGEST_DETAILS = 2000
PAGE = re.compile(r"<\s*(!doctype|html|head|body)\b", re.IGNORECASE)
NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\ufffd]")
GATEWAY_CODE = re.compile(r"ERR_ID:\d+")
# Not every CID that parses: people's mocks answer QmTest. But one word, which can't steer a terminal or end a line.
WORD = re.compile(r"[A-Za-z0-9]{1,512}")
DIGITS = re.compile(r"[0-9]{1,18}")
NOT_PINNED = "CURRENT_USER_HAS_NOT_PINNED_CID"


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
    """What `userPinnedDataTotal` answered."""
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


def is_not_pinned(error: ProviderError) -> bool:
    """Whether an unpin was refused because there is nothing to unpin (some servers answer 404)."""
    return error.reason == NOT_PINNED or error.status == 404


def provider_error(rejection: Rejection, *, now: float, gateway: bool = False, has_token: bool = True) -> ProviderError:
    """The error for an answer that is no success."""
    details, reason = _read_refusal(rejection)
    status = rejection.status
    # The contract's word for a refused token; the provider's own words ride along.
    message = f"HTTP error {status}" if status == 401 or not details else details
    kind = RateLimited if status == 429 else ProviderError
    asks_for_a_token = status == 401 or reason == "KEYS_MUST_BE_STRINGS"
    return kind(
        message,
        status=status,
        details=details,
        reason=reason,
        retry_after=retry_after(rejection.headers, now),
        hint=_hint(rejection, reason, gateway) if has_token or not asks_for_a_token else UNSIGNED,
    )


def network_error(breakdown: Breakdown) -> NetworkError | ProviderError:
    """The error for no answer, or half of one."""
    if breakdown.said:
        details = breakdown.said[:LONGEST_DETAILS]
        return ProviderError(details, status=200, details=details, hint="It failed in the middle of its answer.")
    kind = NetworkTimeout if breakdown.timed_out else NetworkError
    return kind(breakdown.sentence, hint=breakdown.hint)


def _read_refusal(rejection: Rejection) -> tuple[str | None, str | None]:
    """Details and reason, from every shape that has been seen."""
    text = rejection.body.decode("utf-8", "replace").strip()
    try:
        answer = parse(text)
    except NotJSON:
        answer = text
    if isinstance(answer, str):
        code = GATEWAY_CODE.search(answer)
        looks_like_a_page = "<" in answer or "html" in rejection.headers.get("content-type", "")
        is_a_sentence = 0 < len(answer) <= LONGEST_PLAIN_TEXT and not (looks_like_a_page or NO_TEXT.search(answer))
        return answer if is_a_sentence else None, code[0] if code else None
    if not isinstance(answer, dict):
        return None, None
    fields = cast("dict[str, Any]", answer)
    error = fields.get("error")
    if isinstance(error, dict):
        inner = cast("dict[str, Any]", error)
        return _first_text(inner, "details", "reason", "message"), _first_text(inner, "reason")
    return _first_text(fields, "error", "message", "details"), _first_text(fields, "reason")


def _first_text(fields: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip() and not PAGE.search(value):
            return value.strip()[:LONGEST_DETAILS]
    return None


HINTS_BY_REASON = {
    "NO_SCOPES_FOUND": "This key has no scopes for pinning: make one with access to pinFileToIPFS, pinJSONToIPFS and "
    "unpin. Keys made for the newer v3 API don't work here.",
    "API_KEY_REVOKED": "This key was revoked: make a new one and set it up.",
    "PAID_FEATURE_ONLY": "The provider's free plan doesn't include this.",
    NOT_PINNED: "It is not pinned on this account; perhaps it was unpinned already.",
    "ERR_ID:00006": "This gateway serves only what the account pinned, and freshly pinned content needs some seconds.",
    "ERR_ID:00016": "The gateway found nobody who has this content in time; it may be pinned nowhere.",
    "ERR_ID:00023": "The public gateway serves no web pages; use a dedicated gateway or another one.",
    "ERR_ID:00024": "This dedicated gateway wants its own key (gateway_key); the provider token never goes there.",
}
HINTS_BY_STATUS = {
    401: "The provider doesn't accept this token: it is wrong, expired or revoked. Make a new one and set it up.",
    403: "The token is known but may not do this: check the key's permissions with the provider.",
    413: "It is larger than the provider takes.",
    429: "Too many requests in a short time: wait before the next one.",
}


UNSIGNED = "No token was sent: set provider_token to the provider's JWT."


def _hint(rejection: Rejection, reason: str | None, gateway: bool) -> str | None:
    status = rejection.status
    if reason in HINTS_BY_REASON:
        return HINTS_BY_REASON[reason]
    if 300 <= status < 400:
        return "It answered with a redirect that is not followed: check the address of the service."
    if status == 404:
        return (
            "The gateway doesn't have this content, or not yet; another gateway may."
            if gateway
            else "It is not there; or there is no such call at this address: check the API's URL."
        )
    if status >= 500:
        return "The trouble is on the other side; try again later."
    if gateway and status in (401, 403):
        return "The gateway refuses: it may want a key of its own (gateway_key), or not serve this."
    return HINTS_BY_STATUS.get(status)


def answer_object(body: bytes) -> dict[str, Any]:
    """The JSON object that was answered; empty for anything else."""
    try:
        answer = parse(body)
    except NotJSON:
        return {}
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}


def not_understood(status: int, why: str) -> PinuiError:
    """The error for a success whose body makes no sense."""
    return ProviderError(
        f"The provider's answer was not understood: {why}",
        status=status,
        hint="Is the API's URL that of a pinning service? A login page of the network can answer like this, too.",
    )
