"""The service of one profile: a client that opens on first use, and calls whose outcome becomes the status."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pinui.sdk.urls import origin_text
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.open_client import OpenClient
from pinui.workspace.profiles import ENVIRONMENT
from pinui.workspace.sentences import sentence_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator

    from pinui.sdk.client import Client
    from pinui.sdk.models import Dialect
    from pinui.workspace.credentials import Credentials
    from pinui.workspace.history import History
    from pinui.workspace.models import Profile, State
    from pinui.workspace.paths import Paths
    from pinui.workspace.profiles import Profiles

__all__ = ["Home", "Service"]

# Refusals of one request (not found, not pinned, too large) by a service that works.
ANSWERS = frozenset({400, 404, 410, 413, 416})
ANSWERED = "The service answered."

T = TypeVar("T")


class Home(Protocol):
    """The workspace, as far as work between services needs it."""

    @property
    def paths(self) -> Paths: ...
    @property
    def credentials(self) -> Credentials: ...
    @property
    def history(self) -> History: ...
    def service_of(self, name: str) -> Service: ...


class Service:
    """The service that a profile names. An operation ends at the service where it began, even after a switch."""

    def __init__(
        self,
        profile: Profile,
        paths: Paths,
        profiles: Profiles,
        credentials: Credentials,
        *,
        on_status: Callable[[Service, State, str], None],
        on_wait: Callable[[Service, float], None],
    ) -> None:
        self.profile = profile
        self.opened: OpenClient | None = None
        self._paths = paths
        self._profiles = profiles
        self._credentials = credentials
        self._on_status = on_status
        self._on_wait = on_wait
        self._changing = asyncio.Lock()
        self._users = 0
        self._was_left = False
        self._background: set[asyncio.Task[None]] = set()

    async def open(self) -> OpenClient:
        """The open client; the first call opens it."""
        try:
            opened = await self._open()
        except Exception as error:
            self._on_status(self, "failed", sentence_for(error)[0])
            raise
        if opened.kept_in == "keyring" and self.profile.token_for is None:
            await self._bind_token()
        return opened

    async def client(self) -> Client:
        """The client; the first call opens it."""
        return (await self.open()).client

    async def open_to_read(self) -> Client:
        """The client, if this profile has a gateway to read from."""
        opened, profile = await self.open(), self.profile
        if not opened.gateway_url and not profile.gateways and not profile.traits.reads_without_gateway:
            hint = "Set PINUI_GATEWAY_URL."
            if profile.name != ENVIRONMENT:
                hint = f"Give it one with `pinui profile add {profile.name} --gateway-url URL`."
            raise WorkspaceError(f"The profile “{profile.name}” has no gateway to read from.", hint=hint)
        return opened.client

    async def call(self, call: Awaitable[T]) -> T:
        """Await one call of the client and report its result."""
        from pinui.sdk.errors import IntegrityError, NetworkError, ProviderError

        try:
            result = await call
        except (NetworkError, ProviderError, IntegrityError) as error:
            if isinstance(error, ProviderError) and error.status in ANSWERS:
                self.answered()
            else:
                self._on_status(self, "failed", sentence_for(error)[0])
            raise
        self.answered()
        return result

    def answered(self) -> None:
        """Report that the service works."""
        self._on_status(self, "ok", ANSWERED)

    @contextmanager
    def held(self) -> Generator[Service]:
        """Keep the client open for the length of a `with` block."""
        self._users += 1
        try:
            yield self
        finally:
            self._users -= 1
            if self._was_left and not self._users:
                self._in_background(self._close_unused())  # the caller may be cancelled

    async def leave(self) -> None:
        """Another service is in use now: close the client once no operation holds it."""
        self._was_left = True
        await self._close_unused()

    async def aclose(self) -> None:
        """Close the client, held or not."""
        if self._background:
            await asyncio.wait(list(self._background))
        await self._close()

    async def _open(self) -> OpenClient:
        async with self._changing:
            if self.opened is None:
                self.opened = await OpenClient.of(
                    self.profile,
                    self._paths,
                    self._credentials,
                    on_wait=lambda seconds: self._on_wait(self, seconds),
                    on_dialect=self._learn_dialect,
                )
            return self.opened

    async def _bind_token(self) -> None:
        """A token from before origins were remembered belongs to the address of its first use."""
        name, api_url = self.profile.name, self.profile.api_url or ""
        self.profile = replace(self.profile, token_for=origin_text(api_url))
        with suppress(WorkspaceError):  # settings that can't be written: the next run tries again
            await asyncio.to_thread(self._profiles.bind_token, name, api_url)

    def _learn_dialect(self, dialect: Dialect) -> None:
        """The token turned out to know this API: the next run begins with it."""
        self.profile = replace(self.profile, known_dialect=dialect)
        if self.profile.name != ENVIRONMENT:
            self._in_background(self._remember_dialect(dialect))

    async def _remember_dialect(self, dialect: Dialect) -> None:
        with suppress(WorkspaceError):  # settings that can't be written: the next run finds out again
            await asyncio.to_thread(self._profiles.remember_dialect, self.profile.name, dialect)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Work that the caller need not wait for; closing does."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _close_unused(self) -> None:
        if not self._users:
            await self._close()

    async def _close(self) -> None:
        async with self._changing:
            opened, self.opened = self.opened, None
            if opened is not None:
                await opened.aclose()
