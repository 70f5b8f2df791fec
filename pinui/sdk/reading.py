"""Reading through gateways: each answer is checked against its CID, and the next gateway asked when one fails."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pinui.ipfs.check import can_rebuild
from pinui.ipfs.cid import DAG_PB, IDENTITY, RAW, Cid
from pinui.ipfs.multihash import can_prove
from pinui.ipfs.verifier import FolderEntry
from pinui.sdk import wire
from pinui.sdk.address import Address
from pinui.sdk.checking import FOLDER_HINT, CarSink, CheckingSink, NotTrustless, ReadSink
from pinui.sdk.errors import ContentError, IntegrityError, NetworkError, PinuiError, ProviderError
from pinui.sdk.folders import FolderWriter
from pinui.sdk.gateways import Gateway, gateways_of
from pinui.sdk.http import Head, Rejection, Request, Sink
from pinui.sdk.models import ClientConfig, Verification
from pinui.sdk.sinks import MemorySink
from pinui.sdk.transport import Clock, Transport

__all__ = ["GatewayReader", "ReadResult", "is_listing"]

# How long a hosted service may take until its gateway has what was pinned a moment ago.
PROPAGATION_WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
STILL_FRESH = 60.0
CAR_ACCEPT = "application/vnd.ipld.car; version=1; order=dfs; dups=y"
RAW_TYPE = "application/vnd.ipld.raw"
LARGEST_BLOCK = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What a read brought besides the bytes."""

    head: Head
    verification: Verification | None
    is_folder: bool = False


@dataclass(slots=True)
class _Job:
    """One read: what for, where to."""

    address: Address
    cid: Cid
    sink: ReadSink
    folder: FolderWriter | None
    transfer: bool
    blocks_first: bool
    """Each byte is to be proven before it is handed on."""
    content_is_gone: bool = False
    """A proof that came to nothing has emptied the sink."""
    failure: PinuiError | None = None
    """Why the last proof came to nothing, if the gateway is to blame."""


@dataclass(slots=True)
class GatewayReader:
    """Reads by CID. With several gateways they are asked in order."""

    config: ClientConfig
    transport: Transport
    clock: Clock
    _gateways: list[Gateway] = field(init=False)
    _fresh: dict[bytes, float] = field(init=False, default_factory=dict[bytes, float])

    def __post_init__(self) -> None:
        self._gateways = gateways_of(self.config)

    def remember_pinned(self, cid: str) -> None:
        """Somebody just pinned this: a gateway that doesn't have it yet is given some time."""
        now = self.clock.now()
        self._fresh = {known: when for known, when in self._fresh.items() if now - when < STILL_FRESH}
        with suppress(ValueError):  # a provider's answer that is no CID can't be asked for either
            self._fresh[Cid.parse(cid).multihash] = now

    def forget_pinned(self, cid: str) -> None:
        """It was unpinned: nobody has to wait for it."""
        self._fresh.pop(Cid.parse(cid).multihash, None)

    async def read(
        self,
        address: Address,
        sink: ReadSink,
        *,
        transfer: bool = False,
        folder: FolderWriter | None = None,
        blocks_first: bool = False,
    ) -> ReadResult:
        """Read into the sink (or, where a folder turns out to be meant, into `folder`)."""
        job = _Job(address, Cid.parse(address.cid), sink, folder, transfer, blocks_first)
        # A path that isn't there is more likely a slip than a delay.
        pinned = 0.0 if address.path else self._fresh.get(job.cid.multihash, 0.0)
        fresh = self.clock.now() - pinned < STILL_FRESH
        for wait in (*PROPAGATION_WAITS, None) if fresh else (None,):
            outcome = await self._ask_each(job)
            if isinstance(outcome, ReadResult):
                return outcome
            if wait is None or not any(_is_missing(failure) for failure in outcome):
                raise _most_telling(outcome)
            await self.transport.wait(wait)
        raise AssertionError("the last turn returns or raises")

    async def peek(self, address: Address, sink: Sink, limit: int) -> Head:
        """The beginning of some content, from the first gateway that has it. A beginning can't be checked."""
        failure: PinuiError = _no_gateway()
        for gateway in self._gateways:
            try:
                return await self._get(gateway, address.url(gateway.url), sink, range_end=limit)
            except (ProviderError, NetworkError) as error:
                failure = error
        raise failure

    async def list_folder(self, address: Address) -> list[FolderEntry] | None:
        """What a folder holds, every block checked; None if it is none, or the gateway can't prove it."""
        for gateway in self._gateways:
            sink = CarSink(Cid.parse(address.cid), address.path, None, None, deep=False)
            with suppress(ProviderError, NetworkError, IntegrityError):  # it was only worth a try
                if gateway.gives.cars and await self._read_car(gateway, address, sink, "&dag-scope=entity"):
                    return sink.listing if sink.is_folder else None
        return None

    async def _ask_each(self, job: _Job) -> ReadResult | list[PinuiError]:
        """What the first gateway gave that could; or why each could not."""
        if not self._gateways:
            raise _no_gateway()
        failures: list[PinuiError] = []
        for number, gateway in enumerate(self._gateways):
            job.sink.restart()
            is_last = number == len(self._gateways) - 1
            try:
                return await self._read_from(gateway, job, retry=is_last)
            except (ProviderError, NetworkError, IntegrityError) as error:
                if is_last or _another_may_do_better(error):
                    failures.append(error)
                else:
                    raise
        return failures

    async def _read_from(self, gateway: Gateway, job: _Job, *, retry: bool) -> ReadResult:
        verify = self.config.verify != "off"
        if verify and (job.address.path or job.blocks_first) and _is_provable(job.cid):
            # Bytes below a path say nothing about the root's CID; only blocks do.
            proven = await self._prove(gateway, job)
            if proven is not None:
                return proven
        check = CheckingSink(job.sink, job.cid)
        head = await self._plain(gateway, job, check if verify else job.sink, retry=retry)
        if is_listing(head):
            return await self._read_listed_folder(gateway, job, head)
        if not verify:
            return ReadResult(head, None)
        finding = "unknown" if job.address.path else await check.finding()
        if finding == "verified":
            return ReadResult(head, "verified")
        if finding == "mismatch":
            raise _mismatch(job.address)
        return await self._prove_or_doubt(gateway, job, head, check)

    async def _prove_or_doubt(self, gateway: Gateway, job: _Job, head: Head, check: CheckingSink) -> ReadResult:
        """The plain answer could not be recognised: it is read again as blocks, or left in doubt."""
        tried_already = job.address.path or not job.sink.can_start_anew
        if not tried_already and _is_provable(job.cid):
            proven = await self._prove(gateway, job)
            if proven is not None:
                return replace(proven, head=head)
            if job.content_is_gone:
                head = await self._plain(gateway, job, job.sink, retry=True)
        if check.fits_one_block and not job.address.path and can_rebuild(job.cid):
            raise _mismatch(job.address)
        if self.config.verify == "require":
            raise IntegrityError(
                f"{job.address} could not be verified: it was cut into blocks in an unknown way, "
                "and the gateway gives no blocks to check",
                verification="unverifiable",
                hint="Use a trustless gateway, or verify='try'.",
            )
        return ReadResult(head, "unverifiable")

    async def _read_listed_folder(self, gateway: Gateway, job: _Job, head: Head) -> ReadResult:
        """The answer is a page about a folder: the folder itself comes as blocks, or not at all."""
        if job.folder is None:
            raise ContentError(f"{job.address} is a folder, not a file", hint=FOLDER_HINT)
        proven = await self._prove(gateway, job)
        if proven is not None:
            return replace(proven, head=head)
        if job.failure is not None:
            raise job.failure
        raise ContentError(
            f"{job.address} is a folder, and this gateway gives no archive of it",
            hint="Use a trustless gateway, or name a file in it: CID/name.",
        )

    async def _prove(self, gateway: Gateway, job: _Job) -> ReadResult | None:
        """Read it again as blocks, each checked; None if the gateway gives none, or none today."""
        sink = CarSink(job.cid, job.address.path, job.sink, job.folder)
        head = None
        try:
            if gateway.gives.cars:
                head = await self._read_car(gateway, job.address, sink, transfer=job.transfer)
            if head is None and gateway.gives.blocks and not job.address.path and not job.blocks_first:
                head = await self._read_blocks(gateway, job, sink)
        except (ProviderError, NetworkError) as error:
            job.failure = error
        job.content_is_gone = job.content_is_gone or sink.has_touched_the_content
        return None if head is None else ReadResult(head, "verified", sink.is_folder)

    async def _plain(self, gateway: Gateway, job: _Job, sink: Sink, *, retry: bool) -> Head:
        return await self._get(gateway, job.address.url(gateway.url), sink, transfer=job.transfer, retry=retry)

    async def _read_car(
        self, gateway: Gateway, address: Address, sink: CarSink, scope: str = "", *, transfer: bool = False
    ) -> Head | None:
        url = f"{address.url(gateway.url)}?format=car{scope}"
        head = await _if_supported(self._get(gateway, url, sink, transfer=transfer, accept=CAR_ACCEPT))
        if head is None:
            gateway.gives.cars = False
            return None
        await sink.finish()
        return head

    async def _read_blocks(self, gateway: Gateway, job: _Job, sink: CarSink) -> Head | None:
        head: Head | None = None
        while (cid := (job.cid if head is None else sink.wanted)) is not None:
            if cid.hash_code == IDENTITY:
                block, reply = cid.digest, Head(200, {}, "")
            else:
                memory = _BlockSink(LARGEST_BLOCK, what=f"Block {cid}")
                url = f"{Address(str(cid)).url(gateway.url)}?format=raw"
                reply = await _if_supported(self._get(gateway, url, memory, accept=RAW_TYPE))
                if reply is None:
                    gateway.gives.blocks = False
                    return None
                block = memory.data
            if head is None:
                head = reply
                await sink.begin_blocks(reply)
            await sink.write_block(block)
        if head is not None:
            await sink.finish()
        return head

    async def _get(
        self,
        gateway: Gateway,
        url: str,
        sink: Sink,
        *,
        transfer: bool = False,
        accept: str | None = None,
        range_end: int | None = None,
        retry: bool = True,
    ) -> Head:
        headers = {} if accept is None else {"Accept": accept}
        if range_end is not None:
            headers["Range"] = f"bytes=0-{max(range_end, 1) - 1}"
        request = Request("GET", url, headers, credential=gateway.key, transfer=transfer)
        outcome = await self.transport.perform(request, sink, retries=None if retry else 0)
        if isinstance(outcome.result, Head):
            return outcome.result
        if isinstance(outcome.result, Rejection):
            raise wire.provider_error(outcome.result, now=self.clock.now(), gateway=True)
        raise wire.network_error(outcome.result)


async def _if_supported(reply: Awaitable[Head]) -> Head | None:
    """The reply, or None where the answer shows that the gateway doesn't speak of blocks."""
    try:
        return await reply
    except NotTrustless:
        return None
    except ProviderError as error:
        if error.status in (400, 406, 415, 501):
            return None
        raise


class _BlockSink(MemorySink):
    async def begin(self, head: Head, offset: int) -> None:
        if head.media_type != RAW_TYPE:
            raise NotTrustless
        await super().begin(head, offset)


def is_listing(head: Head) -> bool:
    """Whether the gateway made this page itself, to show a folder in a browser: gateways mark those in the ETag."""
    return "DirIndex" in head.headers.get("etag", "")


def _is_missing(error: PinuiError) -> bool:
    """Whether the gateway doesn't have it; Pinata's says so with a code of its own, also for what is on its way."""
    return isinstance(error, ProviderError) and (error.status == 404 or error.reason == "ERR_ID:00006")


def _most_telling(failures: list[PinuiError]) -> PinuiError:
    """A proven swap is worth more words than a gateway that has nothing."""
    return next((error for error in failures if isinstance(error, IntegrityError)), failures[0])


def _another_may_do_better(error: PinuiError) -> bool:
    if isinstance(error, ProviderError):
        return _is_missing(error) or error.status in (401, 403, 408, 410, 425, 429, 451) or error.status >= 500
    return True


def _is_provable(cid: Cid) -> bool:
    """Whether blocks of this kind can be checked here at all."""
    return cid.codec in (RAW, DAG_PB) and can_prove(cid)


def _no_gateway() -> PinuiError:
    return PinuiError("No gateway is configured, so nothing can be read", hint="Set gateway_url.")


def _mismatch(address: Address) -> IntegrityError:
    return IntegrityError(
        f"What the gateway sent is not what {address} names",
        hint="Nothing of it was kept. The gateway changed it; or it is a folder, or was cut into blocks in an unusual "
        "way, and this gateway gives no blocks to prove it.",
    )
