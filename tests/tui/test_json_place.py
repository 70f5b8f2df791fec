"""JSON: writing, checking, storing; retrieving, folding, copying, saving."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from pinui.tui.app import Pinui
from pinui.tui.json_text import pretty
from pinui.tui.local_files import LARGEST_TEXT
from pinui.tui.places.json import json_tree
from pinui.tui.places.json import screen as json_screen
from pinui.tui.places.json.json_tree import JsonTree
from pinui.tui.places.json.screen import JsonScreen
from pinui.tui.places.pins.pin_list import PinList
from pinui.tui.widgets.line_view import Span
from pinui.workspace import Query
from tests.tui import textual_private
from tests.tui.pilots import confirm, paste, settled, shows, text_of, told, until, workbench


def place_of(app: Pinui) -> JsonScreen:
    screen = app.screen
    assert isinstance(screen, JsonScreen)
    return screen


async def test_typing_is_checked_and_f5_stores() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2", "i")
        await paste(pilot, '{\n  "title": "x",\nx}')
        await shows(pilot, "at line 3, column 1")
        await pilot.press("f5")
        await shows(pilot, "This is not JSON yet")
        assert not await app.workspace.history.count(Query()), "bad input changes nothing"
        place_of(app).editor.load_text('{"title": "Release notes", "version": 1.0}')
        await shows(pilot, "valid · 37 characters · on this machine only")
        await pilot.press("f5")
        await told(pilot, "Stored as Qm")
        entry = (await app.workspace.history.page(Query()))[0]
        assert await app.workspace.retrieve(entry.cid) == {"title": "Release notes", "version": 1}


async def test_f6_lays_out_the_document_and_changes_no_value() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2", "i")
        await paste(pilot, '{"a":[1.0,{}],"b":"x"}')
        await shows(pilot, "valid")
        await pilot.press("f6")
        editor = place_of(app).editor
        await until(pilot, lambda: editor.text == '{\n  "a": [\n    1.0,\n    {}\n  ],\n  "b": "x"\n}')
        await pilot.press("ctrl+z")
        await until(pilot, lambda: editor.text == '{"a":[1.0,{}],"b":"x"}')


async def test_f6_leaves_text_alone_that_is_no_json() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2", "i")
        await paste(pilot, '{"a":')
        await pilot.press("f6")
        await told(pilot, "This is not JSON yet")
        assert place_of(app).editor.text == '{"a":'


async def test_f7_stores_under_a_name() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2", "i")
        await paste(pilot, '{"city": "Oslo"}')
        await shows(pilot, "valid")
        await pilot.press("f7")
        await shows(pilot, "The name of this document")
        await paste(pilot, "My town")
        await pilot.press("enter")
        await told(pilot, "Stored as Qm")
        assert [entry.name for entry in await app.workspace.history.page(Query())] == ["My town"]
        assert not place_of(app).unsaved


async def test_esc_at_the_name_stores_nothing() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2", "i")
        await paste(pilot, "[1]")
        await shows(pilot, "valid")
        await pilot.press("f7")
        await shows(pilot, "The name of this document")
        await pilot.press("escape")
        await settled(pilot)
        assert not await app.workspace.history.count(Query())


async def test_what_json_would_lose_is_named() -> None:
    async with workbench() as (_app, pilot):
        await pilot.press("2", "i")
        await paste(pilot, '{"user": {"id": 9007199254740993}}')
        await shows(pilot, "$.user.id: an integer beyond 2^53")


async def test_nothing_is_stored_from_an_empty_editor() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2", "f5")
        await shows(pilot, "Write some JSON first.")
        assert not await app.workspace.history.count(Query())


async def test_a_document_typed_or_pasted_into_the_pane_goes_into_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    async with workbench() as (app, pilot):
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        await app.workspace.store({"older": 1})
        await shows(pilot, "1 pin")
        await pilot.press("2", "left_square_bracket", "1", "right_square_bracket")
        await shows(pilot, "valid")
        assert place_of(app).editor.text == "[1]"
        await pilot.press("f5")
        await told(pilot, "F8 copies the CID")
        await pilot.press("f8")
        stored = (await app.workspace.history.page(Query()))[0]
        await until(pilot, lambda: copied == [stored.cid])
        await pilot.press("alt+1")
        await shows(pilot, "2 pins")
        pins = app.screen.query_one(PinList)
        await until(pilot, lambda: pins.current is not None and pins.current.id == stored.id, "the new pin")
        await pilot.press("2", "escape")
        place_of(app).editor.load_text("")
        await paste(pilot, '{"pasted": true}')
        await shows(pilot, '"pasted"', "valid")


async def test_a_verdict_does_not_outlive_its_document() -> None:
    async with workbench() as (app, pilot):
        cid = (await app.workspace.store({"a": 1})).cid
        await pilot.press("2", "tab", "enter")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, "✓ verified")
        await pilot.press("shift+tab", "enter", "ctrl+u")
        await paste(pilot, "https://gateway.example/ipfs/nonsense")
        await pilot.press("enter")
        await shows(pilot, "Invalid CID")
        assert "verified" not in text_of(app)


async def test_a_failed_retrieve_takes_the_old_document_away_in_the_text_view_too() -> None:
    async with workbench() as (app, pilot):
        cid = (await app.workspace.store({"title": "the first one"})).cid
        await pilot.press("2", "tab", "enter")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, "✓ verified")
        await pilot.press("t")
        await shows(pilot, '"title": "the first one"')
        await pilot.press("shift+tab", "enter", "ctrl+u")
        await paste(pilot, "QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn")
        await pilot.press("enter")
        await shows(pilot, "not")
        await until(pilot, lambda: "the first one" not in text_of(app))


async def test_a_document_that_comes_late_takes_nobody_from_what_he_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        cid = (await app.workspace.store({"old": "document"})).cid
        retrieve, hold = app.workspace.retrieve, asyncio.Event()

        async def slow(address: str, **options: Any) -> Any:
            await hold.wait()
            return await retrieve(address, **options)

        monkeypatch.setattr(app.workspace, "retrieve", slow)
        await pilot.press("2", "tab", "enter")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, "fetching …")
        await pilot.press("shift+tab", "enter", *'{"title')
        hold.set()
        await shows(pilot, "✓ verified", 'old: "document"')
        await pilot.press(*": Release")
        assert place_of(app).editor.text == '{"title: Release'


async def test_f5_twice_stores_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        store, hold = app.workspace.store, asyncio.Event()

        async def slow(value: Any, **options: Any) -> Any:
            await hold.wait()
            return await store(value, **options)

        monkeypatch.setattr(app.workspace, "store", slow)
        await pilot.press("2", "i")
        await paste(pilot, "[1]")
        await pilot.press("f5", "f5")
        await told(pilot, "It is being stored already.")
        hold.set()
        await told(pilot, "Stored as")
        assert await app.workspace.history.count(Query()) == 1


async def test_a_document_in_one_long_line_is_edited_a_member_to_a_line(tmp_path: Path) -> None:
    document = [{"id": number, "name": f"item {number}", "none": []} for number in range(200)]
    text = json.dumps(document, separators=(",", ":"))
    (tmp_path / "long.json").write_text(text)
    async with workbench() as (app, pilot):
        await pilot.press("2", "f3")
        await shows(pilot, "Which JSON file?")
        await paste(pilot, str(tmp_path / "long.json"))
        await pilot.press("enter")
        await shows(pilot, '"id": 0,')
        assert place_of(app).editor.text == pretty(document)
        place_of(app).editor.load_text("")
        await pilot.press("i")
        await paste(pilot, text)
        await shows(pilot, "valid")
        assert place_of(app).editor.text == pretty(document)


async def test_f3_loads_a_file_and_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text('{"from": "a file"}')
    async with workbench() as (app, pilot):
        await pilot.press("2", "f3")
        await shows(pilot, "Which JSON file?")
        await paste(pilot, str(tmp_path / "nothing.json"))
        await pilot.press("enter")
        await shows(pilot, "No such file", "Which JSON file?")
        await pilot.press("ctrl+u")
        await paste(pilot, str(path))
        await pilot.press("enter")
        await shows(pilot, '"from"', "valid")
        assert place_of(app).editor.text == '{"from": "a file"}'


async def test_text_that_is_nowhere_else_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text('{"from": "a file"}')
    async with workbench() as (app, pilot):
        cid = (await app.workspace.store({"from": "a pin"})).cid
        await pilot.press("2", "i")
        await paste(pilot, '{"mine": 1}')
        await pilot.press("f3")
        await shows(pilot, "Which JSON file?")
        await paste(pilot, str(path))
        await pilot.press("enter")
        await shows(pilot, "The text in the editor is not stored. Replace it?")
        await pilot.press("enter")
        await settled(pilot)
        assert place_of(app).editor.text == '{"mine": 1}', "the question starts on Cancel"
        await pilot.press("escape", "tab", "enter")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, 'from: "a pin"')
        await pilot.press("e")
        await shows(pilot, "The text in the editor is not stored. Replace it?")
        await confirm(pilot, "R")
        await until(pilot, lambda: "a pin" in place_of(app).editor.text)


async def test_what_is_not_text_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "picture.json"
    path.write_bytes(b"\xff\xfe\x00")
    async with workbench() as (app, pilot):
        await pilot.press("2", "f3")
        await shows(pilot, "Which JSON file?")
        await paste(pilot, str(path))
        await pilot.press("enter")
        await shows(pilot, "picture.json is not text")
        await pilot.press("escape")
        await settled(pilot)
        assert not place_of(app).editor.text


async def test_an_editor_takes_no_more_than_it_can_work_with(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text(json.dumps("x" * LARGEST_TEXT))
    os.mkfifo(tmp_path / "pipe")
    async with workbench() as (app, pilot):
        for name, words in ((path, "too large for the editor"), (tmp_path / "pipe", "pipe is a device or a pipe")):
            await pilot.press("2", "f3")
            await shows(pilot, "Which JSON file?")
            await paste(pilot, str(name))
            await pilot.press("enter")
            await shows(pilot, words)
            await pilot.press("escape")
        await pilot.press("i")
        await paste(pilot, "1" * (LARGEST_TEXT - 10))
        assert len(place_of(app).editor.text) == LARGEST_TEXT - 10
        for text in ("2" * 11, "\u200b" * 2):  # an escape has six characters
            await paste(pilot, text)
            await told(pilot, "too large for the editor")
        assert place_of(app).editor.text == "1" * (LARGEST_TEXT - 10)
        place_of(app).editor.select_all()
        await paste(pilot, '"\u200b"')
        assert place_of(app).editor.text == '"\\u200b"'


async def test_a_key_in_a_long_text_does_not_read_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps([{"id": number} for number in range(5_000)], indent=1)

    def read(*_: object) -> None:
        raise AssertionError("all lines are read")

    async with workbench() as (app, pilot):
        await pilot.press("2", "i")
        await paste(pilot, text)
        textual_private.notice_reading_all_lines(monkeypatch, read)
        place_of(app).editor.move_cursor((0, 0))
        await pilot.press("space")
        await shows(pilot, " [", '"id": 0')
        assert place_of(app).editor.text == f" {text}"


async def test_a_document_is_retrieved_folded_copied_saved_and_edited_as_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {"title": "Notes", "changes": ["one", {"deep": True}], "n": 1.5}
    copied: list[str] = []
    async with workbench() as (app, pilot):
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        cid = (await app.workspace.store(document)).cid
        await pilot.press("2", "tab", "enter")
        await paste(pilot, f"https://gateway.example/ipfs/{cid}?x=1")
        await pilot.press("enter")
        await shows(pilot, "▾ {} 3 keys", "▾ changes [2]", 'title: "Notes"', "deep: true", "✓ verified")
        await pilot.press("j", "j", "enter")
        await shows(pilot, "▸ changes [2]")
        assert "deep" not in text_of(app)
        await pilot.press("space", "j", "j", "j", "y")
        await shows(pilot, "$.changes[1].deep")
        await pilot.press("p")
        await until(pilot, lambda: copied == ["$.changes[1].deep"])
        await pilot.press("t")
        await shows(pilot, '"changes": [', "text · t tree")
        await pilot.press("t", "w")
        await shows(pilot, "Save the document as")
        await pilot.press("ctrl+u")
        await paste(pilot, str(tmp_path / "saved.json"))
        await pilot.press("enter")
        await told(pilot, "Saved as")
        assert json.loads((tmp_path / "saved.json").read_text()) == document
        await pilot.press("e")
        await settled(pilot)
        assert json.loads(place_of(app).editor.text) == document


def test_a_value_that_is_too_wide_says_so() -> None:
    tree = JsonTree()
    tree.rows = [json_tree.Row("a long value", key="name", depth=1), json_tree.Row(True, key="short", depth=1)]
    lines = ["".join(text for text, _ in cast("list[Span]", tree.item_line(row, 0, 18))) for row in (0, 1)]
    assert lines == ['     name: "a lon…', "     short: true"]


@pytest.mark.slow
async def test_a_large_document_is_folded_copied_and_refused_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"rows": [{"id": number, "tags": ["a", "b"]} for number in range(30_000)], "n": [[1], [2]]}
    threads: list[threading.Thread] = []
    written, copied = list[object](), list[str]()

    def walked(*arguments: Any) -> Iterator[json_tree.Row]:
        threads.append(threading.current_thread())
        return walk(*arguments)

    def worded(value: object) -> str:
        threads.append(threading.current_thread())
        written.append(value)
        return pretty(value)

    walk = json_tree.walk
    monkeypatch.setattr(json_tree, "walk", walked)
    monkeypatch.setattr(json_screen, "pretty", worded)
    async with workbench() as (app, pilot):
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        cid = (await app.workspace.store(document)).cid
        await pilot.press("2", "tab", "enter")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, "▸ rows [30000]", "▾ n [2]", "▸ 0 [1]")
        tree = app.screen.query_one(JsonTree)
        await until(pilot, lambda: app.focused is tree)
        await pilot.press("z")
        await told(pilot, "too much to unfold at once")
        await shows(pilot, "▸ rows [30000]", "▾ 0 [1]")
        await pilot.press("z")
        await shows(pilot, "▸ rows [30000]", "▸ n [2]")
        await pilot.press("j", "enter")
        await shows(pilot, "▾ rows [30000]", "▸ 0 {2}")
        assert len(tree.rows) == 30_003
        await pilot.press("j", "enter")
        await shows(pilot, "▾ 0 {2}", "▸ tags [2]")
        await pilot.press("k", "enter")
        await shows(pilot, "▸ rows [30000]")
        await pilot.press("enter")
        await shows(pilot, "▾ 0 {2}")  # what was unfolded inside is so again
        await pilot.press("y", "p")
        await until(pilot, lambda: copied == ["$.rows"])
        await pilot.press("e")
        await told(pilot, "too large for the editor")
        assert not written, "what nobody asked for is not put into words"
        await pilot.press("y", "j")
        await until(pilot, lambda: len(copied) == 2)
        assert json.loads(copied[1]) == document
        assert threading.main_thread() not in threads


async def test_all_of_a_small_document_is_folded_and_unfolded() -> None:
    async with workbench() as (app, pilot):
        cid = (await app.workspace.store({"a": {"b": [1, {"c": 2}]}, "long": list(range(300))})).cid
        await pilot.press("2", "tab", "enter")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, "c: 2", "▸ long [300]")
        await pilot.press("z")
        await shows(pilot, "▾ long [300]", "c: 2")
        await pilot.press("z")
        await shows(pilot, "▸ a {1}", "▸ long [300]")
        assert len(app.screen.query_one(JsonTree).rows) == 3
        await pilot.press("z")
        await shows(pilot, "▾ long [300]", "c: 2")


async def test_a_wrong_address_is_told_where_the_document_would_be() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2", "tab", "enter")
        await paste(pilot, "not a cid")
        await pilot.press("enter")
        await shows(pilot, "Invalid CID")
        await pilot.press("ctrl+u")
        await paste(pilot, "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG")
        await pilot.press("enter")
        await until(pilot, lambda: not app.screen.query_one(JsonTree).rows)
        await until(pilot, lambda: "Invalid CID" not in text_of(app) and "fetching" not in text_of(app))
        assert app.is_running


async def test_f4_edits_in_the_editor_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nprintf \'{"edited": true}\' > "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.delenv("VISUAL", raising=False)
    async with workbench() as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)  # a pilot has no terminal to give away
        await pilot.press("2", "f4")
        await shows(pilot, '"edited"', "valid")


async def test_invisible_characters_are_seen_in_the_editor_and_kept() -> None:
    async with workbench() as (app, pilot):
        value = {"payload": "a\u202eb\x9b"}
        cid = (await app.workspace.store(value)).cid
        await pilot.press("2", "tab", "enter")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, "payload")
        await pilot.press("e")
        await shows(pilot, "a\\u202eb\\u009b")
        await settled(pilot)
        assert json.loads(place_of(app).editor.text) == value


async def test_a_loaded_file_is_unsaved_only_once_it_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(b'{"from":\r\n"a file"}')
    async with workbench() as (app, pilot):
        await pilot.press("2", "f3")
        await shows(pilot, "Which JSON file?")
        await paste(pilot, str(path))
        await pilot.press("enter")
        await shows(pilot, '"from"', "valid")
        assert not place_of(app).unsaved
        await pilot.press("i", "space")
        assert place_of(app).unsaved


async def test_a_document_edited_as_new_is_not_unsaved() -> None:
    async with workbench() as (app, pilot):
        cid = (await app.workspace.store({"title": "Notes"})).cid
        await pilot.press("2", "tab", "enter")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, 'title: "Notes"')
        await pilot.press("e")
        await until(pilot, lambda: "Notes" in place_of(app).editor.text)
        assert not place_of(app).unsaved


async def test_the_empty_panes_explain_themselves_in_full_beside_the_editor() -> None:
    async with workbench(size=(100, 30)) as (_, pilot):
        await pilot.press("2")
        await shows(pilot, "a CID, or a URL with /ipfs/ ", "The retrieved document is shown ", "against its CID. ")
