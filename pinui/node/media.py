"""Content types: by a file's name, else by its first bytes. No system tables, so that every machine answers alike."""

from __future__ import annotations

import mimetypes

__all__ = ["OCTETS", "SNIFFED", "by_name", "content_type", "sniff"]

OCTETS = "application/octet-stream"
SNIFFED = 512

# The module's own table is the same everywhere; the machine's additions are not.
_TABLE = mimetypes.MimeTypes(filenames=())
for _type, _ending in (
    ("text/markdown", ".md"),
    ("application/yaml", ".yaml"),
    ("application/toml", ".toml"),
    ("image/webp", ".webp"),
    ("image/avif", ".avif"),
    ("font/woff2", ".woff2"),
    ("application/wasm", ".wasm"),
    ("application/vnd.ipld.car", ".car"),
    ("application/gzip", ".gz"),
    ("text/javascript", ".js"),
):
    _TABLE.add_type(_type, _ending)

MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"OggS\x00", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x00asm", "application/wasm"),
    (b"wOF2", "font/woff2"),
    (b"BM", "image/bmp"),
)
MARKUP = ((b"<!doctype html", "text/html"), (b"<html", "text/html"), (b"<svg", "image/svg+xml"), (b"<?xml", "text/xml"))


def by_name(name: str) -> str | None:
    """The type of a name's ending."""
    kind, encoding = _TABLE.guess_type(name, strict=True)
    return "application/gzip" if encoding == "gzip" else None if encoding else kind


def sniff(beginning: bytes) -> str:
    """The type that a file's first bytes speak for."""
    for magic, kind in MAGIC:
        if beginning.startswith(magic):
            return kind
    if beginning[:4] == b"RIFF" and beginning[8:12] in (b"WEBP", b"WAVE"):
        return "image/webp" if beginning[8:12] == b"WEBP" else "audio/wav"
    if beginning[4:8] == b"ftyp":
        return "image/avif" if beginning[8:12] == b"avif" else "video/mp4"
    text = beginning.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for magic, kind in MARKUP:
        if text.startswith(magic):
            return kind
    if b"\0" in beginning:
        return OCTETS
    try:
        # A character may be cut at the end of the examined bytes.
        beginning.decode() if len(beginning) < SNIFFED else beginning[:-3].decode(errors="strict")
    except UnicodeDecodeError as error:
        if error.end < len(beginning) - 6:
            return OCTETS
    return "application/json" if text[:1] in (b"{", b"[") else "text/plain"


def content_type(name: str | None, beginning: bytes) -> str:
    """The header's value: by name if that says something, else by content; text is UTF-8."""
    kind = (by_name(name) if name else None) or sniff(beginning)
    is_text = kind.startswith("text/")
    return f"{kind}; charset=utf-8" if is_text else kind
