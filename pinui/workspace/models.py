"""The values that the workspace hands to its faces. Nothing here does any work; rows of the history are in `rows`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pinui.sdk.traits import TRAITS

if TYPE_CHECKING:
    from datetime import datetime

    from pinui.sdk.secret import Secret
    from pinui.sdk.traits import ServiceTraits

__all__ = [
    "Credential",
    "ImportReport",
    "KeyringState",
    "Profile",
    "ProviderName",
    "RevokeResult",
    "State",
    "Status",
    "TestResult",
]


ProviderName = Literal["pinning", "kubo", "cluster", "psa"]


@dataclass(frozen=True, slots=True)
class Profile:
    """One service to pin to, as `config.toml` keeps it. It holds no secret."""

    name: str
    preset: Literal["local", "pinata", "custom"]
    api_url: str | None = None
    """None for `local`: known once the node runs."""
    gateway_url: str | None = None
    dialect: Literal["pin", "pinata", "pinata-v3"] | None = None
    gateways: tuple[str, ...] = ()
    """Further gateways, tried in order."""
    gateway_key: bool = False
    """Whether the gateway has a key of its own, kept in the keyring beside the token."""
    token_for: str | None = None
    """The origin that the stored token was entered for. It is sent to no other."""
    known_dialect: Literal["pin", "pinata", "pinata-v3"] | None = None
    """The API of the hosted service that the token was seen to know."""
    provider: ProviderName = "pinning"
    """The kind of server at the API's address, as `ClientConfig` names it."""
    replication_min: int | None = None
    """The fewest peers of a cluster that must be there to take a pin; -1 for all, None for the cluster's setting."""
    replication_max: int | None = None
    """The number of peers of a cluster that keep each pin; -1 for all, None for the cluster's setting."""

    @property
    def traits(self) -> ServiceTraits:
        """The needs and abilities of the service."""
        return TRAITS[self.provider]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Result of an import: added rows, known rows, and bad lines with their numbers and reasons."""

    added: int
    unchanged: int
    bad: list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Credential:
    """A profile's token and its origin."""

    secret: Secret | None
    origin: Literal["environment", "keyring", "session", "node", "none"]
    trouble: str | None = None
    """One sentence about a problem with the keyring, and the next step."""
    expires_at: datetime | None = None
    """The token's own expiry date."""
    token_for: str | None = None
    """The origin that a token of this run was entered for; of one in the keyring, the profile knows it."""
    variable: str | None = None
    """The environment variable that it came from."""


@dataclass(frozen=True, slots=True)
class KeyringState:
    """Whether the OS keyring works here."""

    name: str | None
    working: bool
    sentence: str


State = Literal["unknown", "ok", "failed"]


@dataclass(frozen=True, slots=True)
class Status:
    """Result of the last call to the service."""

    state: State
    sentence: str
    at: float


@dataclass(frozen=True, slots=True)
class RevokeResult:
    """Result of revoking; `was_pinned` is False if the service had no such pin."""

    cid: str
    was_pinned: bool


@dataclass(frozen=True, slots=True)
class TestResult:
    """Result of a connection test; the error is a `PinuiError` or a `WorkspaceError`."""

    __test__ = False  # pytest would take it for a test class

    ok: bool
    milliseconds: float
    error: Exception | None = None
