"""Addresses of content as people write them, reduced to a CID and a path below it.

Accepted: a raw CID, a URL containing `/ipfs/`, `ipfs://CID`, `ipfs/CID`, a subdomain gateway (`https://CID.ipfs.host/`),
each with an optional path. Requests are built from the parsed CID and from re-quoted segments alone, so no input can
lead to another host or leave the gateway's folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import MalformedContent
from pinui.sdk.errors import InvalidCID

__all__ = ["Address"]

MAX_TEXT = 8192
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
SUBDOMAIN = re.compile(r"([0-9A-Za-z]+)\.ipfs\.[^/]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Address:
    """A CID in canonical form, and the names below it."""

    cid: str
    path: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse an address; `InvalidCID` if it names no content."""
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise TypeError(f"a CID is text, not {type(text).__name__}")
        text = text.strip().strip("\ufeff")  # JavaScript's trim takes the byte order mark, too
        if len(text) > MAX_TEXT:
            raise InvalidCID(hint="The text is far longer than any CID or address of one.")
        without_query = text.partition("#")[0].partition("?")[0]
        segments = [unquote(segment, errors="surrogateescape") for segment in _below_ipfs(without_query).split("/")]
        first, *rest = [segment for segment in segments if segment] or [""]
        if any(segment in (".", "..") or "/" in segment or CONTROL.search(segment) for segment in rest):
            raise InvalidCID(hint="The path below the CID holds a name that no folder can have.")
        try:
            return cls(str(Cid.parse(first)), tuple(rest))
        except MalformedContent:
            raise InvalidCID(
                hint="Give a CID such as bafy… or Qm…, or a URL that contains /ipfs/ and one."
                if text
                else "Nothing was given: a CID such as bafy… or Qm… is needed."
            ) from None

    @classmethod
    def parse_root(cls, text: str) -> Address:
        """Read an address that must name a whole CID, as unpinning needs it."""
        address = cls.parse(text)
        if address.path:
            raise InvalidCID(hint=f"Only a whole CID can be unpinned, not a path below it: try {address.cid}")
        return address

    @property
    def name(self) -> str:
        """The last name of the path, or the CID."""
        return self.path[-1] if self.path else self.cid

    def url(self, base: str) -> str:
        """The address below a gateway's base URL."""
        return "/".join((base.rstrip("/"), self.cid, *(quote(segment, safe="") for segment in self.path)))

    def __str__(self) -> str:
        """`CID/path`, quoted so that parsing it gives the same address."""
        return "/".join((self.cid, *(quote(segment, safe="") for segment in self.path)))


def _is_cid(text: str) -> bool:
    try:
        Cid.parse(text)
    except MalformedContent:
        return False
    return True


def _below_ipfs(text: str) -> str:
    """The part that begins with the CID."""
    scheme = SCHEME.match(text)
    if scheme is None:
        # A folder below the CID may itself be called ipfs: a CID at the beginning comes first.
        begins_with_cid = _is_cid(unquote(text.lstrip("/").partition("/")[0]))
        rooted = f"/{text}"
        return text if begins_with_cid or "/ipfs/" not in rooted else rooted.partition("/ipfs/")[2]
    rest = text[scheme.end() :]
    if scheme[1].lower() == "ipfs":
        return rest.removeprefix("ipfs/")
    host, slash, path = rest.partition("/")
    if (subdomain := SUBDOMAIN.fullmatch(host)) and not path.startswith("ipfs/"):
        return subdomain[1] + slash + path
    return (slash + path).partition("/ipfs/")[2]
