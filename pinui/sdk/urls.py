"""The rules for addresses: https, loopback, origins, redirects. Pure functions on URLs."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import SplitResult, urljoin, urlsplit

from pinui.sdk.secret import masked

__all__ = ["check_base_url", "is_loopback", "is_pinata", "loggable", "origin", "origin_text", "redirect_target"]

Origin = tuple[str, str, int]

# A host as people write it: names, IPv4, bracketed IPv6. Anything else (spaces, controls, back-slashes) is refused.
HOST = re.compile(r"[A-Za-z0-9._~%-]+|\[[0-9A-Fa-f:.]+\]")
# Values of a query that may be shown: short ones under an innocent name, and CIDs.
PARAMETER = re.compile(r"([?&][^=&#]*)=([^&#]*)")
SECRET_NAME = re.compile(r"token|key|sig|secret|auth|pass|jwt|cred|policy", re.IGNORECASE)
LONGEST_VALUE = 40
CID_TEXT = re.compile(r"Qm[0-9A-Za-z]{44}|baf[a-z2-7]{50,}")
DEFAULT_PORTS = {"http": 80, "https": 443}


def check_base_url(url: str, name: str, allow_insecure: bool) -> str:
    """The URL without trailing slashes; `ValueError` says in a sentence what is wrong with it."""
    parts = _split(url.strip()) if isinstance(url, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
    if parts is None:
        raise ValueError(f"{name} must be a web address such as https://api.example.com, not {masked(repr(url))}")
    if "@" in parts.netloc:
        raise ValueError(f"{name} must not carry a user name or password")
    if parts.query or parts.fragment:
        raise ValueError(f"{name} must not carry a query or a fragment")
    if not (parts.scheme == "https" or is_loopback(parts.hostname) or allow_insecure):
        raise ValueError(f"{name} must start with https:// (http is for this machine alone): {masked(repr(url))}")
    return parts.geturl().rstrip("/")


def loggable(url: str) -> str:
    """The address without secrets: passwords, and values of the query that could be tokens or signatures."""
    return masked(PARAMETER.sub(_loggable_parameter, re.sub(r"[^!-~]", "?", url)))


def _loggable_parameter(match: re.Match[str]) -> str:
    name, value = match.groups()
    is_long = len(value) > LONGEST_VALUE and not CID_TEXT.fullmatch(value)
    return f"{name}=***" if is_long or SECRET_NAME.search(name) else match[0]


@lru_cache(maxsize=256)  # asked several times for each request, mostly about the same few addresses
def origin(url: str) -> Origin | None:
    """Scheme, host and port; None for text that is no http address."""
    parts = _split(url)
    if parts is None or parts.hostname is None:
        return None
    return parts.scheme, parts.hostname.lower(), parts.port or DEFAULT_PORTS[parts.scheme]


def origin_text(url: str) -> str:
    """The origin as people write it, such as `https://api.example.com`."""
    found = origin(url)
    if found is None:
        return ""
    scheme, host, port = found
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + ("" if port == DEFAULT_PORTS[scheme] else f":{port}")


@lru_cache(maxsize=256)  # for the same reason
def is_loopback(host: str | None) -> bool:
    """Whether the host is this machine, written so that nothing else could be meant.

    Numbers such as 2130706433, names that merely begin like it and IPv4 mapped into IPv6 are not accepted: each
    resolver reads them its own way.
    """
    if host is None:
        return False
    host = host.lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback and getattr(address, "ipv4_mapped", None) is None


def is_pinata(url: str) -> bool:
    """Whether the address belongs to the hosted service that speaks its own dialect."""
    host = urlsplit(url).hostname or ""
    return host == "pinata.cloud" or host.endswith(".pinata.cloud")


def redirect_target(url: str, location: str, *, keep_origin: bool, allow_insecure: bool) -> str | None:
    """The target of a redirect, None if it is forbidden: from https to http, or from elsewhere onto this machine."""
    try:
        target = urljoin(url, location)
    except ValueError:
        return None
    parts = _split(target)
    if parts is None or "@" in parts.netloc:
        return None
    here, there = origin(url), origin(target)
    if here == there:
        return target
    if keep_origin or here is None:
        return None
    if is_loopback(parts.hostname):
        return target if is_loopback(here[1]) else None
    return target if parts.scheme == "https" or (allow_insecure and here[0] == "http") else None


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in DEFAULT_PORTS or not host:
        return None
    bracketed = f"[{host}]" if ":" in host else host
    return parts if HOST.fullmatch(bracketed) else None
