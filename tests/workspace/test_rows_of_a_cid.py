"""Everything about one CID is found by its ending, however many pins a profile has."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from pinui.ipfs.cid import DAG_PB, SHA2_256, Cid
from pinui.sdk.models import Pin
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.account import begin_run, finish_run, merge_pins, name_pin

PINS = 3000
FEW = 20
"""Thousands of steps of SQLite: fewer than a look at every pin takes."""


def cid_of(number: int) -> str:
    return str(Cid(0, DAG_PB, SHA2_256, hashlib.sha256(str(number).encode()).digest()))


@pytest.mark.parametrize(
    "work",
    [
        lambda history, cid: history.mark_revoked(cid, "local", 9_000),
        lambda history, cid: history.rows_sharing([cid], "local"),
        lambda history, cid: history.set_verification(cid, "local", "verified"),
        lambda history, cid: history.annotate(cid, "local", "a note"),
        lambda history, cid: name_pin(history, "local", cid, "a name"),
    ],
    ids=["revoke", "sharing", "verify", "note", "name"],
)
def test_one_pin_of_many_is_found_without_a_look_at_the_others(
    tmp_path: Path, work: Callable[[HistoryFile, str], object]
) -> None:
    history = HistoryFile(tmp_path / "history.db")
    run = begin_run(history, "local", "account", 1, full=True)
    merge_pins(history, run, [Pin(cid=cid_of(n), created=PINS - n, id=str(n)) for n in range(PINS)], 5)
    finish_run(history, run, 6, pins=PINS)
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    history.connection.set_progress_handler(count, 1000)
    work(history, cid_of(PINS // 2))
    history.connection.set_progress_handler(None, 0)
    history.close()
    assert steps < FEW
