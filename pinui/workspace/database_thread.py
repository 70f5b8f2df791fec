"""A file of the workspace beside an event loop: a thread of its own, so that no disk stalls the loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["DatabaseThread", "offered", "to_its_end"]


class _Closable(Protocol):
    def close(self) -> None: ...


File = TypeVar("File", bound=_Closable)
Owner = TypeVar("Owner")
P = ParamSpec("P")
R = TypeVar("R")


class DatabaseThread(Generic[File]):
    """The file on a thread of its own, which begins with the first work."""

    def __init__(self, name: str, file: File) -> None:
        self.file = file
        self._name = name
        self._pool: ThreadPoolExecutor | None = None

    def run(self, work: Callable[[File], R]) -> asyncio.Future[R]:
        """Use the file on its thread."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, f"pinui-{self._name}")
        return asyncio.get_running_loop().run_in_executor(self._pool, work, self.file)

    async def aclose(self) -> None:
        """Finish the running work and close the file."""
        if self._pool is not None:
            await to_its_end(self.run(lambda file: file.close()))
            self._pool.shutdown(wait=False)
            self._pool = None


def offered(
    perform: Callable[[Owner, Callable[[File], R]], Coroutine[Any, Any, R]],
    method: Callable[Concatenate[File, P], R],
) -> Callable[Concatenate[Owner, P], Coroutine[Any, Any, R]]:
    """A method of the file as a method of its owner, who performs it on a thread."""

    @wraps(method)
    async def call(owner: Owner, *args: P.args, **options: P.kwargs) -> R:
        return await perform(owner, lambda file: method(file, *args, **options))

    return call


async def to_its_end(work: asyncio.Future[R], given_up: Callable[[], None] | None = None) -> R:
    """Wait for work that can't be stopped, also if the caller is cancelled; `given_up` is called in that case."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if given_up is not None:
            given_up()
        work.add_done_callback(lambda work: work.cancelled() or work.exception())  # nobody else looks at an error
        await asyncio.wait([work])
        raise
