"""A form with files (multipart/form-data) as a stream: its parts, cut out of the body as it arrives.

A folder is a form of thousands of small files, so a part may cost two searches and little else. With python-multipart,
whose results are the same, the node took about three times as long for files of 1 kB. It still reads unusual headers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from python_multipart.multipart import parse_options_header

__all__ = ["BrokenForm", "FormReader", "PartHead"]

LARGEST_HEAD = 16 * 1024
# The headers that curl, browsers and most libraries send.
USUAL = re.compile(
    rb'Content-Disposition: form-data; name="([^"\\\r\n]*)"(?:; filename="([^"\\\r\n]*)")?'
    rb"(?:\r\nContent-Type: ([^;\r\n]*))?",
    re.IGNORECASE,
)
HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): *([^\r]*)")


class BrokenForm(ValueError):
    """The bytes are no form."""


@dataclass(frozen=True, slots=True)
class PartHead:
    """The facts before a part's data."""

    name: bytes
    filename: bytes | None
    media_type: bytes


class FormReader:
    """Takes the body in pieces of any size, and calls: a part's head, its data in views, its end."""

    def __init__(
        self,
        boundary: bytes,
        on_head: Callable[[PartHead], None],
        on_data: Callable[[memoryview], None],
        on_end: Callable[[], None],
    ) -> None:
        self._delimiter = b"\r\n--" + boundary
        self._on_head = on_head
        self._on_data = on_data
        self._on_end = on_end
        self._rest = b"\r\n"  # the first delimiter has no line before it
        self._in_part = self._in_head = False
        self.is_whole = False
        """Whether the last part has ended."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes; `BrokenForm` if they can't belong to a form."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        view, position = memoryview(data), 0
        while not self.is_whole:
            if self._in_head:
                end = data.find(b"\r\n\r\n", position)
                if end < 0:
                    self._keep(data, position)
                    return
                self._on_head(_read_head(data[position + 2 : end]))
                position, self._in_head, self._in_part = end + 4, False, True
            end, after = self._find_end(data, position)
            if self._in_part and end > position:
                self._on_data(view[position:end])
            if after is None:
                if not self._in_part and end > LARGEST_HEAD:
                    raise BrokenForm("it does not begin with its boundary")
                self._rest = data[end:]
                return
            if self._in_part:
                self._on_end()
            self._in_part, self._in_head, self.is_whole = False, not after, after
            position = end + len(self._delimiter)

    def _find_end(self, data: bytes, position: int) -> tuple[int, bool | None]:
        """The end of the data before the next delimiter, and whether that is the last one; None if there is none."""
        length = len(self._delimiter)
        found = data.find(self._delimiter, position)
        while found >= 0:
            after = data[found + length : found + length + 2]
            if after in (b"\r\n", b"--"):
                return found, after == b"--"
            if len(after) < 2:
                return found, None
            found = data.find(self._delimiter, found + 1)
        begun = data.rfind(b"\r", max(position, len(data) - length + 1))
        return begun if begun >= 0 and self._delimiter.startswith(data[begun:]) else len(data), None

    def _keep(self, data: bytes, position: int) -> None:
        self._rest = data[position:]
        if len(self._rest) > LARGEST_HEAD:
            raise BrokenForm("the headers of a part are too long")


def _read_head(head: bytes) -> PartHead:
    if usual := USUAL.fullmatch(head):
        name, filename, media_type = usual.groups()
        return PartHead(name, filename, (media_type or b"").strip().lower())
    headers: dict[bytes, bytes] = {}
    for line in head.split(b"\r\n") if head else ():
        header = HEADER.fullmatch(line)
        if header is None:
            raise BrokenForm("a header of a part is malformed")
        headers[header[1].lower()] = header[2]
    _, parameters = parse_options_header(headers.get(b"content-disposition"))
    media_type, _ = parse_options_header(headers.get(b"content-type"))
    return PartHead(parameters.get(b"name", b""), parameters.get(b"filename"), media_type)
