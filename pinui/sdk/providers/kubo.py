"""Kubo, the reference implementation of IPFS, over its RPC: pins on your own daemon."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

from pinui.ipfs.cid import Cid
from pinui.sdk.address import Address
from pinui.sdk.errors import NetworkTimeout, PinuiError, ProviderError
from pinui.sdk.models import ClientConfig, Pin, Pinned, Timeouts, Totals
from pinui.sdk.providers import wire
from pinui.sdk.providers.adding import AddCall, AddingProvider
from pinui.sdk.providers.api import Api, Query, ServiceKind
from pinui.sdk.providers.multiaddrs import daemon_of, multiaddrs
from pinui.sdk.reading.gateways import Gateway, gateways_of
from pinui.sdk.transport.http import OnProgress, Request
from pinui.sdk.transport.refusals import is_not_pinned
from pinui.sdk.transport.transport import Clock
from pinui.sdk.writing.multipart import Multipart
from pinui.sdk.writing.sources import UploadSource

__all__ = ["KuboProvider"]

KUBO = ServiceKind(
    "Kubo",
    start="ipfs daemon",
    hints={
        403: "Kubo takes the tokens and passwords in its setting API.Authorizations, each for some paths: "
        "compare yours.",
        404: "There is no such call at this address: check that it is that of Kubo's RPC.",
    },
)


class KuboProvider(AddingProvider):
    """A `StorageProvider` on Kubo's RPC. It reads through the daemon's gateway, and where that fails through RPC.

    >>> client = Client(KuboProvider(ClientConfig(provider="kubo")))  # the daemon on this machine
    >>> await client.aclose()
    """

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        clock = clock or Clock()
        api = Api(config, KUBO, clock)
        self._patience = Timeouts.of(config.timeout).idle
        advice = KUBO.advice(api.url)
        gateways = [replace(gateway, advice=advice) for gateway in gateways_of(config)]
        rpc = Gateway(f"{api.url}/api/v0", api.credential, advice=advice, is_rpc=True)
        call = AddCall("api/v0/add", "pin-name", "Hash", self._is_pinned)
        super().__init__(config, api, call, [*gateways, rpc], clock)

    async def _is_pinned(self, cid: Cid) -> bool:
        return await self._find(str(cid)) is not None

    async def unpin(self, cid: str) -> bool:
        """Remove the pin. A missing pin is a `ProviderError`, unless our own lost try may have removed it."""
        address = Address.parse_root(cid)
        await self._api.is_removed(self._command("pin/rm", {"arg": address.cid}))
        self._reader.forget_pinned(address.cid)
        return True

    async def test_authentication(self) -> bool:
        """Ask the daemon for its version, which only the users that it knows may do."""
        status, answer = await self._api.test(self._command("version"))
        if not isinstance(answer.get("Version"), str) or "Repo" not in answer:
            raise wire.not_understood(status, "it is not Kubo's")
        return True

    async def pins(self, *, name: str | None = None, cid: str | None = None) -> AsyncGenerator[Pin]:
        """The recursive pins of the daemon, in its order: Kubo knows no dates. A CID is looked for in both its
        versions, which are two pins to Kubo."""
        wanted = [None] if cid is None else [str(spelling) for spelling in Cid.parse(cid).spellings()]
        for spelling in wanted:
            try:
                async with aclosing(self._list(spelling)) as found:
                    async for pin in found:
                        if name is None or name.casefold() in (pin.name or "").casefold():
                            yield pin
            except ProviderError as error:
                if spelling is None or not is_not_pinned(error):
                    raise

    async def _list(self, cid: str | None) -> AsyncGenerator[Pin]:
        query = {"arg": cid, "type": "recursive", "names": "true", "stream": "true"}
        async with aclosing(self._api.lines(self._command("pin/ls", query, transfer=True))) as lines:
            async for line in lines:
                if (found := wire.one_word(line.get("Cid"))) is not None:
                    yield Pin(cid=found, name=str(line.get("Name") or "") or None)

    async def _find(self, cid: str) -> Pin | None:
        async with aclosing(self.pins(cid=cid)) as found:
            return await anext(found, None)

    async def totals(self) -> Totals:
        """The number of pins and the size of the repository, with blocks that no pin holds until they are collected."""
        status, body = await self._api.call(self._command("repo/stat", {"size-only": "true"}))
        size = wire.answer_object(body).get("RepoSize")
        if not isinstance(size, int):
            raise wire.not_understood(status, "it carries no RepoSize")
        count = 0
        async with aclosing(self._list(None)) as pins:
            async for _ in pins:
                count += 1
        return Totals(count, size)

    async def pin(self, cid: str, *, name: str | None = None) -> Pin:
        """Have the daemon fetch and keep content that is stored elsewhere. It is pinned when this returns.

        An existing pin keeps its name, unless another one is given. `NetworkTimeout`: nothing new arrived within the
        time limit.
        """
        address = Address.parse_root(cid)
        if name is None and (held := await self._find(address.cid)) is not None:
            return held
        name = None if name is None else self._call.name(name)
        query = {"arg": address.cid, "progress": "true", "name": name}
        request = self._command("pin/add", query, transfer=True)
        blocks, since = 0, self._clock.monotonic()
        with suppress(NetworkTimeout):
            async with aclosing(self._api.lines(request, retries=0)) as lines:
                async for line in lines:
                    if "Pins" in line:
                        self._reader.remember_pinned(address.cid)
                        return Pin(cid=address.cid, name=name)
                    now, so_far = self._clock.monotonic(), line.get("Progress")
                    if isinstance(so_far, int) and so_far > blocks:
                        blocks, since = so_far, now
                    elif now - since > self._patience:
                        break
                else:
                    raise wire.not_understood(200, "it doesn't say that anything was pinned")
        raise NetworkTimeout(
            f"Kubo found no peer that has {'the rest of ' if blocks else ''}{address.cid}",
            hint="A peer that has it must be online and reachable for the daemon (`ipfs swarm connect`).",
        )

    async def pin_from(self, cid: str, origins: Sequence[str], *, name: str | None = None) -> Pin:
        """Connect to the daemons that have some content, and fetch it from there."""
        await self.connect_to(origins)
        return await self.pin(cid, name=name)

    async def origins(self) -> tuple[str, ...]:
        """The addresses of the daemon; none while it is offline."""
        _status, body = await self._api.call(self._command("id"))
        return multiaddrs(wire.answer_object(body).get("Addresses"))

    async def connect_to(self, origins: Sequence[str]) -> bool:
        """Whether the daemon is connected to one of these now, or is one of them."""
        own = {daemon_of(address) for address in await self.origins()}
        for address in origins:
            if daemon_of(address) in own:
                return True
            with suppress(PinuiError):
                await self._api.call(self._command("swarm/connect", {"arg": address, "timeout": "5s"}), retries=0)
                return True
        return False

    async def takes_cars(self) -> bool:
        """Kubo imports CARs."""
        return True

    async def import_car(self, root: str, archive: UploadSource, *, on_progress: OnProgress | None = None) -> Pinned:
        """Pin the content of a CAR with this one root.

        The blocks come first. Pin and name come together, so that an interruption leaves no pin without its name.
        """
        body = Multipart(archive.parts, (), on_progress)
        request = self._api.upload("api/v0/dag/import", {"pin-roots": "false"}, body, body.content_type)
        async with aclosing(self._api.lines(request)) as lines:
            async for _line in lines:
                pass
        name = self._call.name(archive.name) if archive.name else None
        query = {"arg": root, "name": name, "progress": "true", "offline": "true"}
        async with aclosing(self._api.lines(self._command("pin/add", query, transfer=True))) as lines:
            async for line in lines:
                if "Pins" in line:
                    self._reader.remember_pinned(root)
                    return Pinned(root, archive.size, "verified")  # Kubo checks every block
        raise wire.not_understood(200, "it doesn't say that anything was pinned")

    async def rename(self, cid: str, name: str) -> None:
        """Give a pin another name: pinning it again does."""
        address = Address.parse_root(cid)
        # Asked first, since a CID that is not pinned would become so; it is an error of the daemon's own.
        await self._api.call(self._command("pin/ls", {"arg": address.cid, "type": "recursive"}))
        await self._name(address.cid, name)

    async def _name(self, cid: str, name: str) -> None:
        await self._api.call(self._command("pin/add", {"arg": cid, "name": self._call.name(name)}))

    def _command(self, name: str, query: Query | None = None, *, transfer: bool = False) -> Request:
        return self._api.request("POST", f"api/v0/{name}", query, transfer=transfer)


KuboProvider.__module__ = "pinui"  # as people import it
