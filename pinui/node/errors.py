"""What a request to the node can end in, as the answer it becomes."""

from __future__ import annotations

import errno
import sqlite3
from typing import Any

__all__ = ["ApiError", "is_disk_full"]


class ApiError(Exception):
    """An answer other than success: its status and JSON body, in the hosted service's words."""

    def __init__(self, status: int, error: str | dict[str, str], headers: dict[str, str] | None = None) -> None:
        super().__init__(status, error)
        self.status = status
        self.body: dict[str, Any] = {"error": error}
        self.headers = headers or {}

    @classmethod
    def of(cls, status: int, reason: str, details: str, headers: dict[str, str] | None = None) -> ApiError:
        """The newer shape, with a reason for programs and details for people."""
        return cls(status, {"reason": reason, "details": details}, headers)


def is_disk_full(error: BaseException) -> bool:
    """Whether an error of the OS or of SQLite says that the disk is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
