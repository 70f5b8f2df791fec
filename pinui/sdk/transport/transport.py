"""Performs requests: limits on waiting, redirects, retries. Deciding is left to the pure functions it calls."""

from __future__ import annotations

import asyncio
import logging
import math
import random as random_module
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from urllib.parse import unquote

from pinui.sdk.models import HttpTransport, OnWait, Timeouts
from pinui.sdk.secret import masked
from pinui.sdk.transport.engine import Broken, Engine, Reply
from pinui.sdk.transport.http import Breakdown, Head, Rejection, Request, Sink
from pinui.sdk.transport.limiter import bucket_for
from pinui.sdk.transport.ranges import Continuation, continuation, range_headers
from pinui.sdk.transport.retry import wait_before_retry
from pinui.sdk.urls import redirect_target

__all__ = ["Clock", "Outcome", "Transport"]

log = logging.getLogger("pinui.http")
MOST_REDIRECTS = 5
# A shorter wait ends before a person has read about it.
WORTH_TELLING = 1.0
LONGEST_ERROR_BODY = 64 * 1024
# Less than this within the idle limit is a drip, not progress.
PROGRESS = 1024
# Kubo's gateway has asked all its peers, up to its time limit: another try would do the same.
NOBODY_FOUND = b"Unable to retrieve content within timeout period"
# A service that has received a file still has to cut and hash it: that much more patience for each byte sent.
DIGESTING_RATE = 5_000_000
# While a slow disk takes a piece, the limits are looked at no more often than this, in seconds.
SHORTEST_PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and chance as dependencies: tests run without waiting."""

    now: Callable[[], float] = time.time
    """The date, which a person may set at any time: for records, and for the dates of a service."""
    monotonic: Callable[[], float] = time.monotonic
    """For how long something takes."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random_module.random


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a request after all attempts."""

    result: Head | Rejection | Breakdown
    maybe_done: bool = False
    """An earlier attempt may have taken effect although its reply was lost."""
    already_done: bool = False
    """The operation is done, according to `is_done`."""


class Transport:
    """Sends requests until one succeeds or another try makes no sense."""

    def __init__(
        self,
        timeouts: Timeouts,
        *,
        retries: int,
        allow_insecure: bool = False,
        on_wait: OnWait | None = None,
        clock: Clock | None = None,
        transport: HttpTransport | None = None,
    ) -> None:
        self._timeouts = timeouts
        self._retries = retries
        self._allow_insecure = allow_insecure
        self._on_wait = on_wait
        self._clock = clock or Clock()
        self._engine = Engine(connect_timeout=timeouts.connect, transport=transport)

    async def perform(
        self,
        request: Request,
        sink: Sink,
        *,
        retries: int | None = None,
        is_done: Callable[[], Awaitable[bool]] | None = None,
    ) -> Outcome:
        """Send the request, again where that is safe; the body of a good reply goes to the sink.

        `is_done` is asked before something is sent again that may have taken effect already.
        """
        attempt = 0
        maybe_done = False
        while True:
            lost_before = maybe_done
            result = await self._attempt(request, sink)
            if isinstance(result, Head):
                return Outcome(result, lost_before)
            # A gateway in front of the service can time out while the service goes on: its 5xx proves nothing.
            maybe_done = maybe_done or (
                result.stage == "sent" if isinstance(result, Breakdown) else result.status >= 500 and not result.final
            )
            wait = wait_before_retry(
                result,
                attempt=attempt,
                retries=self._retries if retries is None else retries,
                now=self._clock.now(),
                random=self._clock.random,
            )
            if wait is not None:
                await self.wait(wait)
            if maybe_done and is_done is not None and await is_done():
                return Outcome(result, maybe_done, already_done=True)
            if wait is None:
                return Outcome(result, lost_before)
            attempt += 1

    async def aclose(self) -> None:
        await self._engine.aclose()

    @asynccontextmanager
    async def _slot(self, request: Request) -> AsyncGenerator[None]:
        """A free connection, at a moment when the rate limit allows a request; while that is waited for, none is held.

        The limit is asked last: of many that wait for a connection, the later ones know what the first have learned.
        """
        slots = self._engine.slots
        while True:
            await slots.acquire()
            try:
                wait = bucket_for(request.url).wait(self._clock.monotonic()) if request.is_api_call else 0.0
                if not wait:
                    yield
                    return
            finally:
                slots.release()
            await self.wait(wait)

    async def wait(self, seconds: float) -> None:
        """Wait, and say so."""
        log.debug("Waiting %.1f s", seconds)
        if self._on_wait is not None and seconds >= WORTH_TELLING:
            self._on_wait(seconds)
        await self._clock.sleep(seconds)

    async def _attempt(self, request: Request, sink: Sink) -> Head | Rejection | Breakdown:
        host = request.url.split("/")[2]
        body = None if isinstance(request.body, bytes) else request.body
        limit = asyncio.timeout(None)
        try:
            async with self._slot(request), limit:
                watchdog = _Watchdog(limit, self._timeouts.idle, math.inf if request.transfer else self._timeouts.total)
                try:
                    return await self._follow(request, sink, watchdog)
                finally:
                    watchdog.stop()
        except Broken as broken:
            result = broken.breakdown
        except TimeoutError:
            if not limit.expired():
                raise  # of a disk or a callback on this side of the network
            result = Breakdown("sent", f"{host} did not answer in time", timed_out=True)
        finally:
            if body is not None:
                body.close()
        # Raised here, outside the handlers, so that no foreign traceback (with its headers) hangs on our errors.
        if body is not None and body.failure is not None:
            raise body.failure
        return result

    async def _follow(self, request: Request, sink: Sink, watchdog: _Watchdog) -> Head | Rejection | Breakdown:
        redirects = 0
        takes_part = "Range" in request.headers
        while True:
            resume = sink.resume_from()
            if resume is not None:
                request = replace(request, headers={**request.headers, **range_headers(*resume)})
            watchdog.expect_reply_after(request)
            async with self._engine.send(request, watchdog.progress) as reply:
                watchdog.reset()
                status = reply.head.status
                if request.is_api_call:
                    bucket_for(request.url).learn(
                        status, reply.head.headers, now=self._clock.monotonic(), wall=self._clock.now()
                    )
                if 200 <= status < 300:
                    offset = continuation(reply.head, resume, takes_part=takes_part)
                    return await self._receive(reply, sink, watchdog, offset)
                body = await _beginning(reply, LONGEST_ERROR_BODY)
                final = (
                    request.refuses_with_500 and status == 500 and reply.head.media_type == "application/json"
                ) or (status == 504 and NOBODY_FOUND in body)
                rejection = Rejection(status, reply.head.headers, body, reply.head.url, final)
            location = _redirect_location(request, rejection)
            if location is None:
                return _masked(rejection, request)
            target = redirect_target(
                request.url, location, keep_origin=request.is_api_call, allow_insecure=self._allow_insecure
            )
            if target is None or redirects == MOST_REDIRECTS:
                return _masked(rejection, request)
            redirects += 1
            request = replace(request, url=target)

    async def _receive(
        self, reply: Reply, sink: Sink, watchdog: _Watchdog, offset: int | Continuation
    ) -> Head | Breakdown:
        head = reply.head
        if head.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            return Breakdown(
                "sent",
                "The answer came compressed although it was asked for as it is",
                final=True,
                hint="Another gateway may behave better.",
            )
        if isinstance(offset, Continuation):
            return Breakdown("sent", "The other side sent another part than the one asked for")
        watchdog.pause()  # the sink may be slow: a full disk's queue, a pager
        await sink.begin(head, offset)
        watchdog.reset()
        async for chunk in reply.chunks():
            watchdog.pause()
            await sink.write(chunk)
            watchdog.progress(len(chunk))
            if sink.full:
                break
        return head


class _Watchdog:
    """Ends an attempt that makes no progress: a dripping peer keeps a read time-out from ever firing.

    The deadline moves with every step of a request. The timer doesn't, since each move would cost as much as a step: it
    looks at the deadline when it rings.
    """

    def __init__(self, limit: asyncio.Timeout, idle: float, total: float) -> None:
        """`idle` and `total` are in seconds; `total` is infinite for a transfer."""
        self._limit = limit
        self._idle = idle
        self._moved = 0
        self._patience = idle
        self._to_send = 0
        self._left = idle
        self._is_paused = False
        self._now = asyncio.get_running_loop().time
        self._end = self._now() + total
        self._deadline = self._now() + idle
        self._timer = self._set_timer()

    def expect_reply_after(self, request: Request) -> None:
        body = request.body
        self._to_send = 0 if body is None else len(body) if isinstance(body, bytes) else body.length
        self._patience = self._idle + self._to_send / DIGESTING_RATE
        self.reset()

    def progress(self, count: int) -> None:
        was_sending = self._to_send > 0
        self._moved += count
        self._to_send -= count
        if was_sending and self._to_send <= 0:
            self.reset(self._patience)
        elif self._moved >= PROGRESS:
            self.reset()
        elif self._is_paused:
            self._is_paused, self._deadline = False, self._now() + self._left

    def pause(self) -> None:
        self._is_paused, self._left = True, self._deadline - self._now()

    def reset(self, patience: float | None = None) -> None:
        self._moved = 0
        self._is_paused, self._deadline = False, self._now() + (self._idle if patience is None else patience)

    def stop(self) -> None:
        """End the watch."""
        self._timer.cancel()

    def _set_timer(self) -> asyncio.TimerHandle:
        # Within the idle limit: no later deadline can be nearer than that, and so none is missed.
        left = max(self._left, SHORTEST_PAUSE) if self._is_paused else self._deadline - self._now()
        when = min(self._now() + min(left, self._idle), self._end)
        return asyncio.get_running_loop().call_at(when, self._ring)

    def _ring(self) -> None:
        now = self._now()
        if now >= self._end or (now >= self._deadline and not self._is_paused):
            self._limit.reschedule(now)
        else:
            self._timer = self._set_timer()


def _masked(rejection: Rejection, request: Request) -> Rejection:
    """The answer without the secret that was sent, which some services repeat: answers end in messages and logs."""
    if request.credential is None:
        return rejection
    secret = request.credential.secret.reveal()
    body = masked(rejection.body.decode("utf-8", "surrogateescape"), secret).encode("utf-8", "surrogateescape")
    headers = {name: masked(text, secret) for name, text in rejection.headers.items()}
    return replace(rejection, headers=headers, body=body)


def _redirect_location(request: Request, rejection: Rejection) -> str | None:
    follows = rejection.status in (307, 308) or (rejection.status in (301, 302, 303) and request.method == "GET")
    location = rejection.headers.get("location") if follows else None
    # Not to an address that repeats the secret: addresses end in everybody's logs.
    repeats = request.credential is not None and request.credential.secret.is_in(unquote(location or ""))
    return None if repeats else location


async def _beginning(reply: Reply, limit: int) -> bytes:
    """The first bytes of a body. One that breaks off still has a status, which says more."""
    body = bytearray()
    try:
        async for chunk in reply.chunks():
            body += chunk
            if len(body) >= limit:
                break
    except Broken:
        pass
    return bytes(body[:limit])
