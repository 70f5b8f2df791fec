"""Requests, replies and failures as plain values, shared by the pure parts and the transport."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pinui.sdk.secret import Secret
from pinui.sdk.urls import origin

__all__ = ["LISTING", "Body", "Breakdown", "Head", "OnProgress", "Rejection", "Request", "SecretHeader", "Sink"]

OnProgress = Callable[[int, int | None], None]
"""Called with the bytes done and the total (None if it is unknown)."""


@dataclass(frozen=True, slots=True)
class SecretHeader:
    """A header with a secret, bound to the one origin that may see it."""

    name: str
    secret: Secret
    url: str
    scheme: str = ""

    def belongs_to(self, url: str) -> bool:
        """Whether the secret may travel to this URL."""
        return bool(self.secret) and origin(url) == origin(self.url)


class Body(Protocol):
    """A request body that can be read from its beginning again and again."""

    @property
    def length(self) -> int: ...
    @property
    def failure(self) -> Exception | None:
        """Why reading stopped, where this side and not the network is to blame."""
        ...

    def chunks(self) -> AsyncIterator[bytes]: ...
    def close(self) -> None:
        """Close the open files; the next reading starts at the beginning."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, and its rules for retries and limits."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Body | bytes | None = None
    credential: SecretHeader | None = None
    is_api_call: bool = False
    """Calls of the API keep to its rate limit, and don't follow a redirect to another origin: their token could not."""
    transfer: bool = False
    """A transfer has no total limit: it may take as long as it makes progress."""
    refuses_with_500: bool = False
    """This API answers 500 to everything that it refuses, with the reason as JSON: another try would end the same."""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a good reply. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    url: str

    @property
    def length(self) -> int | None:
        """The size of the body, if the headers tell it."""
        text = self.headers.get("content-length", "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None

    @property
    def media_type(self) -> str:
        """The content type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_listing(self) -> bool:
        """Whether a gateway made this page itself, to show a folder in a browser: gateways mark those in the ETag."""
        return "DirIndex" in self.headers.get("etag", "")


LISTING = Head(200, {"etag": '"DirIndex"'}, "")
"""A stand-in for such a page."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """An answer that is no success, with the beginning of its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    final: bool = False
    """Another try would end the same way, despite its status."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """No answer, or half of one."""

    stage: Literal["connect", "sent"]
    """`connect`: the request surely never arrived. `sent`: it may have arrived."""
    sentence: str
    timed_out: bool = False
    final: bool = False
    """Another try would end the same way, as with a wrong certificate."""
    hint: str | None = None
    said: str | None = None
    """The other side's own words, from a trailer."""


class Sink(Protocol):
    """The target for the body of a good reply."""

    async def begin(self, head: Head, offset: int) -> None:
        """A body follows that starts at `offset`: 0 voids what earlier attempts brought."""
        ...

    async def write(self, chunk: bytes) -> None: ...

    @property
    def full(self) -> bool:
        """Whether the sink needs no more."""
        ...

    def resume_from(self) -> tuple[int, str] | None:
        """The offset that an earlier attempt reached, and the strong ETag of its content; None to start at 0."""
        ...
