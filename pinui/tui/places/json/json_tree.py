"""A JSON document as a tree that folds: only rows that are unfolded exist, only those in sight are drawn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from rich.cells import cell_len

from pinui.tui.display import fit
from pinui.tui.keys import bindings
from pinui.tui.places.json.keys import DOCUMENT
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line

__all__ = ["JsonTree", "Row", "first_folds", "walk"]

OPEN_AT_FIRST = 200
"""Containers with more members than this are folded at first."""
MANY = 5_000
"""A document with more rows than this is folded below its second level at first."""
MOST = 20_000
"""Rows that "unfold all" makes, apart from those of the top."""


@dataclass(frozen=True, slots=True)
class Row:
    """One visible row: its value, its key and the row that contains it."""

    value: Any
    key: str | int | None = None
    above: Row | None = None
    depth: int = 0

    @property
    def path(self) -> str:
        """The path to the value. It is made on demand: stored, it would repeat the names of all rows above."""
        steps: list[str] = []
        row: Row | None = self
        while row is not None and row.key is not None:
            is_name = isinstance(row.key, str) and row.key.isidentifier()
            steps.append(f".{row.key}" if is_name else f"[{json.dumps(row.key)}]")
            row = row.above
        return "$" + "".join(reversed(steps))

    @property
    def members(self) -> int:
        """The number of members; 0 for a plain value."""
        return len(cast("list[Any]", self.value)) if isinstance(self.value, dict | list) else 0


class JsonTree(ItemList):
    """Enter or space folds; y copies what is under the cursor."""

    BINDINGS = bindings(DOCUMENT)

    def __init__(self) -> None:
        super().__init__(id="document", classes="pane")
        self.rows: list[Row] = []
        self.folded: set[int] = set()
        """The parts that are folded, by identity: each part of a document is an object of its own."""
        self.opened: set[int] = set()
        self.value: Any = None
        self.notes: list[Line] = []

    async def show_value(self, value: Any) -> None:
        """Show another document, with long parts folded."""
        self.value = value
        folded = await asyncio.to_thread(first_folds, value)
        self.opened = {id(value)}
        if await self._fold(value, folded):
            self.cursor = 0
            self.scroll_to(0, 0, animate=False)

    def show_notes(self, notes: list[Line]) -> None:
        """Show words instead of a document."""
        self.notes, self.rows, self.value = notes, [], None
        self.item_count = 0
        self.refresh()

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    async def toggle(self) -> None:
        """Fold or unfold the row under the cursor."""
        row, value, folded = self.current, self.value, self.folded
        if row is None or not row.members:
            return
        part = id(row.value)
        if part not in folded:
            await self._fold(value, folded | {part})
            return
        inside: set[int] = set()
        if part not in self.opened:
            self.opened.add(part)
            inside = await asyncio.to_thread(lambda: folds_inside(row, is_large(value)))
        await self._fold(value, (folded - {part}) | inside)

    async def toggle_all(self) -> bool:
        """Fold everything below the top, or unfold it; False if some parts are too long for that and stay folded."""
        if not self.rows:
            return True
        value, folded = self.value, self.folded
        unfolded = await asyncio.to_thread(fewest_folds, value)
        if folded == unfolded:
            folded = folded | {id(row.value) for row in self.rows if row.depth and row.members}
        else:
            folded = unfolded
        await self._fold(value, folded)
        return not unfolded or folded != unfolded

    async def _fold(self, value: Any, folded: set[int]) -> bool:
        """Show the rows that are left when these parts are folded, unless another document has come meanwhile."""
        rows = await asyncio.to_thread(lambda: list(walk(Row(value), folded)))
        if value is not self.value:
            return False
        self.folded, self.rows = folded, rows
        self.item_count = len(rows)
        self.measure()
        return True

    def nothing(self, width: int) -> list[Line]:
        """Lines to show while there is no document."""
        return self.notes

    def item_line(self, index: int, line: int, width: int) -> Line:
        """Indent, fold sign, key, value."""
        row = self.rows[index]
        here = index == self.cursor and self.has_focus
        sign = ("▸ " if id(row.value) in self.folded else "▾ ") if row.members else "  "
        spans = [("▌" if here else " ", "primary"), ("  " * row.depth + sign, "muted")]
        if isinstance(row.key, str):
            spans += [(row.key[:2000], "primary"), (": " if not row.members else " ", "muted")]
        elif row.key is not None:
            spans.append((f"{row.key} ", "muted"))
        value = row.value
        if isinstance(value, dict):
            number = len(cast("dict[str, Any]", value))
            spans.append(
                (f"{{}} {number} key{'s' if number != 1 else ''}" if not row.depth else f"{{{number}}}", "muted")
            )
        elif isinstance(value, list):
            spans.append((f"[{len(cast('list[Any]', value))}]", "muted"))
        elif isinstance(value, str):
            spans.append((json.dumps(value[:2000], ensure_ascii=False), "string"))
        else:
            spans.append((json.dumps(value), "warning"))
        text, tone = spans[-1]
        room = width - sum(cell_len(before) for before, _ in spans[:-1])
        return [*spans[:-1], (fit(text, max(1, room)).rstrip(), tone)]


def first_folds(value: Any) -> set[int]:
    """The parts that are folded at first: long ones, and in a large document everything below the second level."""
    return folds_inside(Row(value), is_large(value), deepest=1)


def is_large(value: Any) -> bool:
    """Whether the document has more rows than anybody would scroll through."""
    return sum(1 for _ in islice(walk(Row(value), set()), MANY + 1)) > MANY


def folds_inside(top: Row, large: bool, *, deepest: int = 0) -> set[int]:
    """The parts inside a part that stay folded when it is unfolded for the first time."""
    folded: set[int] = set()
    for row in walk(top, folded):  # which looks at `folded` before it goes into a row
        depth = row.depth - top.depth
        if depth and row.members and (row.members > OPEN_AT_FIRST or (large and depth > deepest)):
            folded.add(id(row.value))
    return folded


def fewest_folds(value: Any) -> set[int]:
    """The parts that “unfold all” leaves folded: they would make more than `MOST` rows."""
    folded: set[int] = set()
    rows = 1
    for row in walk(Row(value), folded):
        if row.depth and row.members and rows + row.members > MOST:
            folded.add(id(row.value))
        else:
            rows += row.members
    return folded


def walk(top: Row, folded: set[int]) -> Iterator[Row]:
    """Visible rows in order; a stack and not recursion, since documents may be deep."""
    stack = [iter((top,))]
    while stack:
        row = next(stack[-1], None)
        if row is None:
            stack.pop()
            continue
        yield row
        if row.members and id(row.value) not in folded:
            stack.append(_below(row))


def _below(row: Row) -> Iterator[Row]:
    value: Any = row.value
    members = cast("dict[str, Any]", value).items() if isinstance(value, dict) else enumerate(value)
    return (Row(member, key, row, row.depth + 1) for key, member in members)
