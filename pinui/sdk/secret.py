"""A token in memory: it shows itself only when asked to."""

from __future__ import annotations

import hmac
from typing import NoReturn

__all__ = ["Secret"]


class Secret:
    """Text that no repr, log, traceback or pickle shows; `reveal()` gives it."""

    __slots__ = ("_text",)

    def __init__(self, text: str | Secret) -> None:
        self._text: str = text.reveal() if isinstance(text, Secret) else text

    def reveal(self) -> str:
        """The text itself. Call it where it is sent, and keep no reference."""
        return self._text

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
