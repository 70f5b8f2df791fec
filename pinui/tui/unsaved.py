"""Unsaved text: written to the disk a moment after it was typed, and back at the next start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual.app import App

from pinui.workspace.drafts import DraftFolder, Drafts

__all__ = ["UnsavedText"]

MOMENT = 0.5
"""Seconds of typing that a killed process may lose."""


class UnsavedText:
    """The unsaved text of this window. `gather` collects it, `lost` is called with the reason if it can't be kept."""

    def __init__(self, app: App[None], gather: Callable[[Drafts], Drafts], lost: Callable[[OSError], None]) -> None:
        self._app, self._gather, self._lost = app, gather, lost
        self._folder: DraftFolder | None = None
        self._is_due = False

    async def open(self, folder: Path) -> None:
        """Read the text of the last run. Without a usable folder, text is lost at the end."""
        try:
            self._folder = await asyncio.to_thread(DraftFolder.take, folder)
        except OSError as error:
            self._app.call_later(self._lost, error)

    @property
    def text(self) -> Drafts:
        """The kept text: that of the last run, until the place that shows it changes it."""
        return self._folder.text if self._folder else Drafts()

    def changed(self) -> None:
        """Text was typed: write it in a moment, together with anything typed until then."""
        if not self._is_due:
            self._is_due = True
            self._app.set_timer(MOMENT, self._write_beside)

    def _write_beside(self) -> None:
        self._is_due = False
        self._app.run_worker(self._write, group="app.unsaved", exit_on_error=False)

    async def _write(self) -> None:
        if self._folder:
            self._folder.text = self._gather(self._folder.text)
            try:
                await asyncio.to_thread(self._folder.write)
            except OSError as error:
                self._lost(error)

    def save(self) -> str:
        """Write it at once. Returns a sentence about it, if there is any text."""
        if self._folder:
            self._folder.text = self._gather(self._folder.text)
            self._folder.write()
        return "Text that you had not stored comes back at the next start." if self.text else ""

    def close(self) -> None:
        """Another window may have it."""
        if self._folder:
            self._folder.close()
