"""Progress bars with rate and remaining time, for a terminal."""

from __future__ import annotations

import shutil
import time
from typing import IO, TYPE_CHECKING

from pinui.cli.figures import fitted, width_of
from pinui.figures import duration, size
from pinui.workspace.text import clean_line

if TYPE_CHECKING:
    from pinui.workspace.transfers import Progress, Transfer

__all__ = ["Bars", "bar_line"]

REDRAW_SECONDS = 0.1
PATIENCE = 0.3  # a shorter transfer would only flicker
BAR_WIDTH = 24
UP_AND_CLEAR = "\x1b[1A\x1b[2K"


class Bars:
    """One line for each running transfer, redrawn in place. Without a terminal it does nothing."""

    def __init__(self, stream: IO[str] | None) -> None:
        self._stream = stream
        self._lines = 0
        self._drawn = 0.0
        self._shown: list[Transfer] = []
        self._notice = ""

    def show(self, transfers: list[Transfer]) -> None:
        """Draw these transfers, at most ten times a second."""
        now = time.time()
        running = [one for one in transfers if one.state == "running" and now - (one.started_at or now) >= PATIENCE]
        changed = [transfer.id for transfer in running] != [transfer.id for transfer in self._shown]
        self._shown = running
        if changed or time.monotonic() - self._drawn >= REDRAW_SECONDS:
            self.clear()
            self.draw()

    def watch(self, title: str) -> Progress:
        """A bar for work outside the queue of transfers: call the result with the progress."""
        from pinui.workspace.transfers import Rate, Transfer

        watched, rate = Transfer(0, "download", title, "running"), Rate()

        def note(done: int, total: int | None, /) -> None:
            watched.started_at = watched.started_at or time.time()
            watched.done, watched.total = done, total
            rate.add(done, time.monotonic())
            watched.rate, watched.remaining = rate.value, rate.remaining(done, total)
            self.show([watched])

        return note

    def draw(self) -> None:
        """Draw the lines below the cursor."""
        if self._stream is None:
            return
        width = shutil.get_terminal_size().columns
        lines = [bar_line(transfer, width - 1) for transfer in self._shown]
        if self._notice:
            lines.append(self._notice[: width - 1])
        for line in lines:
            self._stream.write(line + "\n")
        self._lines = len(lines)
        self._drawn = time.monotonic()
        self._stream.flush()

    def note(self, notice: str) -> None:
        """Show a line below the bars; an empty text removes it."""
        self._notice = notice
        self.clear()
        self.draw()

    def clear(self) -> None:
        if self._stream is not None and self._lines:
            self._stream.write(UP_AND_CLEAR * self._lines)
            self._stream.flush()
            self._lines = 0


def bar_line(transfer: Transfer, width: int) -> str:
    """One transfer on one line of the given width."""
    figures = size(transfer.done)
    share = None
    if transfer.total:
        share = min(1.0, transfer.done / transfer.total)
        figures = f"{figures} of {size(transfer.total)}"
    if transfer.items > 1:
        items = f"{transfer.finished:,} of {transfer.items:,}"
        figures = f"{items}  {figures}" if transfer.done or transfer.total else items
        if transfer.kind == "revoke":  # pins, not bytes
            share = transfer.finished / transfer.items
    bar = ""
    if share is not None:
        filled = round(share * BAR_WIDTH)
        bar = f"{'━' * filled}{'─' * (BAR_WIDTH - filled)} {share:4.0%}  "
    if transfer.rate is not None:
        figures += f"  {size(transfer.rate)}/s"
    if transfer.remaining is not None:
        figures += f"  {duration(transfer.remaining)} left"
    room = width - len(bar) - len(figures) - 2
    title = clean_line(transfer.title)
    if room < 8:  # a narrow terminal keeps the figures
        return figures[:width]
    title = fitted(title, room)
    return f"{title}{' ' * (room - width_of(title))}  {bar}{figures}"
