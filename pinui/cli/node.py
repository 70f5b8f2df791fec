"""`pinui node`: a pinning service on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
    private_folder(data)
    return run(data, port=options.port, token=options.token, rate_limit=options.rate_limit, as_json=console.as_json)
