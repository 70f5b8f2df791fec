"""Answers that are no success, and missing answers, as errors: their words, reasons and advice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from pinui.ipfs.jsontext import NotJSON, parse
from pinui.sdk.errors import NetworkError, NetworkTimeout, ProviderError, RateLimited
from pinui.sdk.transport.http import Breakdown, Rejection
from pinui.sdk.transport.retry import retry_after

__all__ = ["is_not_pinned", "network_error", "not_pinned", "provider_error"]

# A proxy's page can be long; a sentence that someone wrote for a person is not.
LONGEST_PLAIN_TEXT = 300
LONGEST_DETAILS = 2000
PAGE = re.compile(r"<\s*(!doctype|html|head|body)\b", re.IGNORECASE)
NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\ufffd]")
GATEWAY_CODE = re.compile(r"ERR_ID:\d+")
NOT_PINNED = "CURRENT_USER_HAS_NOT_PINNED_CID"
# The words of Kubo (two commands) and IPFS Cluster for it.
SAYS_NOT_PINNED = re.compile(r"\bis not pinned$|^not pinned or pinned indirectly$|^pin is not part of the pinset$")


def is_not_pinned(error: ProviderError) -> bool:
    """Whether an unpin was refused because there is nothing to unpin (some servers answer 404)."""
    return error.reason == NOT_PINNED or error.status == 404


def not_pinned(cid: str) -> ProviderError:
    """The same error, where we find out and not the service."""
    message = f"{cid} is not pinned"
    return ProviderError(message, status=404, reason=NOT_PINNED, hint=HINTS_BY_REASON[NOT_PINNED])


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
        hint=_hint(rejection, details, reason, gateway) if has_token or not asks_for_a_token else UNSIGNED,
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
    details = _first_text(fields, "error", "message", "Message", "details")
    is_not_pinned = details is not None and SAYS_NOT_PINNED.search(details)
    return details, NOT_PINNED if is_not_pinned else _first_text(fields, "reason")


def _first_text(fields: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip() and not PAGE.search(value):
            return value.strip()[:LONGEST_DETAILS]
    return None


HINTS_BY_REASON = {
    "NO_SCOPES_FOUND": "This key has no scopes for pinning: make one with access to pinFileToIPFS, pinJSONToIPFS and "
    'unpin. A key for the newer API needs the dialect "pinata-v3", or none.',
    "API_KEY_REVOKED": "This key was revoked: make a new one and set it up.",
    "PAID_FEATURE_ONLY": "The provider's free plan doesn't include this.",
    NOT_PINNED: "It is not pinned on this account; perhaps it was unpinned already.",
    "ERR_ID:00006": "This gateway serves only what the account pinned, and freshly pinned content needs some seconds.",
    "ERR_ID:00016": "The gateway found no peer with this content in time; it may be pinned nowhere.",
    "ERR_ID:00023": "The public gateway serves no web pages; use a dedicated gateway or another one.",
    "ERR_ID:00024": "This dedicated gateway wants its own key (gateway_key); the provider token never goes there.",
}
HINTS_BY_STATUS = {
    401: "The provider doesn't accept this token: it is wrong, expired or revoked. Make a new one and set it up.",
    403: "The token is known but may not do this: check the key's permissions with the provider.",
    413: "It is larger than the provider takes.",
    429: "Too many requests in a short time: wait before the next one.",
}


# The words of the hosted service for accounts that may not write any more.
HINTS_BY_WORDS = (
    (
        re.compile(r"plan usage limit|over_free_limit|usage limit", re.I),
        "The account is over the limit of its plan: "
        "delete files there, or choose a larger plan. Existing pins stay readable.",
    ),
    (
        re.compile(r"account (is |was |has been )?(blocked|suspended|disabled)", re.I),
        "The service has blocked this account: see its website, or ask its support.",
    ),
)
UNSIGNED = "No token was sent: set provider_token to the provider's JWT."


def _hint(rejection: Rejection, details: str | None, reason: str | None, gateway: bool) -> str | None:
    status = rejection.status
    if reason in HINTS_BY_REASON:
        return HINTS_BY_REASON[reason]
    if status in (402, 403) and not gateway:
        for words, hint in HINTS_BY_WORDS:
            if words.search(details or ""):
                return hint
    if 300 <= status < 400:
        return "It answered with a redirect that is not followed: check the address of the service."
    if status == 404:
        if gateway:
            return "The gateway doesn't have this content, or not yet; another gateway may."
        # A service that gives details has understood the call, and says what is missing.
        return None if details else "It is not there; or there is no such call at this address: check the API's URL."
    if gateway and status == 504:
        return HINTS_BY_REASON["ERR_ID:00016"]
    if rejection.final:
        return "The daemon didn't get this content in time: a peer that has it must be online." if gateway else None
    if status >= 500:
        return "The trouble is on the other side; try again later."
    if gateway and status in (401, 403):
        return "The gateway refuses: it may want a key of its own (gateway_key), or not serve this."
    return HINTS_BY_STATUS.get(status)
