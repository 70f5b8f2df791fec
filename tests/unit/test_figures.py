"""Sizes, times and CIDs as people read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinui.cli.bars import bar_line
from pinui.figures import age, duration, iso_time, short_cid, size, total_size
from pinui.workspace.transfers import Rate, Transfer


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (18_000, "18 kB"), (123_456, "123 kB"), (999_999, "1.0 MB"),
     (5_400_000_000, "5.4 GB"), (7e15, "7.0 PB")],
)  # fmt: skip
def test_sizes_have_a_unit_and_at_most_three_digits(number: float, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "1 s"), (59.4, "59 s"), (100, "2 min"), (3723, "62 min"), (7300, "2 h")]
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (1_000_000_000, "now"),
        (999_880_000, "2 min"),
        (900_000_000, "1 d"),
        (990_000_000, "2 h"),
        (2_000_000_000, "now"),
    ],
)
def test_ages_are_short_and_never_negative(milliseconds: int, text: str) -> None:
    assert age(milliseconds, now=1_000_000.0) == text


def test_a_made_up_time_is_shown_as_it_is() -> None:
    assert iso_time(0) == "1970-01-01T00:00:00Z"
    assert iso_time(10**30) == str(10**30)


def test_a_cid_is_cut_in_the_middle() -> None:
    assert short_cid("QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG") == "QmYwAP…PbdG"
    assert short_cid("bafy") == "bafy"


def test_a_rate_settles_and_starts_anew_after_a_retry() -> None:
    rate = Rate()
    for second in range(10):
        rate.add(second * 1000, float(second))
    assert rate.value == pytest.approx(1000)
    assert rate.remaining(9000, 12000) == pytest.approx(3.0)
    rate.add(0, 10.0)
    rate.add(500, 11.0)
    assert rate.value is not None
    assert 500 <= rate.value <= 1000
    assert rate.remaining(9000, None) is None


def test_bytes_that_fill_the_buffers_of_a_socket_at_the_beginning_are_no_rate() -> None:
    rate = Rate()
    for now, done in [(0.0, 0), (0.01, 3_000_000), (0.02, 6_000_000)]:
        rate.add(done, now)
    assert rate.value is None
    for now, done in [(0.7, 7_000_000), (1.0, 7_500_000), (1.6, 8_400_000)]:
        rate.add(done, now)
        assert rate.value == pytest.approx(1_500_000, rel=0.05)


@pytest.mark.parametrize("width", [20, 40, 79, 200])
def test_a_bar_fits_its_line_and_shows_no_control_characters(width: int) -> None:
    transfer = Transfer(1, "upload", "a\x1b[31m name that is rather long " * 3, "running", 512, 2048, 100.0, 15.4)
    transfer.path = Path("x")
    line = bar_line(transfer, width)
    assert len(line) <= width
    assert "\x1b" not in line
    if width >= 79:
        assert "25%" in line
        assert "15 s left" in line


@pytest.mark.parametrize(
    ("sizes", "text"),
    [([], "0 B in all"), ([5, 6], "11 B in all"), ([5, None], "5 B and more"), ([None, None], "size unknown")],
)
def test_unknown_sizes_are_told_in_a_sum(sizes: list[int | None], text: str) -> None:
    assert total_size(sizes, in_all=True) == text
