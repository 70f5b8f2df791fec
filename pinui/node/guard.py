"""Who may talk to the node: its own machine, not a web page that a browser on it happens to show."""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from pinui.node.errors import ApiError

__all__ = ["RateLimit", "check_origin", "check_token", "policy", "safe_headers"]

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
HOST = re.compile(r"(\[::1\]|[A-Za-z0-9.-]+)(?::\d{1,5})?")
FRAMES = frozenset({"iframe", "frame", "embed", "object", "fencedframe"})
MINUTE = 60


def safe_headers(content_policy: str = "default-src 'none'") -> dict[str, str]:
    """What every answer tells a browser: no page may frame it, and it is what its content type says."""
    return {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Content-Security-Policy": f"{content_policy}; frame-ancestors 'none'".removeprefix("; "),
    }


def policy(content_type: str) -> str:
    """The policy for pinned content: what a browser would run scripts of gets an origin of its own, not the API's."""
    return "sandbox allow-scripts" if re.search(r"html|xml", content_type) else ""


def check_origin(headers: Mapping[str, str], port: int, path: str = "/") -> None:
    """Refuse other names for this machine (DNS rebinding) and what pages of other origins ask for."""
    host = HOST.fullmatch(headers.get("Host", ""))
    if host is None or host[1].strip("[]").lower() not in LOCAL:
        raise ApiError.of(403, "FORBIDDEN", "This node answers on this machine only, as 127.0.0.1 or localhost.")
    origin = headers.get("Origin")
    if origin is not None and not _is_own(origin, port):
        raise ApiError.of(403, "FORBIDDEN", "This node does not answer pages of other origins.")
    # Browsers say what a request is for: a link may be followed, but foreign pages may not embed what is here. To
    # them, pages of the gateway are foreign, too, because of their sandbox; these may embed what the gateway has.
    if headers.get("Sec-Fetch-Site") == "cross-site":
        is_link = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") not in FRAMES
        is_part = path.startswith("/ipfs/") and _is_own(headers.get("Referer", ""), port)
        if not is_link and not is_part:
            raise ApiError.of(403, "FORBIDDEN", "This node does not answer pages of other origins.")


def _is_own(origin: str, port: int) -> bool:
    """Whether an origin, or the address of a page, is the node's."""
    try:
        parts = urlsplit(origin)
        return parts.scheme == "http" and parts.hostname in LOCAL and parts.port == port
    except ValueError:
        return False


def check_token(headers: Mapping[str, str], token: str) -> None:
    """Refuse a request that does not carry the node's token."""
    scheme, _, given = headers.get("Authorization", "").partition(" ")
    same = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token.encode())
    if not same or scheme.lower() != "bearer":
        raise ApiError.of(401, "INVALID_CREDENTIALS", "Invalid/expired credentials")


class RateLimit:
    """So many API requests a minute, counted in windows of a minute as the hosted service does."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.time) -> None:
        self.limit = limit
        self._clock = clock
        self._reset = 0.0
        self._used = 0

    def take(self) -> dict[str, str]:
        """Count one request: the headers of its answer, or `ApiError` 429."""
        now = self._clock()
        if now >= self._reset:
            self._reset, self._used = now + MINUTE, 0
        self._used += 1
        headers = {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - self._used)),
            "X-RateLimit-Reset": str(int(-(-self._reset // 1))),
        }
        if self._used > self.limit:
            wait = max(1, int(-(-(self._reset - now) // 1)))
            raise ApiError.of(
                429,
                "RATE_LIMITED",
                f"More than {self.limit} requests a minute: wait {wait} s.",
                headers | {"Retry-After": str(wait)},
            )
        return headers
