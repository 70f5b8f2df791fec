"""Turning a `Query` into SQL. Text is only ever a parameter."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
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
from pinui.workspace.history.schema import BEGINNING, ID_BITS, TITLE_LENGTH, title_key
from pinui.workspace.rows import UNDATED, Standing

if TYPE_CHECKING:
    from collections.abc import Callable

    from pinui.workspace.filters import Term
    from pinui.workspace.rows import Entry, Query

    LookUp = Callable[[str, tuple[str | int, ...]], list[int]]

__all__ = ["COLUMNS", "REVOCATION", "Condition", "Selection", "select"]

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
FEW = 200
"""CIDs that share a beginning or an end, and are looked up one by one; more of them are compared row by row."""
LAST = "\U0010ffff"
"""No letter comes after it."""
MANY = 20_000
"""Rows to find and sort at most: among more of them, walking all rows in order finds a page sooner."""
COUNTED = 200_000
"""Rows that an index counts at most, to find out how many it has."""
SEARCHED = ("name", "note", "excerpt", "service_name", "recipient")
CONTAINS = (
    "(e.{0} IS NOT NULL AND instr(CASE length(e.{0}) WHEN length(CAST(e.{0} AS BLOB)) THEN lower(e.{0})"
    " ELSE folded(e.{0}) END, ?) > 0)"
)
"""A test for a word in a column. Most text is ASCII, as many letters as bytes: SQLite itself can fold that, without a
call of Python for each row."""

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
        self.is_by_age = query.sort in ("newest", "oldest")
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
        self.besides: list[tuple[str, Condition]] = []
        """Words, each with a statement for the ids of the rows that match, but don't begin with it.

        In the order of names, the rows that match are often those that begin with the word, far from the first row.
        """

        self._by_age = _index_in_order(replace(query, sort="newest"))
        self._after: Entry | None = None

    def add(self, sql: str, *values: str | int) -> None:
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
        if self.words and self._is_merged and not row_by_row:
            id_, (sql, values) = "1", self._without(self.words)
        else:
            sql, values = self._select(id_, row_by_row=row_by_row)
        return Condition(f"{sql} ORDER BY {self._order(id_)} LIMIT {limit:d}", values)

    def ids_beside(self, word: str, others: list[int], limit: int) -> Condition:
        """SQL for the ids in order, among rows whose titles begin with a word and these others."""
        end = f"ORDER BY {self._order('e.id')} LIMIT {limit:d}"
        listed = Condition(f"e.id IN ({', '.join(map(str, others))})")
        parts = [self._tested("entries AS e NOT INDEXED", listed)]
        if word:
            parts.append(self._tested(f"entries AS e INDEXED BY {self.walked}", _begins(word)))
        both = " UNION ".join(f"SELECT * FROM ({part.sql} {end})" for part in parts)  # noqa: S608 – text is a parameter
        return Condition(f"SELECT e.id FROM ({both}) AS e {end}", _values(parts))  # noqa: S608 – text is a parameter

    @property
    def is_quick(self) -> bool:
        """Whether `ids` finds a page soon: few rows match, or they come in order, and it ends when it has enough."""
        finds_all = self.lead is not None or self.words is not None
        return self.is_short or not finds_all or self._is_merged or bool(self.stream and not self.others)

    @property
    def left_over(self) -> Condition | None:
        """A statement for the ids of all matching rows, if the filter only tells which ones are unwanted."""
        if self.words is None or not self.only_unwanted or self.is_by_age:
            return None
        sql, values = self._without(self.words)
        return Condition(f"{sql} ORDER BY 1", values)

    @property
    def _is_merged(self) -> bool:
        return self.only_unwanted and self.is_by_age and self.lead is None

    def _tested(self, source: str, first: Condition) -> Condition:
        """SQL for rows that meet a condition, each tested by itself for all the others."""
        words = [] if self.words is None else self.words.tests
        parts = [first, *self.conditions, *self._tests_of_others(), *words, *self._rows_after("e.id")]
        return Condition(f"SELECT e.id, e.title, e.bytes FROM {source}{_where(parts)}", _values(parts))  # noqa: S608 – as above

    def _without(self, unwanted: Found) -> Condition:
        """SQL for the ids of the rows that an index doesn't find.

        Both parts come in the order of ids, so SQLite compares them as they come and collects neither.
        """
        parts = [*self.conditions, *self._tests_of_others(), *(self._rows_after("e.id") if self.is_by_age else ())]
        found = [unwanted.ids, *(self._rows_after("rowid") if self.is_by_age else ())]
        source = f"entries AS e INDEXED BY {self._by_age}" if self._by_age else "entries AS e"
        sql = f"SELECT e.id FROM {source}{_where(parts)} EXCEPT {' AND '.join(part.sql for part in found)}"  # noqa: S608 – as above
        return Condition(sql, _values([*parts, *found]))

    def _tests_of_others(self, lead: Found | None = None) -> list[Condition]:
        return [test for found in self.others if found is not lead for test in found.tests]

    def _order(self, id_: str) -> str:
        direction = "ASC" if self.sort in ("oldest", "name", "size-reversed") else "DESC"
        key = "" if self.is_by_age else f"{'e.bytes' if self.sort.startswith('size') else 'e.title'} {direction}, "
        return f"{key}{id_} {direction}"

    def _select(self, columns: str, *, row_by_row: bool = False) -> Condition:
        lead = None if row_by_row or self.stream else self.lead
        parts = [*self.conditions, *self._tests_of_others(lead)]
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
        parts += self._rows_after("search.rowid" if self.stream else "e.id")
        return Condition(f"SELECT {columns} FROM {source}{_where(parts)}", _values(parts))  # noqa: S608 – as above

    def _rows_after(self, id_: str) -> list[Condition]:
        entry = self._after
        if entry is None:
            return []
        sign = ">" if self.sort in ("oldest", "name", "size-reversed") else "<"
        if self.is_by_age:
            return [Condition(f"{id_} {sign} ?", (entry.id,))]
        key: str = "e.title"
        value: str | int = title_key(
            entry.kind, entry.name, entry.recipient, entry.note, entry.excerpt, entry.service_name, entry.cid
        )
        if self.sort.startswith("size"):
            key, value = "e.bytes", -1 if entry.bytes is None else entry.bytes
        return [
            Condition(f"{key} {sign}= ?", (value,)),
            Condition(f"({key} {sign} ? OR {id_} {sign} ?)", (value, entry.id)),
        ]


def _begins(word: str) -> Condition:
    """A condition on titles that begin with a word."""
    beginning = word[:TITLE_LENGTH]
    return Condition("e.title >= ? AND e.title < ?", (beginning, beginning + LAST))


def _where(parts: list[Condition]) -> str:
    return f" WHERE {' AND '.join(part.sql for part in parts)}" if parts else ""


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
        # A pin has the words of all its records.
        columns = (*SEARCHED, "earlier") if selection.of_pins else SEARCHED
        places = [*ends, *(Condition(CONTAINS.format(column), (text,)) for column in columns)]
        either = " OR ".join(place.sql for place in places)
        test = Condition(f"NOT ({either})" if term.negated else f"({either})", _values(places))
        if term.negated and in_index and not text.startswith("to "):  # as titles of messages begin
            # Said twice: the walk of the titles' index passes them without a look at the rows.
            begins = _begins(text)
            test = Condition(f"NOT ({begins.sql}) AND {test.sql}", (*begins.values, *test.values))
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

    def found_by(asked: str) -> Condition:
        ids = "SELECT rowid FROM search WHERE search MATCH ?"
        if not by_cid:
            return Condition(ids, (asked,))
        some = ", ".join(map(str, by_cid))
        ids += f" UNION SELECT e.id FROM entries AS e{_where([Condition(f'e.id IN ({some})'), *tests])}"  # noqa: S608 – numbers
        return Condition(ids, (asked, *_values(tests)))

    selection.words = Found(tests, found_by(asked), MANY)
    selection.only_unwanted = not wanted
    if selection.walked == "pins_by_title":
        selection.besides = [(text, found_by(f"({asked}) NOT (text : ^{_phrase(text)})")) for text in wanted]
    elif wanted and not by_cid and selection.is_by_age:
        selection.stream = asked


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
