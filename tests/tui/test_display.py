"""Facts as a person reads them."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import rich.cells
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from pinui.figures import age, ago, day, duration, moment, plural, short_cid, size, when
from pinui.tui import json_text
from pinui.tui.display import first_lines, fit, graphemes, right, short_path, wrapped
from pinui.tui.json_text import beginning, in_short_lines, json_spans, pretty, safe_for_editor
from pinui.tui.widgets.line_view import segments
from pinui.workspace.text import clean_line

NOW = datetime(2026, 11, 14, 22, 43, tzinfo=UTC)


def before(**time: float) -> int:
    return int((NOW - timedelta(**time)).timestamp() * 1000)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0 B"),
        (96, "96 B"),
        (999, "999 B"),
        (1_240, "1.2 kB"),
        (18_000, "18 kB"),
        (999_600, "1.0 MB"),
        (2e18, "2000 PB"),
    ],
)
def test_sizes_have_two_or_three_digits(number: float, words: str) -> None:
    assert size(number) == words


@pytest.mark.parametrize(
    ("time", "short", "long"),
    [
        ({"seconds": 5}, "now", "just now"),
        ({"minutes": 2}, "2 min", "2 min ago"),
        ({"hours": 3}, "3 h", "3 h ago"),
        ({"days": 1}, "1 d", "1 d ago"),
        ({"days": 33}, "12 Oct", "on 12 Oct"),
        ({"days": 800}, "2024", "on 5 Sep 2024"),
        ({"seconds": -60}, "now", "just now"),
    ],
)
def test_ages_are_short(time: dict[str, float], short: str, long: str) -> None:
    assert age(before(**time), NOW.timestamp()) == short
    assert ago(before(**time), NOW.timestamp()) == long


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize(
    "then",
    [253_402_300_799_999, -62_135_596_800_000, 10**18, -(10**18), 10**400, -(10**400), 0],
    ids=lambda number: f"{Decimal(number):.1e}",
)
def test_any_time_has_a_day(then: int, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    for words in (age, ago, when, moment, day):
        assert words(then, NOW.timestamp())
    assert day(10**18, NOW.timestamp()).endswith("Dec 9999")


def test_moments_name_the_day() -> None:
    assert moment(before(hours=1), NOW.timestamp()) == "today 21:43"
    assert moment(before(days=47), NOW.timestamp()) == "28 Sep 22:43"
    assert when(before(hours=1), NOW.timestamp()) == "1 h ago · today 21:43"
    assert when(before(days=47), NOW.timestamp()) == "28 Sep 22:43", "the day once"


def test_durations_counts_and_cids() -> None:
    assert [duration(value) for value in (0.2, 6, 120, 7200)] == ["1 s", "6 s", "2 min", "2 h"]
    assert [plural(1, "pin"), plural(1204, "pin"), plural(2, "copy", "copies")] == ["1 pin", "1,204 pins", "2 copies"]
    assert short_cid("QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG") == "QmYwAP…PbdG"
    assert short_cid("bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku") == "bafkrei…vyku"
    assert short_path("/srv/eva/pictures", "/srv/eva", 40) == "~/pictures"
    assert short_path("/srv/evangeline", "/srv/eva", 40) == "/srv/evangeline"
    assert short_path("/a/very/long/path", "/srv/eva", 8) == "…ng/path"
    assert short_path("/srv/漢字漢字漢字", "/srv/eva", 8) == "…字漢字"


@given(st.text(), st.integers(1, 40))
def test_fitted_text_has_exactly_that_many_cells(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) == width
    assert cell_len(right(text, width)) == width


@given(st.text(), st.integers(2, 40))
def test_wrapped_lines_are_never_too_wide_and_lose_only_blanks(text: str, width: int) -> None:
    lines = list(wrapped(text, width))
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join("".join(wrapped(text, 10_000_000)).split())


FAMILY, DOCTOR, THUMB, HEART = "👩\u200d👩\u200d👧\u200d👦", "👩🏽\u200d⚕\ufe0f", "👍🏽", "❤\ufe0f"
NORWAY, SCOTLAND = "🇳🇴", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


@pytest.mark.parametrize("emoji", [FAMILY, DOCTOR, THUMB, HEART, NORWAY, SCOTLAND])
def test_emoji_that_are_made_of_several_characters_are_never_cut_in_two(emoji: str) -> None:
    assert graphemes(emoji + emoji) == [(0, len(emoji), 2), (len(emoji), 2 * len(emoji), 2)]
    assert fit(f"ab{emoji}cd", 6) == f"ab{emoji}cd"
    assert fit(f"ab{emoji}cd", 5) == f"ab{emoji}…"
    assert fit(f"ab{emoji}cd", 4) == "ab… "
    assert right(f"{emoji}1", 5) == f"  {emoji}1"
    assert list(wrapped(emoji * 3, 5)) == [emoji * 2, emoji]
    assert short_path(f"/srv/{emoji}{emoji}x", "/srv/eva", 6) == f"…{emoji}{emoji}x"
    assert short_path(f"/srv/{emoji}{emoji}x", "/srv/eva", 5) == f"…{emoji}x"


@given(st.lists(st.sampled_from([FAMILY, DOCTOR, THUMB, HEART, NORWAY, SCOTLAND, "a", "漢"])), st.integers(0, 9))
def test_a_pane_s_edge_cuts_no_emoji_in_two(parts: list[str], x: int) -> None:
    text = "".join(parts)
    strip = Strip(segments([(text, Style.null())], (x, x + 5))).crop_extend(x, x + 5, None)
    assert strip.cell_length == 5
    rest = strip.text.replace(" ", "")
    assert rest in text
    while rest:
        part = next(part for part in parts if rest.startswith(part))
        rest = rest.removeprefix(part)


def test_of_a_long_text_the_first_lines_say_that_there_is_more() -> None:
    assert first_lines("one two three four", 9, 3) == ["one two", "three", "four"]
    assert first_lines("one two three four five six", 9, 3) == ["one two", "three", "four fiv…"]


def test_text_is_broken_at_blanks() -> None:
    assert list(wrapped("one two  three\n\n  four", 8)) == ["one two", "three", "", "  four"]
    assert list(wrapped("unbreakable word", 6)) == ["unbrea", "kable", "word"]
    assert list(wrapped("漢字 漢字漢", 6)) == ["漢字", "漢字漢"]
    assert list(wrapped("a    ", 3)) == ["a"]


@pytest.mark.parametrize("text", ["漢", "漢字 ", "❤\ufe0f"])
def test_breaking_a_text_of_ten_times_the_length_is_ten_times_the_work(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = 0
    measure = rich.cells.get_character_cell_size

    def counted(character: str, version: str = "auto") -> int:
        nonlocal measured
        measured += 1
        return measure(character, version)

    monkeypatch.setattr(rich.cells, "get_character_cell_size", counted)

    def work(length: int) -> int:
        nonlocal measured
        measured = 0
        assert len(list(wrapped(text * length, 60))) > length // 60
        return measured

    assert work(6_000) <= 20 * work(600)


@given(st.text(), st.integers(2, 40))
def test_a_path_is_never_wider_than_its_room_and_keeps_its_end(path: str, width: int) -> None:
    shown = short_path(path, "/srv/eva", width)
    assert cell_len(shown) <= width
    assert clean_line(path).endswith(shown.lstrip("…~"))


@given(st.text(st.characters(exclude_characters="\n\r")))
def test_colouring_a_line_of_json_loses_nothing(line: str) -> None:
    assert "".join(text for text, _ in json_spans(line)) == line


def test_json_is_coloured_by_meaning() -> None:
    assert json_spans('  "total": -1.5e3,') == [
        ("  ", "muted"), ('"total"', "primary"), (": ", "muted"), ("-1.5e3", "warning"), (",", "muted"),
    ]  # fmt: skip
    assert ('"Nordlys"', "string") in json_spans('"name": "Nordlys", "paid": true')
    assert ("true", "warning") in json_spans('"name": "Nordlys", "paid": true')


def test_invisible_characters_become_escapes() -> None:
    assert safe_for_editor('"a\u202e\x9b\u200b"') == '"a\\u202e\\u009b\\u200b"'


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.integers(1, 200))
def test_the_beginning_of_a_document_is_that_of_the_whole(value: object, most: int) -> None:
    assert beginning(value, most) == pretty(value)[:most]


def test_no_more_of_a_document_is_put_into_words_than_is_asked_for() -> None:
    value = [*range(100), object()]  # which JSON has no words for
    assert beginning(value, 20) == "[\n  0,\n  1,\n  2,\n  3"


@given(JSON)
def test_long_lines_become_short_ones_that_mean_the_same(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "LONG_LINE", -1)
        assert in_short_lines(text) == pretty(value)


def test_what_is_no_json_keeps_its_long_lines() -> None:
    assert in_short_lines('{"a": 1} // ' + "x" * 3000) == '{"a": 1} // ' + "x" * 3000
    assert in_short_lines("[" * 3000) == "[" * 3000
    assert in_short_lines("[1e5, 1.0]" + " " * 3000) == "[\n  1e5,\n  1.0\n]", "numbers stay as they are written"
