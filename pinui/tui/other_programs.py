"""Giving the terminal to another program ($EDITOR, $PAGER) for a while; transfers go on meanwhile."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
from pathlib import Path
from types import FrameType

from textual.app import App

from pinui.workspace import WorkspaceError

__all__ = ["run_outside"]


def _not_for_us(_number: int, _frame: FrameType | None) -> None:
    """The program in the foreground gets it, too."""


async def run_outside(app: App[None], variables: tuple[str, ...], otherwise: str, path: Path) -> int:
    """Open a file in the program that the first of these variables names; its exit code.

    The program runs beside the event loop, which must neither paint nor die of a ctrl+c that is meant for it.
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
            except (OSError, ValueError) as error:  # said below: inside, an exception would leave the terminal astray
                failure = error
    finally:
        signal.signal(signal.SIGINT, before)
    if failure is not None:
        reason = getattr(failure, "strerror", None) or str(failure)
        raise WorkspaceError(
            f"{command} can't be started: {reason}.", hint=f"Set ${chosen or variables[-1]} to a program that is there."
        )
    return code
