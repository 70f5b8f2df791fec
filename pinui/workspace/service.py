"""A profile at work: its connection, made when it is first needed and kept until the last who needs it has ended."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pinui.workspace.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pinui.workspace.credentials import Credentials
    from pinui.workspace.models import Profile
    from pinui.workspace.paths import Paths

__all__ = ["Service"]


class Service:
    """What work belongs to: whatever was begun with one ends there, whichever profile is chosen meanwhile."""

    def __init__(
        self, profile: Profile, paths: Paths, credentials: Credentials, on_wait: Callable[[Service, float], None]
    ) -> None:
        self.profile = profile
        self.connection: Connection | None = None
        self._paths = paths
        self._credentials = credentials
        self._on_wait = on_wait
        self._changing = asyncio.Lock()
        self._users = 0
        self._was_left = False
        self._closing: set[asyncio.Task[None]] = set()

    async def connected(self) -> Connection:
        """Its connection."""
        async with self._changing:
            if self.connection is None:
                self.connection = await Connection.make(
                    self.profile,
                    self._paths,
                    self._credentials,
                    on_wait=lambda seconds: self._on_wait(self, seconds),
                )
            return self.connection

    @contextmanager
    def held(self) -> Generator[Service]:
        """Work with it: nobody closes the connection meanwhile."""
        self._users += 1
        try:
            yield self
        finally:
            self._users -= 1
            if self._was_left and not self._users:
                # A task of its own: who has ended, or was cancelled, does not wait for that.
                task = asyncio.get_running_loop().create_task(self._close_unused())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

    async def leave(self) -> None:
        """It is not the chosen one any more: close it, once nobody works with it."""
        self._was_left = True
        await self._close_unused()

    async def aclose(self) -> None:
        """Close it, whoever works with it."""
        if self._closing:
            await asyncio.wait(list(self._closing))
        await self._close()

    async def _close_unused(self) -> None:
        if not self._users:
            await self._close()

    async def _close(self) -> None:
        async with self._changing:
            connection, self.connection = self.connection, None
            if connection is not None:
                await connection.aclose()
