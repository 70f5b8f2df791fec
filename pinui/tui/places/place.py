"""A place: bars, moving between panes, background work and its errors; the base of all five screens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextvars import ContextVar
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events, getters
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker

from pinui.figures import be, plural
from pinui.tui.common_keys import BETWEEN_PANES
from pinui.tui.focus import KeepsFocus, focus_now
from pinui.tui.keys import bindings
from pinui.tui.widgets.key_bar import KeyBar
from pinui.tui.widgets.too_small import TooSmall
from pinui.tui.widgets.top_bar import TopBar
from pinui.tui.workbench import Unfinished, Workbench

if TYPE_CHECKING:
    from pinui.workspace import Workspace
    from pinui.workspace.drafts import Drafts

__all__ = ["PlaceScreen", "asks"]

Result = TypeVar("Result")
Asker = TypeVar("Asker", bound="PlaceScreen")
_HELD: ContextVar[object] = ContextVar("held", default=None)
"""The reason for which keys wait, inside work that asks something."""
AGES = 30.0
"""Seconds after which ages are written again."""


class PlaceScreen(KeepsFocus[None]):
    """One place: a top bar, a body of panes, a line of keys."""

    app = getters.app(Workbench)

    PLACE: ClassVar[str]
    AUTO_FOCUS = None
    PANES: ClassVar[tuple[str, ...]]
    """The panes in the order of Tab. The first gets the focus. It is no text field, so letters are commands."""
    SECOND: ClassVar[tuple[str, ...]] = ()
    """The panes of the second column: a small terminal shows one column at a time."""

    BINDINGS = bindings(BETWEEN_PANES)
    revoking = 0
    """The number of pins, chosen here, that are still to be revoked."""

    def __init__(self) -> None:
        super().__init__()
        self._holds: dict[str, object] = {}
        self._seen: object = None

    @property
    def workspace(self) -> Workspace:
        """The workspace: the history, the profiles and the client."""
        return self.app.workspace

    def compose(self) -> ComposeResult:
        """Bars around the body."""
        yield TopBar(self.PLACE)
        yield from self.compose_body()
        yield KeyBar(self.hidden_pane)
        yield TooSmall()

    def compose_body(self) -> Iterable[Widget]:
        """The panes, of which an empty place has none."""
        return ()

    def on_mount(self) -> None:
        """Begin on the first pane."""
        self.app.remember_place(self)
        focus_now(self.query_one(self.PANES[0]))

    def on_screen_resume(self, _event: events.ScreenResume) -> None:
        """Bring everything up to date: the workspace may have changed meanwhile."""
        self.show_status()
        self.call_after_refresh(self.workspace_changed)  # what is shown depends on how wide the panes are

    def on_screen_suspend(self, _event: events.ScreenSuspend) -> None:
        """Leave toasts to the dialog in front, which shows them too, at another height."""
        self.query("ToastHolder").remove()

    def show_status(self) -> None:
        """Bring the top bar up to date."""
        bar = self.query_one(TopBar)
        bar.profile, bar.state, bar.fact = self.app.standing()

    @property
    def unfinished(self) -> Unfinished | None:
        """Work of this place that quitting would cut off."""
        if not self.revoking:
            return None
        fact = f"{plural(self.revoking, 'pin')} {be(self.revoking)} still to be revoked"
        return Unfinished(fact, "Pins that are not revoked yet stay pinned.")

    def keep_text(self, drafts: Drafts) -> Drafts:
        """Add the unsaved text of this place to the drafts."""
        return drafts

    def workspace_changed(self) -> None:
        """The history, the profile or the status changed. Mere progress of a transfer is shown in Files only."""
        seen = self._look()
        if seen != self._seen or not self.workspace.transfers.active:
            self._seen = seen
            self.reload()

    def reload(self) -> None:
        """Bring what is shown up to date."""

    def _look(self) -> object:
        """A value that differs when there may be something new to read."""
        workspace = self.workspace
        states = [(transfer.id, transfer.state) for transfer in workspace.transfers.all]
        try:
            written = workspace.paths.history.stat().st_mtime_ns  # one look at the folder, no reading
        except OSError:
            written = 0
        return states, workspace.service, workspace.status, written, self.app.clock() // AGES

    def show_pane(self, pane: str) -> None:
        """Focus a pane; in a small terminal, bring its column to the front."""
        self._show_column(pane)
        focus_now(self.query_one(pane))

    def _show_column(self, pane: str) -> None:
        second = pane in self.SECOND
        if self.has_class("-second") != second:
            self.set_class(second, "-second")
            self.app.stylesheet.update(self)  # at once: what is hidden cannot take the focus

    def current_pane(self) -> str:
        """The pane that has the focus, or holds the field that has it."""
        nodes = self.focused.ancestors_with_self if self.focused else []
        return next((f"#{node.id}" for node in nodes if f"#{node.id}" in self.PANES), self.PANES[0])

    def hidden_pane(self) -> str:
        """The title of the pane that Tab brings to the front of a small terminal, where nothing else names it."""
        panes = self.PANES
        following = panes[(panes.index(self.current_pane()) + 1) % len(panes)]
        pane = self.query_one(following)
        hidden = not all(node.display for node in (pane, *pane.ancestors) if isinstance(node, Widget))
        return str(pane.border_title).lower() if hidden and pane.border_title else ""

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click or the palette moved the focus: the right column is in front."""
        self._show_column(self.current_pane())

    def action_next_pane(self) -> None:
        """Tab moves between panes, not between the fields inside them."""
        self._step(1)

    def action_previous_pane(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        panes = self.PANES
        self.show_pane(panes[(panes.index(self.current_pane()) + step) % len(panes)])

    def work_on(
        self,
        work: Callable[[], Coroutine[Any, Any, None]],
        group: str,
        *,
        exclusive: bool = True,
        busy: Widget | None = None,
    ) -> Worker[None]:
        """Run `work` in the background; an error becomes a toast, and the app goes on."""
        # It may replace work that holds the keys and was cancelled before it began: the keys then wait for this one.
        hold = self._holds.get(group) if exclusive else None

        async def guarded() -> None:
            if busy is not None:
                busy.add_class("-busy")
            try:
                await work()
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001  the one place where what went wrong becomes words
                self.app.tell_error(error)
            finally:
                if busy is not None:
                    busy.remove_class("-busy")
                if hold is not None:
                    self.app.release_keys(hold)

        return self.run_worker(
            guarded, group=f"{self.PLACE}.{group}", exclusive=exclusive, exit_on_error=False, name=group
        )

    def ask_on(self, work: Callable[[], Coroutine[Any, Any, None]], group: str, *, exclusive: bool = True) -> None:
        """Run `work` that shows a dialog or moves the focus. Keys typed meanwhile wait for that."""
        app, reason = self.app, object()
        if exclusive and group in self._holds:
            app.release_keys(self._holds[group])  # that work is cancelled, perhaps before it began
        self._holds[group] = reason
        app.hold_keys(reason)

        async def held() -> None:
            _HELD.set(reason)
            try:
                await work()
            finally:
                app.release_keys(reason)

        self.work_on(held, group, exclusive=exclusive)

    async def ask(self, screen: Screen[Result], *, more: bool = False) -> Result | None:
        """Show a dialog and wait for its answer. `more`: another one follows at once, and keys wait for that, too."""
        app, reason = self.app, _HELD.get()
        answer: asyncio.Future[Result | None] = asyncio.get_running_loop().create_future()

        def answered(result: Result | None) -> None:
            if answer.done():
                return
            if reason is not None and more and result is not None:
                app.hold_keys(reason)
            answer.set_result(result)

        await app.push_screen(screen, answered)
        if reason is not None:
            app.release_keys(reason)
        return await answer


def asks(
    group: str, *, exclusive: bool = True
) -> Callable[[Callable[[Asker], Coroutine[Any, Any, None]]], Callable[[Asker], None]]:
    """An action that runs by `ask_on`."""

    def action_of(work: Callable[[Asker], Coroutine[Any, Any, None]]) -> Callable[[Asker], None]:
        @wraps(work)
        def action(screen: Asker) -> None:
            screen.ask_on(partial(work, screen), group, exclusive=exclusive)

        return action

    return action_of
