"""Remembering a choice of the person in the settings, in the background; if that fails, they hear of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinui.tui.app import Pinui

__all__ = ["remember"]


def remember(app: Pinui, setting: str, value: Any) -> None:
    """Write a setting: a small file, yet the disk is slow at times, and the file may be one that can't be used."""

    async def written() -> None:
        try:
            await asyncio.to_thread(app.workspace.profiles.set_setting, setting, value)
        except Exception as error:  # noqa: BLE001  whatever it is, the choice is lost with the end of this run
            app.tell_error(error)

    app.run_worker(written, group=f"app.{setting}", exit_on_error=False)
