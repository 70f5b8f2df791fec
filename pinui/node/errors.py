"""Errors of the node: answers other than success, and problems with the data folder."""

from __future__ import annotations

import errno
import sqlite3
from typing import Any

__all__ = ["ApiError", "FolderBusy", "IndexLost", "NewerIndex", "is_busy", "is_damage", "is_disk_full"]


class IndexLost(sqlite3.DatabaseError):
    """The index is gone, was never finished, or holds what no program has written."""


class NewerIndex(Exception):
    """A later version of this program wrote the index; the message is a sentence."""


class FolderBusy(Exception):
    """Another process keeps the data folder to itself, or this node was stopped while it waited for that process."""


class ApiError(Exception):
    """An answer other than success: its status and JSON body, in the hosted service's words."""

    def __init__(self, status: int, error: str | dict[str, str], headers: dict[str, str] | None = None) -> None:
        super().__init__(status, error)
        self.status = status
        self.body: dict[str, Any] = {"error": error}
        self.headers = headers or {}

    @property
    def newer_body(self) -> dict[str, Any]:
        """The same answer as the service's newer API writes it."""
        error = self.body["error"]
        return {"error": {"code": self.status, "message": error if isinstance(error, str) else error["details"]}}

    @classmethod
    def of(cls, status: int, reason: str, details: str, headers: dict[str, str] | None = None) -> ApiError:
        """The newer shape, with a reason for programs and details for people."""
        return cls(status, {"reason": reason, "details": details}, headers)


def is_disk_full(error: BaseException) -> bool:
    """Whether an error of the OS or of SQLite says that the disk is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return _code(error) == sqlite3.SQLITE_FULL


def is_busy(error: BaseException) -> bool:
    """Whether an error of the OS or of SQLite says that another process holds a lock."""
    return isinstance(error, BlockingIOError) or _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damage(error: BaseException) -> bool:
    """Whether an error says that the index is damaged or gone."""
    # Python fails to decode what SQLite says of a damaged schema, if that contains the damage.
    lost = isinstance(error, (IndexLost, UnicodeDecodeError))
    return lost or _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: BaseException) -> int:
    """SQLite's primary code; 0 for other errors."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
