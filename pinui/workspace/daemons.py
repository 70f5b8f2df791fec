"""Daemons on this machine: the addresses that a running Kubo writes into its repository, and the usual ones."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pinui.sdk.traits import TRAITS
from pinui.sdk.urls import is_loopback, origin

if TYPE_CHECKING:
    from pinui.workspace.models import Profile

__all__ = ["daemon_addresses", "found_again", "is_deserted"]

MULTIADDR = re.compile(r"/(ip4|ip6|dns4|dns6|dns)/([^/]+)/tcp/(\d+)(/https?)?")


def daemon_addresses(provider: str) -> tuple[str | None, str | None]:
    """The addresses of the API and the gateway of a provider's daemon, as far as they are known."""
    traits = TRAITS[provider]
    if not traits.is_daemon or traits.usual_urls is None:
        return None, None
    api, gateway = traits.usual_urls
    repository = Path(os.environ.get("IPFS_PATH") or Path.home() / ".ipfs")
    if provider == "kubo":
        api = _address_in(repository / "api") or api
    found = _address_in(repository / "gateway")
    return api, f"{found}/ipfs" if found else gateway


def found_again(profile: Profile) -> Profile:
    """The profile, with the addresses of the Kubo that runs here if nothing answers at its own. Others stay as is."""
    if profile.provider != "kubo":
        return profile
    api, gateway = daemon_addresses("kubo")
    if not is_deserted(profile.api_url) or is_deserted(api):
        return profile
    kept = profile.gateway_url if not is_deserted(profile.gateway_url) else gateway
    return replace(profile, api_url=api, gateway_url=kept)


def is_deserted(url: str | None) -> bool:
    """Whether an address is on this machine, and no server listens there."""
    place = origin(url or "")
    if place is None or not is_loopback(place[1]):
        return False
    try:
        socket.create_connection(place[1:], timeout=1).close()
    except OSError:
        return True
    return False


def _address_in(path: Path) -> str | None:
    """The address in a file of the repository: a multiaddr, or a URL. The file is there while the daemon runs."""
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    if text.startswith(("http://", "https://")):
        return text.rstrip("/")
    found = MULTIADDR.fullmatch(text)
    if found is None:
        return None
    kind, host, port, scheme = found.groups()
    return f"{(scheme or '/http')[1:]}://{f'[{host}]' if kind == 'ip6' else host}:{port}"
