"""What the keys do to the document that was retrieved: fold, copy, save. Large ones are put into words in a thread."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from textual import on

from pinui.disk import replacing
from pinui.tui.dialogs.confirm import overwrite_question
from pinui.tui.dialogs.prompt import CheckedPrompt, Choice, Menu
from pinui.tui.json_text import beginning, pretty
from pinui.tui.local_files import place_to_save
from pinui.tui.places.json.json_tree import JsonTree
from pinui.tui.places.place import PlaceScreen
from pinui.tui.widgets.item_list import ItemList

__all__ = ["DocumentActions"]


class DocumentActions(PlaceScreen):
    """The actions of the JSON place that concern the document at the right."""

    def __init__(self) -> None:
        super().__init__()
        self.retrieved: Any = None
        self.address = ""

    @on(ItemList.Chosen, "#document")
    def action_fold(self) -> None:
        """Fold or unfold."""
        self.ask_on(self.query_one(JsonTree).toggle, "fold")

    def action_fold_all(self) -> None:
        """Everything at once."""
        self.ask_on(self._fold_all, "fold")

    async def _fold_all(self) -> None:
        if not await self.query_one(JsonTree).toggle_all():
            self.app.tell("That is too much to unfold at once: long parts stay folded, enter opens one.")

    def action_copy(self) -> None:
        """A value, a path, the document or the CID."""
        self.ask_on(self._copy, "copy")

    async def _copy(self) -> None:
        row = self.query_one(JsonTree).current
        if row is None:
            return
        value, document = row.value, self.retrieved
        choices = [
            Choice("y", "value", value[:200] if isinstance(value, str) else beginning(value, 200)),
            Choice("p", "path", row.path),
            Choice("j", "document", "all of it, as JSON"),
            Choice("c", "CID", self.address),
        ]
        chosen = await self.ask(Menu("Copy", choices, "the original, uncut"))
        if chosen:
            what = {"y": value, "p": row.path, "j": document, "c": self.address}[chosen]
            name = {"y": "Value", "p": "Path", "j": "Document", "c": "CID"}[chosen]
            is_text = isinstance(what, str) and chosen != "j"
            self.app.copy(what if is_text else await asyncio.to_thread(pretty, what), name)

    def action_save(self) -> None:
        """Write the document to a file."""
        self.ask_on(self._save, "save")

    async def _save(self) -> None:
        path = await self.ask(CheckedPrompt("Save", "Save the document as", place_to_save, "document.json"), more=True)
        if path is None:
            return
        if await asyncio.to_thread(path.exists) and not await self.ask(overwrite_question(path)):
            return
        document = self.retrieved
        await asyncio.to_thread(_write, path, document)
        self.app.tell(f"Saved as {path}.")


def _write(path: Path, document: Any) -> None:
    with replacing(path) as file:
        file.write(f"{pretty(document)}\n".encode())
