"""`pinui info` and `pinui test`: paths and settings, and a test of the connection."""

from __future__ import annotations

import platform
import sqlite3
import sys
from typing import TYPE_CHECKING, Any

from pinui.cli.running import run
from pinui.figures import iso_time
from pinui.version import __version__
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.sentences import api_sentence

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.workspace import TestResult, Workspace

__all__ = ["info", "test"]


def test(options: Namespace, console: Console) -> int:
    """Ask the service whether it accepts the token."""
    name, result, api = run(options, console, _test)
    if console.as_json:
        report: dict[str, Any] = {"profile": name, "ok": result.ok, "milliseconds": round(result.milliseconds, 1)}
        if result.error is not None:
            report["error"] = str(result.error)
        if api is not None:
            report["api"] = api
        console.out_json(report)
    elif result.ok:
        console.out(f"{name}: ok ({result.milliseconds:.0f} ms)")
        if api is not None:
            console.say(api)
    if result.error is None:
        return 0
    console.report(result.error)
    return 1


async def _test(workspace: Workspace) -> tuple[str, TestResult, str | None]:
    """The profile's name, how the test went, and which API of the service its token knows."""
    return workspace.profile.name, await workspace.test(), api_sentence(workspace.profile)


def info(options: Namespace, console: Console) -> int:
    """Show where things are; no secrets."""
    report = run(options, console, _info)
    if console.as_json:
        console.out_json(report)
        return 0
    for key, value in report.items():
        if value is not None:
            console.out(f"{key + ':':<12} {value}")
    return 0


async def _info(workspace: Workspace) -> dict[str, Any]:
    profile = workspace.profile
    keyring = await workspace.credentials.keyring_state()
    credential = await workspace.credential()
    try:
        from pinui.workspace.rows import Query

        rows: Any = await workspace.history.count(Query()) if workspace.paths.history.exists() else 0
    except WorkspaceError as error:
        rows = str(error)
    origins = {
        "environment": f"from {credential.variable}",
        "keyring": "in the keyring",
        "session": "for this run only",
        "node": "the node's own",
        "none": "none",
    }
    return {
        "pinui": __version__,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.release()} ({sys.platform})",
        "profile": profile.name,
        "api": profile.api_url or "the node on this machine",
        "gateway": profile.gateway_url or ("the node on this machine" if profile.preset == "local" else None),
        "token": origins[credential.origin],
        "expires": iso_time(int(credential.expires_at.timestamp() * 1000)) if credential.expires_at else None,
        "keyring": keyring.sentence,
        "settings": str(workspace.paths.config),
        "history": str(workspace.paths.history),
        "rows": rows,
        "node": str(workspace.paths.node),
    }
