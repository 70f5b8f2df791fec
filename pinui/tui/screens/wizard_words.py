"""What the wizard says: its steps, its verdict on a token, and what to do about each failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinui.tui.display import count, day
from pinui.workspace.sentences import sentence_for

if TYPE_CHECKING:
    from pinui.sdk.secret import Secret

__all__ = ["PAGES", "STEPS", "TOKEN_GOES", "TOKEN_PAGE", "Page", "advice", "own_words", "token_verdict"]

TOKEN_PAGE = "https://app.pinata.cloud/developers/api-keys"  # noqa: S105  an address, not a secret
TOKEN_GOES = "It goes to the OS keyring where there is one, otherwise it is kept for this run; never to a file."  # noqa: S105
STEPS = ("Service", "Token", "Gateway", "Test", "Done")


@dataclass(frozen=True, slots=True)
class Page:
    """Which step a page belongs to, what has the focus there, and its keys in words."""

    step: int
    focus: str
    keys: str


PAGES = {
    "service": Page(0, "menu", "esc leave · enter next"),
    "address": Page(0, "name", "esc back · tab next field · enter next"),
    "token": Page(1, "token", "esc back · enter next"),
    "gateway": Page(2, "gateway", "esc back · tab next field · enter next"),
    "test": Page(3, "testing", "esc back · enter next"),
    "done": Page(4, "done", "enter use it"),
}


def token_verdict(secret: Secret, now: float) -> tuple[str, str]:
    """A word on what was pasted, and its colour. A token that is no JWT is not refused: services differ."""
    from pinui.workspace.credentials import ending, expiry

    if not secret:
        return "", "$muted"
    length = f"{count(len(secret))} characters"
    text = secret.reveal()
    if text.count(".") != 2 or not text.startswith("eyJ"):
        return f"? {length}, not a JWT; the service decides", "$warning"
    ends = expiry(secret)
    trouble = ending(ends)
    if trouble:
        return f"? {trouble}", "$warning"
    until = f", ends {day(int(ends.timestamp() * 1000), now)}" if ends else ""
    return f"✓ {length}, looks like a JWT{until}", "$success"


def own_words(error: BaseException) -> str:
    """What the service itself said, where it said something."""
    words = sentence_for(error)[0]
    details: str | None = getattr(error, "details", None)
    return words if not details or details in words else f"{details} ({words.rstrip('.')})"


def advice(error: BaseException) -> str:
    """What to do when the test fails."""
    from pinui.sdk.errors import NetworkError, ProviderError

    if isinstance(error, NetworkError):
        return "Nobody answers at that address. Check the network, and the API address if you typed it yourself."
    if isinstance(error, ProviderError):
        if error.reason == "NO_SCOPES_FOUND":
            return "This key was made for another API. Make one with the scopes pinFileToIPFS, pinJSONToIPFS and unpin."
        if error.status == 401:
            return "The service does not know this token. Paste it again, whole, or make a new one."
        if error.status == 403:
            return "The service knows this token and refuses it: it may be revoked, or made without the right scopes."
        if error.status == 429:
            return "The service asks for patience. Wait a minute, then try again."
        if error.status >= 500:
            return "The service has trouble of its own. Try again later."
        return "Something answers there, but not like a pinning service. Check the API address."
    return "Check what you entered, then try again."
