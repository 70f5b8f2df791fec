"""Messages: recipients at the left, the thread of one at the right, and a line to write in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input

from pinui.figures import age, count, short_cid
from pinui.tui.dialogs.prompt import CheckedPrompt, Prompt
from pinui.tui.entries import title_of
from pinui.tui.focus import focus_now
from pinui.tui.keys import bindings
from pinui.tui.other_programs import edit_text
from pinui.tui.places.content import ContentScreen
from pinui.tui.places.messages.keys import MESSAGES, RECIPIENTS
from pinui.tui.places.messages.thread import Thread
from pinui.tui.places.messages.write_line import WriteLine
from pinui.tui.places.place import PlaceScreen, asks
from pinui.tui.widgets.fields import pane_title
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line
from pinui.tui.widgets.two_line_list import TwoLineList, TwoLines
from pinui.tui.workbench import Unfinished
from pinui.workspace import Entry, NotKept, Query
from pinui.workspace.drafts import Drafts

__all__ = ["MessagesScreen"]

RECEIVED = "\0received"
"""The item for messages that nobody has filed yet; no recipient can be called that."""
MOST = 300
LONG = 400
"""Characters of the longest excerpt: the text may go on after it."""


class RecipientList(TwoLineList):
    """The recipients of messages and of drafts."""

    BINDINGS = bindings(RECIPIENTS)
    drafts: Mapping[str | None, str] = MappingProxyType({})

    def below(self, item: TwoLines) -> tuple[str, str]:
        """The draft, if another one is shown in the line, or the last message."""
        draft = self.drafts.get(None if item.id == RECEIVED else item.id, "").strip()
        return (f"draft: {draft}", "warning") if draft else super().below(item)


class MessagesScreen(PlaceScreen):
    """Recipients, a thread, a line."""

    BINDINGS = bindings(MESSAGES)
    PLACE = "messages"
    PANES = ("#recipients", "#thread", "#line")
    SECOND = ("#thread", "#line")

    def __init__(self) -> None:
        super().__init__()
        self.new: list[str] = []
        self.sending: list[tuple[str, str]] = []
        """Recipients and texts of messages that are being stored."""
        self._texts: dict[tuple[int, str], str] = {}  # the long ones of the thread in sight
        self._reading = asyncio.Lock()
        self._loads = 0

    def compose_body(self) -> Iterable[Widget]:
        """Two columns; the line below the thread."""
        with Horizontal(classes="body"):
            yield RecipientList(id="recipients")
            with Vertical(id="right", classes="second"):
                yield Thread(self.app.clock)
                yield WriteLine()

    def on_mount(self) -> None:
        pane_title(self.recipients, "Recipients")
        self.recipients.notes = [
            [("Nobody yet.", "bold strong")],
            [],
            [(f"{self.app.key('messages.new')} ", "bold primary"), ("writes to somebody", "muted")],
            [(f"{self.app.key('messages.receive')} ", "bold primary"), ("reads by CID", "muted")],
        ]
        self.recipients.drafts = self.line.drafts
        for name, text in self.app.unsaved.text.messages.items():
            self.line.give_back(name, text)
            if name is not None:
                self.new.append(name)  # unless they turn out to be known
        self._title()

    @property
    def recipients(self) -> RecipientList:
        """The list at the left."""
        return self.query_one(RecipientList)

    @property
    def thread(self) -> Thread:
        return self.query_one(Thread)

    @property
    def line(self) -> WriteLine:
        """The field of the message."""
        return self.query_one(WriteLine)

    @property
    def recipient(self) -> str | None:
        """The name of the thread; None for messages that are not filed."""
        current = self.recipients.current
        return None if current is None or current.id == RECEIVED else current.id

    @property
    def unfinished(self) -> Unfinished | None:
        """Pins that are being revoked, and messages that are being stored."""
        parts = [revoking] if (revoking := super().unfinished) else []
        if self.sending:
            lost = "It may be stored anyway, and its CID would be lost."
            parts.append(Unfinished("a message is being stored", lost))
        if not parts:
            return None
        return Unfinished(", and ".join(part.fact for part in parts), "\n\n".join(part.consequence for part in parts))

    def keep_text(self, drafts: Drafts) -> Drafts:
        """The draft for each recipient. A message counts as a draft until it is stored."""
        messages = self.line.unsent
        for name, text in self.sending:
            messages[name] = f"{text}\n{messages[name]}" if name in messages else text
        return replace(drafts, messages=messages)

    def _title(self, older: int = 0) -> None:
        name = self.recipient
        unfiled = self.recipients.current is not None and name is None
        copy, file = self.app.key("messages.copy"), self.app.key("thread.file")
        fact = (
            f"{file} files one under a name" if unfiled else f"{self.app.audience}; share the CID yourself ({copy} y)"
        )
        pane_title(
            self.thread,
            name or ("Received" if unfiled else "Messages"),
            f"the last {MOST} · {count(older)} older in the history" if older else fact,
        )

    # -- showing ------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Read the messages again, after one was stored."""
        self.work_on(self._reload, "reload")

    async def _reload(self, select: str | None = None) -> None:
        async with self._reading:  # one after the other: what was read first must not be shown last
            items = await self._items()
            self.recipients.show_items(items, select)
        self._turn_line()
        await self._show_thread()

    async def _items(self) -> list[TwoLines]:
        history, profile, now = self.workspace.history, self.workspace.profile.name, self.app.clock()
        known = await history.recipients(profile)
        items = [TwoLines(one.name, one.name, age(one.timestamp, now), one.excerpt or "") for one in known]
        loose = await history.ids(self._unfiled)
        for newest in await history.entries(loose[-1:]):
            fact = f"not filed yet · {count(len(loose))}"
            items.append(TwoLines(RECEIVED, "Received", age(newest.timestamp, now), fact))
        names = {item.id for item in items}
        self.new = [name for name in self.new if name not in names]
        drafts = [name for name in self.line.unsent if name and name not in names and name not in self.new]
        return [*(TwoLines(name, name, "new", "nothing sent yet") for name in (*self.new, *drafts)), *items]

    @property
    def _unfiled(self) -> Query:
        profile = self.workspace.profile.name
        return Query(kind="message", direction="received", profile=profile, filed=False, sort="oldest")

    def _turn_line(self) -> None:
        self.line.turn_to(self.recipient)
        self.recipients.refresh()  # it shows the drafts that are out of sight

    async def _show_thread(self) -> None:
        self._loads += 1
        this, history = self._loads, self.workspace.history
        current, name = self.recipients.current, self.recipient
        ids: Sequence[int] = ()
        if current is not None and name is None:
            ids = await history.ids(self._unfiled)
        elif name is not None:
            query = Query(kind="message", recipient=name, profile=self.workspace.profile.name, sort="oldest")
            ids = await history.ids(query)
        entries = await history.entries(ids[-MOST:])
        texts = {entry.id: await self._text(entry) for entry in entries if len(entry.excerpt or "") >= LONG}
        notes: list[Line] = [[("No messages yet.", "muted")]] if name else []
        if this != self._loads:
            return  # the cursor went on, or somebody wrote, and that is shown instead
        self._texts = {(entry.id, entry.cid): texts[entry.id] for entry in entries if entry.id in texts}
        self._title(len(ids) - len(entries))
        self.thread.show_entries(entries, texts, notes)
        self.refresh_bindings()

    async def _text(self, entry: Entry) -> str:
        if (known := self._texts.get((entry.id, entry.cid))) is not None:
            return known
        record = await self.workspace.history.record(entry.id)
        document: Any = None if record is None else record.data
        return cast("dict[str, str]", document)["payload"] if isinstance(document, dict) else entry.excerpt or ""

    @on(ItemList.Moved, "#recipients")
    def _moved(self) -> None:
        self._turn_line()
        self.work_on(self._show_thread, "thread")

    @on(Input.Changed, "#words")
    def _typed(self) -> None:
        self.app.unsaved.changed()

    @on(Input.Blurred, "#words")
    def _left_the_line(self) -> None:
        self._turn_line()

    @on(ItemList.Chosen, "#recipients")
    def _chosen(self) -> None:
        self.action_write()

    # -- writing and receiving ----------------------------------------------------------------------------------

    def action_write(self) -> None:
        """Focus the line for a new message."""
        if self.recipient is None:
            self.action_new_recipient()
        else:
            self._turn_line()
            self.show_pane("#line")
            focus_now(self.line.field)

    @asks("new")
    async def action_new_recipient(self) -> None:
        """Ask for a name first."""
        note = "Any name that means something to you both. It becomes part of the stored document."
        name = await self.ask(Prompt("New recipient", "Whom do you want to write to?", note=note), more=True)
        if name:
            if name not in self.new:
                self.new.insert(0, name)
            self.line.give_back(name, self.line.take(None))  # a draft without a recipient goes to the one just named
            await self._reload(name)
            self.action_write()

    def action_external_editor(self) -> None:
        """The draft in $EDITOR."""
        name = self.line.addressee

        async def take(text: str) -> None:
            self.line.take(name)
            self.line.give_back(name, text.rstrip("\n"))

        self.work_on(lambda: edit_text(self.app, self.line.unsent.get(name, ""), "message.txt", take), "editor")

    @on(Input.Submitted, "#words")
    def _submitted(self) -> None:
        name = self.line.addressee
        if name is None:
            self.action_new_recipient()
        elif (text := self.line.take(name)).strip():
            self.sending.append((name, text))
            self.work_on(lambda: self._send(name, text), "send", exclusive=False, busy=self.line)

    async def _send(self, name: str, text: str) -> None:
        try:
            with self.app.busy("storing …"):
                entry = await self.workspace.send(name, text)
        except BaseException:
            self.line.give_back(name, text)  # what was written is not lost with the connection
            self.recipients.refresh()
            raise
        finally:
            self.sending.remove((name, text))
            self.app.unsaved.changed()
        await self._reload()
        leave, copy = self.app.key("field.leave"), self.app.key("messages.copy")
        self.app.tell(
            f"Stored as {short_cid(entry.cid)}. It is not delivered: {leave}, then {copy} y copies the CID to share."
        )

    def receive(self, address: str) -> None:
        """Begin from another place, which knows the CID."""

        async def received() -> None:
            with self.app.busy("fetching …"):
                received = await self._receive_from(address)
            await self._show_received(received)

        self.ask_on(received, "receive")

    async def _receive_from(self, address: str) -> Entry | NotKept:
        """The row of a message, or the message itself if the history could not keep it."""
        try:
            return (await self.workspace.receive(address))[0]
        except NotKept as error:
            return error

    @asks("receive")
    async def action_receive(self) -> None:
        """Ask for a CID and read the message."""
        note = "Messages name no sender: it is listed under Received until you file it under a name."
        prompt = CheckedPrompt("Receive", "The CID of a message, or its URL", self._receive_from, note=note)
        received = await self.ask(prompt)
        if received is not None:
            await self._show_received(received)

    async def _show_received(self, received: Entry | NotKept) -> None:
        if isinstance(received, NotKept):
            words = f"{received}.\n\n{received.message.payload}"
            await self.ask(ContentScreen(received.cid, words))
            return
        await self._reload(received.recipient or RECEIVED)
        self.show_pane("#thread")

    @asks("file")
    async def action_file_under(self) -> None:
        """Give a received message a place."""
        entry = self.thread.current
        if entry is None:
            return
        note = "Only this machine knows where you filed it. Leave it empty to take it out again."
        name = await self.ask(Prompt("File under", "Under which name?", entry.recipient or "", note=note))
        if name is not None:
            await self.workspace.history.file_under(entry.id, name or None)
            await self._reload(name or RECEIVED)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done with this message."""
        if not self.is_mounted:
            return True
        entry = self.thread.current
        if action == "file_under":
            return entry is not None and entry.direction == "received"
        if action == "revoke":
            return entry is not None and entry.direction == "sent" and entry.revoked_at is None
        if action in ("copy", "browse"):
            return True if entry is not None else None
        return super().check_action(action, parameters)

    @on(ItemList.Moved, "#thread")
    def _moved_in_thread(self) -> None:
        self.refresh_bindings()

    # -- with the message under the cursor ----------------------------------------------------------------------

    def action_copy(self) -> None:
        from pinui.tui.places.record_actions import copy_menu

        entry = self.thread.current
        if entry is not None:
            self.ask_on(lambda: copy_menu(self, entry.cid, entry.name or title_of(entry), entry), "copy")

    def action_browse(self) -> None:
        """Open the message in the browser."""
        from pinui.tui.places.record_actions import browse

        entry = self.thread.current
        if entry is not None:
            self.work_on(lambda: browse(self, entry.cid), "browse")

    def action_revoke(self) -> None:
        """Ask, then revoke."""
        from pinui.tui.places.record_actions import revoke

        entry = self.thread.current

        async def asked() -> None:
            if entry is not None:
                await revoke(self, [entry])
                await self._reload()

        self.ask_on(asked, "revoke", exclusive=False)
