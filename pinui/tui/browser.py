"""Opening a page in a browser that has a window of its own."""

from __future__ import annotations

import asyncio
import os
import sys

__all__ = ["open_page"]


async def open_page(address: str) -> bool:
    """Whether a browser was found for it. One that lives in the terminal would write over the workbench."""
    import webbrowser

    has_windows = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(has_windows) and await asyncio.to_thread(webbrowser.open, address)
