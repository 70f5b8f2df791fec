"""Errors of a command line beyond its grammar."""

from __future__ import annotations

__all__ = ["StdoutError", "UsageError", "VerbError"]


class VerbError(Exception):
    """A verb failed: exit code 1."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(VerbError):
    """The arguments make no sense together: exit code 2."""


class StdoutError(OSError):
    """stdout cannot be written, as on a full disk; other files have errors of their own."""
