"""Text that is not stored yet is kept for the next start, and no window takes it from another."""

from __future__ import annotations

import stat
from pathlib import Path

from pinui.workspace.drafts import DraftFolder, Drafts


def keep(folder: DraftFolder, text: str, **messages: str) -> None:
    of_each: dict[str | None, str] = {**messages}
    folder.text = Drafts(text, of_each)
    folder.write()


def test_text_comes_back_once_its_window_is_gone(tmp_path: Path) -> None:
    window = DraftFolder.take(tmp_path / "drafts")
    assert not window.text
    keep(window, '{"a": "\udce9"', alice="The keys\nare in the box")
    window.close()
    again = DraftFolder.take(tmp_path / "drafts")
    assert again.text == Drafts('{"a": "\udce9"', {"alice": "The keys\nare in the box"})


def test_what_was_written_to_nobody_yet_comes_back_too(tmp_path: Path) -> None:
    window = DraftFolder.take(tmp_path)
    window.text = Drafts("", {None: "to whom it may concern"})
    window.write()
    window.close()
    assert DraftFolder.take(tmp_path).text.messages == {None: "to whom it may concern"}


def test_each_window_has_its_own_text_and_each_comes_back(tmp_path: Path) -> None:
    windows = [DraftFolder.take(tmp_path) for _ in range(3)]
    for number, window in enumerate(windows):
        keep(window, f"text {number}")
    assert [window.text.json for window in windows] == ["text 0", "text 1", "text 2"]
    for window in windows[1:]:
        window.close()
    second, third, fourth = (DraftFolder.take(tmp_path) for _ in range(3))
    assert [second.text.json, third.text.json, fourth.text.json] == ["text 1", "text 2", ""]


def test_text_is_found_behind_an_empty_window(tmp_path: Path) -> None:
    first, second = DraftFolder.take(tmp_path), DraftFolder.take(tmp_path)
    keep(second, "text")
    first.close()
    second.close()
    assert DraftFolder.take(tmp_path).text.json == "text"


def test_folders_are_used_again(tmp_path: Path) -> None:
    for _ in range(5):
        first, second = DraftFolder.take(tmp_path), DraftFolder.take(tmp_path)
        first.close()
        second.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2"]


def test_text_that_was_stored_or_cleared_is_gone(tmp_path: Path) -> None:
    window = DraftFolder.take(tmp_path)
    keep(window, "text")
    keep(window, "")
    assert not list(tmp_path.rglob("*.json"))
    window.close()
    assert not DraftFolder.take(tmp_path).text


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    window = DraftFolder.take(tmp_path / "drafts")
    keep(window, "text")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "drafts").rglob("*")}
    assert modes == {"1": 0o700, "text.json": 0o600}


def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    window = DraftFolder.take(tmp_path)
    keep(window, "text")
    window.close()
    (path,) = tmp_path.rglob("*.json")
    path.write_text("{ from another version")
    another = DraftFolder.take(tmp_path)
    keep(another, "new text")
    assert path.read_text() == "{ from another version"
