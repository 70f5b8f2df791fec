"""Crashes of the workbench: unsaved text is saved, a report is written, and a few sentences say where both are."""

from __future__ import annotations

from typing import TypeVar

from pinui.tui.textual_private import HandlesCrashes

__all__ = ["ReportsCrashes"]

Result = TypeVar("Result")


class ReportsCrashes(HandlesCrashes[Result]):
    """An app whose unexpected errors become a report in a file and some sentences, with exit code 1."""

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
            self.crash(error)
            self.print_crash()
        return self.return_code or 0

    def report_crash(self, error: BaseException) -> str:
        """Save unsaved text and write a report. Returns the words that tell of both."""
        from pinui.workspace.crashes import report_crash

        try:
            saved = self.save_unsaved()
        except Exception as trouble:  # noqa: BLE001 – the app is broken: what can be saved is not known
            saved = f"Unsaved text could not be saved ({type(trouble).__name__})."
        return report_crash(error, f"workbench, {self.current_mode}", saved=saved)
