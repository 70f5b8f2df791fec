"""Asking one gateway: for content as it is, for an archive, or for single blocks; and finding out what it gives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pinui.ipfs.cid import IDENTITY, Cid
from pinui.ipfs.limits import MAX_BLOCK
from pinui.sdk.address import Address
from pinui.sdk.errors import NetworkError, ProviderError
from pinui.sdk.reading.gateways import RAW_TYPE, Gateway
from pinui.sdk.reading.proof_sinks import CarSink, NotProven, NotTrustless
from pinui.sdk.reading.sinks import MemorySink
from pinui.sdk.transport.http import Head, Rejection, Request, Sink
from pinui.sdk.transport.refusals import network_error, provider_error
from pinui.sdk.transport.transport import Clock, Transport

__all__ = ["GatewayRequests"]

# The empty file; its CID carries the content, so every gateway can serve it.
PROBE = Cid.parse("bafkqaaa")
# The refusals of a gateway that doesn't know a format.
UNKNOWN_FORMAT = (400, 406, 415, 501)


@dataclass(frozen=True, slots=True)
class GatewayRequests:
    """Puts questions to gateways. `retry` is for the last one: before, the next one is asked at once."""

    transport: Transport
    clock: Clock
    _probes: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"], init=False)

    async def get(self, gateway: Gateway, request: Request, sink: Sink, *, retry: bool) -> Head:
        """The head of a good answer, with its body in the sink; anything else is an error."""
        outcome = await self.transport.perform(request, sink, retries=None if retry else 0)
        if isinstance(outcome.result, Head):
            return outcome.result
        if isinstance(outcome.result, Rejection):
            raise provider_error(outcome.result, now=self.clock.now(), gateway=True)
        error = network_error(outcome.result)
        error.hint = gateway.advice or error.hint
        raise error

    async def read_beginning(self, gateway: Gateway, address: Address, sink: Sink, limit: int, *, retry: bool) -> Head:
        """The first bytes of some content."""
        request = gateway.content(address)
        headers = {**request.headers, "Range": f"bytes=0-{max(limit, 1) - 1}"}
        return await self.get(gateway, replace(request, headers=headers), sink, retry=retry)

    async def read_car(
        self,
        gateway: Gateway,
        address: Address,
        sink: CarSink,
        *,
        scope: str = "",
        transfer: bool = False,
        retry: bool,
    ) -> bool:
        """Whether the gateway gives archives, and gave this one."""
        if not gateway.gives.cars:
            return False
        reply = self.get(gateway, gateway.archive(address, scope=scope, transfer=transfer), sink, retry=retry)
        try:
            if not await self._gives_archive(gateway, reply):
                return False
            await sink.finish()
        except NotProven:
            return False
        return True

    async def read_archive(self, gateway: Gateway, address: Address, sink: Sink, *, retry: bool) -> bool:
        """Whether the gateway gives archives, and sent something of this one."""
        request = gateway.archive(address, transfer=True)
        return gateway.gives.cars and await self._gives_archive(gateway, self.get(gateway, request, sink, retry=retry))

    async def read_blocks(self, gateway: Gateway, sink: CarSink, *, retry: bool) -> bool:
        """Whether the gateway gives single blocks, and gave all of these."""
        if not gateway.gives.blocks:
            return False
        has_begun = False
        while (cid := sink.wanted if has_begun else sink.root) is not None and not sink.full:
            block = await sink.kept_block() if has_begun else None
            if block is None:
                if has_begun and await self._read_below(gateway, cid, sink):
                    continue
                block = await self.read_block(gateway, cid, retry=retry)
            if block is None:
                return False
            if not has_begun:
                await sink.begin_blocks()
                has_begun = True
            await sink.write_block(block)
        await sink.finish()
        return True

    async def _read_below(self, gateway: Gateway, cid: Cid, sink: CarSink) -> bool:
        """Whether an archive brought the wanted block and more; the next request tells why not everything came."""
        if not gateway.gives.cars or not await sink.wants_archive():
            return False
        request = gateway.archive(Address(str(cid)), transfer=True)
        with suppress(ProviderError, NetworkError, NotProven):
            if not await self._gives_archive(gateway, self.get(gateway, request, sink, retry=False)):
                return False
        await sink.end_archive()
        return sink.wanted != cid

    async def read_block(self, gateway: Gateway, cid: Cid, *, retry: bool) -> bytes | None:
        """One block, not checked yet; None if the gateway serves no single blocks."""
        if cid.hash_code == IDENTITY:
            return cid.digest
        memory = _BlockSink(MAX_BLOCK, what=f"Block {cid}")
        reply = self.get(gateway, gateway.block(cid), memory, retry=retry)
        return memory.data if await self._is_supported(gateway, reply) else None

    async def _gives_archive(self, gateway: Gateway, reply: Awaitable[Head]) -> bool:
        if await self._is_supported(gateway, reply):
            return True
        gateway.gives.cars = not gateway.gives.is_found_out
        return False

    async def _is_supported(self, gateway: Gateway, reply: Awaitable[Head]) -> bool:
        """Whether the reply has the requested format; some gateways know no blocks and send plain content."""
        try:
            await reply
        except NotTrustless:
            pass
        except ProviderError as error:
            if error.status not in UNKNOWN_FORMAT:
                raise
        else:
            return True
        await self._find_out(gateway)
        return False

    async def _find_out(self, gateway: Gateway) -> None:
        """Remember what the gateway can't do, if it gives the empty file: a login page in between would not.

        However many reads want to know, it is asked once.
        """
        if gateway.gives.is_found_out:
            return
        probe = self._probes.get(gateway.url)
        if probe is None or probe.done():
            probe = self._probes[gateway.url] = asyncio.create_task(self._probe(gateway))
        await asyncio.shield(probe)

    async def _probe(self, gateway: Gateway) -> None:
        sink = MemorySink(1, cut=True)
        gives_blocks = False
        try:
            head = await self.get(gateway, gateway.block(PROBE), sink, retry=False)
            if sink.data:
                return
            gives_blocks = head.media_type == RAW_TYPE
        except NetworkError:
            return
        except ProviderError as error:
            if error.status not in UNKNOWN_FORMAT:
                return
        gateway.gives.blocks = gives_blocks
        gateway.gives.is_found_out = True


class _BlockSink(MemorySink):
    async def begin(self, head: Head, offset: int) -> None:
        if head.media_type != RAW_TYPE:
            raise NotTrustless
        await super().begin(head, offset)
