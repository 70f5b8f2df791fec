"""The provider that speaks the pinning HTTP API for writes and reads through an IPFS gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from pinui.ipfs.cid import Cid
from pinui.sdk.address import Address
from pinui.sdk.errors import ProviderError, Unsupported
from pinui.sdk.models import ClientConfig, Dialect, Pin, Pinned, Resume, Totals, Verification
from pinui.sdk.providers import wire
from pinui.sdk.providers.api import Api, ServiceKind
from pinui.sdk.providers.dialects import PinningApi
from pinui.sdk.providers.newer_api import PENDING, NewerApi
from pinui.sdk.providers.older_api import OlderApi
from pinui.sdk.reading.content import GatewayContent
from pinui.sdk.secret import Secret
from pinui.sdk.stored_json import text_of
from pinui.sdk.transport.http import OnProgress, SecretHeader
from pinui.sdk.transport.transport import Clock
from pinui.sdk.writing.sources import Uploadable, UploadSource, look_at

__all__ = ["PinProvider"]

T = TypeVar("T")

PINNING = ServiceKind("The service", refuses_with_500=False)
NEITHER = (
    "This key may do this with neither of the service's two APIs: make one that may write files "
    "(org:files:write), or one with access to pinFileToIPFS, pinJSONToIPFS and unpin."
)


class PinProvider(GatewayContent):
    """A `StorageProvider` on a pinning API and a gateway.

    The hosted service has two APIs, and keys that know only one of them. There, the operation itself finds out which:
    nothing is sent for that alone.

    >>> async with Client(PinProvider(ClientConfig(**settings))) as client:
    ...     await client.test_connection()
    True
    """

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        clock = clock or Clock()
        url = config.pin_api_url or ""
        token = SecretHeader("Authorization", Secret(config.provider_token), url, scheme="Bearer")
        self._api = Api(config, PINNING, clock, token)
        self._clock = clock
        self._calls = self._speaking(config, config.wire_dialect)
        self._told = config.known_dialect
        self.requires_proof = config.verify == "require"
        """Whether an unproven write is an error; `Client` raises it, with the record."""
        super().__init__(config, self._api.transport, clock)

    @property
    def dialect(self) -> Dialect:
        """The dialect in use."""
        return self._calls.dialect

    async def put_json(self, data: Any) -> Pinned:
        """Pin a JSON document."""
        return await self.put_text(await text_of(data))

    async def put_text(self, text: str) -> Pinned:
        """Pin a JSON document, given as the text that `JSON.stringify` writes."""
        return self._remembered(await self._either(lambda calls: calls.put_text(text)))

    async def put_file(self, file: Uploadable, *, on_progress: OnProgress | None = None) -> Pinned:
        """Pin a file, or a folder as one directory."""
        return await self._put(file, on_progress, None)

    async def put_file_resumably(
        self, file: Uploadable, resume: Resume, *, on_progress: OnProgress | None = None
    ) -> Pinned:
        """Pin a file, or a folder; with a handle of the newer API, the rest of it."""
        return await self._put(file, on_progress, resume)

    async def _put(self, file: Uploadable, on_progress: OnProgress | None, resume: Resume | None) -> Pinned:
        source = await look_at(file)
        try:
            return self._remembered(await self._either(lambda calls: calls.put_file(source, on_progress, resume)))
        finally:
            if source is not file:  # the caller that opened a source closes it
                source.close()

    async def unpin(self, cid: str) -> bool:
        """Remove the pin. A missing pin is a `ProviderError`, unless our own lost try may have removed it."""
        address = Address.parse_root(cid)
        await self._either(lambda calls: calls.unpin(address.cid))
        self._reader.forget_pinned(address.cid)
        return True

    async def test_authentication(self) -> bool:
        """Ask the API whether it accepts the token. The answer doesn't cover the token's permissions."""
        request = self._api.request("GET", "data/testAuthentication")
        # A test is about now: one more try, for a hiccup.
        return wire.read_authentication(*await self._api.call(request, retries=min(self.config.retries, 1)))

    def pins(self, *, name: str | None = None, cid: str | None = None) -> AsyncGenerator[Pin]:
        """The pins of the account, newest first. A CID is looked for in both its versions."""
        return self._pins(lambda calls: calls.pins(name=name, cid=cid))

    def pins_resumably(self, resume: Resume, *, name: str | None = None, cid: str | None = None) -> AsyncGenerator[Pin]:
        """The same; with a handle, those behind the last page that was read to its end."""
        return self._pins(lambda calls: calls.pins(name=name, cid=cid, resume=resume))

    async def _pins(self, ask: Callable[[PinningApi], AsyncGenerator[Pin]]) -> AsyncGenerator[Pin]:
        async def begin(calls: PinningApi) -> tuple[AsyncGenerator[Pin], Pin | None]:
            listing = ask(calls)
            return listing, await anext(listing, None)

        listing, first = await self._either(begin)
        async with aclosing(listing):
            if first is not None:
                yield first
                async for pin in listing:
                    yield pin

    async def totals(self) -> Totals:
        """The size of the account."""
        return await self._either(lambda calls: calls.totals())

    async def pin(self, cid: str, *, name: str | None = None) -> Pin:
        """Ask the service to fetch and keep content that is stored elsewhere."""
        address = Address.parse_root(cid)
        pin = await self._either(lambda calls: calls.pin(address.cid, name))
        self._reader.remember_pinned(address.cid)
        return pin

    async def rename(self, cid: str, name: str) -> None:
        """Give a pin another name."""
        address = Address.parse_root(cid)
        await self._either(lambda calls: calls.rename(address.cid, name))

    async def takes_cars(self) -> bool:
        """Whether the newer API is there, and the key may use it: only that one takes CARs."""
        try:
            _status, body = await self._api.call(self._api.request("GET", "v3/files/public", {"limit": 1}))
        except ProviderError as error:
            if error.status in (400, 401, 403, 404, 405, 501):
                return False
            raise
        data = wire.answer_object(body).get("data")  # some servers have a page for every path
        return isinstance(data, dict) and "files" in data

    async def import_car(self, root: str, archive: UploadSource, *, on_progress: OnProgress | None = None) -> Pinned:
        """Pin the content of a CAR with one root. Only the newer API takes those."""
        newer = NewerApi(self._api, self.config, self._clock)
        try:
            cid = await newer.import_car(archive, on_progress)
        except ProviderError as error:
            if error.status not in (404, 405):
                raise
            cid = None
        if cid is None:
            raise Unsupported("This service takes no CARs")
        is_it = cid == PENDING or Cid.parse(cid).multihash == Cid.parse(root).multihash
        verdict: Verification = "verified" if is_it else "mismatch"
        found = root if cid == PENDING else cid
        return self._remembered(Pinned(found, archive.size, verdict, None if is_it else root))

    async def _either(self, operation: Callable[[PinningApi], Awaitable[T]]) -> T:
        """The operation, with the API that the key knows."""
        calls = self._calls
        try:
            result = await operation(calls)
        except ProviderError as error:
            if not self.config.finds_dialect or not _is_unknown_to(calls, error):
                raise
            refused = error
        else:
            self._tell_dialect(calls)
            return result
        other = self._speaking(self.config, "pinata" if calls.dialect == "pinata-v3" else "pinata-v3")
        try:
            result = await operation(other)
        except ProviderError as error:
            if not _is_unknown_to(other, error):
                raise
            refused.hint = NEITHER
            raise refused from None
        self._calls = other
        self._tell_dialect(other)
        return result

    def _tell_dialect(self, calls: PinningApi) -> None:
        if self.config.finds_dialect and self._told != calls.dialect:
            self._told = calls.dialect
            if self.config.on_dialect is not None:
                self.config.on_dialect(calls.dialect)

    def _speaking(self, config: ClientConfig, dialect: Dialect) -> PinningApi:
        if dialect == "pinata-v3":
            return NewerApi(self._api, config, self._clock)
        return OlderApi(self._api, config, dialect, self._clock)

    def _remembered(self, pinned: Pinned) -> Pinned:
        self._reader.remember_pinned(pinned.cid)
        return pinned


def _is_unknown_to(calls: PinningApi, error: ProviderError) -> bool:
    """Whether a refusal means that the key is not for this API."""
    return error.status == 401 if calls.dialect == "pinata-v3" else error.reason == "NO_SCOPES_FOUND"


PinProvider.__module__ = "pinui"
