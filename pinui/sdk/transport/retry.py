"""Retries: classify a failure and schedule the next try, as pure functions.

Everything the SDK sends may be repeated: reads change nothing, pinning is content-addressed, and unpinning twice leaves
the same state. For a large upload, the provider is first asked whether it has arrived: `Transport.perform`'s `is_done`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from pinui.sdk.transport.http import Breakdown, Rejection

__all__ = ["LONGEST_WAIT", "date_of", "retry_after", "wait_before_retry"]

FIRST_WAIT = 0.5
LARGEST_BACKOFF = 20.0
# The hosted service says Retry-After: 60; a longer pause is an error for the caller instead.
LONGEST_WAIT = 90.0
# Server errors that another try won't change: not implemented, HTTP version, full disk, loop, not extended, network
# authentication.
LASTING_SERVER_ERRORS = frozenset({501, 505, 507, 508, 510, 511})


def wait_before_retry(
    outcome: Rejection | Breakdown,
    *,
    attempt: int,
    retries: int,
    now: float,
    random: Callable[[], float],
) -> float | None:
    """Seconds to wait before attempt number `attempt + 1` (the first is 0); None to give up."""
    if attempt >= retries or not _is_passing(outcome):
        return None
    asked = retry_after(outcome.headers, now) if isinstance(outcome, Rejection) else None
    # Full jitter: clients that failed together don't come back together.
    backoff = random() * min(LARGEST_BACKOFF, FIRST_WAIT * 2.0**attempt)
    if asked is None:
        return backoff
    return None if asked > LONGEST_WAIT else asked + min(backoff, 1.0)


def _is_passing(outcome: Rejection | Breakdown) -> bool:
    """Whether the same request might succeed later."""
    if isinstance(outcome, Breakdown) or outcome.final:
        return not outcome.final
    if outcome.status >= 500:
        return outcome.status not in LASTING_SERVER_ERRORS
    return outcome.status in (408, 425, 429)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The pause that the other side asked for, in seconds; None if it asked for none."""
    text = headers.get("retry-after", "").strip()
    seconds = _seconds(text)
    if seconds is None:
        until = _date(text)
        if until is None and headers.get("x-ratelimit-remaining", "").strip() == "0":
            until = _seconds(headers.get("x-ratelimit-reset", ""))
        seconds = None if until is None else until - date_of(headers, now)
    return None if seconds is None else max(0.0, seconds)


def date_of(headers: Mapping[str, str], now: float) -> float:
    """The time by the other side's clock, which its dates go by, if it tells; else by ours."""
    date = _date(headers.get("date", ""))
    return now if date is None else date


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, OSError):
        return None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
