"""Reports of unexpected errors: a file that can be attached to a bug report, and the sentences that name it."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
import time
import traceback
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from pinui.disk import write_private
from pinui.sdk.secret import masked
from pinui.version import __version__
from pinui.workspace.paths import Paths
from pinui.workspace.text import clean, encodable

__all__ = ["is_unexpected", "report_crash", "traceback_text"]

LIBRARIES = ("textual", "rich", "httpx", "aiohttp", "keyring")
TERMINAL = ("TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "NO_COLOR", "LANG", "LC_ALL")
SECRET_WORDS = ("TOKEN", "SECRET", "PASSWORD", "KEY", "JWT")
LONGEST = 200_000
"""Characters of a traceback: an error's message may hold a whole document."""


def is_unexpected(error: BaseException) -> bool:
    """Whether an error is a defect: not one of ours, which has a sentence for a person, and not the system's."""
    ours = any(kind.__module__.partition(".")[0] == "pinui" for kind in type(error).__mro__)
    return not ours and not isinstance(error, OSError)


def report_crash(error: BaseException, doing: str, *, saved: str = "") -> str:
    """Write a report of an unexpected error and return the sentences to show.

    `doing` names the failed operation, such as a verb. `saved` is a sentence about text that was saved.
    """
    lines = [f"pinui: An unexpected error happened ({type(error).__name__}). Please report it."]
    try:
        path = Paths.find().crashes / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        write_private(path, f"{_facts(doing)}\n{traceback_text(error)}")
    except Exception as trouble:  # noqa: BLE001 – no home, a full disk: the traceback is shown instead
        lines.append(f"       The report could not be saved ({masked(str(trouble))}). Attach this:")
        lines.append(clean(traceback_text(error)))
    else:
        lines.append(f"       Attach this file, which holds no tokens: {path}")
    return "\n".join([*lines, f"       {saved}"] if saved else lines)


def traceback_text(error: BaseException) -> str:
    """The traceback without local variables, secrets and the name of the home folder."""
    text = "".join(traceback.format_exception(error))
    text = masked(encodable(text), *_secret_variables())
    with suppress(RuntimeError):  # no home folder
        home = str(Path.home())
        text = text.replace(home + os.sep, f"~{os.sep}") if home != os.sep else text
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n…\n{text[-LONGEST // 2 :]}"


def _facts(doing: str) -> str:
    """Versions and terminal."""
    size = shutil.get_terminal_size()
    lines = [
        f"pinui {__version__}, {doing}",
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.platform()}",
        ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES),
        f"terminal {size.columns}×{size.lines}, {getattr(sys.__stdout__, 'encoding', None)}",
        *(f"{name}={value}" for name in TERMINAL if (value := os.environ.get(name))),
        *(f"inside {name.lower()}" for name in ("TMUX", "STY") if os.environ.get(name)),
        time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    ]
    return masked(encodable("\n".join(lines)), *_secret_variables()) + "\n"


def _secret_variables() -> list[str]:
    """The values of environment variables with names of secrets."""
    return [value for name, value in os.environ.items() if any(word in name.upper() for word in SECRET_WORDS)]
