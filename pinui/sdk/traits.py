"""Traits of the services that pinui speaks to, by the name of their provider: known before a client opens."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PINNING", "TRAITS", "ServiceTraits"]


@dataclass(frozen=True, slots=True)
class ServiceTraits:
    """The needs and abilities of one kind of service."""

    title: str = ""
    """Its name in a sentence; the pinning API has none of its own."""
    usual_urls: tuple[str, str] | None = None
    """The addresses of the API and the gateway, unless its owner chose others."""
    is_account: bool = False
    """An account at a pinning service: its token is a JWT, never a password, and its gateway may have a key."""
    is_daemon: bool = False
    """A program that people run themselves; it may be open to everyone who reaches it."""
    takes_uploads: bool = True
    keeps_empty_folders: bool = False
    reads_without_gateway: bool = False
    replicates: bool = False
    """Each pin is kept by a number of peers."""

    @property
    def needs_token(self) -> bool:
        """Whether the service requires a token."""
        return not self.is_daemon


PINNING = ServiceTraits(
    usual_urls=("https://api.pinata.cloud", "https://gateway.pinata.cloud/ipfs"),
    is_account=True,
)
TRAITS = {
    "pinning": PINNING,
    "provider_b": PINNING,
    "provider_c": PINNING,
    "kubo": ServiceTraits(
        "Kubo",
        usual_urls=("http://127.0.0.1:5001", "http://127.0.0.1:8080/ipfs"),
        is_daemon=True,
        keeps_empty_folders=True,
        reads_without_gateway=True,
    ),
    "cluster": ServiceTraits(
        "IPFS Cluster",
        usual_urls=("http://127.0.0.1:9094", "http://127.0.0.1:8080/ipfs"),  # a peer, and the Kubo beside it
        is_daemon=True,
        keeps_empty_folders=True,
        replicates=True,
    ),
    "psa": ServiceTraits("Pinning Service API", takes_uploads=False),
}
