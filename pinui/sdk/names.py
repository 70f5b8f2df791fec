"""File names that came from elsewhere, made safe to create here."""

from __future__ import annotations

import re
from email.message import Message

from pinui.sdk.http import Head

__all__ = ["name_of_reply", "safe_name"]

# Longest name that common file systems take, less room for a suffix of ours.
LONGEST = 200
UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]')
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


def safe_name(name: str, fallback: str) -> str:
    """The last part of a name, without what a file system or a terminal could trip over."""
    last = re.split(r"[/\\]", name)[-1]
    cleaned = UNSAFE.sub("_", last).strip().strip(".").strip()
    if not cleaned or RESERVED.fullmatch(cleaned):
        return fallback
    # A name is cut at its stem, so that it keeps its ending.
    stem, dot, ending = cleaned.rpartition(".")
    if not dot or len(ending.encode()) > 20:
        stem, dot, ending = cleaned, "", ""
    room = LONGEST - len((dot + ending).encode())
    return stem.encode()[:room].decode(errors="ignore") + dot + ending


def name_of_reply(head: Head, fallback: str) -> str:
    """The name that a gateway gives with Content-Disposition, or the fallback."""
    header = head.headers.get("content-disposition")
    if not header:
        return fallback
    message = Message()
    message["Content-Disposition"] = re.sub(r"[\r\n]", " ", header)
    return safe_name(message.get_filename() or "", fallback)
