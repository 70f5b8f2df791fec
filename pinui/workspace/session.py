"""A profile in use: its connection, made when it is first needed, and how the last call to the service went."""

from __future__ import annotations

import asyncio
import math
import os
import time
from typing import TYPE_CHECKING, Any, TypeVar

from pinui.workspace.connection import Connection
from pinui.workspace.credentials import Credentials, ending
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.models import Credential, Status, TestResult, Totals
from pinui.workspace.profiles import ENVIRONMENT, Profiles
from pinui.workspace.sentences import sentence_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pinui.sdk.client import Client
    from pinui.sdk.secret import Secret
    from pinui.workspace.models import Profile
    from pinui.workspace.paths import Paths

__all__ = ["Session"]

# A no to one question (not there, not pinned, too large) from a service that is well.
ANSWERS = frozenset({400, 404, 410, 413, 416})

T = TypeVar("T")
NOTHING_YET = "Nothing was asked of the service yet."


class Session:
    """The part of a `Workspace` that knows which service is talked to, with which token, and how that goes."""

    def __init__(self, paths: Paths, profiles: Profiles) -> None:
        self.paths = paths
        self.profiles = profiles
        self.profile = profiles.current
        self.credentials = Credentials(paths)
        self.status = Status("unknown", NOTHING_YET, time.time())
        self.waiting_until: float | None = None
        """Set while a service that was asked too often is given its pause: when the next try comes."""
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._subscribers: list[Callable[[], None]] = []

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Be called after each change of status, history or transfers; the result ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback) if callback in self._subscribers else None

    async def connect(self) -> Client:
        """The client of this profile, made on first use."""
        return (await self._connected()).client

    async def switch(self, name: str) -> None:
        """Use another profile from now on, in this run and in later ones."""
        await asyncio.to_thread(self.profiles.use, name)
        await self._disconnect()
        self.profile = self.profiles.current
        self._set_status("unknown", NOTHING_YET)

    async def api_url(self) -> str:
        """Where the API is; for `local` this starts the node."""
        return self.profile.api_url or (await self._connected()).api_url

    async def gateway_url(self) -> str:
        """Where content is read from; for `local` this starts the node."""
        return self.profile.gateway_url or (await self._connected()).gateway_url

    async def link(self, cid: str) -> str:
        """The address of some content in a browser."""
        from pinui.sdk.address import Address

        return Address.parse(cid).url(await self.gateway_url())

    async def test(self, profile: Profile | None = None, secret: Secret | None = None) -> TestResult:
        """Ask the service whether the token is good: of this profile, or of a draft that is not saved."""
        begun = time.perf_counter()
        try:
            if profile is None:
                client = await self.connect()
                begun = time.perf_counter()
                await self._call(client.test_connection())
            else:
                draft = await Connection.make(profile, self.paths, self.credentials, secret=secret, retries=0)
                try:
                    begun = time.perf_counter()
                    await draft.client.test_connection()
                finally:
                    await draft.aclose()
        except Exception as error:  # noqa: BLE001 – the result carries it
            return TestResult(False, (time.perf_counter() - begun) * 1000, error)
        return TestResult(True, (time.perf_counter() - begun) * 1000)

    async def credential(self) -> Credential:
        """What is known of this profile's token."""
        if self.profile.preset == "local":
            return Credential(None, "node")
        if self.profile.name == ENVIRONMENT and not os.environ.get("PINUI_TOKEN"):
            return Credential(None, "none")
        return await self.credentials.read(self.profile.name)

    @property
    def token_ending(self) -> str | None:
        """A sentence, if the token in use has ended or is about to."""
        return ending(self._connection.expires_at) if self._connection is not None else None

    async def totals(self) -> Totals | None:
        """What the account holds, where the service tells."""
        client = await self.connect()
        ask = getattr(client.provider, "account_totals", None)
        if ask is None:
            return None
        totals = await self._call(ask())
        return Totals(totals.pins, totals.bytes)

    # How it is done

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._connection is None:
                try:
                    self._connection = await Connection.make(
                        self.profile, self.paths, self.credentials, on_wait=self._wait
                    )
                except Exception as error:
                    self._set_status("failed", sentence_for(error)[0])
                    raise
            return self._connection

    async def _ready_to_read(self) -> Client:
        """The client of a profile that content can be read with."""
        connection = await self._connected()
        if not connection.gateway_url and not self.profile.gateways:
            hint = "Set PINUI_GATEWAY_URL."
            if self.profile.name != ENVIRONMENT:
                hint = f"Give it one with `pinui profile add {self.profile.name} --gateway-url URL`."
            raise WorkspaceError(f"The profile “{self.profile.name}” has no gateway to read from.", hint=hint)
        return connection.client

    async def _disconnect(self) -> None:
        async with self._connecting:
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.aclose()

    async def _call(self, call: Awaitable[T]) -> T:
        """Await one call to the service and note how it went."""
        from pinui.sdk.errors import IntegrityError, NetworkError, ProviderError

        try:
            result = await call
        except (NetworkError, ProviderError, IntegrityError) as error:
            if isinstance(error, ProviderError) and error.status in ANSWERS:
                self._set_status("ok", "The service answered.")
            else:
                self._set_status("failed", sentence_for(error)[0])
            raise
        self._set_status("ok", "The service answered.")
        return result

    @property
    def pause_left(self) -> int:
        """Seconds until a call goes on that the service asked to wait; 0 when none waits."""
        return 0 if self.waiting_until is None else max(0, math.ceil(self.waiting_until - time.time()))

    def _wait(self, seconds: float) -> None:
        self.waiting_until = time.time() + seconds
        self._tell()

    def _set_status(self, state: Any, sentence: str) -> None:
        self.waiting_until = None
        self.status = Status(state, sentence, time.time())
        self._tell()

    def _tell(self) -> None:
        for callback in list(self._subscribers):
            callback()
