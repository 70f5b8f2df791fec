"""The profile in use: the service that is talked to, and how the last call to it went."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pinui.sdk.urls import origin_text
from pinui.workspace.connection import Connection
from pinui.workspace.credentials import Credentials, ending, for_service
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.models import Credential, Status, TestResult
from pinui.workspace.profiles import ENVIRONMENT, Profiles
from pinui.workspace.sentences import sentence_for
from pinui.workspace.service import Service

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pinui.sdk.client import Client
    from pinui.sdk.models import Totals
    from pinui.sdk.secret import Secret
    from pinui.workspace.models import Profile
    from pinui.workspace.paths import Paths

__all__ = ["ANSWERED", "Session"]

# A no to one question (not there, not pinned, too large) from a service that is well.
ANSWERS = frozenset({400, 404, 410, 413, 416})

T = TypeVar("T")
NOTHING_YET = "Nothing was asked of the service yet."
ANSWERED = "The service answered."


class Session:
    """The part of a `Workspace` that knows which service is talked to, with which token, and how that goes."""

    def __init__(self, paths: Paths, profiles: Profiles) -> None:
        self.paths = paths
        self.profiles = profiles
        self.credentials = Credentials(paths)
        self.service = self._at(profiles.current)
        """The one in use. Work that takes long holds it: it ends there, though another may be in use by then."""
        self.status = Status("unknown", NOTHING_YET, time.time())
        self.waiting_until: float | None = None
        """Set while a service that was asked too often is given its pause: when the next try comes."""
        self._left: list[Service] = []
        self._subscribers: list[Callable[[], None]] = []

    @property
    def profile(self) -> Profile:
        """The profile in use."""
        return self.service.profile

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Be called after each change of status, history or transfers; the result ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback) if callback in self._subscribers else None

    async def connect(self) -> Client:
        """The client of the profile in use, made on first use; switching closes it."""
        with self.service.held() as service:
            return (await self._connected(service)).client

    async def switch(self, name: str) -> None:
        """Use another profile from now on, in this run and in later ones. What is under way ends where it was begun."""
        await asyncio.to_thread(self.profiles.use, name)
        before, self.service = self.service, self._at(self.profiles.current)
        self._left.append(before)
        self._set_status("unknown", NOTHING_YET)
        await before.leave()

    async def api_url(self) -> str:
        """Where the API is; for `local` this starts the node."""
        with self.service.held() as service:
            return service.profile.api_url or (await self._connected(service)).api_url

    async def gateway_url(self) -> str:
        """Where content is read from; for `local` this starts the node."""
        with self.service.held() as service:
            return service.profile.gateway_url or (await self._connected(service)).gateway_url

    async def link(self, cid: str) -> str:
        """The address of some content in a browser."""
        from pinui.sdk.address import Address

        return Address.parse(cid).url(await self.gateway_url())

    async def test(self, profile: Profile | None = None, secret: Secret | None = None) -> TestResult:
        """Ask the service whether the token is good: of this profile, or of a draft that is not saved."""
        begun = time.perf_counter()
        try:
            if profile is None:
                with self.service.held() as service:
                    client = (await self._connected(service)).client
                    begun = time.perf_counter()
                    await self._call(service, client.test_connection())
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

    async def credential(self, profile: Profile | None = None) -> Credential:
        """What is known of a profile's token; without one, of the profile in use."""
        profile = profile or self.profile
        if profile.preset == "local":
            return Credential(None, "node")
        return for_service(await self.credentials.read(profile.name), profile)

    async def keep_token(self, profile: Profile, secret: Secret) -> Credential:
        """Keep the token of a profile: in the keyring, else for this run. It belongs to the profile's address."""
        kept = await self.credentials.save(profile.name, secret, service=origin_text(profile.api_url or ""))
        if kept.origin == "keyring":  # else an older token may still be there
            await asyncio.to_thread(self.profiles.bind_token, profile.name, profile.api_url or "")
        return kept

    @property
    def token_ending(self) -> str | None:
        """A sentence, if the token in use has ended or is about to."""
        connection = self.service.connection
        return ending(connection.expires_at) if connection is not None else None

    async def totals(self) -> Totals | None:
        """How much the account holds, where the service tells."""
        from pinui.sdk.errors import Unsupported

        with self.service.held() as service:
            client = (await self._connected(service)).client
            with suppress(Unsupported):
                return await self._call(service, client.totals())
        return None

    # How it is done

    def _at(self, profile: Profile) -> Service:
        return Service(profile, self.paths, self.credentials, self._wait)

    async def _connected(self, service: Service) -> Connection:
        try:
            connection = await service.connected()
        except Exception as error:
            self._note(service, "failed", sentence_for(error)[0])
            raise
        if connection.kept_in == "keyring" and service.profile.token_for is None:
            await self._bind_token(service)
        return connection

    async def _bind_token(self, service: Service) -> None:
        """A token from before origins were remembered belongs to the address of its first use."""
        profile = service.profile
        service.profile = replace(profile, token_for=origin_text(profile.api_url or ""))
        with suppress(WorkspaceError):  # settings that can't be written: the next run tries again
            await asyncio.to_thread(self.profiles.bind_token, profile.name, profile.api_url or "")

    async def _ready_to_read(self, service: Service) -> Client:
        """The client of a profile that content can be read with."""
        connection, profile = await self._connected(service), service.profile
        if not connection.gateway_url and not profile.gateways:
            hint = "Set PINUI_GATEWAY_URL."
            if profile.name != ENVIRONMENT:
                hint = f"Give it one with `pinui profile add {profile.name} --gateway-url URL`."
            raise WorkspaceError(f"The profile “{profile.name}” has no gateway to read from.", hint=hint)
        return connection.client

    async def _disconnect(self) -> None:
        for service in (*self._left, self.service):
            await service.aclose()

    async def _call(self, service: Service, call: Awaitable[T]) -> T:
        """Await one call to a service and note how it went."""
        from pinui.sdk.errors import IntegrityError, NetworkError, ProviderError

        try:
            result = await call
        except (NetworkError, ProviderError, IntegrityError) as error:
            if isinstance(error, ProviderError) and error.status in ANSWERS:
                self._note(service, "ok", ANSWERED)
            else:
                self._note(service, "failed", sentence_for(error)[0])
            raise
        self._note(service, "ok", ANSWERED)
        return result

    def _note(self, service: Service, state: Any, sentence: str) -> None:
        """The status is that of the profile in use: what still ends elsewhere says nothing of it."""
        if service is self.service:
            self._set_status(state, sentence)

    @property
    def pause_left(self) -> int:
        """Seconds until a call goes on that the service asked to wait; 0 when none waits."""
        return 0 if self.waiting_until is None else max(0, math.ceil(self.waiting_until - time.monotonic()))

    def _wait(self, service: Service, seconds: float) -> None:
        if service is self.service:
            self.waiting_until = time.monotonic() + seconds
            self._tell()

    def _set_status(self, state: Any, sentence: str) -> None:
        self.waiting_until = None
        self.status = Status(state, sentence, time.time())
        self._tell()

    def _tell(self) -> None:
        for callback in list(self._subscribers):
            callback()
