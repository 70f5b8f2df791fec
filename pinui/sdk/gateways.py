"""The gateways of a client, and what each turned out to be able to do: found out once, by whoever asks first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from pinui.sdk.http import SecretHeader
from pinui.sdk.models import ClientConfig
from pinui.sdk.secret import Secret

__all__ = ["Abilities", "Gateway", "gateways_of"]


@dataclass(slots=True)
class Abilities:
    """What a gateway gives besides plain content; believed until it answers otherwise."""

    cars: bool = True
    blocks: bool = True


@dataclass(frozen=True, slots=True)
class Gateway:
    """One gateway."""

    url: str
    key: SecretHeader | None

    @property
    def gives(self) -> Abilities:
        """What is known of it, shared by all clients. Loops share nothing: what listens at a port may change."""
        return _known.setdefault(asyncio.get_running_loop(), {}).setdefault(self.url, Abilities())


_known: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Abilities]] = WeakKeyDictionary()


def gateways_of(config: ClientConfig) -> list[Gateway]:
    """The gateways in the order to ask them; the key is for the first alone."""
    first, key = config.gateway_url, config.gateway_key
    header = SecretHeader("x-pinata-gateway-token", Secret(key), first) if key and first else None
    return [Gateway(url, header if url == first else None) for url in (first, *config.gateways) if url]
