"""The account's pins in the history's file: the runs that read them, and the changes of each page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from pinui.ipfs.cid import canonical
from pinui.ipfs.errors import MalformedContent
from pinui.workspace.history.pinned import (
    BY_ENDING,
    OF_CID,
    both_versions,
    drop_revocations,
    of_cid,
    pins_of,
    set_pinned,
)
from pinui.workspace.history.schema import explained, writing
from pinui.workspace.history.store import NewIds, storable
from pinui.workspace.rows import UNDATED, AccountState, Entry, Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pinui.sdk.models import Pin
    from pinui.workspace.history.pinned import PinRow
    from pinui.workspace.history.store import HistoryFile

__all__ = [
    "Run",
    "account_state",
    "add_pin",
    "begin_run",
    "drop_vanished",
    "finish_run",
    "forget_account",
    "merge_pins",
    "name_pin",
]

SETTLING = 60_000
"""Milliseconds in which a service may still list a pin that was revoked."""
FULL_EVERY = 24 * 3600 * 1000
"""Milliseconds after which everything is read again: vanished pins are found in no other way."""
PIECE = 5000
"""Rows to check in one transaction after a run."""
KNOWN = f"({Standing.BOTH:d}, {Standing.ACCOUNT:d}, {Standing.GONE:d})"


@dataclass(frozen=True, slots=True)
class Run:
    """One reading of an account, newest pins first."""

    profile: str
    number: int
    is_full: bool
    """Whether it reads everything; else it ends at `newest`."""
    position: str | None
    """The place to continue an interrupted run: the service's handle for its list."""
    newest: int | None
    """The moment of the newest pin that the run before has read."""


def begin_run(history: HistoryFile, profile: str, identity: str, now: int, *, full: bool) -> Run:
    """Begin to read an account, or go on where an interrupted run ended. Another account starts with nothing known."""
    execute = history.connection.execute
    with explained(history.path), writing(history.connection):
        known = execute(
            "SELECT identity, run, is_full, position, newest, checked_at FROM accounts WHERE profile = ?", (profile,)
        ).fetchone()
        if known is not None and known[0] != identity:
            _forget(history, profile)
            known = None
        if known is None:
            execute("INSERT INTO accounts (profile, identity) VALUES (?, ?)", (profile, identity))
            known = (identity, 0, 1, None, None, None)
        _, number, was_full, position, newest, checked_at = known
        if position is not None and was_full >= full:
            return Run(profile, number, bool(was_full), str(position), newest)
        is_full = full or newest is None or checked_at is None or now - checked_at > FULL_EVERY
        number += is_full
        execute(
            "UPDATE accounts SET run = ?, is_full = ?, position = NULL, newest_in_run = NULL, begun_at = ?"
            " WHERE profile = ?",
            (number, is_full, now, profile),
        )
    return Run(profile, number, is_full, None, newest)


def merge_pins(history: HistoryFile, run: Run, pins: Sequence[Pin], asked_at: int, position: str | None = None) -> None:
    """Write a page of the account, and the place where an interrupted run goes on.

    `asked_at` is the time of the request: pins revoked after it stay revoked.
    """
    with explained(history.path), writing(history.connection):
        _merge(history, run.profile, run.number, pins, asked_at)
        _note_position(history, run, pins, position)


def add_pin(history: HistoryFile, profile: str, pin: Pin, now: int) -> None:
    """Write a pin that the service has just made."""
    with explained(history.path), writing(history.connection):
        set_pinned(history.connection, _canonical(pin.cid), profile)
        known = history.connection.execute("SELECT run FROM accounts WHERE profile = ?", (profile,)).fetchone()
        _merge(history, profile, 0 if known is None else known[0], [pin], now)


def name_pin(history: HistoryFile, profile: str, cid: str, name: str) -> None:
    """Note a pin's name at the service."""
    with explained(history.path), writing(history.connection):
        history.connection.execute(
            f"UPDATE {BY_ENDING} SET service_name = ? WHERE {OF_CID} AND profile = ? AND standing > 0",  # noqa: S608
            (storable(name) or None, *of_cid(_canonical(cid)), profile),
        )


def _merge(history: HistoryFile, profile: str, number: int, pins: Sequence[Pin], asked_at: int) -> None:
    found: dict[str, Pin] = {}
    spelled: set[str] = set()
    for pin in pins:
        cid = _canonical(pin.cid)
        if cid not in spelled:  # content that a service lists twice is one pin
            spelled.update(both_versions(cid))
            found[cid] = pin
    if history.known_among("cid", "revocations", spelled):
        _leave_out_revoked(history, profile, found, asked_at)
    known = pins_of(history.connection, profile, spelled)
    same: list[tuple[int, int]] = []
    changed: list[tuple[int, int, str | None, int]] = []
    replaced: list[tuple[int]] = []
    fresh: list[tuple[int, Entry, str | None]] = []
    ids = NewIds(history, (pin.created or asked_at for cid, pin in found.items() if cid not in known))
    for cid, pin in found.items():
        row, name = known.get(cid), storable(pin.name)
        if row is None or _tells_more(pin, row):
            moment, size = asked_at if pin.created is None else pin.created, min(pin.size or 0, 2**62)
            entry = Entry(0, cid, moment, size, "file", "sent", profile, service_name=name, recorded=False)
            entry = entry if pin.size is not None else replace(entry, bytes=None)
            if row is not None:
                replaced.append((row[0],))
                entry = replace(entry, name=row[6], note=row[7], verification=row[9])
            fresh.append((ids.take(moment, dated=pin.created is not None), entry, None))
            continue
        id_, standing, before, recorded = row[0], row[2], row[4], row[5]
        now = Standing.BOTH if recorded else Standing.ACCOUNT
        if (standing, before) == (now, name):
            same.append((number, id_))
        else:
            changed.append((now, number, name, id_))
    execute = history.connection.executemany
    execute("DELETE FROM entries WHERE id = ?", replaced)
    execute("UPDATE entries SET run = ? WHERE id = ?", same)
    execute("UPDATE entries SET standing = ?, run = ?, service_name = ? WHERE id = ?", changed)
    history.insert_new(fresh, number)


def finish_run(history: HistoryFile, run: Run, now: int, *, pins: int | None) -> None:
    """Note the end of a run; `pins` is the service's own count."""
    state = account_state(history, run.profile)
    with explained(history.path), writing(history.connection):
        history.connection.execute(
            "UPDATE accounts SET position = NULL, newest = coalesce(max(newest, newest_in_run), newest_in_run, newest),"
            " newest_in_run = NULL, mirrored_at = ? WHERE profile = ?",
            (now, run.profile),
        )
        if run.is_full:
            # A service counts content twice that it lists under two ids: later runs expect that difference.
            uncounted = 0 if pins is None else pins - state.pins
            history.connection.execute(
                "UPDATE accounts SET checked_at = ?, uncounted = ? WHERE profile = ?", (now, uncounted, run.profile)
            )


def forget_account(history: HistoryFile, profile: str) -> None:
    """Forget everything that was read of an account; the records of the history stay."""
    with explained(history.path), writing(history.connection):
        _forget(history, profile)


def account_state(history: HistoryFile, profile: str) -> AccountState:
    """The known part of an account."""
    with explained(history.path):
        execute = history.connection.execute
        totals = dict[int, tuple[int, int, int]]()
        for standing, *numbers in execute(
            "SELECT standing, pins, bytes, unsized FROM totals WHERE profile = ?", (profile,)
        ).fetchall():
            totals[standing] = (numbers[0], numbers[1], numbers[2])
        account = execute(
            "SELECT mirrored_at, checked_at, position, uncounted FROM accounts WHERE profile = ?", (profile,)
        ).fetchone()
    both, elsewhere, here, gone, revoked = (
        totals.get(standing, (0, 0, 0))
        for standing in (Standing.BOTH, Standing.ACCOUNT, Standing.HERE, Standing.GONE, Standing.REVOKED)
    )
    mirrored_at, checked_at, position, uncounted = account or (None, None, None, 0)
    return AccountState(
        pins=both[0] + elsewhere[0],
        size=both[1] + elsewhere[1],
        unsized=both[2] + elsewhere[2],
        elsewhere=elsewhere[0],
        here=here[0],
        gone=gone[0],
        revoked=revoked[0],
        uncounted=uncounted,
        mirrored_at=mirrored_at,
        checked_at=checked_at,
        is_unfinished=position is not None,
    )


def _tells_more(pin: Pin, row: PinRow) -> bool:
    """Whether a service now tells the size or the date of a pin that is known without it."""
    id_, _, _, _, _, recorded, _, _, size, _ = row
    return not recorded and ((size < 0 and pin.size is not None) or bool(id_ & UNDATED and pin.created is not None))


def _canonical(cid: str) -> str:
    try:
        return canonical(cid)
    except MalformedContent:
        return storable(cid) or ""  # a service's own affair: it is listed as it is


def _leave_out_revoked(history: HistoryFile, profile: str, found: dict[str, Pin], asked_at: int) -> None:
    """Leave out pins that were revoked here after the request for the page, unless they were pinned again."""
    for cid, pin in list(found.items()):
        revoked_at: int | None = history.connection.execute(
            "SELECT max(revoked_at) FROM revocations WHERE cid IN (?, ?) AND profile = ?",
            (*both_versions(cid), profile),
        ).fetchone()[0]
        if revoked_at is None:
            continue
        pinned_later = pin.created is not None and pin.created > revoked_at
        if asked_at <= revoked_at or (asked_at - revoked_at < SETTLING and not pinned_later):
            del found[cid]
        else:
            set_pinned(history.connection, cid, profile)


def _note_position(history: HistoryFile, run: Run, pins: Sequence[Pin], position: str | None) -> None:
    """Note the place to continue after a crash; and the newest date, if every pin has one and the newest come first."""
    moments = [pin.created for pin in pins if pin.created is not None]
    in_order = len(moments) == len(pins) and all(one >= two for one, two in pairwise(moments))
    history.connection.execute(
        "UPDATE accounts SET position = ?, newest_in_run = coalesce(max(coalesce(newest_in_run, 0), ?), newest_in_run)"
        " WHERE profile = ?",
        (position, None if not moments else moments[0] if in_order else 0, run.profile),
    )


def drop_vanished(history: HistoryFile, run: Run, after: int) -> int | None:
    """Look at some rows after a full run: pins that it has not seen are not on the account.

    Returns the place to continue.
    """
    with explained(history.path):
        rows = history.connection.execute(
            "SELECT id, run, standing, recorded OR name IS NOT NULL OR note IS NOT NULL FROM entries"
            " INDEXED BY pins_by_age WHERE profile = ? AND standing > 0 AND id > ? ORDER BY id LIMIT ?",
            (run.profile, after, PIECE),
        ).fetchall()
        found = (Standing.HERE, Standing.BOTH, Standing.ACCOUNT)
        gone = [row for row in rows if row[2] in found and row[1] < run.number]
        if gone:  # unless another process has seen them meanwhile
            with writing(history.connection):
                change = history.connection.executemany
                ids = [(id_, run.number) for id_, _, _, is_kept in gone if is_kept]
                change("UPDATE entries SET standing = 5, run = 0, service_name = NULL WHERE id = ? AND run < ?", ids)
                ids = [(id_, run.number) for id_, _, _, is_kept in gone if not is_kept]
                change("DELETE FROM entries WHERE id = ? AND run < ?", ids)
    return rows[-1][0] if len(rows) == PIECE else None


def _forget(history: HistoryFile, profile: str) -> None:
    execute = history.connection.execute
    execute(
        "DELETE FROM entries WHERE profile = ? AND standing > 0 AND recorded = 0"
        " AND name IS NULL AND note IS NULL",  # words of the user's own stay
        (profile,),
    )
    drop_revocations(history.connection)
    execute(
        f"UPDATE entries SET standing = 1, run = 0, service_name = NULL WHERE profile = ? AND standing IN {KNOWN}",  # noqa: S608
        (profile,),
    )
    execute("DELETE FROM accounts WHERE profile = ?", (profile,))
