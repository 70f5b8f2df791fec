"""The filter language: `kind:json size:>1mb age:<7d on:account is:revoked to:alice -draft "two words"`.

Every term narrows the filter, a leading minus negates a term. Text that isn't a term of this language is looked
for as it is, so pasted text finds itself.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args
from unicodedata import combining, normalize

__all__ = [
    "KEYS",
    "SHORTEST_BEGINNING",
    "SHORTEST_ENDING",
    "Age",
    "Filter",
    "Is",
    "KindIs",
    "On",
    "Size",
    "Term",
    "To",
    "Word",
    "completion",
    "explanation",
    "folded",
    "parse_filter",
]

KIND_WORDS = ("json", "file", "message", "dir")
Place = Literal["account", "here", "both", "elsewhere"]
PLACES: dict[str, Place] = {place: place for place in get_args(Place)}
State = Literal["revoked", "pinned", "verified", "unverified", "mismatch"]
STATES: dict[str, State] = {state: state for state in get_args(State)}
Comparison = Literal["<", "<=", ">", ">="]

UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
SPANS = {"min": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
FIGURE = re.compile(r"(<=|>=|<|>)?(\d{1,15}(?:\.\d{1,9})?)([a-z]*)", re.ASCII)
TERM = re.compile(
    r"""(?P<minus>-(?=[^\s-]))?         # one minus: two of them are text
    (?P<key>[a-z]+:)?
    (?:"(?P<quoted>[^"]*)"(?=\s|$) | (?P<plain>\S+))?""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Word:
    """Text somewhere in the name, the note, the recipient or the beginning of the content, or either end of a CID."""

    text: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class KindIs:
    """`kind:json`; `dir` is a folder."""

    kind: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """`size:>1mb`: bytes."""

    comparison: Comparison
    bytes: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Age:
    """`age:<7d`: seconds."""

    comparison: Comparison
    seconds: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class On:
    """`on:account`: `both` is on the account and in the history, `elsewhere` was made by another program."""

    place: Place
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Is:
    """`is:revoked`."""

    state: State
    negated: bool = False


@dataclass(frozen=True, slots=True)
class To:
    """`to:alice`: a part of the recipient's name."""

    text: str
    negated: bool = False


Term = Word | KindIs | Size | Age | On | Is | To


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter: the valid terms, and a sentence about each term with a mistake."""

    terms: tuple[Term, ...] = ()
    mistakes: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are looked for, to be highlighted."""
        return tuple(term.text for term in self.terms if isinstance(term, (Word, To)) and not term.negated)

    def matches(self, cid: str, name: str | None, size: int | None, created: int | None, now: float) -> bool:
        """Whether a pin of a service matches, by the few facts that it has. `created` is in milliseconds.

        Where a fact is unknown, neither a term about it nor its opposite matches.
        """
        found = ((term, _matches(term, cid, name, size, created, now)) for term in self.terms)
        return all(is_so is not None and is_so != term.negated for term, is_so in found)


def _matches(term: Term, cid: str, name: str | None, size: int | None, created: int | None, now: float) -> bool | None:
    match term:
        case Word(text):
            return folded(text) in folded(name) or _is_end(text, cid)
        case Size(comparison, number):
            return None if size is None else COMPARE[comparison](size, number)
        case Age(comparison, seconds):
            return None if created is None else COMPARE[comparison](now - created / 1000, seconds)
        case On("account") | Is("pinned"):
            return True
        case _:
            return None


def _is_end(word: str, cid: str) -> bool:
    """Whether a CID begins or ends with a word, with as many letters as a filter needs for that."""
    small = word.lower()
    begins = len(word) >= SHORTEST_BEGINNING and cid[: len(word)].lower() == small
    return begins or (len(word) >= SHORTEST_ENDING and cid.endswith((word, small)))


SHORTEST_BEGINNING = 3
"""The letters that find a CID by its beginning; fewer are found in too many. Its capitals don't matter."""
SHORTEST_ENDING = 4
"""The letters that find a CID by its end, as they are or as small letters."""
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
KEYS: dict[str, tuple[str, ...]] = {
    "kind": KIND_WORDS,
    "size": (">1mb", "<100kb"),
    "age": ("<7d", ">1y"),
    "on": tuple(PLACES),
    "is": tuple(STATES),
    "to": (),
}
"""The keys, with values to propose."""
A_SIZE = "a size such as >1mb or <300kb"
AN_AGE = "an age such as <7d, >2h or >1y"


def folded(*texts: str | None) -> str:
    """Texts as they are compared: without case and accents, one a line."""
    text = "\n".join(text for text in texts if text)
    if not text.isascii():
        text = "".join(letter for letter in normalize("NFKD", text) if not combining(letter))
    return text.casefold()


def parse_filter(text: str) -> Filter:
    """Parse a filter. A term with a mistake is left out: it never empties a list."""
    terms: list[Term] = []
    mistakes: list[str] = []
    for match in TERM.finditer(text.replace("\0", "")):
        term = _term(match, mistakes)
        if term is not None:
            terms.append(term)
    return Filter(tuple(terms), tuple(mistakes))


def completion(text: str, recipients: Sequence[str] = ()) -> str | None:
    """The text with its last term completed: a key, one of its values or a recipient; None if there is nothing to add.

    The result begins with the text as it was typed.
    """
    begun = text.rpartition(" ")[2].removeprefix("-")
    key, colon, value = begun.partition(":")
    if not begun or '"' in begun:
        return None
    if not colon:
        endings = [f"{name}:" for name in KEYS if name.startswith(key)]
        typed = key
    else:
        names = (f'"{name}"' if " " in name else name for name in recipients)
        endings = list(names) if key == "to" else list(KEYS.get(key, ()))
        typed = value
    longer = (ending for ending in endings if ending.startswith(typed) and ending != typed)
    return next((text[: len(text) - len(typed)] + ending for ending in longer), None)


def explanation(text: str) -> str:
    """The values that may follow the last term, while it is a key or the beginning of one; else empty."""
    begun = text.rpartition(" ")[2].removeprefix("-")
    key = next((name for name in KEYS if begun and f"{name}:".startswith(begun)), None)
    if key is None:
        return ""
    values = {"size": A_SIZE, "age": AN_AGE, "to": "a part of the recipient's name"}
    return f"{key}: {values.get(key) or ', '.join(KEYS[key])}"


def _term(match: re.Match[str], mistakes: list[str]) -> Term | None:
    whole, key, quoted = match[0], (match["key"] or "").rstrip(":"), match["quoted"]
    value = quoted if quoted is not None else match["plain"] or ""
    negated = match["minus"] is not None
    if not whole:
        return None
    if key not in KEYS:
        text = quoted if quoted is not None and not key else whole[negated:]
        if folded(text):
            return Word(text, negated)
        mistakes.append(f"{whole}: there is no text to look for")
        return None
    term = _keyed(key, value, negated)
    if isinstance(term, str):
        mistakes.append(f"{whole}: give {term}")
        return None
    return term


def _keyed(key: str, value: str, negated: bool) -> Term | str:
    """The term, or the values to give instead."""
    word = value.lower()
    if key == "to":
        return To(value, negated) if folded(value) else "a part of the recipient's name, as in to:alice"
    if key == "kind":
        return KindIs(word, negated) if word in KIND_WORDS else f"one of {', '.join(KIND_WORDS)}"
    if key == "on":
        place = PLACES.get(word)
        return On(place, negated) if place else f"one of {', '.join(PLACES)}"
    if key == "is":
        state = STATES.get(word)
        return Is(state, negated) if state else f"one of {', '.join(STATES)}"
    comparison, number = _figure(word, UNITS if key == "size" else SPANS)
    if number is None:
        return A_SIZE if key == "size" else AN_AGE
    if key == "size":
        return Size(comparison or ">=", number, negated)
    return Age(comparison or "<=", number, negated)


def _figure(text: str, units: dict[str, int]) -> tuple[Comparison | None, int | None]:
    match = FIGURE.fullmatch(text)
    if match is None or match[3] not in units:
        return None, None
    comparison: dict[str | None, Comparison] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}
    return comparison.get(match[1]), int(float(match[2]) * units[match[3]])
