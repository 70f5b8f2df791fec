"""Text for people: safe to show on a terminal and to write down, and names in the order that people expect."""

from __future__ import annotations

import re
from unicodedata import category

__all__ = ["clean", "clean_line", "encodable", "natural_key"]

# One emoji, with its skin tone or the request to show it in colours.
EMOJI = "[←-⇿⌀-⏿■-➿⬀-⯿\U0001f000-\U0001f1e5\U0001f200-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]?"
# Emoji that are one sign: up to four that are joined, as in a family, and the three flags that are spelled with tags.
# Nowhere else are joiners and tags kept, where they would hide text.
JOINED = f"{EMOJI}(?:\u200d{EMOJI}){{1,3}}|" + "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
# Everything that is neither printable ASCII nor a line break or tab; most of it turns out to be harmless.
SUSPECT = re.compile(rf"{JOINED}|[^\x20-\x7e\n\t]")
# Characters that steer a terminal or hide text: controls (C0, DEL, C1), formats (bidi, zero-width), lone surrogates,
# and the two separators that some terminals take for line ends.
HARMFUL = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
REPLACEMENT = "\ufffd"


def _replace(match: re.Match[str]) -> str:
    found = match[0]
    return REPLACEMENT if len(found) == 1 and category(found) in HARMFUL else found


def clean(text: str) -> str:
    """The text with everything that could steer a terminal replaced; line breaks and tabs stay. Idempotent."""
    return SUSPECT.sub(_replace, text)


def clean_line(text: str) -> str:
    """The text on one line: for a list, a title or a bar."""
    return clean(text.replace("\r\n", " ").replace("\n", " ").replace("\t", " "))


def encodable(text: str) -> str:
    """The text with lone surrogates replaced, which have no UTF-8 form; file names that are no UTF-8 have them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def natural_key(name: str) -> tuple[list[tuple[int, str]], str]:
    """A key to sort names by: numbers in them count as numbers (f2 before f10), and case is ignored."""
    parts = re.split(r"(\d+)", name.casefold())
    # A number's length comes first: as a text it can be of any size, which `int` refuses.
    numbers = {at: part.lstrip("0") for at, part in enumerate(parts) if at % 2}
    return [(len(numbers[at]), numbers[at]) if at in numbers else (0, part) for at, part in enumerate(parts)], name
