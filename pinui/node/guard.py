"""Access to the node: for programs on its own machine, not for the web pages that a browser there shows."""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from pinui.node.errors import ApiError

__all__ = [
    "RateLimit",
    "check_allowed",
    "check_origin",
    "check_token",
    "cors_headers",
    "policy",
    "preflight_headers",
    "safe_headers",
]

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
HOST = re.compile(r"(\[::1\]|[A-Za-z0-9.-]+)(?::\d{1,5})?")
FRAMES = frozenset({"iframe", "frame", "embed", "object", "fencedframe"})
MINUTE = 60
ANY = "*"
# The headers that a page may read besides the basics: the gateway's, and those of uploads in pieces.
EXPOSED = (
    "Content-Length, Content-Range, Location, Upload-Cid, Upload-Length, Upload-Offset, "
    "X-Chunked-Output, X-Ipfs-Path, X-Ipfs-Roots, X-Stream-Output"
)
ALLOWED_HEADERS = "Content-Type, Range, User-Agent, X-Requested-With"


def safe_headers(content_policy: str = "default-src 'none'") -> dict[str, str]:
    """The headers of every answer for browsers: no page may frame it, and its content type is final."""
    return {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Content-Security-Policy": f"{content_policy}; frame-ancestors 'none'".removeprefix("; "),
    }


def policy(content_type: str) -> str:
    """The policy for pinned content: a document that may run scripts gets an origin of its own, not the API's."""
    return "sandbox allow-scripts" if re.search(r"html|xml", content_type) else ""


def check_allowed(origin: str) -> str:
    """An origin that shall be allowed, or `*` for all of them; `ValueError` is a sentence."""
    try:
        parts = urlsplit(origin.rstrip("/"))
        is_origin = parts.scheme in ("http", "https") and parts.hostname and not (parts.path or parts.query)
    except ValueError:
        is_origin = False
    if origin != ANY and not is_origin:
        raise ValueError(f"An origin is written like http://localhost:5173, and {origin!r} isn't.")
    return origin.rstrip("/").lower()


def cors_headers(headers: Mapping[str, str], allowed: Sequence[str]) -> dict[str, str]:
    """The headers that let a page read an answer, if its origin is allowed."""
    if ANY in allowed:
        origin = ANY
    elif (page := headers.get("Origin", "").lower()) in allowed:
        origin = page
    else:
        return {}
    vary = {} if origin == ANY else {"Vary": "Origin"}
    return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED, **vary} | (
        {"Access-Control-Allow-Methods": "GET, HEAD, OPTIONS", "Access-Control-Allow-Headers": ALLOWED_HEADERS}
    )


def preflight_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The answer to a browser that asks before it sends a request of an allowed page."""
    return {
        "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
        "Access-Control-Allow-Headers": headers.get("Access-Control-Request-Headers", ALLOWED_HEADERS),
        "Access-Control-Allow-Private-Network": "true",
        "Access-Control-Max-Age": "600",
    }


def check_origin(headers: Mapping[str, str], port: int, path: str = "/", allowed: Sequence[str] = ()) -> None:
    """Refuse other names for this machine (DNS rebinding) and requests from pages of other origins."""
    host = HOST.fullmatch(headers.get("Host", ""))
    if host is None or host[1].strip("[]").lower() not in LOCAL:
        raise ApiError.of(403, "FORBIDDEN", "This node answers on this machine only, as 127.0.0.1 or localhost.")
    origin = headers.get("Origin")
    if ANY in allowed or _origin_of(origin or headers.get("Referer", "")) in allowed:
        return
    if origin is not None and not _is_own(origin, port):
        raise ApiError.of(403, "FORBIDDEN", "This node does not answer pages of other origins.")
    # Browsers say what a request is for: a link may be followed, but foreign pages may not embed what is here. To
    # them, pages of the gateway are foreign, too, because of their sandbox; these may embed what the gateway has.
    if headers.get("Sec-Fetch-Site") == "cross-site":
        is_link = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") not in FRAMES
        is_part = path.startswith("/ipfs/") and _is_own(headers.get("Referer", ""), port)
        if not is_link and not is_part:
            raise ApiError.of(403, "FORBIDDEN", "This node does not answer pages of other origins.")


def _origin_of(address: str) -> str:
    """The origin of a page's address."""
    return "/".join(address.lower().split("/")[:3])


def _is_own(origin: str, port: int) -> bool:
    """Whether an origin, or the address of a page, is the node's."""
    try:
        parts = urlsplit(origin)
        return parts.scheme == "http" and parts.hostname in LOCAL and parts.port == port
    except ValueError:
        return False


def check_token(headers: Mapping[str, str], token: str) -> None:
    """Refuse a request that does not carry the node's token, as a bearer token or as the secret of a key."""
    scheme, _, given = headers.get("Authorization", "").partition(" ")
    if "Authorization" not in headers and headers.get("pinata_api_key"):
        scheme, given = "bearer", headers.get("pinata_secret_api_key", "")
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
