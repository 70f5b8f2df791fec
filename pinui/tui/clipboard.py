"""Clipboard: text is copied through the terminal (OSC 52) and through a program of the system."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys

__all__ = ["copied_by_system", "copy_program"]

PATIENCE = 3.0
"""Seconds that a program of the system may take to copy."""


def copy_program() -> list[str] | None:
    """The system's command for copying, if one can work here."""
    candidates: list[list[str]] = []
    if sys.platform == "darwin":
        candidates.append(["pbcopy"])
    elif sys.platform == "win32":
        candidates.append(["clip"])
    if os.environ.get("WAYLAND_DISPLAY"):
        candidates.append(["wl-copy"])
    if os.environ.get("DISPLAY"):
        candidates += [["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]]
    return next((command for command in candidates if shutil.which(command[0])), None)


async def copied_by_system(text: str) -> bool:
    """Copy with the system's program. Returns False if none worked; a terminal never tells whether it copied."""
    command, process = copy_program(), None
    if command is None:
        return False
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await asyncio.wait_for(process.communicate(text.encode()), PATIENCE)
        return process.returncode == 0
    except (OSError, TimeoutError):
        return False
    finally:
        if process is not None and process.returncode is None:  # it hangs, or the next copy took its place
            process.kill()
            await process.wait()
