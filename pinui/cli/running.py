"""Running an operation on the workspace from a verb."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable, Generator

    from pinui.cli.console import Console
    from pinui.workspace import Workspace

__all__ = ["run", "transfer_bars"]

T = TypeVar("T")


def run(options: Namespace, console: Console, operation: Callable[[Workspace], Awaitable[T]]) -> T:
    """Open the workspace, run an operation on it, and close it."""

    async def work() -> T:
        from pinui.workspace import Workspace
        from pinui.workspace.notices import on_notice

        tell_no_more = on_notice(console.say)
        async with await Workspace.open(profile=options.profile) as workspace:
            workspace.subscribe(_tell_pauses(workspace, console))
            try:
                return await operation(workspace)
            finally:
                tell_no_more()
                console.end_bars()
                if sentence := workspace.token_ending:
                    console.say(sentence)

    return asyncio.run(work())


@contextmanager
def transfer_bars(workspace: Workspace, console: Console) -> Generator[None]:
    """Progress bars of the running transfers, for the length of a `with` block."""
    bars = console.bars()
    stop = workspace.subscribe(lambda: bars.show(workspace.transfers.all))
    try:
        yield
    finally:
        stop()
        console.end_bars()


def _tell_pauses(workspace: Workspace, console: Console) -> Callable[[], None]:
    """Announce each pause before a retry: a countdown on a terminal, a sentence in a log."""
    said: float | None = None
    counting: asyncio.Task[None] | None = None

    async def count_down() -> None:
        bars = console.bars()
        while left := workspace.pause_left:
            bars.note(f"Waiting for the service: going on in {left} s.")
            await asyncio.sleep(min(1.0, left))
        bars.note("")

    def tell() -> None:
        nonlocal said, counting
        until = workspace.waiting_until
        if until is None or (said is not None and abs(until - said) <= 2):  # transfers beside each other wait alike
            return
        said = until
        if not console.told_on_terminal:
            console.say(f"Waiting for the service: going on in {workspace.pause_left} s.")
        elif counting is None or counting.done():
            counting = asyncio.create_task(count_down())

    return tell
