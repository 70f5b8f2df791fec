"""`pinui doctor`: checks of this machine, the settings and the service, one line each; no secrets."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import socket
import sqlite3
import sys
import time
from dataclasses import asdict, dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, getproxies, urlopen

from pinui.figures import duration, plural, size
from pinui.node.settings import read_port
from pinui.sdk.errors import PinuiError
from pinui.tui.clipboard import copy_program
from pinui.version import __version__
from pinui.workspace.credentials import Credentials, ending
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.paths import Paths
from pinui.workspace.profiles import Profiles
from pinui.workspace.sentences import sentence_for
from pinui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator

    from pinui.cli.console import Console

__all__ = ["doctor"]

EMPTY_FOLDER = "QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn"
"""Content that every gateway can serve."""
SMALLEST_SCREEN = (60, 16)
LITTLE_SPACE, TOO_LITTLE_SPACE = 1_000_000_000, 50_000_000
SKEW = 60.0
"""Seconds that a clock may be wrong: tokens with dates of their own begin to be refused beyond."""
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Check:
    """One line: `ok`, a `note` about something that may be wanted, or a `problem`; and what to do."""

    check: str
    verdict: Literal["ok", "note", "problem"]
    finding: str
    advice: str | None = None


def doctor(options: Namespace, console: Console) -> int:
    """Run all checks; 1 if one found a problem."""

    async def examine() -> int:
        worst = 0
        async for check in _checks(options.profile):
            if check.verdict == "problem":
                worst = 1
            if console.as_json:
                console.out_json(asdict(check))
            else:
                line = f"{check.verdict:<8} {check.check:<10} {check.finding}"
                console.out(f"{line} {check.advice}" if check.advice else line)
        return worst

    return asyncio.run(examine())


async def _checks(profile: str | None) -> AsyncIterator[Check]:
    yield _python()
    yield _terminal()
    yield _clipboard()
    yield _proxies()
    try:
        paths = Paths.find()
    except WorkspaceError as error:
        yield _trouble("home", error)
        return
    for folder in dict.fromkeys((paths.config.parent, paths.history.parent)):
        yield _home(folder)
    yield _disk(paths.history.parent)
    yield await asyncio.to_thread(_port, paths.node)  # before a node of ours may take it
    state = await Credentials(paths).keyring_state()
    yield Check("keyring", "ok" if state.working else "note", state.sentence)
    try:
        profiles = Profiles(paths.config, chosen=profile)
        known, current = profiles.list(), profiles.current
    except WorkspaceError as error:
        yield _trouble("config", error)
        yield Check("service", "note", "The profile, its token, API and gateway were not checked.", "Mend config.toml.")
        return
    there = str(paths.config) if paths.config.exists() else f"{paths.config} does not exist yet: the defaults are used"
    yield Check("config", "ok", f"{there}.")
    names = ", ".join(one.name for one in known)
    yield Check("profiles", "ok", f"{plural(len(known), 'profile')} ({names}); “{current.name}” is in use.")
    async with await Workspace.open(profile=profile) as workspace:
        async for check in _service(workspace):
            yield check


def _trouble(check: str, error: BaseException) -> Check:
    return Check(check, "problem", *sentence_for(error))


def _python() -> Check:
    try:
        textual = f", Textual {version('textual')}"
    except PackageNotFoundError:
        return Check("python", "problem", "Textual is not installed.", "Install pinui again, with its dependencies.")
    system = f"{platform.system()} {platform.release()}"
    parts = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}{textual}, {system}"
    return Check("python", "ok", f"pinui {__version__}, {parts}.")


def _terminal() -> Check:
    term = os.environ.get("TERM", "")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Check("terminal", "ok", "This is no terminal: the verbs work, the workbench needs one.")
    columns, lines = shutil.get_terminal_size()
    if os.environ.get("NO_COLOR"):
        colours = "no colours (NO_COLOR is set)"
    elif os.environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        colours = "all colours"
    else:
        colours = "256 colours" if "256" in term else "16 colours"
    finding = f"{term or 'unknown'}, {columns}×{lines}, {colours}."
    if term in ("", "dumb"):
        return Check("terminal", "note", finding, "Set TERM to the terminal's name, such as xterm-256color.")
    if columns < SMALLEST_SCREEN[0] or lines < SMALLEST_SCREEN[1]:
        return Check("terminal", "note", finding, "The workbench needs 60×16: make the window larger.")
    if colours in ("256 colours", "16 colours"):
        return Check("terminal", "ok", finding, "If it can show more, set COLORTERM=truecolor.")
    return Check("terminal", "ok", finding)


def _clipboard() -> Check:
    if command := copy_program():
        return Check("clipboard", "ok", f"Text is copied with {command[0]}, and through the terminal (OSC 52).")
    finding = "Text is copied through the terminal (OSC 52), which doesn't tell whether it worked."
    if os.environ.get("TMUX"):
        return Check("clipboard", "note", finding, "In tmux: set -g set-clipboard on.")
    if os.environ.get("SSH_CONNECTION"):
        return Check("clipboard", "note", finding, "Over ssh, the terminal at your end must allow it.")
    return Check("clipboard", "note", finding, "If nothing is copied, install wl-copy, xclip or xsel.")


def _proxies() -> Check:
    proxies = {scheme: urlsplit(url) for scheme, url in getproxies().items() if scheme != "no"}
    if not proxies:
        return Check("proxies", "ok", "None is set.")
    # Only the host: an address may hold a password.
    told = ", ".join(f"{scheme} through {url.hostname or '?'}" for scheme, url in sorted(proxies.items()))
    return Check("proxies", "ok", f"{told}.", "Set NO_PROXY for hosts that need none.")


def _home(folder: Path) -> Check:
    if not folder.exists():
        return Check("home", "ok", f"{folder} does not exist yet.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Check("home", "problem", f"{folder} can't be read and written.", f"Try: chmod u+rwx '{folder}'.")
    open_to_others = [
        path
        for path in (folder, *folder.glob("*.db"), *folder.glob("*.toml"))
        if os.name == "posix" and path.stat().st_mode & 0o077
    ]
    if open_to_others:
        names = ", ".join(str(path) for path in open_to_others)
        return Check("home", "note", f"Other users may read {names}.", f"Try: chmod -R go= '{folder}'.")
    return Check("home", "ok", f"{folder} is yours alone.")


def _disk(folder: Path) -> Check:
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(there).free
    finding = f"{size(free)} free."
    if free < LITTLE_SPACE:
        return Check(
            "disk", "problem" if free < TOO_LITTLE_SPACE else "note", finding, "Make room, or move PINUI_HOME."
        )
    return Check("disk", "ok", finding)


def _port(folder: Path) -> Check:
    port = read_port(folder)
    if not port:
        return Check("node", "ok", "The node has chosen no port yet.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            pass
        else:
            return Check("node", "ok", f"Its port {port} is free.")
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/")
        is_ours = b"pinui node" in connection.getresponse().read(1000)
    except (OSError, HTTPException):
        is_ours = False
    finally:
        connection.close()
    if is_ours:
        return Check("node", "ok", f"Another pinui runs it on port {port}.")
    advice = f"End that program, or delete {folder / 'port'} for another port."
    return Check("node", "note", f"Another program uses its port {port}: links to its gateway lead there.", advice)


async def _service(workspace: Workspace) -> AsyncIterator[Check]:
    """The token, API, gateways and clock of the profile in use."""
    profile = workspace.profile
    credential = await workspace.credential()
    about = ending(credential.expires_at)
    places = {
        "environment": "It comes from the environment.",
        "keyring": "It is in the keyring.",
        "session": "It is kept for this run only.",
        "node": "The node on this machine has its own.",
        "none": "There is none.",
    }
    if credential.trouble or about:
        yield Check("token", "problem" if credential.secret is None else "note", credential.trouble or about or "")
    elif credential.origin == "none" and profile.traits.needs_token:
        yield Check("token", "problem", places["none"], f"Run: pinui profile add {profile.name}.")
    else:
        yield Check("token", "ok", places[credential.origin])
    result = await workspace.test()
    if result.error is not None:
        yield _trouble("api", result.error)
    else:
        answer = "answers" if credential.origin == "none" else "accepts the token"
        yield Check("api", "ok", f"{await workspace.api_url()} {answer} ({result.milliseconds:.0f} ms).")
    try:
        for gateway in await (await workspace.connect()).check_gateways(EMPTY_FOLDER):
            if gateway.state in ("unreachable", "wrong"):
                yield Check("gateway", "problem", f"{gateway.url}: {gateway.error}.", "Try another gateway.")
            else:
                yield Check("gateway", "ok", f"{gateway.url} answers.")
    except (PinuiError, WorkspaceError) as error:
        yield _trouble("gateway", error)
    if profile.api_url:
        yield await asyncio.to_thread(_clock, profile.api_url)


def _clock(url: str) -> Check:
    """This machine's clock beside the service's. The request carries no token."""
    before = time.time()
    try:
        try:
            answer = urlopen(Request(url, method="HEAD"), timeout=PATIENCE)  # noqa: S310  # checked when the profile was read
        except HTTPError as refusal:
            answer = refusal
        with answer:
            theirs = parsedate_to_datetime(answer.headers["Date"]).timestamp()
    except (OSError, ValueError, TypeError):
        return Check("clock", "note", "The service's clock is not known.")
    off = abs((before + time.time()) / 2 - theirs)
    if off > SKEW:
        finding = f"This machine's clock and the service's are {duration(off)} apart."
        return Check("clock", "note", finding, "Set the clock: services refuse tokens by their dates.")
    return Check("clock", "ok", "This machine's clock agrees with the service's.")
