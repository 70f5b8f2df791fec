"""From a command line to an exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from pinui import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

# Which module has which verb. Each is imported when it is asked for: `pinui history` loads no HTTP, none loads Textual.
VERBS = {
    "cid": "checks",
    "download": "files",
    "history": "history",
    "info": "info",
    "node": "node",
    "profile": "profiles",
    "receive": "messages",
    "retrieve": "documents",
    "revoke": "revoke",
    "send": "messages",
    "store": "documents",
    "test": "info",
    "upload": "files",
    "verify": "checks",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_missing_streams()
    if arguments in (["--version"], ["-V"]):  # before the grammar: people put this into prompts
        print(f"pinui {__version__}")
        return DONE
    from pinui.cli.console import Console
    from pinui.cli.grammar import build_parser

    parser = build_parser(arguments)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as exit_:  # argparse has said what is wrong, or shown the help
        return exit_.code if isinstance(exit_.code, int) else USAGE
    console = Console(as_json=options.json, debug=options.debug)
    try:
        if options.verb is None:
            if not (sys.stdin.isatty() and sys.stdout.isatty()):
                parser.print_help(sys.stderr)
                return USAGE
            return _open_workbench(options.profile)
        verb = getattr(import_module(f"pinui.cli.{VERBS[options.verb]}"), options.verb)
        code = verb(options, console)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        console.end_bars()
        console.say("Interrupted.")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has what it wanted. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:  # noqa: BLE001 – the one place where an error becomes a sentence
        from pinui.cli.errors import UsageError

        console.end_bars()
        console.report(error)
        return USAGE if isinstance(error, UsageError) else FAILED


def _open_missing_streams() -> None:
    """A service manager or `>&-` may start us without them; Python has None in their place then."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] – what its type does not say
        sys.stdin = open(os.devnull)  # noqa: SIM115 – open as long as the process
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


def _open_workbench(profile: str | None) -> int:
    from pinui.tui.app import run

    return run(profile)
