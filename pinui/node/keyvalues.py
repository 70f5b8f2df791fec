"""Filters on the keyvalues of pins: `key op value`, as both APIs of the hosted service ask for them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Any

__all__ = ["Condition", "as_text", "matches", "operators"]


@dataclass(frozen=True, slots=True)
class Condition:
    """A key that a pin must have, and a condition on its value."""

    key: str
    op: str
    value: str | float
    second: str | float | None = None
    """The other end of a range."""


def operators() -> tuple[str, ...]:
    """The operators that a condition may have."""
    return tuple(_TESTS)


def as_text(conditions: Iterable[Condition]) -> str:
    """Conditions as one value for SQLite."""
    return json.dumps([astuple(condition) for condition in conditions])


def matches(keyvalues: str | None, conditions: str) -> bool:
    """Whether keyvalues, as the index keeps them, meet every condition: a function for SQLite."""
    pairs: dict[str, Any] = json.loads(keyvalues or "{}")
    return all(_meets(pairs.get(condition.key), condition) for condition in _read(conditions))


@lru_cache(maxsize=16)
def _read(text: str) -> tuple[Condition, ...]:
    return tuple(Condition(*fields) for fields in json.loads(text))


def _meets(stored: Any, condition: Condition) -> bool:
    if stored is None:
        return False
    if not _is_number(stored) or not _is_number(condition.value):
        bounds = (_plain(condition.value), _plain(condition.second))
        return _TESTS[condition.op](_plain(stored), *bounds)
    return _TESTS[condition.op](stored, condition.value, condition.second)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _is_like(value: Any, pattern: Any, *, any_case: bool) -> bool:
    """SQL's LIKE: % for any text, _ for one character."""
    parts = (".*" if sign == "%" else "." if sign == "_" else re.escape(sign) for sign in _plain(pattern))
    return re.fullmatch("".join(parts), _plain(value), re.DOTALL | (re.IGNORECASE if any_case else 0)) is not None


def _found(value: Any, pattern: Any, flags: int = 0) -> bool:
    return re.search(_plain(pattern), _plain(value), flags) is not None


_TESTS: dict[str, Callable[[Any, Any, Any], bool]] = {
    "eq": lambda value, wanted, _: value == wanted,
    "ne": lambda value, wanted, _: value != wanted,
    "gt": lambda value, wanted, _: value > wanted,
    "gte": lambda value, wanted, _: value >= wanted,
    "lt": lambda value, wanted, _: value < wanted,
    "lte": lambda value, wanted, _: value <= wanted,
    "between": lambda value, low, high: low <= value <= high,
    "notBetween": lambda value, low, high: not low <= value <= high,
    "like": lambda value, pattern, _: _is_like(value, pattern, any_case=False),
    "notLike": lambda value, pattern, _: not _is_like(value, pattern, any_case=False),
    "iLike": lambda value, pattern, _: _is_like(value, pattern, any_case=True),
    "notILike": lambda value, pattern, _: not _is_like(value, pattern, any_case=True),
    "regexp": lambda value, pattern, _: _found(value, pattern),
    "iRegexp": lambda value, pattern, _: _found(value, pattern, re.IGNORECASE),
}
