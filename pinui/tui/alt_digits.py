"""alt+1…5 in every terminal, from inside fields too.

Textual reads Esc followed by a digit as what the option key of one macOS terminal would type (¡ ™ £ ¢ ∞), so in
other terminals alt+3 writes a £ into the field. Without those entries it reads alt+3, though with the character 3,
which a field would still take for text.
"""

from __future__ import annotations

from typing import cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # its table of keys has no other door

__all__ = ["is_for_the_app", "let_alt_digits_through"]


def let_alt_digits_through() -> None:
    """Read Esc and a digit as alt and that digit."""
    table = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for digit in "12345":
        table.pop(f"\x1b{digit}", None)


def is_for_the_app(event: events.Key) -> bool:
    """Whether a field should leave this key alone."""
    return event.key.startswith("alt+") and event.key[4:].isdigit()
