"""Pins: finding, reading, naming, copying, revoking and forgetting what is pinned."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from pinui.ipfs.cid import Cid
from pinui.sdk.client import Client
from pinui.sdk.errors import ProviderError, Unsupported
from pinui.tui.app import Pinui
from pinui.tui.places.pins.screen import PinsScreen
from pinui.workspace import Entry, Query
from pinui.workspace.history.lines import import_lines
from tests.tui import scene
from tests.tui.pilots import confirm, paste, settled, shows, text_of, told, until, workbench


def pins_of(app: Pinui) -> PinsScreen:
    screen = app.screen
    assert isinstance(screen, PinsScreen)
    return screen


async def store(app: Pinui, *documents: Any, **names: Any) -> list[Entry]:
    made = [await app.workspace.store(document) for document in documents]
    return made + [await app.workspace.store(document, name=name) for name, document in names.items()]


async def titles(app: Pinui, pilot: Pilot[None]) -> list[str]:
    await settled(pilot)
    pins = pins_of(app).pins
    return [pins.known[number].title for number in pins.ids]


async def test_what_is_stored_appears_with_its_facts_and_a_preview() -> None:
    async with workbench() as (app, pilot):
        entry = (await store(app, invoice={"customer": "Nordlys AS", "total": 1499.5}))[0]
        await shows(pilot, "invoice", "json", "1 pin", "✓ verified", '"customer": "Nordlys AS"')
        lines = text_of(app)
        assert entry.cid[:20] in lines, "the detail shows all of the CID"
        assert f"{entry.cid[:6]}…{entry.cid[-4:]}" in lines, "the list shows its two ends"


async def test_slash_filters_as_you_type_and_esc_clears() -> None:
    async with workbench() as (app, pilot):
        await store(app, harbour={"a": 1}, map={"b": 2}, lantern={"where": "harbour"})
        await pilot.press("slash")
        await paste(pilot, "harbour")
        await shows(pilot, " 2 of ", " 2 of 3 · 26 B")
        assert "map" not in text_of(app)
        await pilot.press("enter", "j")
        assert pins_of(app).pins.cursor == 1, "enter keeps the filter and returns to the list"
        await pilot.press("escape")
        await shows(pilot, "3 pins")
        assert app.screen.focused is pins_of(app).pins
        await pilot.press("slash")
        await until(pilot, lambda: " of 3" not in text_of(app), "a line without a count")


async def test_the_filter_is_completed_and_explained_as_you_type() -> None:
    async with workbench() as (app, pilot):
        await store(app, harbour={"a": 1})
        await app.workspace.send("alice", "The lantern is lit.")
        await app.workspace.send("bob\x1b[2J", "No.")
        await pilot.press("slash", "k")
        await shows(pilot, "/ kind:", "kind: json, file, message, dir", "tab complete")
        await pilot.press("right")
        await shows(pilot, "/ kind:json", "kind: json, file, message, dir")
        await pilot.press("m", "tab")
        await shows(pilot, " 2 of ")
        await pilot.press("space", *"to:a", "tab")
        await shows(pilot, " 1 of ")
        assert "tab complete" not in text_of(app).splitlines()[-1]
        assert app.screen.focused is not pins_of(app).pins
        await pilot.press("tab")
        assert app.screen.focused is pins_of(app).detail, "without a completion, tab goes on to the next pane"


async def test_s_sorts_and_the_header_says_how() -> None:
    async with workbench() as (app, pilot):
        await store(app, b={"x": "y" * 50}, a={"x": 1}, c={"x": "y" * 20})
        await shows(pilot, "3 pins", "AGE ▾")
        assert await titles(app, pilot) == ["c", "a", "b"]
        for key, order, arrow in (
            ("o", ["b", "a", "c"], "AGE ▴"),
            ("n", ["a", "b", "c"], "NAME ▴"),
            ("r", ["c", "b", "a"], "NAME ▾"),
            ("s", ["b", "c", "a"], "SIZE ▾"),
            ("m", ["a", "c", "b"], "SIZE ▴"),
        ):
            await pilot.press("s", key)
            await shows(pilot, arrow)
            assert await titles(app, pilot) == order


@pytest.mark.parametrize("size", [(60, 16), (100, 30)])
async def test_where_there_is_no_header_the_border_says_how_the_list_is_sorted(size: tuple[int, int]) -> None:
    async with workbench(size=size) as (app, pilot):
        await store(app, b={"x": "y" * 50}, a={"x": 1})
        await shows(pilot, "age ▾ · 2 pins")
        for key, order in (("o", "age ▴ · 2 pins"), ("n", "name ▴ · 2 pins"), ("s", "size ▾ · 2 pins")):
            await pilot.press("s", key)
            await shows(pilot, order)
        await pilot.resize_terminal(160, 40)
        await shows(pilot, "SIZE ▾", "─ 2 pins")


async def test_a_note_is_shown_with_the_pin_and_found_by_the_filter() -> None:
    async with workbench() as (app, pilot):
        await store(app, letter={"n": 1}, map={"n": 2})
        await shows(pilot, "2 pins", "letter")
        await pilot.press("G", "N")
        await shows(pilot, "A note to “letter”", "no note")
        await paste(pilot, "for the harbour master")
        await pilot.press("enter")
        await shows(pilot, "Note     for the harbour master")
        await pilot.press("slash")
        await paste(pilot, "harbour")
        await shows(pilot, " 1 of ")
        await pilot.press("enter", "N", "ctrl+u", "enter", "escape")
        await shows(pilot, "2 pins")
        await until(pilot, lambda: "harbour master" not in text_of(app))


async def test_esc_right_behind_the_enter_of_a_prompt_clears_the_filter_and_not_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with workbench() as (app, pilot):
        entries = await store(app, letter={"n": 1}, map={"n": 2})
        await app.workspace.history.annotate(entries[0].cid, "local", "for the harbour master")
        await pilot.press("slash")
        await paste(pilot, "harbour")
        await shows(pilot, " 1 of ", "Note     for")
        await pilot.press("enter", "N", "ctrl+u")
        monkeypatch.setattr("pinui.tui.typed_ahead.BREAK", 0.4)  # esc arrives while the app looks at enter
        for key in ("enter", "escape"):
            seconds: Any = app.pace.now
            seconds.pass_by()
            app.post_message(events.Key(key, None))
            await until(pilot, lambda: app.is_holding_keys, "the look at enter")
        await shows(pilot, "─ 2 pins")
        await until(pilot, lambda: "harbour master" not in text_of(app), "the note's end")


async def test_n_names_a_pin_and_esc_changes_nothing() -> None:
    async with workbench() as (app, pilot):
        await store(app, {"lat": 59.91})
        await shows(pilot, '{"lat":59.91}')
        await pilot.press("n")
        await shows(pilot, "A name of your own")
        await pilot.press("escape", "n")
        await shows(pilot, "A name of your own")
        await paste(pilot, "the lighthouse")
        await pilot.press("enter")
        await until(pilot, lambda: len(app.screen_stack) == 1, "the prompt's end")
        await shows(pilot, "the lighthouse")
        assert [entry.name for entry in await app.workspace.history.page(Query())] == ["the lighthouse"]


async def test_y_copies_the_original(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    async with workbench() as (app, pilot):
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        cid = (await store(app, notes={"payload": "\x1b]52;evil"}))[0].cid
        await shows(pilot, "notes")
        link = await app.workspace.link(cid)
        for key in ("y", "u", "g", "n", "j"):
            await pilot.press("y")
            await shows(pilot, "ipfs:// URI")
            await pilot.press(key)
            await settled(pilot)
    assert copied[:4] == [cid, f"ipfs://{cid}", link, "notes"]
    assert "\\u001b]52;evil" in copied[4]


async def test_x_revokes_what_is_marked_after_a_question_that_starts_on_cancel() -> None:
    async with workbench() as (app, pilot):
        await store(app, one={"n": 1}, two={"n": 2}, three={"n": 3})
        await shows(pilot, "3 pins")
        await pilot.press("g", "space", "space", "x")
        await shows(pilot, "Revoke 2 pins, 14 B in all?", "You can store them again")
        await pilot.press("x")
        await pilot.press("enter")
        await settled(pilot)
        assert not await app.workspace.history.count(Query(revoked=True)), "enter is Cancel, x does not confirm"
        await pilot.press("x")
        await shows(pilot, "Revoke 2 pins")
        await pilot.press("right", "enter")
        await told(pilot, "Revoked 2 pins.")
        rows = await app.workspace.history.page(Query(revoked=True))
        assert {entry.name for entry in rows} == {"two", "three"}
        assert not pins_of(app).pins.marked
        await pilot.press("z")
        await shows(pilot, "1 pin · revoked hidden")


async def test_content_stored_twice_is_one_pin_and_the_question_tells_of_both_rows() -> None:
    async with workbench() as (app, pilot):
        await store(app, {"same": True}, {"same": True})
        await shows(pilot, "1 pin")
        await pilot.press("x")
        await shows(pilot, "1 other row of the history")


async def test_what_cannot_be_revoked_stays_marked_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        _, bad = await store(app, good={"n": 1}, bad={"n": 2})
        revoke = app.workspace.revoke

        async def stubborn(cid: str, **where: Any) -> Any:
            if cid == bad.cid:
                raise ProviderError("This pin is held by a policy", status=403)
            return await revoke(cid, **where)

        monkeypatch.setattr(app.workspace, "revoke", stubborn)
        await shows(pilot, "2 pins")
        await pilot.press("a", "x")
        await shows(pilot, "Revoke 2 pins")
        await confirm(pilot, "R")
        await told(pilot, "Revoked 1 pin. Not revoked: This pin is held by a policy")
        await until(pilot, lambda: pins_of(app).pins.marked == {bad.id})
        assert pins_of(app).pins.failed[bad.id].startswith("This pin is held by a policy")
        await pilot.press("g")
        await shows(pilot, "not revoked: This pin is held", '"n": 2')


@pytest.mark.parametrize("size", [(60, 16), (80, 24)])
async def test_the_question_shows_its_buttons_however_many_are_marked(size: tuple[int, int]) -> None:
    async with workbench(size=size) as (app, pilot):
        for number in (0, *range(10)):
            await app.workspace.store({"document": number})
        await shows(pilot, "10 pins")
        await settled(pilot)
        await pilot.press("a", "x")
        await shows(pilot, "Revoke 10 pins", "more", "Cancel", "Revoke 10 (R)")
        await pilot.press("escape", "a", "G", "x")
        await shows(pilot, "1 other row of the history", "revoked too", "Cancel", "Revoke (R)")


async def test_a_forgotten_pin_is_listed_as_one_of_the_account() -> None:
    async with workbench() as (app, pilot):
        await store(app, gone={"n": 1}, kept={"n": 2})
        await shows(pilot, "2 pins")
        await pilot.press("g", "delete")
        await shows(pilot, "Forget 1 row of the history?")
        await shows(pilot, "no longer knows about it.", "• kept")
        await confirm(pilot, "F")
        await told(pilot, "Forgot 1 row; the pin itself stays.")
        await shows(pilot, "2 pins", "○")
        kept, gone = await titles(app, pilot)
        assert (kept.startswith("Qm"), gone) == (True, "gone"), "nobody has asked for its name at the service yet"


async def test_many_rows_can_be_forgotten_at_once() -> None:
    async with workbench() as (app, pilot):
        await store(app, one={"n": 1}, two={"n": 2})
        await shows(pilot, "2 pins")
        await pilot.press("a", "delete")
        await shows(pilot, "Forget 2 rows of the history?", "no longer knows about them.")
        await confirm(pilot, "F")
        await told(pilot, "Forgot 2 rows; the pins themselves stay.")


async def test_a_preview_is_fetched_when_its_pane_is_in_sight_and_written_for_its_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "It was a bright cold day in April, and the clocks were striking thirteen, again and again. "
    (tmp_path / "novel.txt").write_text(words * 4)
    async with workbench(size=(80, 24)) as (app, pilot):
        fetched: list[str] = []
        fetch = app.workspace.preview

        async def counting(cid: str, **options: Any) -> Any:
            fetched.append(cid)
            return await fetch(cid, **options)

        monkeypatch.setattr(app.workspace, "preview", counting)
        await app.workspace.upload(tmp_path / "novel.txt")
        await app.workspace.send("alice", words)
        await shows(pilot, "2 pins")
        await pilot.press("down")
        await settled(pilot)
        await pilot.pause(0.3)
        assert fetched == [], "the pane is hidden"
        await pilot.press("enter")
        await shows(pilot, "preview · text", "It was a bright cold day in April, and the clocks were")
        await pilot.press("escape", "up", "enter")
        await shows(pilot, "preview · message", "It was a bright cold day in April, and the clocks were")
        await pilot.press("escape", "down", "enter")
        await shows(pilot, "preview · text", "It was a bright cold day in April, and the clocks were")
        await pilot.resize_terminal(120, 24)
        await shows(pilot, "It was a bright cold day in", "the clocks were striking")
        detail = pins_of(app).detail
        await until(pilot, lambda: detail.shown is not None and detail.shown.widest == detail.content_width)
        assert len(fetched) == 2, "another width needs nothing from the gateway"


async def test_a_preview_that_fails_is_not_asked_for_again_until_somebody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone.txt").write_text("gone")
    async with workbench() as (app, pilot):
        asked: list[str] = []

        async def refusing(cid: str, **_options: Any) -> Any:
            asked.append(cid)
            raise ProviderError("The gateway is asleep.", status=502)

        monkeypatch.setattr(app.workspace, "preview", refusing)
        await app.workspace.upload(tmp_path / "gone.txt")
        await shows(pilot, "gone.txt", "The gateway is asleep.")
        for _ in range(3):
            pins_of(app).reload()
            await settled(pilot)
            await pilot.pause(0.3)
        assert len(asked) == 1
        assert "The gateway is asleep." in text_of(app)
        await pilot.press("r")
        await until(pilot, lambda: len(asked) == 2)


async def test_any_name_in_a_folder_can_be_opened(tmp_path: Path) -> None:
    names = ("100%41.txt", "a & b+c.txt", "notes #1.md", "why?.txt")
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in names:
        (folder / name).write_text(f"the words of {name}")
    async with workbench() as (app, pilot):
        await app.workspace.upload(folder)
        await shows(pilot, *names)
        await pilot.press("enter")
        for index, name in enumerate(names):
            await pilot.press(*["down"] * index, "enter")
            await shows(pilot, f"the words of {name}")
            await pilot.press("backspace")
            await shows(pilot, *names)


async def test_previews_of_text_pictures_bytes_and_nothing(tmp_path: Path) -> None:
    async with workbench() as (app, pilot):
        for name, data, words in (
            ("notes.md", b"# Notes\nthe boat leaves at six", "the boat leaves at six"),
            ("sunset.png", scene.picture(), "96 × 64 pixels"),
            ("blob.bin", bytes(range(256)), "000000  00 01 02 03"),
            ("void", b"", "empty"),
            ("data.json", b'{"deep": [1, 2]}', '"deep": ['),
        ):
            path = tmp_path / name
            path.write_bytes(data)
            await app.workspace.upload(path)
            await shows(pilot, name)
            await pilot.press("g")
            await shows(pilot, words)


async def test_a_small_terminal_reads_the_detail_over_the_list() -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        await store(app, invoice={"customer": "Nordlys AS"})
        await shows(pilot, "invoice", " json ")
        assert "Nordlys" not in text_of(app)
        await pilot.press("enter")
        await shows(pilot, "Nordlys AS", "esc to the list")
        await pilot.press("escape")
        await shows(pilot, "1 pin")
        assert "Nordlys" not in text_of(app)


def under_the_cursor(app: Pinui) -> str | None:
    current = pins_of(app).pins.current
    assert current is not None, "a key would act on nothing"
    return current.name


@pytest.mark.parametrize(("key", "name"), [("G", "first"), ("g", "second")])
async def test_the_cursor_stays_on_its_pin_while_others_arrive(key: str, name: str) -> None:
    async with workbench() as (app, pilot):
        await store(app, first={"n": 1}, second={"n": 2})
        await shows(pilot, "2 pins")
        await pilot.press(key)
        await store(app, third={"n": 3})
        await shows(pilot, "3 pins")
        assert under_the_cursor(app) == name


async def test_the_cursor_stays_on_its_pin_when_the_filter_is_cleared_and_the_order_changes() -> None:
    async with workbench(size=(140, 16)) as (app, pilot):
        await store(app, wanted={"n": -1}, **{f"other-{number:03}": {"n": number} for number in range(120)})
        await shows(pilot, "121 pins")
        await pilot.press("slash")
        await paste(pilot, "wanted")
        await shows(pilot, " 1 of ")
        await pilot.press("enter", "escape")
        await shows(pilot, "121 pins", "▌ ✓ wanted")
        assert under_the_cursor(app) == "wanted", "far below what the filter showed"
        for key, arrow in (("o", "AGE ▴"), ("n", "NAME ▴"), ("s", "SIZE ▾"), ("a", "AGE ▾")):
            await pilot.press("s", key)
            await shows(pilot, arrow, "wanted")
            assert under_the_cursor(app) == "wanted"
        await pilot.press("x")
        await shows(pilot, "Revoke this pin", "• wanted")


@pytest.mark.slow
async def test_vim_keys_and_the_mouse_move_through_ten_thousand_pins() -> None:
    async with workbench() as (app, pilot):
        history = app.workspace.history
        await until(pilot, lambda: "local" in app.accounts and app.accounts["local"].mirrored_at, "the node's pins")
        lines = app.workspace.paths.config.parent / "many.jsonl"

        def row(number: int) -> str:
            cid = Cid.from_bytes(bytes((1, 0x55, 0x12, 0x20)) + hashlib.sha256(bytes(number)).digest())
            name = f"file-{number:05}"
            return json.dumps({"cid": str(cid), "size": 1, "kind": "file", "timestamp": number, "name": name})

        lines.write_text("\n".join(map(row, range(10_000))))
        report = await history.write(lambda file: import_lines(file, lines, profile="local"))
        assert report.added == 10_000
        await shows(pilot, "10,000 pins")
        await pilot.press("g")
        await shows(pilot, "file-09999", "Size     1 byte ")
        await pilot.press("G")
        await shows(pilot, "file-00000")
        await pilot.press("k", "pageup", "ctrl+b", "j")
        await pilot.press("g")
        await shows(pilot, "file-09999")
        await pilot.click("#pins", offset=(10, 6))
        assert pins_of(app).pins.cursor == 5 - pins_of(app).pins.header_height
        await pilot.press("slash")
        await paste(pilot, "file-04242")
        await shows(pilot, " 1 of ")


@pytest.mark.parametrize(("size", "kinds"), [((140, 40), ("dir ", "file")), ((60, 24), ("d ", "f "))])
async def test_a_folder_looks_like_a_folder(tmp_path: Path, size: tuple[int, int], kinds: tuple[str, str]) -> None:
    (tmp_path / "trip").mkdir()
    (tmp_path / "trip" / "note").write_text("x")
    async with workbench(size=size) as (app, pilot):
        for path in (tmp_path / "trip" / "note", tmp_path / "trip"):
            await app.workspace.upload(path)
        await shows(pilot, "trip/", "note")
        lines = text_of(app).splitlines()
        for name, kind in zip(("trip/ ", "note "), kinds, strict=True):
            assert any(name in line and f" {kind}" in line for line in lines), f"{name} {kind}"
        await pilot.press("g", "n")
        await shows(pilot, "A name of your own for “trip/”")
        await pilot.press("ctrl+u", "b", "y", "enter")
        await shows(pilot, "by/")


async def test_a_folders_preview_looks_like_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "trip"
    (folder / "maps 10").mkdir(parents=True)
    (folder / "maps 10" / "north.txt").write_text("x" * 5000)
    for number in (1, 2, 10):
        (folder / f"f{number}").write_text("x" * 100 * number)
    async with workbench() as (app, pilot):
        await app.workspace.upload(folder)
        await shows(pilot, "maps 10/", "f1 ", "100 B", "f10 ", "1.0 kB", "~5.1 kB")
        screen = text_of(app)
        assert screen.index("f2 ") < screen.index("f10 ")


async def test_an_entry_of_a_folder_is_saved_under_a_safe_name(tmp_path: Path) -> None:
    (tmp_path / "trip").mkdir()
    (tmp_path / "trip" / "C:evil.exe").write_text("x")
    async with workbench() as (app, pilot):
        await app.workspace.upload(tmp_path / "trip")
        await shows(pilot, "trip/", "C:evil.exe")
        await pilot.press("enter", "enter", "d")
        await shows(pilot, "Save as", "~/C_evil.exe")
        await pilot.press("enter")
        await shows(pilot, "1 done")
        assert (Path.home() / "C_evil.exe").read_text() == "x"


async def test_a_folder_can_be_walked_into(tmp_path: Path) -> None:
    folder = tmp_path / "trip"
    (folder / "maps").mkdir(parents=True)
    (folder / "maps" / "north.txt").write_text("go north")
    (folder / "list.txt").write_text("lantern")
    async with workbench() as (app, pilot):
        await app.workspace.upload(folder)
        await shows(pilot, "trip", "list.txt", "maps")
        await pilot.press("enter", "j", "enter")
        await shows(pilot, "north.txt")
        await pilot.press("enter")
        await shows(pilot, "go north")
        await pilot.press("backspace", "backspace")
        await shows(pilot, "list.txt")


async def test_a_dead_service_is_told_and_survived() -> None:
    async with workbench() as (app, pilot):
        await store(app, kept={"n": 1})
        await shows(pilot, "kept")
        opened = app.workspace.service.opened
        assert opened is not None
        await opened.client.aclose()
        await pilot.press("x")
        await shows(pilot, "Revoke this pin")
        await confirm(pilot, "R")
        await shows(pilot, "Not revoked:")
        assert app.is_running


async def test_rows_that_cannot_be_read_say_why_and_come_with_the_next_reading() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.store({"city": "Oslo"}, name="a letter")
        await shows(pilot, "a letter")
        await settled(pilot)
        pins = pins_of(app).pins
        fetch = pins.fetch

        async def broken(_ids: object) -> list[Entry]:
            raise OSError(5, "Input/output error")

        pins.fetch = broken
        pins.known.clear()
        pins.refresh()
        await told(pilot, "Input/output error.")
        pins.fetch = fetch
        await pilot.press("r")
        await shows(pilot, "a letter")


async def test_rows_that_share_a_cid_count_as_one_pin_and_sizes_are_bytes() -> None:
    async with workbench() as (app, pilot):
        await store(app, first="äöü", again="äöü", other={"n": 3})
        await shows(pilot, "2 pins", " 8 B ")
        await pilot.press("g", "j")
        await shows(pilot, "8 bytes of JSON")
        await pilot.press("x")
        await shows(pilot, "Revoke this pin, 8 B?")


async def test_a_filter_hides_marked_pins_and_their_marks_stay() -> None:
    async with workbench() as (app, pilot):
        await store(app, oslo={"n": 1}, bergen={"n": 2}, narvik={"n": 3})
        await shows(pilot, "3 pins")
        await pilot.press("g", "j", "space", "space")
        await shows(pilot, "3 pins · 2 marked · 14 B")
        await pilot.press("slash")
        await paste(pilot, "oslo")
        await shows(pilot, "1 pin · 2 marked (1 not in sight) · 14 B")
        await pilot.press("enter", "a")
        await shows(pilot, "1 marked (1 not in sight) · 7 B")
        await pilot.press("a", "x")
        await shows(pilot, "Revoke 2 pins", "• oslo", "• bergen")
        await pilot.press("escape", "escape")
        await shows(pilot, "3 pins · 2 marked · 14 B")


@pytest.mark.slow
async def test_ten_thousand_marked_pins_are_asked_about_once_and_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    def unlisted(*_args: object, **_options: object) -> None:
        raise Unsupported("This service can't list pins.")

    monkeypatch.setattr(Client, "pins", unlisted)  # else the made-up rows are gone from the account
    async with workbench() as (app, pilot):
        history = app.workspace.history
        lines = app.workspace.paths.config.parent / "many.jsonl"

        def row(number: int) -> str:
            cid = Cid.from_bytes(bytes((1, 0x55, 0x12, 0x20)) + hashlib.sha256(bytes(number)).digest())
            return json.dumps({"cid": str(cid), "size": 10, "kind": "file", "timestamp": number, "name": str(number)})

        lines.write_text("\n".join(map(row, range(10_000))))
        await history.write(lambda file: import_lines(file, lines, profile="local"))
        await shows(pilot, "10,000 pins")
        calls: list[str] = []
        for name in ("entries", "rows_sharing", "total_size"):
            monkeypatch.setattr(history, name, counted(calls, name, getattr(history, name)))
        await pilot.press("a")
        await shows(pilot, "10,000 marked · 100 kB")
        await pilot.press("space")
        await shows(pilot, "9,999 marked · 100 kB")
        assert "rows_sharing" not in calls
        await settled(pilot)
        calls.clear()
        screen = pins_of(app)
        screen.action_revoke()
        screen.action_revoke()
        await shows(pilot, "Revoke 9,999 pins")
        await until(pilot, lambda: calls.count("rows_sharing") == 2)
        await settled_but_for_the_question(app, pilot)
        assert len(app.screen_stack) == 2, "one question is enough"
        assert len(calls) < 20, "never one by one"


def counted(calls: list[str], name: str, work: Any) -> Any:
    async def counting(*values: Any) -> Any:
        calls.append(name)
        return await work(*values)

    return counting


async def settled_but_for_the_question(app: Pinui, pilot: Pilot[None]) -> None:
    """One of the two waits for its answer; the other has given up."""

    def asking() -> int:
        return sum(worker.name == "revoke" and not worker.is_finished for worker in app.workers)

    await until(pilot, lambda: asking() == 1, "the other question given up")


async def test_a_click_chooses_an_entry_of_a_folder_and_a_second_goes_into_it(tmp_path: Path) -> None:
    trip = tmp_path / "trip"
    trip.mkdir()
    for name in ("first.txt", "second.txt", "third.txt"):
        (trip / name).write_text(f"the words of {name}")
    async with workbench() as (app, pilot):
        await app.workspace.upload(trip)
        await shows(pilot, "third.txt")

        async def click(name: str) -> None:
            lines = text_of(app).splitlines()
            row = next(number for number, line in enumerate(lines) if name in line)
            await pilot.click(offset=(lines[row].index(name), row))

        detail = pins_of(app).detail
        await click("third.txt")
        await until(pilot, lambda: detail.chosen == 2)
        assert detail.trail == []
        await click("CID")
        assert detail.chosen == 2, "a fact is no entry"
        await click("third.txt")
        await shows(pilot, "the words of third.txt")


async def test_a_revoked_document_is_stored_again_with_a_key() -> None:
    async with workbench() as (app, pilot):
        entry = await app.workspace.store({"back": True}, name="menu")
        await app.workspace.revoke(entry.cid)
        await until(pilot, lambda: "u stores it again" in text_of(app))
        await pilot.press("u")
        await told(pilot, "Stored again: menu")
        (row,) = await app.workspace.history.entries([entry.id])
        assert row.revoked_at is None


async def test_marked_pins_are_stored_again_together_and_the_detail_follows(tmp_path: Path) -> None:
    async with workbench() as (app, pilot):
        for name in ("one.txt", "two.txt", "three.txt"):
            (tmp_path / name).write_text(f"the words of {name}")
            await app.workspace.revoke((await app.workspace.upload(tmp_path / name)).cid)
        await shows(pilot, "3 revoked", "no longer keeps it.")
        await pilot.press("g", "space", "space", "u")
        await told(pilot, "Stored again: 2 pins")
        await shows(pilot, "2 pins · 1 revoked")
        await pilot.press("g")
        await shows(pilot, "the words of two.txt")
        assert "no longer keeps it" not in text_of(app)


async def test_the_detail_of_a_revoked_file_says_so_and_where_its_content_may_be(tmp_path: Path) -> None:
    (Path.home() / "cat.png").write_bytes(b"meow")
    async with workbench() as (app, pilot):
        entry = await app.workspace.upload(Path.home() / "cat.png")
        await app.workspace.revoke(entry.cid)
        await shows(pilot, "u stores it again, if ~/cat.png is", "It was revoked", "no longer keeps it.")
        (Path.home() / "cat.png").unlink()
        await pilot.press("u")
        await told(pilot, "It can't be stored again: its file has changed or gone, and no gateway has it any more.")


async def test_columns_stay_where_they_are_when_a_filter_leaves_a_few_rows() -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        await store(app, **{f"pin-{number:02}": {"n": number} for number in range(30)})
        await shows(pilot, "30 pins", "KIND  CID")

        def columns() -> int:
            return next(line.index("KIND") for line in text_of(app).splitlines() if "KIND" in line)

        before = columns()
        await pilot.press("slash", *"pin-07")
        await shows(pilot, " 1 of 30")
        assert columns() == before
