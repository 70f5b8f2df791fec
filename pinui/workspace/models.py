"""The values that the workspace hands to its faces. Nothing here does any work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from pinui.sdk.secret import Secret

__all__ = [
    "Credential",
    "DirEntry",
    "Direction",
    "Entry",
    "ImportReport",
    "KeyringState",
    "Kind",
    "Preview",
    "Profile",
    "Query",
    "Recipient",
    "RevokeResult",
    "Sort",
    "Status",
    "TestResult",
    "Totals",
]

Kind = Literal["json", "file", "message"]
Direction = Literal["sent", "received"]
Sort = Literal["newest", "oldest", "name", "size"]


@dataclass(frozen=True, slots=True)
class Profile:
    """One service to pin to, as `config.toml` keeps it. It holds no secret."""

    name: str
    preset: Literal["local", "pinata", "custom"]
    api_url: str | None = None
    """None for `local`: known once the node runs."""
    gateway_url: str | None = None
    dialect: Literal["pin", "pinata"] | None = None
    gateways: tuple[str, ...] = ()
    """Further gateways, tried in order."""
    gateway_key: bool = False
    """Whether the gateway has a key of its own, kept in the keyring beside the token."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the history."""

    id: int
    cid: str
    timestamp: int
    """Milliseconds."""
    size: int
    kind: Kind
    direction: Direction
    profile: str
    name: str | None = None
    """The user's own, or the file's name."""
    note: str | None = None
    recipient: str | None = None
    """Whom a sent message names; the name that a received one was filed under."""
    excerpt: str | None = None
    """The beginning of the JSON text, or of the message."""
    verification: str | None = None
    """`verified`, `unverifiable`, `mismatch`, or None where nothing was checked."""
    revoked_at: int | None = None
    """Milliseconds. It belongs to the CID and the profile, not to the row."""

    @property
    def title(self) -> str:
        """What to call it in a list."""
        first_line = (self.excerpt or "").strip().split("\n", 1)[0].strip()
        return self.name or self.note or first_line or self.cid


@dataclass(frozen=True, slots=True)
class Query:
    """Which rows of the history, and in what order."""

    text: str = ""
    """A part of the CID, the name, the note, the recipient or the beginning of the JSON text; case is ignored."""
    kind: Kind | None = None
    direction: Direction | None = None
    profile: str | None = None
    recipient: str | None = None
    revoked: bool | None = None
    sort: Sort = "newest"


@dataclass(frozen=True, slots=True)
class Recipient:
    """Somebody messages were sent to or filed under."""

    name: str
    count: int
    timestamp: int
    """Of the newest one, in milliseconds."""
    excerpt: str | None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: rows added, rows that were there already, and lines that could not be read."""

    added: int
    unchanged: int
    bad: list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Credential:
    """What is known of a profile's token."""

    secret: Secret | None
    origin: Literal["environment", "keyring", "session", "node", "none"]
    trouble: str | None = None
    """One sentence: what is wrong with the keyring, and what to do about it."""
    expires_at: datetime | None = None
    """When the token says it ends."""


@dataclass(frozen=True, slots=True)
class KeyringState:
    """Whether the OS keyring works here."""

    name: str | None
    working: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Status:
    """How the last call to the service went."""

    state: Literal["unknown", "ok", "failed"]
    sentence: str
    at: float


@dataclass(frozen=True, slots=True)
class DirEntry:
    """One name in a directory on IPFS."""

    name: str
    cid: str
    size: int | None
    is_dir: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of some content, or what a directory holds."""

    data: bytes
    type: str | None
    total: int | None
    truncated: bool
    entries: tuple[DirEntry, ...] | None = None


@dataclass(frozen=True, slots=True)
class RevokeResult:
    """What revoking did; `was_pinned` is False where the service had no such pin."""

    cid: str
    was_pinned: bool


@dataclass(frozen=True, slots=True)
class TestResult:
    """How a connection test went; the error is a `PinuiError` or a `WorkspaceError`."""

    __test__ = False  # pytest would take it for a test class

    ok: bool
    milliseconds: float
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """What an account holds."""

    pins: int
    bytes: int
