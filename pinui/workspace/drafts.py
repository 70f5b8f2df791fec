"""Unsaved text: it comes back at the next start.

Each window has a folder of its own, `1`, `2` …, and holds its lock while it lives. A window that starts takes the first
free folder with text in it, else the first free one: it never writes over the text of another window.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from pinui.disk import lock_folder, private_folder, write_private

__all__ = ["DraftFolder", "Drafts"]

NAME = "text.json"


@dataclass(frozen=True, slots=True)
class Drafts:
    """The text in the JSON editor, and the unsent message for each recipient; None: no recipient yet."""

    json: str = ""
    messages: Mapping[str | None, str] = field(default_factory=dict[str | None, str])

    def __bool__(self) -> bool:
        return bool(self.json or self.messages)


class DraftFolder:
    """The text of one window."""

    def __init__(self, path: Path, text: Drafts, held: ExitStack) -> None:
        self._path = path
        self._held = held
        self._writing = threading.Lock()
        self._written = self.text = text
        """The text to keep. Set in the event loop, written in a thread."""

    @classmethod
    def take(cls, parent: Path) -> DraftFolder:
        """Take a folder that no window uses: the first one with text in it, if there is one."""
        private_folder(parent)
        with lock_folder(parent):
            known = sorted(
                (folder for folder in parent.iterdir() if folder.name.isdigit()), key=lambda it: int(it.name)
            )
            new = (parent / str(number) for number in count(1))
            return next(filter(None, map(cls._open, chain(filter(_read, known), new))))

    @classmethod
    def _open(cls, folder: Path) -> DraftFolder | None:
        private_folder(folder)
        with ExitStack() as held:
            try:
                held.enter_context(lock_folder(folder, wait=_once))
            except BlockingIOError:
                return None
            text = _read(folder)  # this version may not overwrite text that it can't read
            return None if text is None else cls(folder, text, held.pop_all())

    def write(self) -> None:
        """Write the latest text."""
        with self._writing:
            text = self.text
            if text == self._written:
                return
            if text:
                lines = {"json": text.json, "messages": list(text.messages.items())}
                write_private(self._path / NAME, json.dumps(lines))
            else:
                (self._path / NAME).unlink(missing_ok=True)
            self._written = text

    def close(self) -> None:
        """Release the folder for another window."""
        self._held.close()


def _once(attempt: Callable[[], None]) -> None:
    attempt()


def _read(folder: Path) -> Drafts | None:
    """The text in a folder; None if the file holds something else."""
    try:
        read = json.loads((folder / NAME).read_text("utf-8"))
        return Drafts(str(read["json"]), {name: str(text) for name, text in read["messages"]})
    except FileNotFoundError:
        return Drafts()
    except (ValueError, KeyError, TypeError):
        return None
