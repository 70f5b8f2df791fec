"""Output of the verbs: data on stdout, everything else on stderr, and no escape codes from remote text."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import contextmanager, nullcontext
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from pinui.cli.errors import StdoutError
from pinui.workspace.text import clean, clean_line, encodable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pinui.cli.bars import Bars

__all__ = ["Console", "silence"]


class Console:
    """The terminal, or the pipes, of one run."""

    def __init__(self, *, verb: str = "", as_json: bool = False, debug: bool = False) -> None:
        self.verb = verb
        self.as_json = as_json
        self.debug = debug
        self.data_on_terminal = sys.stdout.isatty()
        self.told_on_terminal = sys.stderr.isatty()
        self._is_dumb = os.environ.get("TERM") == "dumb"  # it knows no escape codes
        self.colours = self.data_on_terminal and not os.environ.get("NO_COLOR") and not self._is_dumb
        self._bars: Bars | None = None
        self.data = cast("BinaryIO", _Bytes())
        """stdout for bytes."""
        # Pipes carry UTF-8 and the user's own file names as they are; a terminal gets what it can show.
        _set_up(sys.stdout, "replace" if self.data_on_terminal else "surrogateescape")
        _set_up(sys.stderr, "backslashreplace")

    def out(self, text: str) -> None:
        """A line of data."""
        if self.data_on_terminal:
            text = clean(text)
        self._print(text, sys.stdout)

    def row(self, *fields: str) -> None:
        """One line of fields with tabs between them: a name with a line break in it must not look like another row.
        With --json, names are as they are."""
        self._print("\t".join(clean_line(field) for field in fields), sys.stdout)

    def styled(self, text: str) -> None:
        """A line for the terminal with escape codes of our own; its parts were cleaned one by one."""
        self._print(text, sys.stdout)

    def out_json(self, value: Any) -> None:
        """One JSON object on a line of its own."""
        text = json.dumps(value, ensure_ascii=False)
        self.out(encodable(text))  # JSON has no way to carry a name that is no text

    def result(self, value: Mapping[str, Any], *fields: str) -> None:
        """One result: an object with --json, else a row of fields."""
        if self.as_json:
            self.out_json(value)
        else:
            self.row(*fields)

    def done(self, value: Mapping[str, Any], sentence: str) -> None:
        """The end of an operation without data: an object with --json, else a sentence."""
        if self.as_json:
            self.out_json(value)
        else:
            self.say(sentence)

    def say(self, text: str) -> None:
        """A line of narration. A closed stderr stops nothing."""
        try:
            self._print(clean(text), sys.stderr)
        except OSError:
            silence(sys.stderr)

    def hint(self, text: str) -> None:
        """Narration that only helps a person, so not in a script's log."""
        if self.told_on_terminal:
            self.say(text)

    def hint_unverifiable(self, verdict: str | None) -> None:
        """A notice about content that could not be verified."""
        if verdict == "unverifiable":
            self.hint("The gateway gave no proof that these are the bytes that the CID names.")

    def fail(self, sentence: str, hint: str | None = None) -> None:
        """An error and its hint."""
        self.say(f"pinui: {sentence}")
        if hint:
            self.say(f"       {hint}")

    def report(self, error: BaseException, *, about: str = "") -> None:
        """An error as a sentence; an unexpected one goes to a file. With --debug, also where it came from."""
        from pinui.workspace.crashes import is_unexpected, report_crash, traceback_text
        from pinui.workspace.sentences import sentence_for

        if self.debug:
            self.say(traceback_text(error).rstrip())
        if is_unexpected(error):
            self.say(report_crash(error, f"pinui {self.verb}"))
            return
        sentence, hint = sentence_for(error)
        self.fail(f"{about}: {sentence}" if about and about not in sentence else sentence, hint)

    def confirm(self, question: str) -> bool:
        """Ask on the terminal; only a clear yes is a yes."""
        sys.stderr.write(clean(f"{question} [y/N] "))
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer.endswith("\n"):
            sys.stderr.write("\n")
        return answer.strip().lower() in ("y", "yes")

    def bars(self) -> Bars:
        """Progress bars on stderr, where that is a terminal that can go back to a line."""
        from pinui.cli.bars import Bars

        if self._bars is None:
            self._bars = Bars(sys.stderr if self.told_on_terminal and not self._is_dumb else None)
        return self._bars

    def end_bars(self) -> None:
        if self._bars is not None:
            self._bars.clear()
            self._bars = None

    def _print(self, text: str, stream: IO[str]) -> None:
        if self._bars is not None:
            self._bars.clear()
        with _told_apart() if stream is sys.stdout else nullcontext():
            stream.write(f"{text}\n")
            if self._bars is not None:
                stream.flush()
        if self._bars is not None:
            self._bars.draw()


class _Bytes:
    """The current stdout as a file for bytes."""

    def write(self, data: Any, /) -> int:
        with _told_apart():
            return sys.stdout.buffer.write(data)

    def flush(self) -> None:
        with _told_apart():
            sys.stdout.buffer.flush()


@contextmanager
def _told_apart() -> Generator[None]:
    """Turn errors of stdout into `StdoutError`, apart from those of other files."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StdoutError(error.errno, error.strerror) from error


def silence(stream: IO[str]) -> None:
    """Redirect a stream with a lost reader or a full disk to nowhere: Python would complain once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _set_up(stream: IO[str], errors: str) -> None:
    if isinstance(stream, io.TextIOWrapper):
        encoding = stream.encoding if stream.isatty() else "utf-8"
        stream.reconfigure(encoding=encoding, errors=errors, newline="\n")
