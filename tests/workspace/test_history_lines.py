"""The history as JSON lines: out, in, and twice in."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinui.workspace import HistoryError, Query
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.lines import BadLine, entry_line, export_lines, import_lines, parse_line
from tests.workspace.rows import START, cid, exported, record, row, write


def filled(path: Path) -> HistoryFile:
    history = HistoryFile(path)
    history.add(row(1, name="greeting", excerpt='{"hello":"world"}'), '{"hello":"world"}')
    history.add(row(2, kind="file", name="cats", verification="verified", is_folder=True), None)
    message = '{"recipientId":"alice","payload":"hi\\nyou","timestamp":5}'
    history.add(row(3, kind="message", recipient="alice", excerpt="hi\nyou"), message)
    history.add(row(3, kind="message", recipient="alice", excerpt="hi\nyou"), message)
    history.add(row(4, kind="message", direction="received", note="?", excerpt="yo", profile="work"), "null")
    history.mark_revoked(cid(2), "local", START + 10)
    return history


def test_an_export_imported_elsewhere_is_the_same_history_and_twice_changes_nothing(
    tmp_path: Path,
) -> None:
    history = filled(tmp_path / "a.db")
    assert export_lines(history, tmp_path / "a.jsonl") == 5
    copy = HistoryFile(tmp_path / "b.db")
    report = import_lines(copy, tmp_path / "a.jsonl", profile="local")
    assert (report.added, report.unchanged, report.bad) == (5, 0, [])
    assert copy.page(Query(text="hello")) == history.page(Query(text="hello"))
    for target in (copy, history):
        again = import_lines(target, tmp_path / "a.jsonl", profile="local")
        assert (again.added, again.unchanged, again.bad) == (0, 5, [])
    export_lines(copy, tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    history.close()
    copy.close()


def test_an_exported_line_has_the_contracts_names(tmp_path: Path) -> None:
    history = filled(tmp_path / "a.db")
    export_lines(history, tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    first, second, third = lines[:3]
    assert {key: first[key] for key in ("cid", "timestamp", "data", "size")} == {
        "cid": cid(1),
        "timestamp": START + 1,
        "data": {"hello": "world"},
        "size": 7,
    }
    assert "data" not in second
    assert second["revokedAt"] == START + 10
    assert (second["name"], second["folder"]) == ("cats", True)
    assert not any("folder" in line for line in lines if line is not second)
    assert third["recipientId"] == "alice"
    assert third["data"]["payload"] == "hi\nyou"
    history.close()


def test_bad_lines_are_reported_with_their_number_and_the_rest_is_imported(tmp_path: Path) -> None:
    lines = write(
        tmp_path / "in.jsonl",
        record(1),
        b"{oops",
        b"",
        b"\xff\xfe",
        [1, 2],
        record(2, cid="QmNope"),
        record(2, timestamp="today"),
        record(2, timestamp=-1),
        record(2, timestamp=2**60),
        record(2, size=1.5),
        record(2, size=True),
        record(2, kind="song"),
        record(2, name=7),
        record(2, data={"big": 2**60}),
        b'{"cid":"x","data":NaN}',
        b"[" * 100_000,
        record(3, data={"a": 1}),
    )
    history = HistoryFile(tmp_path / "a.db")
    report = import_lines(history, lines, profile="local")
    assert (report.added, report.unchanged) == (2, 0)
    assert [number for number, _ in report.bad] == [2, *range(4, 17)]
    reasons = dict(report.bad)
    assert "line 1, column 2" in reasons[2]
    assert "cid" in reasons[6]
    assert "timestamp" in reasons[7]
    assert "$.big" in reasons[14]
    history.close()


def test_a_line_that_the_history_cannot_hold_leaves_out_no_other(tmp_path: Path) -> None:
    last = str(((START + 2) << 20) + (1 << 19) - 1)  # the last id that its millisecond has
    lines = write(
        tmp_path / "in.jsonl",
        record(1),
        record(2, profile="\ud800"),
        record(2, id=last, name="\ud800"),
        record(3, timestamp=START + 2),
        b"{oops",
        record(4),
    )
    history = HistoryFile(tmp_path / "a.db")
    report = import_lines(history, lines, profile="local")
    assert (report.added, report.unchanged) == (3, 0)
    reasons = dict(report.bad)
    assert list(reasons) == [2, 4, 5]
    assert "profile" in reasons[2]
    assert reasons[4].startswith("the history holds no more rows with the time ")
    again = import_lines(history, lines, profile="local")
    assert (again.added, again.unchanged, again.bad) == (0, 3, report.bad)
    history.close()


def test_a_bare_record_of_the_sdk_is_enough(tmp_path: Path) -> None:
    history = HistoryFile(tmp_path / "a.db")
    report = import_lines(history, write(tmp_path / "in.jsonl", record(1, data=[1]), record(2)), profile="work")
    assert report.added == 2
    newest, oldest = history.page(Query())
    assert (newest.kind, newest.direction, newest.profile) == ("file", "sent", "work")
    assert (oldest.kind, oldest.excerpt) == ("json", "[1]")
    again = import_lines(history, tmp_path / "in.jsonl", profile="work")
    assert (again.added, again.unchanged) == (0, 2)
    history.close()


def test_rows_of_two_machines_with_the_same_time_are_both_kept_and_only_once(tmp_path: Path) -> None:
    one, other = HistoryFile(tmp_path / "one.db"), HistoryFile(tmp_path / "other.db")
    one.add(row(1), None)
    other.add(row(2, timestamp=START + 1), None)
    export_lines(other, tmp_path / "other.jsonl")
    assert (import_lines(one, tmp_path / "other.jsonl", profile="local")).added == 1
    assert (import_lines(one, tmp_path / "other.jsonl", profile="local")).added == 0
    assert one.count(Query()) == 2
    one.close()
    other.close()


def test_a_missing_file_and_an_unwritable_place_are_sentences_and_leave_nothing(tmp_path: Path) -> None:
    history = HistoryFile(tmp_path / "a.db")
    with pytest.raises(HistoryError, match="cannot be read"):
        import_lines(history, tmp_path / "nowhere.jsonl", profile="local")
    with pytest.raises(HistoryError, match="cannot be written"):
        export_lines(history, tmp_path / "nowhere" / "out.jsonl")
    history.close()


def interrupted(_history: HistoryFile, _entry_id: int) -> str:
    raise KeyboardInterrupt


def test_an_export_that_breaks_off_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "a.jsonl"
    target.write_text("old\n")
    with HistoryFile(tmp_path / "a.db") as history:
        history.add(row(), None)
        monkeypatch.setattr(HistoryFile, "document", interrupted)
        with pytest.raises(KeyboardInterrupt):
            export_lines(history, target)
    assert list((tmp_path / "out").iterdir()) == [target]
    assert target.read_text() == "old\n"


def test_many_rows_stream_through_in_pieces(tmp_path: Path) -> None:
    with HistoryFile(tmp_path / "a.db") as history, HistoryFile(tmp_path / "b.db") as copy:
        lines = b"".join(json.dumps(record(number)).encode() + b"\n" for number in range(1234))
        assert import_lines(history, io.BytesIO(lines), profile="p").added == 1234
        lines = exported(history)
        assert lines.count(b"\n") == 1234
        import_lines(copy, io.BytesIO(lines), profile="p")
        assert copy.ids(Query()) == history.ids(Query())


@given(st.binary(max_size=300))
def test_any_bytes_are_a_record_or_a_bad_line(line: bytes) -> None:
    with suppress(BadLine):  # and nothing else
        parse_line(line, profile="p")


TEXT = st.none() | st.text(min_size=1, max_size=20)


@settings(max_examples=60)
@given(
    name=TEXT,
    note=TEXT,
    recipient=TEXT,
    kind=st.sampled_from(["json", "file", "message"]),
    direction=st.sampled_from(["sent", "received"]),
    timestamp=st.integers(0, 2**43 - 1),
    size=st.integers(0, 2**53),
    data=st.none() | st.sampled_from(["null", "{}", '{"a":"\\u0000é"}', "[1,2.5]"]),
)
def test_a_row_as_a_line_reads_back_as_the_row(data: str | None, timestamp: int, **fields: Any) -> None:
    entry = row(id=(timestamp << 20) + 3, timestamp=timestamp, profile="p", **fields)
    line = entry_line(entry, data)
    assert "\n" not in line
    again, document = parse_line(line.encode("utf-8", "replace"), profile="other")
    assert document == data
    assert (again.id, again.cid, again.timestamp, again.size) == (entry.id, entry.cid, entry.timestamp, entry.size)
    assert (again.kind, again.direction, again.profile) == (entry.kind, entry.direction, "p")
    if all(c < "\ud800" or c > "\udfff" for text in (entry.name, entry.note, entry.recipient) for c in text or ""):
        assert (again.name, again.note, again.recipient) == (entry.name, entry.note, entry.recipient)
