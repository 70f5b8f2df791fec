"""What the keys do to the pins under the cursor or marked: preview, copy, name, revoke, forget, save."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pinui import FolderItem, Peek
from pinui.figures import plural
from pinui.tui.display import fit
from pinui.tui.entries import title_of
from pinui.tui.errors import sentence
from pinui.tui.other_programs import run_outside
from pinui.tui.places.place import PlaceScreen
from pinui.tui.preview import peek, show_bytes, show_json, show_words
from pinui.workspace import Entry
from pinui.workspace.scratch import scratch_folder
from pinui.workspace.text import natural_key

if TYPE_CHECKING:
    from pinui.tui.places.pins.detail import Detail, Looks
    from pinui.tui.places.pins.pin_list import PinList

__all__ = ["PinActions"]


class PinActions(PlaceScreen):
    """The actions of the Pins place that reach beyond the screen."""

    @property
    def pins(self) -> PinList:
        """The list."""
        raise NotImplementedError

    @property
    def detail(self) -> Detail:
        """The pane beside it."""
        raise NotImplementedError

    def reload(self) -> None:
        """Bring the list up to date."""
        raise NotImplementedError

    async def _chosen_entries(self) -> list[Entry]:
        marked = self.pins.marked
        if marked:
            return await self.workspace.history.entries(self.pins.marked_in_order)
        return [self.pins.current] if self.pins.current else []

    # -- preview ------------------------------------------------------------------------------------------------

    def load_preview(self) -> None:
        """Show what the pin under the cursor looks like: fetched once, and written anew for another size."""
        self.work_on(self._load_preview, "preview")

    async def _load_preview(self) -> None:
        detail = self.detail
        entry, address = detail.entry, detail.address
        if entry is None or not detail.wants_preview:
            return
        asked = detail.asked = address, detail.room
        looks, shown, folder, trouble = detail.looks, None, None, ""
        try:
            detail.link = await self.workspace.link(entry.cid)
            if looks is None:
                looks, folder = await self._fetch_content(entry, address)
            if looks is not None:
                shown = await asyncio.to_thread(looks, *detail.room)
        except asyncio.CancelledError:
            if detail.asked == asked:
                detail.asked = None  # nothing came of it: it may be asked again
            raise
        except Exception as error:  # noqa: BLE001  a preview that fails says why, in its place
            trouble = sentence(error)
        if detail.entry is not None and detail.entry.id == entry.id and detail.address == address:
            detail.looks = looks
            detail.show_content(shown, folder, trouble)
            self.refresh_bindings()

    async def _fetch_content(self, entry: Entry, address: str) -> tuple[Looks | None, tuple[FolderItem, ...] | None]:
        """What the pin holds, from the history where it is kept: something to look at, or the entries of a folder."""
        record = await self.workspace.history.record(entry.id) if entry.kind != "file" else None
        if record is not None and record.data is not None:
            document: Any = record.data
            if entry.kind == "message" and isinstance(document, dict):
                words = str(cast("dict[str, Any]", document).get("payload", ""))
                return partial(show_words, words), None
            return partial(show_json, document), None
        preview = Peek(b"", total=0) if entry.size == 0 else await peek(self.workspace, address)
        if preview.entries is not None:
            return None, tuple(sorted(preview.entries, key=lambda item: natural_key(item.name)))
        return partial(show_bytes, preview, colours=not self.app.no_color), None

    def action_walk_into(self) -> None:
        """Into the chosen entry of a folder."""
        detail = self.detail
        if detail.folder:
            detail.trail.append(detail.folder[detail.chosen].name)
            self._walked()

    def action_walk_up(self) -> None:
        """Back to the folder above."""
        if self.detail.trail:
            self.detail.trail.pop()
            self._walked()

    def _walked(self) -> None:
        self.detail.forget_content()
        self.detail.rebuild()
        self.load_preview()

    def action_pager(self) -> None:
        """All of it in $PAGER, which must not get the rest of a stray text: some of its keys run commands."""
        self.app.if_by_itself(
            lambda: self.work_on(self._pager, "pager"), lambda: self.app.tell_not_alone("p", "opens nothing")
        )

    async def _pager(self) -> None:
        entry = self.detail.entry
        if entry is None:
            return
        with scratch_folder() as folder:
            with self.app.under_way("fetching …"):
                path = await self.workspace.download(self.detail.address, folder / "content")
            if path.is_dir():
                self.app.tell("This is a folder: enter walks into it.", warning=True)
                return
            # Left to itself, less shows control characters as ^[ and never obeys them.
            await run_outside(self.app, ("PAGER",), "less", path)

    # -- copy, browse, save -------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """The copy menu."""
        from pinui.tui.places.record_actions import copy_menu

        entry = self.pins.current
        if entry is not None:
            name = entry.name or title_of(entry)
            self.ask_on(lambda: copy_menu(self, self.detail.address or entry.cid, name, entry), "copy")

    def action_browse(self) -> None:
        """In the browser."""
        from pinui.tui.places.record_actions import browse

        if self.pins.current is not None:
            self.work_on(lambda: browse(self, self.detail.address), "browse")

    async def action_download(self) -> None:
        """Hand the CID to Files."""
        if self.pins.current is not None:
            await self.app.run_action(f"app.download({self.detail.address!r})")

    # -- revoke, forget, name -----------------------------------------------------------------------------------

    def action_revoke(self) -> None:
        """Ask, then revoke the marked ones or this one."""
        self.ask_on(self._revoke, "revoke", exclusive=False)

    async def _revoke(self) -> None:
        from pinui.tui.places.record_actions import revoke

        entries = await self._chosen_entries()
        if not entries:
            return
        failed = await revoke(self, entries)
        now = {entry.id for entry in await self.workspace.history.entries([e.id for e in entries]) if entry.revoked_at}
        self.pins.marked -= now
        self.pins.failed = {**{key: why for key, why in self.pins.failed.items() if key not in now}, **failed}
        self.reload()

    def action_store_again(self) -> None:
        """Undo a revoke; a `u` in the middle of stray text publishes nothing."""
        if (entry := self.pins.current) is not None and entry.revoked_at is not None:
            self.app.if_by_itself(
                lambda: self.work_on(lambda: self._store_again(entry), "again"),
                lambda: self.app.tell_not_alone("u", "stores nothing"),
            )

    async def _store_again(self, entry: Entry) -> None:
        with self.app.under_way("storing it again …"):
            again = await self.workspace.store_again(entry)
        self.app.tell(f"Stored again: {title_of(again)}")
        self.reload()

    def action_forget(self) -> None:
        """Ask, then remove rows from the history."""
        self.ask_on(self._forget, "forget", exclusive=False)

    async def _forget(self) -> None:
        from pinui.tui.dialogs.confirm import forget_question

        entries = await self._chosen_entries()
        if entries and await self.ask(forget_question(entries, [title_of(entry) for entry in entries])):
            forgotten = await self.workspace.history.forget([entry.id for entry in entries])
            stay = "the pin itself stays" if forgotten == 1 else "the pins themselves stay"
            self.app.tell(f"Forgot {plural(forgotten, 'row')}; {stay}.")
            self.reload()

    def action_rename(self) -> None:
        """Ask for a name of one's own."""
        self.ask_on(self._rename, "rename")

    async def _rename(self) -> None:
        if (entry := self.pins.current) is not None:
            name = await self._ask_text(
                "name", f"A name of your own for {fit(title_of(entry), 60).rstrip()}", entry.name
            )
            if name is not None:
                await self.workspace.history.rename(entry.id, name or None)
                self.reload()

    def action_annotate(self) -> None:
        """Ask for a note."""
        self.ask_on(self._annotate, "rename")

    async def _annotate(self) -> None:
        if (entry := self.pins.current) is not None:
            note = await self._ask_text("note", f"A note to {fit(title_of(entry), 60).rstrip()}", entry.note)
            if note is not None:
                await self.workspace.history.annotate(entry.cid, entry.profile, note)
                self.reload()

    async def _ask_text(self, what: str, question: str, before: str | None) -> str | None:
        """Other words than before, or None if they are to stay."""
        from pinui.tui.dialogs.prompt import Prompt

        known = "Only this machine knows it; the filter finds it."
        prompt = Prompt(what.capitalize(), question, before or "", placeholder=f"no {what}", note=known)
        shown = prompt.field.value
        text = await self.ask(prompt)
        return text if text != shown else None
