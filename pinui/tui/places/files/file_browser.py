"""File browser: a folder of this machine, and marks on the files to upload."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual import events
from textual.message import Message

from pinui.figures import size
from pinui.tui.display import fit, right, short_path
from pinui.tui.keys import bindings
from pinui.tui.local_files import FileRow
from pinui.tui.places.files.keys import BROWSER
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.line_view import Line

__all__ = ["FileBrowser"]


class FileBrowser(ItemList):
    """The first row is the folder above; space marks, enter goes in."""

    BINDINGS = bindings(BROWSER)

    @dataclass
    class Wanted(Message):
        """Another folder should be read."""

        browser: FileBrowser
        folder: Path

    @dataclass
    class Marked(Message):
        """Marks changed."""

        browser: FileBrowser

    @dataclass
    class Pasted(Message):
        """Paths were pasted, or files dropped on the terminal."""

        browser: FileBrowser
        text: str

    def __init__(self, folder: Path) -> None:
        super().__init__(id="browser", classes="pane first")
        self.folder = folder
        self.rows: list[FileRow] = []
        self.marked: dict[Path, int | None] = {}
        """The marked paths with their sizes; None for folders, whose size is not counted."""
        self.hidden = False
        self.trouble = ""

    def show_rows(self, folder: Path, rows: list[FileRow], trouble: str = "") -> None:
        """Show a folder. The cursor stays on its name, or goes to the folder that the user came from."""
        here = self.current.path if self.current else None
        came_from, self.folder = self.folder, folder
        arrived = came_from != folder or not self.rows
        self.rows, self.trouble = rows, trouble
        self.item_count = len(rows) + 1
        below = next((index for index, row in enumerate(rows, 1) if row.path in (came_from, here)), None)
        self.cursor = below or (1 if rows and arrived else self.validate_cursor(self.cursor))
        self.measure()

    @property
    def current(self) -> FileRow | None:
        """The row under the cursor; None for the folder above."""
        return self.rows[self.cursor - 1] if 0 < self.cursor <= len(self.rows) else None

    def item_line(self, index: int, line: int, width: int) -> Line:
        """Mark, name, size."""
        here = index == self.cursor
        edge = ("▌" if here else " ", "primary")
        if index == 0:
            note = f"  {self.trouble}" if self.trouble else "" if self.rows else "  nothing here"
            shown = short_path(str(self.folder), str(Path.home()), max(12, width - 6 - len(note)))
            return [edge, ("  ▾ ", "muted"), (shown, "bold strong" if here else "second"), (note, "warning")]
        row = self.rows[index - 1]
        column = max(12, min(40, width - 20))
        sign = "▸ " if row.is_dir else "  "
        name = row.path.name + ("/" if row.is_dir else "")
        name += f" → {row.target}" if row.target else ""
        number = "" if row.size is None else size(row.size)
        return [
            edge,
            ("• " if row.path in self.marked else "  ", "warning"),
            ("  " + sign, "muted"),
            (fit(name, column), "bold strong" if here else "text"),
            (right(number, 9), "muted"),
        ]

    def on_paste(self, event: events.Paste) -> None:
        """Like typing a path."""
        event.stop()
        self.post_message(self.Pasted(self, event.text))

    def action_mark(self) -> None:
        """Mark or unmark, and go on."""
        row = self.current
        if row is not None:
            if row.path in self.marked:
                del self.marked[row.path]
            else:
                self.marked[row.path] = row.size
            self.refresh()
            self.post_message(self.Marked(self))
        self.cursor += 1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Marks can be taken away where there are some; a folder is opened, a file marked."""
        if action == "unmark_all":
            return bool(self.marked)
        if action == "open":
            is_file = self.current is not None and not self.current.is_dir
            return parameters == ("mark" if is_file else "open",)
        return super().check_action(action, parameters)

    def watch_cursor(self, before: int, now: int) -> None:
        """Enter does another thing on a file than on a folder."""
        super().watch_cursor(before, now)
        self.refresh_bindings()

    def action_unmark_all(self) -> None:
        """Also those in other folders."""
        self.marked.clear()
        self.refresh()
        self.post_message(self.Marked(self))

    def action_open(self, _word: str) -> None:
        """Into a folder; a file is marked."""
        row = self.current
        if row is None:
            self.action_parent()
        elif row.is_dir:
            self.post_message(self.Wanted(self, row.path))
        else:
            self.action_mark()

    def action_parent(self) -> None:
        """The folder above."""
        if self.folder.parent != self.folder:
            self.post_message(self.Wanted(self, self.folder.parent))

    def action_read_again(self) -> None:
        """The entries of the folder."""
        self.post_message(self.Wanted(self, self.folder))

    def action_toggle_hidden(self) -> None:
        """Names that begin with a dot."""
        self.hidden = not self.hidden
        self.post_message(self.Wanted(self, self.folder))
