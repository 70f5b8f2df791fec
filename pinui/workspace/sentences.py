"""Sentences for a person: an error and the next step, and a profile's kind of service and API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinui.sdk.urls import is_pinata

if TYPE_CHECKING:
    from pinui.workspace.models import Profile

__all__ = ["api_sentence", "finished", "kind_of_service", "sentence_for"]

PRESETS = {"local": "embedded node", "pinata": "hosted service", "custom": "custom service"}


def kind_of_service(profile: Profile) -> str:
    """The kind of service that a profile names, in a few words."""
    return profile.traits.title or PRESETS[profile.preset]


def sentence_for(error: BaseException) -> tuple[str, str | None]:
    """The sentence and the next step. Text in them may come from a service: clean it where it is shown."""
    hint: str | None = getattr(error, "hint", None)
    status: int | None = getattr(error, "status", None)
    if isinstance(error, OSError) and status is None and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return finished(f"{name}{error.strerror}"), hint
    words = " ".join(str(error).split())
    return finished(words or f"Something went wrong ({type(error).__name__})"), hint


def api_sentence(profile: Profile) -> str | None:
    """The one of the hosted service's two APIs that accepts a profile's token; None for other services."""
    if not is_pinata(profile.api_url or ""):
        return None
    match profile.dialect or profile.known_dialect:
        case "pinata-v3":
            return "The token works with the service's newer API (v3)."
        case None:
            return "The service has two APIs; the first operation shows which one the token knows."
        case _:
            return "The token works with the service's older API."


def finished(words: str) -> str:
    """The text with a full stop at its end."""
    return words if words.endswith((".", "!", "?")) else f"{words}."
