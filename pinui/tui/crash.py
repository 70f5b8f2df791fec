"""What happens when the workbench crashes. All that this module needs of Textual's private parts is used here alone.

Textual would print the traceback with local variables, and so tokens.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, TypeVar

from textual.app import App
from textual.worker import WorkerFailed

__all__ = ["CHECKED_WITH", "ReportsCrashes"]

CHECKED_WITH = "8.2.8"
"""The version of Textual that the overridden methods were checked with; a test notices when they change."""

Result = TypeVar("Result")


class ReportsCrashes(App[Result]):
    """An app whose unexpected errors become a report in a file and some sentences, with exit code 1."""

    _crash = ""

    def home(self) -> Path | None:
        """Where reports go, if not to the usual place."""
        return None

    def save_unsaved(self) -> str:
        """Save text that is nowhere else. Returns a sentence that says where it is, or nothing."""
        return ""

    def run_and_report(self) -> int:
        """Run the app. Returns its exit code: 1 after a crash."""
        try:
            self.run()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 – while the app ends, or an error that Textual lets through
            self._handle_exception(error)
            self._print_error_renderables()
        return self.return_code or 0

    def _handle_exception(self, error: BaseException) -> None:
        """Every error that nobody caught arrives here."""
        self._return_code = 1
        if self._exception is None:  # the first one; others follow from it
            self._exception = error  # pyright: ignore[reportAttributeAccessIssue] – for `run_test`, which raises it
            self._exception_event.set()  # pyright: ignore[reportUnknownMemberType]
            self._crash = self._report(error.error if isinstance(error, WorkerFailed) else error)
        self._close_messages_no_wait()

    def _report(self, error: BaseException) -> str:
        from pinui.workspace.crashes import report_crash

        try:
            saved = self.save_unsaved()
        except Exception as trouble:  # noqa: BLE001 – the app is broken: what can be saved is not known
            saved = f"Unsaved text could not be saved ({type(trouble).__name__})."
        return report_crash(error, f"workbench, {self.current_mode}", home=self.home(), saved=saved)

    def _print_error_renderables(self) -> None:
        """Called when the terminal is the shell's again."""
        if self._crash:
            print(self._crash, file=sys.__stderr__)
            self._crash = ""
        super()._print_error_renderables()

    def _register(self, *arguments: Any, **settings: Any) -> Any:
        """Called with new widgets. Each has a task, whose errors Textual catches only if they are `Exception`s."""
        new = super()._register(*arguments, **settings)  # pyright: ignore[reportUnknownMemberType]
        for widget in new:
            task: asyncio.Task[None] | None = getattr(widget, "_task", None)
            if task is not None:
                task.add_done_callback(self._task_ended)
        return new

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._handle_exception(error)
