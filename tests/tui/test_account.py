"""The account in Pins: rows that other programs made, beside those of the history."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from pinui.node import Node
from pinui.sdk.errors import IntegrityError
from pinui.sdk.models import Pin, PinStatus
from pinui.tui.places.pins.pin_list import highlighted, highlighted_cid
from tests.tui.conftest import TOKEN
from tests.tui.pilots import confirm, shows, text_of, told, until, workbench
from tests.tui.test_copy_to import add_profile
from tests.tui.test_pins import pins_of, store


async def test_pins_that_another_program_made_are_listed_and_marked() -> None:
    async with workbench() as (app, pilot):
        await store(app, own={"n": 1})
        await shows(pilot, "1 pin")
        other = await app.workspace.connect()  # the client alone writes no history, as another program
        cid = (await other.upload(b"made elsewhere, with words in it")).cid
        await other.rename(cid, "café.png")
        await pilot.press("r")
        await shows(pilot, "2 pins", "ON", "○", "●", "café.png")
        await pilot.press("g")
        await shows(pilot, "the account; made elsewhere", "made elsewhere, with words in it")


async def test_a_filter_by_kind_that_finds_nothing_tells_that_the_kind_of_such_pins_is_not_known() -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        await (await app.workspace.connect()).store({"n": 1})
        await pilot.press("r")
        await shows(pilot, "1 pin")
        await pilot.press("slash", *"kind:json")
        await shows(pilot, "Nothing matches.", "The kind of pins that other programs made is not known.")


async def test_a_filter_with_a_term_that_does_not_exist_names_those_that_do() -> None:
    async with workbench(size=(80, 24)) as (app, pilot):
        await store(app, one={"n": 1})
        await shows(pilot, "1 pin")
        await pilot.press("slash", *"siz:>1mb")
        await shows(pilot, "“siz:” is taken as a word. Terms are kind: size: age: on: is: to:")


async def test_everything_works_on_a_row_of_the_account() -> None:
    async with workbench() as (app, pilot):
        other = await app.workspace.connect()
        cid = (await other.upload(b"made elsewhere")).cid
        await other.rename(cid, "there.bin")
        await pilot.press("r")
        await shows(pilot, "there.bin")
        await until(pilot, lambda: pins_of(app).pins.current, "the row")
        await pilot.press("n")
        await shows(pilot, "A name of your own")
        app.screen.query_one(Input).value = "mine"
        await pilot.press("enter")
        await shows(pilot, "mine", "calls it there.bin")
        await pilot.press("R")
        await shows(pilot, "Another name for “mine” at local")
        app.screen.query_one(Input).value = "renamed.bin"
        await pilot.press("enter")
        await told(pilot, "Renamed at local.")
        assert [pin.name async for pin in other.pins()] == ["renamed.bin"]
        await pilot.press("delete")
        await told(pilot, "The history has no row of it: another program made this pin. x revokes it.")
        await pilot.press("x")
        await shows(pilot, "Revoke")
        await confirm(pilot, "R")
        await told(pilot, "Revoked 1 pin.")
        assert [pin async for pin in other.pins()] == []
        await shows(pilot, "0 pins · 1 revoked", "called it renamed.bin")


async def test_a_cid_is_pinned_with_a_key() -> None:
    async with workbench() as (app, pilot):
        other = await app.workspace.connect()
        cid = (await other.store({"a": 1})).cid
        await pilot.press("P")
        await shows(pilot, "The CID that the service should keep")
        app.screen.query_one(Input).value = cid
        await pilot.press("enter")
        await told(pilot, "is pinned.")
        await shows(pilot, "1 pin")


async def test_a_pin_that_the_service_has_not_made_yet_shows_its_state() -> None:
    async with workbench() as (app, pilot):
        client = await app.workspace.connect()
        cid = (await client.store({"a": 1})).cid
        await client.revoke(cid)
        states: list[PinStatus] = ["queued", "pinning", "failed", "pinned"]
        find = client.find

        async def asked(address: str, *, name: str | None = None) -> Pin:
            return Pin(cid=address, name=name, status=states[0])

        async def found(address: str) -> Pin | None:
            return Pin(cid=address, status=states[0])

        client.pin, client.find = asked, found  # type: ignore[method-assign]
        await pilot.press("P")
        await shows(pilot, "The CID that the service should keep")
        app.screen.query_one(Input).value = cid
        await pilot.press("enter")
        await told(pilot, "looks for")
        await shows(pilot, "queued  ", "◌ queued", "the service looks for the content")
        for words in ("◌ pinning", "✗ failed"):
            del states[0]
            await app.workspace.ask_again()
            await shows(pilot, words)
        client.find = find  # type: ignore[method-assign]
        await client.store({"a": 1})
        await pilot.press("r")
        await until(pilot, lambda: not app.workspace.requests, "the pin")
        await until(pilot, lambda: "failed" not in text_of(app), "the end of its state")
        assert "1 pin" in text_of(app)


async def test_connection_tells_when_the_account_was_mirrored() -> None:
    async with workbench() as (app, pilot):
        other = await app.workspace.connect()
        await other.store({"a": 1})
        await pilot.press("r")
        await shows(pilot, "1 pin")
        await pilot.press("5")
        await shows(pilot, "Mirrored here", "1 made elsewhere")


async def test_a_mistake_in_the_filter_is_told_and_empties_nothing() -> None:
    async with workbench() as (app, pilot):
        await store(app, one={"n": 1}, two={"n": 2})
        await shows(pilot, "2 pins")
        await pilot.press("slash")
        app.screen.query_one(Input).value = "size:>1mbb"
        await shows(pilot, "size:>1mbb: give a size such as >1mb or <300kb", "2 pins")
        app.screen.query_one(Input).value = "kind:json -two"
        await shows(pilot, " 1 of ")


async def test_ranges_are_marked_and_marks_inverted_and_survive_a_filter() -> None:
    async with workbench() as (app, pilot):
        await store(app, **{f"pin-{number}": {"n": number} for number in range(6)})
        await shows(pilot, "6 pins")
        await pilot.press("g", "v", "j", "j")
        await shows(pilot, "v ends the range")
        await pilot.press("v")
        await shows(pilot, "3 marked")
        await pilot.press("asterisk", "G", "shift+up")
        await shows(pilot, "3 marked")
        await pilot.press("slash")
        app.screen.query_one(Input).value = "pin-5"
        await shows(pilot, " 1 of ", "3 marked (3 not in sight)")
        await pilot.press("escape", "s", "n")
        await shows(pilot, "NAME ▴", "3 marked")


async def test_a_click_on_a_heading_sorts_and_the_order_is_remembered() -> None:
    async with workbench() as (app, pilot):
        await store(app, b={"n": 1}, a={"n": 22})
        await shows(pilot, "2 pins", "AGE ▾")
        await pilot.click("#pins", offset=(8, 1))
        await shows(pilot, "NAME ▴")
        await pilot.click("#pins", offset=(8, 1))
        await shows(pilot, "NAME ▾")
    async with workbench(welcome=True) as (_app, pilot):
        await shows(pilot, "NAME ▾")


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("café.png", ["cafe"], ["café"]),
        ("cafe\u0301.png", ["CAFÉ"], ["cafe\u0301"]),
        ("die Straße", ["strasse"], ["Straße"]),
        ("ﬁnale fi", ["fi"], ["ﬁ", "fi"]),
        ("naïve Ångström", ["nai", "angs"], ["naï", "Ångs"]),
        ("nothing here", ["cafe"], []),
    ],
)
def test_words_stand_out_with_and_without_accents(text: str, words: list[str], found: list[str]) -> None:
    pieces = highlighted(text, words, "text")
    assert "".join(piece for piece, _ in pieces) == text
    assert [piece for piece, tone in pieces if tone == "bold primary"] == found


def test_the_ends_of_a_cid_stand_out() -> None:
    cid = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"
    assert highlighted_cid(cid, ["bafkr"], "second") == [
        ("bafkr", "bold primary"),
        ("ei…52zy", "second"),
        ("", "bold primary"),
    ]
    assert highlighted_cid(cid, ["a4s52zy"], "second")[1:] == [("bafkrei…", "second"), ("52zy", "bold primary")]


async def test_headings_are_shown_at_120_columns() -> None:
    async with workbench(size=(120, 32)) as (app, pilot):
        await store(app, one={"n": 1})
        await shows(pilot, "1 pin", "NAME", "KIND  CID", "SIZE  AGE ▾")


async def test_v_verifies_a_pin_that_another_program_made_and_the_detail_tells_the_verdict() -> None:
    async with workbench() as (app, pilot):
        client = await app.workspace.connect()
        made = [await client.store({"n": number}) for number in range(3)]
        await pilot.press("r")
        await shows(pilot, "3 pins")
        await pilot.press("g")  # the account may have been read while it held one pin, where the cursor stays
        await shows(pilot, made[2].cid[:20])
        assert "verified" not in text_of(app)
        await pilot.press("V")
        await told(pilot, "Verified: the bytes hash to the CID.")
        await shows(pilot, "✓ verified")
        await pilot.press("a", "V")
        await told(pilot, "3 verified.")

        async def damaged(address: str, **_how: object) -> None:
            raise IntegrityError(f"The bytes of {address} are others.")

        client.verify = damaged  # type: ignore[method-assign,assignment]
        await pilot.press("V")
        await told(pilot, "3 mismatched.")
        await shows(pilot, "✗ mismatch")


async def test_the_detail_and_the_question_name_the_other_services_that_pin_it(
    service: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINUI_TOKEN_STUDIO", TOKEN)
    async with workbench() as (app, pilot):
        add_profile(app, service)
        studio = app.workspace.service_of("studio")
        for number in range(2):
            await (await studio.open()).client.store({"n": number})
        await app.workspace.mirror.run(studio, full=True)
        await store(app, *({"n": number} for number in range(3)))
        await shows(pilot, "3 pins")
        await pilot.press("G")
        await shows(pilot, "Also     pinned on studio")
        await pilot.press("x")
        await shows(pilot, "It is also pinned on studio, and stays there.")
        await pilot.press("escape", "a", "x")
        await shows(pilot, "2 of them are also pinned on studio, and stay there.")


async def test_the_bar_of_a_small_terminal_counts_the_pins_of_the_account(
    service: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINUI_TOKEN_STUDIO", TOKEN)
    async with workbench(size=(80, 24)) as (app, pilot):
        add_profile(app, service)
        await app.use("studio")
        await (await app.workspace.connect()).store({"n": 1})
        await pilot.press("r")
        await until(pilot, lambda: "studio  1 pin " in text_of(app).splitlines()[0], "the bar")
        with app.busy("verifying 1,204 of 12,040"):
            await until(
                pilot, lambda: "studio  verifying 1,204  " in text_of(app).splitlines()[0], "words without a total"
            )
