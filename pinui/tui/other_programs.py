"""Other programs: $EDITOR and $PAGER get the terminal for a while, the browser has a window of its own."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType

from textual.app import App

from pinui.disk import write_private
from pinui.tui.local_files import text_of_file
from pinui.workspace import WorkspaceError

__all__ = ["edit_text", "open_page", "run_program"]


def _not_for_us(_number: int, _frame: FrameType | None) -> None:
    """Ignore ctrl+c: the program in the foreground gets it, too."""


async def run_program(app: App[None], variables: tuple[str, ...], otherwise: str, path: Path) -> int:
    """Open a file in the program that the first of these variables names. Returns its exit code.

    The event loop goes on, and transfers with it. It must neither draw nor end by a ctrl+c meant for the program.
    """
    chosen = next((name for name in variables if os.environ.get(name)), "")
    command = os.environ.get(chosen) or otherwise
    failure: OSError | ValueError | None = None
    code = 0
    before = signal.signal(signal.SIGINT, _not_for_us)
    try:
        with app.batch_update(), app.suspend():
            try:
                done = await asyncio.to_thread(subprocess.run, [*shlex.split(command), str(path)], check=False)
                code = done.returncode
            except (OSError, ValueError) as error:  # told below: raised here, it would leave the terminal unusable
                failure = error
    finally:
        signal.signal(signal.SIGINT, before)
    if failure is not None:
        reason = getattr(failure, "strerror", None) or str(failure)
        raise WorkspaceError(
            f"{command} can't be started: {reason}.", hint=f"Set ${chosen or variables[-1]} to a program that is there."
        )
    return code


async def edit_text(app: App[None], text: str, name: str, take: Callable[[str], Awaitable[None]]) -> None:
    """Open text in the person's own editor, under this name, and take the new text. It is kept if it can't be taken."""
    # No scratch folder: text that was typed is never removed before it came back.
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="pinui-"))
    path = folder / name
    await asyncio.to_thread(write_private, path, text)
    try:
        code = await run_program(app, ("VISUAL", "EDITOR"), "vi", path)
    except WorkspaceError:
        await asyncio.to_thread(shutil.rmtree, folder)
        raise
    if code == 0:
        try:
            await take(await text_of_file(str(path)))
        except WorkspaceError as error:
            raise WorkspaceError(str(error), hint=f"It is kept in {path}.") from None
    await asyncio.to_thread(shutil.rmtree, folder)
    if code:
        raise WorkspaceError(f"The editor ended with code {code}. The text is unchanged.")


async def open_page(address: str) -> bool:
    """Open a page in the browser. Returns False without one; one inside the terminal would draw over the workbench."""
    import webbrowser

    has_windows = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(has_windows) and await asyncio.to_thread(webbrowser.open, address)
