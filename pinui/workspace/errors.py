"""Errors of the workspace.

WorkspaceError (Exception)
├── ConfigError       config.toml cannot be read, or has a wrong value
├── UnknownProfile    no profile of that name
├── AlreadyExists     an existing file that may not be overwritten
├── NotThere          a folder that is needed and is not there now
├── NoToken           a profile without a token
├── WrongCID          the service answered a CID that the stored bytes provably don't have; carries the row
└── HistoryError      history.db cannot be opened, read or written
    ├── NotRecorded   the service did it, the history could not be written; carries the record
    └── NotKept       a message was received, but cannot be kept in the history; carries the message
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinui.workspace.rows import Entry

__all__ = [
    "AlreadyExists",
    "ConfigError",
    "HistoryError",
    "NoToken",
    "NotKept",
    "NotRecorded",
    "NotThere",
    "UnknownProfile",
    "WorkspaceError",
    "WrongCID",
]


class WorkspaceError(Exception):
    """A problem on this machine; the message is a sentence for a person."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """The next step for the user, if there is one."""


class ConfigError(WorkspaceError):
    """`config.toml` cannot be read, or has a wrong value. Such a file is never overwritten."""


class UnknownProfile(WorkspaceError):
    """No profile of that name."""


class NoToken(WorkspaceError):
    """A profile that has an address and no token."""


class WrongCID(WorkspaceError):
    """The service stored something, but answered a CID that the bytes provably don't have. `entry` is its row."""

    def __init__(self, entry: Entry, expected: str | None) -> None:
        right = f"these bytes have {expected}" if expected else "these bytes have another one"
        super().__init__(
            f"The service answered the CID {entry.cid}, but {right}.",
            hint="It is in the history, marked ✗. Don't share the CID: other content may be behind it.",
        )
        self.entry = entry


class AlreadyExists(WorkspaceError, FileExistsError):
    """An existing file that may not be overwritten, or an existing folder, which never may."""

    def __init__(self, message: str, *, hint: str | None = None, is_file: bool = True) -> None:
        super().__init__(message, hint=hint)
        self.is_file = is_file

    def __str__(self) -> str:
        return str(self.args[0])  # OSError would write an errno


class NotThere(WorkspaceError):
    """A folder that is needed is not there: somebody removed it, or its drive is not mounted."""


class HistoryError(WorkspaceError):
    """`history.db` cannot be opened, read or written."""


class NotRecorded(HistoryError):
    """The service did what was asked, but the history could not be written: the CID is in `record`."""

    def __init__(self, message: str, record: Any, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.record = record


class NotKept(HistoryError):
    """A message was received that cannot be kept in the history: it is in `message`."""

    def __init__(self, words: str, cid: str, message: Any, verification: Any) -> None:
        super().__init__(words)
        self.cid = cid
        self.message = message
        self.verification = verification
