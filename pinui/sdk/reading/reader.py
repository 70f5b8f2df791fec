"""Reading through gateways: each answer is checked against its CID, and the next gateway asked when one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pinui.ipfs.cid import DAG_PB, RAW, Cid
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.multihash import can_prove, hash_name, verify_block
from pinui.ipfs.plain_bytes import can_rebuild
from pinui.ipfs.unixfs import Piece, read_block
from pinui.ipfs.verifier import FolderEntry
from pinui.sdk.address import Address
from pinui.sdk.errors import ContentError, IntegrityError, NetworkError, PinuiError, ProviderError, RateLimited
from pinui.sdk.models import ClientConfig, GatewayState, GatewayStatus, Verification
from pinui.sdk.reading.archive_sink import ArchiveSink
from pinui.sdk.reading.folder_writer import FolderSink
from pinui.sdk.reading.gateway_requests import GatewayRequests
from pinui.sdk.reading.gateways import Gateway, gateways_of
from pinui.sdk.reading.proof_sinks import FOLDER_HINT, CarSink, CheckingSink, ReadSink
from pinui.sdk.transport.http import LISTING, Head
from pinui.sdk.transport.transport import Clock, Transport
from pinui.sdk.urls import is_loopback

__all__ = ["GatewayReader", "ReadResult"]

# The time that a hosted service may take until its gateway has new pins.
PROPAGATION_WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
STILL_FRESH = 60.0
LOOKS_AT_ONCE = 8
# Seconds in which a gateway has to find a block, where the question is whether it serves it.
PATIENCE = 30
NOT_FOUND = (404, 410, 504)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The result of a read besides the bytes."""

    head: Head
    verification: Verification | None
    is_folder: bool = False


@dataclass(slots=True)
class _Job:
    """One read: its address and its sink."""

    address: Address
    cid: Cid
    sink: ReadSink
    folder: FolderSink | None
    transfer: bool
    blocks_first: bool
    """Whether each byte must be proven before it is passed on."""
    check: CheckingSink = field(init=False)
    """The check before the sink, one for all gateways: a pipe continues at the next one."""

    def __post_init__(self) -> None:
        self.check = CheckingSink(self.sink, self.cid)


@dataclass(frozen=True, slots=True)
class _Proof:
    """The result of reading content as blocks."""

    result: ReadResult | None
    """None if the gateway gives none, or none today."""
    failure: ProviderError | NetworkError | None
    """Why none today."""
    content_is_gone: bool
    """The sink's earlier content is lost."""


@dataclass(slots=True)
class GatewayReader:
    """Reads by CID. With several gateways they are asked in order."""

    config: ClientConfig
    transport: Transport
    clock: Clock
    gateways: list[Gateway] | None = None
    """None: those of the configuration."""
    _requests: GatewayRequests = field(init=False)
    _gateways: list[Gateway] = field(init=False)
    _fresh: dict[bytes, float] = field(init=False, default_factory=dict[bytes, float])

    def __post_init__(self) -> None:
        self._requests = GatewayRequests(self.transport, self.clock)
        self._gateways = gateways_of(self.config) if self.gateways is None else self.gateways

    def remember_pinned(self, cid: str) -> None:
        """Remember a new pin: a gateway that doesn't have it yet is given some time."""
        now = self.clock.monotonic()
        # The oldest come first: only those are looked at, since thousands may be stored in a minute.
        while self._fresh and now - next(iter(self._fresh.values())) >= STILL_FRESH:
            del self._fresh[next(iter(self._fresh))]
        with suppress(ValueError):  # a provider's answer that is no CID can't be asked for either
            multihash = Cid.parse(cid).multihash
            self._fresh.pop(multihash, None)  # it is the newest now
            self._fresh[multihash] = now

    def forget_pinned(self, cid: str) -> None:
        """Note an unpinned CID: no read has to wait for it."""
        self._fresh.pop(Cid.parse(cid).multihash, None)

    async def read(
        self,
        address: Address,
        sink: ReadSink,
        *,
        transfer: bool = False,
        folder: FolderSink | None = None,
        blocks_first: bool = False,
    ) -> ReadResult:
        """Read into the sink (or, where a folder turns out to be meant, into `folder`)."""
        job = _Job(address, Cid.parse(address.cid), sink, folder, transfer, blocks_first)
        # A missing path is more likely a mistake than a delay.
        pinned = None if address.path else self._fresh.get(job.cid.multihash)
        fresh = pinned is not None and self.clock.monotonic() - pinned < STILL_FRESH
        for wait in (*PROPAGATION_WAITS, None) if fresh else (None,):
            outcome = await self._ask_each(job)
            if isinstance(outcome, ReadResult):
                return outcome
            found = any(isinstance(failure, ContentError) for failure in outcome)  # as something that is of no use
            if wait is None or found or not any(_is_missing(failure) for failure in outcome):
                raise _most_telling(outcome)
            await self.transport.wait(wait)
            sink.restart()
        raise AssertionError("the last turn returns or raises")

    async def read_archive(self, address: Address, sink: ArchiveSink) -> None:
        """Read every block below a CID: as an archive where a gateway gives those, else one by one."""
        failure: PinuiError = _no_gateway()
        for gateway in self._gateways:
            retry = gateway is self._gateways[-1]
            try:
                with suppress(ContentAddressError):  # damaged: single blocks may do
                    await self._requests.read_archive(gateway, address, sink, retry=retry)
                await self._read_missing(gateway, sink, retry=retry)
            except ContentAddressError as error:
                failure = IntegrityError(f"The gateway's bytes don't match {address}: {error}")
            except (ProviderError, NetworkError, ContentError) as error:
                failure = error
            else:
                return
        raise failure

    async def _read_missing(self, gateway: Gateway, sink: ArchiveSink, *, retry: bool) -> None:
        """Read the blocks that an archive still lacks, one by one."""
        for cid in sink.missing():
            block = await self._requests.read_block(gateway, cid, retry=retry)
            if block is None:
                raise _no_blocks(gateway)
            sink.add(cid, block)

    async def read_block(self, cid: Cid) -> bytes:
        """One block from the first gateway that gives it, verified."""
        failure: PinuiError = _no_gateway()
        for gateway in self._gateways:
            try:
                block = await self._requests.read_block(gateway, cid, retry=gateway is self._gateways[-1])
                if block is not None:
                    verify_block(cid, block)
                    return block
                failure = _no_blocks(gateway)
            except ContentAddressError as error:
                failure = IntegrityError(f"The gateway's bytes don't match {cid}: {error}")
            except (ProviderError, NetworkError, ContentError) as error:
                failure = error
        raise failure

    async def check_each(self, cid: Cid) -> tuple[GatewayStatus, ...]:
        """Whether each gateway serves the first block of some content. All are asked at once."""
        asked = [gateway for gateway in self._gateways if not gateway.is_rpc]
        return tuple(await asyncio.gather(*(self._check(gateway, cid) for gateway in asked)))

    async def _check(self, gateway: Gateway, cid: Cid) -> GatewayStatus:
        def told(state: GatewayState, error: object) -> GatewayStatus:
            return GatewayStatus(url=gateway.url, state=state, error=str(error))

        try:
            async with asyncio.timeout(PATIENCE):
                block = await self._requests.read_block(gateway, cid, retry=False)
            if block is None:
                return told("unverifiable", "It gives no blocks to check")
            verify_block(cid, block)
        except ProviderError as error:
            return told("missing" if _is_missing(error) or error.status in NOT_FOUND else "unreachable", error)
        except (NetworkError, ContentError) as error:
            return told("unreachable", error)
        except TimeoutError:
            return told("missing", f"It found nothing within {PATIENCE} seconds")
        except ContentAddressError as error:
            return told("wrong" if can_prove(cid) else "unverifiable", error)
        return GatewayStatus(url=gateway.url, state="serves")

    async def peek(self, address: Address, sink: ReadSink, limit: int) -> Head:
        """The beginning of some content, from the first gateway that has it. A beginning can't be checked."""
        failure: PinuiError = _no_gateway()
        for gateway in self._gateways:
            retry = gateway is self._gateways[-1]
            try:
                if gateway.is_rpc:
                    return await self._peek_at_blocks(gateway, address, sink)
                return await self._requests.read_beginning(gateway, address, sink, limit, retry=retry)
            except (ProviderError, NetworkError) as error:
                failure = error
        raise failure

    async def list_folder(self, address: Address) -> list[FolderEntry] | None:
        """The entries of a folder, every block checked; None if it is no folder, or the gateway can't prove it."""
        for gateway in self._gateways:
            sink = CarSink(Cid.parse(address.cid), address.path, None, None, deep=False)
            retry = gateway is self._gateways[-1]
            with suppress(ProviderError, NetworkError, IntegrityError, ContentError):  # it was only worth a try
                if gateway.is_rpc:
                    is_read = await self._requests.read_blocks(gateway, sink, retry=retry)
                else:
                    is_read = await self._requests.read_car(
                        gateway, address, sink, scope="&dag-scope=entity", retry=retry
                    )
                if is_read:
                    return sink.listing if sink.is_folder else None
        return None

    async def look_into(self, entries: Sequence[FolderEntry]) -> dict[Cid, Piece]:
        """The first blocks of a folder's entries, each checked, where the gateway is on this machine.

        For other gateways, these would be too many small requests.
        """
        gateway = self._gateways[0]
        if not is_loopback(urlsplit(gateway.url).hostname) or not gateway.gives.blocks:
            return {}
        found: dict[Cid, Piece] = {}
        waiting = iter(entries)

        async def look() -> None:
            for entry in waiting:
                with suppress(ProviderError, NetworkError, ContentAddressError):
                    block = await self._requests.read_block(gateway, entry.cid, retry=False)
                    if block is None:
                        return
                    verify_block(entry.cid, block)
                    found[entry.cid] = read_block(entry.cid, block)

        await asyncio.gather(*(look() for _ in range(LOOKS_AT_ONCE)))
        return found

    async def _peek_at_blocks(self, gateway: Gateway, address: Address, sink: ReadSink) -> Head:
        blocks = CarSink(Cid.parse(address.cid), address.path, sink, None)
        try:
            await self._read_blocks(gateway, blocks, address, retry=True)
        except ContentError:
            if not blocks.is_folder:
                raise
            return LISTING
        return blocks.content

    async def _read_blocks(self, gateway: Gateway, sink: CarSink, address: Address, *, retry: bool) -> None:
        """Read something as single blocks, which is all that the daemon gives."""
        if not _is_provable(sink.root) or not await self._requests.read_blocks(gateway, sink, retry=retry):
            raise ContentError(
                f"{address} can't be read block by block: it is neither a file nor a folder",
                hint="Set gateway_url: the daemon's gateway may show it.",
            )

    async def _ask_each(self, job: _Job) -> ReadResult | list[PinuiError]:
        """The result of the first gateway that has it, or the failure of each."""
        if not self._gateways:
            raise _no_gateway()
        failures: list[PinuiError] = []
        doubted: list[Gateway] = []
        for gateway in self._gateways:
            if failures or doubted:  # the first one may go on with the bytes of an earlier process
                job.sink.restart()
            is_last = gateway is self._gateways[-1]
            try:
                result = await self._read_from(gateway, job, retry=is_last)
            except (ProviderError, NetworkError, IntegrityError, ContentError) as error:
                if isinstance(error, IntegrityError) and not job.sink.can_restart:
                    raise
                failures.append(error)
                continue
            is_worth_asking = _is_provable(job.cid) and job.sink.can_restart and not (is_last and not doubted)
            if result.verification != "unverifiable" or not is_worth_asking:
                return result
            doubted.append(gateway)  # another one may prove it, or show that this one lied
        for gateway in doubted:  # no gateway could
            job.sink.restart()
            try:
                return await self._read_plain(gateway, job, proves=False, retry=gateway is doubted[-1])
            except (ProviderError, NetworkError) as error:
                failures.append(error)
        return failures

    async def _read_from(self, gateway: Gateway, job: _Job, *, retry: bool) -> ReadResult:
        if gateway.is_rpc:
            sink = CarSink(job.cid, job.address.path, job.sink, job.folder)
            await self._read_blocks(gateway, sink, job.address, retry=retry)
            return ReadResult(sink.content, None if self.config.verify == "off" else "verified", sink.is_folder)
        proves = self.config.verify != "off" and _is_provable(job.cid) and job.sink.can_restart
        if proves and (job.address.path or job.blocks_first):
            # Bytes below a path say nothing about the root's CID; only blocks do.
            proof = await self._prove(gateway, job, retry=retry)
            if proof.result is not None:
                return proof.result
            proves = not job.sink.keeps and not job.address.path  # nothing was kept, so nothing is lost by it
        return await self._read_plain(gateway, job, proves=proves, retry=retry)

    async def _read_plain(self, gateway: Gateway, job: _Job, *, proves: bool, retry: bool) -> ReadResult:
        """Read the content itself; where that doesn't tell whether it is right, and `proves`, again as blocks."""
        verify = self.config.verify != "off"
        request, sink = gateway.content(job.address, transfer=job.transfer), job.check if verify else job.sink
        head = await self._requests.get(gateway, request, sink, retry=retry)
        if head.is_listing:
            if verify and job.cid.codec == RAW:
                raise _mismatch(job)  # a single block of bytes is no folder
            return await self._read_listed_folder(gateway, job, head, retry=retry)
        if not verify:
            return ReadResult(head, None)
        finding = "unknown" if job.address.path else await job.check.finding()
        if finding == "verified":
            return ReadResult(head, "verified")
        if finding == "mismatch":
            raise _mismatch(job)
        if proves and job.sink.can_restart:
            proof = await self._prove(gateway, job, head, retry=retry)
            if proof.result is not None:
                return proof.result
            if proof.content_is_gone:
                job.sink.restart()
                return await self._read_plain(gateway, job, proves=False, retry=retry)
        if job.check.fits_one_block and not job.address.path and can_rebuild(job.cid):
            raise _mismatch(job)
        if self.config.verify == "require":
            way = "" if job.address.path else "it was cut into blocks in an unknown way, and "
            why = f"{way}the gateway gives no blocks to check"
            if not can_prove(job.cid):
                why = f"its hash, {hash_name(job.cid)}, is not supported here"
            raise IntegrityError(
                f"{job.address} could not be verified: {why}",
                verification="unverifiable",
                hint="Use a trustless gateway, or verify='try'.",
            )
        return ReadResult(head, "unverifiable")

    async def _read_listed_folder(self, gateway: Gateway, job: _Job, head: Head, *, retry: bool) -> ReadResult:
        """The answer is a page about a folder: the folder itself comes as blocks, or not at all."""
        if job.folder is None:
            raise ContentError(f"{job.address} is a folder, not a file", hint=FOLDER_HINT)
        proof = await self._prove(gateway, job, head, retry=retry)
        if proof.result is not None:
            return proof.result
        failure = proof.failure
        if isinstance(failure, (NetworkError, RateLimited)) or (failure is not None and failure.status >= 500):
            raise failure  # which may pass
        raise ContentError(
            f"{job.address} is a folder, and this gateway gives no archive of it that can be checked",
            hint="Use a trustless gateway, or name a file in it: CID/name.",
        )

    async def _prove(self, gateway: Gateway, job: _Job, told: Head | None = None, *, retry: bool) -> _Proof:
        """Read the content as blocks, each checked; `told` is the head of a plain answer."""
        sink = CarSink(job.cid, job.address.path, job.sink, job.folder, told=told)
        failure: ProviderError | NetworkError | None = None
        is_proven = False
        keeps = job.folder is not None and job.folder.keeps
        has_kept = job.folder is not None and job.folder.has_kept
        rest_only = has_kept and gateway.gives.blocks
        try:
            # Files that an earlier attempt left would come a second time with an archive of the whole.
            if not rest_only:
                is_proven = await self._requests.read_car(
                    gateway, job.address, sink, transfer=job.transfer, retry=retry
                )
        except (ProviderError, NetworkError) as error:
            failure = error
        # One by one, they are worth asking for where a plain answer proved nothing, or an archive broke off.
        goes_on = has_kept or (keeps and sink.is_folder)
        if goes_on and not is_proven:
            await sink.end_archive()  # its last blocks are of use
        if not is_proven and (goes_on or (not job.address.path and (told is not None or not job.blocks_first))):
            try:
                is_proven = await self._requests.read_blocks(gateway, sink, retry=retry)
            except (ProviderError, NetworkError) as error:
                failure = failure or error
            if rest_only and not gateway.gives.blocks:  # which was not known before
                return await self._prove(gateway, job, told, retry=retry)
        result = ReadResult(sink.content, "verified", sink.is_folder) if is_proven else None
        return _Proof(result, failure, sink.has_touched_the_content)


def _is_missing(error: PinuiError) -> bool:
    """Whether the gateway doesn't have it; Pinata's has a code of its own for that, also for content on its way."""
    return isinstance(error, ProviderError) and (error.status == 404 or error.reason == "ERR_ID:00006")


def _most_telling(failures: list[PinuiError]) -> PinuiError:
    """An integrity error matters more than a gateway without the content."""
    return next((error for error in failures if isinstance(error, IntegrityError)), failures[0])


def _is_provable(cid: Cid) -> bool:
    """Whether blocks of this kind can be checked here at all."""
    return cid.codec in (RAW, DAG_PB) and can_prove(cid)


def _no_gateway() -> PinuiError:
    return PinuiError("No gateway is configured, so nothing can be read", hint="Set gateway_url.")


def _no_blocks(gateway: Gateway) -> ContentError:
    return ContentError(f"{urlsplit(gateway.url).netloc} gives no blocks", hint="Use a trustless gateway.")


def _mismatch(job: _Job) -> IntegrityError:
    kept = "Nothing of it was kept" if job.sink.can_restart else "The bytes that were handed on already are wrong"
    return IntegrityError(
        f"The gateway's bytes don't match {job.address}",
        hint=f"{kept}. The gateway changed it; or it is a folder, or was cut into blocks in an unusual way, and this "
        "gateway gives no blocks to prove it.",
    )
