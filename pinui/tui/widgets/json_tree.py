"""A JSON document as a tree that folds: only rows that are unfolded exist, only those in sight are drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from pinui.tui.commands import bindings
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line

__all__ = ["JsonTree", "Row", "first_folds"]

OPEN_AT_FIRST = 200
"""Containers with more members than this are folded at first."""
MANY = 5_000


@dataclass(frozen=True, slots=True)
class Row:
    """One visible row: how deep, what it is called, what it is, and how to get there."""

    depth: int
    key: str | int | None
    value: Any
    path: str

    @property
    def members(self) -> int:
        """How many members it has; 0 for what holds none."""
        return len(cast("list[Any]", self.value)) if isinstance(self.value, dict | list) else 0


class JsonTree(ItemList):
    """Enter or space folds; y copies what is under the cursor."""

    BINDINGS = bindings("document")

    def __init__(self) -> None:
        super().__init__(id="document", classes="pane")
        self.rows: list[Row] = []
        self.folded: set[str] = set()
        self.value: Any = None
        self.notes: list[Line] = []

    def show_value(self, value: Any, folded: set[str]) -> None:
        """Show another document, with these parts folded."""
        self.value, self.folded = value, folded
        self._rebuild()
        self.cursor = 0
        self.scroll_to(0, 0, animate=False)

    def show_notes(self, notes: list[Line]) -> None:
        """Show words instead of a document."""
        self.notes, self.rows = notes, []
        self.item_count = 0
        self.refresh()

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def toggle(self) -> None:
        """Fold or unfold the row under the cursor."""
        row = self.current
        if row is not None and row.members:
            self.folded ^= {row.path}
            self._rebuild()

    def toggle_all(self) -> None:
        """Fold everything below the top, or unfold it."""
        self.folded = (
            set() if self.folded else {row.path for row in _walk(self.value, set()) if row.depth and row.members}
        )
        self._rebuild()

    def _rebuild(self) -> None:
        self.rows = list(_walk(self.value, self.folded))
        self.item_count = len(self.rows)
        self.measure()

    def nothing(self, width: int) -> list[Line]:
        """What stands there before a document does."""
        return self.notes

    def item_line(self, index: int, line: int, width: int) -> Line:
        """Indent, fold sign, key, value."""
        row = self.rows[index]
        here = index == self.cursor and self.has_focus
        sign = ("▸ " if row.path in self.folded else "▾ ") if row.members else "  "
        spans = [("▌" if here else " ", "primary"), ("  " * row.depth + sign, "muted")]
        if isinstance(row.key, str):
            spans += [(row.key, "primary"), (": " if not row.members else " ", "muted")]
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
        return spans

    @property
    def shows_cursor(self) -> bool:
        """A document is read without the focus too; the cursor would only distract."""
        return self.has_focus


def first_folds(value: Any) -> set[str]:
    """What is folded at first: long parts, and in a large document everything below the second level."""
    rows = list(_walk(value, set()))
    deepest = 1 if len(rows) > MANY else 1_000_000
    return {
        row.path for row in rows if row.depth and row.members and (row.members > OPEN_AT_FIRST or row.depth > deepest)
    }


def _walk(value: Any, folded: set[str]) -> Iterator[Row]:
    """Visible rows in order; a stack and not recursion, since documents may be deep."""
    stack = [Row(0, None, value, "$")]
    while stack:
        row = stack.pop()
        yield row
        if row.path in folded:
            continue
        if isinstance(row.value, dict):
            members = cast("dict[str, Any]", row.value)
            stack += [
                Row(
                    row.depth + 1, key, member, row.path + (f".{key}" if key.isidentifier() else f"[{json.dumps(key)}]")
                )
                for key, member in reversed(members.items())
            ]
        elif isinstance(row.value, list):
            items = cast("list[Any]", row.value)
            stack += [
                Row(row.depth + 1, index, item, f"{row.path}[{index}]")
                for index, item in reversed(list(enumerate(items)))
            ]
