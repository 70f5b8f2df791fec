"""Any service that speaks the Pinning Service API (1.0.0): it pins by CID what others serve, and takes no uploads."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, NoReturn, cast, get_args
from urllib.parse import quote

from pinui.ipfs.cid import Cid
from pinui.sdk.address import Address
from pinui.sdk.errors import ProviderError, Unsupported
from pinui.sdk.models import ClientConfig, Pin, PinStatus, Resume, Totals
from pinui.sdk.providers import wire
from pinui.sdk.providers.api import LARGEST_ANSWER, Api, Line, Query, ServiceKind
from pinui.sdk.providers.pin_list import iso, moment, resume_date
from pinui.sdk.reading.content import GatewayContent
from pinui.sdk.reading.sinks import MemorySink
from pinui.sdk.transport.http import OnProgress, Request
from pinui.sdk.transport.refusals import not_pinned
from pinui.sdk.transport.transport import Clock
from pinui.sdk.writing.sources import Uploadable

__all__ = ["PsaProvider"]

PSA = ServiceKind("The Pinning Service API", refuses_with_500=False)
PAGE = 1000
"""Requests in a page: the most that a service has to give."""
MOST_ORIGINS = 20
"""Origins in a request: the most that a service has to take."""
ANY_STATUS = ",".join(get_args(PinStatus))


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to pin something, as the service keeps it. A CID may have several."""

    pin: Pin
    details: Line
    """The request: CID, name, origins and notes."""


class PsaProvider(GatewayContent):
    """A provider on the Pinning Service API. It pins by CID and reads from gateways.

    >>> config = ClientConfig(provider="psa", pin_api_url="https://api.pinata.cloud/psa", provider_token="my-jwt")
    >>> client = Client(PsaProvider(config))
    >>> await client.aclose()
    """

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        clock = clock or Clock()
        self._api = Api(config, PSA, clock)
        super().__init__(config, self._api.transport, clock)

    async def put_json(self, data: Any) -> NoReturn:  # noqa: ARG002  # there is nowhere to put it
        """Not to be had from this API: `Unsupported`."""
        raise _no_uploads()

    async def put_file(self, file: Uploadable, *, on_progress: OnProgress | None = None) -> NoReturn:  # noqa: ARG002
        """Not to be had from this API: `Unsupported`."""
        raise _no_uploads()

    async def unpin(self, cid: str) -> bool:
        """Remove every request for the CID. A missing pin is a `ProviderError`."""
        address = Address.parse_root(cid)
        found = await self._requests(address.cid)
        if not found:
            raise not_pinned(address.cid)
        for request in found:
            await self._api.is_removed(self._api.request("DELETE", _path(request.pin)))
        self._reader.forget_pinned(address.cid)
        return True

    async def test_authentication(self) -> bool:
        """Ask for one pin."""
        status, answer = await self._api.test(self._api.request("GET", "pins", {"limit": 1}))
        _results(status, answer)
        return True

    def pins(self, *, name: str | None = None, cid: str | None = None) -> AsyncGenerator[Pin]:
        """The pins of the service, newest first. A CID is looked for in both its versions."""
        return self._pins(None, name, cid)

    def pins_resumably(self, resume: Resume, *, name: str | None = None, cid: str | None = None) -> AsyncGenerator[Pin]:
        """The same; with a handle, those behind the last page that was read to its end."""
        return self._pins(resume, name, cid)

    async def _pins(self, resume: Resume | None, name: str | None, cid: str | None) -> AsyncGenerator[Pin]:
        query: Query = {"status": "pinned", "name": name or None, "match": "ipartial" if name else None}
        asked = {**query, "cid": None if cid is None else _spellings(cid)}
        async with aclosing(self._list(asked, resume)) as found:
            async for request in found:
                named = (request.pin.name or "").casefold()
                if request.pin.status == "pinned" and (name or "").casefold() in named:
                    yield request.pin

    async def find(self, cid: str) -> Pin | None:
        """The newest request for a CID in any state, a pinned one first."""
        found = [request.pin for request in await self._requests(Address.parse_root(cid).cid)]
        return next((pin for pin in found if pin.status == "pinned"), found[0] if found else None)

    async def totals(self) -> Totals:
        """The number of pins. The service tells no sizes."""
        status, body = await self._api.call(self._api.request("GET", "pins", {"limit": 1, "status": "pinned"}))
        return Totals(_count(status, wire.answer_object(body)), None)

    async def pin(self, cid: str, *, name: str | None = None) -> Pin:
        """Ask the service to fetch and keep content that is served elsewhere.

        An existing request is not repeated; it gets the name, if one is given.
        """
        return await self.pin_from(cid, (), name=name)

    async def pin_from(self, cid: str, origins: Sequence[str], *, name: str | None = None) -> Pin:
        """Ask the service to fetch and keep content that is served elsewhere.

        An existing request is not repeated; it gets the name, if one is given.
        """
        address = Address.parse_root(cid)
        for request in await self._requests(address.cid):
            if request.pin.status != "failed":
                return request.pin if name in (None, request.pin.name) else await self._replace(request, name)
        asked = self._api.request("POST", "pins", document=_details(address.cid, name, origins))
        pin = await self._ask(asked, address.cid)
        self._reader.remember_pinned(address.cid)
        return pin

    async def rename(self, cid: str, name: str) -> None:
        """Replace every request for the CID by one with another name."""
        address = Address.parse_root(cid)
        found = await self._requests(address.cid)
        if not found:
            raise not_pinned(address.cid)
        for request in found:
            await self._replace(request, name)

    async def _replace(self, request: _Request, name: str | None) -> Pin:
        pin = request.pin
        # If a request's id is its CID, as in IPFS Cluster, asking again renames it; replacing it by itself removes it.
        path = "pins" if pin.id == pin.cid else _path(pin)
        asked = self._api.request("POST", path, document={**request.details, "name": name})
        return await self._ask(asked, pin.cid)

    async def _ask(self, request: Request, cid: str) -> Pin:
        """Send a request to pin. Where the answer is lost, the service is asked whether it has it."""

        async def is_there() -> bool:
            return bool(await self._requests(cid))

        sink = MemorySink(LARGEST_ANSWER)
        outcome = await self._api.transport.perform(request, sink, is_done=is_there)
        if outcome.already_done:
            return (await self._requests(cid))[0].pin
        status = self._api.head(outcome).status
        asked = _read(wire.answer_object(sink.data))
        if asked is None:
            raise wire.not_understood(status, "it names no requestid")
        return asked.pin

    async def _requests(self, cid: str) -> list[_Request]:
        """The requests for a CID in any state, newest first."""
        async with aclosing(self._list({"cid": _spellings(cid), "status": ANY_STATUS})) as found:
            return [request async for request in found]

    async def _list(self, query: Query, resume: Resume | None = None) -> AsyncGenerator[_Request]:
        """Page by page, cut by date. Pages overlap: services differ in whether `before` is exclusive."""
        before = resume_date(resume)
        known: set[str | None] = set()
        while True:
            when = None if before is None else iso(before + 1)
            page = self._api.request("GET", "pins", {**query, "limit": PAGE, "before": when})
            status, body = await self._api.call(page)
            answer = wire.answer_object(body)
            results = _results(status, answer)
            rows = [row for one in results if (row := _read(one)) is not None]
            for row in rows:
                if row.pin.id not in known:
                    yield row
            if _count(status, answer) <= len(results):
                return
            known, before = {row.pin.id for row in rows}, _oldest([row.pin for row in rows], before)
            if resume is not None:
                resume.keep(str(before))


PsaProvider.__module__ = "pinui"  # as people import it


def _results(status: int, answer: Line) -> list[Any]:
    results = answer.get("results")
    if not isinstance(results, list):
        raise wire.not_understood(status, "it holds no results")
    return cast("list[Any]", results)


def _count(status: int, answer: Line) -> int:
    count = wire.whole_number(answer.get("count"))
    if count is None:
        raise wire.not_understood(status, "it holds no count")
    return count


def _read(row: object) -> _Request | None:
    """A request from the service's answer; None for something else."""
    fields = cast("Line", row) if isinstance(row, dict) else {}
    given, request_id, status = fields.get("pin"), fields.get("requestid"), fields.get("status")
    details = cast("Line", given) if isinstance(given, dict) else {}
    cid, name = wire.one_word(details.get("cid")), details.get("name")
    if cid is None or not isinstance(request_id, str) or not request_id:
        return None
    pin = Pin(
        cid=cid,
        name=name if isinstance(name, str) and name else None,
        created=moment(fields.get("created")),
        status=next((known for known in get_args(PinStatus) if known == status), "failed"),
        id=request_id,
    )
    return _Request(pin, details)


def _oldest(page: list[Pin], before: int | None) -> int:
    """The date at which the next page begins. A page without an order would leave pins out."""
    dates = [pin.created for pin in page if pin.created is not None]
    is_ordered = len(dates) == len(page) > 0 and dates == sorted(dates, reverse=True)
    if not is_ordered or dates[-1] == before:
        raise ProviderError(
            f"The service lists its pins in no order by date, so that no more than {PAGE:,} can be listed",
            status=200,
            hint='Of IPFS Cluster, use its own API: provider="cluster".',
        )
    return dates[-1]


def _path(pin: Pin) -> str:
    return f"pins/{quote(pin.id or '', safe='')}"


def _spellings(cid: str) -> str:
    return ",".join(str(spelling) for spelling in Cid.parse(cid).spellings())


def _details(cid: str, name: str | None, origins: Sequence[str]) -> Line:
    details: Line = {"cid": cid}
    details |= {} if name is None else {"name": name}
    return details | ({"origins": list(origins)[:MOST_ORIGINS]} if origins else {})


def _no_uploads() -> Unsupported:
    return Unsupported(
        "This service takes no uploads: it pins by CID",
        hint="Store it on a server of its own, such as your Kubo, and pin its CID here.",
    )
