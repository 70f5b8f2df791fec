"""Keeping to a service's rate limit: one limiter for each API origin, shared by everything that talks to it.

A service tells the number of requests left and the time of the next count, or, too late, 429. The others then wait
before they are refused. Pure but for the registry: time is handed in. `now` is monotonic, so that a changed clock makes
no wait longer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from pinui.sdk.transport.retry import LONGEST_WAIT, date_of, retry_after
from pinui.sdk.urls import is_pinata, origin

__all__ = ["Bucket", "bucket_for"]

# The hosted service's limit for everything under /data/, for every plan.
DATA_CALLS = 30
MINUTE = 60.0


@dataclass(slots=True)
class Bucket:
    """The state of one count of requests."""

    most_a_minute: int | None = None
    """A fixed limit, for services that don't tell theirs."""
    _limit: int | None = None
    _left: int | None = None
    _reset: float = 0.0
    _window: float = 0.0
    _reset_date: float | None = None
    """The reset as the service wrote it; None where it is guessed."""
    _closed_until: float = 0.0
    _recent: deque[float] = field(default_factory=deque[float])

    def wait(self, now: float) -> float:
        """The wait before the next request; 0 to send it now, which counts it."""
        if now >= self._reset:
            # A new count begins. As many as before may go at once; the rest would only be refused.
            self._left, self._reset, self._reset_date = self._limit, now + (self._window or MINUTE), None
        opens = self._closed_until
        if self._left is not None and self._left <= 0:
            opens = max(opens, self._reset)
        if self.most_a_minute is not None:
            while self._recent and self._recent[0] <= now - MINUTE:
                self._recent.popleft()
            if len(self._recent) >= self.most_a_minute:
                opens = max(opens, self._recent[0] + MINUTE)
        if opens > now:
            return opens - now
        if self._left is not None:
            self._left -= 1
        if self.most_a_minute is not None:
            self._recent.append(now)
        return 0.0

    def learn(self, status: int, headers: Mapping[str, str], *, now: float, wall: float) -> None:
        """Learn from a reply; `wall` is the time that dates go by."""
        left, date = _number(headers.get("x-ratelimit-remaining")), _number(headers.get("x-ratelimit-reset"))
        rest = 0.0 if date is None else date - date_of(headers, wall)
        if left is not None and date is not None and 0 < rest <= LONGEST_WAIT:
            limit = _number(headers.get("x-ratelimit-limit"))
            self._limit = int(limit) if limit else self._limit
            self._window = max(self._window, rest)
            # Replies overtake each other, and more may be on their way: within one count the smallest number holds.
            known = self._reset_date
            same_count = self._left is not None and (known is None or abs(date - known) < 1.0)
            self._left = min(int(left), self._left or 0) if same_count else int(left)
            self._reset, self._reset_date = now + rest, date
        if status == 429:
            asked = retry_after(headers, wall)
            if asked is not None and asked <= LONGEST_WAIT:
                self._closed_until = max(self._closed_until, now + asked)


_buckets: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[object, bool], Bucket]] = WeakKeyDictionary()


def bucket_for(url: str) -> Bucket:
    """The bucket that a call of an API belongs to. Loops share nothing, so that no limit outlives its program."""
    known = _buckets.setdefault(asyncio.get_running_loop(), {})
    is_data = urlsplit(url).path.rpartition("/")[0].endswith("/data")  # the API may be below a path of its own
    key = (origin(url), is_data)
    if key not in known:
        known[key] = Bucket(DATA_CALLS if is_data and is_pinata(url) else None)
    return known[key]


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e12 else None
