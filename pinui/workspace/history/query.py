"""Turning a `Query` into SQL. Text is only ever a parameter."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pinui.workspace.filters import (
    SHORTEST_BEGINNING,
    SHORTEST_ENDING,
    Age,
    Is,
    KindIs,
    On,
    Size,
    To,
    Word,
    folded,
    parse_filter,
)
from pinui.workspace.history.pinned import ending
from pinui.workspace.history.schema import BEGINNING, ID_BITS, TEXT
from pinui.workspace.rows import UNDATED, Standing

if TYPE_CHECKING:
    from collections.abc import Callable

    from pinui.workspace.filters import Term
    from pinui.workspace.rows import Entry, Query

    LookUp = Callable[[str, tuple[str | int, ...]], list[int]]

__all__ = ["COLUMNS", "REVOCATION", "Selection", "select"]

IS_GONE = (
    f"(e.standing = {Standing.GONE:d} OR (e.standing = 0 AND e.direction = 'sent' AND EXISTS ("  # noqa: S608 – names
    f"SELECT 1 FROM entries AS p INDEXED BY entries_by_ending WHERE p.ending = e.ending AND p.cid = e.cid"
    f" AND p.profile = e.profile"
    f" AND p.standing = {Standing.GONE:d})))"
)
"""Whether the account no longer has the pin of a record, which another row may represent."""
COLUMNS = (
    "e.id, e.cid, e.timestamp, e.size, e.kind, e.direction, e.profile, e.name, e.note, e.recipient, e.excerpt,"
    " e.verification, r.revoked_at, nullif(e.bytes, -1), e.is_folder, e.source, e.service_name, e.standing, e.recorded,"
    f" {IS_GONE}"
)
REVOCATION = "LEFT JOIN revocations AS r ON r.cid = e.cid AND r.profile = e.profile"
TRIGRAM = 3  # shorter text has no entry in the index
TRIMMED = "ltrim(e.excerpt, char(9, 10, 13, 32))"
TITLE = (
    "substr(coalesce(nullif(e.name, ''),"
    f" CASE e.kind WHEN 'message' THEN 'to ' || e.recipient || ' · “' || {TRIMMED} END,"
    f" nullif(e.note, ''), nullif({TRIMMED}, ''), nullif(e.service_name, ''), e.cid), 1, 40) COLLATE NOCASE"
)
"""The beginning of a row's title in a list, as the index `pins_by_title` has it."""
FEW = 200
"""CIDs that share a beginning or an end, and are looked up one by one; more of them are compared row by row."""
MANY = 20_000
"""Rows to find and sort at most: among more of them, walking all rows in order finds a page sooner."""
COUNTED = 200_000
"""Rows that an index counts at most, to find out how many it has."""
SEARCHED = {
    False: f"instr({TEXT.format('e')}, ?) > 0",
    True: f"instr({TEXT.format('e')} || folded(e.earlier), ?) > 0",
}
"""A test for a word: of records, and of pins, which have the words of all their records."""

ON = {
    "account": f"e.standing IN ({Standing.BOTH:d}, {Standing.ACCOUNT:d})",
    "here": "e.recorded = 1",
    "both": f"e.standing = {Standing.BOTH:d}",
    "elsewhere": f"e.standing = {Standing.ACCOUNT:d}",
}
REVOKED = "EXISTS (SELECT 1 FROM revocations AS x WHERE x.cid = e.cid AND x.profile = e.profile)"
PINNED = f"e.standing IN ({Standing.HERE:d}, {Standing.BOTH:d}, {Standing.ACCOUNT:d})"
ANY_STATE = (
    "e.standing IN (1, 2, 3, 4, 5) AND e.kind IN ('json', 'file', 'message')"
    " AND e.is_folder IN (0, 1) AND e.recorded IN (0, 1)"
)
"""All pins, in the words of the index `pins_by_state`: it finds one column behind others that are given."""


class Condition(NamedTuple):
    """SQL with its values."""

    sql: str
    values: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """Conditions that an index answers together."""

    tests: list[Condition]
    """The conditions on a row."""
    ids: Condition
    """A statement for the ids of all rows that meet them."""
    counted: int
    """The number of rows to count at most."""


class Selection:
    """The rows that a query means, ready to be counted, listed or paged.

    Either an index finds the rows of a condition, and these are sorted; or an index gives all rows in order, and each
    is tested. The first is quick for few rows, the second for many.
    """

    def __init__(self, query: Query) -> None:
        self.sort = query.sort
        self.of_pins = query.of == "pins"
        self.walked = _index_in_order(query)
        self.conditions: list[Condition] = []
        self.words: Found | None = None
        self.only_unwanted = False
        """Whether these are the rows that must not be listed."""
        self.stream = ""
        """The words for the text index, if it gives the rows in order: its order is that of ids."""
        self.others: list[Found] = []
        self.lead: Found | None = None
        """The index that finds the fewest rows."""
        self.is_short = False
        """Whether it finds so few that the selection begins with it."""

        self._after: Entry | None = None

    def add(self, sql: str, *values: str | int) -> None:
        """Narrow the selection."""
        self.conditions.append(Condition(sql, values))

    def begin_after(self, entry: Entry) -> None:
        """Leave out everything up to and with this entry."""
        self._after = entry

    def count(self) -> Condition:
        """SQL for how many."""
        return self._select("count(*)")

    def cids(self) -> Condition:
        """SQL for their CIDs."""
        return self._select("e.cid")

    def ids(self, limit: int = -1, *, row_by_row: bool = False) -> Condition:
        """SQL for the ids, in order.

        `row_by_row` compares each row by itself instead of finding all that match: quick if most of them do.
        """
        id_ = "search.rowid" if self.stream else "e.id"
        orders = {
            "newest": f"{id_} DESC",
            "oldest": f"{id_} ASC",
            "name": f"{TITLE} ASC, {id_} ASC",
            "name-reversed": f"{TITLE} DESC, {id_} DESC",
            "size": f"e.bytes DESC, {id_} DESC",
            "size-reversed": f"e.bytes ASC, {id_} ASC",
        }
        sql, values = self._select(id_, row_by_row=row_by_row)
        return Condition(f"{sql} ORDER BY {orders[self.sort]} LIMIT {limit:d}", values)

    def _select(self, columns: str, *, row_by_row: bool = False) -> Condition:
        lead = None if row_by_row or self.stream else self.lead
        parts = [*self.conditions, *(test for found in self.others if found is not lead for test in found.tests)]
        source = f"entries AS e INDEXED BY {self.walked}" if self.walked else "entries AS e"
        if self.stream:
            # CROSS JOIN keeps the planner from walking all rows and asking the index about each. Without other
            # conditions the index alone knows the answer.
            source = "search"
            if parts or columns == "e.cid":
                source += " CROSS JOIN entries AS e ON e.id = search.rowid"
            parts.insert(0, Condition("search MATCH ?", (self.stream,)))
        elif lead is not None:
            source = "entries AS e NOT INDEXED"
            parts.append(Condition(f"e.id IN ({lead.ids.sql})", lead.ids.values))
        if self.words is not None and not self.stream and self.words is not lead:
            if row_by_row or self.is_short:
                parts += self.words.tests
            else:
                word = "NOT IN" if self.only_unwanted else "IN"
                parts.append(Condition(f"e.id {word} ({self.words.ids.sql})", self.words.ids.values))
        if self._after is not None:
            parts += self._rows_after(self._after)
        where = f" WHERE {' AND '.join(part.sql for part in parts)}" if parts else ""
        return Condition(f"SELECT {columns} FROM {source}{where}", _values(parts))  # noqa: S608 – text is a parameter

    def _rows_after(self, entry: Entry) -> list[Condition]:
        id_ = "search.rowid" if self.stream else "e.id"
        if self.sort in ("newest", "oldest"):
            return [Condition(f"{id_} {'<' if self.sort == 'newest' else '>'} ?", (entry.id,))]
        if self.sort in ("size", "size-reversed"):
            sign, key, value = (
                "<" if self.sort == "size" else ">",
                "e.bytes",
                -1 if entry.bytes is None else entry.bytes,
            )
        else:
            sign, key, value = ">" if self.sort == "name" else "<", TITLE, _sorted_title(entry)
        return [
            Condition(f"{key} {sign}= ?", (value,)),
            Condition(f"({key} {sign} ? OR {id_} {sign} ?)", (value, entry.id)),
        ]


def _sorted_title(entry: Entry) -> str:
    """The value of `TITLE`."""
    beginning = (entry.excerpt or "").lstrip("\t\n\r ")
    message = None
    if entry.kind == "message" and entry.recipient is not None and entry.excerpt is not None:
        message = f"to {entry.recipient} · “{beginning}"
    return (entry.name or message or entry.note or beginning or entry.service_name or entry.cid)[:40]


def select(query: Query, *, searchable: bool, look_up: LookUp) -> Selection:
    """The selection that a query means. `look_up` gives the ids that a statement finds."""
    selection = Selection(query)
    terms = parse_filter(query.text).terms
    if query.of == "pins":
        selection.add("e.standing > 0")
    elif query.of == "records":
        selection.add("e.recorded = 1")
    for column, value in (("profile", query.profile), ("direction", query.direction), ("recipient", query.recipient)):
        if value is not None:
            selection.add(f"e.{column} = ?", value)
    if query.filed is not None:
        selection.add("e.recipient IS NOT NULL" if query.filed else "e.recipient IS NULL")
    _add_words(selection, terms, searchable, look_up)
    others: list[Term] = [term for term in terms if not isinstance(term, Word)]
    if query.kind is not None:
        others.append(KindIs(query.kind))
    if query.revoked is not None:
        others.append(Is("revoked", negated=not query.revoked))
    if query.pinned is not None:
        others.append(Is("pinned", negated=not query.pinned))
    by_index: dict[str, list[Condition]] = {}
    for term in others:
        condition = _condition(term, of_pins=query.of == "pins")
        index = _index_of(term) if query.of == "pins" and query.profile is not None else None
        if index is None:
            selection.conditions.append(condition)
        else:
            by_index.setdefault(index, []).append(condition)
    for index, tests in by_index.items():
        scope = Condition("e.profile = ?", (query.profile or "",))
        # SQLite seeks by the first condition on a column.
        every = [scope, *tests, Condition(ANY_STATE if index == "pins_by_state" else "e.standing > 0")]
        sql = f"SELECT e.id FROM entries AS e INDEXED BY {index} WHERE {' AND '.join(test.sql for test in every)}"  # noqa: S608 – no text of a user
        selection.others.append(Found(tests, Condition(sql, _values(every)), COUNTED))
    _choose_lead(selection, look_up)
    return selection


def _choose_lead(selection: Selection, look_up: LookUp) -> None:
    """Find out which index has the fewest rows."""
    fewest = COUNTED
    words = [] if selection.words is None or selection.only_unwanted else [selection.words]
    for found in (*words, *selection.others):
        most = min(fewest, found.counted)
        sql = f"SELECT count(*) FROM ({found.ids.sql} LIMIT {most:d})"  # noqa: S608 – no text of a user
        [number] = look_up(sql, found.ids.values)
        if number < most:
            fewest, selection.lead = number, found
    if selection.lead is None and words:
        selection.lead = selection.words
    selection.is_short = fewest < MANY
    if selection.lead is not None and selection.lead is not selection.words and selection.is_short:
        selection.stream = ""


def _index_in_order(query: Query) -> str:
    """The index that gives the rows in their order. SQLite would guess, and sometimes sort a million rows."""
    by_age = query.sort in ("newest", "oldest")
    if query.of == "pins" and query.profile is not None:
        return f"pins_by_{'age' if by_age else 'size' if query.sort.startswith('size') else 'title'}"
    if query.of == "records" and by_age:
        return "records_by_age" if query.recipient is None else "entries_by_recipient"
    return ""


def _add_words(selection: Selection, terms: tuple[Term, ...], searchable: bool, look_up: LookUp) -> None:
    """Narrow by each word: in the text, or at an end of the CID.

    Each word may be in another place of the row: “alice eight” finds a message to alice about eight o'clock.
    """
    tests: list[Condition] = []
    wanted: list[str] = []
    unwanted: list[str] = []
    by_cid: set[int] = set()
    for term in terms:
        if not isinstance(term, (Word, To)):
            continue
        text = folded(term.text)
        in_index = searchable and len(text) >= TRIGRAM
        if isinstance(term, To):
            if in_index and not term.negated:  # the recipient itself is compared in any case
                wanted.append(text)
            continue
        found: set[int] = set()
        ends: list[Condition] = []
        for ids, end in _ends_of_cids(term.text):
            ends.append(end)
            if searchable:
                found.update(look_up(f"{ids.sql} LIMIT {FEW + 1}", ids.values))
        if searchable and len(found) <= FEW:
            ends = [Condition(f"e.id IN ({', '.join(map(str, found))})")] if found else []
        either = " OR ".join([*(end.sql for end in ends), SEARCHED[selection.of_pins]])
        test = Condition(f"NOT ({either})" if term.negated else f"({either})", (*_values(ends), text))
        if not in_index or len(found) > FEW:
            selection.conditions.append(test)
            continue
        tests.append(test)
        if term.negated:
            unwanted.append(text)
            selection.conditions += [Condition(f"NOT {end.sql}") for end in ends]
        else:
            wanted.append(text)
            by_cid |= found
    if not wanted and not unwanted:
        return
    without = "".join(f" NOT {_phrase(text)}" for text in unwanted)
    asked = f"({' AND '.join(map(_phrase, wanted))}){without}" if wanted else " OR ".join(map(_phrase, unwanted))
    asked = asked if selection.of_pins else f"text : ({asked})"
    ids = "SELECT rowid FROM search WHERE search MATCH ?"
    values: tuple[str | int, ...] = (asked,)
    if by_cid:
        compared = " AND ".join(test.sql for test in tests)
        some = ", ".join(map(str, by_cid))
        ids += f" UNION SELECT e.id FROM entries AS e WHERE e.id IN ({some}) AND {compared}"  # noqa: S608 – numbers
        values += _values(tests)
    elif wanted and selection.sort in ("newest", "oldest"):
        selection.stream = asked
    selection.words = Found(tests, Condition(ids, values), MANY)
    selection.only_unwanted = not wanted


def _values(conditions: list[Condition]) -> tuple[str | int, ...]:
    return tuple(value for condition in conditions for value in condition.values)


def _ends_of_cids(word: str) -> list[tuple[Condition, Condition]]:
    """CIDs that begin or end with a word, with any capital letters: statements for their ids, and tests of a row."""
    length = len(word)
    if length < SHORTEST_BEGINNING or not (word.isascii() and word.isalnum()):
        return []
    found: list[tuple[Condition, Condition]] = []
    small = word.lower()
    if small[0] in "bfkqz":
        test = Condition(f"substr(e.cid, 1, {length}) = ? COLLATE NOCASE", (word,))
        key = small[:BEGINNING]
        ids = Condition("SELECT doc FROM beginning_terms WHERE term >= ? AND term < ?", (key, key + "\x7f"))
        if length > BEGINNING:
            sql = f"SELECT e.id FROM entries AS e WHERE e.id IN ({ids.sql}) AND {test.sql}"  # noqa: S608 – a number
            ids = Condition(sql, (*ids.values, *test.values))
        found.append((ids, test))
    for text in dict.fromkeys((word, small)) if length >= SHORTEST_ENDING else ():
        test = Condition(f"substr(e.cid, -{length}) = ?", (text,))
        key = ending(text)
        range_ = "e.ending >= ? AND e.ending < ?"
        sql = f"SELECT e.id FROM entries AS e INDEXED BY entries_by_ending WHERE {range_} AND {test.sql}"  # noqa: S608 – numbers
        found.append((Condition(sql, (key, key + "\x7f", text)), test))
    return found


def _phrase(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _index_of(term: Term) -> str | None:
    """The index that finds the pins of a term."""
    match term:
        case Size():
            return "pins_by_size"
        case Age():
            return "pins_by_age"
        case KindIs(negated=False) | On(negated=False) | Is("revoked" | "verified" | "mismatch", negated=False):
            return "pins_by_state"
        case _:
            return None


FLIPPED: dict[str, str] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _condition(term: Term, *, of_pins: bool) -> Condition:
    """The condition of a term that is no word. A row whose fact is unknown meets neither a term nor its opposite."""
    values: tuple[str | int, ...] = ()
    match term:
        case KindIs(kind):
            sql, values = ("e.is_folder = 1", ()) if kind == "dir" else ("e.kind = ?", (kind,))
            return Condition(f"{'NOT ' if term.negated else ''}{sql} AND e.recorded = 1", values)
        case Size(comparison, size):
            sign = FLIPPED[comparison] if term.negated else comparison
            return Condition(f"e.bytes {sign} ? AND e.bytes >= 0", (min(size, 2**62),))
        case Age(comparison, seconds):
            # Older is smaller. Ids begin with the time, and are in every index.
            moment = max(0, int((time.time() - seconds) * 1000))
            sign = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[FLIPPED[comparison] if term.negated else comparison]
            return Condition(f"e.id {sign} ? AND e.id & {UNDATED:d} = 0", (moment << ID_BITS,))
        case On(place):
            sql = ON[place]
        case Is("revoked"):
            sql = f"e.standing = {Standing.REVOKED:d}" if of_pins else REVOKED
        case Is("pinned"):
            sql = PINNED if of_pins else f"e.direction = 'sent' AND NOT {REVOKED} AND NOT {IS_GONE}"
        case Is("unverified"):
            sql = "e.verification IS NULL"
        case Is(state):
            sql, values = "e.verification IS ?", (state,)
        case To(text):
            sql = f"instr(folded(e.recipient), ?) {'=' if term.negated else '>'} 0 AND e.recorded = 1"
            return Condition(sql, (folded(text),))
        case Word():
            raise AssertionError
    return Condition(f"NOT ({sql})" if term.negated else sql, values)
