"""Files: pick some to upload, fetch one by its CID, and watch them go."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input

from pinui.figures import plural, size
from pinui.sdk.writing.folder_rules import FolderRules
from pinui.tui.dialogs.dialog import say
from pinui.tui.dialogs.prompt import CheckedPrompt
from pinui.tui.errors import sentence
from pinui.tui.focus import focus_now
from pinui.tui.keys import bindings
from pinui.tui.local_files import FileRow, changed_at, find_paths, read_folder
from pinui.tui.places.files.file_browser import FileBrowser
from pinui.tui.places.files.keys import DOWNLOAD, SAVE_AS
from pinui.tui.places.files.transfer_list import TransferList, can_open, tally
from pinui.tui.places.place import PlaceScreen, asks
from pinui.tui.widgets.fields import Field, FieldPane, pane_title
from pinui.tui.widgets.item_list import ItemList
from pinui.workspace import Profile, Transfer, WorkspaceError
from pinui.workspace.transfers.rows import Item, ItemState

__all__ = ["FilesScreen"]

MOST_ROWS = 20
"""More marked files than this are one row of the transfers."""
LOOK_SECONDS = 1.0
"""Seconds between two checks of the shown folder, each a single call to the disk."""

ACTIONS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("cancel_transfer",): ("waiting", "running"),
    ("retry_transfer", "retry"): ("failed", "cancelled"),
    ("retry_transfer", "resume"): ("left",),
    ("pause_transfer", "pause"): ("waiting", "running"),
    ("pause_transfer", "go on"): ("paused",),
    ("forget_transfer",): ("left", "paused", "failed"),
}
"""The states of a transfer in which a key does something."""


class DownloadField(Field):
    """The address field."""

    BINDINGS = bindings(DOWNLOAD)


class SaveAsField(Field):
    """The destination field."""

    BINDINGS = bindings(SAVE_AS)


class FilesScreen(PlaceScreen):
    """Upload, Download, Transfers."""

    PLACE = "files"
    PANES = ("#browser", "#download", "#transfers")
    SECOND = ("#download",)
    _changed_at: int | None = None
    """The time of the last change of the shown folder when it was read."""

    def compose_body(self) -> Iterable[Widget]:
        """The browser and the download above, the transfers below."""
        with Vertical(classes="body"):
            with Horizontal(id="above"):
                yield FileBrowser(_starting_folder(self.app.view.folder))
                with FieldPane(id="download", classes="pane second"):
                    yield say("CID or URL")
                    yield DownloadField(placeholder="bafy… or https://…/ipfs/…", id="address")
                    yield say("Save as", "say later")
                    yield SaveAsField(placeholder="a file or a folder", id="target")
                    yield say("Verified before it is saved.", "say later")
            yield TransferList()

    def on_mount(self) -> None:
        """Titles, and the folder we are in."""
        pane_title(self.query_one("#browser"), "Upload")
        pane_title(self.query_one("#download"), "Download", f"{self.app.key('field.enter')} to fill in")
        pane_title(self.query_one("#transfers"), "Transfers")
        self.read(self.browser.folder)
        self.set_interval(LOOK_SECONDS, self.look_again)

    def on_screen_resume(self, _event: events.ScreenResume) -> None:
        """Files may have come or gone meanwhile, and transfers of other processes, too."""
        self.look_again()
        self.work_on(self._look_for_transfers, "left")

    @property
    def browser(self) -> FileBrowser:
        """The file browser."""
        return self.query_one(FileBrowser)

    @property
    def transfers(self) -> TransferList:
        """The list below."""
        return self.query_one(TransferList)

    def workspace_changed(self) -> None:
        """Refresh the progress of transfers."""
        transfers = self.workspace.transfers.all
        self.transfers.show_transfers(transfers)
        self._title_transfers()

    # -- upload -------------------------------------------------------------------------------------------------

    @on(FileBrowser.Wanted)
    def _wanted(self, event: FileBrowser.Wanted) -> None:
        self.read(event.folder)

    def read(self, folder: Path) -> None:
        """Read a folder in the background."""
        self.work_on(lambda: self._read(folder), "folder")

    def look_again(self) -> None:
        """Read the folder again if names were added or removed, while it is shown."""
        if self.is_current:
            self.work_on(self._look_again, "look")
            self.work_on(self._look_for_news, "left")

    async def _look_again(self) -> None:
        folder = self.browser.folder
        if await asyncio.to_thread(changed_at, folder) != self._changed_at:
            await self._read(folder, again=True)

    async def _read(self, folder: Path, *, again: bool = False) -> None:
        """Show a folder. `again`: only if it is still the one shown."""
        browser = self.browser
        changed = await asyncio.to_thread(changed_at, folder)
        rows, trouble = list[FileRow](), ""
        try:
            rows = await asyncio.to_thread(read_folder, folder, browser.hidden)
        except OSError as error:
            trouble = sentence(error).split(": ", 1)[-1]
        if again and browser.folder != folder:
            return
        self._changed_at = changed
        if folder != browser.folder and not trouble:
            self.app.keep_view(replace(self.app.view, folder=str(folder)))
        browser.show_rows(folder, rows, trouble)
        self._marked()

    @on(FileBrowser.Marked)
    def _marked(self) -> None:
        marked = self.browser.marked
        self.refresh_bindings()
        fact = (
            f"{_tally(marked, self.browser.folder)} · {self.app.key('browser.upload')} uploads"
            if marked
            else f"{self.app.key('browser.mark')} marks · paste a path, or {self.app.key('browser.path')} types one"
        )
        pane_title(self.browser, "Upload", fact)

    @on(ItemList.Chosen, "#browser")
    def _open(self) -> None:
        self.browser.action_open("")

    def action_upload(self) -> None:
        """Upload the marked paths, or the one under the cursor. A `u` inside stray text publishes nothing."""
        self.app.if_by_itself(self._upload_chosen, lambda: self.app.tell_not_alone("browser.upload", "uploads nothing"))

    def _upload_chosen(self) -> None:
        browser = self.browser
        paths = list(browser.marked) or ([browser.current.path] if browser.current else [])
        if not paths:
            self.app.tell(
                f"Mark files with {self.app.key('browser.mark')} first, or put the cursor on one.", warning=True
            )
        else:
            self.ask_on(lambda: self._upload(paths), "upload")

    async def _upload(self, paths: list[Path]) -> None:
        from pinui.tui.places.files.folder_question import FolderQuestion

        rules, each, profile = FolderRules(), False, self.workspace.profile
        if any([await asyncio.to_thread(_is_more_than_a_file, path) for path in paths]):
            question = FolderQuestion(paths, _readers(profile), keeps_empty_folders=profile.traits.keeps_empty_folders)
            if not await self.ask(question):
                return
            rules, each = question.rules, question.each
        browser, transfers = self.browser, self.workspace.transfers
        if each or len(paths) > MOST_ROWS:
            transfers.upload_all(paths, rules=rules, each=each)
        else:
            for path in paths:
                transfers.upload(path, rules=rules)
        for path in paths:
            browser.marked.pop(path, None)
        browser.refresh()
        self._marked()

    @asks("path")
    async def action_type_path(self) -> None:
        """Go to a path, or mark the file it names."""
        note = "A folder is opened, a file is marked."
        prompt = CheckedPrompt("Path", "Type or paste a path", _found, placeholder="~/Pictures", note=note)
        found = await self.ask(prompt, more=True)
        if found is not None:
            await self._go_to(found)

    @on(FileBrowser.Pasted)
    def _pasted(self, event: FileBrowser.Pasted) -> None:
        async def paste() -> None:
            try:
                found = await _found(event.text)
            except (OSError, WorkspaceError):
                if not self.app.open_pasted(event.text):
                    raise
            else:
                await self._go_to(found)

        self.work_on(paste, "path")

    async def _go_to(self, found: list[FileRow]) -> None:
        """Open a single folder. Mark anything else, and show it in its folder."""
        if [row.is_dir for row in found] == [True]:
            await self._read(found[0].path)
            return
        browser = self.browser
        browser.marked.update({row.path: row.size for row in found})
        for row in found[-1:]:
            await self._read(row.path.parent)
            browser.cursor = next((i for i, other in enumerate(browser.rows, 1) if other.path == row.path), 0)

    # -- download -----------------------------------------------------------------------------------------------

    def action_download(self) -> None:
        """Type a CID."""
        self.show_pane("#download")
        focus_now(self.query_one("#address"))

    def prepare_download(self, address: str) -> None:
        """Begin from another place, which knows the CID."""
        self.show_pane("#download")
        self.query_one("#address", Field).set_text(address)
        self.ask_on(lambda: self._propose(address), "propose")

    @on(Input.Submitted, "#address")
    def _addressed(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.ask_on(lambda: self._propose(event.value.strip()), "propose")

    async def _propose(self, address: str) -> None:
        name = await self.workspace.name_for(address)
        folder = Path.home() / "Downloads"
        if not await asyncio.to_thread(folder.is_dir):
            folder = await asyncio.to_thread(_starting_folder, None)
        target = self.query_one("#target", Field)
        shown = str(folder / name)
        target.set_text("~" + shown[len(str(Path.home())) :] if shown.startswith(f"{Path.home()}/") else shown)
        target.action_select_all()  # enter takes it; typed or pasted text replaces it
        focus_now(target)

    @on(Input.Submitted, "#target")
    def _download(self) -> None:
        self.ask_on(self._start_download, "download", exclusive=False)

    async def _start_download(self) -> None:
        from pinui.sdk.address import Address
        from pinui.tui.dialogs.confirm import overwrite_question

        address, target = self.query_one("#address", Field), self.query_one("#target", Field)
        if not address.value.strip() or not target.value.strip():
            self.app.tell("A CID and a place to save it are needed.", warning=True)
            return
        Address.parse(address.value)  # says at once what is wrong with it
        path = Path(target.value.strip()).expanduser()  # noqa: ASYNC240  reads no disk
        if await asyncio.to_thread(path.is_dir):
            path = path / await self.workspace.name_for(address.value.strip())
        there = await asyncio.to_thread(path.exists)
        if there and not await self.ask(overwrite_question(path)):
            return
        self.workspace.transfers.download(address.value.strip(), path, overwrite=there)
        address.value = target.value = ""
        self.workspace_changed()  # before the list has the focus: the cursor goes to the new one
        self.show_pane("#transfers")

    # -- transfers ----------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what this row can do."""
        transfer = self.transfers.current if self.is_mounted else None
        states = ACTIONS.get((action, *map(str, parameters)))
        if parameters == ("retry",) and self._failed_item is not None:
            return True
        if states is not None:
            return transfer is not None and transfer.state in states
        if action == "open_transfer":
            return transfer is not None and can_open(transfer)
        if action == "copy":
            return transfer is not None and bool(transfer.cid)
        return super().check_action(action, parameters)

    @on(ItemList.Moved, "#transfers")
    @on(events.DescendantFocus, "#transfers")
    @on(events.DescendantBlur, "#transfers")
    def _title_transfers(self) -> None:
        """The lower border: numbers; the whole reason of a failed transfer; the profile of another one."""
        current = self.transfers.current
        words = tally(self.transfers.transfers)
        if any(transfer.state == "left" for transfer in self.transfers.transfers) and not self.transfers.has_focus:
            words = f"{words} · {self.app.key('browser.all')} resumes"
        if self.workspace.transfers.active and (pause := self.workspace.pause_left):
            words = f"waiting for the service · {pause} s · {words}"
        if current is not None and self.transfers.has_focus:
            item = self.transfers.current_item
            if item is not None and item.error:
                words = f"{item.error} {item.hint or ''}".strip()
            elif current.error and current.state in ("failed", "left"):
                words = f"{current.error} {current.hint or ''}".strip()
            elif current.waits_for and current.state == "waiting":
                words = f"{current.waits_for.rstrip('.')} · {words}"
            if current.left_out:
                words = f"left out {current.left_out} · {words}"
            if current.profile not in (None, self.workspace.profile.name):
                words = f"this one at {current.profile} · {words}"
        pane_title(self.transfers, "Transfers", words)
        self.refresh_bindings()

    def action_cancel_transfer(self) -> None:
        """Stop it."""
        if self.transfers.current is not None:
            self.workspace.transfers.cancel(self.transfers.current.id)

    def action_retry_transfer(self, _word: str) -> None:
        """Retry or resume the transfer."""
        if (transfer := self.transfers.current) is None:
            return
        if (item := self._failed_item) is not None:
            self.work_on(lambda: self.workspace.transfers.retry_item(transfer, item), "retry", exclusive=False)
        else:
            self.workspace.transfers.retry(transfer.id)
            self.workspace.transfers.resume(transfer)

    @property
    def _failed_item(self) -> Item | None:
        """The file under the cursor, if it has failed."""
        item = self.transfers.current_item if self.is_mounted else None
        return item if item is not None and item.state in (ItemState.FAILED, ItemState.BROKEN_OFF) else None

    def action_pause_transfer(self, _word: str) -> None:
        """Stop it for now, or go on with it."""
        if (transfer := self.transfers.current) is None:
            return
        if transfer.is_active:
            self.workspace.transfers.pause(transfer.id)
        else:
            self.workspace.transfers.resume(transfer)

    def action_pause_all(self) -> None:
        """Stop all of them for now."""
        self.workspace.transfers.pause_all()

    def action_go_on_with_all(self) -> None:
        """Everything that is not finished."""
        self.workspace.transfers.go_on_with_all()

    def action_forget_transfer(self) -> None:
        """Forget the unfinished transfer."""
        if (transfer := self.transfers.current) is not None:
            self.work_on(lambda: self.workspace.transfers.forget(transfer), "forget", exclusive=False)

    def action_open_transfer(self) -> None:
        """Show its files, or hide them."""
        self.transfers.toggle()

    @on(ItemList.Chosen, "#transfers")
    def _chosen(self) -> None:
        self.transfers.toggle()

    @on(TransferList.Wanted)
    def _read_items(self, event: TransferList.Wanted) -> None:
        self.work_on(lambda: self._show_items(event.transfer, event.ids), "items")

    async def _show_items(self, transfer: Transfer, ids: Sequence[int] | None) -> None:
        ledger = self.workspace.transfers.ledger
        await ledger.marked()  # so that a file that is done shows as done
        if ids is not None:
            self.transfers.show_items(transfer, await ledger.items(ids))
        elif transfer.number is not None:
            self.transfers.open(transfer, await ledger.ids(transfer.number, by_state=True))

    async def _look_for_transfers(self) -> None:
        await self.workspace.transfers.look()

    async def _look_for_news(self) -> None:
        with suppress(WorkspaceError):  # entering the place has told about a ledger that can't be read
            if await self.workspace.transfers.has_news():
                await self.workspace.transfers.look()

    def action_clear_ended(self) -> None:
        """A tidy list."""
        self.workspace.transfers.clear_ended()
        self.workspace_changed()  # at once: the next key is meant for what is left

    def action_copy(self) -> None:
        """The copy menu."""
        from pinui.tui.places.record_actions import copy_menu

        transfer = self.transfers.current
        if transfer is not None and transfer.cid:
            cid, name = transfer.cid, transfer.title
            self.ask_on(lambda: copy_menu(self, cid, name), "copy")


def _tally(marked: Mapping[Path, int | None], here: Path) -> str:
    """`5 marked, 2 elsewhere · 53 kB and 1 folder`."""
    elsewhere = sum(path.parent != here for path in marked)
    folders = sum(number is None for number in marked.values())
    parts = [size(sum(number or 0 for number in marked.values()))] if folders < len(marked) else []
    parts += [plural(folders, "folder")] if folders else []
    words = f"{len(marked)} marked" + (f", {elsewhere} elsewhere" if elsewhere else "")
    return f"{words} · {' and '.join(parts)}"


def _readers(profile: Profile) -> str:
    """The audience of an upload, in a sentence."""
    if profile.preset == "local":
        return "Only this machine can read it."
    return "Everybody who has the CID can read it, and copies may outlive the pin."


def _is_more_than_a_file(path: Path) -> bool:
    """A folder, or a link, whose content is somewhere else: the question tells what would be uploaded."""
    return path.is_dir() or path.is_symlink()


def _starting_folder(last: str | None) -> Path:
    """The folder of the last run, else the one in which the program was started, or home if both are gone."""
    if last is not None and Path(last).is_dir():
        return Path(last)
    try:
        return Path.cwd()
    except OSError:
        return Path.home()


async def _found(text: str) -> list[FileRow]:
    return await asyncio.to_thread(find_paths, text)
