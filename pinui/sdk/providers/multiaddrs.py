"""Multiaddrs of IPFS daemons, such as `/ip4/10.0.0.7/tcp/4001/p2p/12D3Koo…`."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["daemon_of", "multiaddrs"]


def multiaddrs(value: object) -> tuple[str, ...]:
    """The addresses in a service's answer that name their daemon."""
    given = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(one for one in given if isinstance(one, str) and "/p2p/" in one)


def daemon_of(address: str) -> str:
    """The ID of the daemon at an address."""
    return address.rpartition("/p2p/")[2]
