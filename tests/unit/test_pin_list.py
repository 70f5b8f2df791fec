"""Listing an account: no pin is lost or told twice while others come and go, and rows are read with care."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinui import Pin, ProviderError
from pinui.sdk.providers import pin_list
from pinui.sdk.providers.pin_list import PinPages, read_job, read_page

Change = Callable[[list[Pin]], None]


class Account:
    """A service that lists newest first; `limit` is the most it gives, `dates` whether it knows `pinEnd`."""

    def __init__(self, pins: list[Pin], *, limit: int = 1000, dates: bool = True) -> None:
        self.pins, self.limit, self.dates = pins, limit, dates

    def page(self, query: str) -> list[Pin]:
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        rows = sorted(self.pins, key=lambda pin: (-(pin.created or 0), pin.id or ""))
        if self.dates and "pinEnd" in asked:
            end = datetime.fromisoformat(asked["pinEnd"]).timestamp() * 1000
            rows = [pin for pin in rows if (pin.created or 0) < end + 0.5]
        start = int(asked["pageOffset"])
        return rows[start : start + min(self.limit, int(asked["pageLimit"]))]


def pin(number: int, created: int | None = None) -> Pin:
    return Pin(cid=f"Qm{number}", id=str(number), created=number if created is None else created)


def read_all(account: Account, *changes: Change) -> list[str]:
    pages, seen, todo = PinPages(), list[str](), list(changes)
    for _ in range(500):
        if pages.is_over:
            return seen
        seen += [found.id or "" for found in pages.take(account.page(pages.query()))]
        if todo:
            todo.pop(0)(account.pins)
    raise AssertionError("it never ends")


@pytest.mark.parametrize("dates", [True, False], ids=["by date", "by offset"])
@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 35])
def test_every_pin_is_listed_once(monkeypatch: pytest.MonkeyPatch, count: int, dates: bool) -> None:
    monkeypatch.setattr(pin_list, "PAGE", 10)
    monkeypatch.setattr(pin_list, "OVERLAP", 3)
    pins = [pin(number) for number in range(count)]
    assert read_all(Account(pins, dates=dates)) == [str(number) for number in reversed(range(count))]


def test_more_pins_of_one_moment_than_a_page_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pin_list, "PAGE", 10)
    pins = [pin(number, created=7) for number in range(34)] + [pin(99, created=3), pin(100, created=9)]
    assert sorted(read_all(Account(pins))) == sorted(one.id or "" for one in pins)


def test_a_service_with_smaller_pages_is_read_to_its_end() -> None:
    pins = [pin(number) for number in range(35)]
    assert len(set(read_all(Account(pins, limit=10)))) == 35


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=60, unique=True),
    st.lists(st.tuples(st.sets(st.integers(0, 60), max_size=6), st.integers(0, 4)), max_size=12),
    st.booleans(),
)
@settings(deadline=None, max_examples=300)
def test_a_pin_that_was_there_all_the_time_is_listed(
    numbers: list[int], changes: list[tuple[set[int], int]], dates: bool
) -> None:
    newest = iter(range(1000, 2000))

    def change(removed: set[int], added: int) -> Change:
        def apply(pins: list[Pin]) -> None:
            pins[:] = [one for one in pins if int(one.id or 0) not in removed] + [
                pin(next(newest)) for _ in range(added)
            ]

        return apply

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pin_list, "PAGE", 8)
        patch.setattr(pin_list, "OVERLAP", 2)
        account = Account([pin(number, created=number // 3) for number in numbers], dates=dates)
        seen = read_all(account, *(change(*one) for one in changes))
    stayed = {one.id for one in account.pins if int(one.id or 0) < 1000}
    assert stayed <= set(seen)
    if dates:
        assert len(seen) == len(set(seen))


def test_rows_are_read_with_care() -> None:
    row = {
        "id": "a1",
        "ipfs_pin_hash": "QmTest",
        "size": "30",
        "date_pinned": "2024-02-03T04:05:06.789Z",
        "metadata": {"name": "cat.png", "keyvalues": None},
    }
    moment = int(datetime(2024, 2, 3, 4, 5, 6, 789000, UTC).timestamp() * 1000)
    odd = [1, {}, {"ipfs_pin_hash": "two words"}, {"ipfs_pin_hash": "Qm\n"}, {"ipfs_pin_hash": 5}]
    assert read_page(200, json.dumps({"rows": [*odd, row]}).encode()) == [
        Pin(cid="QmTest", name="cat.png", size=30, created=moment, id="a1")
    ]
    for size in ("1e999", "-1", "true", '"1e9"', "null", "[]", str(2**80)):
        for date in (5, "yesterday", None, "9999-99-99", {}):
            text = json.dumps({"rows": [{**row, "size": "SIZE", "date_pinned": date}]})
            (found,) = read_page(200, text.replace('"SIZE"', size).encode())
            assert (found.size, found.created) == (None, None)
    for body in (b"", b"{}", b'{"rows":5}', b"[]"):
        with pytest.raises(ProviderError, match="not understood"):
            read_page(200, body)


@pytest.mark.parametrize(
    ("word", "status"),
    [("prechecking", "queued"), ("searching", "pinning"), ("retrieving", "pinning"), ("expired", "failed")],
)
def test_a_request_to_pin_by_cid_tells_how_far_it_is(word: str, status: str) -> None:
    body = json.dumps({"id": "j1", "ipfsHash": "QmTest", "status": word, "name": "x"}).encode()
    assert read_job(200, body, "QmTest") == Pin(cid="QmTest", name="x", status=status, id="j1")  # type: ignore[arg-type]
    with pytest.raises(ProviderError, match="not understood"):
        read_job(200, b"{}", "QmTest")
