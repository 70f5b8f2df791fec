"""`pinui node`: a pinning service on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pinui.cli.errors import VerbError
from pinui.disk import private_folder
from pinui.workspace.paths import Paths

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console

__all__ = ["node"]


def node(options: Namespace, console: Console) -> int:
    """Serve until ctrl+c."""
    from pinui.node.command import run

    data = Path(options.data) if options.data else Paths.find().node
    token = _read_token(options)
    private_folder(data)
    try:
        return run(
            data,
            port=options.port,
            token=token,
            rate_limit=options.rate_limit,
            allow_origins=options.allow_origin,
            fetch_from=options.fetch_from,
            as_json=console.as_json,
        )
    except ValueError as error:
        raise VerbError(str(error)) from error


def _read_token(options: Namespace) -> str | None:
    """The token that was given; None for the one that the folder remembers."""
    if options.token_file is None:
        return options.token or os.environ.get("PINUI_NODE_TOKEN") or None
    try:
        token = Path(options.token_file).read_text("ascii").strip()
    except OSError as error:
        raise VerbError(f"{options.token_file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        token = ""
    if len(token.split()) != 1:
        raise VerbError(
            f"{options.token_file} holds no token.", hint="Write one word of ASCII to it, and nothing else."
        )
    return token
