"""Turning a `Query` into SQL. Text is only ever a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinui.workspace.rows import Entry, Query, Sort

__all__ = ["COLUMNS", "Selection", "select"]

COLUMNS = (
    "e.id, e.cid, e.timestamp, e.size, e.kind, e.direction, e.profile, e.name, e.note, e.recipient, e.excerpt,"
    " e.verification, r.revoked_at, e.bytes, e.is_folder, e.source"
)
REVOCATION = "LEFT JOIN revocations AS r ON r.cid = e.cid AND r.profile = e.profile"
SEARCHED = ("cid", "name", "note", "recipient", "excerpt")
TRIGRAM = 3  # shorter text has no entry in the index
TITLE = "coalesce(e.name, e.note, e.excerpt, e.cid) COLLATE NOCASE"


class Selection:
    """The rows that a query means, ready to be counted, listed or paged."""

    def __init__(self, sort: Sort, *, by_index: bool) -> None:
        self.sort = sort
        self.by_index = by_index
        self.conditions: list[str] = []
        self.values: list[str | int] = []

    @property
    def _id(self) -> str:
        # The index streams its rows in the order of ids, if it is asked in its own words.
        return "search.rowid" if self.by_index else "e.id"

    @property
    def _order(self) -> str:
        orders = {
            "newest": f"{self._id} DESC",
            "oldest": f"{self._id} ASC",
            "name": f"{TITLE} ASC, {self._id} DESC",
            "size": f"e.bytes DESC, {self._id} DESC",
        }
        return f"ORDER BY {orders[self.sort]}"

    def _from(self, *, rows: bool = False, revocations: bool = False) -> str:
        source = "entries AS e"
        if self.by_index:
            # CROSS JOIN keeps the planner from walking all rows and asking the index about each. Without other
            # conditions the index alone knows the answer.
            needs_rows = rows or len(self.conditions) > 1 or self.sort in ("name", "size")
            source = "search" + (" CROSS JOIN entries AS e ON e.id = search.rowid" if needs_rows else "")
        if revocations:
            source += f" {REVOCATION}"
        return f"FROM {source}" + (f" WHERE {' AND '.join(self.conditions)}" if self.conditions else "")

    def count(self) -> str:
        """SQL for how many."""
        return f"SELECT count(*) {self._from()}"

    def cids(self) -> str:
        """SQL for their CIDs."""
        return f"SELECT e.cid {self._from(rows=True)}"

    def ids(self) -> str:
        """SQL for the ids, in order."""
        return f"SELECT {self._id} {self._from()} {self._order}"

    def rows(self) -> str:
        """SQL for whole rows, in order; one more parameter limits their number."""
        return f"SELECT {COLUMNS} {self._from(rows=True, revocations=True)} {self._order} LIMIT ?"

    def add(self, condition: str, *values: str | int) -> None:
        """Narrow the selection."""
        self.conditions.append(condition)
        self.values.extend(values)

    def begin_after(self, entry: Entry) -> None:
        """Leave out everything up to and with this entry."""
        if self.sort == "newest":
            self.add(f"{self._id} < ?", entry.id)
        elif self.sort == "oldest":
            self.add(f"{self._id} > ?", entry.id)
        elif self.sort == "size":
            self.add(f"(e.bytes < ? OR (e.bytes = ? AND {self._id} < ?))", entry.bytes, entry.bytes, entry.id)
        else:
            title = next(text for text in (entry.name, entry.note, entry.excerpt, entry.cid) if text is not None)
            self.add(f"({TITLE} > ? OR ({TITLE} = ? AND {self._id} < ?))", title, title, entry.id)


def select(query: Query, *, searchable: bool) -> Selection:
    """The selection that a query means."""
    # Each word may be in another column of the row: “alice eight” finds a message to alice about eight o'clock.
    words = query.text.replace("\0", "").split()
    indexed = [word for word in words if len(word) >= TRIGRAM] if searchable else []
    selection = Selection(query.sort, by_index=bool(indexed))
    if indexed:
        selection.add("search MATCH ?", " AND ".join('"' + word.replace('"', '""') + '"' for word in indexed))
    for word in words:
        if word in indexed:
            continue
        # LIKE ignores case for ASCII only.
        escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        either = " OR ".join(f"e.{column} LIKE ? ESCAPE '\\'" for column in SEARCHED)
        selection.add(f"({either})", *[f"%{escaped}%"] * len(SEARCHED))
    for column in ("kind", "direction", "profile", "recipient"):
        value: str | None = getattr(query, column)
        if value is not None:
            selection.add(f"e.{column} = ?", value)
    if query.filed is not None:
        selection.add("e.recipient IS NOT NULL" if query.filed else "e.recipient IS NULL")
    if query.revoked is not None:
        known = "EXISTS (SELECT 1 FROM revocations AS x WHERE x.cid = e.cid AND x.profile = e.profile)"
        selection.add(known if query.revoked else f"NOT {known}")
    return selection
