"""Keys typed ahead go where they would have gone had one waited for the screen.

Textual sends each key to what has the focus when the key arrives. Of a quick `n` `alice` the letters arrive before
the dialog that `n` opens: they would be commands of the list behind it. Here a key waits until the one before it has
done its work, and until a question that it leads to is on the screen.

Actions that publish something or end the program are stricter: they take a key only if it was pressed by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.timer import Timer

from pinui.tui.pace import BREAK, Pace, Press

__all__ = ["TypedAhead"]

Result = TypeVar("Result")
Typed = events.Key | events.Paste
ROUNDS = 3
"""Times that the path of a key is followed: for the key, for the message it caused (a field was submitted), and
for the effect of that message (the dialog closed, and its answer arrived)."""


class TypedAhead(App[Result]):
    """An app that takes one key at a time."""

    PATIENCE = 0.5
    """Seconds after which a key stops waiting for the one before it, so that the keyboard always works."""

    _typed: Typed | None = None
    _giving_up: Timer | None = None

    def __init__(self, monotonic: Callable[[], float]) -> None:
        super().__init__()
        self.pace = Pace(monotonic)
        self.press = self.pace.last
        """The key that is being handled, or was last."""
        self._waiting: deque[tuple[Typed, Press]] = deque()
        self._holds: set[object] = set()
        self._undecided = 0
        """Keys of which it is not known yet whether they came by themselves."""

    @property
    def has_taken_every_key(self) -> bool:
        """Whether every typed key has been handled."""
        return self._typed is None and not self._waiting

    @property
    def is_holding_keys(self) -> bool:
        """Whether something is about to take the focus."""
        return bool(self._holds)

    def hold_keys(self, reason: object) -> None:
        """Let keys wait: something that they are meant for is about to take the focus."""
        self._holds.add(reason)

    def release_keys(self, reason: object) -> None:
        """Let keys go on: it has the focus, or will not take it."""
        self._holds.discard(reason)
        if self._typed is None:
            self._take_next()

    def if_by_itself(self, act: Callable[[], object], otherwise: Callable[[], object]) -> None:
        """Act, unless the key that is being handled arrived in one piece with others, as text does.

        That is known a moment later; later keys wait until then.
        """
        press, reason = self.press, object()
        self.hold_keys(reason)
        self._undecided += 1

        def decide() -> None:
            self._undecided -= 1
            if not self.screen_stack:
                return  # the app is on its way out
            (act if press.piece.keys == 1 else otherwise)()
            self._follow(self.focused or self.screen, partial(self.release_keys, reason), ROUNDS)

        self.set_timer(BREAK, decide)

    async def on_event(self, event: events.Event) -> None:
        """Handle keys and pasted text one after the other, and other events at once."""
        if not isinstance(event, Typed) or event.is_forwarded:
            await super().on_event(event)
        elif not self.screen_stack:
            pass  # the app is on its way out: nothing is left that a key could be meant for
        elif event is self._typed:
            await self._handle(event)
        else:
            press = self.pace.note(event)
            if self._must_wait(event):
                self._waiting.append((event, press))
                if self._giving_up is None:
                    self._watch()
            else:
                self._typed, self.press = event, press
                await self._handle(event)

    async def _handle(self, typed: Typed) -> None:
        before = self.focused or self.screen
        await super().on_event(typed)
        self._follow(before, partial(self._has_passed, typed), ROUNDS)

    def _must_wait(self, event: Typed) -> bool:
        if not self.has_taken_every_key:
            return True
        # Esc always leaves a slow screen. A key that came by itself is known at once, since esc follows it.
        is_way_out = isinstance(event, events.Key) and event.key == "escape" and not self._undecided
        return self.is_holding_keys and not is_way_out

    def _follow(self, node: DOMNode | None, then: Callable[[], None], rounds: int) -> None:
        """Send a call along the path that a key takes, from what has the focus up to the app.

        Each of them reads its messages in order: when the call has passed, so has the key.
        """
        while node is not None and node is not self:
            if node.is_running and node.call_later(self._follow, node.parent, then, rounds):
                return
            node = node.parent
        self.call_later(self._arrived, then, rounds)

    def _arrived(self, then: Callable[[], None], rounds: int) -> None:
        if rounds > 1 and self.is_running and self.screen_stack:
            self._follow(self.focused or self.screen, then, rounds - 1)
        else:
            then()

    def _has_passed(self, typed: Typed) -> None:
        if typed is self._typed:
            self._typed = None
            self._take_next()

    def _take_next(self) -> None:
        if self._holds:
            return
        if self._waiting:
            self._typed, self.press = self._waiting.popleft()
            self.post_message(self._typed)
        self._watch()

    def _watch(self) -> None:
        """Start counting the seconds that keys wait."""
        if self._giving_up is not None:
            self._giving_up.stop()
        self._giving_up = self.set_timer(self.PATIENCE, self._give_up) if self._waiting else None

    def _give_up(self) -> None:
        self._holds.clear()
        self._typed = None
        self._take_next()
