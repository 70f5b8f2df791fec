"""The command line: bare `pinui` opens the workbench, a verb runs without it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pinui import __version__

__all__ = ["main"]


def build_parser() -> argparse.ArgumentParser:
    """The whole grammar of the command line."""
    parser = argparse.ArgumentParser(
        prog="pinui", description="Store, read and revoke JSON, files and messages on IPFS by their CID."
    )
    parser.add_argument("--version", action="version", version=f"pinui {__version__}")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    parser = build_parser()
    parser.parse_args(argv)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.print_help(sys.stderr)
        return 2
    print("The workbench is being built. The SDK is ready: see “SDK” in the README.")
    return 0
