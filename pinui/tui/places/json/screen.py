"""JSON: write and store a document at the left, fetch and read one at the right."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, TextArea

from pinui.disk import replacing
from pinui.figures import count, short_cid
from pinui.tui.common_keys import FIELD
from pinui.tui.dialogs.confirm import Confirm, overwrite_question
from pinui.tui.dialogs.prompt import CheckedPrompt, Choice, Menu, Prompt
from pinui.tui.entries import VERDICTS
from pinui.tui.focus import focus_now
from pinui.tui.json_text import beginning, in_short_lines, laid_out, pretty, safe_for_editor
from pinui.tui.keys import bindings
from pinui.tui.local_files import LARGEST_TEXT, TOO_LARGE, place_to_save, text_of_file
from pinui.tui.other_programs import edit_text
from pinui.tui.places.json.editor import JsonEditor
from pinui.tui.places.json.json_tree import JsonTree
from pinui.tui.places.json.keys import DOCUMENT, RETRIEVE, STORE
from pinui.tui.places.place import PlaceScreen, asks
from pinui.tui.preview import show_json
from pinui.tui.widgets.fields import Field, FieldPane, pane_title
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Lines, LineView
from pinui.workspace import WorkspaceError
from pinui.workspace.drafts import Drafts

__all__ = ["JsonScreen"]

PAUSE = 0.15
BEGINNINGS = {"{", "[", '"'}


class StorePane(FieldPane, inherit_bindings=False):
    """The pane around the editor. It looks like the editor, so the beginning of a document typed here goes into it."""

    BINDINGS = bindings(STORE, FIELD)

    def on_key(self, event: events.Key) -> None:
        """No command is a bracket or a quote."""
        if event.character in BEGINNINGS and not self.in_field:
            event.stop()
            self.action_enter_field()
            self.query_one(JsonEditor).insert(event.character)


class AddressField(Field):
    """A CID or URL to retrieve."""

    BINDINGS = bindings(RETRIEVE)


class DocumentText(LineView):
    """The retrieved document as text."""

    BINDINGS = bindings(DOCUMENT)


class JsonScreen(PlaceScreen):
    """Store and Retrieve."""

    PLACE = "json"
    PANES = ("#store", "#retrieve", "#document")
    SECOND = ("#retrieve", "#document", "#document-text")

    def __init__(self) -> None:
        super().__init__()
        self.retrieved: Any = None
        self.address = ""
        self.valid: object = None
        self.is_valid = False
        self.stored = ""
        self._pause: Timer | None = None
        self._kept = ""
        self._storing: set[str] = set()

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(classes="body"):
            with StorePane(id="store", classes="pane first"):
                yield JsonEditor(id="editor")
            with Vertical(id="right", classes="second"):
                with FieldPane(id="retrieve", classes="pane"):
                    yield AddressField(placeholder="a CID, or a URL with /ipfs/", id="address")
                yield JsonTree()
                yield DocumentText(id="document-text", classes="pane")

    def on_mount(self) -> None:
        """Titles and a first word in each pane."""
        pane_title(self.query_one("#store"), "Store", f"{self.app.key('field.enter')} to write · {self.app.audience}")
        pane_title(self.query_one("#retrieve"), "Retrieve", "CID or URL")
        self.query_one(JsonTree).show_notes(
            [[("The retrieved document is shown", "muted")], [("here, verified against its CID.", "muted")]]
        )
        self._title_document()
        if text := self.app.unsaved.text.json:
            self.editor.load_text(text)

    @property
    def editor(self) -> JsonEditor:
        return self.query_one(JsonEditor)

    @property
    def unsaved(self) -> str:
        """The text, unless it is stored or unchanged since it was loaded from a file or a document."""
        text = self.editor.text
        return text if text.strip() and text != self._kept else ""

    def keep_text(self, drafts: Drafts) -> Drafts:
        """The text in the editor."""
        return replace(drafts, json=self.unsaved)

    def _title_document(self) -> None:
        fact = ("text · t tree" if self.has_class("-text") else "tree · t text") if self.address else ""
        for pane in ("#document", "#document-text"):
            pane_title(self.query_one(pane), "Document", fact)

    # -- store --------------------------------------------------------------------------------------------------

    @on(TextArea.Changed, "#editor")
    def _typed(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self.app.unsaved.changed()
        self._pause = self.set_timer(PAUSE, lambda: self.work_on(self._validate, "validate"))

    async def _validate(self) -> None:
        from pinui.ipfs.jsontext import NotJSON, parse, stringify, utf16_length

        text, pane = self.editor.text, self.query_one("#store")
        self.is_valid = False
        pane.remove_class("-wrong")
        if not text.strip():
            pane_title(pane, "Store", f"empty · {self.app.audience}")
            return
        try:
            value = await asyncio.to_thread(parse, text)
            stored = await asyncio.to_thread(stringify, value)
        except NotJSON as error:
            pane.add_class("-wrong")
            place = "" if error.path == "$" else f"{error.path}: "
            pane_title(pane, "Store", f"{place}{error.reason}")
            return
        self.valid, self.is_valid = value, True
        pane_title(pane, "Store", f"valid · {count(utf16_length(stored))} characters · {self.app.audience}")

    def action_store(self) -> None:
        """Store what is in the editor."""
        self.work_on(self._store, "store", exclusive=False, busy=self.query_one("#store"))

    @asks("store")
    async def action_store_named(self) -> None:
        """Store what is in the editor, under a name."""
        if not await self._is_ready():
            return
        note = "Pins and the history show it by this name, on this machine alone. The document doesn't contain it."
        name = await self.ask(Prompt("Store", "The name of this document", note=note))
        if name is not None:
            await self._store(name or None)

    def action_format(self) -> None:
        """Lay out the document."""
        self.work_on(self._format, "format")

    async def _format(self) -> None:
        if not await self._is_ready():
            return
        text, was_kept = self.editor.text, not self.unsaved
        new = await asyncio.to_thread(laid_out, text)
        if len(new) > LARGEST_TEXT:
            raise WorkspaceError(TOO_LARGE)
        if self.editor.text == text != new:  # nobody typed meanwhile
            self.editor.replace(new, (0, 0), self.editor.document.end)
            if was_kept:
                self._kept = self.editor.text

    async def _is_ready(self) -> bool:
        """Whether the text is JSON; a person hears why it isn't."""
        await self._validate()
        if not self.is_valid:
            empty = not self.editor.text.strip()
            self.app.tell(
                "Write some JSON first." if empty else "This is not JSON yet: the border says where.", warning=True
            )
        return self.is_valid

    async def _store(self, name: str | None = None) -> None:
        text = self.editor.text
        is_ready = await self._is_ready()
        if text in self._storing:
            self.app.tell("It is being stored already.")
            return
        if not is_ready:
            return
        self._storing.add(text)
        try:
            with self.app.busy("storing …"):
                entry = await self.workspace.store(self.valid, name=name)
        finally:
            self._storing.discard(text)
        self._kept = text
        self.app.unsaved.changed()
        self.stored = entry.cid
        self.app.fresh = entry.id
        self.refresh_bindings()
        copy, pins = self.app.key("store.copy"), self.app.key("app.pins")
        self.app.tell(f"Stored as {short_cid(entry.cid)}. {copy} copies the CID, {pins} shows it in Pins.")

    def action_copy_stored(self) -> None:
        """The CID of what was stored last."""
        self.app.copy(self.stored, "CID")

    @asks("load")
    async def action_load_file(self) -> None:
        """Read a file into the editor."""
        prompt = CheckedPrompt("Load", "Which JSON file?", text_of_file, placeholder="~/data.json")
        text = await self.ask(prompt, more=True)
        if text is not None and await self._may_replace():
            await self._edit(text, kept=True)

    async def _may_replace(self) -> bool:
        """Whether another text may replace the one in the editor. Asks if that is unsaved."""
        question = Confirm(
            "Replace the text",
            "The text in the editor is not stored. Replace it?",
            "There is no other copy. Cancel keeps it.",
            "Replace",
        )
        return not self.unsaved or await self.ask(question) is True

    async def _edit(self, text: str, *, kept: bool) -> None:
        text = await asyncio.to_thread(lambda: in_short_lines(safe_for_editor(text)))
        if len(text) > LARGEST_TEXT:
            raise WorkspaceError(TOO_LARGE)
        self.editor.load_text(text)
        if kept:
            self._kept = self.editor.text
        self.show_pane("#store")

    def action_external_editor(self) -> None:
        """The text in $EDITOR."""
        self.work_on(self._external_editor, "editor")

    async def _external_editor(self) -> None:
        await edit_text(self.app, self.editor.text, "document.json", lambda text: self._edit(text, kept=False))

    # -- retrieve -----------------------------------------------------------------------------------------------

    @on(Input.Submitted, "#address")
    def _submitted(self) -> None:
        self.work_on(self._retrieve, "retrieve", busy=self.query_one("#document"))

    async def _retrieve(self) -> None:
        address = self.query_one("#address", Field).value.strip()
        if not address:
            return
        tree, asked_from = self.query_one(JsonTree), self.focused
        self._note([[("fetching …", "muted")]])
        self.address, self.retrieved = "", None
        began = time.perf_counter()
        verdicts: list[str | None] = []
        try:
            value = await self.workspace.retrieve(address, on_verdict=verdicts.append)
        except Exception as error:
            from pinui.tui.display import wrapped
            from pinui.tui.errors import sentence

            lines = wrapped(sentence(error), max(20, tree.list_width - 1))
            self._note([[(line, "error")] for line in lines])
            pane_title(self.query_one("#retrieve"), "Retrieve", "CID or URL")
            self._title_document()
            if not isinstance(error, (ValueError, OSError)) and not hasattr(error, "hint"):
                raise
            return
        took = (time.perf_counter() - began) * 1000
        self.address, self.retrieved = address, value
        await tree.show_value(value)
        shown = await asyncio.to_thread(show_json, value)
        self.query_one("#document-text", LineView).show_lines(shown.lines, widest=shown.widest)
        self._title_document()
        host = urlsplit(await self.workspace.gateway_url()).hostname or ""
        mark, _, word, _ = VERDICTS.get(verdicts[-1] or "" if verdicts else "", ("", "", "", ""))
        fact = f"{took:.0f} ms from {host}"
        pane_title(self.query_one("#retrieve"), "Retrieve", f"{mark} {word} · {fact}" if mark else fact)
        if self.app.screen is self and self.focused is asked_from:  # a user who went on to something else stays there
            self.show_pane("#document")

    def _note(self, lines: Lines) -> None:
        """Show these lines instead of a document, both as tree and as text."""
        self.query_one(JsonTree).show_notes(lines)
        self.query_one("#document-text", LineView).show_lines(lines)

    # -- the document -------------------------------------------------------------------------------------------

    def action_toggle_text(self) -> None:
        self.toggle_class("-text")
        self.app.stylesheet.update(self)
        self._title_document()
        focus_now(self.query_one("#document-text" if self.has_class("-text") else "#document"))

    @on(ItemList.Chosen, "#document")
    def action_fold(self) -> None:
        self.ask_on(self.query_one(JsonTree).toggle, "fold")

    @asks("fold")
    async def action_fold_all(self) -> None:
        """Fold or unfold the whole tree."""
        if not await self.query_one(JsonTree).toggle_all():
            opens = f"{self.app.key('document.fold')} opens one"
            self.app.tell(f"That is too much to unfold at once: long parts stay folded, {opens}.")

    @asks("copy")
    async def action_copy(self) -> None:
        """A value, a path, the document or the CID."""
        row = self.query_one(JsonTree).current
        if row is None:
            return
        value, document = row.value, self.retrieved
        choices = [
            Choice("y", "value", value[:200] if isinstance(value, str) else " ".join(beginning(value, 200).split())),
            Choice("p", "path", row.path),
            Choice("j", "document", "all of it, as JSON"),
            Choice("c", "CID", self.address),
        ]
        chosen = await self.ask(Menu("Copy", choices, "copied in full"))
        if chosen:
            what = {"y": value, "p": row.path, "j": document, "c": self.address}[chosen]
            name = {"y": "Value", "p": "Path", "j": "Document", "c": "CID"}[chosen]
            is_text = isinstance(what, str) and chosen != "j"
            self.app.copy(what if is_text else await asyncio.to_thread(pretty, what), name)

    @asks("save")
    async def action_save(self) -> None:
        """Write the document to a file."""
        path = await self.ask(CheckedPrompt("Save", "Save the document as", place_to_save, "document.json"), more=True)
        if path is None:
            return
        if await asyncio.to_thread(path.exists) and not await self.ask(overwrite_question(path)):
            return
        document = self.retrieved
        await asyncio.to_thread(_write, path, document)
        self.app.tell(f"Saved as {path}.")

    @asks("edit")
    async def action_edit_as_new(self) -> None:
        """The document goes into the editor."""
        text = await asyncio.to_thread(beginning, self.retrieved, LARGEST_TEXT + 1)
        if len(text) > LARGEST_TEXT:
            raise WorkspaceError(TOO_LARGE)
        if await self._may_replace():
            await self._edit(text, kept=True)

    # -- panes and keys -----------------------------------------------------------------------------------------

    def current_pane(self) -> str:
        """The text is the document in another shape."""
        if self.focused is not None and self.focused.id == "document-text":
            return "#document"
        return super().current_pane()

    def show_pane(self, pane: str) -> None:
        """The document in the shape that is shown."""
        super().show_pane("#document-text" if pane == "#document" and self.has_class("-text") else pane)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a document there is nothing to fold, copy or save."""
        if action in ("fold", "fold_all"):
            return bool(self.address) and not self.has_class("-text")
        if action == "copy_stored":
            return bool(self.stored)
        if action in ("toggle_text", "copy", "save", "edit_as_new"):
            return True if self.address else None
        return super().check_action(action, parameters)


def _write(path: Path, document: Any) -> None:
    with replacing(path) as file:
        file.write(f"{pretty(document)}\n".encode())
