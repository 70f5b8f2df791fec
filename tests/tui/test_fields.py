"""Fields keep what is typed and pasted to the letter, and draw it so that no terminal obeys it."""

from __future__ import annotations

from pathlib import Path
from typing import cast
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from pinui.tui.app import Pinui
from pinui.tui.widgets.fields import Field
from pinui.workspace import Query
from tests.tui.pilots import TOASTS, paste, settled, shows, text_of, told, until, workbench
from tests.tui.textual_private import strips_of

FAMILY = "می\u200cخواهم 👨\u200d👩\u200d👧"


def field_of(app: Pinui) -> Field:
    focused = app.screen.focused
    assert isinstance(focused, Field)
    return focused


async def write_to_bob(pilot: Pilot[None]) -> None:
    await pilot.press("4", "n")
    await shows(pilot, "Whom do you want to write to?")
    await paste(pilot, "bob")
    await pilot.press("enter")
    await shows(pilot, "Write to bob")


async def stored_message(app: Pinui) -> str:
    entry = (await app.workspace.history.page(Query()))[0]
    return cast("dict[str, str]", await app.workspace.retrieve(entry.cid))["payload"]


@given(st.text())
def test_each_character_is_drawn_as_one_that_steers_nothing(text: str) -> None:
    field = Field()
    field.set_reactive(Input.value, text)
    assert len(field.drawn) == len(text)
    loose = "".join(character for character in field.drawn if character != "\u200d")  # which is kept inside of emoji
    assert not {category(character) for character in loose} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    hidden = Field(password=True)
    hidden.set_reactive(Input.value, text)
    assert hidden.drawn == "•" * len(text)


@pytest.mark.parametrize("lines", ["one\ntwo\n\n  three", "one\rtwo\r\r  three\r", "one\r\ntwo\r\n\r\n  three\r\n"])
async def test_a_message_of_several_lines_is_stored_with_all_of_them(lines: str) -> None:
    async with workbench() as (app, pilot):
        await write_to_bob(pilot)
        await paste(pilot, lines)
        await shows(pilot, "one⏎two⏎⏎  three")
        await pilot.press("enter")
        await told(pilot, "Stored as")
        assert await stored_message(app) == "one\ntwo\n\n  three"


async def test_joiners_are_stored_however_they_were_entered() -> None:
    async with workbench() as (app, pilot):
        await write_to_bob(pilot)
        await paste(pilot, FAMILY)
        for character in "👩\u200d🚀":
            app.post_message(events.Key("key", character))
        await until(pilot, lambda: field_of(app).value == FAMILY + "👩\u200d🚀")
        assert "می�خواهم 👨\u200d👩\u200d👧👩\u200d🚀" in text_of(app)
        await pilot.press("enter")
        await told(pilot, "Stored as")
        assert await stored_message(app) == FAMILY + "👩\u200d🚀"


async def test_emoji_that_are_made_of_several_characters_are_one_for_cursor_and_keys() -> None:
    family, flag, thumb = "👨\u200d👩\u200d👧", "🇳🇴", "👍🏽"
    async with workbench() as (app, pilot):
        await write_to_bob(pilot)
        field = field_of(app)
        await paste(pilot, f"a{family}{flag}{thumb}b")
        steps: list[int] = []
        for _ in range(5):
            await pilot.press("left")
            steps.append(field.cursor_position)
        assert steps == [10, 8, 6, 1, 0]
        await pilot.press("right", "right")
        assert field.cursor_position == 6
        left = field.content_region.x
        assert field.cursor_screen_offset.x == left + 3
        await pilot.click(field, offset=(2, 0))
        assert field.cursor_position == 1, "a click on the second half is a click on the family"
        row = next(strip for strip in strips_of(app) if family in strip.text)
        assert family in [segment.text for segment in row], "all of it is under the cursor"
        await pilot.press("delete")
        assert field.value == f"a{flag}{thumb}b"
        await pilot.press("end", "left", "backspace", "backspace")
        assert field.value == "ab"


async def test_joiners_typed_into_json_become_escapes_that_mean_the_same() -> None:
    from pinui.tui.places.json.screen import JsonScreen

    async with workbench() as (app, pilot):
        await pilot.press("2", "i")
        screen = app.screen
        assert isinstance(screen, JsonScreen)
        for character in '"👩\u200d🚀"':
            app.post_message(events.Key("key", character))
        await until(pilot, lambda: screen.editor.text == '"👩\\u200d🚀"')


async def test_cursor_mouse_and_selection_are_where_they_seem_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a\u200db\t漢\x1bc"
    copied: list[str] = []
    async with workbench() as (app, pilot):
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        await write_to_bob(pilot)
        field = field_of(app)
        await paste(pilot, text)
        await shows(pilot, "a�b 漢�c")
        left = field.content_region.x
        for index in range(len(text)):
            field.cursor_position = index
            cell = cell_len("a�b 漢�c"[:index])
            assert field.cursor_screen_offset.x == left + cell
            await pilot.click(field, offset=(cell, 0))
            assert field.cursor_position == index
        await pilot.click(field, offset=(30, 0))
        assert field.cursor_position == len(text)
        await pilot.press("shift+left", "shift+left", "shift+left", "ctrl+x")
        assert (field.value, copied) == (text[:4], [text[4:]]), "the original is cut"
        App.copy_to_clipboard(app, f"{text}\nend\n")  # as Textual's own fields do
        await pilot.press("home", "ctrl+v")
        assert field.value == f"{text}\nend{text[:4]}"


async def test_where_one_line_counts_the_others_are_not_dropped_in_silence() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("2", "tab", "enter")
        await paste(pilot, "  QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG \n\n")
        assert field_of(app).value == "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG"
        assert not any("first line" in toast for toast in TOASTS[app])
        await pilot.press("ctrl+u")
        await paste(pilot, "one\ntwo")
        await told(pilot, "Only the first line was pasted: 1 more line was left out.")
        assert field_of(app).value == "one"
        await pilot.press("ctrl+u")
        await paste(pilot, "one\rtwo\r\rthree")
        await told(pilot, "Only the first line was pasted: 2 more lines were left out.")


async def test_a_folder_s_entry_is_downloaded_whatever_its_name() -> None:
    name = "a\u200db漢.txt"
    trip = Path.home() / "trip"
    trip.mkdir()
    (trip / name).write_text("family")
    async with workbench() as (app, pilot):
        await app.workspace.upload(trip)
        await shows(pilot, "a�b漢.txt")
        await pilot.press("enter", "enter")
        await shows(pilot, "family")
        await pilot.press("d")
        await until(pilot, lambda: app.screen.focused is not None and app.screen.focused.id == "target")
        assert field_of(app).value == "~/a_b漢.txt", "a name that is what it looks like"
        await pilot.press("enter")
        await shows(pilot, "1 done")
        assert (Path.home() / "a_b漢.txt").read_text() == "family"


async def test_a_name_that_is_only_looked_at_stays_as_it_is() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.store({"a": 1}, name=FAMILY)
        await shows(pilot, "خواهم")
        await pilot.press("n")
        await shows(pilot, "A name of your own")
        assert field_of(app).value == FAMILY
        await pilot.press("x", "enter")
        await until(pilot, lambda: not isinstance(app.screen.focused, Field))
        await settled(pilot)
        assert (await app.workspace.history.page(Query()))[0].name == f"{FAMILY}x"


async def test_the_blank_before_a_term_that_is_pasted_into_a_filter_stays() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("slash", *"kind:json")
        await paste(pilot, " -draft ")
        await pilot.press(*"age:<7d")
        assert app.screen.query_one(Input).value == "kind:json -draft age:<7d"
