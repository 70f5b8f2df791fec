"""Where some content is kept: the profiles that pin it, the peers of a cluster, and the gateways that serve it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinui.sdk.errors import PinuiError, Unsupported
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.profiles import BUILT_IN, ENVIRONMENT
from pinui.workspace.sentences import sentence_for

if TYPE_CHECKING:
    from pinui.sdk.client import Client
    from pinui.sdk.models import GatewayStatus, PeerStatus, Pin
    from pinui.workspace.service import Service
    from pinui.workspace.workspace import Workspace

__all__ = ["AtProfile", "copies", "services_in_use", "whereabouts"]

PATIENCE = 60
"""Seconds for the answers of one service."""


@dataclass(frozen=True, slots=True)
class AtProfile:
    """Some content at one profile's service."""

    profile: str
    pin: Pin | None = None
    """None if it isn't pinned there, or the service could not be asked."""
    peers: tuple[PeerStatus, ...] = ()
    """The peers of a cluster that keep it, or will."""
    gateways: tuple[GatewayStatus, ...] = ()
    """The gateways that the profile reads from."""
    error: str | None = None
    """A sentence about a service that could not be asked."""

    @property
    def state(self) -> str:
        """One word or two: pinned, pinning, queued, failed, not pinned, or unknown."""
        if self.error is not None:
            return "unknown"
        return "not pinned" if self.pin is None else self.pin.status


def copies(peers: tuple[PeerStatus, ...]) -> str:
    """On how many of its peers a pin is: `2/3`."""
    return f"{sum(peer.state == 'pinned' for peer in peers)}/{len(peers)}"


async def whereabouts(workspace: Workspace, cid: str) -> list[AtProfile]:
    """Ask every profile that is set up. A service that can't be asked doesn't stop the others."""
    services = await services_in_use(workspace)
    return list(await asyncio.gather(*(_ask(service, cid) for service in services)))


async def services_in_use(workspace: Workspace) -> list[Service]:
    """The services of all profiles that are set up."""
    names = [profile.name for profile in workspace.profiles.list()]
    if workspace.profile.name == ENVIRONMENT:
        names.append(ENVIRONMENT)
    services = [workspace.service_of(name) for name in names]
    return [service for service in services if await _is_set_up(workspace, service)]


async def _is_set_up(workspace: Workspace, service: Service) -> bool:
    """Whether a built-in profile is in use: the hosted service's is there before anyone has an account."""
    profile = service.profile
    if profile.preset == "local" or profile != BUILT_IN.get(profile.name):
        return True
    return bool((await workspace.credentials.of_each_profile().read(profile.name)).secret)


async def _ask(service: Service, cid: str) -> AtProfile:
    name = service.profile.name
    with service.held():
        try:
            client = await service.client()
        except (PinuiError, WorkspaceError) as error:
            return AtProfile(name, error=sentence_for(error)[0])
        gateways, pinned = await asyncio.gather(client.check_gateways(cid), _look(client, cid), return_exceptions=True)
    if isinstance(gateways, BaseException):
        raise gateways
    if isinstance(pinned, tuple):
        pin, peers = pinned
        return AtProfile(name, pin, peers, gateways)
    if isinstance(pinned, TimeoutError) and not isinstance(pinned, PinuiError):
        return AtProfile(name, gateways=gateways, error=f"It did not answer within {PATIENCE} seconds.")
    if isinstance(pinned, PinuiError):
        return AtProfile(name, gateways=gateways, error=sentence_for(pinned)[0])
    raise pinned


async def _look(client: Client, cid: str) -> tuple[Pin | None, tuple[PeerStatus, ...]]:
    async with asyncio.timeout(PATIENCE):
        pin = await client.find(cid)
        try:
            return pin, await client.status(cid) if pin is not None else ()
        except Unsupported:
            return pin, ()
