"""SQLite files of the workspace: opened for their owner alone, checked, migrated, written, and explained."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinui.disk import private_folder
from pinui.workspace.errors import WorkspaceError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

__all__ = ["Layout", "connect", "explained", "migrate", "run_script", "version_of", "writing"]

BUSY_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a file, and the words for its troubles."""

    application_id: int
    migrations: Sequence[str]
    """The script at index N takes a file from version N to N + 1; version 0 is an empty file. Never change one that
    was released: add another."""
    error: type[WorkspaceError]
    if_damaged: str
    """Advice for a file that can't be read."""

    @property
    def version(self) -> int:
        """The version of a file that is up to date."""
        return len(self.migrations)


def connect(path: Path) -> sqlite3.Connection:
    """Open a file, an empty one if there is none. It may be used on one thread at a time."""
    private_folder(path.parent)
    # The rollback journal inherits this mode. SQLite itself would make the file with the user's umask.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def version_of(connection: sqlite3.Connection, path: Path, layout: Layout) -> int:
    """The version of the file, inside the caller's transaction; 0 for an empty one."""
    is_empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    ours = (layout.application_id, 0) if is_empty else (layout.application_id,)
    if connection.execute("PRAGMA application_id").fetchone()[0] not in ours:
        raise layout.error(f"{path} is a database of another program.", hint="Move it away; nothing was changed.")
    version: int = 0 if is_empty else connection.execute("PRAGMA user_version").fetchone()[0]
    if version > layout.version:
        raise layout.error(
            f"{path} was written by a newer pinui (its version is {version}, this one knows {layout.version}).",
            hint="Upgrade pinui; nothing was changed.",
        )
    return version


def migrate(connection: sqlite3.Connection, path: Path, layout: Layout) -> None:
    """Bring the tables up to date, inside the caller's transaction."""
    version = version_of(connection, path, layout)
    for script in layout.migrations[version:]:
        run_script(connection, script)
    if version < layout.version:
        connection.execute(f"PRAGMA application_id = {layout.application_id}")
        connection.execute(f"PRAGMA user_version = {layout.version}")


def run_script(connection: sqlite3.Connection, script: str) -> None:
    """`executescript` would commit the transaction it is in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


@contextmanager
def writing(connection: sqlite3.Connection) -> Generator[None]:
    """One transaction that has the write lock from its beginning: two that upgrade later would deadlock."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def explained(path: Path, layout: Layout) -> Generator[None]:
    """Turn errors of SQLite and of the disk into a sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise layout.error(f"Another program has held {path} for {BUSY_SECONDS:.0f} seconds.") from error
        if code == sqlite3.SQLITE_FULL:
            hint = "Make room and try again."
            raise layout.error(f"{path} cannot be written: the disk is full.", hint=hint) from error
        raise layout.error(f"{path} cannot be used: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise layout.error(f"{path} is damaged, or no file of pinui: {error}.", hint=layout.if_damaged) from error
    except OSError as error:
        raise layout.error(f"{path} cannot be used: {error.strerror or error}.") from error
