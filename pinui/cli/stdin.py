"""Input of the verbs: words of the command line, `-` for stdin, or `@FILE`."""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TYPE_CHECKING, cast

from pinui.cli.errors import UsageError, VerbError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pinui.workspace.filters import Filter

__all__ = ["checked_filter", "read_argument", "read_cid", "read_cids", "spool_stdin", "typed_bytes", "typed_text"]

PIECE = 1024 * 1024
STEP_SECONDS = 0.2


def read_argument(given: str, what: str) -> bytes | None:
    """The bytes that `-` (stdin) or `@FILE` names; None if the argument is the text itself."""
    if given == "-":
        if sys.stdin.isatty():
            sys.stderr.write(f"Type the {what}, then ctrl+d on a line of its own.\n")
        data = b"".join(stdin_pieces())
        if not data.strip():
            raise VerbError(f"There is no {what} on stdin.")
        return data
    if given.startswith("@"):
        if given == "@":
            raise UsageError("After @ comes the name of a file.")
        with open(given[1:], "rb") as file:
            data = file.read()
        if not data.strip():
            raise VerbError(f"{given[1:]} is empty.")
        return data
    return None


def stdin_pieces() -> Iterator[bytes]:
    """The bytes on stdin, as they arrive.

    It waits in short steps: a signal that falls just before a read that blocks would be seen only after it.
    """
    source = cast("io.BufferedReader", sys.stdin.buffer)
    while True:
        while not _is_ready(source):
            pass
        if not (piece := source.read1(PIECE)):
            return
        yield piece


def spool_stdin(path: Path, what: str) -> Path:
    """Write stdin to a file, on the main thread, where ctrl+c ends a read that waits for a slow pipe."""
    if sys.stdin.isatty():
        sys.stderr.write(f"Type {what}, then ctrl+d on a line of its own.\n")
    with open(path, "xb", opener=lambda name, how: os.open(name, how, 0o600)) as file:
        for piece in stdin_pieces():
            file.write(piece)
    return path


def _is_ready(source: io.BufferedReader) -> bool:
    if os.name != "posix":  # elsewhere only sockets can be asked
        return True
    try:
        return bool(select.select([source], [], [], STEP_SECONDS)[0])
    except ValueError:  # no file of the system, but one in memory
        return True


def checked_filter(text: str) -> Filter:
    """The filter of a command line; a mistake in it is wrong usage."""
    from pinui.workspace.filters import parse_filter

    found = parse_filter(text)
    if found.mistakes:
        raise UsageError(f"--filter: {'; '.join(found.mistakes)}.")
    return found


def typed_bytes(given: str) -> bytes:
    """A word of the command line as the bytes that were typed: Python hides those that are no text in it."""
    return given.encode("utf-8", "surrogateescape")


def typed_text(given: str, what: str) -> str:
    """A word of the command line as text; one that is no valid text is refused, as it could not be stored unchanged."""
    try:
        return typed_bytes(given).decode("utf-8")
    except UnicodeDecodeError:
        raise VerbError(f"The {what} is not UTF-8 text, so nothing was done.") from None


def read_cid(given: str) -> str:
    """One address: the word itself, or behind `-` the only one on stdin."""
    if given != "-":
        return given
    lines = _lines(given)
    if len(lines) != 1:
        raise VerbError(f"One CID is wanted on stdin, not {len(lines)}.")
    return lines[0]


def read_cids(given: list[str], *, whole: bool = True) -> list[str]:
    """Every CID, checked before anything is done; each once. Not `whole`: a path may follow it."""
    from pinui.sdk.address import Address
    from pinui.sdk.errors import InvalidCID

    texts = [line for text in given for line in _lines(text)]
    if not texts:
        raise VerbError("There is no CID on stdin." if "-" in given else "There is no CID.")
    cids: list[str] = []
    for text in texts:
        try:
            cids.append(Address.parse_root(text).cid if whole else str(Address.parse(text)))
        except InvalidCID as error:
            raise VerbError(f"“{text}” is no CID, so nothing was done.", hint=error.hint) from None
    return list(dict.fromkeys(cids))


def _lines(given: str) -> list[str]:
    """The word itself, or the lines on stdin. A line may go on after a tab, as `upload` and `history` print it."""
    if given == "-" and sys.stdin.isatty():
        sys.stderr.write("Type a CID a line, then ctrl+d on a line of its own.\n")
    lines = b"".join(stdin_pieces()).decode("utf-8", "replace").splitlines() if given == "-" else [given]
    return [line.partition("\t")[0].strip() for line in lines if line.strip()]
