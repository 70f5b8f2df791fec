"""Turning a `Query` into SQL. Text is only ever a parameter."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pinui.workspace.filters import Age, Is, KindIs, On, Size, To, Word, folded, parse_filter
from pinui.workspace.history.schema import ID_BITS, TEXT
from pinui.workspace.rows import Standing

if TYPE_CHECKING:
    from collections.abc import Callable

    from pinui.workspace.filters import Term
    from pinui.workspace.rows import Entry, Query, Sort

__all__ = ["COLUMNS", "REVOCATION", "Selection", "select"]

COLUMNS = (
    "e.id, e.cid, e.timestamp, e.size, e.kind, e.direction, e.profile, e.name, e.note, e.recipient, e.excerpt,"
    " e.verification, r.revoked_at, e.bytes, e.is_folder, e.source, e.service_name, e.standing, e.recorded"
)
REVOCATION = "LEFT JOIN revocations AS r ON r.cid = e.cid AND r.profile = e.profile"
TRIGRAM = 3  # shorter text has no entry in the index
TITLE_LENGTH = 40
TITLE = f"substr(coalesce(e.name, e.note, e.excerpt, e.service_name, e.cid), 1, {TITLE_LENGTH}) COLLATE NOCASE"
ENDING = " || ".join(f"substr(e.cid, -{place}, 1)" for place in range(1, 9))
"""The last letters of a CID, from behind, as the index `entries_by_ending` has them."""
FEW = 200
"""CIDs that share a beginning or an end, and are looked up one by one; more of them are compared row by row."""
MANY = 30_000
"""Rows that share a text: sorting more than these takes longer than walking the rows in order and comparing."""
SEARCHED = f"instr({TEXT.format('e')}, ?) > 0"

ON = {
    "account": f"e.standing IN ({Standing.BOTH:d}, {Standing.ACCOUNT:d})",
    "here": "e.recorded = 1",
    "both": f"e.standing = {Standing.BOTH:d}",
    "elsewhere": f"e.standing = {Standing.ACCOUNT:d}",
}


class Selection:
    """The rows that a query means, ready to be counted, listed or paged."""

    def __init__(self, query: Query) -> None:
        self.sort: Sort = query.sort
        self.of_pins = query.of == "pins"
        self.by_index = False
        """Whether the text index drives the search."""
        self.hint = ""
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
            "name": f"{TITLE} ASC, {self._id} ASC",
            "name-reversed": f"{TITLE} DESC, {self._id} DESC",
            "size": f"e.bytes DESC, {self._id} DESC",
            "size-reversed": f"e.bytes ASC, {self._id} ASC",
        }
        return f"ORDER BY {orders[self.sort]}"

    def _from(self, *, rows: bool = False, revocations: bool = False) -> str:
        source = f"entries AS e {self.hint}"
        if self.by_index:
            # CROSS JOIN keeps the planner from walking all rows and asking the index about each. Without other
            # conditions the index alone knows the answer.
            needs_rows = rows or len(self.conditions) > 1 or self.sort not in ("newest", "oldest")
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
        if self.sort in ("newest", "oldest"):
            self.add(f"{self._id} {'<' if self.sort == 'newest' else '>'} ?", entry.id)
        elif self.sort in ("size", "size-reversed"):
            sign = "<" if self.sort == "size" else ">"
            self.add(f"e.bytes {sign}= ?", entry.bytes)
            self.add(f"(e.bytes {sign} ? OR {self._id} {sign} ?)", entry.bytes, entry.id)
        else:
            texts = (entry.name, entry.note, entry.excerpt, entry.service_name, entry.cid)
            title = next(text for text in texts if text is not None)[:TITLE_LENGTH]
            sign = ">" if self.sort == "name" else "<"
            self.add(f"{TITLE} {sign}= ?", title)
            self.add(f"({TITLE} {sign} ? OR {self._id} {sign} ?)", title, entry.id)


def select(query: Query, *, searchable: bool, look_up: Callable[[str, tuple[str | int, ...]], list[int]]) -> Selection:
    """The selection that a query means. `look_up` gives the ids that a statement finds."""
    selection = Selection(query)
    terms = parse_filter(query.text).terms
    matches = _add_words(selection, [term for term in terms if isinstance(term, Word)], searchable, look_up)
    if searchable:
        sought = [folded(term.text) for term in terms if isinstance(term, To) and not term.negated]
        matches += [text for text in sought if len(text) >= TRIGRAM]
    if matches:
        _add_matches(selection, matches, look_up)
    if query.of == "pins":
        selection.add("e.standing > 0")
    elif query.of == "records":
        selection.add("e.recorded = 1")
    for column, value in (
        ("kind", query.kind),
        ("direction", query.direction),
        ("profile", query.profile),
        ("recipient", query.recipient),
    ):
        if value is not None:
            selection.add(f"e.{column} = ?", value)
    if query.filed is not None:
        selection.add("e.recipient IS NOT NULL" if query.filed else "e.recipient IS NULL")
    if query.revoked is not None:
        _add_term(selection, Is("revoked", negated=not query.revoked))
    for term in terms:
        if not isinstance(term, Word):
            _add_term(selection, term)
    selection.hint = "" if selection.by_index else _index_for(query, selection)
    return selection


def _index_for(query: Query, selection: Selection) -> str:
    """The index that gives the rows in their order. SQLite would guess, and sometimes sort a million rows."""
    if any(condition.startswith("e.id IN") for condition in selection.conditions):
        return ""
    by_age = query.sort in ("newest", "oldest")
    if query.of == "pins" and query.profile is not None:
        if by_age and "e.standing = 4" in selection.conditions:
            return "INDEXED BY pins_revoked"
        return f"INDEXED BY pins_by_{'age' if by_age else 'size' if query.sort.startswith('size') else 'title'}"
    if query.of == "records" and by_age:
        return f"INDEXED BY {'records_by_age' if query.recipient is None else 'entries_by_recipient'}"
    return ""


def _add_words(
    selection: Selection,
    words: list[Word],
    searchable: bool,
    look_up: Callable[[str, tuple[str | int, ...]], list[int]],
) -> list[str]:
    """Narrow by each word; those that the text index answers come back.

    Each word may be in another place of the row: “alice eight” finds a message to alice about eight o'clock.
    """
    matches: list[str] = []
    for word in words:
        text = folded(word.text)
        by_cid = _cid_conditions(word.text)
        either = " OR ".join([SEARCHED, *(condition for condition, _ in by_cid)])
        values = [text, *(value for _, pair in by_cid for value in pair)]
        if word.negated:
            selection.add(f"NOT ({either})", *values)
            continue
        found: set[int] = set()
        for condition, pair in by_cid:
            some = f"SELECT e.id FROM entries AS e WHERE {condition} LIMIT {FEW + 1}"  # noqa: S608 – letters and digits
            found.update(look_up(some, pair))
        in_index = searchable and len(text) >= TRIGRAM
        if len(found) > FEW:
            selection.add(f"({either})", *values)
        elif found and in_index:
            marks = ", ".join("(?)" for _ in found)
            ids = f"SELECT rowid FROM search WHERE search MATCH ? UNION ALL VALUES {marks}"  # noqa: S608 – marks
            selection.add(f"e.id IN ({ids})", _phrase(text), *found)
        elif found:
            selection.add(f"({SEARCHED} OR e.id IN ({', '.join('?' * len(found))}))", text, *found)
        elif in_index:
            matches.append(text)
        else:
            selection.add(SEARCHED, text)
    return matches


def _cid_conditions(word: str) -> list[tuple[str, tuple[str, str]]]:
    """Ranges of the indexes of CIDs that begin or end with a word, with any capital letters."""
    if len(word) < TRIGRAM or not (word.isascii() and word.isalnum()):
        return []
    found: list[tuple[str, tuple[str, str]]] = []
    for text in dict.fromkeys((word, word.lower())):
        if text.startswith(("b", "z", "k", "f", "Qm")):
            found.append(("(e.cid >= ? AND e.cid < ?)", (text, text + "\x7f")))
        if len(text) > TRIGRAM:
            end = text[::-1][:8]
            condition, pair = f"({ENDING} >= ? AND {ENDING} < ?)", (end, end + "\x7f")
            if len(text) > len(end):  # the index has the last letters only
                whole = f"({condition} AND substr(e.cid, -{len(text)}) = '{text}')"  # letters and digits
                found.append((whole, pair))
            else:
                found.append((condition, pair))
    return found


def _add_matches(
    selection: Selection, texts: list[str], look_up: Callable[[str, tuple[str | int, ...]], list[int]]
) -> None:
    """Narrow by texts that the index finds: it leads, unless it finds too many rows to sort."""
    asked = " AND ".join(map(_phrase, texts))
    if selection.sort not in ("newest", "oldest"):
        found = look_up(f"SELECT rowid FROM search WHERE search MATCH ? LIMIT {MANY}", (asked,))  # noqa: S608 – a number
        if len(found) == MANY:
            for text in texts:
                selection.add(SEARCHED, text)
            return
    # The index must be asked first: a row that it finds is looked up, and not the other way round.
    selection.by_index = True
    selection.conditions.insert(0, "search MATCH ?")
    selection.values.insert(0, asked)


def _phrase(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _add_term(selection: Selection, term: Term) -> None:
    """Narrow by a term that is no word."""
    values: tuple[str | int, ...] = ()
    match term:
        case KindIs("dir"):
            condition = "e.is_folder = 1"
        case KindIs(kind):
            condition, values = "e.kind = ?", (kind,)
        case Size(comparison, size):
            condition, values = f"e.bytes {comparison} ?", (min(size, 2**62),)
        case Age(comparison, seconds):
            # Older is smaller. Ids begin with the time, and are in every index.
            moment = max(0, int((time.time() - seconds) * 1000))
            sign = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[comparison]
            condition, values = f"e.id {sign} ?", (moment << ID_BITS,)
        case On(place):
            condition = ON[place]
        case Is("revoked" | "pinned"):
            condition = f"e.standing = {Standing.REVOKED:d}"
            if not selection.of_pins:
                condition = "EXISTS (SELECT 1 FROM revocations AS x WHERE x.cid = e.cid AND x.profile = e.profile)"
            if term.state == "pinned":
                condition = f"NOT ({condition})"
        case Is("unverified"):
            condition = "e.verification IS NULL"
        case Is(state):
            condition, values = "e.verification IS ?", (state,)
        case To(text):
            condition, values = "instr(folded(e.recipient), ?) > 0", (folded(text),)
        case Word():
            raise AssertionError
    selection.add(f"NOT ({condition})" if term.negated else condition, *values)
