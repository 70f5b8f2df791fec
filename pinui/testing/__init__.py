"""A pinning service for your own tests: real sockets, real CIDs, and faults on request.

With pytest, the fixture `pinning_node` is there as soon as pinui is installed:

    def test_the_application_tries_again(pinning_node):
        pinning_node.fail_next(503)
        application.save("hello", api=pinning_node.api_url, token=pinning_node.token)
        assert len(pinning_node.pins()) == 1

Elsewhere, `with PinningNode(folder) as node:` does the same. In the examples, `node` is such a node, and `client` a
`pinui.sync.Client` of it.
"""

# Every pytest run of an environment with pinui loads this module: the node is imported when one starts.

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

if TYPE_CHECKING:
    from aiohttp import web

    from pinui.node import RequestLine
    from pinui.node.server import Answer
    from pinui.sdk.models import ClientSettings, Pin

__all__ = ["PinningNode"]


@dataclass(slots=True)
class _Fault:
    """Something that happens to the next requests below a path. No status: the work is done, the answer is lost."""

    path: str
    left: int
    status: int | None = None
    headers: Mapping[str, str] | None = None


class PinningNode:
    """A pinning service and gateway on this machine, with faults and rate limits that a test switches on.

    >>> from pinui.sync import Client
    >>> from pinui.testing import PinningNode
    >>> with PinningNode(folder) as node, Client.init(**node.settings()) as client:
    ...     node.fail_next(503)
    ...     record = client.store({"hello": "world"})  # the client tries again
    ...     [pin.cid == record.cid for pin in node.pins()], [line.status for line in node.requests]
    ([True], [503, 200])

    It answers the APIs of the hosted service below `api_url`, older and newer, with its bodies and error texts.
    """

    def __init__(self, data_dir: Path | str) -> None:
        from pinui.node import Node

        self.requests: list[RequestLine] = []
        """The requests that were answered so far: `method`, `path`, `status`, `seconds`."""
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        self._node = Node(data_dir, on_request=self.requests.append, middleware=self._interfere)

    @property
    def api_url(self) -> str:
        """The address of the pinning API."""
        return self._node.api_url

    @property
    def gateway_url(self) -> str:
        """The address of the gateway; a CID follows after a slash."""
        return self._node.gateway_url

    @property
    def token(self) -> str:
        """The bearer token for the API."""
        return self._node.token

    def settings(self, **more: Unpack[ClientSettings]) -> ClientSettings:
        """The settings of a client of this node: `Client.init(**node.settings(retries=0))`.

        >>> sorted(node.settings(retries=0))
        ['gateway_url', 'pin_api_url', 'provider_token', 'retries']
        """
        return {"provider_token": self.token, "pin_api_url": self.api_url, "gateway_url": self.gateway_url, **more}

    def pins(self) -> list[Pin]:
        """The pins in the node now, newest first. Faults and limits don't apply to this.

        >>> record = client.store({"hello": "world"})
        >>> node.pins()[0].cid == record.cid
        True
        """
        from pinui.node.index import Index, PinQuery
        from pinui.node.lock import Patience
        from pinui.sdk.models import Pin

        folder = self._node.data_dir
        index = Index(folder / "index.db", Patience(folder))
        try:
            found = index.list(PinQuery(status="pinned", limit=-1))
        finally:
            index.close()
        return [Pin(cid=pin.cid, name=pin.name, size=pin.size, created=pin.pinned_at, id=pin.id) for pin in found]

    def fail_next(
        self, status: int, times: int = 1, *, path: str = "/", headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer the next requests with an error: nothing is done for them.

        `path` is the beginning of the paths that this is for: `/ipfs/` for the gateway, `/pinning/` for writes. A
        client may wait for as long as a header says: `headers={"Retry-After": "0"}`.

        >>> node.fail_next(403, path="/pinning/")
        >>> client.store({"hello": "world"})
        Traceback (most recent call last):
        pinui.ProviderError: A test asked for this error.
        """
        self._add(_Fault(path, times, status, headers))

    def lose_next(self, times: int = 1, *, path: str = "/") -> None:
        """Do what the next requests ask for, and break the connection before the answer.

        >>> node.lose_next(path="/pinning/")
        >>> record = client.store({"hello": "world"})  # the client asks again
        >>> len([pin for pin in node.pins() if pin.cid == record.cid])
        1
        """
        self._add(_Fault(path, times))

    def rate_limit(self, per_minute: int | None) -> None:
        """Answer 429 to further API requests of a minute, with the hosted service's headers; None for no limit.

        >>> node.rate_limit(60)
        >>> node.rate_limit(None)
        """
        self._node.limit_rate(per_minute)

    def heal(self) -> None:
        """End all faults and limits.

        >>> node.fail_next(500, times=100)
        >>> node.heal()
        >>> client.test_connection()
        True
        """
        with self._lock:
            self._faults.clear()
        self.rate_limit(None)

    def start(self) -> None:
        """Start and return once requests are answered; `with` does so by itself.

        >>> another = PinningNode(folder)
        >>> another.start()
        >>> another.stop()
        """
        self._node.start()

    def stop(self) -> None:
        """End within a second, with all running transfers. The pins stay in the folder, for another `start`.

        >>> with PinningNode(folder) as another:  # ends with `stop`
        ...     another.pins()
        []
        """
        self._node.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _add(self, fault: _Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    def _fault_for(self, path: str) -> _Fault | None:
        """The first fault that is left for a path: it happens once less."""
        with self._lock:
            fault = next((fault for fault in self._faults if fault.left > 0 and path.startswith(fault.path)), None)
            if fault is not None:
                fault.left -= 1
            return fault

    async def _interfere(self, request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
        fault = self._fault_for(request.path)
        if fault is None:
            return await answer()
        if fault.status is None:
            await answer()
            if request.transport is not None:
                request.transport.abort()
            raise ConnectionResetError
        from aiohttp import web

        from pinui.node.errors import ApiError

        error = ApiError.of(fault.status, "TEST_FAULT", "A test asked for this error.")
        body = error.newer_body if request.path.startswith("/v3/") else error.body
        return web.json_response(body, status=fault.status, headers=fault.headers)
