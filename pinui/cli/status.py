"""`pinui status`: the places that keep and serve a CID."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinui.cli.running import run
from pinui.cli.stdin import read_cid

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.sdk.models import GatewayStatus
    from pinui.workspace import Workspace
    from pinui.workspace.whereabouts import AtProfile

__all__ = ["status"]

STATES = {
    "serves": "serves it",
    "missing": "doesn't have it",
    "wrong": "sends other bytes",
    "unverifiable": "can't be verified",
    "unreachable": "can't be asked",
}


def status(options: Namespace, console: Console) -> int:
    """A line for each place. 1 if no service could be asked."""
    from pinui.sdk.address import Address

    cid = str(Address.parse_root(read_cid(options.cid)))

    console.hint("Asking every profile and its gateways: one that has to search takes up to half a minute …")

    async def asked(workspace: Workspace) -> list[AtProfile]:
        from pinui.workspace.whereabouts import whereabouts

        return await whereabouts(workspace, cid)

    found = run(options, console, asked)
    for place in found:
        _print_profile(console, place)
    gateways: dict[str, tuple[GatewayStatus, list[str]]] = {}
    for place in found:
        for gateway in place.gateways:
            gateways.setdefault(gateway.url, (gateway, []))[1].append(place.profile)
    for gateway, profiles in gateways.values():
        _print_gateway(console, gateway, profiles)
    return 1 if all(place.error is not None for place in found) else 0


def _print_profile(console: Console, place: AtProfile) -> None:
    from pinui.workspace.whereabouts import copies

    name = (place.pin and place.pin.name) or None
    on = f"on {copies(place.peers)} peers" if place.peers else ""
    told = {"place": "profile", "profile": place.profile, "state": place.state, "name": name, "error": place.error}
    console.result(told, place.profile, place.state, place.error or on or name or "")
    for peer in place.peers:
        told = {"place": "peer", "profile": place.profile, "peer": peer.name, "id": peer.id}
        told |= {"state": peer.state, "error": peer.error}
        console.result(told, f"{place.profile}/{peer.name}", peer.state, peer.error or "")


def _print_gateway(console: Console, gateway: GatewayStatus, profiles: list[str]) -> None:
    told = {"place": "gateway", "url": gateway.url, "profiles": profiles}
    told |= {"state": gateway.state, "error": gateway.error}
    console.result(told, gateway.url, STATES[gateway.state], gateway.error or "")
