"""Errors as sentences, with the next step if there is one."""

from __future__ import annotations

from pinui.workspace.errors import NoToken
from pinui.workspace.sentences import sentence_for
from pinui.workspace.text import clean_line

__all__ = ["sentence"]

# Next steps in the workbench, for errors that suggest none themselves.
STEPS = {
    401: "The service refuses the token: replace it in Connection (5, then r).",
    403: "The token lacks the right for this: make one with pinFileToIPFS, pinJSONToIPFS and unpin.",
    429: "The rate limit is reached: try again in a minute.",
    504: "The gateway found no copy of it: that can take a while after pinning.",
}
NO_TOKEN = "Enter one in Connection (5, then r)."  # noqa: S105  a sentence

LONGEST = 300
"""Characters: a service may answer with a page, and a name may be as long as it likes."""


def sentence(error: BaseException, *, whole: bool = False) -> str:
    """The sentence that tells a person about this error; a very long one is cut, unless it is wanted whole."""
    words, hint = sentence_for(error)
    if isinstance(error, NoToken) and "profile add" in (hint or ""):
        hint = NO_TOKEN
    hint = hint or STEPS.get(getattr(error, "status", 0))
    sentences = [words] if not hint or hint in words[:LONGEST] else [words, hint]
    return clean_line(" ".join(sentences if whole else map(_bounded, sentences)))


def _bounded(words: str) -> str:
    """Cut the middle of a long sentence: a long name comes first, and the problem with it last."""
    if len(words) <= LONGEST:
        return words
    half = LONGEST // 2
    return f"{words[:half].rstrip()} … {words[-half:].lstrip()}"
