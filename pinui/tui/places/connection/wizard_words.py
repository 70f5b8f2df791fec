"""What the wizard says: its steps, its verdict on a token, and what to do about each failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from pinui.figures import count, day
from pinui.tui.errors import sentence
from pinui.workspace.sentences import sentence_for
from pinui.workspace.text import clean, clean_line

if TYPE_CHECKING:
    from pinui.sdk.secret import Secret
    from pinui.workspace import TestResult

__all__ = [
    "HIGH",
    "PAGES",
    "ROOMY",
    "STEPS",
    "TOKEN_GOES",
    "TOKEN_PAGE",
    "Page",
    "address_trouble",
    "advice",
    "answer_words",
    "own_words",
    "steps_line",
    "token_verdict",
]

TOKEN_PAGE = "https://app.pinata.cloud/developers/api-keys"  # noqa: S105  an address, not a secret
TOKEN_GOES = "It is never shown, and never written to a file."  # noqa: S105
ROOMY = 64
"""From this width on the steps stand in one line with long strokes between them."""
HIGH = 20
"""From this height on there are blank lines between the parts."""
LONGEST = 200
"""A service may answer with pages; its first words are enough here."""
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
    "test": Page(3, "testing", "esc back"),
    "done": Page(4, "done", "enter use it"),
}


def steps_line(step: int, *, narrow: bool) -> Content:
    """Where one is: what is behind, here and ahead."""
    stroke = " ─ " if narrow else " ── "
    parts: list[tuple[str, str]] = []
    for index, name in enumerate(STEPS):
        if index:
            parts.append((stroke, "$success" if index <= step else "$muted"))
        ahead = ("○", "$muted") if index > step else ("●", "bold $primary")
        sign, style = ("✓", "$success") if index < step else ahead
        parts.append((f"{sign} {name}", style))
    return Content.assemble(*parts)


def address_trouble(url: str, what: str) -> str:
    """What is wrong with an address, if anything."""
    from pinui.workspace.profiles import check_url

    try:
        check_url(url, what=what)
    except Exception as error:  # noqa: BLE001  whatever it is, it can be mended where it was typed
        return sentence(error)
    return ""


def answer_words(result: TestResult, api: str | None = None) -> Content:
    """How the test went, which API the token knows, and what enter does next."""
    if result.ok:
        return Content.assemble(
            ("✓ The service accepts the token", "bold $success"),
            f"  {result.milliseconds:.0f} ms\n\n",
            f"{api}\n\n" if api else "",
            ("enter saves the profile and the token.", "$muted"),
        )
    error = result.error or ValueError("There was no answer.")
    return Content.assemble(
        ("✗ ", "bold $error"),
        (shortened(own_words(error)), "bold $strong"),
        f"\n\n{clean(advice(error))}\n\n",
        ("Nothing is saved. enter tries again, esc goes back.", "$muted"),
    )


def shortened(words: str) -> str:
    """Words from elsewhere: cleaned, and not so many that they push out what to do about them."""
    text = clean_line(words)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


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
