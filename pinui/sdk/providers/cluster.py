"""IPFS Cluster over its REST API: pins that several Kubos keep, as many as the replication factors say."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from pinui.ipfs.cid import Cid
from pinui.sdk.address import Address
from pinui.sdk.errors import ProviderError
from pinui.sdk.models import ClientConfig, PeerState, PeerStatus, Pin, Pinned, PinStatus, Totals
from pinui.sdk.providers import wire
from pinui.sdk.providers.adding import AddCall, AddingProvider
from pinui.sdk.providers.api import Api, Line, ServiceKind
from pinui.sdk.providers.multiaddrs import multiaddrs
from pinui.sdk.providers.pin_list import moment
from pinui.sdk.reading.gateways import gateways_of
from pinui.sdk.transport.http import OnProgress
from pinui.sdk.transport.refusals import is_not_pinned
from pinui.sdk.transport.transport import Clock
from pinui.sdk.writing.multipart import Multipart
from pinui.sdk.writing.sources import UploadSource

__all__ = ["ClusterProvider"]

CLUSTER = ServiceKind(
    "IPFS Cluster",
    start="ipfs-cluster-service daemon",
    hints={
        401: "Cluster takes the names and passwords in its setting restapi.basic_auth_credentials, as user:password, "
        "or a token that it gave for one: compare yours.",
    },
)
# Cluster's words for the state of a pin at a peer. A peer that doesn't know a pin yet calls it unpinned.
STATES: dict[str, PeerState] = {
    "pinned": "pinned",
    "pinning": "pinning",
    "unexpectedly_unpinned": "pinning",
    "pin_queued": "queued",
    "unpinned": "queued",
    "unpinning": "queued",
    "unpin_queued": "queued",
    "pin_error": "failed",
    "unpin_error": "failed",
    "cluster_error": "unreachable",
}
ELSEWHERE = ("remote", "sharded")
"""The pin is kept by other peers."""
WANTED = ("pinned", "pinning", "pin_queued", "pin_error", "unexpectedly_unpinned", *ELSEWHERE)
"""No peer says any of these of a pin that is on its way out."""


class ClusterProvider(AddingProvider):
    """A `StorageProvider` on the REST API of IPFS Cluster. It reads through the gateway of a Kubo in the cluster.

    >>> client = Client(ClusterProvider(ClientConfig(provider="cluster")))  # the daemon on this machine
    >>> await client.aclose()
    """

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        clock = clock or Clock()
        api = Api(config, CLUSTER, clock)
        self._replication = {"replication-min": config.replication_min, "replication-max": config.replication_max}
        advice = "Check that the Kubo with this gateway is running (`ipfs daemon`), or name another gateway."
        gateways = [replace(gateway, advice=advice) for gateway in gateways_of(config)]
        call = AddCall("add", "name", "cid", self._is_pinned, self._replication)
        super().__init__(config, api, call, gateways, clock)

    async def takes_cars(self) -> bool:
        """Cluster imports CARs."""
        return True

    async def import_car(self, root: str, archive: UploadSource, *, on_progress: OnProgress | None = None) -> Pinned:
        """Pin the content of a CAR with this one root."""
        body = Multipart(archive.parts, (), on_progress)
        query = {"format": "car", "name": self._call.name(archive.name), **self._replication}
        cids: list[str] = []
        async with aclosing(self._api.lines(self._api.upload("add", query, body, body.content_type))) as lines:
            async for line in lines:
                cids += [cid] if (cid := wire.one_word(line.get("cid"))) is not None else []
        if root not in cids:
            raise wire.not_understood(200, "it doesn't name the root of the CAR")
        self._reader.remember_pinned(root)
        return Pinned(root, archive.size, "verified")  # Kubo checks every block

    async def _is_pinned(self, cid: Cid) -> bool:
        return await self._order(str(cid)) is not None

    async def _order(self, cid: str) -> Line | None:
        """The cluster's orders for a CID, with all settings of the pin; None if it isn't pinned."""
        try:
            _status, body = await self._api.call(self._api.request("GET", f"allocations/{cid}"))
        except ProviderError as error:
            if not is_not_pinned(error):
                raise
            return None
        return wire.answer_object(body)

    async def unpin(self, cid: str) -> bool:
        """Remove the pin. A missing pin is a `ProviderError`, unless our own lost try may have removed it."""
        address = Address.parse_root(cid)
        await self._api.is_removed(self._api.request("DELETE", f"pins/{address.cid}"))
        self._reader.forget_pinned(address.cid)
        return True

    async def test_authentication(self) -> bool:
        """Ask a peer for its identity."""
        status, answer = await self._api.test(self._api.request("GET", "id"))
        if "cluster_peers" not in answer:
            raise wire.not_understood(status, "it is not IPFS Cluster's")
        return True

    async def pins(self, *, name: str | None = None, cid: str | None = None) -> AsyncGenerator[Pin]:
        """The pins that the cluster keeps or will keep, in its order. A CID is looked for in both its versions."""
        async with aclosing(self._list() if cid is None else self._look_for(cid)) as found:
            async for pin in found:
                if name is None or name.casefold() in (pin.name or "").casefold():
                    yield pin

    async def _list(self) -> AsyncGenerator[Pin]:
        async with aclosing(self._api.lines(self._api.request("GET", "pins", transfer=True))) as lines:
            async for line in lines:
                is_wanted = any(peer.get("status") in WANTED for _id, peer in _peers(line))
                if is_wanted and (pin := _pin(line)) is not None:
                    yield pin

    async def _look_for(self, cid: str) -> AsyncGenerator[Pin]:
        for spelling in Cid.parse(cid).spellings():
            if (asked := await self._ask(str(spelling))) is not None and (pin := _pin(asked)) is not None:
                yield pin

    async def _ask(self, cid: str) -> Line | None:
        """A pin, and its state at each peer; None where it isn't pinned, which the states alone don't tell."""
        order = await self._order(cid)
        if order is None:
            return None
        _status, body = await self._api.call(self._api.request("GET", f"pins/{cid}"))
        # Any peer may answer, and it may not know the pin yet: no name, no date.
        return {**wire.answer_object(body), "name": order.get("name"), "created": order.get("timestamp")}

    async def status(self, cid: str) -> tuple[PeerStatus, ...]:
        """The peers that keep a pin, or will, by name; empty if it isn't pinned."""
        asked = await self._ask(Address.parse_root(cid).cid)
        if asked is None:
            return ()
        return tuple(sorted(_states(asked, await self._silent()), key=lambda peer: peer.name))

    async def copies(self, cids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """On how many peers each of these pins is, and on how many it should be."""
        found: dict[str, tuple[int, int]] = {}
        if not cids:
            return found
        silent = await self._silent()
        request = self._api.request("GET", "pins", {"cids": ",".join(cids)})
        async with aclosing(self._api.lines(request)) as lines:
            async for line in lines:
                if (cid := wire.one_word(line.get("cid"))) is not None:
                    states = [peer.state for peer in _states(line, silent)]
                    found[cid] = states.count("pinned"), len(states)
        return found

    async def _silent(self) -> dict[str, PeerStatus]:
        """Peers that stopped answering since the one that is asked started, by ID: some of these are back.

        A cluster soon speaks no more of a peer that is gone, not even for pins that every peer should keep.
        """
        found: dict[str, PeerStatus] = {}
        try:
            _status, body = await self._api.call(self._api.request("GET", "health/alerts"))
        except ProviderError as error:
            if error.status != 404:
                raise
            return found
        for alert in wire.answer_list(body):  # the newest first
            peer = wire.one_word(alert.get("peer"))
            if peer is not None and alert.get("name") == "ping":
                found.setdefault(peer, _silent(peer, alert))
        return found

    async def totals(self) -> Totals:
        """The number of pins. The cluster tells no sizes."""
        count = 0
        request = self._api.request("GET", "allocations", {"filter": "pin"}, transfer=True)
        async with aclosing(self._api.lines(request)) as lines:
            async for line in lines:
                count += "cid" in line
        return Totals(count, None)

    async def origins(self) -> tuple[str, ...]:
        """The addresses of the Kubos in the cluster."""
        found: list[str] = []
        async with aclosing(self._api.lines(self._api.request("GET", "peers"))) as lines:
            async for line in lines:
                daemon = line.get("ipfs")
                found += multiaddrs(cast("Line", daemon).get("addresses")) if isinstance(daemon, dict) else ()
        return tuple(found)

    async def pin(self, cid: str, *, name: str | None = None) -> Pin:
        """Have the cluster fetch and keep content that is stored elsewhere.

        An existing pin stays as it is, except for a given name.
        """
        return await self.pin_from(cid, (), name=name)

    async def pin_from(self, cid: str, origins: Sequence[str], *, name: str | None = None) -> Pin:
        """Have the cluster fetch and keep content that is stored elsewhere.

        An existing pin stays as it is, except for a given name.
        """
        address = Address.parse_root(cid)
        order = await self._order(address.cid)
        if order is None or name is not None:
            new = {**self._replication, "origins": ",".join(origins) or None}
            options = new if order is None else _options(order)
            await self._api.call(self._api.request("POST", f"pins/{address.cid}", {**options, "name": name}))
            self._reader.remember_pinned(address.cid)
        return _pin(await self._ask(address.cid) or {}) or Pin(cid=address.cid, name=name, status="queued")

    async def rename(self, cid: str, name: str) -> None:
        """Give a pin another name, by pinning it again with all its other settings."""
        address = Address.parse_root(cid)
        # Renaming would pin unpinned content; that is an error, as at other services.
        _status, body = await self._api.call(self._api.request("GET", f"allocations/{address.cid}"))
        query = {**_options(wire.answer_object(body)), "name": name}
        await self._api.call(self._api.request("POST", f"pins/{address.cid}", query))


ClusterProvider.__module__ = "pinui"  # as people import it


def _pin(line: Line) -> Pin | None:
    cid = wire.one_word(line.get("cid"))
    if cid is None:
        return None
    name = line.get("name")
    return Pin(
        cid=cid,
        name=name if isinstance(name, str) and name else None,
        created=moment(line.get("created")),
        status=_summary(peer.state for peer in _states(line)),
    )


def _summary(states: Iterable[PeerState]) -> PinStatus:
    """The state of a pin in one word. A peer that can't be reached says nothing about the pin."""
    told = [state for state in states if state != "unreachable"]
    if told and all(state == "pinned" for state in told):
        return "pinned"
    if "pinned" in told or "pinning" in told:  # a peer where it failed tries again
        return "pinning"
    return "queued" if "queued" in told else "failed"


def _states(line: Line, silent: Mapping[str, PeerStatus] | None = None) -> list[PeerStatus]:
    """The peers that will keep a pin. A pin without allocations is for every peer, also for those that are silent."""
    silent = silent or {}
    found = [
        PeerStatus(
            name=str(peer.get("peername") or peer_id),
            id=peer_id,
            state=STATES.get(str(peer.get("status")), "failed"),
            error=str(peer.get("error") or "") or None,
        )
        for peer_id, peer in _peers(line)
        if peer.get("status") not in ELSEWHERE
    ]
    known = {peer_id for peer_id, _peer in _peers(line)}
    # A peer that was gone for a while is not spoken of any more.
    wanted = [str(one) for one in _list_of(line.get("allocations"))] or silent
    return found + [silent.get(one) or _silent(one, {}) for one in wanted if one not in known]


def _silent(peer: str, alert: Line) -> PeerStatus:
    """A peer that the cluster has lost, with its name and the time as far as an alert tells these."""
    noted, since = wire.answer_object(str(alert.get("value")).encode()), moment(alert.get("triggered_at"))
    error = "It left the cluster."
    if since is not None:
        error = f"It has not answered since {datetime.fromtimestamp(since / 1000, UTC):%Y-%m-%d %H:%M} UTC."
    return PeerStatus(name=str(noted.get("peer_name") or peer), id=peer, state="unreachable", error=error)


def _peers(line: Line) -> list[tuple[str, Line]]:
    peers = line.get("peer_map")
    known = cast("dict[str, Any]", peers) if isinstance(peers, dict) else {}
    return [(peer_id, cast("Line", peer)) for peer_id, peer in known.items() if isinstance(peer, dict)]


def _options(order: Line) -> dict[str, str | int]:
    """The settings of a pin besides its name, as query parameters."""
    options: dict[str, str | int] = {}
    for field, word in (("replication_factor_min", "replication-min"), ("replication_factor_max", "replication-max")):
        if isinstance(factor := order.get(field), int):
            options[word] = factor
    for field, word in (("user_allocations", "user-allocations"), ("origins", "origins")):
        if several := _list_of(order.get(field)):
            options[word] = ",".join(map(str, several))
    for field, word in (("expire_at", "expire-at"), ("mode", "mode")):
        if isinstance(text := order.get(field), str) and not text.startswith("0001-"):  # Go's word for never
            options[word] = text
    if isinstance(noted := order.get("metadata"), dict):
        options |= {f"meta-{key}": str(value) for key, value in cast("Mapping[str, Any]", noted).items()}
    return options


def _list_of(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
