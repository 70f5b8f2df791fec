"""What Connection says of a profile: how its tests went, where its token is, how fast it answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median

from pinui.figures import day
from pinui.tui.display import wrapped
from pinui.tui.errors import sentence
from pinui.tui.widgets.line_view import Lines
from pinui.workspace import Credential, KeyringState, NoToken, Profile, TestResult
from pinui.workspace.credentials import ending

__all__ = ["KINDS", "ORIGINS", "latency", "standing", "token_goes", "token_words", "verdict"]

BARS = "▁▂▃▄▅▆▇█"
ORIGINS = {
    "environment": "from PINUI_TOKEN in the environment",
    "session": "in memory, for this run only",
    "node": "the node makes its own",
}
KINDS = {"local": "embedded node", "pinata": "hosted service", "custom": "custom service"}


def standing(profile: Profile, tests: Sequence[TestResult]) -> tuple[str, str]:
    """A word for the list, and its tone."""
    if not tests:
        return "○ not tested", "muted"
    if tests[-1].ok:
        return ("● ready" if profile.preset == "local" else "● connected"), "success"
    error = tests[-1].error
    if isinstance(error, NoToken):
        return "○ no token", "warning"
    if getattr(error, "status", None) in (401, 403):
        return "✗ refused", "error"
    return ("✗ unreachable" if isinstance(error, ConnectionError) else "✗ failed"), "error"


def verdict(tests: Sequence[TestResult], width: int) -> Lines:
    """What the last test showed."""
    if not tests:
        return [[("○ Not tested yet  ", "bold muted"), ("t", "bold primary"), (" asks the service now", "muted")]]
    if tests[-1].ok:
        return [[("✓ Connected  ", "bold success"), ("the service accepts the token", "muted")]]
    words = sentence(tests[-1].error) if tests[-1].error else "no answer"
    is_missing = isinstance(tests[-1].error, NoToken)
    title = ("○ No token", "bold warning") if is_missing else ("✗ Not connected", "bold error")
    return [[title], *([(line, "text")] for line in wrapped(words, width))]


def token_words(credential: Credential, now: float) -> str:
    """Where the token is kept and when it ends; never the token."""
    if credential.origin == "none":
        return credential.trouble or "none yet · r enters one"
    words = ORIGINS.get(credential.origin, "in the OS keyring")
    if credential.expires_at is not None:
        ends, moment = int(credential.expires_at.timestamp() * 1000), datetime.fromtimestamp(now, UTC)
        words += f" · {'ended' if credential.expires_at < moment else 'ends'} {day(ends, now)}"
        soon = ending(credential.expires_at, moment)
        words += f". {soon}" if soon else ""
    return words if not credential.trouble else f"{words}: {credential.trouble}"


def token_goes(keyring: KeyringState) -> str:
    """Where a token that is about to be entered will be kept."""
    if keyring.working:
        return "It goes to the OS keyring, never to a file, and is never shown."
    return "No keyring works here, so it is kept for this run only. It is never shown."


def latency(tests: Sequence[TestResult]) -> Lines:
    """How long the last tests took, as a row of bars."""
    times = [test.milliseconds for test in tests if test.ok][-20:]
    if len(times) < 2:
        return []
    low, top = min(times) * 0.8, max(times)
    bars = "".join(BARS[int((value - low) / (top - low or 1) * 7.99)] for value in times)
    return [
        [],
        [(f"latency, last {len(times)} tests", "muted")],
        [(bars, "primary"), (f"   median {median(times):.0f} ms", "muted")],
    ]
