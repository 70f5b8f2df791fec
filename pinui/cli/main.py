"""From a command line to an exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING

from pinui.version import __version__

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Generator, Sequence
    from types import FrameType

    from pinui.cli.console import Console

__all__ = ["main"]

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

# Which module has which verb. Each is imported when it is asked for: `pinui history` loads no HTTP, none loads Textual.
VERBS = {
    "cid": "cid",
    "completion": "completion",
    "copy": "copying",
    "doctor": "doctor",
    "download": "files",
    "history": "history",
    "export": "archives",
    "import": "archives",
    "info": "info",
    "node": "node",
    "pin": "account",
    "pins": "account",
    "profile": "profiles",
    "receive": "messages",
    "rename": "account",
    "retrieve": "documents",
    "revoke": "revoke",
    "send": "messages",
    "status": "status",
    "store": "documents",
    "sync": "account",
    "test": "info",
    "transfers": "transfers",
    "upload": "files",
    "verify": "verify",
}

# Verbs that are words of Python itself.
FUNCTIONS = {"import": "import_car"}
# Verbs that change something: if their output can't be written, that is a failure.
CHANGING = frozenset({"copy", "import", "pin", "rename", "revoke", "send", "store", "transfers", "upload"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_missing_streams()
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()  # here, where what a full disk or a closed pipe says can still be answered
    except KeyboardInterrupt:
        _tell("\nInterrupted." if sys.stderr.isatty() else "Interrupted.")
        return INTERRUPTED
    except OSError as error:
        from pinui.cli.console import silence
        from pinui.cli.grammar import verb_in

        silence(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            _tell(f"pinui: stdout cannot be written: {error.strerror or error}.")
            return FAILED
        if verb_in(arguments) not in CHANGING:
            return DONE  # the reader (`| head`) has what it wanted
        _tell("pinui: The reader of stdout has gone, so not everything was done.")
        return FAILED


def _tell(sentence: str) -> None:
    try:
        sys.stderr.write(f"{sentence}\n")
        sys.stderr.flush()
    except OSError:  # the terminal may be what has gone
        from pinui.cli.console import silence

        silence(sys.stderr)


def _run(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):  # before the grammar: people put this into prompts
        print(f"pinui {__version__}")
        return DONE
    from pinui.cli.console import Console

    has_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not arguments and has_terminal:  # before the grammar: a person waits for the first frame
        return _reported(Console(verb="", as_json=False, debug=False), lambda: _open_workbench(None, debug=False))
    from pinui.cli.grammar import build_parser

    if arguments[:1] == ["help"]:  # the habit from other programs
        arguments = [*arguments[1:], "--help"]
    parser = build_parser(arguments)
    try:
        options = parser.parse_args(_with_filters(arguments))
    except SystemExit as exit_:  # argparse has said what is wrong, or shown the help
        return exit_.code if isinstance(exit_.code, int) else USAGE
    console = Console(verb=options.verb or "", as_json=options.json, debug=options.debug)
    if options.verb is None and not has_terminal:
        parser.print_help(sys.stderr)
        return USAGE
    return _reported(console, lambda: _do(options, console))


def _do(options: Namespace, console: Console) -> int:
    if options.verb is None:
        return _open_workbench(options.profile, debug=options.debug)
    with _ending_as_by_ctrl_c(), _logging(console) if options.debug else nullcontext():
        name: str = FUNCTIONS.get(options.verb) or options.verb
        verb = getattr(import_module(f"pinui.cli.{VERBS[options.verb]}"), name)
        return verb(options, console)


def _reported(console: Console, work: Callable[[], int]) -> int:
    """The exit code of some work; an error is told, and has a code of its own."""
    try:
        return work()
    except (BrokenPipeError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        from pinui.cli.errors import StdoutError, UsageError

        if isinstance(error, StdoutError):
            raise
        console.report(error)
        return USAGE if isinstance(error, UsageError) else FAILED


def _with_filters(arguments: list[str]) -> list[str]:
    """Join `--filter` and a word with a minus in front: argparse would take the word for an option."""
    joined: list[str] = []
    for argument in arguments:
        is_word = len(argument) > 2 and argument[0] == "-" and argument[1] != "-"
        if is_word and joined and joined[-1] == "--filter":
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


@contextmanager
def _ending_as_by_ctrl_c() -> Generator[None]:
    """`timeout`, a service manager or a terminal that is closed end a verb as ctrl+c does: it can clean up."""

    def interrupt(_number: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)  # the event loop's own, while one runs
        if not callable(handler):  # a shell lets what a script starts with & ignore ctrl+c, and only that
            handler = signal.default_int_handler
        handler(signal.SIGINT, frame)

    names = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP; `nohup` has it ignored, and so it stays
    numbers = [number for name in names if (number := getattr(signal, name, None))]
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _open_missing_streams() -> None:
    """A service manager or `>&-` may start us without them; Python has None in their place then."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] – what its type does not say
        sys.stdin = open(os.devnull)  # noqa: SIM115 – open as long as the process
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


def _logging(console: Console) -> AbstractContextManager[None]:
    from pinui.workspace.debug_log import debug_log

    return debug_log(console.say)


def _open_workbench(profile: str | None, *, debug: bool) -> int:
    gc.disable()  # until the first frame: all objects so far are modules and classes, and none of them is garbage
    from pinui.tui.app import run

    if not debug:
        return run(profile)
    from pinui.workspace.debug_log import debug_file

    with debug_file() as path:
        code = run(profile)
    _tell(f"The log is {path}")
    return code
