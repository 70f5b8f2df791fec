"""The workspace: profiles, tokens, history and transfers of this machine, tied to a `Client`."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pinui.figures import ago
from pinui.sdk.urls import origin_text
from pinui.sdk.writing.folder_rules import USUAL, FolderRules
from pinui.workspace.copies import Copies
from pinui.workspace.credentials import Credentials, ending, for_service
from pinui.workspace.errors import AlreadyExists, HistoryError, NotKept, NotRecorded, WorkspaceError, WrongCID
from pinui.workspace.history import History
from pinui.workspace.mirror import Mirror
from pinui.workspace.mirroring import Mirroring
from pinui.workspace.models import Credential, RevokeResult, Status, TestResult
from pinui.workspace.open_client import OpenClient
from pinui.workspace.paths import Paths
from pinui.workspace.profiles import BUILT_IN, ENVIRONMENT, Profiles
from pinui.workspace.revoking import Revoking, report_of, revoke_title
from pinui.workspace.rows import Entry, Query, Standing, now_ms
from pinui.workspace.service import Service
from pinui.workspace.transfers import Transfers
from pinui.workspace.transfers.kinds import Downloading, Uploading
from pinui.workspace.transfers.ledger import Ledger
from pinui.workspace.transfers.queue import AT_ONCE, absolute
from pinui.workspace.transfers.rows import NewItem
from pinui.workspace.transfers.slots import Slots

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence
    from types import TracebackType
    from typing import BinaryIO

    from pinui.sdk.client import Client
    from pinui.sdk.models import (
        ClientMessage,
        ClientRecord,
        LeftOut,
        OnVerdict,
        Peek,
        PeerStatus,
        Pin,
        PinStatus,
        Resume,
        Totals,
        Verification,
    )
    from pinui.sdk.secret import Secret
    from pinui.sdk.writing.sources import FolderContents
    from pinui.workspace.models import Profile, State
    from pinui.workspace.rows import AccountState, Kind
    from pinui.workspace.transfers.transfer import Progress, Transfer

__all__ = ["Workspace"]

NOTHING_YET = "Nothing was asked of the service yet."
T = TypeVar("T")
NOBODY_HAS_IT = frozenset({404, 410, 504})
"""The answers of gateways for content that they can't find."""


class Workspace:
    """The operations of the verbs and the TUI, through one `Client`. The history records each write.

    An operation ends at the service that was in use when it began, or at the one it is given.
    """

    def __init__(self, paths: Paths, profiles: Profiles) -> None:
        self.paths = paths
        self.profiles = profiles
        self.credentials = Credentials(paths)
        self.service = self._service_of(profiles.current)
        """The service in use. A long operation holds it with `held()`, and ends there even after a switch."""
        self.status = Status("unknown", NOTHING_YET, time.time())
        self.waiting_until: float | None = None
        """While the service has asked for a pause: when the next try begins, in `time.monotonic()` seconds."""
        self.requests: dict[tuple[str, str], PinStatus] = {}
        """Pins that a service was asked for and has not made yet: their states, by profile and CID."""
        self._left: list[Service] = []
        self._others: dict[str, Service] = {}
        self._subscribers: list[Callable[[], None]] = []
        self.history = History(paths.history, changed=self._tell)
        self.mirror = Mirror(self.history, self._tell)
        self.uploading = Uploading(self)
        ledger = Ledger(paths.transfers)
        at_once = profiles.setting("transfers_at_once")
        slots = Slots(at_once if isinstance(at_once, int) and at_once > 0 else AT_ONCE)
        self.mirroring = Mirroring(self.mirror, ledger, slots)
        kinds = {
            "upload": self.uploading,
            "download": Downloading(self),
            "copy": Copies(self),
            "revoke": Revoking(self),
            "mirror": self.mirroring,
        }
        self.transfers = Transfers(self, ledger, kinds, self._tell, slots=slots, on_wait=self._note_wait)

    @classmethod
    async def open(cls, *, profile: str | None = None) -> Workspace:
        """Read `config.toml`; everything else opens when it is first used."""
        from pinui.workspace.scratch import remove_left_overs

        await asyncio.to_thread(remove_left_overs)
        paths = Paths.find()
        return cls(paths, Profiles(paths.config, chosen=profile))

    async def aclose(self) -> None:
        """Stop transfers, which stay in the ledger, and the client and the node, and close the history."""
        await self.transfers.aclose()
        for service in (*self._left, *self._others.values(), self.service):
            await service.aclose()
        await self.history.aclose()

    async def __aenter__(self) -> Workspace:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` after each change of status, history or transfers; the result ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback) if callback in self._subscribers else None

    # The service in use

    @property
    def profile(self) -> Profile:
        """The profile in use."""
        return self.service.profile

    async def switch(self, name: str) -> None:
        """Use another profile in this run and in later ones. Running operations end at the service they began at."""
        await asyncio.to_thread(self.profiles.use, name)
        before, self.service = self.service, self._service_of(self.profiles.current)
        self._left.append(before)
        self.waiting_until = None
        self._set_status("unknown", NOTHING_YET)
        await before.leave()

    def service_of(self, name: str) -> Service:
        """The service of any profile, with that profile's own token, for work between services."""
        profile = self.service.profile
        if name == profile.name and (profile.preset == "local" or name == ENVIRONMENT):
            return self.service
        if name not in self._others:
            self._others[name] = self._service_of(self.profiles.get(name), self.credentials.of_each_profile())
        return self._others[name]

    def service_named(self, name: str) -> Service:
        """The service in use if it has this name, or else that of another profile."""
        return self.service if name == self.service.profile.name else self.service_of(name)

    async def connect(self) -> Client:
        """The client of the profile in use; the first call opens it, and switching closes it."""
        with self.service.held() as service:
            return await service.client()

    async def api_url(self) -> str:
        """The address of the API; for `local` this starts the node."""
        with self.service.held() as service:
            return service.profile.api_url or (await service.open()).api_url

    async def gateway_url(self) -> str:
        """The address of the gateway; for `local` this starts the node."""
        with self.service.held() as service:
            return service.profile.gateway_url or (await service.open()).gateway_url

    async def link(self, cid: str) -> str:
        """The address of some content in a browser."""
        from pinui.sdk.address import Address

        return Address.parse(cid).url(await self.gateway_url())

    async def test(self, profile: Profile | None = None, secret: Secret | None = None) -> TestResult:
        """Ask the service whether the token is good: of the profile in use, or of a draft that is not saved."""
        begun = time.perf_counter()
        try:
            if profile is None:
                with self.service.held() as service:
                    client = await service.client()
                    begun = time.perf_counter()
                    await service.call(client.test_connection())
            else:
                draft = await OpenClient.of(profile, self.paths, self.credentials, secret=secret, retries=0)
                try:
                    begun = time.perf_counter()
                    await draft.client.test_connection()
                finally:
                    await draft.aclose()
        except Exception as error:  # noqa: BLE001 – the result carries it
            return TestResult(False, (time.perf_counter() - begun) * 1000, error)
        return TestResult(True, (time.perf_counter() - begun) * 1000)

    async def credential(self, profile: Profile | None = None) -> Credential:
        """The token of a profile, and where it is kept; by default of the profile in use."""
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

    async def remove_profile(self, name: str) -> None:
        """Remove a profile with its token, its unfinished transfers and the mirror of its account.

        A built-in profile loses its token and its changes, and stays.
        """
        from pinui.workspace.keyring_store import KeyringUnavailable

        profile = await asyncio.to_thread(self.profiles.get, name)
        # The token first: a keyring that fails to delete it leaves the profile here, for another try.
        with suppress(KeyringUnavailable):  # without a keyring, no token was kept
            await self.credentials.delete(name)
        if name not in BUILT_IN:
            await self.transfers.forget_at(name)
        if profile != BUILT_IN.get(name):
            await asyncio.to_thread(self.profiles.remove, name)
        await self.history.forget_account(name)

    @property
    def token_ending(self) -> str | None:
        """A sentence, if the token in use has expired or is about to."""
        opened = self.service.opened
        return ending(opened.expires_at) if opened is not None else None

    @property
    def pause_left(self) -> int:
        """Seconds until the next try, while the service has asked for a pause; else 0."""
        return 0 if self.waiting_until is None else max(0, math.ceil(self.waiting_until - time.monotonic()))

    async def totals(self) -> Totals | None:
        """The size of the account, if the service tells it."""
        from pinui.sdk.errors import Unsupported

        with self.service.held() as service:
            client = await service.client()
            with suppress(Unsupported):
                return await service.call(client.totals())
        return None

    # The account

    async def sync(self, *, full: bool = False) -> AccountState:
        """Mirror the account of the service in use: new pins, and all pins from time to time or with `full`."""
        state = await self.mirroring.sync(self.service, full=full)
        return await self.account_state() if await self.ask_again() else state

    async def account_state(self) -> AccountState:
        """The known part of the account of the service in use."""
        return await self.history.account_state(self.profile.name)

    async def pin(self, cid: str, *, name: str | None = None) -> Pin:
        """Ask the service to keep content that is stored elsewhere; the pin's `status` tells its progress."""
        with self.service.held() as service:
            client = await self._ready_to_write(service)
            pin = await service.call(client.pin(cid, name=name))
            await self._note_pin(service, pin)
        return pin

    async def ask_again(self) -> bool:
        """Ask the service in use about the pins that it has not made yet. Returns False if there are none."""
        from pinui.sdk.models import Pin

        with self.service.held() as service:
            wanted = [cid for profile, cid in self.requests if profile == service.profile.name]
            for cid in wanted:
                client = await service.client()
                pin = await service.call(client.find(cid))
                if pin is None:  # a service may list nothing until it has the content
                    pin = Pin(cid=cid, status=self.requests.get((service.profile.name, cid), "queued"))
                await self._note_pin(service, pin)
        return bool(wanted)

    async def _note_pin(self, service: Service, pin: Pin) -> None:
        from pinui.sdk.address import Address

        key = service.profile.name, Address.parse_root(pin.cid).cid
        if pin.status == "pinned":
            self.requests.pop(key, None)
        else:
            self.requests[key] = pin.status
        await self.history.add_pin(service.profile.name, pin, now_ms())

    async def peers(self, cid: str) -> tuple[PeerStatus, ...]:
        """The peers of a cluster that keep a pin, or will; empty for other services, and if it isn't pinned."""
        from pinui.sdk.errors import Unsupported

        with self.service.held() as service:
            client = await service.client()
            with suppress(Unsupported):
                return await client.status(cid)
        return ()

    async def copies(self, cids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """On how many peers of a cluster each of these pins is, and on how many it should be."""
        with self.service.held() as service:
            return await (await service.client()).copies(cids)

    async def rename_at_service(self, cid: str, name: str) -> None:
        """Give a pin another name at the service; its name on this machine stays."""
        with self.service.held() as service:
            client = await self._ready_to_write(service)
            await service.call(client.rename(cid, name))
            await self.history.name_pin(service.profile.name, cid, name)

    # JSON

    async def store(self, data: Any, *, name: str | None = None) -> Entry:
        """Store a JSON document."""
        from pinui.sdk.stored_json import text_of

        with self.service.held() as service:
            text = await text_of(data)
            client = await self._ready_to_write(service)
            record = await service.call(client.store(data))
            return await self._record(service, record, "json", name=name, excerpt=text, data=text)

    async def retrieve(self, address: str, *, on_verdict: OnVerdict | None = None) -> Any:
        """Read a JSON document."""
        with self.service.held() as service:
            client = await service.open_to_read()
            return await self._read(service, address, client.retrieve(address, on_verdict=on_verdict))

    # Files

    async def upload(
        self,
        source: Path | BinaryIO | bytes,
        *,
        name: str | None = None,
        rules: FolderRules = USUAL,
        contents: FolderContents | None = None,
        on_progress: Progress | None = None,
        on_left_out: Callable[[LeftOut], None] | None = None,
        resume: Resume | None = None,
        at: Service | None = None,
    ) -> Entry:
        """Upload a file, or a folder as one directory; `on_left_out` gets the entries that were left out.

        `contents` are those of the folder, where the caller has just looked into it.
        """
        place = None
        if isinstance(source, Path):
            name = name or _own_name(source)
            place = await asyncio.to_thread(_place_of, source)
        with (at or self.service).held() as service:
            client = await self._ready_to_write(service)
            work = client.upload(
                contents or source,
                hidden=rules.hidden,
                follow_links=rules.follow_links,
                exclude=rules.exclude,
                on_progress=on_progress,
                resume=resume,
            )
            record = await service.call(work)
            if on_left_out is not None and record.left_out is not None:
                on_left_out(record.left_out)
            is_folder = record.left_out is not None
            return await self._record(service, record, "file", name=name, is_folder=is_folder, source=place)

    async def uploaded_since(self, source: Path, since: int, at: Service) -> Entry | None:
        """The row of an upload of this path that ended after a moment in milliseconds, if there is one."""
        place = await asyncio.to_thread(_place_of, source)
        return None if place is None else await self.history.sent_since(place, at.profile.name, since)

    async def held_already(
        self, source: Path, sizes: tuple[int, int], *, name: str | None, rules: FolderRules, in_doubt: bool, at: Service
    ) -> Entry | None:
        """A new row for a file or folder, if the account holds its content already: nothing has to be sent.

        The history's rows and the mirror are looked at first, and the service confirms. `sizes` are the least and the
        most that the pin can have: content of a size that they don't know is not read. `in_doubt`: the service is
        asked in any case, because an upload may have reached it without an answer.
        """
        from pinui.workspace.held_content import find_held

        with at.held() as service:
            profile = service.profile.name
            if not in_doubt and not await self.history.may_know(profile, *sizes):
                return None
            client = await service.client()
            found = await find_held(client, self.history, profile, source, rules=rules, in_doubt=in_doubt)
            if found is None:
                return None
            record, is_folder = found
            place = await asyncio.to_thread(_place_of, source)
            name = name or _own_name(source)
            return await self._record(service, record, "file", name=name, is_folder=is_folder, source=place)

    async def download(
        self,
        address: str,
        to: Path,
        *,
        overwrite: bool = False,
        on_progress: Progress | None = None,
        on_verdict: OnVerdict | None = None,
        resume: Resume | None = None,
        at: Service | None = None,
    ) -> Path:
        """Write the content of an address to a file or folder, which appears when it is complete."""
        with (at or self.service).held() as service:
            if await asyncio.to_thread(to.is_dir):
                to = to / await self.name_for(address)
                if await asyncio.to_thread(to.is_dir):
                    hint = "Choose another name, or move it away."
                    raise AlreadyExists(f"The folder {to} is in the way.", hint=hint, is_file=False)
            if not overwrite and await asyncio.to_thread(to.exists):
                raise AlreadyExists(f"{to} exists already.", hint="Choose another name, or overwrite it.")
            client = await service.open_to_read()
            target = await asyncio.to_thread(_followed, to)
            work = client.download(
                address, to=target, overwrite=overwrite, on_progress=on_progress, on_verdict=on_verdict, resume=resume
            )
            # A file may come meanwhile, and content that is a folder replaces nothing.
            with _writing_to(to, hint="Choose another name, or move it away.", is_file=False):
                await self._read(service, address, work)
            return to

    async def export(self, cid: str, to: Path, *, overwrite: bool = False, on_progress: Progress | None = None) -> Path:
        """Write all blocks of some content to a CAR file, verified, which appears when it is complete."""
        with self.service.held() as service:
            client = await service.open_to_read()
            with _writing_to(to, hint="Choose another name, or overwrite it."):
                work = client.export_car(cid, to, overwrite=overwrite, on_progress=on_progress)
                return await self._read(service, cid, work)

    async def import_car(
        self, file: Path, *, name: str | None = None, on_progress: Progress | None = None
    ) -> list[Entry]:
        """Pin the content of a CAR file, of each of its roots, verified before anything is sent."""
        with self.service.held() as service:
            client = await self._ready_to_write(service)
            called = name or file.stem
            records = await service.call(client.import_car(file, name=called, on_progress=on_progress))
            return [
                await self._record(service, record, "file", name=called, is_folder=record.left_out is not None)
                for record in records
            ]

    async def pour(
        self,
        address: str,
        into: BinaryIO,
        *,
        on_progress: Progress | None = None,
        on_verdict: OnVerdict | None = None,
    ) -> None:
        """Write the content of an address into an open file, such as a pipe, as it arrives."""

        async def copy(client: Client) -> None:
            done = 0
            async with client.stream(address) as stream:
                async for piece in stream:
                    await asyncio.to_thread(_write_all, into, piece)
                    done += len(piece)
                    if on_progress is not None:
                        on_progress(done, stream.size)
                if on_verdict is not None:
                    on_verdict(stream.verification)

        with self.service.held() as service:
            client = await service.open_to_read()
            await self._read(service, address, copy(client))

    async def name_for(self, address: str) -> str:
        """The name for a download: the last name of the address, the name in the history, or the CID."""
        from pinui.sdk.address import Address
        from pinui.sdk.names import safe_name

        parsed = Address.parse(address)
        known = None if parsed.path else await self.history.latest(parsed.cid)
        return safe_name((known and (known.name or known.service_name)) or parsed.name, parsed.cid)

    async def preview(self, address: str, *, limit: int = 262_144) -> Peek:
        """The beginning of some content, or the entries of a directory."""
        with self.service.held() as service:
            client = await service.open_to_read()
            return await self._read(service, address, client.peek(address, limit=limit))

    # Messages

    async def send(self, recipient: str, text: str) -> Entry:
        """Store a message. Nothing is delivered: the sender shares the CID."""
        from pinui.sdk.stored_json import text_of

        if not recipient.strip():
            raise WorkspaceError("A message needs a recipient: any name that means something to you both.")
        with self.service.held() as service:
            client = await self._ready_to_write(service)
            record = await service.call(client.send(recipient, text))
            document = await text_of(record.to_json()["data"])
            return await self._record(service, record, "message", recipient=recipient, excerpt=text, data=document)

    async def receive(self, address: str) -> tuple[Entry, ClientMessage]:
        """Read a message by its CID and keep it; one that was received before is not kept twice."""
        from pinui.sdk.address import Address
        from pinui.sdk.errors import SerializationError

        verdicts: list[Verification | None] = []
        with self.service.held() as service:
            client = await service.open_to_read()
            message = await self._read(service, address, client.receive(address, on_verdict=verdicts.append))
        cid, verdict = str(Address.parse(address)), verdicts[-1] if verdicts else None
        try:
            return await self._keep_received(cid, service.profile.name, message, verdict), message
        except (HistoryError, SerializationError) as error:
            is_odd = isinstance(error, SerializationError)
            reason = f"it holds a number that cannot be written down exactly ({error.path})" if is_odd else str(error)
            raise NotKept(f"The message could not be kept in the history: {reason}", cid, message, verdict) from error

    async def _keep_received(
        self, cid: str, profile: str, message: ClientMessage, verdict: Verification | None
    ) -> Entry:
        from pinui.ipfs.jsontext import utf16_length
        from pinui.sdk.stored_json import text_of

        known = await self.history.latest(cid, profile, direction="received")
        if known is None:
            text = await text_of(message.to_json())
            size, excerpt = utf16_length(text), message.payload
            row = Entry(0, cid, now_ms(), size, "message", "received", profile, excerpt=excerpt, verification=verdict)
            return await self.history.add(row, text)
        if verdict is None or verdict == known.verification:
            return known
        await self.history.set_verification(cid, profile, verdict)
        return replace(known, verification=verdict)

    # Revoking

    async def revoke(self, cid: str, *, at: Service | None = None) -> RevokeResult:
        """Remove the pin at the service. The rows stay in the history, marked."""
        from pinui.sdk.address import Address
        from pinui.sdk.errors import ProviderError
        from pinui.sdk.transport.refusals import is_not_pinned

        canonical = Address.parse_root(cid).cid
        was_pinned = True
        with (at or self.service).held() as service:
            client = await self._ready_to_write(service)
            try:
                await service.call(client.revoke(canonical))
            except ProviderError as error:
                if not is_not_pinned(error):
                    raise
                was_pinned = False
                service.answered()
            self.requests.pop((service.profile.name, canonical), None)
            await self.history.mark_revoked(canonical, service.profile.name, now_ms(), was_pinned=was_pinned)
        return RevokeResult(canonical, was_pinned)

    async def still_pinned(self, ids: Sequence[int]) -> list[Entry]:
        """The pins of these rows that are not gone. Where the account was mirrored, the service is asked again."""
        if (await self.account_state()).tells_where:
            await self.sync()
        profile = self.profile.name
        return [
            entry
            for entry in await self.history.entries(ids)
            if entry.profile == profile and entry.standing in (Standing.HERE, Standing.BOTH, Standing.ACCOUNT)
        ]

    def revoke_many(self, entries: Sequence[Entry]) -> Transfer:
        """Revoke pins in the background, as one transfer."""
        items = [NewItem(entry.cid, shown=entry.title) for entry in entries]
        return self.transfers.begin("revoke", revoke_title(len(items)), {}, items)

    async def revoke_report(self, transfer: Transfer) -> str:
        """The outcome of such a transfer, in a sentence."""
        return await report_of(transfer, self.transfers.ledger)

    async def store_again(self, entry: Entry) -> Entry:
        """Pin a revoked entry again: from the history, from the file it came from, or from a gateway that still has it.

        `WorkspaceError` says why it can't be done; nothing is sent then.
        """
        from pinui.workspace.storing_again import same_content, send_again

        with self.service.held() as service:
            client = await self._ready_to_write(service)
            record, text = await send_again(service, client, self.history, entry)
            again = await self._record(
                service,
                record,
                entry.kind,
                name=entry.name,
                note=entry.note,
                recipient=entry.recipient,
                excerpt=entry.excerpt,
                data=text,
                is_folder=entry.is_folder,
                source=entry.source,
            )
        if not same_content(again.cid, entry.cid):
            raise WorkspaceError(f"Stored again, but as {again.cid}: the service now cuts content in another way.")
        return again

    # Checking

    async def verify(self, address: str, *, on_progress: Progress | None = None) -> Verification | None:
        """Read some content back, check it and note the verdict; a proven mismatch is an `IntegrityError`.

        Nothing is written but the verdict.
        """
        from pinui.sdk.address import Address
        from pinui.sdk.errors import IntegrityError

        canonical = Address.parse(address)
        with self.service.held() as service:
            profile, client = service.profile.name, await service.open_to_read()
            try:
                verdict = await self._read(service, address, client.verify(address, on_progress=on_progress))
            except IntegrityError:
                if not canonical.path:  # rows are about the whole
                    await self.history.set_verification(canonical.cid, profile, "mismatch")
                raise
        if verdict is not None and not canonical.path:
            await self.history.set_verification(canonical.cid, profile, verdict)
        return verdict

    async def pinned_cids(self) -> list[str]:
        """Every CID that is pinned under this profile, as far as is known here, newest first."""
        query = Query(profile=self.profile.name, of="pins", pinned=True)
        entries = await self.history.entries(await self.history.ids(query))
        return list(dict.fromkeys(entry.cid for entry in entries))

    # Service and status

    def _service_of(self, profile: Profile, credentials: Credentials | None = None) -> Service:
        return Service(
            profile,
            self.paths,
            self.profiles,
            credentials or self.credentials,
            on_status=self._note_status,
            on_wait=self._note_wait,
        )

    def _note_status(self, service: Service, state: State, sentence: str) -> None:
        if service is self.service:  # the status describes the service in use alone
            self._set_status(state, sentence)

    def _note_wait(self, service: Service, seconds: float) -> None:
        self.transfers.stall(service.profile.name)
        if service is self.service:
            self.waiting_until = time.monotonic() + seconds
            self._tell()

    def _set_status(self, state: State, sentence: str) -> None:
        if not self.transfers.active:  # else the answer to one leaves others waiting
            self.waiting_until = None
        self.status = Status(state, sentence, time.time())
        self._tell()

    def _tell(self) -> None:
        for callback in list(self._subscribers):
            callback()

    async def _ready_to_write(self, service: Service) -> Client:
        """The client, if the history works: without a record, no write starts."""
        client = await service.client()
        await self.history.check()
        return client

    async def _read(self, service: Service, address: str, call: Awaitable[T]) -> T:
        """Await a call that reads. If no gateway has the content and it was revoked, the error says so."""
        from pinui.sdk.address import Address
        from pinui.sdk.errors import NetworkTimeout, ProviderError

        try:
            return await service.call(call)
        except (NetworkTimeout, ProviderError) as error:
            if isinstance(error, NetworkTimeout) or error.status in NOBODY_HAS_IT:
                profile = service.profile.name
                known = await self.history.latest(Address.parse(address).cid, profile)
                if known is not None and known.revoked_at is not None:
                    error.hint = (
                        f"It was revoked {ago(known.revoked_at, time.time())}, so {profile} no longer keeps it."
                    )
            raise

    async def _record(
        self,
        service: Service,
        record: ClientRecord[Any],
        kind: Kind,
        *,
        name: str | None = None,
        note: str | None = None,
        recipient: str | None = None,
        excerpt: str | None = None,
        data: str | None = None,
        is_folder: bool = False,
        source: str | None = None,
    ) -> Entry:
        row = Entry(
            0,
            record.cid,
            record.timestamp,
            record.size,
            kind,
            "sent",
            service.profile.name,
            name=name or None,
            note=note,
            recipient=recipient,
            excerpt=excerpt,
            verification=record.verification,
            is_folder=is_folder,
            source=source,
        )
        try:
            entry = await self.history.add(row, data)
        except HistoryError as error:
            message = f"It is stored as {record.cid}, but the history could not be written: {error}"
            raise NotRecorded(message, record, hint=error.hint or "Note the CID.") from error
        if record.verification == "mismatch":
            raise WrongCID(entry, record.expected)
        return entry


@contextmanager
def _writing_to(to: Path, *, hint: str, is_file: bool = True) -> Generator[None]:
    """Turn errors of the destination into sentences; `hint` is for a file or folder that is in the way."""
    from pinui.sdk.errors import PinuiError

    try:
        yield
    except PinuiError:
        raise
    except FileExistsError:
        raise AlreadyExists(f"{to} exists already.", hint=hint, is_file=is_file) from None
    except OSError as error:
        raise WorkspaceError(f"{to} cannot be written: {error.strerror or error}.") from error


def _place_of(path: Path) -> str | None:
    """The path to find a file or folder at later; None for a temporary one."""
    from pinui.workspace.scratch import is_scratch

    place = absolute(path)
    return None if is_scratch(Path(place)) else place


def _write_all(into: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[into.write(view) :]
    into.flush()


def _own_name(path: Path) -> str:
    """The name of a path in its folder: a link's own name, and for `.` the folder's."""
    return Path(absolute(path)).name


def _followed(path: Path) -> Path:
    """The target of a link, so that the link itself stays."""
    return path.resolve() if path.is_symlink() else path
