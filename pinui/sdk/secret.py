"""A token in memory: it shows itself only when asked to. And text from which every token was taken out."""

from __future__ import annotations

import hmac
import re
from typing import NoReturn
from urllib.parse import quote

__all__ = ["Secret", "masked"]

MASK = "***"
SHORTEST = 8
"""Characters. Shorter text is no token of a service, and masking it would make other words unreadable."""
BY_SHAPE = re.compile(
    r"(?<=Bearer )[^\s\"']+"  # the part after the name of the scheme
    r"|eyJ[\w-]{8,}(?:\.[\w-]*){0,2}"  # a JWT, or the beginning of one
    r"|(?<=://)[^\s/@]+(?=@)"  # a user's name and password in an address
)

MOST_KNOWN = 100
"""A server that uses the SDK may see the tokens of many people: the latest ones are known."""
_known: dict[str, None] = {}


class Secret:
    """Text that no repr, log, traceback or pickle shows; `reveal()` gives it.

    >>> Secret("my-jwt"), Secret("my-jwt").reveal()
    (Secret('***'), 'my-jwt')
    """

    __slots__ = ("_text",)

    def __init__(self, text: str | Secret) -> None:
        self._text: str = text.reveal() if isinstance(text, Secret) else text
        if isinstance(self._text, str) and len(self._text) >= SHORTEST:  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            _known.pop(self._text, None)
            _known[self._text] = None
            while len(_known) > MOST_KNOWN:
                del _known[next(iter(_known))]

    def reveal(self) -> str:
        """The text itself. Call it where it is sent, and keep no reference."""
        return self._text

    def is_in(self, text: str) -> bool:
        """Whether the text holds it; a word that is too short for a secret is in none."""
        return len(self._text) >= SHORTEST and self._text in text

    def __repr__(self) -> str:
        return "Secret('***')" if self._text else "Secret('')"

    __str__ = __repr__

    def __format__(self, format_spec: str) -> str:
        return repr(self)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __len__(self) -> int:
        return len(self._text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Secret, str)):
            return NotImplemented
        theirs = other.reveal() if isinstance(other, Secret) else other
        return hmac.compare_digest(self._text.encode("utf-8", "surrogatepass"), theirs.encode("utf-8", "surrogatepass"))

    def __hash__(self) -> int:
        return hash(self._text)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written to a pickle")


Secret.__module__ = "pinui"  # as people import it


def masked(text: str, *more: str) -> str:
    """The text without the secrets of this process, without `more` of them, and without all that looks like one."""
    for secret in sorted({*_known, *(one for one in more if len(one) >= SHORTEST)}, key=len, reverse=True):
        for written in (secret, secret.replace("/", r"\/"), quote(secret, safe="")):  # in JSON, in an address
            text = text.replace(written, MASK)
    return BY_SHAPE.sub(MASK, text)
