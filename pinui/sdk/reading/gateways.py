"""The gateways of a client, and what each turned out to be able to do: found out once, by whoever asks first."""

from __future__ import annotations

from dataclasses import dataclass

from pinui.sdk.models import ClientConfig
from pinui.sdk.secret import Secret
from pinui.sdk.transport.http import SecretHeader

__all__ = ["Abilities", "Gateway", "gateways_of", "known"]


@dataclass(slots=True)
class Abilities:
    """What a gateway gives besides plain content; believed until it answers otherwise."""

    cars: bool = True
    blocks: bool = True
    is_found_out: bool = False


@dataclass(frozen=True, slots=True)
class Gateway:
    """One gateway."""

    url: str
    key: SecretHeader | None

    @property
    def gives(self) -> Abilities:
        """What this process knows of it."""
        return known.setdefault(self.url, Abilities())


known: dict[str, Abilities] = {}


def gateways_of(config: ClientConfig) -> list[Gateway]:
    """The gateways in the order to ask them; the key is for the first alone."""
    first, key = config.gateway_url, config.gateway_key
    header = SecretHeader("x-pinata-gateway-token", Secret(key), first) if key and first else None
    return [Gateway(url, header if url == first else None) for url in (first, *config.gateways) if url]
