"""Busy indicator: short descriptions of running operations, shown in the top bar."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from textual.app import App

__all__ = ["READABLE", "Busy"]

READABLE = 0.2
"""Seconds after which an operation is shown. Shorter ones would only flicker."""


@dataclass(eq=False, slots=True)
class _Step:
    words: str
    shown: bool = False


@dataclass(slots=True)
class Busy:
    """The running operations. `show` brings the bar up to date."""

    app: App[None]
    show: Callable[[], None]
    _steps: list[_Step] = field(default_factory=list[_Step])

    @property
    def words(self) -> str:
        """The description of the latest operation that is shown, or nothing."""
        return next((step.words for step in reversed(self._steps) if step.shown), "")

    @contextmanager
    def __call__(self, words: str) -> Generator[Callable[[str], None]]:
        """Show these words while the block runs. The block may call the function that it gets, to change them."""
        step = _Step(words)
        self._steps.append(step)

        def lasts() -> None:
            step.shown = True
            self.show()

        def say(words: str) -> None:
            step.words = words
            if step.shown:
                self.show()

        timer = self.app.set_timer(READABLE, lasts)
        try:
            yield say
        finally:
            timer.stop()
            self._steps.remove(step)
            self.show()
