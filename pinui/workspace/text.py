"""Text for people: safe to show on a terminal and to write down, and names in the order that people expect."""

from __future__ import annotations

import re
from unicodedata import category

__all__ = ["clean", "clean_line", "encodable", "natural_key"]

# Everything that is neither printable ASCII nor a line break or tab; most of it turns out to be harmless.
SUSPECT = re.compile(r"[^\x20-\x7e\n\t]")
# What steers a terminal or hides text: controls (C0, DEL, C1), formats (bidi, zero-width), lone surrogates,
# and the two separators that some terminals take for line ends.
HARMFUL = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
REPLACEMENT = "\ufffd"


def _replace(match: re.Match[str]) -> str:
    character = match[0]
    return REPLACEMENT if category(character) in HARMFUL else character


def clean(text: str) -> str:
    """The text with everything that could steer a terminal replaced; line breaks and tabs stay. Idempotent."""
    return SUSPECT.sub(_replace, text)


def clean_line(text: str) -> str:
    """The text on one line: for a list, a title or a bar."""
    return clean(text.replace("\r\n", " ").replace("\n", " ").replace("\t", " "))


def encodable(text: str) -> str:
    """The text with what has no UTF-8 form replaced: lone surrogates, as in a file name that is no UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def natural_key(name: str) -> tuple[list[tuple[int, str]], str]:
    """A key to sort names by: numbers in them count as numbers (f2 before f10), and case is ignored."""
    parts = re.split(r"(\d+)", name.casefold())
    # A number's length comes first: as a text it can be of any size, which `int` refuses.
    numbers = {at: part.lstrip("0") for at, part in enumerate(parts) if at % 2}
    return [(len(numbers[at]), numbers[at]) if at in numbers else (0, part) for at, part in enumerate(parts)], name
