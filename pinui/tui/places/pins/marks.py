"""Marks: which rows of a list are marked, also if it is a million of them."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, MutableSet
from heapq import merge
from itertools import islice, pairwise

__all__ = ["Marks"]

Combine = Callable[[set[int], set[int]], set[int]]
EITHER: Combine = set[int].union
BOTH: Combine = set[int].intersection
FIRST_ONLY: Combine = set[int].difference
ONE_ONLY: Combine = set[int].symmetric_difference

PIECE = 20_000
"""Ids that are handled at once. The event loop waits for no more than these, and they take little memory."""


class Marks(MutableSet[int]):
    """The ids of marked rows: eight bytes each, and a few that changed since many of them were marked together.

    The methods for many ids may run on a thread.
    """

    def __init__(self, ids: Iterable[int] = ()) -> None:
        self._replace(in_order(ids))

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and is_in(self._many, number) != (number in self._flipped)

    def __iter__(self) -> Iterator[int]:
        return iter(self._in_order())

    def __len__(self) -> int:
        return self._length

    def add(self, value: int) -> None:
        """Mark a row."""
        if value not in self:
            self._flipped ^= {value}
            self._length += 1

    def discard(self, value: int) -> None:
        """Take the mark of a row away."""
        if value in self:
            self._flipped ^= {value}
            self._length -= 1

    def clear(self) -> None:
        """Take all marks away."""
        self._replace(array("q"))

    def mark_all(self, ids: Iterable[int]) -> None:
        """Mark all these rows."""
        self._replace(combined(self._in_order(), in_order(ids), EITHER))

    def invert(self, ids: Iterable[int]) -> None:
        """Mark those of these rows that have no mark, and take the marks of the others away."""
        self._replace(combined(self._in_order(), in_order(ids), ONE_ONLY))

    def toggle_all(self, ids: Iterable[int]) -> None:
        """Mark all these rows, or none of them if all are marked."""
        marked, these = self._in_order(), in_order(ids)
        are_marked = len(marked) >= len(these) == len(combined(marked, these, BOTH))
        self._replace(combined(marked, these, FIRST_ONLY if are_marked else EITHER))

    def count_in(self, ids: Iterable[int]) -> int:
        """How many of these rows are marked."""
        return len(combined(self._in_order(), in_order(ids), BOTH))

    def beyond(self, ids: Iterable[int]) -> array[int]:
        """The marked rows that are not among these, in the order of their ids."""
        return combined(self._in_order(), in_order(ids), FIRST_ONLY)

    def _in_order(self) -> array[int]:
        few = self._flipped.copy()  # others may be marked while a thread looks
        return combined(self._many, in_order(few), ONE_ONLY) if few else self._many

    def _replace(self, ids: array[int]) -> None:
        self._many, self._length = ids, len(ids)
        self._flipped: set[int] = set()


def in_order(ids: Iterable[int]) -> array[int]:
    """The ids from the smallest to the largest."""
    numbers = iter(ids)
    pieces: list[array[int]] = []
    while piece := array("q", sorted(islice(numbers, PIECE))):
        pieces.append(piece)
    pieces.sort()
    if any(one[-1] > two[0] for one, two in pairwise(pieces)):
        return array("q", merge(*pieces))
    found = array("q")
    for piece in pieces:  # a list in the order of time, which is the order of ids
        found.extend(piece)
    return found


def combined(one: array[int], other: array[int], how: Combine) -> array[int]:
    """Combine two arrays that are in order as sets are combined, piece by piece."""
    found = array("q")
    first = second = 0
    while first < len(one) or second < len(other):
        rest = ((one, first), (other, second))
        last = min(ids[min(start + PIECE, len(ids)) - 1] for ids, start in rest if start < len(ids))
        end, other_end = bisect_right(one, last, first), bisect_right(other, last, second)
        found.extend(sorted(how(set(one[first:end]), set(other[second:other_end]))))
        first, second = end, other_end
    return found


def is_in(ordered: array[int], number: int) -> bool:
    """Whether an id is among these, which are in order."""
    place = bisect_left(ordered, number)
    return place < len(ordered) and ordered[place] == number
