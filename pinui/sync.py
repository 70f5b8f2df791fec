"""The SDK without `await`, for scripts and notebooks: `from pinui.sync import Client`.

One event loop in a background thread does the work of all clients in a process. Callbacks, such as `on_progress`, run
in that thread.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack, cast

from pinui.sdk.client import Client as AsyncClient
from pinui.sdk.models import ClientConfig, ClientSettings, Verification, hide_secrets
from pinui.sdk.provider import ContentStream as AsyncContentStream
from pinui.sdk.provider import StorageProvider

__all__ = ["Client", "ContentStream"]

P = ParamSpec("P")
R = TypeVar("R")


class _Background:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pinui-sync", daemon=True)
        self._thread.start()

    def run(self, operation: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run an operation to its end. An interrupt of the waiting thread cancels it, and waits for that, too."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("A callback runs in the thread that does the work: it can't wait for another operation.")
        tasks: list[asyncio.Task[R]] = []
        is_done = threading.Event()

        def begin() -> None:
            tasks.append(self._loop.create_task(operation()))
            tasks[0].add_done_callback(lambda _: is_done.set())

        self._loop.call_soon_threadsafe(begin)
        try:
            is_done.wait()
        except BaseException:
            self._loop.call_soon_threadsafe(lambda: tasks[0].cancel())
            is_done.wait()
            raise
        return tasks[0].result()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


_starting = threading.Lock()
_background: _Background | None = None


def _run(operation: Callable[[], Coroutine[Any, Any, R]]) -> R:
    global _background
    with _starting:
        if _background is None:
            _background = _Background()
            atexit.register(_background.stop)
        background = _background
    return background.run(operation)


def _after_fork() -> None:
    """A child process has no thread but the one that forked: its first client starts another one."""
    global _background, _starting
    if _background is not None:
        atexit.unregister(_background.stop)
    _background, _starting = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _without_await(text: str | None) -> str | None:
    """A docstring whose examples wait by themselves."""
    for asynchronous, plain in (("await ", ""), ("async with", "with"), ("async for", "for"), ("aclose", "close")):
        text = text and text.replace(asynchronous, plain)
    return text


def _waiting(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Client, P], R]:
    """A method that waits for the result of the asynchronous one."""

    @wraps(method)
    def wait(self: Client, *args: P.args, **kwargs: P.kwargs) -> R:
        return _run(lambda: method(self._client, *args, **kwargs))  # pyright: ignore[reportPrivateUsage]  # a method of Client

    wait.__doc__ = _without_await(method.__doc__)
    return wait


def _iterating(
    method: Callable[Concatenate[AsyncClient, P], AsyncGenerator[R]],
) -> Callable[Concatenate[Client, P], Generator[R]]:
    """A generator that waits for each value of the asynchronous one."""

    @wraps(method)
    def iterate(self: Client, *args: P.args, **kwargs: P.kwargs) -> Generator[R]:
        values = method(self._client, *args, **kwargs)  # pyright: ignore[reportPrivateUsage]  # a method of Client
        try:
            yield from _each(values)
        finally:
            _run(values.aclose)

    iterate.__doc__ = _without_await(method.__doc__)
    return iterate


def _each(values: AsyncIterator[R]) -> Generator[R]:
    async def following() -> tuple[R, ...]:
        async for value in values:
            return (value,)
        return ()

    while found := _run(following):
        yield found[0]


class ContentStream:
    """Content on its way. Iterating gives its bytes; an error at the end says that they are not what the CID names.

    >>> with client.stream(cid) as stream:
    ...     print(stream.size, b"".join(stream))
    5 b'hello'
    """

    def __init__(self, stream: AsyncContentStream) -> None:
        self._stream = stream

    @property
    def type(self) -> str:
        """The media type; empty if unknown."""
        return self._stream.type

    @property
    def size(self) -> int | None:
        """The total size, if the gateway told it."""
        return self._stream.size

    @property
    def name(self) -> str:
        """A name that is safe to give to a file."""
        return self._stream.name

    @property
    def verification(self) -> Verification | None:
        """The verdict on the bytes; None before the end, and if nothing was checked."""
        return self._stream.verification

    def __iter__(self) -> Iterator[bytes]:
        return _each(aiter(self._stream))


class Client:
    """`pinui.Client` without `await`: every method has the same name, arguments and errors, and `close` ends it.

    >>> from pinui.sync import Client
    >>> with Client.init(**settings) as client:
    ...     record = client.store({"hello": "world"})
    ...     client.retrieve(record.cid)
    {'hello': 'world'}

    Threads may share a client. It works where an event loop is running, too, as in a notebook, and blocks that loop
    while it waits.
    """

    def __init__(self, provider: StorageProvider) -> None:
        """A client on any provider; `Client.init` makes one on a pinning service."""
        self._client = AsyncClient(provider)

    @classmethod
    def init(cls, config: ClientConfig | None = None, **settings: Unpack[ClientSettings]) -> Self:
        """A client on the service that a `ClientConfig`, or its fields, describe. Sends nothing.

        Raises `ValueError` for settings that make no sense.

        >>> client = Client.init(provider="kubo")  # the daemon on this machine
        >>> client.close()
        """
        hide_secrets(cast("dict[str, Any]", settings))
        return cls(_run(lambda: AsyncClient.init(config, **settings)).provider)

    @property
    def provider(self) -> StorageProvider:
        """The provider in use. Its methods are asynchronous, and belong to the loop of this module."""
        return self._client.provider

    store = _waiting(AsyncClient.store)
    retrieve = _waiting(AsyncClient.retrieve)
    send = _waiting(AsyncClient.send)
    receive = _waiting(AsyncClient.receive)
    upload = _waiting(AsyncClient.upload)
    download = _waiting(AsyncClient.download)
    peek = _waiting(AsyncClient.peek)
    verify = _waiting(AsyncClient.verify)
    block = _waiting(AsyncClient.block)
    check_gateways = _waiting(AsyncClient.check_gateways)
    export_car = _waiting(AsyncClient.export_car)
    takes_archives = _waiting(AsyncClient.takes_archives)
    import_car = _waiting(AsyncClient.import_car)
    pins = _iterating(AsyncClient.pins)
    find = _waiting(AsyncClient.find)
    totals = _waiting(AsyncClient.totals)
    pin = _waiting(AsyncClient.pin)
    origins = _waiting(AsyncClient.origins)
    connect_to = _waiting(AsyncClient.connect_to)
    rename = _waiting(AsyncClient.rename)
    status = _waiting(AsyncClient.status)
    copies = _waiting(AsyncClient.copies)
    revoke = _waiting(AsyncClient.revoke)
    test_connection = _waiting(AsyncClient.test_connection)
    close = _waiting(AsyncClient.aclose)

    @contextmanager
    def stream(self, cid: str) -> Generator[ContentStream]:
        """Content as it arrives, in constant memory.

        >>> with client.stream(cid) as stream:
        ...     for piece in stream:
        ...         print(piece)
        b'hello'

        If the gateway serves blocks, each is verified before a byte of it is passed on. Otherwise the verdict comes at
        the end, as an `IntegrityError` if the bytes don't match the CID.
        """
        streaming = self._client.stream(cid)
        stream = _run(streaming.__aenter__)
        try:
            yield ContentStream(stream)
        finally:
            _run(lambda: streaming.__aexit__(None, None, None))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
