"""What the app is doing for somebody who waits, in a few words for the bar."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from textual.app import App

__all__ = ["READABLE", "UnderWay"]

READABLE = 0.2
"""Seconds from which on it is worth saying that something takes a while."""


@dataclass(eq=False, slots=True)
class _Step:
    words: str
    shown: bool = False


@dataclass(slots=True)
class UnderWay:
    """The steps under way; `show` brings the bar up to date."""

    app: App[None]
    show: Callable[[], None]
    _steps: list[_Step] = field(default_factory=list[_Step])

    @property
    def words(self) -> str:
        """What to say now, if anything."""
        return next((step.words for step in reversed(self._steps) if step.shown), "")

    @contextmanager
    def __call__(self, words: str) -> Generator[Callable[[str], None]]:
        """Say that this is under way, once it lasts long enough to be read; the words may change meanwhile."""
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
