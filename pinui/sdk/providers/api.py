"""Calls of a service's API: requests with its credentials, answers whole or line by line, refusals as errors."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from pinui.ipfs.cid import Cid
from pinui.ipfs.jsontext import stringify
from pinui.sdk.errors import ContentError, NetworkError, PinuiError, ProviderError
from pinui.sdk.models import ClientConfig, Timeouts
from pinui.sdk.providers import wire
from pinui.sdk.reading.sinks import MemorySink
from pinui.sdk.secret import Secret
from pinui.sdk.transport.http import Body, Breakdown, Head, Rejection, Request, SecretHeader, Sink
from pinui.sdk.transport.refusals import is_not_pinned, network_error, provider_error
from pinui.sdk.transport.transport import Clock, Outcome, Transport
from pinui.sdk.urls import is_loopback

__all__ = ["CHEAP_TO_REPEAT", "LARGEST_ANSWER", "Api", "Line", "LineSink", "Query", "ServiceKind"]

# An answer is a few hundred bytes; a page of a listing some hundred thousand.
LARGEST_ANSWER = 4 * 1024 * 1024
# One line describes one pin, with its name and its owner's notes.
LONGEST_LINE = 1024 * 1024
# A lost reply to something this small is simply asked for again; pinning it twice is pinning it once.
CHEAP_TO_REPEAT = 1024 * 1024
# Batches of lines that wait for a slow reader.
BATCHES_AHEAD = 2

Query = Mapping[str, str | int | None]
Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ServiceKind:
    """A kind of service, in words for a person."""

    name: str
    start: str | None = None
    """The command that starts it, where people run it themselves."""
    hints: Mapping[int, str] = field(default_factory=dict[int, str])
    """Hints by status, for refusals that have a meaning of their own at this service."""
    refuses_with_500: bool = True

    def advice(self, url: str) -> str:
        """The hint for an address without an answer."""
        here = (
            f"Start {self.name} with `{self.start}`" if self.start else "Start the service there (`pinui node` is one)"
        )
        there = "Check the network" + (f", and whether {self.name} runs there (`{self.start}`)" if self.start else "")
        return f"{here if is_loopback(urlsplit(url).hostname) else there}, and check the address."


class Api:
    """The API of one service."""

    def __init__(
        self, config: ClientConfig, service: ServiceKind, clock: Clock, credential: SecretHeader | None = None
    ) -> None:
        """`credential` is the token as a header; None for a bearer token or a pair, as the configuration has it."""
        self.url = config.pin_api_url or ""
        self.credential = credential or _credential(config, self.url)
        self.transport = Transport(
            Timeouts.of(config.timeout),
            retries=config.retries,
            allow_insecure=config.allow_insecure,
            on_wait=config.on_wait,
            clock=clock,
            transport=config.transport,
        )
        self._service = service
        self._clock = clock
        self._retries = config.retries

    def request(
        self, method: str, path: str, query: Query | None = None, *, document: Any = None, transfer: bool = False
    ) -> Request:
        """A call with a small JSON body, or none."""
        body = None if document is None else stringify(document).encode()
        return self._request(method, path, query, body, "application/json", transfer)

    def upload(self, path: str, query: Query, body: Body, content_type: str) -> Request:
        """A call with a body that may be large."""
        return self._request("POST", path, query, body, content_type, transfer=True)

    def _request(
        self, method: str, path: str, query: Query | None, body: Body | bytes | None, content_type: str, transfer: bool
    ) -> Request:
        given = urlencode({name: value for name, value in (query or {}).items() if value is not None})
        return Request(
            method,
            f"{self.url}/{path}{'?' if given else ''}{given}",
            {} if body is None else {"Content-Type": content_type},
            body,
            self.credential,
            is_api_call=True,
            transfer=transfer,
            refuses_with_500=self._service.refuses_with_500,
        )

    async def call(self, request: Request, *, retries: int | None = None) -> tuple[int, bytes]:
        """Status and body of a good answer; anything else is an error."""
        sink = MemorySink(LARGEST_ANSWER)
        outcome = await self.transport.perform(request, sink, retries=retries)
        return self.head(outcome).status, sink.data

    async def send(
        self,
        request: Request,
        sink: Sink,
        size: int,
        predict: Callable[[], Cid | None],
        is_pinned: Callable[[Cid], Awaitable[bool]],
    ) -> Head | Cid:
        """Send content of some size: the head of a good answer.

        A large body is sent again only if the service doesn't have its content; if it does, the content's CID comes
        back instead of a head. `predict` may block.
        """

        async def has_arrived() -> bool:
            cid = await asyncio.to_thread(predict)
            try:
                return cid is not None and await is_pinned(cid)
            except PinuiError:
                return False  # unknown; sending again is harmless

        is_done = has_arrived if size > CHEAP_TO_REPEAT else None
        outcome = await self.transport.perform(request, sink, is_done=is_done)
        cid = await asyncio.to_thread(predict) if outcome.already_done else None
        return self.head(outcome) if cid is None else cid

    async def test(self, request: Request) -> tuple[int, Line]:
        """A call that asks how things are. It is about now: one more try, for a hiccup."""
        status, body = await self.call(request, retries=min(self._retries, 1))
        return status, wire.answer_object(body)

    async def is_removed(self, request: Request) -> bool:
        """A call that removes a pin: True, or an error.

        A CID that is not pinned is an error too, unless an earlier try with a lost reply may have removed it.
        """
        outcome = await self.transport.perform(request, MemorySink(LARGEST_ANSWER))
        if isinstance(outcome.result, Head):
            return True
        error = self.error(outcome.result)
        if outcome.maybe_done and isinstance(error, ProviderError) and is_not_pinned(error):
            return True
        raise error

    async def lines(self, request: Request, *, retries: int | None = None) -> AsyncGenerator[Line]:
        """The objects of an answer that has one a line, as they arrive."""
        batches: asyncio.Queue[list[Line] | None] = asyncio.Queue(BATCHES_AHEAD)
        reading = asyncio.create_task(self._read_lines(request, batches, retries))
        try:
            while (batch := await batches.get()) is not None:
                for line in batch:
                    yield line
            await reading
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _read_lines(
        self, request: Request, batches: asyncio.Queue[list[Line] | None], retries: int | None
    ) -> None:
        sink = LineSink(batches.put)
        try:
            self.head(await self.transport.perform(request, sink, retries=retries))
            await sink.finish()
        except Exception:
            await batches.put(None)
            raise
        await batches.put(None)

    def head(self, outcome: Outcome) -> Head:
        """The head of a good answer; anything else is an error."""
        if isinstance(outcome.result, Head):
            return outcome.result
        raise self.error(outcome.result)

    def error(self, result: Rejection | Breakdown) -> PinuiError:
        """The error for a refusal, or for no answer."""
        service = self._service
        if isinstance(result, Breakdown):
            error = network_error(result)
            if result.stage == "connect" and not result.final:
                error.hint = service.advice(self.url)
                if service.start and is_loopback(urlsplit(self.url).hostname) and not result.timed_out:
                    return NetworkError(f"{service.name} is not running at {self.url}", hint=error.hint)
            return error
        error = provider_error(result, now=self._clock.now(), has_token=bool(self.credential.secret))
        error.hint = service.hints.get(result.status, error.hint)
        return error


class LineSink:
    """Cuts a body into lines, each a JSON object, and passes them on as they arrive."""

    full = False

    def __init__(self, hand_on: Callable[[list[Line]], Awaitable[None]]) -> None:
        self._hand_on = hand_on
        self._rest = b""
        self._has_handed_on = False

    def resume_from(self) -> None:
        return None

    async def begin(self, head: Head, offset: int) -> None:  # noqa: ARG002  # never continued: see resume_from
        if self._has_handed_on:
            self.start_over()
        self._rest, self._has_handed_on = b"", False

    def start_over(self) -> None:
        """A second start of the answer is an error once lines were passed on."""
        raise NetworkError("The answer broke off after a part of it was read")

    async def write(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise ContentError(f"A line of the answer is longer than {LONGEST_LINE:,} bytes, the limit")
        await self._take(lines)

    async def finish(self) -> None:
        """Hand on the last line, if no line end followed it."""
        await self._take([self._rest])
        self._rest = b""

    async def _take(self, lines: list[bytes]) -> None:
        if objects := [wire.answer_object(line) for line in lines if line.strip()]:
            self._has_handed_on = True
            await self._hand_on(objects)


def _credential(config: ClientConfig, url: str) -> SecretHeader:
    """The token as the header that carries it: a bearer token, or with a colon a user's name and password.

    `bearer:` or `basic:` in front says which it is, as in Kubo's own settings.
    """
    text = Secret(config.provider_token).reveal()
    kind, _, rest = text.partition(":")
    if ":" not in text or kind == "bearer":
        return SecretHeader("Authorization", Secret(rest if ":" in text else text), url, scheme="Bearer")
    pair = rest if kind == "basic" else text
    Secret(pair.partition(":")[2])  # a password alone is masked, too
    encoded = base64.b64encode(pair.encode()).decode()
    return SecretHeader("Authorization", Secret(encoded), url, scheme="Basic")
