"""Advice while a service is set up: a verdict on the pasted token, and the next step after a failed test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from pinui.figures import count, day
from pinui.tui.keys import KeyOf
from pinui.workspace.sentences import sentence_for
from pinui.workspace.text import clean, clean_line

if TYPE_CHECKING:
    from pinui.sdk.secret import Secret
    from pinui.workspace import TestResult

__all__ = ["advice", "answer_words", "own_words", "token_verdict"]

LONGEST = 200
"""Characters of a service's answer that are shown: it may be pages long."""


def answer_words(
    result: TestResult, key: KeyOf, api: str | None = None, *, is_account: bool = True, has_token: bool = True
) -> Content:
    """The result of the test, the API that the token knows, and the next step."""
    if result.ok:
        return Content.assemble(
            (f"✓ The {'service accepts the token' if has_token else 'daemon answers'}", "bold $success"),
            f"  {result.milliseconds:.0f} ms\n\n",
            f"{api}\n\n" if api else "",
            (f"{key('wizard.save')} saves the profile{' and the token' if has_token else ''}.", "$muted"),
        )
    error = result.error or ValueError("There was no answer.")
    return Content.assemble(
        ("✗ ", "bold $error"),
        (shortened(own_words(error)), "bold $strong"),
        f"\n\n{clean(advice(error, is_account=is_account))}\n\n",
        (f"Nothing is saved. {key('wizard.try_again')} tries again, {key('wizard.back')} goes back.", "$muted"),
    )


def shortened(words: str) -> str:
    """Clean a service's words and cut them, so that the advice below stays in sight."""
    text = clean_line(words)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def token_verdict(secret: Secret, now: float) -> tuple[str, str]:
    """A verdict on the pasted text, and its colour. A token that is no JWT is accepted: services differ."""
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
    """The words of the service itself, if it gave any."""
    words = sentence_for(error)[0]
    details: str | None = getattr(error, "details", None)
    return words if not details or details in words else f"{details} ({words.rstrip('.')})"


def advice(error: BaseException, *, is_account: bool = True) -> str:
    """Advice for a failed test. A daemon has its own advice: how to start it, for example."""
    from pinui.sdk.errors import NetworkError, PinuiError, ProviderError

    if not is_account and isinstance(error, PinuiError) and error.hint:
        return error.hint
    if isinstance(error, NetworkError):
        return "Nothing answers at that address. Check the network, and the API address if you typed it yourself."
    if isinstance(error, ProviderError):
        if error.reason == "NO_SCOPES_FOUND":
            return "This key was made for another API. Make one with the scopes pinFileToIPFS, pinJSONToIPFS and unpin."
        if error.status == 401:
            return "The service does not know this token. Paste it again, whole, or make a new one."
        if error.status == 403:
            return "The service knows this token and refuses it: it may be revoked, or made without the right scopes."
        if error.status == 429:
            return "The service limits requests. Wait a minute, then try again."
        if error.status >= 500:
            return "The service failed to answer. Try again later."
        return "Something answers there, but not like a pinning service. Check the API address."
    return "Check what you entered, then try again."
