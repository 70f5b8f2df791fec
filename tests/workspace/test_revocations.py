"""What is pinned and what was revoked: in both versions of a CID, and after exports of other machines came in."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from pinui.workspace import Query
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.lines import import_lines
from pinui.workspace.rows import Standing
from tests.workspace.rows import START, cid, exported, other_version, record, row, write


def test_revoking_marks_every_row_of_the_cid_in_that_profile_and_storing_again_unmarks(tmp_path: Path) -> None:
    with HistoryFile(tmp_path / "a.db") as history:
        for profile in ("local", "local", "work"):
            history.add(row(1, profile=profile), None)
        history.mark_revoked(cid(1), "local", START + 50)
        marked = [(entry.profile, entry.revoked_at) for entry in history.page(Query(sort="oldest"))]
        assert marked == [("local", START + 50), ("local", START + 50), ("work", None)]
        assert history.rows_sharing([cid(1)], "local") == 2
        history.add(row(1, direction="received", kind="message"), None)
        assert history.page(Query(revoked=True)) != [], "reading a message pins nothing"
        history.add(row(1), None)
        assert history.page(Query(revoked=True)) == []


def test_both_versions_of_a_cid_are_one_thing(tmp_path: Path) -> None:
    with HistoryFile(tmp_path / "a.db") as history:
        stored = history.add(row(1, name="cat"), None)
        other = other_version(stored.cid)
        history.mark_revoked(other, "local", START + 50)
        history.set_verification(other, "local", "verified")
        found = history.latest(other)
        assert found == replace(stored, revoked_at=START + 50, verification="verified", standing=Standing.REVOKED)
        assert history.rows_sharing([other], "local") == 1
        history.add(row(2, cid=other), None)
        assert history.page(Query(revoked=True)) == [], "either pins it again"


def test_what_was_revoked_before_keeps_its_time(tmp_path: Path) -> None:
    with HistoryFile(tmp_path / "a.db") as history:
        history.add(row(1), None)
        for at, was_pinned in ((20, True), (30, False)):
            history.mark_revoked(cid(1), "local", START + at, was_pinned=was_pinned)
        assert [entry.revoked_at for entry in history.page(Query())] == [START + 20]
        history.mark_revoked(cid(1), "local", START + 40)
        assert [entry.revoked_at for entry in history.page(Query())] == [START + 40], "it was pinned from elsewhere"


def test_an_old_export_does_not_revoke_what_was_stored_again_since(tmp_path: Path) -> None:
    history = HistoryFile(tmp_path / "a.db")
    history.add(row(9, cid=cid(1)), None)
    import_lines(history, write(tmp_path / "in.jsonl", record(1, revokedAt=START + 5)), profile="local")
    assert history.count(Query(revoked=True)) == 0
    import_lines(history, write(tmp_path / "in.jsonl", record(2, revokedAt=START + 5)), profile="local")
    assert [entry.cid for entry in history.page(Query(revoked=True))] == [cid(2)]
    history.close()


def test_a_revocation_reaches_rows_that_are_there_already_and_ends_when_it_was_stored_again(
    tmp_path: Path,
) -> None:
    history = HistoryFile(tmp_path / "a.db")
    import_lines(history, write(tmp_path / "in.jsonl", record(1)), profile="local")
    later = write(tmp_path / "later.jsonl", record(1, revokedAt=START + 5))
    report = import_lines(history, later, profile="local")
    assert (report.added, report.unchanged) == (0, 1)
    assert [entry.revoked_at for entry in history.page(Query())] == [START + 5]
    import_lines(history, write(tmp_path / "in.jsonl", record(1, timestamp=START + 9)), profile="local")
    import_lines(history, later, profile="local")
    assert [entry.revoked_at for entry in history.page(Query())] == [None, None]
    history.close()


STEPS = st.lists(
    st.tuples(st.sampled_from(["store", "receive", "revoke", "revoke in vain", "export"]), st.sampled_from([0, 1, 2])),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, chance=st.randoms(use_true_random=False))
def test_the_exports_of_a_machine_end_in_its_state_in_whatever_order_they_are_imported(
    steps: list[tuple[str, int]], chance: random.Random
) -> None:
    cids = [cid(1), other_version(cid(1)), cid(2)]  # two of them are one
    with TemporaryDirectory() as folder, HistoryFile(Path(folder, "one.db")) as one:
        exports: list[bytes] = []
        for number, (step, which) in enumerate([*steps, ("export", 0)]):
            if step in ("store", "receive"):
                direction = "sent" if step == "store" else "received"
                one.add(row(number, cid=cids[which], kind="message", direction=direction), None)
            elif step == "export":
                exports.append(exported(one))
            else:
                one.mark_revoked(cids[which], "local", START + number, was_pinned=step == "revoke")
        with HistoryFile(Path(folder, "other.db")) as other:
            for lines in chance.sample(exports * 2, len(exports) * 2):
                import_lines(other, io.BytesIO(lines), profile="p")
            assert exported(other) == exports[-1]
