"""`pinui completion`: a script that completes pinui's words in a shell."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, cast

from pinui.cli.grammar import build_parser

if TYPE_CHECKING:
    from pinui.cli.console import Console

__all__ = ["completion"]

NAMES_FILES = frozenset({"PATH", "FILE", "DIR"})


def completion(options: argparse.Namespace, _console: Console) -> int:
    """Print the script for a shell."""
    import shtab

    parser = build_parser()
    _mark_files(parser, shtab.FILE)
    sys.stdout.write(shtab.complete(parser, shell=options.shell))
    return 0


def _mark_files(parser: argparse.ArgumentParser, how: Any) -> None:
    """Let a shell offer files where the grammar takes them."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage] – argparse has no other way
        if action.metavar in NAMES_FILES:
            action.complete = how  # pyright: ignore[reportAttributeAccessIssue] – where shtab looks for it
        if isinstance(action.choices, dict):  # verbs, each with a parser of its own
            for inner in cast("dict[str, argparse.ArgumentParser]", action.choices).values():
                _mark_files(inner, how)
