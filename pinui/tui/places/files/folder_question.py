"""The question before folders are uploaded: their size, the names left out, and the first names."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual.content import Content
from textual.widgets import Button, Static

from pinui import LeftOut
from pinui.figures import plural, size
from pinui.sdk.writing.folder_rules import FolderRules
from pinui.sdk.writing.sources import FolderContents, contents_of
from pinui.tui.dialogs.confirm import Confirm
from pinui.tui.dialogs.prompt import CheckedPrompt
from pinui.tui.errors import sentence
from pinui.tui.keys import bindings
from pinui.tui.places.files.keys import FOLDER_QUESTION
from pinui.workspace.text import clean, natural_key

__all__ = ["FolderQuestion"]

PROGRESS_SECONDS = 0.1


class PatternsPrompt(CheckedPrompt[tuple[str, ...]]):
    """Patterns of names; an empty line leaves nothing out."""

    TAKES_EMPTY = True


class FolderQuestion(Confirm):
    """A question that counts in the background and can be confirmed once everything is counted."""

    BINDINGS = bindings(FOLDER_QUESTION)

    def __init__(self, paths: Sequence[Path], consequence: str, *, keeps_empty_folders: bool = False) -> None:
        self._paths = paths
        self._keeps_empty = keeps_empty_folders
        self._about = _about(paths)
        super().__init__("Upload", f"Looking into {self._about} …", consequence, "Upload", [("…", "")])
        self.hidden = False
        """Whether hidden names inside the folders are uploaded, too."""
        self.each = False
        """Whether each file in the folders becomes a pin of its own."""
        self.exclude: tuple[str, ...] = ()
        """Patterns of names to leave out."""
        self._can_answer = False
        self._found = (0, 0)

    def on_mount(self) -> None:
        """Begin to count."""
        self._count_again()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The question can't be confirmed before everything is counted."""
        if action == "yes" and not self._can_answer:
            return False
        return super().check_action(action, parameters)

    def is_ready(self) -> bool:
        """Not before everything is counted."""
        return self._can_answer and super().is_ready()

    @property
    def waiting_words(self) -> str:
        """Hint shown while keys are ignored."""
        return super().waiting_words if self._can_answer else f"{self.app.key('dialog.close')} to cancel"

    def action_toggle_hidden(self) -> None:
        """Take hidden names in, or leave them out."""
        self.hidden = not self.hidden
        self._count_again()

    def action_toggle_each(self) -> None:
        """Pin each file by itself, or each folder as one."""
        self.each = not self.each
        self._count_again()

    @property
    def rules(self) -> FolderRules:
        """The rules for these folders."""
        return FolderRules(hidden=self.hidden, exclude=self.exclude)

    def action_leave_out(self) -> None:
        """Ask for patterns of names to leave out."""

        async def checked(text: str) -> tuple[str, ...]:
            patterns = tuple(text.split())
            await asyncio.to_thread(FolderRules(exclude=patterns).excluded_in, self._paths[0])
            return patterns

        def answered(patterns: tuple[str, ...] | None) -> None:
            if patterns is not None:
                self.exclude = patterns
                self._count_again()

        note = "With spaces between them, by the rules of a .gitignore."
        value = " ".join(self.exclude)
        self.app.push_screen(
            PatternsPrompt("Leave out", "Names to leave out", checked, value, placeholder="*.log build/", note=note),
            answered,
        )

    def _count_again(self) -> None:
        self._show("", [], "", can_answer=False)
        self.run_worker(self._count, group="count", exclusive=True, exit_on_error=False)

    async def _count(self) -> None:
        self._found = (0, 0)
        progress = self.set_interval(PROGRESS_SECONDS, self._show_progress)
        self._show_progress()
        try:
            rows, total, left_out = await self._look()
        except Exception as error:  # noqa: BLE001  whatever it is, the question says it and takes no yes
            self._show(sentence(error), [], "", can_answer=False)
            return
        finally:
            progress.stop()
        if rows:
            question = f"Upload {self._about}: {plural(len(rows), 'file')}, {size(total)}?"
        else:
            question = f"There are no files to upload in {self._about}."
        self._show(question, rows, self._left_out_words(left_out), can_answer=bool(rows))

    async def _look(self) -> tuple[list[tuple[str, str]], int, LeftOut]:
        """The files with their sizes as words, the total size, and the names left out."""
        rows: list[tuple[str, str]] = []
        total, left_out = 0, LeftOut()
        for path in self._paths:
            if not await asyncio.to_thread(path.is_dir):
                alone = (await asyncio.to_thread(path.stat)).st_size
                rows.append((path.name, size(alone)))
                total += alone
                continue
            note = partial(self._note, len(rows), total)
            contents = await contents_of(path, self.rules, on_found=note)
            rows += await asyncio.to_thread(_rows, path.name, contents)
            total += contents.size
            left_out = left_out + contents.left_out
        if self._keeps_empty:
            left_out = replace(left_out, empty_folders=0)
        return rows, total, left_out

    def _note(self, files_before: int, size_before: int, files: int, total: int) -> None:
        self._found = (files_before + files, size_before + total)

    def _left_out_words(self, left_out: LeftOut) -> str:
        hidden, each = self.app.key("folder_question.hidden"), self.app.key("folder_question.each")
        words = [f"Left out: {left_out}."] if left_out else []
        if left_out.hidden:
            words.append(f"The key {hidden} includes hidden names.")
        elif self.hidden:
            words.append(f"Hidden names go up, too: the key {hidden} leaves them out.")
        if self.each:
            words.append(f"Each file gets a CID of its own: {each} makes each folder one CID again.")
        return "\n".join(words)

    def _show_progress(self) -> None:
        files, total = self._found
        so_far = f" {plural(files, 'file')} so far, {size(total)}" if files else ""
        self._say(".question", f"Looking into {self._about} …{so_far}")

    def _show(self, question: str, rows: Sequence[tuple[str, str]], left_out: str, *, can_answer: bool) -> None:
        self.rows = rows
        self._can_answer = can_answer
        self.wait_again()
        self._say(".question", question)
        self._say(".say", "\n\n".join(filter(None, (left_out, self.consequence))))
        self.query_one("#yes", Button).disabled = not can_answer
        self.refresh_bindings()
        self.call_after_refresh(self._fill)

    def _say(self, which: str, text: str) -> None:
        self.query_one(f"#question > {which}", Static).update(Content(clean(text)))


def _rows(name: str, contents: FolderContents) -> list[tuple[str, str]]:
    """The files of a folder with their sizes, as people order names."""
    files = sorted(contents.files, key=lambda file: natural_key(file.name))
    return [(f"{name}/{file.name}", size(file.size)) for file in files]


def _about(paths: Sequence[Path]) -> str:
    """`notes/`, or `3 folders and files`."""
    return f"{paths[0].name or paths[0]}/" if len(paths) == 1 else f"{len(paths)} folders and files"
