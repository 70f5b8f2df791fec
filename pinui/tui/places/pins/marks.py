"""Marks: which rows of a list are marked, also if it is a million of them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Marks"]


class Marks(set[int]):
    """The ids of marked rows.

    The methods for many ids may run on a thread. They are loops of Python, beside which the event loop goes on; a set's
    own methods would stop it for half a second with a million ids.
    """

    def invert(self, ids: Iterable[int]) -> None:
        """Mark those of these rows that have no mark, and take the marks of the others away."""
        for number in ids:
            self.remove(number) if number in self else self.add(number)

    def toggle_all(self, ids: Iterable[int]) -> None:
        """Mark all these rows, or none of them if all are marked."""
        change = self.discard if all(number in self for number in ids) else self.add
        for number in ids:
            change(number)

    def count_in(self, ids: Iterable[int]) -> int:
        """How many of these rows are marked."""
        return sum(number in self for number in ids)

    def beyond(self, ids: Iterable[int]) -> set[int]:
        """The marked rows that are not among these."""
        others = self.copy()
        for number in ids:
            others.discard(number)
        return others
