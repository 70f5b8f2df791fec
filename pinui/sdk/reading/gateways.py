"""The gateways of a client: the way to ask each one, and its abilities, which the first request finds out."""

from __future__ import annotations

from dataclasses import dataclass

from pinui.ipfs.cid import Cid
from pinui.sdk.address import Address
from pinui.sdk.models import ClientConfig
from pinui.sdk.secret import Secret
from pinui.sdk.transport.http import Request, SecretHeader

__all__ = ["RAW_TYPE", "Abilities", "Gateway", "gateways_of", "known"]

CAR_ACCEPT = "application/vnd.ipld.car; version=1; order=dfs; dups=y"
RAW_TYPE = "application/vnd.ipld.raw"
RPC_PATIENCE = 30
"""Seconds in which a daemon finds a block, as its own gateway has them."""


@dataclass(slots=True)
class Abilities:
    """The formats that a gateway serves besides plain content; assumed until it answers otherwise."""

    cars: bool = True
    blocks: bool = True
    is_found_out: bool = False


@dataclass(frozen=True, slots=True)
class Gateway:
    """One gateway, or Kubo's RPC in its place, which serves single blocks: everything can be read from those."""

    url: str
    key: SecretHeader | None = None
    advice: str | None = None
    """The hint for a gateway that can't be reached."""
    is_rpc: bool = False

    def content(self, address: Address, *, transfer: bool = False) -> Request:
        """Ask for content as it is."""
        return Request("GET", address.url(self.url), credential=self.key, transfer=transfer)

    def archive(self, address: Address, *, scope: str = "", transfer: bool = False) -> Request:
        """Ask for the blocks of some content in one archive."""
        url = f"{address.url(self.url)}?format=car{scope}"
        return Request("GET", url, {"Accept": CAR_ACCEPT}, credential=self.key, transfer=transfer)

    def block(self, cid: Cid) -> Request:
        """Ask for one block."""
        if self.is_rpc:
            url = f"{self.url}/block/get?arg={cid}&timeout={RPC_PATIENCE}s"
            return Request("POST", url, credential=self.key, is_api_call=True, refuses_with_500=True)
        return Request("GET", f"{self.url}/{cid}?format=raw", {"Accept": RAW_TYPE}, credential=self.key)

    @property
    def gives(self) -> Abilities:
        """The abilities that this process knows of."""
        return Abilities(cars=False, is_found_out=True) if self.is_rpc else known.setdefault(self.url, Abilities())


known: dict[str, Abilities] = {}


def gateways_of(config: ClientConfig) -> list[Gateway]:
    """The gateways in the order to ask them; the key is for the first alone."""
    first, key = config.gateway_url, config.gateway_key
    header = SecretHeader("x-pinata-gateway-token", Secret(key), first) if key and first else None
    return [Gateway(url, header if url == first else None) for url in (first, *config.gateways) if url]
