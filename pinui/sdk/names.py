"""File names: the media type that a name suggests, and safe names for content from elsewhere."""

from __future__ import annotations

import mimetypes
import re
from functools import lru_cache
from urllib.parse import unquote

from pinui.ipfs.folders import is_safe_name
from pinui.sdk.transport.http import Head

__all__ = ["media_type_of", "name_of_reply", "safe_name"]

# Longest name that common file systems take, less room for a suffix of ours.
LONGEST = 200
UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]')
EDGES = re.compile(r"\A[\s.]+|[\s.]+\Z")
EXTENDED_NAME = re.compile(r"(?:^|[;\s])filename\*\s*=\s*utf-8'[^']*'([^;\s]+)", re.IGNORECASE)
PLAIN_NAME = re.compile(r'(?:^|[;\s])filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))', re.IGNORECASE | re.DOTALL)


def media_type_of(name: str) -> str:
    """The most likely media type of a file of that name."""
    _stem, dot, endings = name.lstrip(".").partition(".")  # a hidden name begins with a dot, and not with an ending
    return _media_type(dot + endings)


@lru_cache(maxsize=1024)  # a folder has thousands of names, and few endings
def _media_type(endings: str) -> str:
    return mimetypes.guess_type(f"x{endings}", strict=False)[0] or "application/octet-stream"


def safe_name(name: str, fallback: str) -> str:
    """The last part of a name, without characters that are unsafe for a disk or a terminal."""
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    cleaned = EDGES.sub("", UNSAFE.sub("_", last))
    # A name is cut at its stem, so that it keeps its ending.
    stem, dot, ending = cleaned.rpartition(".")
    if not dot or len(ending.encode()) > 20:
        stem, dot, ending = cleaned, "", ""
    room = LONGEST - len((dot + ending).encode())
    short = EDGES.sub("", stem.encode()[:room].decode(errors="ignore") + dot + ending)
    return short if is_safe_name(short) else fallback


def name_of_reply(head: Head, fallback: str) -> str:
    """The name that a gateway gives with Content-Disposition, or the fallback.

    Read by hand, in the two forms that gateways write: the standard library's reader lets the sender choose any codec,
    and raises on several malformed headers.
    """
    header = head.headers.get("content-disposition", "")
    if extended := EXTENDED_NAME.search(header):
        return safe_name(unquote(extended[1], errors="replace"), fallback)
    if plain := PLAIN_NAME.search(header):
        quoted, bare = plain.groups()
        return safe_name(bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted), fallback)
    return fallback
