"""Facts about a profile: its tests, its addresses, the place of its token, its pins and its latency."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median

from textual.message import Message

from pinui.figures import ago, count, day, plural, size, total_size
from pinui.tui.display import wrapped
from pinui.tui.errors import sentence
from pinui.tui.keys import KeyOf
from pinui.tui.widgets.fields import pane_title
from pinui.tui.widgets.line_view import Lines, LineView
from pinui.workspace import Credential, KeyringState, NoToken, Profile, Query, TestResult
from pinui.workspace.credentials import ending
from pinui.workspace.profiles import ENVIRONMENT
from pinui.workspace.sentences import api_sentence, kind_of_service

__all__ = ["FIXED", "ORIGINS", "Facts", "replication_words", "standing", "token_goes", "token_words"]

LABEL = 17
BARS = "▁▂▃▄▅▆▇█"
ORIGINS = {
    "session": "in memory, for this run only",
    "node": "the node makes its own",
}
FIXED = {
    "local": "built in; nothing to edit or remove",
    ENVIRONMENT: "from PINUI_API_URL; nothing to edit or remove",
}
"""Profiles that can't be edited or removed, and the reason."""


class Facts(LineView):
    """Everything known about one profile. Long facts are wrapped, so the lines depend on the width of the pane."""

    class Widened(Message):
        """The pane has another width."""

    def on_resize(self) -> None:
        """Tell the screen."""
        self.post_message(self.Widened())

    async def show(self, profile: Profile) -> None:
        """Show the facts about this profile."""
        tests, width = self.app.tests.get(profile.name, []), self.content_width
        has_token = profile.traits.needs_token or bool((await self.app.workspace.credential(profile)).secret)
        lines: Lines = [*verdict(tests, width, self.app.key, has_token=has_token), []]
        lines += labelled(await self.addresses(profile), width)
        lines += [[], *labelled(await self._holdings(profile), width)]
        lines += latency(tests)
        self.show_lines(lines, keep=True)
        pane_title(self, profile.name, kind_of_service(profile))

    async def addresses(self, profile: Profile) -> list[tuple[str, str]]:
        """Labels and facts; the first two are the addresses of the API and the gateway."""
        workspace = self.app.workspace
        used = profile.name == workspace.profile.name
        if used:
            api, gateway = await workspace.api_url(), await workspace.gateway_url()
        else:
            api = profile.api_url or "known once the node runs"
            gateway = profile.gateway_url or "known once the node runs"
        facts = [("API", api), ("Gateway", gateway)]
        facts += [("Also read from", other) for other in profile.gateways]
        if profile.traits.replicates:
            facts.append(("Copies", replication_words(profile)))
        if profile.preset != "local":
            credential = await workspace.credential(profile)
            words = token_words(credential, self.app.clock(), self.app.key)
            if credential.origin == "none" and not profile.traits.needs_token:
                words = f"none · {self.app.key('connection.token')} enters one, if the daemon asks for it"
            facts.append(("Token", words))
        else:
            facts.append(("Token", ORIGINS["node"]))
        if profile.name in FIXED:
            facts.append(("Settings", FIXED[profile.name]))
        if known := api_sentence(workspace.profile if used else profile):
            facts.append(("Which API", known))
        if tests := self.app.tests.get(profile.name):
            when = self.app.tested_at.get(profile.name, 0)
            facts.append(("Last test", f"{ago(int(when * 1000), self.app.clock())} · {tests[-1].milliseconds:.0f} ms"))
        return facts

    async def _holdings(self, profile: Profile) -> list[tuple[str, str]]:
        totals, history = self.app.totals.get(profile.name), self.app.workspace.history
        records = await history.count(Query(profile=profile.name))
        revoked = await history.count(Query(profile=profile.name, revoked=True))
        facts: list[tuple[str, str]] = []
        if totals:
            held = plural(totals.pins, "pin") + ("" if totals.size is None else f" · {size(totals.size)}")
            held += "" if profile.preset == "local" else " · when last tested"
            facts.append(("On the account", held))
        account = await history.account_state(profile.name)
        if account.mirrored_at is not None:
            held = total_size([account.size or None, None] if account.unsized else [account.size])
            read = f"{plural(account.pins, 'pin')} · {held} · {ago(account.mirrored_at, self.app.clock())}"
            read += f" · {count(account.elsewhere)} made elsewhere" if account.elsewhere else ""
            facts.append(("Mirrored here", read))
        known = plural(records, "record") + (f", {count(revoked)} revoked" if revoked else "")
        return [*facts, ("In history here", known)]


def labelled(facts: Sequence[tuple[str, str]], width: int) -> Lines:
    """Labels at the left; long facts are wrapped at the right."""
    return [
        [(("" if number else label).ljust(LABEL), "muted"), (line, "text")]
        for label, fact in facts
        for number, line in enumerate(wrapped(fact, max(20, width - LABEL)))
    ]


def replication_words(profile: Profile) -> str:
    """The number of peers of a cluster that keep each pin."""
    fewest, most = profile.replication_min, profile.replication_max
    if most is None and fewest is None:
        return "as the cluster is set"
    if -1 in (fewest, most):
        return "on every peer"
    told = [] if most is None else [f"on {plural(most, 'peer')}"]
    return ", ".join([*told, *([] if fewest is None else [f"{fewest} or more must be there to take a pin"])])


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


def verdict(tests: Sequence[TestResult], width: int, key: KeyOf, *, has_token: bool = True) -> Lines:
    """The result of the last test."""
    if not tests:
        return [
            [
                ("○ Not tested yet  ", "bold muted"),
                (key("connection.test"), "bold primary"),
                (" asks the service now", "muted"),
            ]
        ]
    if tests[-1].ok:
        words = "the service accepts the token" if has_token else "the daemon answers, and asks for no token"
        return [[("✓ Connected  ", "bold success"), (words, "muted")]]
    words = sentence(tests[-1].error) if tests[-1].error else "no answer"
    is_missing = isinstance(tests[-1].error, NoToken)
    title = ("○ No token", "bold warning") if is_missing else ("✗ Not connected", "bold error")
    return [[title], *([(line, "text")] for line in wrapped(words, width))]


def token_words(credential: Credential, now: float, key: KeyOf) -> str:
    """The place and the end of a token; never the token itself."""
    if credential.origin == "none":
        words = f"none yet · {key('connection.token')} enters one"
        return f"{words}. {credential.trouble}" if credential.trouble else words
    words = ORIGINS.get(credential.origin, "in the OS keyring")
    if credential.variable is not None:
        words = f"from {credential.variable} in the environment"
    if credential.expires_at is not None:
        ends, moment = int(credential.expires_at.timestamp() * 1000), datetime.fromtimestamp(now, UTC)
        words += f" · {'ended' if credential.expires_at < moment else 'ends'} {day(ends, now)}"
        soon = ending(credential.expires_at, moment)
        words += f". {soon}" if soon else ""
    return words if not credential.trouble else f"{words}: {credential.trouble}"


def token_goes(keyring: KeyringState) -> str:
    """The place where a new token will be kept."""
    if keyring.working:
        return "It goes to the OS keyring, never to a file, and is never shown."
    return "No keyring works here, so it is kept for this run only. It is never shown."


def latency(tests: Sequence[TestResult]) -> Lines:
    """The duration of the last tests, as a row of bars."""
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
