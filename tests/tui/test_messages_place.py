"""Messages: writing, receiving, filing, passing the CID on."""

from __future__ import annotations

import asyncio
import re
import threading
from dataclasses import replace
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from pinui.tui.app import Pinui
from pinui.tui.places.messages.screen import MessagesScreen
from pinui.tui.places.pins import detail
from pinui.tui.preview import Shown, show_words
from pinui.tui.widgets.fields import Field
from pinui.workspace import Query
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.schema import writing
from tests.tui.pilots import confirm, paste, settled, shows, text_of, told, until, workbench


def line_of(app: Pinui) -> str:
    return cast("MessagesScreen", app.screen).query_one("#words", Field).value


async def test_a_message_is_written_stored_and_its_cid_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    async with workbench() as (app, pilot):
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        await pilot.press("4")
        await shows(pilot, "Nobody yet.", "share the CID yourself")
        await pilot.press("n")
        await shows(pilot, "Whom do you want to write to?")
        await paste(pilot, "alice")
        await pilot.press("enter")
        await shows(pilot, "Write to alice")
        await paste(pilot, "The keys are in the box.")
        await pilot.press("enter")
        await shows(pilot, "you → alice", "The keys are in the box.", "It is not delivered")
        entry = (await app.workspace.history.page(Query()))[0]
        assert (entry.kind, entry.recipient) == ("message", "alice")
        await pilot.press("escape", "shift+tab", "y")
        await shows(pilot, "ipfs:// URI", "gateway URL", "text")
        await pilot.press("y")
        await until(pilot, lambda: copied == [entry.cid])
        await pilot.press("y", "t")
        await until(pilot, lambda: copied[1:] == ["The keys are in the box."])


async def test_a_message_that_cannot_be_kept_is_shown_with_the_reason() -> None:
    async with workbench() as (app, pilot):
        client = await app.workspace.connect()
        cid = (await client.store({"recipientId": "me", "payload": "Which page?", "timestamp": 1e300})).cid
        await pilot.press("4", "v")
        await shows(pilot, "The CID of a message")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, "Which page?", "could not be kept in the history", "written down exactly ($.timestamp).")


async def test_a_received_message_stands_under_received_until_it_is_filed() -> None:
    async with workbench() as (app, pilot):
        client = await app.workspace.connect()
        cid = (await client.send("me", "Which page?")).cid
        await pilot.press("4", "v")
        await shows(pilot, "The CID of a message")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, "Received", "not filed yet · 1", "Which page?", "f file under")
        await pilot.press("f")
        await shows(pilot, "Under which name?")
        await paste(pilot, "alice")
        await pilot.press("enter")
        await shows(pilot, "received, filed here by you")
        await until(pilot, lambda: "not filed yet" not in text_of(app))
        assert not await app.workspace.history.count(Query(direction="sent")), "Pins shows only what was sent"


async def test_what_is_no_message_is_told() -> None:
    async with workbench() as (app, pilot):
        cid = (await app.workspace.store({"no": "message"})).cid
        await pilot.press("4", "v")
        await shows(pilot, "The CID of a message")
        await paste(pilot, cid)
        await pilot.press("enter")
        await shows(pilot, "This document is not a message", "The CID of a message")


async def test_words_are_not_lost_when_sending_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from pinui.sdk.errors import NetworkError

    async with workbench() as (app, pilot):
        await app.workspace.send("bob", "hello")
        await pilot.press("4")
        await shows(pilot, "bob")

        async def lost(*_: object) -> None:
            raise NetworkError("The connection was reset")

        monkeypatch.setattr(app.workspace, "send", lost)
        await pilot.press("i")
        await paste(pilot, "see you at the harbour")
        await pilot.press("enter")
        await shows(pilot, "The connection was reset", "see you at the harbour")


async def name_somebody(pilot: Pilot[None], name: str) -> None:
    await pilot.press("n")
    await shows(pilot, "Whom do you want to write to?")
    await paste(pilot, name)
    await pilot.press("enter")
    await shows(pilot, f"Write to {name}")


async def test_a_message_stored_late_does_not_turn_the_line_to_its_recipient(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        await app.workspace.send("bob", "hello")
        await app.workspace.send("alice", "hello")
        await pilot.press("4")
        await shows(pilot, "Write to alice", "bob")
        may_answer, send = asyncio.Event(), app.workspace.send

        async def slow(*values: str) -> Any:
            await may_answer.wait()
            return await send(*values)

        monkeypatch.setattr(app.workspace, "send", slow)
        await pilot.press("i")
        await paste(pilot, "for alice")
        await pilot.press("enter", "escape", "tab", "j", "i")
        await shows(pilot, "Write to bob")
        await paste(pilot, "for bob alone")
        may_answer.set()
        await told(pilot, "Stored as")
        await settled(pilot)
        await shows(pilot, "Write to bob", "for bob alone")
        await pilot.press("enter")
        await told(pilot, "Stored as")
        entries = await app.workspace.history.page(Query(text="for"))
        assert [(entry.recipient, entry.excerpt) for entry in entries] == [
            ("bob", "for bob alone"),
            ("alice", "for alice"),
        ]


async def test_everybody_has_a_draft_of_their_own() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.send("bob", "hello")
        await app.workspace.send("alice", "hello")
        await pilot.press("4")
        await shows(pilot, "Write to alice", "bob")
        await pilot.press("i")
        await paste(pilot, "dear alice")
        await pilot.press("escape", "tab", "j")
        await shows(pilot, "Write to bob")
        await shows(pilot, "draft: dear alice")
        assert "dear alice" not in line_of(app)
        await pilot.press("i")
        await paste(pilot, "dear bob")
        await pilot.press("escape", "tab", "k")
        await shows(pilot, "Write to alice", "dear alice")
        assert line_of(app) == "dear alice"
        await shows(pilot, "draft: dear bob")
        assert "draft: dear alice" not in text_of(app), "it is in sight"


async def test_what_is_being_written_stays_though_the_list_changes() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("4", "tab", "tab", "enter")
        await paste(pilot, "to nobody yet")
        await app.workspace.send("alice", "hello")
        await shows(pilot, "you → alice")
        await settled(pilot)
        assert line_of(app) == "to nobody yet"
        await pilot.press("enter")
        await shows(pilot, "Whom do you want to write to?")
        await paste(pilot, "bob")
        await pilot.press("enter")
        await shows(pilot, "Write to bob", "to nobody yet")
        await pilot.press("escape", "tab", "j")
        await shows(pilot, "Write to alice")
        assert not line_of(app)


async def test_failed_messages_come_back_to_whom_they_were_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from pinui.sdk.errors import NetworkError

    async with workbench() as (app, pilot):
        await app.workspace.send("bob", "hello")
        await app.workspace.send("alice", "hello")
        await pilot.press("4")
        await shows(pilot, "Write to alice", "bob")
        may_fail = asyncio.Event()

        async def lost(*_: object) -> None:
            await may_fail.wait()
            raise NetworkError("The connection was reset")

        monkeypatch.setattr(app.workspace, "send", lost)
        await pilot.press("i")
        await paste(pilot, "first")
        await pilot.press("enter")
        await paste(pilot, "second")
        await pilot.press("enter")
        await paste(pilot, "third")
        await pilot.press("escape", "tab", "j", "i")
        await paste(pilot, "dear bob")
        may_fail.set()
        await told(pilot, "The connection was reset")
        await told(pilot, "The connection was reset")
        assert line_of(app) == "dear bob"
        await pilot.press("escape", "tab", "k")
        await shows(pilot, "Write to alice", "third⏎first⏎second")


async def test_enter_without_a_recipient_asks_for_one_and_keeps_the_words() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("4")
        await shows(pilot, "Nobody yet.")
        await pilot.press("tab", "tab", "enter")
        await paste(pilot, "hello")
        await pilot.press("enter")
        await shows(pilot, "Whom do you want to write to?")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MessagesScreen))
        assert line_of(app) == "hello"
        await pilot.press("enter")
        await shows(pilot, "Whom do you want to write to?")
        await paste(pilot, "zoe")
        await pilot.press("enter")
        await shows(pilot, "Write to zoe", "hello")
        await pilot.press("enter")
        await shows(pilot, "you → zoe", "hello")


async def test_somebody_named_twice_stands_there_once() -> None:
    async with workbench() as (app, pilot):
        await pilot.press("4")
        await name_somebody(pilot, "zoe")
        await pilot.press("escape")
        await name_somebody(pilot, "zoe")
        await settled(pilot)
        assert [item.name for item in cast("MessagesScreen", app.screen).recipients.items] == ["zoe"]


async def test_threads_are_apart_and_long_messages_are_whole() -> None:
    async with workbench(size=(100, 40)) as (app, pilot):
        await app.workspace.send("alice", "word " * 150 + "the end")
        await app.workspace.send("bob", "see you at the harbour")
        await pilot.press("4")
        await shows(pilot, "you → bob", "see you at the harbour")
        await pilot.press("j")
        await shows(pilot, "you → alice", "the end")
        await settled(pilot)
        assert "you → bob" not in text_of(app)


async def test_a_very_long_message_shows_its_beginning_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "漢" * 12_000
    threads: list[threading.Thread] = []

    def watched(*arguments: Any) -> Shown:
        threads.append(threading.current_thread())
        return show_words(*arguments)

    monkeypatch.setattr(detail, "show_words", watched)
    async with workbench() as (app, pilot):
        await app.workspace.send("alice", text)
        await pilot.press("4")
        await shows(pilot, "漢漢漢", "… 7,000 more characters: y, then j, copies all of it")
        await pilot.resize_terminal(120, 36)
        await settled(pilot)
        await shows(pilot, "… 7,000 more characters")
        await pilot.press("1")
        await until(pilot, lambda: threads)
        assert threading.main_thread() not in threads, "breaking 262,144 characters into lines takes a while"


async def test_a_message_higher_than_the_pane_shows_its_end_in_any_size() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.send("alice", "漢" * 12_000)
        await pilot.press("4")
        await shows(pilot, "7,000 more characters")
        for size in ((100, 30), (140, 40)):
            await pilot.resize_terminal(*size)
            await shows(pilot, "7,000 more characters")


@pytest.mark.slow
async def test_every_line_of_a_message_higher_than_the_pane_is_reached_by_keys() -> None:
    long = "\n".join(f"line {number} of it" for number in range(1, 81))
    async with workbench() as (app, pilot):
        await app.workspace.send("alice", "a short one")
        await app.workspace.send("alice", long)
        await pilot.press("4")
        await shows(pilot, "line 80 of it")
        await pilot.press("tab", "k", "pageup", "pageup", "pageup")
        await shows(pilot, "line 1 of it")
        await pilot.press("pageup")
        await shows(pilot, "▌ a short one")
        await pilot.press("j", "pagedown")
        await shows(pilot, "line 40 of it")
        await pilot.press("G")
        await shows(pilot, "line 80 of it")
        await pilot.press("g")
        await shows(pilot, "▌ a short one")
        lines = set[str]()
        for _ in range(90):
            await pilot.press("j")
            lines |= set(re.findall(r"line \d+ of it", text_of(app)))
        assert len(lines) == 80


async def test_a_long_thread_of_long_messages_is_cut_from_its_oldest() -> None:
    from pinui.tui.places.messages import thread as module

    async with workbench() as (app, pilot):
        await app.workspace.send("alice", "hello")
        entry = (await app.workspace.history.page(Query()))[0]
        await pilot.press("4")
        await shows(pilot, "you → alice")
        thread = app.screen.query_one(module.Thread)
        entries = [replace(entry, id=number) for number in range(100)]
        thread.show_entries(entries, dict.fromkeys(range(100), "漢" * 20_000), [])
        lengths = [sum(len(text) for line in block[1:-1] for text, _ in cast("Any", line)) for block in thread.blocks]
        assert lengths == [module.LEAST] * 80 + [module.MOST] * 20


async def test_a_message_is_revoked_from_its_thread() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.send("bob", "regretted")
        await pilot.press("4")
        await shows(pilot, "regretted")
        await pilot.press("tab", "x")
        await shows(pilot, "Revoke this pin")
        await confirm(pilot, "R")
        await told(pilot, "Revoked 1 pin.")
        await shows(pilot, "revoked")
        assert await app.workspace.history.count(Query(revoked=True)) == 1


async def test_a_thread_that_comes_late_does_not_stand_under_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        await app.workspace.send("ann", "to ann")
        await app.workspace.send("bob", "to bob")
        await pilot.press("4")
        await shows(pilot, "ann", "bob", "you → bob")
        await settled(pilot)
        screen = cast("MessagesScreen", app.screen)
        ids, asked, may_answer = app.workspace.history.ids, asyncio.Event(), asyncio.Event()

        async def late(query: Query) -> Any:
            found = await ids(query)
            if query.recipient == "bob" and not asked.is_set():
                asked.set()
                await may_answer.wait()
            return found

        monkeypatch.setattr(app.workspace.history, "ids", late)
        screen.workspace_changed()
        await asked.wait()
        await pilot.press("j")
        await shows(pilot, "you → ann")
        may_answer.set()
        await settled(pilot)
        assert screen.recipient == "ann"
        assert [entry.recipient for entry in screen.thread.entries] == ["ann"]


async def test_what_is_not_filed_shows_behind_hundreds_of_filed_ones_and_a_long_thread_says_what_it_leaves_out() -> (
    None
):
    async with workbench() as (app, pilot):
        sent = await app.workspace.send("ann", "hello")
        message = replace(sent, id=0, direction="received", recipient=None, excerpt="long ago")
        history = HistoryFile(app.workspace.paths.history)
        with history, writing(history.connection):
            history.insert(replace(message, timestamp=1_600_000_000_000), None)
            for number in range(301):
                history.insert(replace(message, recipient="bob", timestamp=1_700_000_000_000 + number), None)
        await pilot.press("4")
        await shows(pilot, "Received", "not filed yet · 1", "bob")
        await pilot.press("j")
        await shows(pilot, "the last 300 · 1 older in the history")
        await pilot.press("G")
        await shows(pilot, "long ago", "f files one under a name")


async def test_leaving_asks_while_a_message_is_being_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench() as (app, pilot):
        may_answer = asyncio.Event()
        send = app.workspace.send

        async def slow(*values: str) -> Any:
            await may_answer.wait()
            return await send(*values)

        monkeypatch.setattr(app.workspace, "send", slow)
        await pilot.press("4", "n")
        await shows(pilot, "Whom do you want to write to?")
        await paste(pilot, "alice")
        await pilot.press("enter")
        await shows(pilot, "Write to alice")
        await paste(pilot, "hello")
        await pilot.press("enter")
        await until(pilot, lambda: cast("MessagesScreen", app.screen).sending)
        await pilot.press("escape", "q")
        await shows(pilot, "A message is being stored. Quit anyway?")
        await pilot.press("escape")
        may_answer.set()
        await told(pilot, "Stored as")
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running, "the end")


async def test_a_toast_is_shown_once_when_a_dialog_opens_over_it() -> None:
    async with workbench() as (app, pilot):
        await app.workspace.send("alice", "hello")
        await pilot.press("4")
        await shows(pilot, "hello")
        app.notify("The lantern is lit.", timeout=600)
        await shows(pilot, "The lantern is lit.")
        await pilot.press("y")
        await shows(pilot, "copied in full")
        await until(pilot, lambda: text_of(app).count("The lantern is lit.") == 1, "one toast")
        await pilot.press("escape")
        await until(pilot, lambda: "copied in full" not in text_of(app), "the place")
        await shows(pilot, "The lantern is lit.")
